"""One fault after the other, each in a process of its own that is forked from one with everything loaded."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.scenes import Scene, prepare
from faults.shim import FAULTS, arm

LONGEST = 120.0
"""Seconds that a process may take."""
HIDDEN = ".shoal-"


@dataclass(frozen=True)
class Point:
    """One call of one command, and the fault that comes with it."""

    scene: Scene
    number: int
    call: str
    fault: str


@dataclass(frozen=True)
class Outcome:
    """What became of a fault; `wrong` says what should not have been."""

    scene: str
    call: str
    fault: str
    number: int
    status: int
    state: str
    wrong: str


class Stage:
    """A folder for one scene: its files before it, and what a run without a fault changes."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene, self.folder = scene, folder
        self.template = folder / "template"
        self.template.mkdir(parents=True)
        prepare(self.template)
        for arguments in scene.before:
            done = self._run(self.template, arguments)
            if done != 0:
                raise RuntimeError(f"{scene.name}: {arguments} ends with {done}: {self._said()}")
        self.before = contents(self.template)
        self.n_before = self._asked(self.template, "n") if scene.counts else 0
        self.calls = self._counted()

    def _counted(self) -> list[str]:
        """The calls of a run without a fault, and what it changes."""
        place, log = self._fresh("whole"), self.folder / "calls"
        with log.open("w") as file:
            done = self._run(place, self.scene.arguments, (0, 0, file.fileno()))
        if done != 0:
            raise RuntimeError(f"{self.scene.name} ends with {done}: {self._said()}")
        after = contents(place)
        wrong = self._again(place, "new")
        if wrong:
            raise RuntimeError(f"{self.scene.name}: {wrong}")
        for name in (self.folder / "modules").read_text().split():
            with suppress(Exception):  # so that no process has to load it again
                importlib.import_module(name)
        self.changed = {name for name in self.before | after if self.before.get(name) != after.get(name)}
        shutil.rmtree(place)
        return log.read_text().split()

    def _fresh(self, name: str) -> Path:
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        return Path(shutil.copytree(self.template, place, symlinks=True))

    def tried(self, point: Point) -> Outcome:
        """Let one call fail, look at what is on the disk, put it in order, and run the command again."""
        place = self._fresh(f"fault-{os.getpid()}")
        status = self._run(place, self.scene.arguments, (point.number, FAULTS[point.fault], -1))
        said = self._said()
        left = hidden(place)
        found = {"state": "old"} if listed(place) == listed(self.template) else self._asked(place, "judge")
        state = found["state"] if isinstance(found, dict) else "?"
        wrong = _untrue(point, status, said, state)
        wrong += [] if isinstance(found, dict) else [str(found)]
        if left and point.fault != "SIGKILL":
            wrong.append(f"left behind: {left[:3]}")
        # Else the disk is as it was before the fault, or as after a run without one: both were tried.
        if not wrong and point.fault == "SIGKILL" and listed(place) != listed(self.template):
            wrong += self._again(place, state)
        shutil.rmtree(place)
        return Outcome(self.scene.name, point.call, point.fault, point.number, status, state, "; ".join(wrong))

    def _again(self, place: Path, state: str) -> list[str]:
        """Run the command once more; it must do its work, and leave nothing else."""
        if state == "new" and self.scene.again is None:
            return []
        arguments = self.scene.arguments if state == "old" else (*self.scene.arguments, *(self.scene.again or ()))
        status = self._run(place, arguments)
        said = self._said()
        found = [] if status == 0 else [f"once more: {status}: {said[-200:]}"]
        if not found and (left := hidden(place)):
            found.append(f"left behind after once more: {left[:3]}")
        return found

    def _run(self, place: Path, arguments: tuple[str, ...], fault: tuple[int, int, int] | None = None) -> int:
        """Run a command in a process of its own; its status, minus the signal that ended it."""

        def work() -> int:
            from shoal.cli import main

            _redirect(self.folder, os.getppid())
            os.chdir(place)
            sys.argv = ["shoal", *arguments]
            if fault is not None:
                arm(place, *fault)
            try:
                main()
            except SystemExit as end:
                if fault is None or fault[0] == 0:
                    (self.folder / "modules").write_text("\n".join(sys.modules))
                return int(end.code or 0)

        return forked(work)

    def _said(self) -> str:
        """What the process that ran last said of its troubles."""
        return (self.folder / f"said-{os.getpid()}").read_text()

    def _asked(self, place: Path, what: str) -> Any:
        """Ask a process of its own, which may use what must not be used before a fork."""
        answer = self.folder / f"answer-{os.getpid()}"

        def work() -> int:
            _redirect(self.folder, os.getppid())
            os.chdir(place)
            answer.write_text(json.dumps(self._judged(place) if what == "judge" else self.scene.counts(place)))
            return 0

        if forked(work) != 0:
            return "not whole: " + self._said()[-300:]
        return json.loads(answer.read_text())

    def _judged(self, place: Path) -> dict[str, str]:
        """Put the places in order as whoever reads them does, and say whether all is old, or all is new."""
        from shoal.disk.recovery import settle

        for name in self.scene.places:
            settle(place / name)
        if self.scene.counts is not None:
            self.scene.whole(place)
            return {"state": "new" if self.scene.counts(place) > self.n_before else "old"}
        now = contents(place)
        moved = {name for name in self.changed if now.get(name) != self.before.get(name)}
        other = {name for name in now | self.before if now.get(name) != self.before.get(name)} - self.changed
        if other or moved not in (set(), self.changed):
            return {"state": f"mixed: {sorted(moved)[:4]} {sorted(other)[:4]}"}
        if moved:
            self.scene.whole(place)
        return {"state": "new" if moved else "old"}


