"""Recipes: source, schema, method, requirements and publishing as one TOML file.

The same recipe gives the same bytes from Python, the command line and wherever else the one path is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.enforce.refine import Refine
from shoal.errors import Problem, RecipeError
from shoal.methods.base import Method
from shoal.personal.base import ColumnPublisher
from shoal.privacy.base import Requirement
from shoal.publish import default_publisher
from shoal.publish.base import Publisher
from shoal.recipe.reader import MARKED, RecipeReader
from shoal.recipe.text import parsed, read_entries, write_toml
from shoal.release.target import Target
from shoal.spec import Spec, checked_call, checked_class
from shoal.table.hierarchy.builders import Rule
from shoal.table.markers import Markers
from shoal.table.schema import Kind, Ordinal, Schema, kind_name
from shoal.table.sources import Source


@checked_class
@dataclass(frozen=True)
class Recipe:
    """Everything a release needs, in one place.

    Parameters
    ----------
    schema, method, require, publish, refine, seed, missing
        As in `shoal.anonymize`; `publish` is what fits the method when not given.
    source
        Where the table is; may be left out when a frame is at hand.
    format
        File format of the release, ``"csv"`` or ``"parquet"``.
    suppress
        As in `shoal.anonymize`.
    population
        Where the table of people is that requirements on a population compare with.
    target
        The database that the release is written to, instead of a directory.
    engine
        ``"local"``, or ``"spark"``: then `shoal.spark.follow` and ``shoal run`` follow it on a cluster.

    Examples
    --------
    >>> recipe = Recipe.from_toml('''
    ... seed = 7
    ... [source]
    ... path = "people.csv"
    ... [columns.age]
    ... role = "quasi"
    ... kind = "numeric"
    ... [method]
    ... name = "mondrian"
    ... k = 5
    ... ''')
    >>> recipe.method
    Mondrian(k=5, strict=True, width='true', nominal='tree')
    >>> Recipe.from_toml(recipe.to_toml()) == recipe
    True
    """

    schema: Schema
    method: Method
    source: Source | None = None
    require: tuple[Requirement, ...] = ()
    publish: Publisher | None = None
    refine: Refine | None = None
    seed: int | None = None
    missing: str = "keep"
    format: str = "csv"
    suppress: float = 0.0
    population: Source | None = None
    normalise: bool = False
    left_out: str = "public"
    sensitive: tuple[ColumnPublisher, ...] = ()
    target: Target | None = None
    engine: str = "local"

    def __post_init__(self) -> None:
        if self.publish is None:
            object.__setattr__(self, "publish", default_publisher(self.method))
        if self.population is not None and self.population.missing_values:
            raise RecipeError(MARKED)

    @classmethod
    @checked_call(examples={"path": '"recipe.toml"'})
    def load(cls, path: str | Path) -> Recipe:
        """Read a recipe file; paths in it are relative to it."""
        return cls.from_entries(read_entries(path), Path(path).parent)

    @classmethod
    def from_toml(cls, text: str, *, folder: Path | None = None) -> Recipe:
        """Read a recipe from text, with all its problems in one error."""
        return cls.from_entries(parsed(text, "recipe"), folder)

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any], folder: Path | None = None) -> Recipe:
        """Build a recipe from the entries of its file; paths in it are relative to `folder`."""
        return cls(**RecipeReader(dict(entries), folder or Path()).recipe())

    def to_toml(self) -> str:
        """Write the recipe; reading it back gives an equal one."""
        return write_toml(self.to_mapping())

    def to_mapping(self) -> dict[str, Any]:
        """Give the entries of the recipe file."""
        entries: dict[str, Any] = {} if self.seed is None else {"seed": self.seed}
        entries |= {"missing": self.missing, "format": self.format}
        if self.normalise:
            entries["normalise"] = True
        if self.left_out != "public":
            entries["left_out"] = self.left_out
        if self.engine != "local":
            entries["engine"] = self.engine
        if self.schema.rest is not None:
            entries["rest"] = self.schema.rest
        if self.suppress:
            entries["suppress"] = self.suppress
        columns = {column.name: _column_entry(column.role, column.kind) for column in self.schema}
        for key, source in (("source", self.source), ("population", self.population)):
            if source is not None:
                entries[key] = {name: value for name, value in _listed(_without_own(source, columns)).items() if value}
        entries["columns"] = columns
        entries["method"] = {"name": self.method.name, **_listed(self.method)}
        if self.require:
            entries["require"] = [{"model": model.name, **model.to_mapping()} for model in self.require]
        assert self.publish is not None  # noqa: S101  settled when the recipe was made
        publish = [{"name": one.name, **_listed(one)} for one in (self.publish, *self.sensitive)]
        entries["publish"] = publish if self.sensitive else publish[0]
        if self.refine is not None:
            entries["refine"] = self.refine.to_mapping()
        if self.target is not None:
            entries["target"] = self.target.without_password().to_mapping()
        return entries

    def require_source(self) -> Source:
        """The source, or an error when the recipe has none."""
        if self.source is None:
            raise RecipeError(Problem("recipe", "has no [source]", "say where the table is"))
        return self.source


@dataclass(frozen=True)
class Promise:
    """What a recipe says of a table that is published already: its columns, and what its classes must keep."""

    schema: Schema
    require: tuple[Requirement, ...] = ()
    missing_values: Markers = ()

    @classmethod
    def load(cls, path: str | Path) -> Promise:
        """Read a recipe file that needs neither a source nor a method; paths in it are relative to it."""
        return cls(*RecipeReader(read_entries(path), Path(path).parent).promise())


def _without_own(source: Source, columns: dict[str, Any]) -> Source:
    """A source without the texts of missing cells that columns have of their own, which stand with the columns."""
    own = source.missing_values
    if not isinstance(own, Mapping):
        return source
    for name in columns:
        if name in own:
            columns[name]["missing_values"] = list(own[name])
    rest = {name: list(texts) for name, texts in own.items() if name not in columns}
    return replace(source, missing_values=rest)


def _listed(spec: Spec) -> dict[str, Any]:
    """The parameters of a spec as a file holds them."""
    return {key: _plain(value) for key, value in spec.to_mapping().items()}


def _plain(value: Any) -> Any:
    """Lists in place of tuples, within tables too."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _column_entry(role: str, kind: Kind | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": role}
    if kind is None:
        return entry
    entry["kind"] = kind_name(kind)
    if isinstance(kind, Ordinal):
        days = kind.calendar
        entry["order"] = list(kind.order) if days is None else {"name": days.name, **days.to_mapping()}
    if isinstance(kind.hierarchy, Rule):
        entry["hierarchy"] = {"name": kind.hierarchy.name, **_listed(kind.hierarchy)}
    elif kind.hierarchy is not None:
        entry["hierarchy"] = {"name": "tree", "paths": [list(path) for path in kind.hierarchy.paths()]}
    return entry
