"""Tools to test methods and publishers, ours and yours: tables to try, and the contract every release keeps.

Needs hypothesis: ``pip install 'shoal[testing]'``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl
from hypothesis import strategies as st

from shoal.enforce.refine import Refine
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.delta_presence import DeltaPresence
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.guarding_nodes import GuardingNodes
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.publish.base import Publisher
from shoal.release.release import Release
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.numbers import number_text
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

KIND_MIXES: dict[str, tuple[str, ...]] = {
    "one": ("whole",),
    "numeric": ("whole", "broken"),
    "ordinal": ("ordinal", "ordinal"),
    "nominal": ("flat", "tree"),
    "mixed": ("whole", "ordinal", "tree", "flat"),
}
"""Which columns the tables of `tables` have, by the name of the mix."""

SENSITIVE = ("disease", "illness", "stage", "income")
"""Sensitive columns of `sensitive_tables`: flat, in a tree, ordered, and numbers; all but `stage` may be missing."""

CATEGORIES = ("a", "b, c", "[d]", "{e}", "ünï", "f\\g", "h\ni", '"j"')
"""Categories that a careless writer or reader would trip over."""


@dataclass(frozen=True)
class Case:
    """A table and its schema."""

    frame: pl.DataFrame
    schema: Schema


@st.composite
def hierarchies(draw: st.DrawFn, leaves: Sequence[str] = CATEGORIES) -> Hierarchy:
    """Trees over given leaves, ragged ones included."""
    paths = []
    for leaf in leaves:
        group = draw(st.sampled_from(["", "G1", "G2", "G3"]))
        above = {"G1": ("G1", "H1"), "G2": ("G2", "H1"), "G3": ("G3",), "": ()}[group]
        paths.append((leaf, *above, "*"))
    return Hierarchy(paths)


@st.composite
def tables(draw: st.DrawFn, mix: str = "mixed", *, min_rows: int = 1, max_rows: int = 30, missing: bool = True) -> Case:
    """Tables of a mix of kinds, with few distinct values (so that ties and duplicates happen) and missing cells.

    Parameters
    ----------
    draw
        Hypothesis.
    mix
        A key of `KIND_MIXES`.
    min_rows, max_rows
        How many rows.
    missing
        Whether quasi-identifiers may be missing.
    """
    n_rows = draw(st.integers(min_rows, max_rows))
    columns: dict[str, Any] = {}
    quasi: dict[str, Kind] = {}
    for place, sort in enumerate(KIND_MIXES[mix]):
        values, kind = draw(_columns(sort))
        cells = st.one_of(st.none(), values) if missing and draw(st.booleans()) else values
        dtype = {"whole": pl.Int64, "broken": pl.Float64}.get(sort, pl.String)
        name = f"{sort} {place}"
        columns[name] = pl.Series(name, draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=dtype)
        quasi[name] = kind
    columns["name"] = [f"person {row}" for row in range(n_rows)]
    columns["disease"] = draw(st.lists(st.sampled_from(["flu", "ülcer", None]), min_size=n_rows, max_size=n_rows))
    columns["note"] = list(range(n_rows))
    frame = pl.DataFrame(columns, schema_overrides={"disease": pl.String})
    return Case(frame, Schema(identifying=["name"], quasi=quasi, sensitive=["disease"], neutral=["note"]))


@st.composite
def _columns(draw: st.DrawFn, sort: str) -> tuple[st.SearchStrategy[Any], Kind]:
    if sort == "whole":
        return st.integers(-3, 9), Numeric()
    if sort == "broken":
        return st.integers(-20, 20).map(lambda number: number / 4), Numeric()
    if sort == "ordinal":
        return st.sampled_from(CATEGORIES), Ordinal(draw(st.permutations(CATEGORIES)))
    return st.sampled_from(CATEGORIES), Nominal(draw(hierarchies()) if sort == "tree" else None)


@st.composite
def sensitive_tables(draw: st.DrawFn, mix: str = "mixed", *, min_rows: int = 1, max_rows: int = 30) -> Case:
    """Tables of `tables` with sensitive columns of every kind, `SENSITIVE`, and with a guarding node for some people.

    Few values in each, for a table that has a value once can promise little. Incomes are tenths, which rounding tells
    apart that should be equal.
    """
    case = draw(tables(mix, min_rows=min_rows, max_rows=max_rows))
    n_rows, tree = case.frame.height, draw(hierarchies(CATEGORIES[:5]))
    stages = ("mild", "bad", "worse", "worst")
    cells = {
        "illness": st.sampled_from(tree.leaves),
        "stage": st.sampled_from(stages),
        "income": st.integers(-3, 12).map(lambda number: number / 10),
        "guard": st.one_of(st.none(), st.sampled_from(tree.names[1:])),
    }
    holes = draw(st.booleans())
    columns = []
    for name, values in cells.items():
        some = st.one_of(st.none(), values) if holes and name in ("illness", "income") else values
        dtype = pl.Float64 if name == "income" else pl.String
        columns.append(pl.Series(name, draw(st.lists(some, min_size=n_rows, max_size=n_rows)), dtype=dtype))
    kinds: dict[str, Kind] = {
        "disease": Nominal(),
        "illness": Nominal(tree),
        "stage": Ordinal(stages),
        "income": Numeric(),
    }
    schema = Schema(
        identifying=["name"], quasi=case.schema.quasi, sensitive=kinds, neutral=["note"], choice="guard"
    )  # fmt: skip
    return Case(case.frame.with_columns(columns), schema)


@st.composite
def requirements(draw: st.DrawFn, model: str, case: Case) -> Requirement:
    """Requirements of a model, by its name, that fit a table of `sensitive_tables`; it may not be able to keep them.

    Parameters are fractions of small numbers, so that values hit their bounds.
    """
    share = st.integers(1, 60).map(lambda number: number / 60)
    column = draw(st.sampled_from(SENSITIVE))
    if model == "k-anonymity":
        return KAnonymity(k=draw(st.integers(2, 9)))
    if model == "l-diversity":
        variant = draw(st.sampled_from(["distinct", "entropy", "recursive"]))
        c = draw(st.integers(30, 360)) / 60 if variant == "recursive" else None
        l = draw(st.integers(61, 180)) / 60 if variant == "entropy" else draw(st.integers(2, 3))  # noqa: E741
        return LDiversity(column, l=l, variant=variant, c=c)
    if model == "alpha-k":
        present = case.frame[column].drop_nulls().unique()
        known = sorted(map(number_text if present.dtype.is_numeric() else str, present.to_list()))
        named = draw(st.none() | st.lists(st.sampled_from(known), min_size=1, max_size=3)) if known else None
        return AlphaK(column, alpha=draw(share), values=None if named is None else tuple(named))
    if model == "t-closeness":
        return _closeness(draw, case, draw(share))
    if model == "epsilon-m":
        epsilon, relative = draw(st.integers(0, 5)) / 10, draw(st.booleans())
        return EpsilonM("income", epsilon=epsilon, m=draw(st.integers(61, 180)) / 60, relative=relative)
    if model == "delta-disclosure":
        absent = draw(st.sampled_from(["counts", "ignored"]))
        delta = draw(st.one_of(st.integers(20, 150).map(lambda n: n / 60), st.sampled_from([2, 1.5, 3]).map(math.log)))
        return DeltaDisclosure(column, delta=delta, absent=absent)
    if model == "beta-likeness":
        return BetaLikeness(
            column, beta=draw(st.integers(6, 180)) / 60, variant=draw(st.sampled_from(["basic", "enhanced"]))
        )
    if model == "k-map":
        return KMap(k=draw(st.integers(2, 12)))
    if model == "delta-presence":
        low, high = sorted((draw(share), draw(share)))
        return DeltaPresence(low=low / 2, high=high)
    return GuardingNodes("illness", p=draw(share))


def _closeness(draw: st.DrawFn, case: Case, t: float) -> TCloseness:
    distance = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
    holes = case.frame["income"].null_count() > 0
    columns = {
        "equal": SENSITIVE,
        "ordered": ("stage",) if holes else ("stage", "income"),
        "hierarchical": ("illness",),
    }
    return TCloseness(draw(st.sampled_from(columns[distance])), t=t, distance=distance)


def check_contract(
    case: Case,
    method: Method,
    publish: Publisher,
    *,
    require: Sequence[Requirement] = (),
    suppress: float = 0.0,
    population: pl.DataFrame | None = None,
    refine: Refine | None = None,
    seed: int = 0,
) -> Release:
    """Publish a table and check everything any release keeps; raise AssertionError when it does not.

    Every row is in one group or counted as suppressed; no group is below k; every promise holds when it is re-derived
    by the checker, and when it is counted here; the input is as it was; rows and their untouched cells are all there;
    no identifying column is published; the same seed gives the same release.

    Promises are counted here only of tables with the neutral column ``note`` of `tables`, which numbers the rows.
    """
    before = case.frame.clone()

    def publish_it() -> Release:
        return anonymize(
            case.frame, case.schema, method, require=require, publish=publish, suppress=suppress,
            population=population, refine=refine, seed=seed,
        )  # fmt: skip

    release = publish_it()
    assert case.frame.equals(before), "the input was changed"
    assert release.labels is not None
    _check_groups(release, method)
    _check_columns(release, case)
    _check_k(release, method)
    assert release.verify().k >= method.k, "the checker lets a class below k pass"
    _check_promises(release, case, require, population)
    again = publish_it()
    assert again.manifest == release.manifest, "the same seed gave another manifest"
    for name, table in release.frames.items():
        assert table.equals(again.frames[name]), "the same seed gave another table"
    return release


def _check_groups(release: Release, method: Method) -> None:
    assert release.labels is not None
    rows = release.manifest.rows
    assert release.receipt is not None
    assert len(release.labels) == release.receipt.input.rows, "one label per input row"
    assert int((release.labels < 0).sum()) == rows.left_out == release.receipt.rows.left_out, "rows without a count"
    sizes = Counter(release.labels[release.labels >= 0].tolist())
    assert min(sizes.values()) >= method.k, "a group is below k"
    assert sorted(sizes) == list(range(len(sizes))), "labels have gaps"


def _check_columns(release: Release, case: Case) -> None:
    """Sensitive and neutral cells of every published row are the input's, and identifying columns are gone."""
    assert release.labels is not None
    kept = case.frame.filter(pl.Series(release.labels >= 0))
    passed = [column.name for column in release.manifest.layout.passed]
    table = release.frames["table"]
    assert Counter(table.select(passed).rows()) == Counter(kept.select(passed).rows()), "untouched cells were touched"
    assert not set(case.schema.identifying) & set(table.columns), "an identifying column is published"


