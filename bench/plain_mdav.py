"""MDAV as plain compiled loops: rows one after the other, one core. What `Mdav` is not to be slower than."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit
def _distance(points, row, centre):
    total = 0.0
    for j in range(points.shape[1]):
        t = points[row, j] - centre[j]
        total += t * t
    return total


@numba.njit
def _farthest(points, rest, left, centre):
    best, far = -1.0, -1
    for i in range(left):
        d = _distance(points, rest[i], centre)
        if d > best:
            best, far = d, rest[i]
    return far


@numba.njit
def _take(points, rest, left, row, k, label, labels):
    """The k nearest of a row get a label and leave; those that stay keep their order."""
    centre = points[row].copy()
    near, distance, found = np.empty(k, dtype=np.int64), np.empty(k), 0
    for i in range(left):
        d = _distance(points, rest[i], centre)
        if found == k and d >= distance[k - 1]:
            continue
        at = min(found, k - 1)
        while at > 0 and distance[at - 1] > d:
            distance[at], near[at] = distance[at - 1], near[at - 1]
            at -= 1
        distance[at], near[at] = d, rest[i]
        found = min(found + 1, k)
    for one in near:
        labels[one] = label
    kept = 0
    for i in range(left):
        if labels[rest[i]] < 0:
            rest[kept] = rest[i]
            kept += 1
    return kept


@numba.njit
def _average(points, rest, left):
    centre = np.zeros(points.shape[1])
    for i in range(left):
        for j in range(points.shape[1]):
            centre[j] += points[rest[i], j]
    return centre / left


@numba.njit
def _group(points, k):
    n = len(points)
    rest, labels = np.arange(n), np.full(n, -1)
    left, label = n, 0
    while left >= 3 * k:
        r = _farthest(points, rest, left, _average(points, rest, left))
        s = _farthest(points, rest, left, points[r].copy())
        left = _take(points, rest, left, r, k, label, labels)
        left = _take(points, rest, left, s, k, label + 1, labels)
        label += 2
    if left >= 2 * k:
        r = _farthest(points, rest, left, _average(points, rest, left))
        left = _take(points, rest, left, r, k, label, labels)
        label += 1
    for i in range(left):
        labels[rest[i]] = label
    return labels


def mdav(values, k):
    """Label of every row."""
    return _group((values - values.mean(axis=0)) / values.std(axis=0), k)
