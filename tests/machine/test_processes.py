"""Processes that work beside the first one."""

from __future__ import annotations

import subprocess
import sys

from shoal.machine.processes import processes

ALONE = "import os, time; from shoal.machine.processes import _begin; _begin(os.getpid(), 1); time.sleep(600)"


def test_they_end_where_the_first_one_is_gone_before_they_begin():
    """Somebody else is above it then; it would wait for work for ever."""
    assert subprocess.run([sys.executable, "-c", ALONE], check=False, timeout=120).returncode == 1


def ran(folder, script):
    (folder / "script.py").write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, folder / "script.py"], check=True, timeout=120, capture_output=True, text=True
    )


UNGUARDED = """
print("the script runs")
from shoal.machine.processes import processes

with processes(2) as workers:
    print(workers.each(divmod, [(7, 2), (9, 4)]))
"""


def test_they_do_not_run_the_script_of_the_first_one(tmp_path):
    """Without `if __name__ == "__main__"` every process would do the work of the script, and then fail."""
    done = ran(tmp_path, UNGUARDED)
    assert done.stdout.splitlines() == ["the script runs", "[(3, 1), (2, 1)]"]
    assert not done.stderr


OWN = """
from shoal.machine.processes import processes


class Own:
    registry = "something that is registered"

    def of(self):
        return type(self).__name__


if __name__ == "__main__":
    with processes(2) as workers:
        print(workers.each(Own.of, [(Own(),), (Own(),)]))
    print(__file__, __spec__)
"""


def test_they_know_what_a_script_registers(tmp_path):
    done = ran(tmp_path, OWN)
    assert done.stdout.splitlines()[0] == "['Own', 'Own']"


def test_a_script_is_as_it_was_afterwards():
    script = sys.modules["__main__"]
    before = getattr(script, "__file__", None), script.__spec__
    with processes(2) as workers:
        assert workers.each(divmod, [(7, 2)]) == [(3, 1)]
    assert (getattr(script, "__file__", None), script.__spec__) == before


CORES = """
import os
from shoal.machine.processes import processes

with processes(2, cores=3) as workers:
    print(workers.each(os.getenv, [("NUMBA_NUM_THREADS",), ("POLARS_MAX_THREADS",)]))
with processes(2) as workers:
    print(workers.each(os.getenv, [("NUMBA_NUM_THREADS",), ("POLARS_MAX_THREADS",)]))
"""


def test_they_use_as_many_cores_as_they_may(tmp_path):
    assert ran(tmp_path, CORES).stdout.splitlines() == ["['3', '3']", "['1', '1']"]
