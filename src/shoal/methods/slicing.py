"""Slicing: attributes that belong together stay together, rows are cut into buckets, and all other links are broken."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.errors import (
    InfeasibleError,
    ParameterError,
    Problem,
    Problems,
    SchemaError,
    ShoalWarning,
    counted,
    did_you_mean,
    some,
)
from shoal.methods.base import Method, Task, check_eligible
from shoal.methods.groups import Groups, Labels, SliceColumns
from shoal.methods.mondrian import Mondrian
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Requirement
from shoal.progress import SILENT, Progress
from shoal.registry.declarations import Protects
from shoal.slicing.attributes import Attributes, Columns, attributes_of, partition_attributes
from shoal.slicing.buckets import TOLERANCE, Split, partition_tuples
from shoal.slicing.overlap import Overlapping
from shoal.slicing.people import SlicedPeople
from shoal.spec import ByColumn, ColumnName, Maybe, OneOf, Whole, YesNo, param
from shoal.table.encode import Ints
from shoal.table.numbers import number_text
from shoal.table.prepare import Table
from shoal.table.schema import Nominal, Numeric

TRIES = 8
"""How much more carefully rows are cut, in steps of l, where columns share an attribute or people have several rows."""
VALUE = "\0value"
Cut = Callable[[int, int], Split]
"""Cuts the rows for an l, into buckets of at least so many."""


@dataclass(frozen=True)
class Slicing(Method):
    """Slicing: a table cut both ways (Li, Li, Zhang, Molloy).

    Correlated attributes form columns. Rows are cut into buckets at medians, as Mondrian does, as long as nobody's
    sensitive value becomes likelier than 1/l. Within a bucket, every column is shuffled by itself. Cells of one column
    belong together as before; cells of different columns are paired by chance.

    Parameters
    ----------
    l
        No sensitive value of a person is likelier than 1/l.
    columns
        How many columns, the one with the sensitive attribute included; chosen by silhouette when not given.
    k
        Fewest rows of a bucket; l when not given.
    groups
        The column of every attribute, by name and number from 1, instead of clustering them by correlation.
    sensitive_apart
        Whether the sensitive attributes have a column of their own, the last.
    p
        Smallest number of rows with the same quasi-identifiers in a column; they are generalised through their
        hierarchies until this holds, and in the column of a sensitive attribute until none of its values is likelier
        than 1/l beside any combination. Published unchanged when not given.
    overlap
        An attribute that a second column shows as well, the one it correlates with most.
    cuts
        ``"any"``: if a cut is refused, the next widest quasi-identifier is tried. ``"widest"``: the bucket is final, as
        published; skewed tables then give few buckets.
    bins, discretise
        Into how many categories numbers are binned to compute correlations, by ``"frequency"`` or ``"width"``.

    Guarantee
    ---------
    For an attacker who knows all quasi-identifiers of a person and matches them with the slices, no value of a
    sensitive attribute has a probability above 1/l, and no bucket has fewer than k rows. Quasi-identifiers are
    published unchanged: a combination within a column may belong to one person only (except with `p`). Membership is
    protected only by the number of combinations that nobody has; `shoal measure --membership` counts them.

    References
    ----------
    Li, Li, Zhang, Molloy, "Slicing: a new approach for privacy preserving data publishing", TKDE 24(3), 2012.
    """

    name: ClassVar[str] = "slicing"
    title: ClassVar[str] = "slicing: correlated attributes form columns, which are shuffled within buckets"
    paper: ClassVar[str] = (
        "Li, Li, Zhang, Molloy, Slicing: a new approach for privacy preserving data publishing, TKDE 2012"
    )
    complexity: ClassVar[str] = "time O(n log n) for small buckets, O(n^2 log n) at worst; memory O(n v) for v values"
    advice: ClassVar[str] = (
        "For tables of many columns whose correlations matter. Protects sensitive values, not membership."
    )
    publisher: ClassVar[str] = "slices"
    protects: ClassVar[Protects] = "links"
    renamed: ClassVar[Mapping[str, str]] = {"apart": "sensitive_apart"}

    l: int = param(Whole(2), "no sensitive value is likelier than 1/l")  # noqa: E741
    columns: int | None = param(Maybe(Whole(1)), "how many columns; chosen by silhouette when not given", default=None)
    k: int | None = param(Maybe(Whole(2)), "fewest rows of a bucket; l when not given", default=None)  # type: ignore[assignment]
    groups: Mapping[str, int] | None = param(
        Maybe(ByColumn(Whole(1))), "number of the column of each attribute, by name", default=None
    )
    sensitive_apart: bool = param(YesNo(), "whether sensitive attributes have a column of their own", default=False)
    p: int | None = param(
        Maybe(Whole(2)), "smallest number of rows with the same quasi-identifiers in a column", default=None
    )
    overlap: str | None = param(Maybe(ColumnName()), "an attribute that a second column shows as well", default=None)
    cuts: str = param(
        OneOf(("any", "widest")),
        "quasi-identifiers that a bucket may be split at: any, or the widest only",
        default="any",
    )
    bins: int = param(
        Whole(2), "number of categories into which numbers are binned to compute correlations", default=10
    )
    discretise: str = param(OneOf(("frequency", "width")), "how numbers are binned", default="frequency")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap is not None and self.p is not None:
            what = "cannot be combined with p: an attribute cannot be generalised in two columns"
            raise ParameterError(Problem("Slicing(overlap=)", what, "leave out p or overlap"))
        if self.groups is not None and (self.columns is not None or self.sensitive_apart):
            what = "cannot be combined with columns or sensitive_apart"
            raise ParameterError(Problem("Slicing(groups=)", what, "give groups alone, or leave it out"))

    @property
    def min_group_size(self) -> int:
        """Fewest rows of a bucket."""
        return self.k or self.l

    def supports(self, requirement: Requirement) -> bool:  # noqa: ARG002
        """No further one: promises about classes say nothing of slices."""
        return False

    # -- before any work ----------------------------------------------------------------------------------------------

    def check(self, table: Table, problems: Problems) -> None:
        """Note attributes that do not fit, a value that is too frequent, and packages that are not there."""
        names, sensitive = list(table.published), list(table.sensitive)
        if not sensitive:
            what, fix = "the table has no sensitive column", "give one the role sensitive, or use another method"
            problems.add("Slicing", what, fix, error=ParameterError)
        if table.n_people < self.min_group_size:
            what = f"the table has {table.counted}, but a bucket needs {self.min_group_size}"
            problems.add(f"Slicing({'k' if self.k else 'l'}=)", what, "use a smaller value", error=InfeasibleError)
        if self.groups is None:
            self._check_number(len(names), len(sensitive), problems)
        else:
            self._check_groups(names, problems)
        if self.overlap is not None and self.overlap not in names:
            fix = did_you_mean(self.overlap, names)
            problems.add("Slicing(overlap=)", f"{self.overlap!r} is not a published column", fix, error=ParameterError)
        for name in ("p", "overlap"):
            if table.schema.person is not None and getattr(self, name) is not None:
                what = f"counts rows, but column {table.schema.person!r} says that people have several"
                problems.add(f"Slicing({name}=)", what, "leave it out, or use another method", error=ParameterError)
        if not len(problems):  # a table with problems cannot be looked at
            self._check_table(table, sensitive, problems)

    def _check_number(self, n_attributes: int, n_sensitive: int, problems: Problems) -> None:
        most = n_attributes - (n_sensitive - 1 if self.sensitive_apart else 0)
        least = 2 if self.sensitive_apart else 1
        if self.columns is not None and not least <= self.columns <= most:
            what = f"{counted(self.columns, 'column')}, but the table has {counted(n_attributes, 'attribute')}"
            fix = f"use {least} to {most}" if least <= most else "use another method"
            problems.add("Slicing(columns=)", what, fix, error=ParameterError)

    def _check_groups(self, names: Sequence[str], problems: Problems) -> None:
        given = self.groups or {}
        for name in given:
            if name not in names:
                fix = did_you_mean(name, names)
                problems.add("Slicing(groups=)", f"{name!r} is not a published column", fix, error=ParameterError)
        if lacking := [name for name in names if name not in given]:
            what = f"has no entry for {some(lacking, 50)}"
            problems.add("Slicing(groups=)", what, "give the column of every attribute", error=ParameterError)

    def _check_table(self, table: Table, sensitive: Sequence[str], problems: Problems) -> None:
        """Note what the values of the table forbid: a constant attribute, a value that is too frequent."""
        for name in table.published:
            at_hand = table.whole is None or name in table.quasi or name in table.sensitive  # of a table on disk
            if self.groups is None and at_hand and table.frame[name].n_unique() == 1 and table.n_rows > 1:
                what = "is constant, so it has no correlation with other columns"
                fix = "leave it out (role drop), or give groups"
                problems.add(f"column {name!r}", what, fix, error=SchemaError)
        for name in sensitive:
            check_eligible(table, name, self.l, "Slicing(l=)", problems)
        if self.p is not None:
            for name in table.quasi:
                if table.frame[name].null_count():
                    what = "has missing values, which p cannot generalise"
                    problems.add(f"column {name!r}", what, 'use missing = "drop", or leave p out', error=SchemaError)
            if table.n_rows < self.p:
                what = f"p = {self.p}, but the table has {table.n_rows} rows"
                problems.add("Slicing(p=)", what, f"use a p of at most {table.n_rows}", error=InfeasibleError)

    # -- the work -----------------------------------------------------------------------------------------------------

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Decide which attributes stay together and who shares a bucket."""
        table, sensitive = task.table, list(task.table.sensitive)
        progress.stage("gathering attributes")
        known = None if table.whole is None else table.whole.gathered
        attributes, columns = self.gathered(table) if known is None else known
        progress.stage("generalising columns")
        classes = tuple(self._alike(task, names, rng) for names in columns.groups)
        parts = np.array([_parts(table, names, seen) for names, seen in zip(columns.groups, classes, strict=True)])
        place = {name: i for i, names in enumerate(columns.groups) for name in names}
        values = [(place[name], table.sensitive[name].codes.astype(np.int32)) for name in sensitive]
        progress.stage("cutting", table.n_rows)
        tries = 1 if self.cuts == "widest" else max(task.encoded.n_columns, 1)

        def cut(l: int, smallest: int) -> Split:  # noqa: E741
            return partition_tuples(task.encoded, parts.astype(np.int32), values, l, smallest, progress, tries=tries)

        split = cut(self.l, self.min_group_size)
        if split.worst > 1 / self.l + TOLERANCE:
            self._refuse(split.worst, columns, sensitive)
        shown = SliceColumns(columns.groups, classes, attributes, columns)
        if self.overlap is not None:
            shown = replace(shown, attributes=_shown_again(attributes, columns, self.overlap))
            split = self._cut_with_overlap(Overlapping(table, shown.attributes, tuple(sensitive)), split, cut)
        if table.people is not None:
            split = self._cut_for_people(SlicedPeople(table, shown.attributes, tuple(sensitive)), split, cut)
        notes: dict[str, object] = {
            "slicing_splits_tried": split.n_trials,
            "slicing_splits_refused": split.n_rejected,
            "slicing_biased_pairs": len(attributes.biased),
            "slicing_all_distinct": len(attributes.all_distinct),
        }
        return Groups(split.labels, notes, slices=shown)

    def gathered(self, table: Table) -> tuple[Attributes, Columns]:
        """Which attributes stay together, and how much they say of each other; once for all blocks of a table."""
        attributes = attributes_of(table, list(table.published), bins=self.bins, discretise=self.discretise)  # type: ignore[arg-type]
        return attributes, self.columns_of(attributes, list(table.sensitive))

    def slices_of(self, table: Table) -> SliceColumns:
        """The slices of a table whose cells are shown as they are, each attribute once."""
        known = None if table.whole is None else table.whole.gathered
        attributes, columns = self.gathered(table) if known is None else known
        return SliceColumns(columns.groups, (None,) * len(columns.groups), attributes, columns)

    def fits(self, table: Table) -> bool:
        """Whether all rows as one bucket keep the promise, of slices whose cells are shown as they are."""
        for names in self.slices_of(table).attributes:
            known = [name for name in names if name in table.quasi]
            for name in (one for one in names if one in table.sensitive):
                rows = table.frame.select(*known, pl.Series(VALUE, table.sensitive[name].codes))
                count = rows.group_by(*known, VALUE).len()
                share = pl.col("len") / (pl.col("len").sum().over(known) if known else pl.col("len").sum())
                if count.select(share.max()).item() > 1 / self.l + TOLERANCE:
                    return False
        return True

    def columns_of(self, attributes: Attributes, sensitive: Sequence[str]) -> Columns:
        """The columns: as given, or gathered by what attributes say of each other."""
        if self.groups is not None:
            return _as_given(attributes, self.groups)
        _warn(attributes)
        if not self.sensitive_apart:
            return partition_attributes(attributes, self.columns)
        others = _without(attributes, sensitive)
        n_others = None if self.columns is None else self.columns - 1
        found = partition_attributes(others, n_others)
        own = _as_given(attributes, dict.fromkeys(sensitive, 1))
        return replace(
            found,
            groups=(*found.groups, *own.groups),
            medoids=(*found.medoids, *own.medoids),
            total=found.total + own.total,
            silhouettes={number + 1: value for number, value in found.silhouettes.items()},
        )

    def _alike(self, task: Task, names: Sequence[str], rng: np.random.Generator) -> Labels | None:
        """Rows whose quasi-identifiers in a column are to be shown alike, or None where they stay as they are."""
        quasi = [name for name in names if name in task.table.quasi]
        if self.p is None or not quasi:
            return None
        beside = [name for name in names if task.table.schema.roles[name] == "sensitive"]
        table = _along_trees(task.table, quasi)
        part = Task.of(table, [AlphaK(column=name, alpha=1 / self.l) for name in beside])
        method = Mondrian(k=self.p)
        return method.partition(part, rng).labels

    def _cut_with_overlap(self, overlapping: Overlapping, split: Split, cut: Cut) -> Split:
        """Cut more and more carefully until the promise holds for slices that share an attribute, too."""
        worst = 1.0
        for l in range(self.l, self.l + TRIES):  # noqa: E741
            split = split if l == self.l else cut(l, self.min_group_size)
            if split.worst > 1 / l + TOLERANCE:  # not even the whole table would do
                break
            worst = overlapping.worst(split.labels)
            if worst <= 1 / self.l + TOLERANCE:
                return split
        what = f"with {self.overlap!r} in two columns, {self._too_likely(worst)}"
        raise InfeasibleError(Problem("Slicing(overlap=)", what, "use a smaller l, another attribute, or leave it out"))

    def _cut_for_people(self, sliced: SlicedPeople, split: Split, cut: Cut) -> Split:
        """Cut more and more carefully, into larger and larger buckets, until the promise holds for people."""
        worst, l, smallest = 1.0, self.l, self.min_group_size  # noqa: E741
        while smallest <= len(split.labels):
            if l < self.l + TRIES and split.worst <= 1 / l + TOLERANCE:
                few = sliced.fewest(split.labels) < self.min_group_size
                worst = 1.0 if few else sliced.worst(split.labels)
                if worst <= 1 / self.l + TOLERANCE:
                    return split
                l, smallest = (l, 2 * smallest) if few else (l + 1, smallest)  # noqa: E741
            else:  # nothing keeps so large an l: larger buckets may do without
                l, smallest = self.l, 2 * smallest  # noqa: E741
            split = cut(l, smallest)
        what = f"where people have several rows, {self._too_likely(worst)}"
        raise InfeasibleError(Problem("Slicing(l=)", what, "use a smaller l, or another method"))

    def _too_likely(self, worst: float) -> str:
        return f"a value has a probability of {worst:.3g}; l = {self.l} allows {1 / self.l:.3g}"

    def _refuse(self, worst: float, columns: Columns, sensitive: Sequence[str]) -> None:
        """Not even all rows as one bucket keep the promise."""
        beside_others = [names for names in columns.groups if len(names) > 1 and set(names) & set(sensitive)]
        what = f"even with all rows in one bucket, {self._too_likely(worst)}"
        best = math.floor(1 / worst + 1e-9)
        ways = [f"use an l of at most {best}"] if best >= 2 else []
        if beside_others:
            what += f"; rare combinations in the column of {some(sensitive)} stand beside few values"
            ways += [f"generalise columns with p = {max(self.p or 0, self.l)}"] if self.p is None else []
            ways += (
                ["use sensitive_apart = true"]
                if self.groups is None
                else ["put the sensitive attribute into a column of its own"]
            )
        raise InfeasibleError(Problem("Slicing(l=)", what, ", or ".join(ways) or "use a smaller l"))


