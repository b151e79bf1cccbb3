"""Re-derives what a release promises from what was published, and nothing else.

No code of the methods or the publishers is used here: the checker reads the published cells with its own eyes, groups
equal rows itself, and counts. A release that fails is refused with every reason at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cell_text import check_facts
from shoal.check.cells import ReadColumn, read_column
from shoal.check.classes import check_class_table
from shoal.check.content import check_forms, compared_meanwhile
from shoal.check.counterfeits import check_counterfeits, fewest_people
from shoal.check.hidden import check_absent, check_hidden, opened
from shoal.check.meanings import check_meanings
from shoal.check.original import with_trees
from shoal.check.placing import check_orders
from shoal.check.population import population_matches
from shoal.check.promises import LACKING, Reached, reached, survey
from shoal.check.row_order import check_order
from shoal.check.sensitive_values import NO_TREE, sensitive_values, tree_complaint
from shoal.check.slices import SlicesRead
from shoal.check.texts import Texts, together
from shoal.check.vocabulary import check_closed
from shoal.check.whose import Whose
from shoal.display.cards import card
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, cells_are
from shoal.machine.threads import side_by_side
from shoal.privacy.base import Classes, Matches, Requirement
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.release.key import Key
from shoal.release.manifest import Layout, Manifest
from shoal.release.shapes import Shape
from shoal.table.numbering import sorted_rows
from shoal.table.schema import Schema


@dataclass(frozen=True)
class Verdict:
    """What a release was found to satisfy.

    `achieved` holds the value the weakest class reaches for each promised model, by its letter (`k`, ...); `unchecked`
    names the promises that need further knowledge that was not given; `surveyed` holds what every model reaches,
    promised or not, and is computed when first used.
    """

    n_rows: int
    n_classes: int
    achieved: dict[str, float]
    reading: str = Shape.reading
    unchecked: tuple[str, ...] = ()
    classes: Classes | None = field(default=None, compare=False, repr=False)
    """The classes that were found."""
    outside: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """Those achieved values that rest on knowledge from outside, and that a manifest does not tell."""
    read: tuple[ReadColumn, ...] = field(default=(), compare=False, repr=False)
    """The quasi-identifiers as they were read back."""

    @property
    def public(self) -> dict[str, float]:
        """What the tables alone show to be reached."""
        return {key: value for key, value in self.achieved.items() if key not in self.outside}

    @property
    def k(self) -> int:
        """Size of the smallest class."""
        if "k" not in self.achieved:
            what, fix = "the release promises no k: it does not group rows into equivalence classes", ""
            if any(text.startswith("k-anonymity") for text in self.unchecked):
                what, fix = "counts people, whom the files alone do not tell apart", "give original= and schema=, or "
            raise ParameterError(Problem("k", what, f"{fix}use .achieved to see what is reached"))
        return int(self.achieved["k"])

    @cached_property
    def surveyed(self) -> dict[str, float]:
        """What every model reaches that says something about the sensitive columns."""
        found = {} if self.classes is None else {model.key: value for model, value in survey(self.classes)}
        if "k" not in self.achieved:  # buckets have a size, which hides nobody
            found.pop("k", None)
        return found | {key: value for key, value in self.achieved.items() if key in found}

    def _repr_html_(self) -> str:
        rows = [("rows", f"{self.n_rows:,}"), ("classes", f"{self.n_classes:,}")]
        rows += [(name, f"{value:g}") for name, value in self.achieved.items()]
        rows += [("not checked", text) for text in self.unchecked]
        title = "Verdict: holds, as far as it was checked" if self.unchecked else "Verdict: the promise holds"
        return card(title, rows, note=self.reading)


def verify(
    tables: Mapping[str, pl.DataFrame],
    manifest: Manifest,
    *,
    claims: bool = True,
    hashed: bool = True,
    population: pl.DataFrame | None = None,
    guards: pl.Series | None = None,
    schema: Schema | None = None,
    original: pl.DataFrame | None = None,
    key: Key | None = None,
    people: Whose | None = None,
) -> Verdict:
    """Check published tables against their manifest.

    Parameters
    ----------
    tables
        The published tables by name.
    manifest
        What the release says about itself.
    claims
        Whether the manifest must say what is reached; off while a release is made, and that is not known yet.
    hashed
        Whether fingerprints of the tables are compared; off while a release is made, whose were just taken.
    population
        The people a release may be compared with, by their quasi-identifiers, for promises that speak of them.
    guards
        The node each person chose as a guard, in the order of the published rows, for promises that speak of them.
    schema
        Tells where values of the population belong that the release does not show: the manifest has only those nodes of
        a hierarchy that were published.
    original
        The rows that were published, with their quasi-identifiers as they were, for promises that speak of everybody
        in the table. With the key, what is published is compared with them.
    key
        What aliases and grades stand for, for promises about the columns that show them.
    people
        Whose everything is that is published, for promises that count people.

    Raises
    ------
    GuaranteeError
        With every reason why the release does not keep its promise.
    """
    problems = Problems()
    if schema is not None and schema.person is not None and manifest.recipe.counts != "people":
        what = f"counts rows, but column {schema.person!r} says that people may have several"
        problems.add("release", what, "make it anew with that schema")
    check_orders(manifest.layout, schema, problems)
    promise = check_closed(manifest, problems)
    known = _Known(population, guards, schema, original, key, people)
    with compared_meanwhile(tables, manifest, problems, hashed=hashed):
        check_forms(tables, manifest, problems)
        _check_rows(tables, manifest, problems)
        return _checked(tables, manifest, promise, known, problems, claims=claims)


class _Known(NamedTuple):
    """What the one who checks knows besides the release; see `verify`."""

    population: pl.DataFrame | None
    guards: pl.Series | None
    schema: Schema | None
    original: pl.DataFrame | None
    key: Key | None
    people: Whose | None


def _checked(
    shown: Mapping[str, pl.DataFrame], written: Manifest, promise: list[Requirement], known: _Known,
    problems: Problems, *, claims: bool,
) -> Verdict:  # fmt: skip
    """Derive every promise anew from the cells, those behind aliases too where the key is known."""
    tables, manifest, told = shown, written, frozenset[str]()
    if known.key is not None:
        check_absent(manifest, known.key, problems)
        tables, manifest, told = opened(tables, manifest, known.key, problems)
        problems.raise_if_any(GuaranteeError)  # what cannot be opened cannot be looked at further
    layout, shape, people = manifest.layout, manifest.layout.laid_out, known.people
    counted = manifest.recipe.counts == "people"
    together = _slices_together(tables, manifest, people, problems) if layout.slices else None
    if shape.class_table:
        check_class_table(tables, layout, problems)
    check_counterfeits(tables, manifest, problems)
    cells, texts = shape.cells(tables, layout, problems), Texts()
    read = _check_cells(cells, manifest, texts, problems)
    rows = _rows_told(shown, written, tables, manifest, known, problems)
    whose = _whose(people, manifest, rows.height)
    sensitive = sensitive_values(rows, manifest, problems, known.schema, people if counted else None)
    if any(one.spelt(sensitive) != one for one in promise if getattr(one, "column", None) not in layout.hidden):
        problems.add("promise", "has values that are not in Shoal's notation")
    problems.raise_if_any(GuaranteeError)
    labels = _ordered_classes(shown, written.layout, rows, layout.class_columns, texts, problems)
    matches, lacking = _outside(cells, labels, manifest, promise, known, whose)
    chances = None
    if together is not None and known.original is not None:
        schema = None if known.schema is None else with_trees(known.schema, manifest, known.original)
        chances = together.chances(known.original, schema)
    sealed = frozenset(layout.hidden)
    classes = Classes(labels, sensitive, _aligned(known.guards, len(labels)), matches, chances, sealed, whose)
    found = reached(promise, classes, problems, lacking, people=counted)
    if together is not None and not counted:  # rows in a bucket tell nothing certain of people
        _look_at_all(together, promise, found, sealed, problems)
    for one in promise:
        if getattr(one, "column", None) in told:
            found.needing.update((one.key, one.every) if isinstance(one, SliceDiversity) else (one.key,))
    if shape.has_counterfeits:  # they hide nobody, and everybody can count them
        found.achieved["k"] = fewest_people(tables, manifest)
    check_reached(found, written, problems, claims=claims)
    problems.raise_if_any(GuaranteeError)
    unchecked = tuple(text for key, text in found.unchecked.items() if key not in found.covered)
    return Verdict(
        rows.height, classes.n_classes, found.achieved, shape.reading, unchecked, classes, found.outside, tuple(read)
    )


def _slices_together(
    tables: Mapping[str, pl.DataFrame], manifest: Manifest, people: Whose | None, problems: Problems
) -> SlicesRead:
    """The slices as they are read back, those that share an attribute joined; refuse slices that do not fit."""
    slices, counted = SlicesRead.of(tables, manifest.layout, problems), manifest.recipe.counts == "people"
    problems.raise_if_any(GuaranteeError)
    p, l = (manifest.recipe.method.get(name) for name in ("p", "l"))  # noqa: E741
    if isinstance(p, int) and isinstance(l, int):
        slices.check_generalised(p, l, problems)
    if counted and (p is not None or slices.joined() is not slices):
        problems.add("recipe", "promises of people, but has p or slices that share an attribute, which count rows")
    if counted and people is not None:
        slices = replace(slices, whose=people.slices)
    return slices.joined()


def _rows_told(
    shown: Mapping[str, pl.DataFrame], written: Manifest, tables: Mapping[str, pl.DataFrame], manifest: Manifest,
    known: _Known, problems: Problems,
) -> pl.DataFrame:  # fmt: skip
    """The rows that tables tell, behind aliases where the key is known; refuse tables that tell none."""
    shape, before = manifest.layout.laid_out, len(problems)
    as_shown = shape.rows(shown, written.layout, problems)
    if len(problems) > before:  # rows that cannot be told cannot be looked at further
        problems.raise_if_any(GuaranteeError)
    # Two aliases of one value are two lines of a bucket, and the same line once they are known: no mistake.
    rows = as_shown if known.key is None else shape.rows(tables, manifest.layout, Problems())
    if known.key is not None and known.original is not None:
        check_meanings(shown, written, known.key, known.original, known.schema, problems)
    check_hidden(as_shown, written, problems)
    return rows


def _look_at_all(
    slices: SlicesRead, promise: Sequence[Requirement], found: Reached, sealed: frozenset[str], problems: Problems
) -> None:
    """Note what holds for whatever slices can be put together to, and what holds for none of it.

    Who is in the table need not be known for that. What neither shows is left to who has the original. Aliases that
    nobody can open may stand for one value: what is refuted of them is refuted of the values, what holds need not.
    """
    asked = [one for one in promise if isinstance(one, SliceDiversity)]
    chances = slices.chances_of_all({one.column: 1 / one.l for one in asked})
    refuted = slices.refuted({one.column: 1 / one.l for one in asked})
    for one in asked:
        if one.column in refuted and one.key in found.unchecked:
            what = f"l = {one.l} was promised, but a person has a value with a probability of {refuted[one.column]:g}"
            problems.add(one.name, f"column {one.column!r}: {what}, whichever way the slices are combined")
        if one.column in chances and one.column not in sealed:
            found.achieved[one.every] = 1.0 / chances[one.column]
            if one.key in found.unchecked and one.holds(found.achieved[one.every]):
                found.covered.add(one.key)


def _outside(
    cells: pl.DataFrame,
    labels: npt.NDArray[np.int64],
    manifest: Manifest,
    promise: list[Requirement],
    known: _Known,
    people: npt.NDArray[np.int64] | None,
) -> tuple[Matches | None, Mapping[str, str]]:
    """How the population fits, where a promise speaks of it; otherwise, or if it cannot be said, why not."""
    if known.population is None or not any(requirement.needs == "population" for requirement in promise):
        return None, LACKING
    found = population_matches(cells, labels, manifest.layout, known.population, known.schema, people)
    return (None, {**LACKING, "population": found}) if isinstance(found, str) else (found, LACKING)


def _whose(people: Whose | None, manifest: Manifest, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Whose rows they are, of a release whose promise counts people."""
    if people is None or manifest.recipe.counts != "people":
        return None
    if len(people.rows) != n_rows:
        what = f"has {len(people.rows)} entries, the published table has {n_rows} rows"
        raise ParameterError(Problem("people=", what, "give one entry per published row, in their order"))
    return people.rows


