"""The scan of CSV bytes against a slow, obvious twin."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.table import csv_scan
from shoal.kernels.table.csv_scan import BARE_QUOTE, BLANK, BROKEN, LONE_RETURN, N_KINDS, N_SHOWN, RAGGED, widths
from support.pairwise import examples

TEXTS = st.text(alphabet='ab,;"\n\r ', max_size=40)
LINES = st.lists(
    st.sampled_from(["a,b", "1,2", "", '"x,y",z', '"q""q",w', '"open', 'a"b,c', '"a"b,c', "1", "1\r"]), max_size=40
)


def records_of(text: str, delimiter: str) -> list[list[tuple[str, str, bool]]]:
    """Twin: the fields of each record (quoted part, what stands outside quotes, broken or not), by string searching."""
    records, rest = [], text
    while rest:
        fields = []
        while True:
            *field, rest = next_field(rest, delimiter)
            fields.append(tuple(field))
            if not rest.startswith(delimiter):
                break
            rest = rest[1:]
        rest = rest[2:] if rest.startswith("\r\n") else rest[1:]
        records.append(fields)
    return records


def next_field(rest: str, delimiter: str) -> tuple[str, str, bool, str]:
    quoted = ""
    if rest.startswith('"'):
        place = rest.find('"', 1)
        while place >= 0 and rest[place : place + 2] == '""':
            place = rest.find('"', place + 2)
        if place < 0:
            return rest, "", True, ""
        quoted, rest = rest[: place + 1], rest[place + 1 :]
    ends = [place for end in (delimiter, "\n", "\r\n") if (place := rest.find(end)) >= 0]
    end = min(ends, default=len(rest))
    return quoted, rest[:end], bool(quoted) and end > 0, rest[end:]


BLANK_LINE = [("", "", False)]


def slow_scan(text: str, delimiter: str) -> tuple[int, int, list[list[int]]]:
    records = records_of(text, delimiter)
    while records and records[0] == BLANK_LINE:
        records.pop(0)
    found: list[list[int]] = [[] for _ in range(N_KINDS)]
    if not records:
        return 0, 0, found
    n_columns, position = len(records[0]), 0
    for fields in records[1:]:
        broken = any(field[2] for field in fields)
        if fields == BLANK_LINE:
            found[BLANK].append(position)
            if n_columns > 1:
                continue
        if broken:
            found[BROKEN].append(position)
        elif len(fields) != n_columns:
            found[RAGGED].append(position)
        if any('"' in tail for _, tail, _ in fields):
            found[BARE_QUOTE].append(position)
        if any("\r" in tail for _, tail, _ in fields):
            found[LONE_RETURN].append(position)
        position += 1
    return position, n_columns, found


def array(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def scan(data: np.ndarray, delimiter: int, quote: int) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """What the kernel counts, and what it writes into its arrays."""
    header, counts = np.zeros(4, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    first = np.full((N_KINDS, N_SHOWN), -1, dtype=np.int64)
    return csv_scan.scan(data, delimiter, quote, header, counts, first), header, counts, first


def check_against_twin(text: str, delimiter: str) -> None:
    n_records, header, counts, first = scan(array(text), ord(delimiter), ord('"'))
    expected, n_columns, found = slow_scan(text, delimiter)
    assert (n_records, header[2]) == (expected, n_columns)
    assert counts.tolist() == [len(positions) for positions in found]
    for kind in range(N_KINDS):
        assert first[kind].tolist() == (found[kind] + [-1] * N_SHOWN)[:N_SHOWN]


@given(TEXTS, st.sampled_from(",;"))
@settings(max_examples=examples(600), deadline=None)
def test_agrees_with_the_twin_on_random_bytes(text: str, delimiter: str) -> None:
    check_against_twin(text, delimiter)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_agrees_with_the_twin_on_many_lines(lines: list[str], end: str, last: bool) -> None:
    check_against_twin(end.join(lines) + end * last, ",")


@given(st.lists(st.lists(st.text(alphabet='ab,"\n\r ', max_size=5), min_size=2, max_size=2), min_size=1, max_size=8))
@settings(max_examples=examples(200), deadline=None)
def test_what_the_csv_module_writes_is_well_formed(rows: list[list[str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    n_records, header, counts, _ = scan(array(out.getvalue()), ord(","), ord('"'))
    assert (n_records, header[2], counts.tolist()) == (len(rows) - 1, 2, [0] * N_KINDS)


@pytest.mark.parametrize(
    ("text", "kind", "positions"),
    [
        ("a,b\n1,2\n3\n4,5,6\n", RAGGED, [1, 2]),
        ('a,b\n"1"x,2\n3,4\n', BROKEN, [0]),
        ('a,b\n1,2\n3,"4\n5,6\n', BROKEN, [1]),
        ("a,b\n1,2\n\n3,4\r\n\r\n", BLANK, [1, 2]),
        ("a\n1\n\n3\n", BLANK, [1]),
        ('a,b\n1,5" x\n', BARE_QUOTE, [0]),
        ('a\n"";""\n', BARE_QUOTE, [0]),
        ("a,b\n1,2\r3,4\n", LONE_RETURN, [0]),
    ],
)
def test_finds_each_kind(text: str, kind: int, positions: list[int]) -> None:
    _, _, counts, first = scan(array(text), ord(","), ord('"'))
    assert counts[kind] == len(positions)
    assert first[kind][: len(positions)].tolist() == positions


def test_counts_on_after_the_first_ten() -> None:
    n_records, _, counts, first = scan(array("a,b\n" + "1\n" * 25), ord(","), ord('"'))
    assert (n_records, counts[RAGGED]) == (25, 25)
    assert first[RAGGED].tolist() == list(range(10))


def test_header_place_and_state() -> None:
    assert scan(array("\n\r\na,b\n1,2"), ord(","), ord('"'))[1].tolist() == [3, 7, 2, 0]
    assert scan(array('a,"b'), ord(","), ord('"'))[1].tolist() == [0, 4, 2, 1]
    assert scan(array("\n\n"), ord(","), ord('"'))[1].tolist() == [0, 0, 0, 0]


def test_widths_of_the_first_records() -> None:
    out = np.zeros(3, dtype=np.int64)
    assert widths(array('\na,b\n"1"x,2\n\n1,2,3\n4\n'), ord(","), ord('"'), out) == 3
    assert out.tolist() == [2, -2, 3]
    assert widths(array("a"), ord(","), ord('"'), out) == 1
