"""The clock that does not count compiling."""

from __future__ import annotations

import time

import numba
import pytest

from shoal.kernels import compile_time
from shoal.kernels.compile_time import clock


def test_it_stands_still_while_a_kernel_is_compiled():
    begun, real = clock(), time.perf_counter()
    numba.njit(lambda x: x + 1)(1)
    assert clock() - begun < (time.perf_counter() - real) / 2


def test_it_goes_on_otherwise():
    real, begun = time.perf_counter(), clock()
    time.sleep(0.02)
    assert 0.02 <= clock() - begun <= time.perf_counter() - real


def test_compiling_within_compiling_counts_once(monkeypatch):
    """Kernels compile those they call, and threads wait for each other: 2 of 7 seconds are left."""
    now = iter([0.0, 1.0, 4.0, 6.0, 7.0])
    monkeypatch.setattr(compile_time.time, "perf_counter", lambda: next(now))
    listener = compile_time._Compiling()
    assert listener.without() == 0.0
    listener.on_start(None)
    listener.on_start(None)
    listener.on_end(None)
    assert listener.without() == 1.0, "it stands still"
    listener.on_end(None)
    assert listener.without() == pytest.approx(2.0)
