"""What the first call of every method costs, on an empty cache, in units of what one tiny parallel kernel costs.

Each call has a process of its own and a copy of the package without machine code. Bars: 6 units with plain k, 9 with
one requirement, 8 for `shoal demo`. Units are CPU seconds over those of the tiny kernel, measured in the same process.

    python bench/first_call.py [METHOD ...]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import shoal

PLAIN, REQUIRED, DEMO = 6.0, 9.0, 8.0
PACKAGE = Path(shoal.__file__).parent
CALL = """
import sys, time
import numba, numpy as np

@numba.njit(parallel=True)
def tiny(values):
    total = 0.0
    for i in numba.prange(len(values)):
        total += values[i]
    return total

begin = time.process_time()
tiny(np.ones(8))
unit = time.process_time() - begin
name, what = sys.argv[1:]
begin = time.process_time()
if name == "demo":
    from shoal.cli.app import app
    app(["demo", "--out", what, "--quiet"], standalone_mode=False)
else:
    import shoal
    from shoal.compiling import plain, with_schema
    require = {"plain": [], "l-diversity": [shoal.LDiversity("disease", l=2)],
               "t-closeness": [shoal.TCloseness("disease", t=0.4)]}[what]
    method = plain(name)
    frame, schema = with_schema(method, 1000)
    begin = time.process_time()
    shoal.anonymize(frame, schema, method, seed=1, require=require, suppress=0.1 if require else 0.0)
print("units", (time.process_time() - begin) / unit)
"""


def units(name: str, what: str) -> float:
    """CPU seconds of a first call over those of the tiny kernel."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PACKAGE, f"{folder}/shoal", ignore=shutil.ignore_patterns("__pycache__"))
        environment = {**os.environ, "PYTHONPATH": folder, "NUMBA_CACHE_DIR": f"{folder}/code", "SHOAL_QUIET": "1"}
        given = f"{folder}/demo" if name == "demo" else what
        line = [sys.executable, "-c", CALL, name, given]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> int:
    """Print a table, and say whether a bar is missed."""
    from shoal.registry.declared import METHODS

    grouping = [name for name, one in METHODS.items() if name != "m-invariance" and one.protects != "values"]
    names = sys.argv[1:] or ["demo", *grouping]
    missed = False
    print(f"{'method':20} {'plain':>7} {'l-div.':>7} {'t-clos.':>7}   units; bars {PLAIN:g} and {REQUIRED:g}")
    for name in names:
        if name == "demo":
            found = [units(name, "")]
            missed |= found[0] > DEMO
        else:
            more = ("l-diversity", "t-closeness") if METHODS[name].protects == "cells" else ()
            found = [units(name, what) for what in ("plain", *more)]
            missed |= found[0] > PLAIN or any(one > REQUIRED for one in found[1:])
        print(f"{name:20}" + "".join(f" {one:7.1f}" for one in found), flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
