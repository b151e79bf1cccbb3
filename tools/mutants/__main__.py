"""Changes the checker, the privacy models and the enforcement in small ways, and asks the tests whether they notice.

`make mutants` calls it. Cosmic Ray thinks up the changes. Each is made in a copy of the tree, and those tests run that
reach the changed lines. A change that no test notices has survived. `tests/mutants.md` lists the survivors, each with
the reason why it does no harm; the page is written anew, and reasons are kept. The exit status is 1 if fewer than nine
in ten are killed, or if a survivor has no reason.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from mutants.drawn import ROOMS, ROOT, Mutant, mutants, sample
from mutants.page import NO_REASON, PAGE, entry, page, reasons, report
from mutants.reach import Reach
from mutants.trying import Trial, copy_tree, record, say, worker_copies

BAR = 0.9


def main() -> int:
    """Make mutants, try them, and say which survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=200, help="how many mutants to draw (default 200)")
    parser.add_argument("--all", action="store_true", help="every mutant; takes days")
    parser.add_argument("--file", action="append", help="mutants of this file only; may be given again")
    parser.add_argument("--resume", action="store_true", help="do not try again what was killed before or has a reason")
    parser.add_argument("--thorough", type=float, default=240, help="seconds of tests a survivor is tried with at last")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--scratch", type=Path, default=ROOT / ".venv" / "mutants", help="where copies are made")
    given = parser.parse_args()
    found = list(mutants(given.file or files_of_rooms()))
    chosen = found if given.all else sample(found, given.n)
    known = reasons()
    explained = {one for one, reason in known.items() if reason != NO_REASON}
    settled = [mutant for mutant in chosen if entry(mutant) in explained] if given.resume else None
    killers = tried(chosen, settled, given)
    report(killers)
    survivors = [mutant for mutant, killed in killers.items() if not killed]
    unexplained = [mutant for mutant in survivors if entry(mutant) not in explained]
    for mutant in unexplained:
        say(f"no reason yet: {mutant.file}:{mutant.start[0]} {' -> '.join(mutant.change)}")
    if not (given.all or given.file):
        PAGE.write_text(page(killers, known, len(found)), encoding="utf-8")
    return int(bool(unexplained) or len(survivors) > (1 - BAR) * len(killers))


def files_of_rooms() -> list[str]:
    """All files that are changed."""
    files = [file for room in ROOMS for file in sorted((ROOT / "src" / "shoal" / room).rglob("*.py"))]
    return [str(file.relative_to(ROOT)) for file in files]


def tried(chosen: list[Mutant], settled: list[Mutant] | None, given: argparse.Namespace) -> dict[Mutant, str]:
    """What killed each mutant; nothing if it survived."""
    scratch: Path = given.scratch.resolve()
    tree = scratch / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(tree)
    reach = Reach.read(record(tree, scratch, given.workers))
    trial = Trial(scratch, reach, worker_copies(tree, scratch, given.workers), given.thorough)
    killers = trial.killers(chosen, given.workers, settled)
    untrue = trial.false_alarms(killers.values())
    for name in untrue:
        say(f"fails without a mutant too, and is not counted: {name}")
    return {mutant: "" if killed in untrue else killed for mutant, killed in killers.items()}


if __name__ == "__main__":
    sys.exit(main())
