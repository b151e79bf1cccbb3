"""The recipe that `shoal init` writes: what is proposed for a table, with reasons, requirements and trees to edit.

Every sensitive column gets the strongest entropy l-diversity that a run can be expected to keep: at most half of what
the whole table has beyond a single value, and about half of k. Where nearly all rows have one value, each group would
need some of the few others, and groups would be far larger than k: there, t-closeness keeps the others apart. All rows
as one class keep either, so that a release always exists.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.concerns.alike_values import USUAL
from shoal.concerns.base import toml_text
from shoal.errors import Problem, SchemaError
from shoal.methods.mondrian import Mondrian
from shoal.privacy.base import Classes, Requirement, Values
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.recipe.defaults import K, default_parts
from shoal.recipe.recipe import Recipe
from shoal.recipe.text import write_toml
from shoal.table.prepare import Table, prepare
from shoal.table.profile.described import ColumnProfile, Profile
from shoal.table.profile.trees import file_names, tree_text
from shoal.table.sources import Source

STEPS = (3.0, 2.5, 2.0, 1.8, 1.6, 1.5, 1.4, 1.3, 1.2, 1.15, 1.1, 1.05, 1.02, 1.01)
"""Values of l that a proposal chooses from."""
SHIFT = 0.2
"""By how much groups may differ from the table where nearly all rows have one value: one row of five with another."""
TOP = """A proposal by shoal init: read every role and its reason, and change what does not fit.
Confidence: high, the values say it; medium, the name or the look of the values does; low, nothing does."""
Notes = dict[tuple[str, ...], str]


@dataclass(frozen=True)
class Proposed:
    """A proposed recipe: its text, and the text of every hierarchy file by its path, relative to the recipe."""

    text: str
    files: Mapping[str, str]
    require: tuple[Requirement, ...]
    to_do: tuple[Problem, ...] = ()
    """What keeps it from being run; nothing as a rule."""


def propose(described: Profile, frame: pl.DataFrame, source: Source, out: Path, told: Sequence[str] = ()) -> Proposed:
    """Propose a recipe for a table, to be written to `out`; where none can be run, one that says what is to be done.

    `told` is what was decided on how the table is read; it stands with the source.
    """
    if all(column.role != "quasi" for column in described.columns):
        return _unfinished(described, source, out, (_nothing_known(described),), told)
    try:
        return _ready(described, frame, source, out, told)
    except SchemaError as error:
        return _unfinished(described, source, out, error.problems, told)


def _nothing_known(described: Profile) -> Problem:
    """Why there is no quasi-identifier, and what to do."""
    roles = [column.role for column in described.columns]
    found = ", ".join(f"{roles.count(role)} {role}" for role in dict.fromkeys(roles))
    fix = 'give role = "quasi" to every column that others may know of a person'
    if all(column.n_distinct == 0 for column in described.columns):
        fix = "all cells are missing: there is nothing to publish"
    return Problem("columns", f"no quasi-identifier is found among them ({found})", fix)


def _unfinished(
    described: Profile, source: Source, out: Path, to_do: tuple[Problem, ...], told: Sequence[str]
) -> Proposed:
    """A recipe with all columns and their reasons that cannot be run yet, and says why."""
    # A recipe needs a quasi-identifier to be written; where there is none, the first column stands in for it.
    first, *others = described.columns
    if all(column.role != "quasi" for column in described.columns):
        first = replace(first, role="quasi", kind="nominal", hierarchy=None)
    entries = Recipe(replace(described, columns=(first, *others)).to_schema(), Mondrian(k=K), source).to_mapping()
    if first is not described.columns[0]:
        given = {"role": described.columns[0].role, "kind": described.columns[0].kind}
        entries["columns"][first.name] = {key: value for key, value in given.items() if value}
    if any(column.role == "sensitive" for column in described.columns):
        fix = "run shoal init again when the table is read as it should be, or write them"
        to_do = (*to_do, Problem("require", "no requirement is proposed for the sensitive columns yet", fix))
    _relative_to(out, entries, described)
    notes = _notes_on_columns(described, to_do, told)
    notes[("method",)] = _promised(described, K)
    return Proposed(write_toml(entries, notes), {}, (), to_do)


def _relative_to(out: Path, entries: dict[str, Any], described: Profile) -> None:
    """Let the path of the table begin at the recipe, and put columns in the order of the table."""
    if "path" in entries["source"]:
        entries["source"]["path"] = os.path.relpath(entries["source"]["path"], out.parent)
    entries["columns"] = {column.name: entries["columns"][column.name] for column in described.columns}


def _ready(described: Profile, frame: pl.DataFrame, source: Source, out: Path, told: Sequence[str]) -> Proposed:
    """A recipe that can be run as it is, unless the table has a single person."""
    schema = described.to_schema()
    table = prepare(frame, schema, missing_values=source.missing_values)
    k = _k(table)
    require = {name: fitting(name, values, k) for name, values in table.sensitive.items()}
    kept = {name: one for name, one in require.items() if one is not None}
    recipe = Recipe(schema, Mondrian(k=k), source, require=tuple(kept.values()))
    entries = recipe.to_mapping()
    _relative_to(out, entries, described)
    files = _put_trees_in_files(entries["columns"], described, table, f"{out.stem}.hierarchies")
    with_trees = [name for name in schema.quasi if "hierarchy" in entries["columns"][name]]
    default = default_parts(table.n_rows, schema, with_trees)
    entries["method"] = {**default.method, "k": k}
    entries["publish"] = default.publish or {"name": "generalize"}
    to_do = _too_few(described, table)
    notes = _notes_on_columns(described, to_do, told)
    _note_requirements(notes, table, kept)
    notes[("method",)] = f"{_promised(described, k)}\n{default.why}."
    return Proposed(write_toml(entries, notes), files, tuple(kept.values()), to_do)


def _k(table: Table) -> int:
    return max(min(K, table.n_people // 2), 2)


def _too_few(described: Profile, table: Table) -> tuple[Problem, ...]:
    """What is wrong with a table of one person, whom nobody can be mistaken for."""
    if table.n_people > 1:
        return ()
    what = "has one row" if table.n_rows == 1 else f"has rows of one person only, as {described.person!r} says"
    return (Problem("table", what, "no method can hide one person among others: take a table of more people"),)


def fitting(column: str, values: Values, k: int) -> Requirement | None:
    """What is required of a sensitive column; nothing where all rows have one value."""
    if len(values.counts) < 2:
        return None
    if _fewer_by_row(values) > SHIFT:
        return strongest(column, values, k) or LDiversity(column, l=2)
    # Each group would need ten rows and more to have others, too; and to have the usual value is hardly news.
    found = None if usual_share(values) > USUAL else strongest(column, values, k)
    return found or TCloseness(column, t=max(SHIFT, math.ceil(100 / k) / 100))


def usual_share(values: Values) -> float:
    """Share of the rows that have the most frequent value; of the people, where these may have several values."""
    n = len(values.series) if values.people is None else len(np.unique(values.people))
    return float(values.counts.max()) / n


def _fewer_by_row(values: Values) -> float:
    """How much rarer the value that nearly all people have is among rows; 0 where it is not so usual, or no one's.

    A group with a row of each person lies that far from the table, where all rows of the people count, whatever it has.
    """
    if values.people is None or (often := usual_share(values)) <= USUAL:
        return 0.0
    return often - float(values.series.value_counts()["count"].max()) / len(values.series)  # type: ignore[arg-type]


def strongest(column: str, values: Values, k: int) -> LDiversity | None:
    """The strongest entropy l that a run can be expected to keep; None where one value has nearly all rows."""
    whole = effective(column, values)
    most = min(1 + (whole - 1) / 2, (k + 1) / 2)
    found = next((step for step in STEPS if step <= most), None)
    return None if found is None else LDiversity(column, l=found, variant="entropy")


def effective(column: str, values: Values) -> float:
    """How many values the whole table has, as its entropy counts them: nothing keeps an l above it."""
    everyone = np.zeros(len(values.series), dtype=np.int64)
    return LDiversity(column, l=2, variant="entropy").achieved(
        Classes(everyone, {column: values}, people=values.people)
    )


def _put_trees_in_files(entries: dict[str, Any], described: Profile, table: Table, folder: str) -> dict[str, str]:
    """Let columns refer to files with their trees, and give the text of each file."""
    trees = {}
    for column in described.columns:
        if column.kind == "nominal" and (column.role == "quasi" or column.hierarchy is not None):
            text = tree_text(column.hierarchy, table.frame[column.name])
            if text is not None:
                trees[column.name] = text
    files = {}
    for name, file in file_names(trees).items():
        entries[name] = {**entries[name], "hierarchy": f"{folder}/{file}"}
        files[f"{folder}/{file}"] = trees[name]
    return files


def _promised(described: Profile, k: int) -> str:
    who = "people" if described.person else "rows"
    return f"Every published combination of quasi-identifiers is shared by {k} {who} at least."


def _notes_on_columns(described: Profile, to_do: tuple[Problem, ...], told: Sequence[str]) -> Notes:
    """Comments at the top, on the source and on every column."""
    undone = [f"It cannot be run yet. {problem}." for problem in to_do]
    warned = (f"Warning: {warning}" for warning in (*described.warnings, *described.unread))
    notes: Notes = {(): "\n".join([TOP, *undone, *warned])}
    for column in described.columns:
        notes["columns", column.name] = _about(column, described.all_quasi_unique_share)
    on_source = list(told)
    if described.suspected_missing:
        marks = sorted({mark for found in described.suspected_missing.values() for mark in found})
        listed = ", ".join(toml_text(mark) for mark in marks)
        on_source.append(f"These look like missing cells; if they are, take the line in:\nmissing_values = [{listed}]")
    if on_source:
        notes[("source",)] = "\n".join(on_source)
    return notes


def _note_requirements(notes: Notes, table: Table, require: Mapping[str, Requirement]) -> None:
    """Comments on what is required, and on sensitive columns of which nothing can be."""
    k = _k(table)
    for place, (column, one) in enumerate(require.items()):
        values = table.sensitive[column]
        notes["require", str(place)] = _about_requirement(column, one, values)
        notes["require", str(place), "after"] = _commented(alternatives(column, values, k))
    bare = [name for name in table.sensitive if name not in require]
    if bare:
        text = "all rows have one value, so that nothing can be required of them"
        notes[()] += f"\nSensitive without a requirement: {', '.join(bare)}; {text}."


def _about(column: ColumnProfile, together: float) -> str:
    """The reason for a role, how sure it is, and how many rows the column singles out."""
    alone = f"Singles out {_percent(column.unique_share)} of the rows alone"
    if column.unique_with_others is not None:
        without = max(together - column.unique_with_others, 0.0)
        alone += f"; all quasi-identifiers {_percent(together)}, without it {_percent(without)}"
    return f"{column.reason} Confidence: {column.confidence}.\n{alone}."


def _about_requirement(column: str, one: Requirement, values: Values) -> str:
    if one == LDiversity(column, l=2):
        return (
            f"{_percent(usual_share(values))} of the people have one value besides others, and far fewer of the rows. "
            "Groups with few rows of each person are never\nclose to the table: t-closeness would make one group of "
            "nearly all rows. Asked for is that no group has one value alone."
        )
    if not isinstance(one, LDiversity):
        who = "rows" if values.people is None else "people"
        return (
            f"{_percent(usual_share(values))} of the {who} have one value. To require others of every group "
            "would make groups far larger than k.\nAsked for instead is that nobody learns much more from a group than "
            "from the whole table."
        )
    whole = effective(column, values)
    weaker = f"an l nearer to 1, such as {1 + (one.l - 1) / 2:.3g}, loses less"
    return (
        f"All rows together have an entropy of {whole:.2f} values. Asked for is half of what that is above 1; {weaker}."
    )


def alternatives(column: str, values: Values, k: int) -> tuple[Requirement, ...]:
    """Other models that the whole table keeps, to be asked for instead or besides."""
    most = usual_share(values)
    ordered = values.kind in ("numeric", "ordinal") and not values.has_missing
    last: Requirement | None = TCloseness(column, t=0.3, distance="ordered" if ordered else "equal")
    if most > USUAL:
        last = strongest(column, values, k)
    found: list[Requirement | None] = [LDiversity(column, l=max(min(len(values.counts), k, 3), 2))]
    if most < 1:  # of people, each may have it besides others: then nothing hides it
        twice_the_whole = math.ceil(20 * most / (1 - most)) / 10
        found.append(LDiversity(column, l=2, variant="recursive", c=twice_the_whole))
    return tuple(one for one in (*found, last) if one is not None)


def _commented(models: Sequence[Requirement]) -> str:
    """Tables of a recipe, to be used by taking the comment sign away."""
    lines = ["Instead, or besides:"]
    for one in models:
        entries = {"model": one.name, **{key: value for key, value in one.to_mapping().items() if value is not None}}
        lines += ["[[require]]", *(f"{key} = {toml_text(value)}" for key, value in entries.items())]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return "less than 0.1 %" if 0 < share < 0.001 else f"{100 * share:.1f} %"
