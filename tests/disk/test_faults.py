"""Every system call of the protocol, failing once: a slice of `make faults`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parent.parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

from faults.shim import compiler  # noqa: E402

STEP = 11
"""So many faults further is the next: with six kinds of faults, all of them come in turn."""


@pytest.mark.skipif(compiler() is None, reason="needs Linux and a compiler for C: make system")
def test_old_or_new_whatever_fails_and_the_status_says_which():
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOOLS), *filter(None, sys.path)])}
    line = [sys.executable, "-m", "faults.protocol", str(STEP)]
    told = json.loads(subprocess.run(line, env=settings, capture_output=True, text=True, check=True).stdout)
    assert told["wrong"] == []
    assert set(told["counts"]) == {"new", "overwrite", "overwrite without exchange", "one file"}
    assert sum(told["counts"].values()) > 100
