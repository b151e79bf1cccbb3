"""The two ways to read a published table: rows that mean the same, and rows that match whoever a row stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.check.containment import Containers
from shoal.check.grammar.columns import ReadCells
from shoal.check.promises import probes
from shoal.check.value_ranges import Ints, boxes_of, distinct_cells
from shoal.privacy.base import Classes, Requirement, Values

READINGS = {
    "cells": "rows whose quasi-identifier cells mean the same form one class",
    "matching": "the class of a row is every row whose cells contain its own; all of them match its person",
}
ROWS_AT_ONCE = 2_000_000
"""Rows of overlapping classes that are held in memory at a time, at least."""


@dataclass(frozen=True)
class Reading:
    """What one way to read a table comes to."""

    n_classes: int
    reached: dict[Requirement, float]
    """What the weakest class reaches of each requirement: two may share a key, and each is judged by its own."""
    surveyed: dict[str, float]
    """What the weakest class reaches of every model, by key."""

    @property
    def achieved(self) -> dict[str, float]:
        """What the weakest class reaches of each requirement, by key; the weakest of those that share one."""
        return _by_key(self.reached)


def both_readings(
    cells: Sequence[ReadCells], columns: Mapping[str, Values], require: Sequence[Requirement]
) -> dict[str, Reading]:
    """What the weakest class reaches in either reading, given the quasi-identifiers and the sensitive columns."""
    tuples, labels = _tuples(cells)
    classes = Classes(labels, columns)
    return {"cells": _read([classes], require), "matching": _read(_overlapping(cells, tuples, classes), require)}


def _tuples(cells: Sequence[ReadCells]) -> tuple[Ints, Ints]:
    """The distinct rows of ranges, one number per column, and which of them each row is."""
    frame = pl.DataFrame({str(place): read.codes for place, read in enumerate(cells)})
    rows, labels = distinct_cells(frame)
    return np.array(rows, dtype=np.int64).reshape(-1, len(cells)), labels


def _overlapping(cells: Sequence[ReadCells], tuples: Ints, classes: Classes) -> Iterator[Classes]:
    """For every distinct row, all rows that contain it; a row is in many classes, so they come a few at a time."""
    boxes = boxes_of([read.axis() for read in cells], tuples)
    members = np.argsort(classes.labels, kind="stable")
    first = np.concatenate([[0], np.cumsum(classes.sizes)])
    most = max(ROWS_AT_ONCE, len(classes.labels))
    for block in Containers.of(boxes).around(boxes, most):
        n_rows = np.concatenate([[0], np.cumsum(classes.sizes[block.boxes])])[block.first]
        begin = 0
        while begin < len(n_rows) - 1:
            end = max(int(np.searchsorted(n_rows, n_rows[begin] + most, side="right")) - 1, begin + 1)
            inside = block.boxes[block.first[begin] : block.first[end]]
            sizes = classes.sizes[inside]
            shift = np.repeat(first[inside] - (np.cumsum(sizes) - sizes), sizes)
            rows = members[np.arange(len(shift)) + shift]
            labels = np.repeat(np.arange(end - begin), np.diff(n_rows[begin : end + 1]))
            yield Classes(labels, {name: values.take(rows) for name, values in classes.columns.items()})
            begin = end


def _read(parts: Iterable[Classes], require: Sequence[Requirement]) -> Reading:
    """What the weakest of all classes reaches, of what is required and of every model."""
    n_classes, wanted, all_models = 0, [one for one in require if one.needs is None], list[Requirement]()
    reached: dict[Requirement, float] = {}
    for classes in parts:
        n_classes += classes.n_classes
        all_models = all_models or probes(classes)
        for one in {*wanted, *all_models}:
            value = one.achieved(classes)
            worst = min if one.rising else max
            reached[one] = worst(reached[one], value) if one in reached else value
    return Reading(n_classes, {one: reached[one] for one in wanted}, _by_key({one: reached[one] for one in all_models}))


def _by_key(reached: Mapping[Requirement, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one, value in reached.items():
        worst = min if one.rising else max
        found[one.key] = worst(found.get(one.key, value), value)
    return found
