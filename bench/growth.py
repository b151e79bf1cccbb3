"""Time and memory against the number of rows, for every method: `make growth` writes docs/performance.md.

Every run is a process of its own on one core. Times are CPU seconds of the grouping, so that other work on the machine
counts little. Sizes go on until a run would take longer than it may. `python growth.py METHOD ...` runs some methods
and writes nothing.
"""

from __future__ import annotations

import json
import math
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cases import MILLION, runs
from data import DATA, QUASI, ROOT, adult

sys.path.insert(0, str(ROOT / "tests"))
from support.rivals import environment, pycanon

HERE = Path(__file__).parent
PAGE = ROOT / "docs" / "performance.md"
RESULTS = HERE / ".growth.json"
"""What was found so far: `growth.py --resume` goes on where an earlier run was stopped."""
LIMIT = 150.0
"""CPU seconds that one run may take, as far as that can be told before; a quarter of it where no bar asks for more."""
SIZES = {"adult": (1_000, 10_000, 30_162, 100_000, 300_000, MILLION), "kdd": (1_000, 10_000, 100_000, 299_285)}
EXPONENTS = {
    **dict.fromkeys(("caat", "k-member", "mdav", "oka, lca"), 1.3),
    **dict.fromkeys(("v-mdav", "kaca", "k-means No. 3"), 1.5),
}
"""The wanted growth from 30,162 to 1,000,000 rows, at most."""
AGAINST_SCAN = {("k-member", "adult", 30_162): 8.0, ("caat", "adult", 30_162): 8.0} | {
    (name, "kdd", 299_285): 10.0 for name in ("k-member", "caat", "kaca", "oka, lca", "mdav")
}
"""The wanted ratio of a scan to the index, at least."""
TEN_MINUTES = {"dba, 1", "dba, 2", "r-cellular"}
"""Methods that are to end within ten minutes on Census-Income."""
MOST = {"scan": 900, "kdd": 900}
"""CPU seconds after which a run is ended, twice the limit when not said here: less was expected of it."""
MEMORY = 1536.0
"""MB that a million rows may take."""


@dataclass
class Results:
    """What was measured, kept in a file so that a run that was stopped can go on."""

    known: dict[str, dict[str, float]] = field(default_factory=dict)

    def measured(self, *line: object) -> dict[str, float]:
        """One run in a process of its own, or what is known of it."""
        key = " ".join(map(str, line))
        if key not in self.known:
            call = [str(part) for part in line]
            ended = subprocess.run(
                call, check=False, capture_output=True, text=True, cwd=HERE, preexec_fn=lambda: _limit(call)
            )
            if ended.returncode != -signal.SIGXCPU:
                ended.check_returncode()
            self.known[key] = json.loads(ended.stdout or '{"seconds": Infinity}')
            RESULTS.write_text(json.dumps(self.known), encoding="utf-8")
        return self.known[key]

    def method(self, name: str, table: str, rows: int, *how: str) -> dict[str, float]:
        """One method on one size of a table."""
        return self.measured(sys.executable, "growing.py", name, table, rows, *how)


def _limit(call: list[str]) -> None:
    """Let a process end once it takes much longer than the sizes before said."""
    most = max(MOST.get(word, int(2 * LIMIT)) for word in call)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 60))


Curve = dict[int, dict[str, float]]
"""What was measured, by the number of rows."""


def curve(results: Results, name: str, table: str) -> Curve:
    """Sizes upwards, as long as the next one is likely to end in time."""
    found: Curve = {}
    for rows in SIZES[table]:
        if found and _expected(found, rows) > _longest(name, table):
            break
        measured = results.method(name, table, rows)
        if measured["seconds"] == math.inf:
            break
        found[rows] = measured
        print(
            f"{name:24} {table:6} {rows:>9,} {found[rows]['seconds']:8.2f} s {found[rows]['peak_mb']:6.0f} MB",
            flush=True,
        )
    return found


def _longest(name: str, table: str) -> float:
    """How long a run may be expected to take."""
    if name in TEN_MINUTES and table == "kdd":
        return 600.0
    return LIMIT if name in TEN_MINUTES or name in EXPONENTS else LIMIT / 4


def _expected(found: Curve, rows: int) -> float:
    """Seconds that a size would take if growth went on as between the last two."""
    last = max(found)
    slope = min(max(1.0, exponent(found, sorted(found)[-2])), 1.3) if len(found) > 1 else 1.0  # a tree may come in
    return found[last]["seconds"] * (rows / last) ** slope


