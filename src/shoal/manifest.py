"""The manifest: what a release says about itself, so that anybody can check it without the input.

It holds no cell of the input beyond what the published table shows: of a hierarchy only the nodes that were published
and those above them, of a source only its content hash. There is no date in it: the same recipe gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.errors import GuaranteeError, Problem

FILE = "manifest.json"
DROP_REASONS = {"missing quasi-identifier"}
"""Why a row may be left out before the work."""
FORMATS = ("csv", "parquet")
"""File formats of the tables beside it."""
Scalar = int | float | str | bool | None
Setting = Scalar | tuple[Scalar, ...] | dict[str, Scalar]
"""A parameter: one value, a list of them, or values by column name."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(_Part):
    """One node of a hierarchy that the release uses."""

    name: str
    parent: int | None = Field(description="position of the parent in this list; null for the root")
    height: int = Field(ge=0, description="edges to the deepest leaf below")
    leaves: int = Field(ge=1, description="number of leaves below")


class QuasiColumn(_Part):
    """How one quasi-identifier is published."""

    name: str
    kind: Literal["numeric", "ordinal", "nominal"]
    form: Literal["interval", "order", "node", "set", "value", "raw"] = Field(
        description="raw: the values of the input, as they are"
    )
    columns: tuple[str, ...] = Field(description="the published columns that carry it")
    has_missing: bool = Field(description="whether a published cell may be missing, or '*' because of a missing value")
    whole: bool = Field(default=False, description="form interval: all numbers are whole")
    low: float | None = Field(default=None, description="form interval: smallest published number")
    high: float | None = Field(default=None, description="form interval: largest published number")
    order: tuple[str, ...] = Field(default=(), description="form order or value: the categories, lowest first")
    n_values: int = Field(default=0, description="form set: number of categories of the input")
    nodes: tuple[Node, ...] = Field(default=(), description="form node: published nodes and all nodes above them")


class PassedColumn(_Part):
    """A column published as it is."""

    name: str
    role: Literal["sensitive", "neutral"]
    kind: Literal["numeric", "ordinal", "nominal"] | None
    order: tuple[str, ...] = Field(default=(), description="ordinal: the published categories, lowest first")
    nodes: tuple[Node, ...] = Field(default=(), description="nominal with a hierarchy: values and all nodes above them")


class Slice(_Part):
    """Attributes that are published side by side; between slices of a bucket, nothing says which cells belong."""

    attributes: tuple[str, ...]
    columns: tuple[str, ...] = Field(description="the published column of each attribute")


class Layout(_Part):
    """How the published tables are to be read."""

    shape: Literal["text", "typed", "classes", "values", "centres", "invariant", "buckets", "slices"]
    quasi: tuple[QuasiColumn, ...]
    passed: tuple[PassedColumn, ...]
    slices: tuple[Slice, ...] = Field(default=(), description="shape slices: which attributes stay together")
    files: bool = Field(default=False, description="shape slices: every slice has a table of its own")

    @property
    def class_columns(self) -> list[str]:
        """The published columns whose equal cells make a class."""
        if self.shape in ("buckets", "slices"):
            return ["bucket"]
        return ["class"] if self.class_table else self.cell_columns

    @property
    def contents(self) -> dict[str, list[str]]:
        """The published tables and the columns of each, in no order."""
        passed, sensitive = [column.name for column in self.passed], self.sensitive
        if self.shape == "buckets":
            others = [name for name in passed if name not in sensitive]
            return {"table": ["bucket", *self.cell_columns, *others], "sensitive": ["bucket", *sensitive, "count"]}
        if self.shape == "slices":
            return {name: ["bucket", *columns] for name, columns in self.slice_tables.items()}
        if self.class_table is None:
            return {"table": [*self.cell_columns, *passed]}
        return {"table": ["class", *passed], self.class_table: [*self.class_facts, *self.cell_columns]}

    @property
    def slice_tables(self) -> dict[str, list[str]]:
        """The tables that carry slices, and the columns of the slices in each."""
        if self.files:
            return {f"slice_{place}": list(one.columns) for place, one in enumerate(self.slices, 1)}
        return {"table": [name for one in self.slices for name in one.columns]}

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return [column.name for column in self.passed if column.role == "sensitive"]

    @property
    def class_table(self) -> str | None:
        """The table that has one row per class, with the quasi-identifiers; None where every row carries them."""
        return {"classes": "classes", "centres": "centres", "invariant": "classes"}.get(self.shape)

    @property
    def class_facts(self) -> list[str]:
        """What the table of classes says of each class before its cells."""
        further = {"classes": [], "centres": ["radius"], "invariant": ["counterfeits"]}
        return ["class", "size", *further[self.shape]] if self.class_table else []

    @property
    def cell_columns(self) -> list[str]:
        """The published columns that carry the quasi-identifiers."""
        return [name for column in self.quasi for name in column.columns]


