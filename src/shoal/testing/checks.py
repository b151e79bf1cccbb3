"""The contract: what every release keeps, whatever made it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from shoal.enforce.refine import Refine
from shoal.engines.description import named
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.publish.base import Publisher
from shoal.published.release import Release
from shoal.release.manifest import Layout
from shoal.table.prepare import Table, prepare
from shoal.testing.models import Kept, kept
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def check_contract(
    case: Case,
    method: Method,
    publish: Publisher | None = None,
    *,
    require: Sequence[Requirement] = (),
    suppress: float = 0.0,
    population: pl.DataFrame | None = None,
    refine: Refine | None = None,
    seed: int = 0,
    rederive: Mapping[str, Kept] | None = None,
    again: bool = True,
) -> Release:
    """Publish a table and check everything any release keeps; raise AssertionError when it does not.

    Every row is in one group or counted as left out; no group is below the size that the method states; every promise,
    of the method itself and required, is in the manifest, holds for the checker, and holds when it is re-derived here;
    the input is as it was; cells that are published as they are, are all there, side by side as they were; no
    identifying column and no choice is published; the same seed gives the same release.

    Parameters
    ----------
    case
        A table and its schema, such as one of `tables`. Promises about people's choices need its neutral column
        ``note``, which numbers the rows.
    method, publish, require, suppress, population, refine, seed
        As in `shoal.anonymize`. A method may protect cells or links.
    rederive
        For models of other packages: by the name of each, a function of the requirement and of `Shown`, that says
        whether a release keeps it. A model that nobody re-derives is an error.
    again
        Whether to publish a second time: without that, nothing shows that the same seed gives the same release.
    """
    before = case.frame.clone()

    def publish_it() -> Release:
        return anonymize(
            case.frame, case.schema, method, require=require, publish=publish, suppress=suppress,
            population=population, refine=refine, seed=seed, progress=False,
        )  # fmt: skip

    release = publish_it()
    assert case.frame.equals(before), "the input was changed"
    _check_groups(release, method)
    _check_columns(release, case)
    _check_promises(release, case, method, require, population, rederive)
    if again:
        other = publish_it()
        assert other.manifest == release.manifest, "the same seed gave another manifest"
        for name, frame in release.frames.items():
            assert frame.equals(other.frames[name]), "the same seed gave another table"
    return release


def _check_groups(release: Release, method: Method) -> None:
    """Every row has one label or is counted as left out, and no group is too small."""
    assert release.labels is not None
    assert release.receipt is not None
    rows = release.manifest.rows
    assert len(release.labels) == release.receipt.input.rows, "one label per input row"
    assert int((release.labels < 0).sum()) == rows.left_out == release.receipt.rows.left_out, "rows without a count"
    sizes = Counter(release.labels[release.labels >= 0].tolist())
    assert min(sizes.values()) >= method.min_group_size, "a group is too small"
    assert sorted(sizes) == list(range(len(sizes))), "labels have gaps"


def _check_columns(release: Release, case: Case) -> None:
    """Cells that are published as they are, are those of the published rows; the rest of the input is not there."""
    assert release.labels is not None
    layout, shown = release.manifest.layout, case.frame.filter(pl.Series(release.labels >= 0))
    for table, columns, counted in _untouched(layout):
        rows = release.frames[table].select(list(columns.values())).rows()
        times = release.frames[table]["count"].to_list() if counted else [1] * len(rows)
        found = Counter(row for row, n in zip(rows, times, strict=True) for _ in range(n))
        assert found == Counter(shown.select(list(columns)).rows()), "untouched cells were touched"
    hidden = {*case.schema.identifying, *([] if case.schema.choice is None else [case.schema.choice])}
    for frame in release.frames.values():
        assert not hidden & set(frame.columns), "an identifying column or a choice is published"


def _untouched(layout: Layout) -> list[tuple[str, dict[str, str], bool]]:
    """Tables with attributes that are published as they are: where each stands, and whether lines are counted."""
    raw = [column.name for column in layout.quasi if column.form == "raw"]
    passed = [column.name for column in layout.passed]
    if layout.slices:
        tables = [f"slice_{place}" if layout.files else "table" for place in range(1, len(layout.slices) + 1)]
        shown = [dict(zip(one.attributes, one.columns, strict=True)) for one in layout.slices]
        kept_raw = [{name: column for name, column in one.items() if name in (*raw, *passed)} for one in shown]
        return [(table, columns, False) for table, columns in zip(tables, kept_raw, strict=True)]
    apart = layout.laid_out.sensitive_table
    if apart is None:
        return [("table", {name: name for name in (*raw, *passed)}, False)]
    others = [name for name in (*raw, *passed) if name not in layout.sensitive]
    return [("table", {name: name for name in others}, False), (apart, {name: name for name in layout.sensitive}, True)]


def _spelt(require: Sequence[Requirement], table: Table) -> list[Requirement]:
    """What is required as a release writes it."""
    names = {one.column for one in require if isinstance(one, ColumnRequirement)}
    return [one.spelt({name: table.sensitive[name] for name in names}) for one in require]


def _check_promises(
    release: Release,
    case: Case,
    method: Method,
    require: Sequence[Requirement],
    population: pl.DataFrame | None,
    rederive: Mapping[str, Kept] | None,
) -> None:
    """Every promise is in the manifest, holds for the checker, and holds when it is re-derived here."""
    table = prepare(case.frame, case.schema)
    promises = [*method.promises(case.schema), *_spelt(require, table)]
    stated = sorted(repr(dict(one)) for one in release.manifest.promise)
    assert stated == sorted(repr(named(one, "model")) for one in promises), "the manifest states other promises"
    shown = Shown.of(release, case, population, table)
    links, guards = release.manifest.layout.laid_out.protects == "links", _guards(release, case)
    verdict = release.verify(
        guards=guards, population=population, schema=case.schema, original=case.frame if links else None
    )
    assert not verdict.unchecked, "a promise was not checked"
    assert release.receipt is not None
    assert verdict.public == release.manifest.achieved, "the manifest says another value than is reached"
    assert verdict.achieved == release.manifest.achieved | release.receipt.achieved, "the receipt says another value"
    assert ("k" in verdict.achieved) != links, "a k is reached where cells are protected, and nowhere else"
    for one in promises:
        assert one.holds(verdict.achieved[one.key]), f"{one.key} is not kept"
        assert kept(one, shown, rederive), f"{one.key} is not kept when it is re-derived"


def _guards(release: Release, case: Case) -> pl.Series | None:
    """What people guard, row by row, where the release shows which row is which."""
    choice, table = case.schema.choice, next(iter(release.frames.values()))
    if choice is None or "note" not in table.columns or release.manifest.layout.laid_out.protects == "links":
        return None
    return case.frame[choice].gather(table["note"])


def published_cells(release: Release) -> list[tuple[Any, ...]]:
    """Quasi-identifier cells of every published row, whatever the shape, in the order of the published rows."""
    layout, table = release.manifest.layout, release.frames["table"]
    if name := layout.class_table:
        table = table.select("class").join(release.frames[name], on="class", how="left", maintain_order="left")
    return table.select(layout.cell_columns).rows()
