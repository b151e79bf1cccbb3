"""The key of a release: what its aliases and grades stand for. It belongs to the holder, or into a vault."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from shoal.errors import GuaranteeError, Problem, SourceError
from shoal.registry.declared import COLUMN_PUBLISHERS
from shoal.release.manifest import Int, Manifest, Node, canonical_json
from shoal.release.sealed import KEY, of_a_file

SUFFIX = ".key"
Value = int | float | str | None
"""A value of the input: whole numbers of any size, exactly."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Meaning(_Part):
    """What one published cell stands for."""

    cell: Int | float | str
    values: tuple[Value, ...] = Field(description="one value; more where grades tie; null for a missing one")


class ColumnKey(_Part):
    """What the cells of one sensitive column stand for."""

    name: str
    kind: Literal["numeric", "ordinal", "nominal"] | None
    order: tuple[str, ...] = Field(default=(), description="ordinal: all categories, lowest first")
    nodes: tuple[Node, ...] = Field(default=(), description="nominal with a hierarchy: values, and where they meet")
    meanings: tuple[Meaning, ...] = Field(description="every cell that is not shown as it is, in the order of cells")
    categories: tuple[tuple[float, float], ...] = Field(default=(), description="grades: ends of each category")
    private: dict[str, Any] = Field(default_factory=dict, description="parameters that are not published")

    @field_validator("private")
    @classmethod
    def _check_private(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Refuse parameters that no publisher has, or out of their bounds."""
        bounds = {name: bound for one in COLUMN_PUBLISHERS.values() for name, bound in one.private.items()}
        if any(name not in bounds or bounds[name].complaint(value) for name, value in given.items()):
            raise ValueError("parameters that no publisher takes")
        return given

    @cached_property
    def values(self) -> dict[Any, tuple[Any, ...]]:
        """The values that each cell stands for."""
        return {one.cell: one.values for one in self.meanings}


class Key(_Part):
    """What only the holder of a release, or a trusted server, may know."""

    format: Literal[1] = 1
    shoal: str = Field(description="version of Shoal that made the release")
    release: str = Field(description="fingerprint of the manifest that it belongs to")
    seed: int = Field(ge=0, description="what all draws came from")
    table: str = Field(description="fingerprint of the published rows as they were: aliases are drawn from it, too")
    columns: tuple[ColumnKey, ...]

    @cached_property
    def by_name(self) -> dict[str, ColumnKey]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    def to_bytes(self) -> bytes:
        """Write it."""
        return canonical_json(self).encode()

    @of_a_file
    def write(self, path: str | Path, passphrase: str) -> Path:
        """Write it into an encrypted file, readable by its owner alone."""
        KEY.write(Path(path), self.to_bytes(), passphrase)
        return Path(path)

    @classmethod
    @of_a_file
    def read(cls, path: str | Path, passphrase: str) -> Key:
        """Read the key of a release from its encrypted file."""
        try:
            return cls.model_validate_json(KEY.opened(Path(path), passphrase))
        except ValidationError:
            raise SourceError(Problem(str(path), "holds no key of a release", "check the path")) from None

    def check_belongs(self, manifest: Manifest, where: str = "key") -> None:
        """Refuse the key of another release."""
        if self.release != manifest.fingerprint():
            what = "belongs to another release, or the release was changed since it was made"
            raise GuaranteeError(Problem(where, what, "give the key that was written with the release"))


def key_path(folder: Path) -> Path:
    """Where the key of a release directory stands: beside it, and never in it."""
    place = folder if folder.name not in ("", "..") else folder.resolve()
    return place.parent / f"{place.name}{SUFFIX}"
