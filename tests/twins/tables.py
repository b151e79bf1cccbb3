"""Small tables with many ties, in the form the twins take and in the form the methods take."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import polars as pl
from hypothesis import strategies as st

from shoal import Hierarchy, Nominal, Numeric, Ordinal, Schema
from shoal.methods.base import Task
from shoal.table.prepare import prepare

RAGGED = Hierarchy(
    [("a", "any"), ("b", "B", "any"), ("c", "C1", "C", "any"), ("d", "C1", "C", "any"), ("e", "C2", "C", "any")]
)


@dataclass(frozen=True)
class Both:
    """One table twice: rows and columns for a twin, a frame and a schema for a method."""

    rows: list
    columns: list
    frame: pl.DataFrame
    schema: Schema

    @cached_property
    def table(self):
        return prepare(self.frame, self.schema)

    @cached_property
    def task(self):
        """What every method gets: made once, so a method that changes it is found out by the next."""
        return Task.of(self.table)

    @property
    def encoded(self):
        return self.task.encoded

    def labels(self, method):
        """What the method makes of the table."""
        return method.partition(self.task, np.random.default_rng(0)).labels.tolist()


def both(values, kinds):
    """Make a table of lists of values, one per column, and their kinds: Numeric, Ordinal, or Nominal with a tree."""
    names = [f"column {j}" for j in range(len(kinds))]
    twins, columns, series = [], [], []
    for name, column, kind in zip(names, values, kinds, strict=True):
        present = [value for value in column if value is not None]
        if isinstance(kind, Numeric):
            columns.append(("line", max(present) - min(present) if present else 0))
        elif isinstance(kind, Ordinal):
            columns.append(("line", len(kind.order) - 1))
        else:
            columns.append(("tree", kind.hierarchy))
        ordinal = isinstance(kind, Ordinal)
        twins.append([kind.order.index(x) if ordinal and x is not None else x for x in column])
        series.append(pl.Series(name, column, dtype=pl.Float64 if isinstance(kind, Numeric) else pl.String))
    rows = [list(row) for row in zip(*twins, strict=True)]
    return Both(rows, columns, pl.DataFrame(series), Schema(quasi=dict(zip(names, kinds, strict=True))))


@st.composite
def trees(draw):
    """Rooted trees of up to nine nodes: ragged, with only children, down to a root that is the only leaf."""
    n_nodes = draw(st.just(1) | st.integers(2, 9) | st.integers(2, 9))
    parents = [draw(st.integers(0, node - 1)) for node in range(1, n_nodes)]
    paths = []
    for node in set(range(len(parents) + 1)) - set(parents):
        path = [node]
        while path[-1]:
            path.append(parents[path[-1] - 1])
        paths.append([f"node {step}" for step in path])
    return Hierarchy(paths)


@st.composite
def kinds_with_values(draw):
    """A kind of column and the few values it may have."""
    kind = draw(st.sampled_from(["numeric", "ordinal", "nominal"]))
    if kind == "numeric":
        scale = draw(st.sampled_from([1, 7, 0.1, 1 / 3]))
        return Numeric(), [scale * x for x in draw(st.lists(st.integers(-3, 9), min_size=1, max_size=7))]
    if kind == "ordinal":
        order = "uvwxyz"[: draw(st.integers(1, 6))]
        return Ordinal(list(order)), list(order)[: draw(st.integers(1, 6))]
    tree = draw(st.just(RAGGED) | trees())
    return Nominal(tree), list(tree.leaves)


@st.composite
def tables(draw, k, *, most=40):
    """A table of k to 40 rows over one to four columns, some of them with missing values."""
    n_rows = draw(st.integers(k, most))
    values, kinds = [], []
    for _ in range(draw(st.integers(1, 4))):
        kind, allowed = draw(kinds_with_values())
        holes = draw(st.sampled_from([0, 0, 1, len(allowed)]))
        cells = st.sampled_from(allowed + [None] * holes)
        values.append(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))
        kinds.append(kind)
    return both(values, kinds)


def patients():
    """Running example P: the patients of Poovammal and Ponnavaikko, rows numbered from 0."""
    sex = Hierarchy([("M", "Person"), ("F", "Person")])
    return both(
        [
            [33, 29, 21, 31, 22, 60, 25],
            ["M", "F", "M", "M", "M", "M", "F"],
            [600018, 600008, 600006, 600009, 600006, 600019, 600006],
        ],
        [Numeric(), Nominal(sex), Numeric()],
    )


def groups_of(labels, numbers_from=1):
    """The partition that labels describe, as sets of row numbers counted as the papers do."""
    return {
        frozenset(row + numbers_from for row, label in enumerate(labels) if label == group) for group in set(labels)
    }


@cache
def mixed(n_rows, seed):
    """All kinds of columns, some cells missing."""
    rng = np.random.default_rng(seed)
    return _with_holes(rng, n_rows, lambda: (rng.integers(0, 500, n_rows) / 10).tolist())


@cache
def skewed(n_rows, seed=4):
    """The same, with one column of numbers of which few are large."""
    rng = np.random.default_rng(seed)
    return _with_holes(rng, n_rows, lambda: rng.lognormal(3, 1, n_rows).tolist())


def _with_holes(rng, n_rows, numbers):
    columns = [
        rng.integers(0, 60, n_rows).tolist(),
        rng.choice(RAGGED.leaves, n_rows).tolist(),
        numbers(),
        rng.choice(list("uvwxyz"), n_rows).tolist(),
    ]
    for column in columns:
        for row in rng.choice(n_rows, n_rows // 12, replace=False):
            column[row] = None
    return both(columns, [Numeric(), Nominal(RAGGED), Numeric(), Ordinal(list("uvwxyz"))])
