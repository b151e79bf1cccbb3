"""Processes that work on blocks."""

from __future__ import annotations

import subprocess
import sys

ALONE = "import os, time; from shoal.machine.processes import _begin; _begin(os.getpid()); time.sleep(600)"


def test_they_end_where_the_first_one_is_gone_before_they_begin():
    """Somebody else is above it then; it would wait for work for ever."""
    assert subprocess.run([sys.executable, "-c", ALONE], check=False, timeout=120).returncode == 1