def _aligned(guards: pl.Series | None, n_rows: int) -> pl.Series | None:
    if guards is not None and len(guards) != n_rows:
        what = f"has {len(guards)} entries, the published table has {n_rows} rows"
        raise ParameterError(Problem("guards=", what, "give one entry per published row, in their order"))
    return None if guards is None else guards.cast(pl.String)


def check_reached(found: Reached, manifest: Manifest, problems: Problems, *, claims: bool) -> None:
    """Something is promised that hides people, and the manifest claims what is reached, as far as the tables tell."""
    if manifest.layout.laid_out.protects == "links":
        if "k" in found.achieved:
            problems.add("promise", "has a k, but buckets and slices do not make quasi-identifiers equal")
        if not any("column" in promise for promise in manifest.promise):
            problems.add("promise", "has no model of a sensitive attribute")
    elif manifest.layout.laid_out.protects == "values":
        bare = [name for name in manifest.layout.sensitive if name not in manifest.layout.hidden]
        if bare or not manifest.layout.hidden:
            problems.add("layout", "shows records as they are with their sensitive columns as they are, too")
    elif "k" not in found.achieved and "k" not in found.unchecked:
        problems.add("promise", "has no model of the class size")
    claimed, own = manifest.achieved, found.public
    same = list(claimed) == list(own) and all(same_figure(value, own[key]) for key, value in claimed.items())
    if (claims or claimed) and not same:
        problems.add("achieved", "the manifest states other values than the release reaches")


