"""The entries of a recipe file read into the parts of a recipe, with all their problems in one error."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.enforce.refine import Refine
from shoal.errors import Problem, Problems, RecipeError, ShoalError, did_you_mean, some
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.personal import COLUMN_PUBLISHERS
from shoal.privacy import MODELS
from shoal.privacy.base import Requirement
from shoal.publish import PUBLISHERS
from shoal.publish.base import Publisher
from shoal.release.target import Target
from shoal.settings import SETTINGS
from shoal.spec import Maybe, OneOf, Spec, find, shown
from shoal.table.days import Days
from shoal.table.hierarchy.builders import RULES, Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.markers import Markers, complaint, joined
from shoal.table.role_words import meant_role
from shoal.table.schema import KINDS, ROLES, SINGLE_ROLES, Kind, Ordinal, Schema
from shoal.table.sources import Source

TOP_KEYS = (
    "seed", "missing", "rest", "format", "suppress", "source", "population", "columns", "method", "require", "publish",
    "refine", "normalise", "left_out", "target", "engine",
)  # fmt: skip

MARKED = Problem("population.missing_values", "belongs to [source]: it applies to both tables", "move it there")
REST = OneOf(("neutral", "drop"))
COLUMN_KEYS = ("role", "kind", "order", "hierarchy", "missing_values")


class RecipeReader:
    """Turns the entries of a recipe file into the parts of a recipe, noting every problem on the way."""

    def __init__(self, entries: dict[str, Any], folder: Path) -> None:
        self.entries = entries
        self.folder = folder
        self.problems = Problems()
        self.markers: dict[str, Sequence[str]] = {}
        """Texts of missing cells that columns have of their own."""

    def promise(self) -> tuple[Schema, tuple[Requirement, ...], Markers]:
        """The columns, what classes must keep, and the texts of missing cells."""
        self._check_keys()
        source, schema = self._source(), self._schema()
        method = self._spec("method", METHODS, self._table("method"))
        require = self._requirements()
        self.problems.raise_if_any(RecipeError)
        assert schema is not None  # noqa: S101  or there was a problem
        # One table shows neither buckets nor slices: what they promise is for their own releases.
        promised = method.promises(schema) if isinstance(method, Method) and method.protects == "cells" else ()
        marked = joined(() if source is None else source.missing_values, self.markers)
        return schema, (*promised, *require), marked

    def _check_keys(self) -> None:
        for key in self.entries:
            if key not in TOP_KEYS:
                self.problems.add(key, "unknown key", did_you_mean(key, TOP_KEYS))

    def recipe(self) -> dict[str, Any]:
        """All parts of a recipe by name, or one error with all problems."""
        self._check_keys()
        source, population = self._source(), self._source("population")
        schema = self._schema()
        method = self._spec("method", METHODS, self._table("method", needed=True))
        fitting = {"name": method.publisher} if isinstance(method, Method) else {"name": "generalize"}
        publish, sensitive = self._publishers(fitting)
        require, refine, target = tuple(self._requirements()), self._refine(), self._target()
        top = self._top_values()
        if self.markers and source is None and "source" not in self.entries:
            what = f"has missing_values ({some(list(self.markers))}), but there is no [source] that is read"
            self.problems.add("columns", what, "add a table [source]")
        self.problems.raise_if_any(RecipeError)
        if source is not None and self.markers:
            source = replace(source, missing_values=joined(source.missing_values, self.markers))
        assert schema is not None and isinstance(method, Method) and isinstance(publish, Publisher)  # noqa: S101, PT018
        return {
            "schema": schema, "method": method, "source": source, "require": require, "publish": publish,
            "sensitive": tuple(sensitive), "refine": refine, "population": population, "target": target,
            **top,
        }  # fmt: skip

    def _target(self) -> Target | None:
        """The database that the release is written to, if any."""
        entries = self._table("target")
        if entries is None:
            return None
        with self.problems.noting():
            uri = entries.get("uri")
            if isinstance(uri, str) and uri.startswith("sqlite:///") and not uri.startswith("sqlite:////"):
                entries = {**entries, "uri": f"sqlite:///{self.folder / uri.removeprefix('sqlite:///')}"}
            return Target.from_mapping(entries, "target")
        return None

    def _publishers(self, fitting: dict[str, Any]) -> tuple[Spec | None, list[Any]]:
        """How groups are shown, and how sensitive columns are: one table, or a list of tables."""
        entries = self.entries.get("publish")
        if not isinstance(entries, list):
            return self._spec("publish", PUBLISHERS, {**fitting, **(self._table("publish") or {})}), []
        if not all(isinstance(entry, dict) for entry in entries):
            self.problems.add("publish", "needs to be a table, or a list of tables", "write [publish] or [[publish]]")
            return None, []
        groups = [entry for entry in entries if entry.get("name") not in COLUMN_PUBLISHERS]
        if len(groups) > 1:
            self.problems.add("publish", f"has {len(groups)} publishers of groups", "keep one")
        columns = [entry for entry in entries if entry.get("name") in COLUMN_PUBLISHERS]
        made = [self._spec("publish", COLUMN_PUBLISHERS, entry) for entry in columns]
        return self._spec("publish", PUBLISHERS, groups[0] if groups else fitting), made

    def _top_values(self) -> dict[str, Any]:
        """The single values at the top of a recipe that it has a field for."""
        values = {key: self.entries.get(key, default) for key, (_, default) in SETTINGS.items()}
        for key, value in values.items():
            if wrong := SETTINGS[key][0].complaint(value):
                self.problems.add(key, wrong)
        if wrong := Maybe(REST).complaint(self.entries.get("rest")):
            self.problems.add("rest", wrong)
        return values

    def _table(self, key: str, *, needed: bool = False) -> dict[str, Any] | None:
        value = self.entries.get(key)
        if value is None:
            if needed:
                self.problems.add(key, "missing", f"add a table [{key}]")
            return None
        if not isinstance(value, dict):
            self.problems.add(key, "needs to be a table", f"write [{key}]")
            return None
        return value

    def _source(self, key: str = "source") -> Source | None:
        entry = self._table(key)
        if entry is None:
            return None
        entry = dict(entry)
        given = entry.get("path")
        if isinstance(given, str) and given.strip() and "://" not in given and self.folder != Path():
            entry["path"] = str(self.folder / entry["path"])
        try:
            source = Source.from_mapping(entry, key)
            if key == "population" and source.missing_values:
                raise RecipeError(MARKED)
            return source
        except ShoalError as error:
            self.problems.take(error)
            return None

    def _spec(self, key: str, registry: Mapping[str, type[Any]], entry: dict[str, Any] | None) -> Spec | None:
        if entry is None:
            return None
        rest = dict(entry)
        try:
            spec: type[Spec] = find(registry, rest.pop("name", None), f"{key}.name")
            return spec.from_mapping(rest, key)
        except ShoalError as error:
            self.problems.take(error)
            return None

    def _refine(self) -> Refine | None:
        entry = self._table("refine")
        if entry is None:
            return None
        try:
            return Refine.from_mapping(entry, "refine")
        except ShoalError as error:
            self.problems.take(error)
            return None

    def _requirements(self) -> list[Requirement]:
        entries = self.entries.get("require", [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            self.problems.add("require", "needs to be a list of tables", "write [[require]]")
            return []
        found = []
        for place, entry in enumerate(entries):
            rest = dict(entry)
            try:
                model = find(MODELS, rest.pop("model", None), f"require[{place}].model")
                found.append(model.from_mapping(rest, f"require[{place}]"))
            except ShoalError as error:
                self.problems.take(error)
        return found

    def _schema(self) -> Schema | None:
        columns = self._table("columns", needed=True)
        if columns is None:
            return None
        before = len(self.problems)
        roles: dict[str, dict[str, Kind | None]] = {role: {} for role in ROLES}
        for name, entry in columns.items():
            if not isinstance(entry, dict):
                self.problems.add(f"columns.{name}", "needs to be a table", f'write [columns."{name}"]')
                continue
            for key in entry:
                if key not in COLUMN_KEYS:
                    self.problems.add(f"columns.{name}.{key}", "unknown key", did_you_mean(key, COLUMN_KEYS))
            self._markers(name, entry)
            role = entry.get("role")
            if "role" not in entry:
                self.problems.add(f"columns.{name}.role", "missing", f"give {OneOf(ROLES).describe()}")
                continue
            if role not in ROLES:
                what = f"needs {OneOf(ROLES).describe()}, got {shown(role)}"
                self.problems.add(f"columns.{name}.role", what, meant_role(role, ROLES))
                continue
            roles[str(role)][name] = self._kind(name, entry, needed=role == "quasi")
        for role in SINGLE_ROLES:
            if len(roles[role]) > 1:
                self.problems.add("columns", f"{len(roles[role])} columns have the role {role}", "keep one")
        if len(self.problems) > before:
            return None
        rest = self.entries.get("rest")
        try:
            return Schema(
                identifying=list(roles["identifying"]),
                quasi=roles["quasi"],  # type: ignore[arg-type]
                sensitive=roles["sensitive"],
                neutral=roles["neutral"],
                **{role: next(iter(roles[role]), None) for role in SINGLE_ROLES},
                rest=None if REST.complaint(rest) else rest,
            )
        except ShoalError as error:
            self.problems.take(error)
            return None

    def _markers(self, name: str, entry: dict[str, Any]) -> None:
        """Take the texts of missing cells that a column has of its own."""
        texts = entry.get("missing_values", [])
        if not isinstance(texts, list) or complaint(texts, empty=False):
            what, fix = "needs a list of texts", 'write numbers with quotes too: ["999"]'
            self.problems.add(f"columns.{name}.missing_values", what, fix)
        elif texts:
            self.markers[name] = texts

    def _kind(self, name: str, entry: dict[str, Any], *, needed: bool) -> Kind | None:
        where = f"columns.{name}"
        word = entry.get("kind")
        if word is None:
            if needed:
                self.problems.add(f"{where}.kind", "missing", f"give {OneOf(tuple(KINDS)).describe()}")
            elif "order" in entry or "hierarchy" in entry:
                self.problems.add(f"{where}.kind", "missing, though the column has an order or a hierarchy")
            return None
        if wrong := OneOf(tuple(KINDS)).complaint(word):
            self.problems.add(f"{where}.kind", wrong)
            return None
        kind: Kind | None = None
        hierarchy: Hierarchy | Rule | None = None
        try:
            hierarchy = self._hierarchy(f"{where}.hierarchy", name, entry.get("hierarchy"))
        except ShoalError as error:
            self._take(error, f"{where}.hierarchy")
        try:
            kind = self._ordinal(where, entry, hierarchy) if word == "ordinal" else KINDS[word](hierarchy=hierarchy)  # type: ignore[call-arg]
        except ShoalError as error:
            self._take(error, f"{where}.order")
        if "order" in entry and word != "ordinal":
            self.problems.add(f"{where}.order", f"is for ordinal columns, this one is {word}", "make it ordinal")
        return kind

    def _ordinal(self, where: str, entry: dict[str, Any], hierarchy: Hierarchy | Rule | None) -> Ordinal:
        order = entry.get("order")
        fix = 'list the categories, lowest first; of days, name a calendar: {name = "days", ...}'
        if order is None:
            raise RecipeError(Problem(f"{where}.order", "missing", fix))
        if isinstance(order, dict):
            rest = dict(order)
            found = find({Days.name: Days}, rest.pop("name", None), f"{where}.order.name")
            return Ordinal(found.from_mapping(rest, f"{where}.order"), hierarchy)
        if not isinstance(order, list) or not all(type(category) in (str, int) for category in order):
            what = f"needs a list of texts or whole numbers, got {shown(order)}"
            raise RecipeError(Problem(f"{where}.order", what, fix))
        return Ordinal(order, hierarchy)

    def _take(self, error: ShoalError, where: str) -> None:
        """Note the problems of one entry, each with the key it is found at."""
        for one in error.problems:
            place = one.where if one.where.startswith(where) else f"{where}: {one.where}"
            if of_a_part := re.fullmatch(r"[A-Z]\w+\((\w+)=\)", one.where):  # as Python calls it
                key = of_a_part[1]
                place = where if where.endswith(f".{key}") else f"{where}.{key}"
            self.problems.take(RecipeError(replace(one, where=place)))

    def _hierarchy(self, where: str, column: str, entry: object) -> Hierarchy | Rule | None:
        if entry is None:
            return None
        if isinstance(entry, str):
            return Hierarchy.from_csv(self.folder / entry, column=column)
        if not isinstance(entry, dict):
            raise RecipeError(Problem(where, "needs the path of a file, or a table with a name"))
        rest = dict(entry)
        name = rest.pop("name", None)
        if name == "tree":
            paths = rest.get("paths")
            if set(rest) != {"paths"} or not isinstance(paths, Sequence):
                raise RecipeError(Problem(where, "a tree needs paths and nothing else"))
            return Hierarchy(paths, column=column)
        return find(RULES, name, f"{where}.name").from_mapping(rest, where)