def _untrue(point: Point, status: int, said: str, state: str) -> list[str]:
    """What was said, or meant by the status, and is not so."""
    wrong = [] if state in ("old", "new") else [state]
    if point.fault == "SIGKILL":
        expected = (-9,)
    elif point.fault.startswith("SIG"):
        expected = (0, 128 - FAULTS[point.fault])
    else:
        expected = (0, 2)
    if status not in expected:
        wrong.append(f"status {status}: {said[-300:]}")
    if status == 0 and state != "new":
        wrong.append("status 0, and nothing is there")
    # A database whose flush fails says so, and may have it all the same when it is opened again.
    open_question = point.scene.counts is not None and point.call == "fsync" and status == 2
    if status in (2, 130, 143) and state != "old" and not open_question:
        wrong.append(f"status {status}, and all is there: {said[-200:]}")
    kept = point.scene.early and said.startswith("stopped; what was written before is whole: ")
    if status in (130, 143) and said != "stopped; nothing was written\n" and not kept:
        wrong.append(f"said: {said[-200:]}")
    if "InternalError" in said or "Traceback" in said:
        wrong.append(f"said: {said[-300:]}")
    return wrong


def contents(folder: Path) -> dict[str, str]:
    """A hash of every file that is not hidden; a database has files of its own beside it, a comparison figures."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        apart = name.endswith(("-wal", "-shm", "-journal", ".seen")) or "figures/figures/" in name
        if path.is_file() and HIDDEN not in name and not apart:
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def listed(folder: Path) -> dict[str, str]:
    """All that is under a folder, hidden or not: nothing else is the same disk."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def hidden(folder: Path) -> list[str]:
    """What of ours is left under a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if HIDDEN in path.name)


def _redirect(folder: Path, parent: int) -> None:
    """Let a process say what it says into files."""
    for number, name in ((1, "out"), (2, "said")):
        os.dup2(os.open(folder / f"{name}-{parent}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)


def forked(work: Any) -> int:
    """Do something in a process of its own; its status, minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = work() or 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 98
