"""Runs of small whole numbers as Parquet stores them, read and written; and texts that stand one after another.

A run is either one number and how often it stands there, or groups of eight numbers packed bit by bit. Which of the two
is chosen where, the format leaves to the writer, and pyarrow has always had one rule: eight equal numbers in a row,
counted from where the last run or group ended, begin a repeat that goes on as long as it can; all else is packed, at
most 63 groups to a run; a rest of fewer than eight equal numbers that continues no packed run is a repeat too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import jit

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.int32]

FINE, CUT_SHORT, EMPTY_RUN, TOO_LONG, TOO_WIDE, LEFT_OVER = range(6)
"""What reading runs came to: all is well; a run goes on past the end; a run of nothing; more numbers than there are
rows; a repeated number of more bits than numbers have; bytes after the last run."""

_GROUP = 8
_MOST_GROUPS = 63


@jit
def decode_runs(
    data: Bytes,  # IN  all runs, nothing else
    width: int,  # IN  bits of a packed number, at most 32
    out: Ints,  # OUT the numbers
) -> int:
    """Read as many numbers as `out` has room for; gives back one of the results above."""
    at, filled, n = 0, 0, len(out)
    while filled < n:
        header, at = _varint(data, at)
        if header < 0:
            return CUT_SHORT
        count = header >> 1
        if count == 0:
            return EMPTY_RUN
        n_bytes = count * width if header & 1 else (width + 7) // 8
        n_values = (count - 1) * _GROUP + 1 if header & 1 else count  # a packed run may end within its last group
        if at + n_bytes > len(data):
            return CUT_SHORT
        if filled + n_values > n:
            return TOO_LONG
        if header & 1:
            stop = min(n, filled + count * _GROUP)
            _unpack(data, at, width, out, filled, stop)
        else:
            stop = filled + count
            value = _whole(data, at, n_bytes)
            if value >> width:
                return TOO_WIDE
            for i in range(filled, stop):
                out[i] = value
        filled, at = stop, at + n_bytes
    return FINE if at == len(data) else LEFT_OVER


@jit
def encode_runs(
    values: Ints,  # IN
    width: int,  # IN  bits of a packed number
    out: Bytes,  # OUT the runs; zeros before, with room for `room_for_runs`
) -> int:
    """Write numbers by the rule above; gives back how many bytes that took."""
    at, i, n = 0, 0, len(values)
    header, n_groups = 0, 0  # where the open packed run begins, and how long it is so far
    while i < n:
        end = i + 1
        while end < n and values[end] == values[i]:
            end += 1
        if end - i >= _GROUP or (end == n and n_groups == 0):
            at = _write_repeat(values[i], end - i, width, out, at)
            i, n_groups = end, 0
            continue
        if n_groups == 0:
            header, at = at, at + 1
        _pack(values, i, min(n, i + _GROUP), width, out, at)
        i, at, n_groups = i + _GROUP, at + width, n_groups + 1
        out[header] = (n_groups << 1) | 1
        if n_groups == _MOST_GROUPS:
            n_groups = 0
    return at


def room_for_runs(n: int, width: int) -> int:
    """Bytes that `n` numbers take at most: a header of up to five bytes for every eight of them, and themselves."""
    return (n // _GROUP + 2) * (width + 5 + 4)


@jit
def split_texts(
    page: Bytes,  # IN  texts, each after its length in four bytes
    offsets: Offsets,  # OUT where each text begins in `texts`, and where the last one ends
    texts: Bytes,  # OUT the texts without their lengths
) -> bool:
    """Part texts from their lengths; gives back whether they fill the page, no more and no less."""
    at, filled = 0, 0
    for i in range(len(offsets) - 1):
        if at + 4 > len(page):
            return False
        length = _whole(page, at, 4)
        at += 4
        if at + length > len(page) or filled + length > len(texts):
            return False
        for _ in range(length):
            texts[filled] = page[at]
            at, filled = at + 1, filled + 1
        offsets[i + 1] = filled
    return at == len(page)


@jit
def _varint(data: Bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits and where it ends; -1 where it does not end, or not within four bytes."""
    value = 0
    for shift in range(0, 28, 7):
        if at == len(data):
            break
        byte = int(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    return -1, at


@jit
def _whole(data: Bytes, at: int, n_bytes: int) -> int:
    value = 0
    for i in range(n_bytes):
        value |= int(data[at + i]) << (8 * i)
    return value


@jit
def _unpack(data: Bytes, at: int, width: int, out: Ints, start: int, stop: int) -> None:
    held, n_held = 0, 0
    for i in range(start, stop):
        while n_held < width:
            held |= int(data[at]) << n_held
            at += 1
            n_held += 8
        out[i] = held & ((1 << width) - 1)
        held >>= width
        n_held -= width


@jit
def _pack(values: Ints, start: int, stop: int, width: int, out: Bytes, at: int) -> None:
    """Pack up to eight numbers; what is missing to eight stays zero."""
    held, n_held = 0, 0
    for i in range(start, stop):
        held |= int(values[i]) << n_held
        n_held += width
        while n_held >= 8:
            out[at] = held & 255
            at += 1
            held >>= 8
            n_held -= 8
    if n_held:
        out[at] = held & 255


@jit
def _write_repeat(value: int, count: int, width: int, out: Bytes, at: int) -> int:
    header = count << 1
    while header > 127:
        out[at] = (header & 127) | 128
        at += 1
        header >>= 7
    out[at] = header
    at += 1
    for i in range((width + 7) // 8):
        out[at] = (value >> (8 * i)) & 255
        at += 1
    return at
