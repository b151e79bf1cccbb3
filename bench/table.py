"""All methods side by side, as `docs/comparison.md`: `make table`.

One process per method, one after the other, so that peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cases import runs
from data import DATA, ROOT

HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "comparison.md"
RESULTS = HERE / ".results.json"
"""What was found so far: `table.py --resume` goes on where an earlier run was stopped."""
TEN_MINUTES = 600.0
INTRODUCTION = """# All methods side by side

Written by `make table`. Every run is the whole path: grouping, publishing as generalised cells, verifying, measuring.
Times are those of a busy machine with two cores, without compiling; use them for comparison only.
Peak memory is that of the process, the interpreter and the libraries (some 190 MB) included.

## Adult

30,162 complete rows, eight quasi-identifiers (age a number, seven names with hierarchies), k = 10. IL and NCP are means
over cells; DM is the discernibility, SE the square error E over the quasi-identifiers. Lower is better everywhere.

| method | time | peak memory | IL | NCP | DM | SE | sizes |
|---|---|---|---|---|---|---|---|
"""
KDD = """
## Census-Income (KDD)

299,285 rows, eight quasi-identifiers (age a number, seven names without hierarchies, missing cells kept), k = 10. Each
method was given ten minutes.

| method | time | peak memory | NCP |
|---|---|---|---|
"""
READING = """
## How to read it

- Methods that look at hierarchies (`caat`, `kaca`, `k-member`, `oka`, `k-means`, `mondrian`) are at home here.
  Microaggregation measures squared error and takes names as equal or not: judge it by SE, and on numbers by `sse`.
- `threshold-greedy` is given a limit of diversity of 1.5 and groups below 20 rows; suppressed rows count as lost.
- `optimal-univariate` is for one column and not in the table.
- `r-gather` bounds the farthest row of a group and not the loss; `r-cellular` weighs both.
"""


def measured(case: str, name: str) -> dict[str, float] | None:
    """One run in a process of its own, None where ten minutes are not enough; one that is known is not done again."""
    key, known = f"{case}: {name}", results()
    if key in known:
        return known[key]
    line = [sys.executable, str(HERE / "cases.py"), case, name]
    try:
        done = subprocess.run(line, check=True, capture_output=True, text=True, timeout=TEN_MINUTES)
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        found = None
    RESULTS.write_text(json.dumps({**results(), key: found}, indent=2))
    return found


def results() -> dict[str, dict[str, float] | None]:
    """What was found so far."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def adult_row(name: str) -> str:
    found = measured("on_adult", name)
    if found is None:
        return f"| {name} | more than ten minutes | | | | | | |"
    return (
        f"| {name} | {found['seconds']:.1f} s | {found['peak_mb']:.0f} MB | {100 * found['il']:.2f} % |"
        f" {100 * found['ncp']:.2f} % | {found['discernibility']:,.0f} | {found['square_error']:,.0f} |"
        f" {found['class_size_min']:.0f} to {found['class_size_max']:,.0f} |"
    )


def kdd_row(name: str) -> str:
    found = measured("on_kdd", name)
    if found is None:
        return f"| {name} | more than ten minutes | | |"
    return f"| {name} | {found['seconds']:.1f} s | {found['peak_mb']:.0f} MB | {100 * found['ncp']:.2f} % |"


def rows(row: Callable[[str], str], names: list[str]) -> str:
    """The rows of a table, shown as they are found."""
    lines = []
    for name in names:
        lines.append(row(name))
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    if "--resume" not in sys.argv:
        RESULTS.unlink(missing_ok=True)
    names = list(runs())
    PAGE.write_text(INTRODUCTION + rows(adult_row, names) + KDD + rows(kdd_row, names) + READING, encoding="utf-8")


if __name__ == "__main__":
    main()
