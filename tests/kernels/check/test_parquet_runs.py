"""The kernels that read and write runs of Parquet, against slow twins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.check.parquet_runs import (
    CUT_SHORT,
    EMPTY_RUN,
    FINE,
    LEFT_OVER,
    TOO_LONG,
    TOO_WIDE,
    decode_runs,
    encode_runs,
    room_for_runs,
    split_texts,
)
from support.pairwise import examples
from twins.parquet_runs import slow_encode

LENGTHS = st.one_of(st.integers(1, 20), st.sampled_from([7, 8, 9, 16, 63 * 8, 64 * 8, 300, 9000]))


@st.composite
def numbers(draw: st.DrawFn) -> tuple[list[int], int]:
    width = draw(st.integers(1, 17))
    values = draw(st.lists(st.tuples(st.integers(0, 2**width - 1), LENGTHS), max_size=12))
    noise = draw(st.lists(st.integers(0, 2**width - 1), max_size=40)) * draw(st.integers(1, 30))
    return [value for value, length in values for _ in range(length)] + noise, width


def array(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


def encoded(values: list[int], width: int) -> bytes:
    out = np.zeros(room_for_runs(len(values), width), dtype=np.uint8)
    return out[: encode_runs(np.array(values, dtype=np.int64), width, out)].tobytes()


@given(numbers())
@settings(max_examples=examples(300), deadline=None)
def test_written_as_the_twin_writes_and_read_back(case: tuple[list[int], int]) -> None:
    values, width = case
    runs = encoded(values, width)
    assert runs == slow_encode(values, width)
    out = np.zeros(len(values), dtype=np.int64)
    assert decode_runs(array(runs), width, out) == FINE
    assert out.tolist() == values


@pytest.mark.parametrize("width", [1, 3, 8, 14, 17])
def test_the_most_bytes_fit(width: int) -> None:
    values = [i % 2 * (2**width - 1) for i in range(5000)]
    assert len(encoded(values, width)) <= room_for_runs(len(values), width)
    runs_of_eight = [i // 8 % 2 for i in range(5000)]
    assert len(encoded(runs_of_eight, width)) <= room_for_runs(5000, width)


@pytest.mark.parametrize(
    ("runs", "n", "result"),
    [
        (b"\x08\x01", 4, FINE),
        (b"", 0, FINE),
        (b"", 1, CUT_SHORT),
        (b"\x08", 4, CUT_SHORT),
        (b"\x88", 4, CUT_SHORT),
        (b"\x88\x80\x80\x80\x00\x01", 4, CUT_SHORT),
        (b"\x03", 4, CUT_SHORT),
        (b"\x00\x01\x08\x01", 4, EMPTY_RUN),
        (b"\x01\x08\x01", 4, EMPTY_RUN),
        (b"\x0a\x01", 4, TOO_LONG),
        (b"\x05\x0f\x00", 8, TOO_LONG),
        (b"\x05\x0f\x00", 9, FINE),
        (b"\x08\x03", 4, TOO_WIDE),
        (b"\x08\x01\x00", 4, LEFT_OVER),
        (b"\x08\x01", 0, LEFT_OVER),
    ],
)
def test_wrong_runs_are_told_apart(runs: bytes, n: int, result: int) -> None:
    assert decode_runs(array(runs), 1, np.zeros(n, dtype=np.int64)) == result


@given(st.binary(max_size=30), st.integers(0, 20), st.integers(0, 60))
@settings(max_examples=examples(500), deadline=None)
def test_any_bytes_can_be_tried(runs: bytes, width: int, n: int) -> None:
    assert decode_runs(array(runs), width, np.zeros(n, dtype=np.int64)) in range(6)


def parted(page: bytes, n: int) -> list[bytes] | None:
    offsets, texts = np.zeros(n + 1, dtype=np.int32), np.zeros(max(0, len(page) - 4 * n), dtype=np.uint8)
    if not split_texts(array(page), offsets, texts):
        return None
    return [texts[start:end].tobytes() for start, end in pairwise(offsets)]


@given(st.lists(st.binary(max_size=9), max_size=9))
@settings(max_examples=examples(100), deadline=None)
def test_texts_are_parted(texts: list[bytes]) -> None:
    page = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    assert parted(page, len(texts)) == texts
    assert parted(page + b"x", len(texts)) is None
    if texts:
        assert parted(page[:-1], len(texts)) is None
        assert parted(page, len(texts) - 1) is None


@given(st.binary(max_size=30), st.integers(0, 7))
@settings(max_examples=examples(300), deadline=None)
def test_any_page_of_texts_can_be_tried(page: bytes, n: int) -> None:
    found = parted(page, n)
    assert found is None or b"".join(len(text).to_bytes(4, "little") + text for text in found) == page