def _check_k(release: Release, method: Method) -> None:
    """Count classes the plain way."""
    columns, table = release.manifest.layout.class_columns, release.frames["table"]
    assert min(Counter(table.select(columns).rows()).values()) >= method.k, "a published class is below k"


def _check_promises(
    release: Release, case: Case, require: Sequence[Requirement], population: pl.DataFrame | None
) -> None:
    """Every promise is among those of the release and holds; the plainest ones are counted class by class."""
    if not require:
        return
    table, choice = release.frames["table"], case.schema.choice
    chosen = case.frame[choice] if choice is not None else None
    guards = chosen.gather(table["note"]) if chosen is not None else None
    verdict = release.verify(guards=guards, population=population, schema=case.schema)
    classes = table.select(release.manifest.layout.class_columns).rows()
    for one in require:
        assert one.holds(verdict.achieved[one.key]), f"{one.key} is not kept"
        values = table[one.column].to_list() if isinstance(one, ColumnRequirement) else list(classes)
        members: dict[Any, list[Any]] = {}
        for label, value in zip(classes, values, strict=True):
            members.setdefault(label, []).append(value)
        for group in members.values():
            assert _kept(one, group, values), f"{one.key} is not kept by a class of {len(group)}"


def _kept(one: Requirement, group: list[Any], table: list[Any]) -> bool:
    """Whether a class keeps a promise, for those that fractions decide; True for all others."""
    counts, whole = Counter(group), Counter(table)
    if isinstance(one, KAnonymity):
        return len(group) >= one.k
    if isinstance(one, LDiversity) and one.variant == "distinct":
        return len(counts) >= one.l
    if isinstance(one, AlphaK):
        shares = {value: Fraction(count, len(group)) for value, count in counts.items()}
        looked_at = [value for value in shares if one.values is None or str(value) in one.values]
        return all(shares[value] <= one.alpha + 1e-9 for value in looked_at)
    if isinstance(one, TCloseness) and one.distance == "equal":
        gaps = [abs(Fraction(counts[value], len(group)) - Fraction(whole[value], len(table))) for value in whole]
        return sum(gaps) / 2 <= one.t + 1e-9
    return True


def published_cells(release: Release) -> list[tuple[Any, ...]]:
    """Quasi-identifier cells of every published row, whatever the shape, in the order of the published rows."""
    layout, table = release.manifest.layout, release.frames["table"]
    if name := layout.class_table:
        table = table.select("class").join(release.frames[name], on="class", how="left", maintain_order="left")
    return table.select(layout.cell_columns).rows()
