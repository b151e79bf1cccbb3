"""One sensitive column in classes, from plain lists."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import strategies as st

from shoal.privacy.base import Classes, Tree, Values


def classes_of(labels, values, kind=None, *, order=(), hierarchy=None, guards=None):
    """One sensitive column, `s`, in classes."""
    dtype = pl.Float64 if kind == "numeric" else pl.String
    column = Values(pl.Series("s", values, dtype=dtype), kind, tuple(order), tree_of(hierarchy))
    guards = None if guards is None else pl.Series(guards, dtype=pl.String)
    return Classes(np.array(labels, dtype=np.int64), {"s": column}, guards)


def grouped(groups, *arguments, **settings):
    """The same from a list of classes."""
    labels = [label for label, group in enumerate(groups) for _ in group]
    return classes_of(labels, [value for group in groups for value in group], *arguments, **settings)


def tree_of(hierarchy):
    if hierarchy is None:
        return None
    arrays, n = hierarchy.arrays, len(hierarchy.names)
    return Tree(
        tuple(hierarchy.names), tuple(hierarchy.parents), tuple(arrays.height[:n].tolist()),
        tuple(arrays.n_leaves[:n].tolist()),
    )  # fmt: skip


def parents_of(hierarchy):
    return {name: hierarchy.parent(name) for name in hierarchy.names}


@st.composite
def in_classes(draw, values, max_rows=24):
    """Labels without gaps, in any order, and a value for each row."""
    drawn = draw(st.lists(st.integers(0, 4), min_size=1, max_size=max_rows))
    labels = np.unique(drawn, return_inverse=True)[1].tolist()
    return labels, draw(st.lists(values, min_size=len(labels), max_size=len(labels)))
