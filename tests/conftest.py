"""Settings of the whole suite."""

from __future__ import annotations

import os

import numba
import pytest
from hypothesis import HealthCheck, settings

# Machines are busy: how long an example takes says nothing about whether it is right.
settings.register_profile("shoal", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
# Where everything is required, the same examples every time; elsewhere others, which may find what these do not.
settings.register_profile("same", settings.get_profile("shoal"), derandomize=True)
settings.load_profile("same" if os.environ.get("SHOAL_REQUIRE_ALL") == "1" else "shoal")


@pytest.fixture
def n_threads():
    """A way to set the number of threads, undone afterwards."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@pytest.fixture
def share_work(monkeypatch):
    """A way to have three threads share what methods on points let cores share, undone afterwards."""

    def share():
        from shoal.cluster import points, sharing

        for module in (points, sharing):
            monkeypatch.setattr(module, "parts_of", lambda cells: 3)

    return share