def same_figure(one: float, other: float) -> bool:
    """Whether two figures are the same: sums of real numbers may differ in their last bits between machines."""
    if isinstance(one, int) or isinstance(other, int):
        return type(one) is type(other) and one == other
    return repr(one) == repr(other) or math.isclose(one, other, rel_tol=64 * sys.float_info.epsilon)


def _check_rows(tables: Mapping[str, pl.DataFrame], manifest: Manifest, problems: Problems) -> None:
    """As many rows are published as the manifest says."""
    rows = manifest.rows
    for name in manifest.layout.laid_out.counted(manifest.layout):
        if tables[name].height != rows.shown:
            problems.add("rows", f"{tables[name].height} are published, the manifest says {rows.shown}")


def _check_cells(cells: pl.DataFrame, manifest: Manifest, texts: Texts, problems: Problems) -> list[ReadColumn]:
    """Every cell is one its column could hold, written in the one way, and the manifest says of them what they show."""
    found = []
    texts.of(cells, [name for name in cells.columns if cells.schema[name] == pl.String])  # all of them side by side
    for column in manifest.layout.quasi:
        if column.form == "node":
            complaint = tree_complaint(column.nodes, texts.shown(cells, column.columns[0]))
            if complaint:
                problems.add(f"column {column.name!r}", f"the manifest's hierarchy {complaint}")
            if complaint == NO_TREE:
                continue
        read = read_column(column, cells, texts=texts)
        found.append(read)
        for complaint, count in read.complaints.items():
            problems.add(f"column {column.name!r}", f"{cells_are(count)} not valid: {complaint}")
        if not read.complaints:
            check_facts(read, problems)
    return found


