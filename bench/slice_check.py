"""The diversity of sliced buckets checked as a whole: what the check of a split must agree with, and is faster than.

Shares nothing with it but the numbering of parts, tuples and values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np

from shoal.kernels.slicing.halves import Sliced


class TupleIndex(NamedTuple):
    """Of each part the buckets it occurs in, rising, with the rows it has there and their sensitive values."""

    start: Any  # int64[parts + 1]  where the buckets of a part begin
    bucket: Any  # int64[<= c * n]
    count: Any  # int64[<= c * n]
    values: Any  # int64[s, <= n * c + 1]  where the values of such an entry begin, for attributes in its slice
    value: Any  # int64[s, n]
    value_count: Any  # int64[s, n]


@numba.njit
def check_all(sliced: Sliced, labels: Any, n_buckets: int, bound: float) -> bool:
    """Whether p(t, s) <= bound for every tuple and value; ends at the first tuple that fails.

    IN   labels int64[n]
    """
    sizes = np.zeros(n_buckets + 1, dtype=np.int64)
    for label in labels:
        sizes[label] += 1
    index = _index(sliced, labels, n_buckets)
    numerators = np.zeros(sliced.n_values)
    for t in range(len(sliced.tuple_part)):
        if _judge(index, sliced.tuple_part[t], sliced.home, sizes, sliced.scale, numerators) > bound:
            return False
    return True


@numba.njit
def _judge(index: TupleIndex, parts: Any, home: Any, sizes: Any, scale: float, numerators: Any) -> float:
    """Largest p(t, s) of one tuple, over the buckets of its part that occurs in the fewest."""
    rare = parts[0]
    for part in parts:
        if index.start[part + 1] - index.start[part] < index.start[rare + 1] - index.start[rare]:
            rare = part
    match, n_columns = 0.0, len(parts)
    entries = np.empty(n_columns, dtype=np.int64)
    numerators[:] = 0.0
    for bucket in index.bucket[index.start[rare] : index.start[rare + 1]]:
        share = 1.0
        for j in range(n_columns):
            entries[j] = _entry(index, parts[j], bucket)
            if entries[j] < 0:
                share = 0.0
                break
            share *= index.count[entries[j]] / sizes[bucket] * scale
        if share == 0.0:
            continue
        match += share
        for s in range(len(home)):
            entry = entries[home[s]]
            for place in range(index.values[s, entry], index.values[s, entry + 1]):
                here = index.value_count[s, place] / index.count[entry]
                numerators[index.value[s, place]] += share * here
    return numerators.max() / match


@numba.njit
def _entry(index: TupleIndex, part: int, bucket: int) -> int:
    low, high = index.start[part], index.start[part + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if index.bucket[middle] < bucket:
            low = middle + 1
        else:
            high = middle
    return low if low < end and index.bucket[low] == bucket else -1


@numba.njit
def _index(sliced: Sliced, labels: Any, n_buckets: int) -> TupleIndex:
    row_part, row_value, home, n_values = sliced.row_part, sliced.row_value, sliced.home, sliced.n_values
    n_parts = len(sliced.rows_start) - 1
    n_rows, n_columns = row_part.shape
    start = np.zeros(n_parts + 1, dtype=np.int64)
    bucket = np.empty(n_rows * n_columns, dtype=np.int64)
    count = np.zeros(n_rows * n_columns, dtype=np.int64)
    values = np.zeros((len(home), n_rows * n_columns + 1), dtype=np.int64)
    value = np.empty((len(home), n_rows), dtype=np.int64)
    value_count = np.zeros((len(home), n_rows), dtype=np.int64)
    by_bucket = _sorted(np.arange(n_rows), labels, n_buckets)
    entry, column_entry = -1, np.empty(n_rows, dtype=np.int64)
    for j in range(n_columns):
        before_part, before_bucket = -1, -1
        rows = _sorted(by_bucket, row_part[:, j], n_parts)
        for i in range(n_rows):
            part, label = row_part[rows[i], j], labels[rows[i]]
            if part != before_part or label != before_bucket:
                entry += 1
                bucket[entry] = label
                start[part + 1] += 1
                before_part, before_bucket = part, label
            count[entry] += 1
            column_entry[i] = entry
        for s in range(len(home)):
            if home[s] == j:
                codes = row_value[:, s]
                _count_values(rows, column_entry, codes, n_values, values[s], value[s], value_count[s])
    return TupleIndex(np.cumsum(start), bucket, count, values, value, value_count)


@numba.njit
def _count_values(
    rows: Any, entry: Any, codes: Any, n_values: int, begin: Any, value: Any, value_count: Any
) -> None:  # fmt: skip
    """Distinct values of each entry with their counts, one after another."""
    place = np.full(n_values, -1, dtype=np.int64)
    end = 0
    for i in range(len(rows)):
        if i == 0 or entry[i] != entry[i - 1]:
            begin[entry[i]] = end
        code = codes[rows[i]]
        if place[code] < begin[entry[i]]:
            place[code] = end
            value[end] = code
            end += 1
        value_count[place[code]] += 1
        begin[entry[i] + 1] = end


@numba.njit
def _sorted(rows: Any, keys: Any, n_keys: int) -> Any:
    """Rows by key, those with equal keys in the order they came in."""
    place = np.zeros(n_keys + 1, dtype=np.int64)
    for row in rows:
        place[keys[row] + 1] += 1
    place = np.cumsum(place)
    out = np.empty_like(rows)
    for row in rows:
        out[place[keys[row]]] = row
        place[keys[row]] += 1
    return out
