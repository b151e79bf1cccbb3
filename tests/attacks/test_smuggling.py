"""Messages in what a request or a tree leaves open, and holders' files where they would be published.

The attacker is inside, as in `test_forged`: hashes and figures fit. One request, one tree and one table are written in
one way; whatever has two ways has room for a message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime

import polars as pl
import pytest

import shoal
from attacks.mutants import ACCEPTED, REFUSED, judged, written
from attacks.victims import PEOPLE, SCHEMA, Victim, victim
from shoal.release.manifest import Node
from support.forging import mended, with_entries

Nodes = tuple[Node, ...]


def asking(one: Victim, *more: dict) -> dict[str, bytes]:
    """The files of the release, had more been required of it."""
    release, recipe = one.release, one.release.manifest.recipe
    own = release.manifest.promise[: len(release.manifest.promise) - len(recipe.require)]
    require = (*recipe.require, *more)
    asked = recipe.model_copy(update={"require": require})
    return written(mended(with_entries(release, recipe=asked, promise=(*own, *require)), facts=False), one.form)


def alpha(values: Sequence[str], column: str = "disease") -> dict:
    return {"model": "alpha-k", "column": column, "alpha": 0.9, "values": tuple(values)}


def test_a_further_requirement_is_no_message(tmp_path):
    one = victim("text", "csv")
    assert judged(asking(one, alpha(["cold", "flu"])), tmp_path / "release") == ACCEPTED
    assert judged(asking(one, alpha(["10"], "income")), tmp_path / "release") == ACCEPTED


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([alpha(["flu", "cold"])], id="values in another order"),
        pytest.param([alpha(["cold", "flu", "flu"])], id="a value twice"),
        *(
            pytest.param([alpha([text], "income")], id=f"a number as {text!r}")
            for text in ("0000010", "1_0", " 10 ", "1e1", "\u0661\u0660", "+10", "10.0", "inf", "nan")
        ),
        pytest.param([alpha(["flu"]), alpha(["flu"])], id="a requirement twice"),
        pytest.param([{"model": "k-anonymity", "k": k} for k in (2, 3, 2)], id="a requirement in three strengths"),
    ],
)
def test_a_requirement_is_written_in_one_way(more, tmp_path):
    assert judged(asking(victim("text", "csv"), *more), tmp_path / "release") == REFUSED


def test_the_same_requirement_twice_is_refused_before_work():
    require = [shoal.LDiversity(column="disease", l=2), shoal.LDiversity(column="disease", l=3)]
    with pytest.raises(shoal.ParameterError, match="require=: requires the same more than once: l-diversity"):
        shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=3), require=require)


# -- trees -----------------------------------------------------------------------------------------------------------


def _below(nodes: Nodes) -> dict[int | None, list[int]]:
    found: dict[int | None, list[int]] = {}
    for place, node in enumerate(nodes):
        found.setdefault(node.parent, []).append(place)
    return found


def _in_order(nodes: Nodes, order: list[int]) -> Nodes:
    place = {old: new for new, old in enumerate(order)}
    return tuple(
        nodes[old].model_copy(update={"parent": None if nodes[old].parent is None else place[nodes[old].parent]})
        for old in order
    )


def backwards(nodes: Nodes) -> Nodes:
    """Those below a node the other way round."""
    below, order, waiting = _below(nodes), [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += below.get(order[-1], [])
    return _in_order(nodes, order)


def by_depth(nodes: Nodes) -> Nodes:
    """One level after the other."""
    below, order = _below(nodes), [0]
    for place in order:
        order += below.get(place, [])
    return _in_order(nodes, order)


def chained(nodes: Nodes) -> Nodes:
    """Three nodes without a name between the root and the first below it."""
    high, leaves = nodes[0].height, nodes[1].leaves
    chain = [Node(name=None, parent=k, height=high + 2 - k, leaves=leaves) for k in range(3)]
    rest = [
        node.model_copy(update={"parent": 3 if place == 1 else node.parent + 3 if node.parent else 0})
        for place, node in enumerate(nodes[1:], 1)
    ]
    return (nodes[0].model_copy(update={"height": high + 3}), *chain, *rest)


@pytest.mark.parametrize("change", [backwards, by_depth, chained])
@pytest.mark.parametrize("where", ["quasi", "passed"])
@pytest.mark.parametrize("shape", ["text", "classes", "typed"])
def test_a_tree_is_written_in_one_way(shape, where, change: Callable[[Nodes], Nodes], tmp_path):
    one, tried = victim(shape, "csv"), 0
    columns = getattr(one.release.manifest.layout, where)
    for column in columns:
        if not column.nodes or change(column.nodes) == column.nodes:
            continue
        other = column.model_copy(update={"nodes": change(column.nodes)})
        layout = {where: tuple(other if one is column else one for one in columns)}
        assert judged(written(mended(one.release, facts=False, layout=layout), "csv"), tmp_path / "release") == REFUSED
        tried += 1
    assert tried or where == "quasi"  # the release has no branches there


def test_trees_that_depend_on_the_values_say_no_more_than_the_cells():
    """Two inputs with the same table: where 4, 5 and 6 lie under the `*` is not told."""
    made = []
    for ages in ([1, 2, 3, 5, 5, 6, 8, 8], [1, 2, 3, 4, 4, 5, 5, 8]):
        frame = pl.DataFrame({"age": ages, "disease": ["flu"] * 8})
        schema = shoal.Schema(quasi={"age": shoal.Numeric(shoal.Quantiles(parts=(4, 2)))}, sensitive=["disease"])
        made.append(shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1))
    assert made[0].frames["table"].equals(made[1].frames["table"])
    assert made[0].manifest == made[1].manifest


# -- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [None, shoal.Numeric()])
@pytest.mark.parametrize("cell", [float("nan"), float("inf")])
def test_a_missing_number_is_missing_in_one_way(cell, kind, tmp_path):
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "x": [0.5, None, 1.5, None]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, neutral={"x": kind})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    table = release.frames["table"]
    place = table["x"].is_null().arg_max()
    other = mended(release, table=table.with_columns(table["x"].scatter(place, cell)))
    verdict = judged(written(other, "parquet"), tmp_path / "release")
    assert verdict == (ACCEPTED if kind is None and cell == float("inf") else REFUSED)  # a number like any other there


@pytest.mark.parametrize("kind", ["neutral", "sensitive"])
@pytest.mark.parametrize("days", [[date(2000, 1, 1), None, date(2000, 1, 2), None], [None] * 4], ids=["days", "none"])
def test_a_day_is_no_midnight(days, kind, tmp_path):
    """A Parquet file has a type for either: which of the two it is could be a message."""
    frame = pl.DataFrame({"age": [1, 1, 2, 2], "x": pl.Series(days, dtype=pl.Date)})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, **{kind: ["x"]})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    assert judged(written(mended(release), "parquet"), tmp_path / "days") == ACCEPTED
    other = mended(release, table=release.frames["table"].with_columns(pl.col("x").cast(pl.Datetime("us"))))
    assert judged(written(other, "parquet"), tmp_path / "midnights") == REFUSED
    frame = frame.with_columns(pl.col("x").cast(pl.Datetime("us")))
    assert shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).manifest == release.manifest
    frame = frame.with_columns(x=pl.Series([datetime(2000, 1, 1, 5), datetime(2000, 1, 2), None, None]))
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
    assert judged(written(mended(release), "parquet"), tmp_path / "times") == ACCEPTED


def test_a_name_with_a_line_end_of_any_sort_can_be_written(tmp_path):
    for place, name in enumerate(("a\rb", "a\nb", "a\r\nb", '"\n"\r')):
        frame = pl.DataFrame({name: [1, 1, 2, 2], "s\r": ["a", "b\rc", "a", "b\nc"]})
        schema = shoal.Schema(quasi={name: shoal.Numeric()}, sensitive=["s\r"])
        folder = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).write(tmp_path / str(place))
        assert sorted(shoal.read_release(folder).frames["table"].columns) == sorted([name, "s\r"])


# -- places ----------------------------------------------------------------------------------------------------------


def test_nothing_of_the_holder_is_written_into_a_release(tmp_path):
    release = shoal.anonymize(PEOPLE, SCHEMA, shoal.Mondrian(k=3), seed=1)
    release.write(tmp_path / "first")
    before = sorted(path.name for path in (tmp_path / "first").iterdir())
    for inside in ("first/second", "first/a/b", "first/../first/second"):
        with pytest.raises(shoal.SourceError, match="would lie inside a release"):
            release.write(tmp_path / inside)
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == before
    for other in ("{}", '{"name": "a page"}', "[]", "no JSON"):  # a manifest of something else
        (tmp_path / "manifest.json").write_text(other)
        release.write(tmp_path / "third", overwrite=True)