def _warn(attributes: Attributes) -> None:
    """Tell where what attributes say of each other is little to be trusted."""
    if attributes.all_distinct:
        what = f"{some(attributes.all_distinct)}: every row has a different value"
        text = f"Slicing: {what}; correlations were computed on a few categories and mean little"
        warnings.warn(text, ShoalWarning, stacklevel=2)
    if attributes.biased:
        pairs = [f"{one} and {other}" for one, other in attributes.biased]
        what = f"there are fewer than five rows for every pair of categories of {some(pairs, 3)}"
        text = f"Slicing: {what}; their correlation is overestimated. Use fewer bins, or give groups"
        warnings.warn(text, ShoalWarning, stacklevel=2)


def _shown_again(attributes: Attributes, columns: Columns, name: str) -> tuple[tuple[str, ...], ...]:
    """The columns with an attribute added to the one whose attributes it says most of, besides its own."""
    place = {attribute: i for i, attribute in enumerate(attributes.names)}
    says = [
        -1.0 if name in names else float(np.mean([attributes.phi2[place[name], place[one]] for one in names]))
        for names in columns.groups
    ]
    best = int(np.argmax(says))
    if says[best] < 0:  # one column: there is no other
        return columns.groups
    order = sorted((*columns.groups[best], name), key=lambda one: place[one])
    return tuple(tuple(order) if i == best else names for i, names in enumerate(columns.groups))


