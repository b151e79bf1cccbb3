"""The receipt: what only the holder of a table may keep of a release.

It stands beside the release directory and never in it: the seed, the hash of the input, where every row went, figures
against the input. Whoever has it and the release learns more than the release promises.
"""

from __future__ import annotations

import base64
import warnings
import zlib
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, ValidationError

from shoal.errors import GuaranteeError, Problem, Problems, ShoalWarning, SourceError, some
from shoal.release.manifest import Manifest, Setting, _Part, canonical_json
from shoal.table.prepare import Table

SUFFIX = ".receipt.json"


class HierarchyMark(_Part):
    """A hierarchy without its values."""

    leaves: int
    height: int
    sha256: str


class SchemaColumn(_Part):
    """One column of the input."""

    name: str
    role: Literal["identifying", "person", "quasi", "sensitive", "neutral", "weight", "choice", "drop"]
    kind: Literal["numeric", "ordinal", "nominal"] | None
    hierarchy: HierarchyMark | None = Field(default=None, description="only one that the holder supplied")
    distinct: int | None = Field(
        default=None,
        exclude_if=lambda distinct: distinct is None,
        description="number of different values, of identifying columns: people may have several rows",
    )


class Input(_Part):
    """A table that came in."""

    rows: int = Field(ge=0)
    sha256: str = Field(description="SHA-256 of the canonical content, the same from any file or frame")
    piece_rows: int | None = Field(
        default=None,
        exclude_if=lambda rows: rows is None,
        description="of a table read piece by piece: rows of a piece; sha256 is that of the hashes of its pieces",
    )
    by_block: bool = Field(
        default=False,
        exclude_if=lambda by_block: not by_block,
        description="of a table on a cluster: sha256 is that of the hashes of its blocks, their rows sorted",
    )
    identified: int | None = Field(
        default=None,
        exclude_if=lambda identified: identified is None,
        description="how many people an identifying or dropped column tells apart, where one does",
    )
    identified_by: str | None = Field(
        default=None, exclude_if=lambda name: name is None, description="the column that tells them apart"
    )

    @property
    def of_frame(self) -> str | None:
        """The hash that a table in memory has; None for one that was read piece by piece, whose hash is another."""
        return None if self.piece_rows is not None or self.by_block else self.sha256


class InputRows(_Part):
    """Where every input row went."""

    published: int = Field(ge=0)
    suppressed: int = Field(ge=0, description="rows that no group could take")
    dropped: dict[str, int] = Field(description="rows left out before the work, by reason")

    @property
    def left_out(self) -> int:
        """Rows that are not published."""
        return self.suppressed + sum(self.dropped.values())


class InputFigure(_Part):
    """A figure that compares the release with the input."""

    measure: str
    value: float = Field(ge=0)
    columns: tuple[str, ...] = Field(description="the columns that enter")


class Cut(_Part):
    """A cut of a table into blocks."""

    node: int = Field(ge=0, description="which rows are cut: 0 for all, else a side of another cut")
    column: str
    bound: int = Field(ge=0, description="the last bin of the column that goes to the first side")
    sides: tuple[int, int]


