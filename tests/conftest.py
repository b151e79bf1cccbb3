"""Settings of the whole suite."""

from __future__ import annotations

import numba
import pytest
from hypothesis import HealthCheck, settings

# Machines are busy: how long an example takes says nothing about whether it is right.
settings.register_profile("shoal", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("shoal")


@pytest.fixture
def n_threads():
    """A way to set the number of threads, undone afterwards."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)