def _ordered_classes(
    shown: Mapping[str, pl.DataFrame],
    layout: Layout,
    rows: pl.DataFrame,
    class_columns: list[str],
    texts: Texts,
    problems: Problems,
) -> npt.NDArray[np.int64]:
    """The class of each row; rows that do not stand in the one order are noted meanwhile."""
    found = Problems()
    texts.of(rows)
    steps: list[Callable[[], Any]] = [
        partial(check_order, shown, layout, found, texts),
        partial(class_numbers, rows, class_columns, texts),
    ]
    labels: npt.NDArray[np.int64]
    _, labels = side_by_side(lambda step: step(), steps, rows.height * rows.width)
    problems.join(found)
    return labels


def class_numbers(cells: pl.DataFrame, columns: list[str], texts: Texts | None = None) -> npt.NDArray[np.int64]:
    """Number of each row's class, in the order in which they come; a missing cell equals another missing cell."""
    labels = together((texts or Texts()).of(cells, columns).values(), cells.height)
    rows = sorted_rows(labels)
    begins = np.diff(labels.take(rows), prepend=-1) != 0
    number = np.empty(int(begins.sum()), dtype=np.int64)
    number[np.argsort(rows[begins])] = np.arange(len(number))
    found = np.empty(len(rows), dtype=np.int64)
    found[rows] = number.take(np.cumsum(begins) - 1)
    return found
