"""Speed and memory as ratios within one run: `make bench`. Absolute times depend on the machine and mean little."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cases import DATA, MILLION, QUASI, adult

HERE = Path(__file__).parent
RIVALS = HERE / ".rivals"


def measured(*arguments: object) -> dict[str, float]:
    """Run one case in a process of its own."""
    line = [sys.executable, str(HERE / "cases.py"), *map(str, arguments)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def rival(k: int) -> dict[str, float]:
    """anonypy on the same columns, in its own environment, made on the first run."""
    python = RIVALS / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", RIVALS], check=True)
    if subprocess.run([python, "-c", "import anonypy, pandas"], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", "anonypy", "pandas"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        adult().select([*QUASI, "income"]).write_csv(file)
        line = [python, HERE / "rival_anonypy.py", file, str(k)]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    shown = Table(title="Adult, 30,162 complete rows, 8 quasi-identifiers, k = 10", title_justify="left")
    for column in ("what", "measured", "wanted", ""):
        shown.add_column(column)

    missed = []

    def row(what: str, text: str, wanted: str, met: bool) -> None:
        missed.extend([] if met else [what])
        shown.add_row(what, text, wanted, "ok" if met else "MISSED")
        print(f"{'ok' if met else 'MISSED':7}{what}: {text} (wanted: {wanted})", flush=True)

    ours = measured("caat")
    small, large = measured("caat_twin", 1_000), measured("caat_twin", 2_000)
    growth = large["seconds"] / small["seconds"]
    # Quadratic: the twin compares every row with every other. The larger run is the base of the extrapolation.
    slow = large["seconds"] * (30_162 / 2_000) ** 2
    text = f"{ours['seconds']:.2f} s against {slow:,.0f} s extrapolated (x{growth:.1f} from 1,000 to 2,000 rows)"
    row(
        "CAAT against its slow twin",
        f"{slow / ours['seconds']:,.0f}x; {text}",
        ">= 100x",
        slow / ours["seconds"] >= 100,
    )
    same = small["same_labels"] == large["same_labels"] == 1
    row("CAAT labels equal the twin's at 1,000 and 2,000 rows", str(same), "True", same)
    row("CAAT peak memory of the process", f"{ours['peak_mb']:.0f} MB", "< 600 MB", ours["peak_mb"] < 600)
    row("CAAT information loss (NCP)", f"{100 * ours['ncp']:.2f} %, k = {ours['k']:.0f}", "k >= 10", ours["k"] >= 10)

    fast, theirs = measured("mondrian"), rival(10)
    ratio = theirs["seconds"] / fast["seconds"]
    text = f"{ratio:,.0f}x; {fast['seconds']:.2f} s with checking and measuring against {theirs['seconds']:.1f} s"
    row("Mondrian against anonypy", text, ">= 20x", ratio >= 20)
    base, million = measured("mondrian_scaled", 30_162), measured("mondrian_scaled", MILLION)
    ratio = million["seconds"] / base["seconds"]
    text = f"{ratio:.1f}x; {base['seconds']:.2f} s and {million['seconds']:.2f} s, peak {million['peak_mb']:.0f} MB"
    row("Mondrian over 1,000,000 rows against 30,162", text, "<= 60x", ratio <= 60)

    for k, wanted in ((5, 1.80), (10, 3.50)):
        member = measured("k_member", k)
        text = f"{100 * member['ncp']:.2f} % in {member['seconds']:.1f} s, peak {member['peak_mb']:.0f} MB"
        row(f"k-member, set cost, k = {k}: NCP", text, f"<= {wanted} %", 100 * member["ncp"] <= wanted)

    help_time, demo_time = measured("command", "--help"), measured("command", "demo --overwrite")
    row("shoal --help", f"{help_time['seconds']:.2f} s", "< 0.5 s", help_time["seconds"] < 0.5)
    row("shoal demo, second time", f"{demo_time['seconds']:.2f} s", "< 10 s", demo_time["seconds"] < 10)
    Console(width=150).print(shown)
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