class Receipt(_Part):
    """What only the holder may keep of a release."""

    format: Literal[1] = 1
    shoal: str = Field(description="version of Shoal that made the release")
    release: str = Field(description="fingerprint of the manifest that it belongs to")
    created: str = Field(description="when the release was made, in UTC")
    seed: int | None = Field(ge=0, description="what all draws came from; a secret; null where the key has it")
    source: str | None = Field(default=None, description="where the table was read, without a password")
    input: Input
    population: Input | None = Field(default=None, description="the people the release was compared with, if any")
    columns: tuple[SchemaColumn, ...]
    method: dict[str, Setting] = Field(description="the method with all its parameters")
    rows: InputRows
    merged: dict[str, int] = Field(default_factory=dict, description="cells whose spelling was changed, by column")
    achieved: dict[str, float] = Field(
        default_factory=dict, description="what was reached of promises that need more than the release to be checked"
    )
    against_input: tuple[InputFigure, ...] = Field(default=(), description="figures that compare input and release")
    notes: dict[str, int | float | bool] = Field(default_factory=dict, description="facts about the run, by the method")
    cuts: tuple[Cut, ...] = Field(
        default=(),
        exclude_if=lambda cuts: not cuts,
        description="where the table was cut into blocks, if it was, by node of the tree of cuts",
    )
    places: str | None = Field(
        default=None,
        exclude_if=lambda places: places is None,
        description="where promises count people: the published row of each row of the input, packed",
    )

    @property
    def place_of(self) -> npt.NDArray[np.int64] | None:
        """The published row of each row of the input, -1 where it is not published; None where it is not kept."""
        if self.places is None:
            return None
        try:
            packed = zlib.decompress(base64.b64decode(self.places, validate=True))
            return np.frombuffer(packed, dtype="<i4").astype(np.int64)
        except (ValueError, zlib.error):
            what = "does not say which row of the input each published one shows: it was changed"
            raise SourceError(Problem("receipt", what, "give the receipt as it was written")) from None

    def to_json(self) -> str:
        """Write it."""
        return canonical_json(self)

    @classmethod
    def read(cls, path: str | Path) -> Receipt:
        """Read the receipt of a release."""
        try:
            return cls.model_validate_json(Path(path).read_bytes())
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SourceError(Problem(str(path), f"the receipt cannot be read ({reason})", "check the path")) from None
        except ValidationError:
            fix = "give the file NAME.receipt.json that was written beside the release"
            raise SourceError(Problem(str(path), "is not a receipt of a release", fix)) from None

    def belongs_to(self, manifest: Manifest) -> bool:
        """Whether it is the receipt of a release."""
        return self.release == manifest.fingerprint()


def packed_places(places: npt.NDArray[np.int64]) -> str:
    """The published row of each row of the input, as a receipt keeps it."""
    return base64.b64encode(zlib.compress(places.astype("<i4").tobytes(), 9)).decode()


def receipt_path(folder: Path) -> Path:
    """Where the receipt of a release directory stands: beside it, and never in it."""
    place = folder if folder.name not in ("", "..") else folder.resolve()
    return place.parent / f"{place.name}{SUFFIX}"


def warn_of_reuse(receipt: Receipt, target: Path) -> None:
    """Warn where a receipt in the same folder has the same seed for another table: draws of one tell of the other."""
    for path in sorted(one for one in target.parent.glob(f"*{SUFFIX}") if one.is_file()):
        try:
            other = Receipt.read(path)
        except SourceError:
            continue
        same = other.seed is not None and other.seed == receipt.seed and path != receipt_path(target)
        if same and other.input.sha256 != receipt.input.sha256:
            what = f"the seed is that of {path.name}, a release of another table; leave it out, so that one is drawn"
            warnings.warn(ShoalWarning(what), stacklevel=3)
            return


def check_receipt(receipt: Receipt, manifest: Manifest, where: str = "receipt") -> None:
    """Refuse a receipt that is not that of a release, or that says something else than its manifest."""
    if not receipt.belongs_to(manifest):  # what else it lacks says nothing then
        what = "belongs to another release, or the release was changed since it was made"
        raise GuaranteeError(Problem(where, what, "give the receipt that was written beside the release"))
    problems = Problems()
    if receipt.rows.published != manifest.rows.published or (
        manifest.rows.left_out not in (None, receipt.rows.left_out)
        or receipt.rows.published + receipt.rows.left_out != receipt.input.rows
    ):
        problems.add(where, "its rows do not add up to those of the release")
    if manifest.recipe.counts == "people" and receipt.places is None and not manifest.in_parts:
        problems.add(where, "does not say which row of the input each published one shows", "give it as it was written")
    problems.raise_if_any(GuaranteeError)


def check_input(receipt: Receipt, table: Table) -> None:
    """Refuse an input that is not the one a receipt was written for."""
    problems = Problems()
    if table.n_input != receipt.input.rows or receipt.input.of_frame not in (None, table.sha256):
        problems.add("original", "is not the input of the release: its content differs from what the receipt notes")
    elif table.dropped != receipt.rows.dropped:
        problems.add("receipt", "counts other dropped rows than the input has")
    roles = {column.name: column.role for column in receipt.columns}
    given = {name: table.given.roles.get(name, "drop") for name in table.frame.columns}
    if other := [name for name in given if roles.get(name) != given[name]]:
        what = f"gives another role to {some(other)} than the release was made with"
        problems.add("schema", what, "give the recipe that the release was made with")
    problems.raise_if_any(GuaranteeError)
