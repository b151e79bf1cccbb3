"""What is asked of pytest: which lines each test runs, and to run a few tests in a given order.

Loaded with `-p mutants.plugin`; one variable of the environment says which of the two is wanted.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

RECORD, PICK, EXAMPLES = "MUTANTS_RECORD", "MUTANTS_PICK", "MUTANTS_EXAMPLES"
"""File to write what was recorded to; file with the tests to run, in order; most examples of a property."""


def pytest_configure(config: pytest.Config) -> None:
    """The same examples every time, and no search for a smaller one: that a test fails is all that counts."""
    limits = {"max_examples": int(os.environ[EXAMPLES])} if EXAMPLES in os.environ else {}
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", settings(), phases=phases, derandomize=True, database=None, **limits)
    settings.load_profile("mutants")
    if RECORD in os.environ:
        config.pluginmanager.register(Recorder(config.rootpath))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep those tests that were picked, in their order."""
    if PICK in os.environ:
        place = {name: at for at, name in enumerate(json.loads(Path(os.environ[PICK]).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


class Recorder:
    """Notes for each test how long it takes, whether it passes, and the lines of the mutated rooms it runs.

    What a fixture runs that several tests share counts for every test of that file.
    """

    def __init__(self, root: Path) -> None:
        import coverage

        self.root = root
        self.seconds: dict[str, float] = defaultdict(float)
        self.not_passed: set[str] = set()
        rooms = [str(root / "src" / "shoal" / room / "*") for room in ("check", "privacy", "enforce")]
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=rooms)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Lines that run from here on are run by this test."""
        self.coverage.switch_context(item.nodeid)
        yield
        self.coverage.switch_context("")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[Any]:
        """Lines of a shared fixture are run by all tests of the file."""
        if fixturedef.scope == "function":
            return (yield)
        self.coverage.switch_context(request.node.nodeid.split("::")[0])
        made = yield
        self.coverage.switch_context(request._pyfuncitem.nodeid if hasattr(request, "_pyfuncitem") else "")
        return made

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up how long it takes."""
        self.seconds[report.nodeid] += report.duration
        if not report.passed:
            self.not_passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was found."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            lines[str(Path(file).relative_to(self.root))] = data.contexts_by_lineno(file)
        found = {"seconds": self.seconds, "not_passed": sorted(self.not_passed), "lines": lines}
        Path(os.environ[RECORD]).write_text(json.dumps(found))
