"""Work in pieces and in parts: every step once, in order, and errors of any part come out."""

import numba
import pytest

from shoal.kernels import sharing


@pytest.mark.parametrize(("n", "cells"), [(0, 5), (7, 0), (7, 1), (10, sharing.PIECE // 3), (3, 2 * sharing.PIECE)])
def test_pieces_are_all_there_is(n, cells):
    found = list(sharing.pieces(n, cells))
    assert [step for begin, end in found for step in range(begin, end)] == list(range(n))
    assert all(end - begin == 1 or (end - begin) * cells <= sharing.PIECE for begin, end in found)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 20])
def test_parts_are_all_there_is(n_parts, monkeypatch):
    monkeypatch.setattr(sharing, "parts_of", lambda cells: n_parts)
    found = sharing.in_parts(lambda begin, end: list(range(begin, end)), 3, 13, 1)
    assert [step for part in found for step in part] == list(range(3, 13))
    assert len(found) == min(n_parts, 10)


def test_nothing_is_one_part(monkeypatch):
    monkeypatch.setattr(sharing, "parts_of", lambda cells: 3)
    assert sharing.in_parts(lambda begin, end: (begin, end), 4, 4, 1) == [(4, 4)]


def test_a_part_has_enough_to_do(n_threads):
    most = numba.config.NUMBA_NUM_THREADS
    n_threads(most)
    assert [sharing.parts_of(cells) for cells in (0, sharing.PART, 1000 * sharing.PART)] == [1, 1, min(most, 1000)]
    n_threads(1)
    assert sharing.parts_of(1000 * sharing.PART) == 1


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_in_a_part_comes_out(bad, monkeypatch):
    monkeypatch.setattr(sharing, "parts_of", lambda cells: 3)

    def run(begin, end):
        if begin == bad:
            raise ValueError("part fell over")

    with pytest.raises(ValueError, match="part fell over"):
        sharing.in_parts(run, 0, 3, 1)
