"""Rows of a table, or of a piece of it, counted at the nodes of a tree of cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.engines.bins import Binned, Bins
from shoal.engines.cuts import Cuts, Ints
from shoal.kernels.engines.routing import tally


def binned(columns: Sequence[Binned], frame: pl.DataFrame) -> Bins:
    """The bins of all rows, a row of the array per column."""
    return np.stack([column.of(frame) for column in columns]) if columns else np.zeros((0, frame.height), np.uint16)


def histograms(cuts: Cuts, nodes: Sequence[int], bins: Bins, columns: Sequence[Binned]) -> list[Ints]:
    """Of each column, how many rows of each node are in each bin: one array of nodes by bins."""
    places, found = _places(cuts, nodes, bins), []
    for line, column in zip(bins, columns, strict=True):
        counts = np.zeros((len(nodes), column.n_bins), dtype=np.int64)
        tally(places, line, counts)
        found.append(counts)
    return found


def sensitive_counts(
    cuts: Cuts, nodes: Sequence[int], bins: Bins, codes: Mapping[str, Ints], n_values: Mapping[str, int]
) -> dict[str, Ints]:
    """Of each sensitive column, how often each value is in each node: one array of nodes by values."""
    places, found = _places(cuts, nodes, bins), {}
    for name, values in codes.items():
        found[name] = np.zeros((len(nodes), n_values[name]), dtype=np.int64)
        tally(places, values, found[name])
    return found


def _places(cuts: Cuts, nodes: Sequence[int], bins: Bins) -> Ints:
    """The place among some nodes of that which each row comes to; -1 where it comes to another."""
    place = np.full(cuts.n_nodes, -1, dtype=np.int64)
    place[list(nodes)] = np.arange(len(nodes))
    return place[cuts.nodes_of(bins)]