class HierarchyMark(_Part):
    """A hierarchy without its values."""

    leaves: int
    height: int
    sha256: str


class SchemaColumn(_Part):
    """One column of the input."""

    name: str
    role: Literal["identifying", "quasi", "sensitive", "neutral", "choice", "drop"]
    kind: Literal["numeric", "ordinal", "nominal"] | None
    hierarchy: HierarchyMark | None = Field(default=None, description="only one that the holder supplied")


class Request(_Part):
    """What was asked for; the source is not published, `input.sha256` stands for it."""

    method: dict[str, Setting]
    require: tuple[dict[str, Setting], ...]
    publish: dict[str, Setting]
    refine: dict[str, Setting] | None = Field(default=None, description="the local search after the method, if any")
    suppress: float = Field(default=0.0, ge=0, le=1, description="share of rows that might be suppressed for a promise")
    seed: int
    missing: Literal["keep", "drop"]


class Input(_Part):
    """What came in."""

    rows: int = Field(ge=0)
    sha256: str = Field(description="SHA-256 of the canonical content, the same from any file or frame")


class Rows(_Part):
    """Where every input row went."""

    published: int = Field(ge=0)
    suppressed: int = Field(ge=0, description="rows that no group could take")
    dropped: dict[str, int] = Field(description="rows left out before the work, by reason")
    counterfeits: int = Field(default=0, ge=0, description="rows that stand for nobody, added to the published ones")

    @property
    def shown(self) -> int:
        """Rows of the published table."""
        return self.published + self.counterfeits


class Place(_Part):
    """Where a release stands among the releases of one table that grows and shrinks."""

    number: int = Field(ge=1, description="1 for the first release")
    previous: str | None = Field(description="fingerprint of the release before it; null for the first")


class InputFigure(_Part):
    """A figure that needs the input: worked out by the holder, and not to be re-derived from the release."""

    measure: str
    value: float = Field(ge=0)
    columns: tuple[str, ...] = Field(description="the columns that enter")


class Picture(_Part):
    """A picture beside the tables."""

    file: str
    sha256: str


class PublishedTable(_Part):
    """One table of the release."""

    name: str
    rows: int = Field(ge=0)
    columns: tuple[str, ...]
    content_sha256: str
    file: str | None = Field(default=None, description="file name beside the manifest, once written")
    sha256: str | None = Field(default=None, description="SHA-256 of the file")


class Manifest(_Part):
    """What a release says about itself."""

    format: Literal[1] = 1
    shoal: str = Field(description="version of Shoal that made the release")
    input: Input
    population: Input | None = Field(default=None, description="the people the release was compared with, if any")
    columns: tuple[SchemaColumn, ...]
    recipe: Request
    rows: Rows
    series: Place | None = Field(default=None, description="only where a table is published over and over")
    layout: Layout
    promise: tuple[dict[str, Setting], ...] = Field(description="what every class satisfies")
    achieved: dict[str, int | float] = Field(
        default_factory=dict, description="what the weakest class reaches, re-derived"
    )
    measures: dict[str, int | float] = Field(default_factory=dict)
    against_input: tuple[InputFigure, ...] = Field(default=(), description="figures that compare input and release")
    notes: dict[str, int | float | bool] = Field(default_factory=dict, description="facts about the run, by the method")
    tables: tuple[PublishedTable, ...]
    pictures: tuple[Picture, ...] = Field(default=(), description="pictures beside the tables, once written")

    def to_json(self) -> str:
        """Write it, in a stable order."""
        return self.model_dump_json(indent=2) + "\n"

    def fingerprint(self) -> str:
        """SHA-256 of all it says but for its files: the same whatever the format they are written in."""
        bare = tuple(table.model_copy(update={"file": None, "sha256": None}) for table in self.tables)
        return hashlib.sha256(self.model_copy(update={"tables": bare, "pictures": ()}).to_json().encode()).hexdigest()

    @classmethod
    def read(cls, folder: str | Path) -> Manifest:
        """Read the manifest of a release directory, refusing one that is not well formed."""
        try:
            text = (Path(folder) / FILE).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise GuaranteeError(Problem(FILE, "is not UTF-8 text")) from None
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise GuaranteeError([Problem(FILE, _entry(item["loc"], item["msg"])) for item in error.errors()]) from None


def _entry(place: Sequence[int | str], message: str) -> str:
    return f"entry {'.'.join(str(step) for step in place) or '(root)'}: {message}"
