"""Settings of the whole suite."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Machines are busy: how long an example takes says nothing about whether it is right.
settings.register_profile("shoal", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("shoal")
