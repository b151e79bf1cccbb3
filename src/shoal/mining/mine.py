"""Rules found in a release: associations between its cells, or what tells one column from the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import ParameterError, Problem, Problems, did_you_mean
from shoal.machine.extras import load
from shoal.mining.found import FoundRule, Interpreter, Rules
from shoal.mining.items import Item, items_of
from shoal.mining.rules import Evidence, Rule, check_cells
from shoal.published.release import Release, read_release
from shoal.spec import Bound, OfType, Share, Whole, YesNo, checked_call
from shoal.table.frames import to_polars
from shoal.table.hierarchy.builders import STAR

BOUNDS: dict[str, Bound] = {
    "min_support": Share(open_low=True),
    "min_confidence": Share(open_low=True),
    "max_length": Whole(2),
    "bins": Whole(2),
    "redundant": YesNo(),
}
MOST_CELLS = 2**31
"""Rows times items that are looked at in memory."""
Itemset = frozenset[int]


@checked_call(examples={"release": 'shoal.read_release("release")'}, needs={"target": OfType(str, "'disease'")})
def mine(
    release: Release | str | Path | Any,
    *,
    target: str | None = None,
    min_support: float = 0.05,
    min_confidence: float = 0.6,
    max_length: int = 3,
    bins: int = 4,
    redundant: bool = False,
    vault: Interpreter | None = None,
    name: str | None = None,
) -> Rules:
    """Find rules in a release: if some columns show this, then others show that.

    Frequent combinations of cells are found by FP-growth (Han, Pei, Yin 2000) with the package mlxtend, extra
    ``shoal[mining]``. Rules are those with at least the support and the confidence that are asked for, whose condition
    makes the conclusion more frequent than it is anyway (lift above 1). All are counted in whole rows, so a rule at the
    very threshold is not lost to rounding. A cell that stands for any value, `*`, is in no rule.

    Parameters
    ----------
    release
        A release, its directory, or a published table as a polars, pandas or pyarrow frame. Buckets and slices do not
        say which cells belong together and are refused.
    target
        The column that rules conclude on (classification rules). Without it, any column can be on either side
        (association rules).
    min_support
        Share of the rows that must show both sides.
    min_confidence
        Share that must show the conclusion of the rows that show the condition.
    max_length
        How many columns a rule speaks of at most.
    bins
        Numbers with more different values than this are cut into so many runs of about equally many rows, at numbers
        of few digits.
    redundant
        Whether to keep rules that add a condition to another one and are no surer of the same conclusion.
    vault, name
        A trusted server, and what it calls the release: it is asked at once what the rules mean.

    Returns
    -------
    Rules
        The highest confidence first, then lift, then support, then by their text.

    Examples
    --------
    >>> import polars as pl
    >>> towns, ill = ["Ada", "Ada", "Ada", "Bo", "Bo", "Bo"], ["flu", "flu", "ulcer", "ulcer", "ulcer", "ulcer"]
    >>> print(mine(pl.DataFrame({"town": towns, "disease": ill}), target="disease"))
    2 rules in 6 rows
    support  confidence  lift  rule
      0.500       1.000  1.50  town = Bo -> disease = ulcer
      0.333       0.667  2.00  town = Ada -> disease = flu
    """
    asked = {"min_support": min_support, "min_confidence": min_confidence, "max_length": max_length, "bins": bins}
    _check({**asked, "redundant": redundant}, vault, name)
    frame, vague = _table(release)
    _check_columns(frame, target)
    least = _least(min_support, frame.height)
    items = [item for series in frame for item in items_of(series, bins, least, {STAR, vague.get(series.name, STAR)})]
    counts = _frequent(items, frame.height, least, max_length)
    splits = _splits(counts, None if target is None else {i for i, item in enumerate(items) if item.column == target})
    found = dict(_borne_out(splits, counts, frame.height, min_confidence))
    kept = found if redundant else {split: shown for split, shown in found.items() if not _adds_nothing(split, found)}
    rules = Rules(_sorted(FoundRule(_rule(*split, items), shown) for split, shown in kept.items()), frame.height)
    return rules if vault is None or name is None else rules.interpret(vault, name)


# -- what is given -----------------------------------------------------------------------------------------------------


def _check(asked: Mapping[str, object], vault: object, name: object) -> None:
    problems = Problems()
    for key, value in asked.items():
        if complaint := BOUNDS[key].complaint(value):
            problems.add(f"mine({key}=)", complaint)
    if (vault is None) != (name is None):
        here, other = ("vault", "name") if name is None else ("name", "vault")
        problems.add(f"mine({here}=)", f"goes with {other}=", "give both, or none")
    elif vault is not None and not hasattr(vault, "interpret"):
        what = f"needs something like shoal.Vault(url, token), got {type(vault).__name__}"
        problems.add("mine(vault=)", what)
    problems.raise_if_any(ParameterError)


def _table(release: Release | str | Path | Any) -> tuple[pl.DataFrame, dict[str, str]]:
    """The rows of a release with all their cells, and by column the cell that stands for any value, if it is known."""
    if isinstance(release, str | Path):
        release = read_release(release)
    if not isinstance(release, Release):
        return to_polars(release)[0], {}
    layout = release.manifest.layout
    shape = layout.laid_out
    if shape.protects == "links":
        what = (
            f"a release of the shape {shape.name!r} does not say which cells belong together, so no rule has a support"
        )
        fix = "publish by a method that forms classes, or mine some tables that release.plausible_table() draws"
        raise ParameterError(Problem("mine", what, fix))
    rows = shape.full_rows(release.frames, layout)
    nodes = {column.name: column.nodes for column in layout.quasi} | {one.name: one.nodes for one in layout.passed}
    roots = {name: known[0].name for name, known in nodes.items() if known and known[0].name is not None}
    return rows.drop("class") if shape.class_table else rows, roots


def _check_columns(frame: pl.DataFrame, target: str | None) -> None:
    problems = Problems()
    if target is not None and target not in frame.columns:
        problems.add("mine(target=)", f"the table has no column {target!r}", did_you_mean(target, frame.columns))
    for series in frame:
        check_cells(series, problems)
        if series.dtype.is_float() and series.is_infinite().any():
            problems.add(f"column {series.name!r}", "has infinite numbers", "leave those cells empty")
    problems.raise_if_any(ParameterError)


# -- what is found -----------------------------------------------------------------------------------------------------


def _least(min_support: float, n_rows: int) -> int:
    """The fewest rows whose share is large enough."""
    least = max(ceil(min_support * n_rows), 1)
    return least - 1 if least > 1 and (least - 1) / n_rows >= min_support else least


def _frequent(items: Sequence[Item], n_rows: int, least: int, max_length: int) -> dict[Itemset, int]:
    """All combinations of items that enough rows show, and how many do."""
    if len(items) < 2:
        return {}
    if n_rows * len(items) > MOST_CELLS:
        what = f"{len(items):,} different cells of {n_rows:,} rows are too many to be combined"
        raise ParameterError(Problem("mine(min_support=)", what, "ask for a larger support, or drop columns"))
    patterns = load("mlxtend.frequent_patterns", extra="mining", what="mine")
    pandas = load("pandas", extra="mining", what="mine")
    shown = pandas.DataFrame(np.stack([item.rows for item in items], axis=1))
    # It rounds shares to rows: half a row less than the fewest is on the safe side of either rounding.
    sets = patterns.fpgrowth(shown, min_support=(least - 0.5) / n_rows, max_len=max_length)
    return {
        frozenset(itemset): round(share * n_rows)
        for share, itemset in zip(sets["support"], sets["itemsets"], strict=True)
    }


Split = tuple[Itemset, Itemset]
"""The condition and the conclusion of a rule."""


def _splits(counts: Iterable[Itemset], targets: set[int] | None) -> Iterator[Split]:
    """Every way to make a rule of frequent items; all on the target, if there is one."""
    for itemset in counts:
        if targets is not None:
            then = itemset & targets
            if then and len(itemset) > 1:
                yield itemset - then, then
            continue
        for size in range(1, len(itemset)):
            for chosen in combinations(sorted(itemset), size):
                yield itemset - set(chosen), frozenset(chosen)


def _borne_out(
    splits: Iterable[Split], counts: Mapping[Itemset, int], n_rows: int, min_confidence: float
) -> Iterator[tuple[Split, Evidence]]:
    """The rules that are sure enough, and surer than their conclusion is anyway."""
    for when, then in splits:
        shown = Evidence(n_rows, counts[when | then], counts[when], counts[then])
        if shown.confidence >= min_confidence and shown.both * n_rows > shown.when * shown.then:
            yield (when, then), shown


def _adds_nothing(split: Split, found: Mapping[Split, Evidence]) -> bool:
    """Whether a rule with fewer conditions is as sure of the same conclusion; it would have been found, too."""
    (when, then), shown = split, found[split]
    fewer = ((frozenset(part), then) for size in range(1, len(when)) for part in combinations(sorted(when), size))
    return any(one in found and found[one].both * shown.when >= shown.both * found[one].when for one in fewer)


def _rule(when: Itemset, then: Itemset, items: Sequence[Item]) -> Rule:
    """The rule in words, columns in the order of the table."""
    sides = (tuple(one for place in sorted(side) for one in items[place].conditions) for side in (when, then))
    return Rule(*sides)


def _sorted(found: Iterable[FoundRule]) -> tuple[FoundRule, ...]:
    return tuple(sorted(found, key=lambda one: (-one.confidence, -one.lift, -one.support, str(one.rule))))
