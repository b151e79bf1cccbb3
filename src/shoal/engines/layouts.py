"""What is said of the columns of a release whose blocks were published one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shoal.engines.known import Known
from shoal.engines.steps import BlockShown
from shoal.publish.base import passed_columns
from shoal.publish.covers import counted_from_first, published_nodes
from shoal.release.manifest import Layout, QuasiColumn
from shoal.table.schema import Kind, Ordinal


def layout_of(blocks: Sequence[BlockShown], shown: Known) -> Layout:
    """The layout of the whole release: what its cells show, in whichever block they are."""
    first = blocks[0].layout
    quasi = tuple(
        _column([one.layout.quasi[place] for one in blocks], [one.cells for one in blocks], shown)
        for place in range(len(first.quasi))
    )
    return first.model_copy(update={"quasi": quasi, "passed": passed_columns(shown.table, shown.table.frame)})


def _column(columns: Sequence[QuasiColumn], cells: Sequence[dict[str, Any]], shown: Known) -> QuasiColumn:
    """One quasi-identifier."""
    first = columns[0]
    facts: dict[str, Any] = {"has_missing": any(column.has_missing for column in columns)}
    if first.form == "interval":
        ends = [end for column in columns for end in (column.low, column.high) if end is not None]
        facts |= {"whole": all(column.whole for column in columns)}
        facts |= {"low": min(ends, default=None), "high": max(ends, default=None)}
    elif first.form == "order":
        return first.model_copy(update=facts | _order(columns, shown.table.quasi[first.name]))
    elif first.form == "set":
        facts["n_values"] = len({value for one in cells for value in one[first.name]})
    elif first.form == "node":
        names = sorted({name for one in cells for name in one[first.name] if name is not None})
        table = shown.table
        facts["nodes"] = published_nodes(
            pl.DataFrame({first.name: pl.Series(names, dtype=pl.String)}), table.hierarchy(first.name),
            grown=table.is_grown(first.name), bare=table.is_grown_by_values(first.name),
        )  # fmt: skip
    return first.model_copy(update=facts)


def _order(columns: Sequence[QuasiColumn], kind: Kind) -> dict[str, Any]:
    """The categories that cells of any block name, with their places."""
    assert isinstance(kind, Ordinal)  # noqa: S101  or its form were another
    ranks = tuple(sorted(kind.ranks[text] for text in {text for column in columns for text in column.order}))
    facts = {"order": tuple(kind.order[rank] for rank in ranks), "ranks": ranks, "n_values": len(kind.order)}
    told = counted_from_first(columns[0].model_copy(update=facts), kind)
    return {name: getattr(told, name) for name in facts}
