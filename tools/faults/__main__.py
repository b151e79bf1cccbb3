"""Let every system call of every command that writes fail, and print what came of it; status 1 if anything was wrong.

PYTHONPATH=tools python -m faults [--only NAME]... [--every N] [--jobs N]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from faults.scenes import SCENES
from faults.shim import FAULTS, compiler, load, scratch
from faults.trying import Outcome, Point, Stage


def main() -> int:
    """Count the calls, let each of them fail in every way, and tell."""
    asked = _asked()
    if compiler() is None:
        sys.stderr.write("the faults need Linux and a compiler for C: make system\n")
        return 2
    load(Path(tempfile.gettempdir()), "faults")
    with tempfile.TemporaryDirectory(prefix="shoal-faults-", dir=scratch()) as folder:
        _load_all()
        points, stages = _points(asked, Path(folder))
        outcomes = _shared(points, stages, Path(folder), asked.jobs)
    _tell(outcomes)
    return 1 if any(one.wrong for one in outcomes) else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--only", action="append", help="a command, by its name in the table; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="only every n-th fault")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def _load_all() -> None:
    """Load what commands need, and use none of it: threads do not survive a fork."""
    os.environ.update({"SHOAL_PASSPHRASE": "several unrelated words", "SHOAL_QUIET": "1", "COLUMNS": "200"})
    import numba

    import shoal.cli.app
    import shoal.comparison.compare
    import shoal.pipeline
    import shoal.report.page
    import shoal.series
    import shoal.vault.making  # noqa: F401
    from shoal.concerns import other_method
    from shoal.release import sealed

    sealed.COST = (4, 8, 1)  # keys that are found at once: how long that takes is not what is tried
    other_method.others_of = lambda *_: []  # nor is another method
    numba.njit(lambda x: x)(1)  # makes ready what every kernel needs


def _points(asked: argparse.Namespace, folder: Path) -> tuple[list[Point], dict[str, Stage]]:
    points, stages = [], {}
    for number, scene in enumerate(SCENES):
        if asked.only and scene.name not in asked.only:
            continue
        stages[scene.name] = stage = Stage(scene, folder / str(number))
        calls = list(enumerate(stage.calls, 1))
        points += [Point(scene, at, call, fault) for at, call in calls for fault in FAULTS]
        sys.stderr.write(f"{scene.name}: {len(calls)} calls\n")
    return points[:: asked.every], stages


def _shared(points: list[Point], stages: dict[str, Stage], folder: Path, jobs: int) -> list[Outcome]:
    """Try all points, shared between processes."""
    children = []
    for job in range(jobs):
        child = os.fork()
        if child == 0:
            with (folder / f"outcomes-{job}").open("w") as file:
                for point in points[job::jobs]:
                    found = stages[point.scene.name].tried(point)
                    file.write(json.dumps(asdict(found)) + "\n")
                    file.flush()
                    if found.wrong:
                        sys.stderr.write(f"WRONG {found}\n")
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    lines = [line for job in range(jobs) for line in (folder / f"outcomes-{job}").read_text().splitlines()]
    return [Outcome(**json.loads(line)) for line in lines]


def _tell(outcomes: list[Outcome]) -> None:
    """Print how many faults there were, by command and call, and what each kind of fault left."""
    counts = Counter((one.scene, one.call) for one in outcomes)
    calls = sorted({one.call for one in outcomes})
    rows = [["command", *calls, "all", *FAULTS, "old", "new", "wrong"]]
    for scene in [scene.name for scene in SCENES if any(one.scene == scene.name for one in outcomes)]:
        own = [one for one in outcomes if one.scene == scene]
        faults = [sum(one.fault == fault for one in own) for fault in FAULTS]
        ends = [sum(one.state == state for one in own) for state in ("old", "new")]
        numbers = [
            *(counts[scene, call] for call in calls),
            len(own),
            *faults,
            *ends,
            sum(bool(one.wrong) for one in own),
        ]
        rows.append([scene, *map(str, numbers)])
    totals = [sum(int(row[at]) for row in rows[1:]) for at in range(1, len(rows[0]))]
    rows.append(["all", *map(str, totals)])
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        first, *rest = (cell.ljust(width) if at == 0 else cell.rjust(width)
                        for at, (cell, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        sys.stdout.write("  ".join([first, *rest]) + "\n")


sys.exit(main())