def exponent(found: Curve, first: int) -> float:
    """How fast time grows from a size to the largest: 1 for as fast as the rows, 2 for their square."""
    last, least = max(found), 1e-3  # a clock that stands still
    return math.log(max(found[last]["seconds"], least) / max(found[first]["seconds"], least)) / math.log(last / first)


# -- what is wanted --------------------------------------------------------------------------------------------------


Line = tuple[str, str, str, bool]
"""What was looked at, what was measured, what is wanted, and whether it is reached."""


def bars(results: Results, curves: dict[tuple[str, str], Curve]) -> Iterator[Line]:
    """Every wanted figure, beside what was measured."""
    for (name, table, rows), wanted in AGAINST_SCAN.items():
        if (name, table) in curves and rows in curves[name, table]:
            fast, slow = curves[name, table][rows]["seconds"], results.method(name, table, rows, "scan")["seconds"]
            text = f"{slow / fast:.1f}x ({slow:.1f} s and {fast:.2f} s)"
            yield f"{name}, {table}, {rows:,} rows: scan / index", text, f">= {wanted:g}x", slow / fast >= wanted
    for name, wanted in EXPONENTS.items():
        found = curves.get((name, "adult"), {})
        if 30_162 in found:
            text, last = f"{exponent(found, 30_162):.2f}", max(found)
            met = exponent(found, 30_162) <= wanted and last == MILLION
            yield f"{name}: growth from 30,162 to {last:,} rows", text, f"<= {wanted:g}", met
    for name in sorted(TEN_MINUTES):
        found = curves.get((name, "kdd"), {})
        if found:
            last = max(found)
            met = last == max(SIZES["kdd"]) and found[last]["seconds"] < 600
            yield f"{name}, kdd, {last:,} rows", f"{found[last]['seconds']:.0f} s", "all rows, < 600 s", met
    for (name, table), found in curves.items():
        if MILLION in found:
            peak = found[MILLION]["peak_mb"]
            yield f"{name}, {table}, a million rows: memory", f"{peak:.0f} MB", f"<= {MEMORY:.0f} MB", peak <= MEMORY


def rivals(results: Results) -> Iterator[tuple[str, int, float, float]]:
    """The same work by other tools: what, how many rows, their seconds, ours."""
    with tempfile.TemporaryDirectory() as folder:
        for rows in (1_000, 3_000, 10_000):
            file = Path(folder) / f"adult-{rows}.csv"
            adult().head(rows).select([*QUASI, "income"]).write_csv(file)
            ours = results.method("mondrian", "adult", rows)["whole"]
            python = environment(".rivals", "anonypy", "pandas")
            yield "Mondrian by anonypy", rows, _timed(python, "rival_anonypy.py", file, 10), ours
            python = environment(".rivals-anonypyx", "anonypyx")
            yield "Mondrian by anonypyx", rows, _timed(python, "rival_anonypyx.py", file, "Mondrian", 10), ours
            ours = results.method("mdav", "adult", rows)["whole"]
            yield "MDAV by anonypyx", rows, _timed(python, "rival_anonypyx.py", file, "MDAV-generic", 10), ours
        for rows in (10_000, 100_000, MILLION):
            python = environment(".rivals-microagg1d", "microagg1d")
            ours = results.measured(sys.executable, "cases.py", "univariate", rows)["seconds"]
            yield "optimal univariate by microagg1d", rows, _timed(python, "rival_microagg1d.py", rows, 10), ours
        file = Path(folder) / "published.csv"
        for rows in (3_000, 10_000, 30_000):
            _published(rows, file)
            ours = results.measured(sys.executable, "cases.py", "models", rows)["seconds"]
            yield "k, alpha, l, t by pyCANON", rows, _timed(pycanon(), "rival_pycanon.py", "time", file), ours


def _published(rows: int, file: Path) -> None:
    from data import published

    published(rows).write_csv(file)


def _timed(*line: object) -> float:
    """Seconds that another tool takes for its work, in its own environment."""
    ended = subprocess.run([str(part) for part in line], check=True, capture_output=True, text=True, cwd=HERE)
    return float(json.loads(ended.stdout)["seconds"])


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    keep = "--resume" in sys.argv and RESULTS.exists()
    results = Results(json.loads(RESULTS.read_text(encoding="utf-8")) if keep else {})
    names = asked or list(runs())
    curves = {(name, table): curve(results, name, table) for name in names for table in SIZES}
    lines = list(bars(results, curves))
    for what, text, wanted, met in lines:
        print(f"{'ok' if met else 'MISSED':7}{what}: {text} (wanted: {wanted})", flush=True)
    if not asked:
        from growth_page import written

        written(PAGE, curves, lines, list(rivals(results)), LIMIT)
    missed = [what for what, _, _, met in lines if not met]
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
