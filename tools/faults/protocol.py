"""The write protocol by itself, without any command: every call fails in every way, in some seconds.

    PYTHONPATH=tools python -m faults.protocol [EVERY]

Prints as JSON how many faults there were, and what was wrong. With a number, only every so many-th is tried.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from faults.shim import FAULTS, arm, load, scratch
from faults.trying import contents, forked, hidden

WAYS = ("new", "overwrite", "overwrite without exchange", "one file")


def main() -> None:
    """Try all ways, and tell."""
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    import filelock  # noqa: F401  loaded once, before the forks

    import shoal.disk.change  # noqa: F401

    load(Path(tempfile.gettempdir()), "faults.protocol")
    wrong: list[str] = []
    counts = {}
    with tempfile.TemporaryDirectory(prefix="shoal-protocol-", dir=scratch()) as folder:
        for way in WAYS:
            counts[way] = _tried(way, _made(Path(folder).resolve() / way), every, wrong)
    sys.stdout.write(json.dumps({"counts": counts, "wrong": wrong}))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _tried(way: str, folder: Path, every: int, wrong: list[str]) -> int:
    """Let every call of one way to write fail; how many faults that were."""
    template, log, n_faults = _prepared(way, folder), folder / "calls", 0
    with log.open("w") as file:
        _run(way, _copied(template, folder), (0, 0, file.fileno()))
    points = [(number, call, fault) for number, call in enumerate(log.read_text().split(), 1) for fault in FAULTS]
    for number, call, fault in points[::every]:
        place = _copied(template, folder)
        status = _run(way, place, (number, FAULTS[fault], -1))
        wrong += [f"{way}, {call} {number}, {fault}: {text}" for text in _judged(way, place, status, fault)]
        shutil.rmtree(place)
        n_faults += 1
    return n_faults


def _prepared(way: str, folder: Path) -> Path:
    place = Path(tempfile.mkdtemp(dir=folder))
    (place / "elsewhere").mkdir()
    if way != "new":
        _write(way, place, "old")
    return place


def _copied(template: Path, folder: Path) -> Path:
    shutil.rmtree(folder / "place", ignore_errors=True)
    return Path(shutil.copytree(template, folder / "place"))


def _write(way: str, place: Path, text: str) -> None:
    """Write a directory, a file beside it and one elsewhere, all with the same text in it; or one file."""
    from shoal.disk.change import changing, write_file

    if way == "one file":
        write_file(place / "out", text.encode(), "it")
        return
    with changing(place / "deep" / "out", place / "elsewhere" / "state") as change:
        made = change.directory(place / "deep" / "out", lambda: None)
        (made / "table").write_text(text)
        change.file(place / "deep" / "out.receipt", text.encode())
        change.file(place / "elsewhere" / "state", text.encode())


def _run(way: str, place: Path, fault: tuple[int, int, int]) -> int:
    """Write in a process of its own, which ends as the command line does."""

    def work() -> int:
        from shoal.disk import moving, stopping
        from shoal.errors import SourceError

        stopping.watch()
        if "without" in way:
            moving._call = lambda: None
        arm(place, *fault)
        try:
            with stopping.ends_here():
                _write(way, place, "new")
        except stopping.Stopped as stopped:
            return stopped.status
        except SourceError:
            return 2
        return 0

    return forked(work)


def _judged(way: str, place: Path, status: int, fault: str) -> list[str]:
    """What is not as the status says, or is left behind, before and after somebody comes next."""
    expected = {"SIGKILL": (-9,), "SIGTERM": (0, 143), "SIGINT": (0, 130)}.get(fault, (0, 2))
    wrong = [] if status in expected else [f"status {status}"]
    if fault != "SIGKILL" and hidden(place):
        wrong.append(f"left behind: {hidden(place)}")
    targets = [place / "deep" / "out", place / "elsewhere" / "state", place / "out"]
    if hidden(place):
        wrong += _in_child(lambda: _settled(way, targets))
    texts = set(contents(place).values())
    old, new = (_fingerprint(word) for word in ("old", "new"))
    before = {old} if way != "new" else set()
    if texts not in (before, {new}):
        wrong.append("neither old nor new")
    if status in (2, 130, 143) and texts != before:
        wrong.append("it was said that nothing was written")
    if status == 0 and texts != {new}:
        wrong.append("it was said that all was written")
    if fault != "SIGKILL":  # the disk is as before, or as after a run without a fault
        return wrong
    wrong += _in_child(lambda: _write(way, place, "next"))
    if set(contents(place).values()) != {_fingerprint("next")} or hidden(place):
        wrong.append(f"once more: {hidden(place)}")
    return wrong


def _settled(way: str, targets: list[Path]) -> None:
    from shoal.disk import moving
    from shoal.disk.recovery import settle

    if "without" in way:
        moving._call = lambda: None
    for target in targets:
        settle(target)


def _fingerprint(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


def _in_child(work: Callable[[], None]) -> list[str]:
    """Do something in a process of its own, which says nothing."""

    def quiet() -> int:
        import warnings

        warnings.simplefilter("ignore")
        work()
        return 0

    status = forked(quiet)
    return [] if status == 0 else [f"what came next ended with {status}"]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
