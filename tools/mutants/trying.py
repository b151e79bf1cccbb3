"""Runs tests in copies of the tree."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Container, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from mutants.drawn import ROOMS, ROOT, Mutant, source
from mutants.reach import Reach

TESTS = (
    *(f"src/shoal/{room}" for room in ROOMS),
    *(f"tests/{room}/test_*.py" for room in (*ROOMS, "series")),
    *(f"tests/attacks/test_{name}.py" for name in ("figures", "forged", "numbering", "smuggling", "tampering")),
    *(f"tests/measure/test_{name}.py" for name in ("breaches", "membership", "pairs")),
    "tests/kernels/enforce/test_violation.py", "tests/table/test_spelling.py", "tests/test_people.py",
)  # fmt: skip
"""Tests that may notice something. Those of methods and the contract go the same ways, but take far longer."""
NOTHING_RAN = 5  # what pytest says then
QUICK = 25.0
"""Seconds of tests that are tried at first."""


def environment(tree: Path, scratch: Path, **more: str) -> dict[str, str]:
    """Python takes Shoal from a copy, and machine code from a place that all copies share."""
    given = {
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT / "tools")]),
        "NUMBA_CACHE_DIR": str(scratch / "machine-code"),
        "SHOAL_QUIET": "1",
    }
    return os.environ | given | more


def pytest(tree: Path, env: dict[str, str], *arguments: str, timeout: float) -> tuple[int | None, str]:
    """Exit status and output of pytest in a copy; no status if it took too long."""
    command = [sys.executable, "-m", "pytest", "-p", "mutants.plugin", "--tb=no", *arguments]
    running = subprocess.Popen(  # noqa: S603
        command, cwd=tree, env=env, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        out, _ = running.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return None, ""
    return running.returncode, out


def copy_tree(target: Path) -> None:
    """All files that git knows or would know, untouched where they are the same."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True  # noqa: S607
    ).stdout.splitlines()  # fmt: skip
    wanted = {name for name in listed if (ROOT / name).is_file()}
    for name in wanted:
        content, copied = (ROOT / name).read_bytes(), target / name
        if not copied.exists() or copied.read_bytes() != content:
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(content)
    for found in [*target.rglob("*.py"), *target.rglob("*.md")]:
        if str(found.relative_to(target)) not in wanted:
            found.unlink()


def record(tree: Path, scratch: Path, workers: int) -> list[Path]:
    """Run each test file once, on code that nobody changed; what was recorded before is kept while it is true."""
    rooms = hashlib.sha256()
    for room in ROOMS:
        for file in sorted((tree / "src" / "shoal" / room).rglob("*.py")):
            rooms.update(file.read_bytes())

    def one(file: Path) -> Path | None:
        name = str(file.relative_to(tree))
        content = file.read_bytes() if file.is_file() else b""
        digest = hashlib.sha256(rooms.digest() + content).hexdigest()[:12]
        target = scratch / "lines" / f"{name.replace('/', '.')}-{digest}.json"
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            _, out = pytest(tree, environment(tree, scratch, MUTANTS_RECORD=str(target)), name, timeout=1800)
            say(f"{name}: {(out.strip() or 'takes too long').splitlines()[-1]}")
        return target if target.exists() else None

    files = [file for pattern in TESTS for file in sorted(tree.glob(pattern))]
    with ThreadPoolExecutor(workers) as pool:
        return [found for found in pool.map(one, files) if found is not None]


def worker_copies(tree: Path, scratch: Path, workers: int) -> SimpleQueue[Path]:
    """A copy for each worker; what was compiled for the first lies beside the kernels of the others."""
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(workers):
        copy = scratch / f"worker-{number}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tree, copy)
        for compiled in (scratch / "machine-code").glob("shoal-*/*"):
            beside = copy / "src" / "shoal" / "kernels" / "__pycache__" / "machine-code" / compiled.name
            shutil.copytree(compiled, beside, dirs_exist_ok=True)
        copies.put(copy)
    return copies


@dataclass(frozen=True)
class Trial:
    """Tries mutants, each in a copy that no other uses meanwhile."""

    scratch: Path
    reach: Reach
    copies: SimpleQueue[Path]
    thorough: float
    """Seconds of tests that a survivor is tried with once more."""

    def killers(self, chosen: list[Mutant], workers: int, settled: Container[Mutant] | None) -> dict[Mutant, str]:
        """What killed each mutant; nothing if it survived.

        Where survivors are given that are `settled`, they are not tried again, nor is what was killed before.
        """
        file = self.scratch / "killed.json"
        before: dict[str, str] = json.loads(file.read_text()) if settled is not None and file.exists() else {}
        before |= {mutant.digest: "" for mutant in chosen if settled is not None and mutant in settled}
        found: dict[Mutant, str] = {}
        with ThreadPoolExecutor(workers) as pool:
            known = dict(before)
            fates = pool.map(lambda one: known[one.digest] if one.digest in known else self.killer(one), chosen)
            for mutant, killed in zip(chosen, fates, strict=True):
                found[mutant] = killed
                fate = f"killed by {killed}" if killed else "SURVIVED"
                say(f"{len(found)}/{len(chosen)} {mutant.file}:{mutant.start[0]} {' -> '.join(mutant.change)}: {fate}")
                before[mutant.digest] = killed
                file.write_text(json.dumps({digest: killed for digest, killed in before.items() if killed}))
        return found

    def killer(self, mutant: Mutant) -> str:
        """The test that notices a mutant: quick ones first, then many that reach it, with as many examples as ever."""
        tests = self.reach.tests(mutant)
        if not tests:
            return ""
        copy = self.copies.get()
        changed = copy / mutant.file
        try:
            changed.write_text(mutant.code, encoding="utf-8")
            killed = self.run(copy, self.reach.ordered(mutant, tests, QUICK, near=True), MUTANTS_EXAMPLES="10")
            return killed or self.run(copy, self.reach.ordered(mutant, tests, self.thorough, near=False))
        finally:
            changed.write_text(source(mutant.file), encoding="utf-8")
            self.copies.put(copy)

    def run(self, copy: Path, tests: list[str], **env: str) -> str:
        """The first of some tests that fails, or nothing; a run that does not end counts as one that fails."""
        pick = copy / "picked.json"
        pick.write_text(json.dumps(tests))
        files = list(dict.fromkeys(name.split("::")[0] for name in tests))
        limit = 40 + 4 * sum(self.reach.seconds[name] for name in tests)
        given = environment(copy, self.scratch, MUTANTS_PICK=str(pick), PYTHONDONTWRITEBYTECODE="1", **env)
        status, out = pytest(copy, given, "-x", "-rfE", *files, timeout=limit)
        if status == NOTHING_RAN:
            raise RuntimeError(f"pytest ran none of {tests}")
        if status == 0:
            return ""
        found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", out, re.MULTILINE)
        return found[1] if found else "no end" if status is None else "failing to run"

    def false_alarms(self, killers: Iterable[str]) -> set[str]:
        """Tests that killed something, but fail in an unchanged copy too when others ran before."""
        tests = sorted({name for name in killers if name in self.reach.seconds})
        copy, failing = self.copies.get(), set()
        while tests and (name := self.run(copy, tests, MUTANTS_EXAMPLES="10")):
            failing.add(name)
            tests = tests[tests.index(name) + 1 :] if name in tests else []
        self.copies.put(copy)
        return failing


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)  # noqa: T201