def _along_trees(table: Table, quasi: Sequence[str]) -> Table:
    """The table with some quasi-identifiers only, each that is shown as nodes of a hierarchy as categories.

    A number or an order that is cut at a median has nodes on both sides that may cover each other, and then nobody
    could say which combination a person has. Along the hierarchy, no two nodes share a value.
    """
    trees = {name: tree for name in quasi if (tree := table.quasi[name].hierarchy) is not None}
    kinds = {name: Nominal(trees[name]) if name in trees else table.quasi[name] for name in quasi}
    numbers = [name for name in trees if isinstance(table.quasi[name], Numeric)]
    texts = [pl.Series(name, _number_texts(table.frame[name]), dtype=pl.String) for name in numbers]
    return replace(table, frame=table.frame.with_columns(texts), schema=replace(table.schema, quasi=kinds))


def _number_texts(numbers: pl.Series) -> list[str]:
    """Numbers as the leaves of their hierarchy are called."""
    text_of = {number: number_text(number) for number in numbers.unique().to_list()}
    return [text_of[number] for number in numbers.to_list()]


def _parts(table: Table, names: Sequence[str], classes: Labels | None) -> Ints:
    """Number of each row's combination of quasi-identifiers in a column; 0 for all where it has none."""
    if classes is not None:
        return classes
    quasi = [name for name in names if name in table.quasi]
    if not quasi:
        return np.zeros(table.n_rows, dtype=np.int64)
    return table.frame.select(pl.struct(quasi).rank("dense")).to_series().to_numpy().astype(np.int64) - 1


def _as_given(attributes: Attributes, numbers: Mapping[str, int]) -> Columns:
    """Columns that somebody chose, each with the attribute that is nearest to all others in it."""
    place = {name: i for i, name in enumerate(attributes.names)}
    groups = [
        tuple(name for name in attributes.names if numbers.get(name) == number)
        for number in sorted(set(numbers.values()))
    ]
    distance = 1.0 - attributes.phi2
    medoids, total = [], 0.0
    for names in groups:
        inside = [place[name] for name in names]
        sums = distance[np.ix_(inside, inside)].sum(axis=0)
        medoids.append(names[int(np.argmin(sums))])
        total += float(sums.min())
    return Columns(tuple(groups), tuple(medoids), total)


def _without(attributes: Attributes, left_out: Sequence[str]) -> Attributes:
    kept = [i for i, name in enumerate(attributes.names) if name not in left_out]
    return replace(
        attributes,
        names=tuple(attributes.names[i] for i in kept),
        phi2=attributes.phi2[np.ix_(kept, kept)],
        n_categories=tuple(attributes.n_categories[i] for i in kept),
    )
