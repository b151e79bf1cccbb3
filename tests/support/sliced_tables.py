"""Small sliced tables, whether a method would have made them or not."""

from __future__ import annotations

import polars as pl
from hypothesis import strategies as st

from shoal.check.slices import SlicesRead
from shoal.errors import Problems
from shoal.release.manifest import Layout, PassedColumn, QuasiColumn, Slice

QUASI = ("a", "b", "c")


def layout_of(slices, files=False):
    """Attributes a, b, c are quasi-identifiers, s and t sensitive, n neutral."""
    names = list(dict.fromkeys(name for names in slices for name in names))
    quasi = [
        QuasiColumn(name=name, kind="nominal", form="raw", columns=(name,), has_missing=True)
        for name in QUASI if name in names
    ]  # fmt: skip
    roles = {"s": "sensitive", "t": "sensitive", "n": "neutral"}
    passed = [PassedColumn(name=name, role=roles[name], kind="nominal") for name in names if name in roles]
    shown = tuple(Slice(attributes=tuple(one), columns=tuple(one)) for one in slices)
    return Layout(shape="slices", quasi=tuple(quasi), passed=tuple(passed), slices=shown, files=files)


SLICINGS = [
    [["a", "b"], ["c", "s"]],
    [["a"], ["b"], ["c"], ["s"]],
    [["a", "b", "c"], ["s"]],
    [["a", "b", "c", "s"]],
    [["a", "s"], ["b", "t"], ["c", "n"]],
    [["a", "s", "t"], ["b", "c"]],
    [["n"], ["a", "b"], ["s", "c"]],
]


OVERLAPPING = [
    [["a", "b"], ["a", "s"]],
    [["a", "s"], ["b", "s"], ["c"]],
    [["a", "b"], ["b", "c"], ["c", "s"]],
    [["a", "b"], ["c", "t"], ["a", "b", "s"]],
]


@st.composite
def published(draw, max_rows=9, max_bucket=9, slicings=SLICINGS):
    """Any sliced table, whether a method would have made it or not."""
    slices = draw(st.sampled_from(slicings))
    sizes = draw(
        st.lists(st.integers(1, max_bucket), min_size=1, max_size=4).filter(lambda sizes: sum(sizes) <= max_rows)
    )
    n_rows = sum(sizes)
    cells = {"a": "xyz", "b": "uv", "c": ["1", "2", None], "s": ["p", "q", "r", None], "t": "gh", "n": "mn"}
    table = {"bucket": [bucket + 5 for bucket, size in enumerate(sizes) for _ in range(size)]}
    for name in sorted({name for names in slices for name in names}):
        column = draw(st.lists(st.sampled_from(list(cells[name])), min_size=n_rows, max_size=n_rows))
        table[name] = pl.Series(name, column, dtype=pl.String)
    return pl.DataFrame(table), layout_of(slices)


def read(table, layout):
    problems = Problems()
    found = SlicesRead.of({"table": table}, layout, problems)
    assert not len(problems)
    return found
