"""One walk over the bytes of a CSV file: how many records there are, and which of them are not well formed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.jit import jit

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

RAGGED, BROKEN, BLANK, BARE_QUOTE, LONE_RETURN = range(5)
"""Kinds of what is found: another number of fields than the header; text after a closing quote, or a quote never
closed; a line with nothing on it; a quote within a field that is not quoted; a carriage return outside quotes that
ends no line."""
N_KINDS = 5
N_SHOWN = 10

_LF, _CR = 10, 13
_START, _PLAIN, _QUOTED, _CLOSED = range(4)


@jit
def _record(
    data: Bytes,  # IN
    start: int,  # IN  where the record begins
    delimiter: int,  # IN
    quote: int,  # IN
) -> tuple[int, int, bool, bool, bool]:
    """One record: where the next begins, its fields, whether it is broken, has a bare quote, has a lone return."""
    n = len(data)
    n_fields, state = 1, _START
    broken = bare = lone = False
    i = start
    while i < n:
        byte = data[i]
        if state == _QUOTED:
            if byte == quote:
                if i + 1 < n and data[i + 1] == quote:
                    i += 1
                else:
                    state = _CLOSED
        elif byte == _LF:
            return i + 1, n_fields, broken, bare, lone
        elif byte == _CR and i + 1 < n and data[i + 1] == _LF:
            return i + 2, n_fields, broken, bare, lone
        elif byte == delimiter:
            n_fields += 1
            state = _START
        elif byte == quote and state == _START:
            state = _QUOTED
        else:
            broken |= state == _CLOSED
            bare |= byte == quote
            lone |= byte == _CR
            state = _PLAIN
        i += 1
    return n, n_fields, broken or state == _QUOTED, bare, lone


@jit
def _is_blank(data: Bytes, start: int) -> bool:
    """Whether a line end stands where a record would begin."""
    return data[start] == _LF or (data[start] == _CR and start + 1 < len(data) and data[start + 1] == _LF)


@jit
def scan(
    data: Bytes,  # IN  the whole file
    delimiter: int,  # IN
    quote: int,  # IN
    header: Ints,  # OUT  [4]
    counts: Ints,  # OUT  [N_KINDS], 0 before
    first: Ints,  # OUT  [N_KINDS, N_SHOWN], -1 before
) -> int:
    """Count the records after the header, and what is wrong with them.

    The header is the first line that is not blank. In a file of several columns a blank line is no record, and its
    position is that of the record after it; in a file of one column it is a record with an empty field. A broken
    record is not counted as ragged too: where its fields end is a guess.

    header
        Where the header begins and ends, its number of fields (0 when there is no header), and 1 when it is broken.
    counts
        How many there are of each kind.
    first
        Position of the first `N_SHOWN` of each kind, counted from 0 without the header; -1 where there are fewer.
    """
    n, i = len(data), 0
    while i < n and _is_blank(data, i):
        i += 1 if data[i] == _LF else 2
    if i == n:
        return 0
    end, n_columns, broken, _, lone = _record(data, i, delimiter, quote)
    header[0], header[1], header[2], header[3] = i, end, n_columns, broken or lone
    i, n_records = end, 0
    while i < n:
        blank = _is_blank(data, i)
        i, n_fields, broken, bare, lone = _record(data, i, delimiter, quote)
        is_record = n_columns == 1 or not blank
        ragged = is_record and not broken and n_fields != n_columns
        found = ragged << RAGGED | broken << BROKEN | blank << BLANK | bare << BARE_QUOTE | lone << LONE_RETURN
        for kind in range(N_KINDS if found else 0):
            if found >> kind & 1:
                if counts[kind] < N_SHOWN:
                    first[kind, counts[kind]] = n_records
                counts[kind] += 1
        n_records += is_record
    return n_records


@jit
def widths(
    data: Bytes,  # IN  the whole file
    delimiter: int,  # IN
    quote: int,  # IN
    out: Ints,  # OUT number of fields of the first records, header included; negative for a broken one
) -> int:
    """Count the fields of the first records that are not blank; gives back how many records that were."""
    i, n_written = 0, 0
    while i < len(data) and n_written < len(out):
        blank = _is_blank(data, i)
        i, n_fields, broken, _, _ = _record(data, i, delimiter, quote)
        if not blank:
            out[n_written] = -n_fields if broken else n_fields
            n_written += 1
    return n_written
