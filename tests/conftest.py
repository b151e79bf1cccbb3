"""Settings of the whole suite."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

# Before numba is imported, here and in every process that a test starts: one machine code for all workers and runs.
os.environ.setdefault("SHOAL_QUIET", "1")  # whether something is compiled depends on what ran before
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".venv" / "shoal-machine-code"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of scikit-learn that wait for each other take half of the time
os.environ["POLARS_MAX_THREADS"] = "1"  # workers share the cores already

import polars
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from support.pairwise import SAME, examples

assert polars.thread_pool_size() == 1  # the setting was read
del os.environ["POLARS_MAX_THREADS"]  # processes that tests start use all cores, as those of users do

SOURCE = Path(__file__).parents[1] / "src"
collect_ignore = ["plugin_package"]  # a package of its own, which tests install elsewhere

# Machines are busy: how long an example takes says nothing about whether it is right.
settings.register_profile(
    "shoal", max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# Where everything is required, the same examples every time; elsewhere others, which may find what these do not.
settings.register_profile("same", settings.get_profile("shoal"), derandomize=True)
settings.load_profile("same" if SAME else "shoal")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Every worker gathers all tests: no kernel is called, and compiled, on the way."""
    from numba.core.dispatcher import Dispatcher

    def refuse(kernel: Dispatcher, _: object) -> None:
        pytest.fail(f"{kernel.py_func.__qualname__} is called while tests are gathered: call it in a test")

    gc.disable()  # what is made on the way stays
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", refuse)
        try:
            return (yield)
        finally:
            gc.enable()
            gc.freeze()


class Examples:
    """Docstrings of tests hold no examples: those of src are looked through alone, and only files that have some."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self) -> Iterator[None]:
        """Leave out all other files; without loading them, which doctest would do."""
        found = yield
        return [one for one in found if not isinstance(one, DoctestModule) or self._may_have_some(one.path)]

    def _may_have_some(self, file: Path) -> bool:
        return SOURCE in file.parents and ">>>" in file.read_text(encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Have it asked about src, too: hooks that stand here are asked about tests alone."""
    config.pluginmanager.register(Examples())


@pytest.fixture(params=["few", "queries"], scope="module")
def few_or_many(request):
    """What is done with columns of few cells, and what with all others; on the same cells."""
    from shoal.table import numbering

    with pytest.MonkeyPatch.context() as patch:
        if request.param == "queries":
            patch.setattr(numbering, "FEW", -1)
        yield


@pytest.fixture
def n_threads():
    """A way to set the number of threads, undone afterwards."""
    import numba

    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)


@pytest.fixture
def three(monkeypatch):
    """Three threads for columns, however little there is to do, and tables that count as large from one row on."""
    from shoal.machine import threads
    from shoal.table import fingerprint, numbering

    monkeypatch.setattr(threads, "_cores", lambda: 3)
    monkeypatch.setattr(threads, "LEAST", 0)
    monkeypatch.setattr(numbering, "MANY", 1)
    monkeypatch.setattr(numbering, "FEW", -1)
    monkeypatch.setattr(fingerprint, "LARGE", 0)


@pytest.fixture
def share_work(monkeypatch):
    """A way to have three threads share what methods on points let cores share, undone afterwards."""

    def share():
        from shoal.cluster import points
        from shoal.kernels import sharing

        for module in (points, sharing):
            monkeypatch.setattr(module, "parts_of", lambda cells: 3)

    return share


@pytest.fixture
def call(capsys, monkeypatch):
    """Run a command in this process; exit status, output and error output."""
    from shoal.cli.app import main

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        with pytest.raises(SystemExit) as caught:
            main()
        for number, handler in before.items():
            signal.signal(number, handler)
        out, err = capsys.readouterr()
        return int(caught.value.code or 0), out, err

    return run
