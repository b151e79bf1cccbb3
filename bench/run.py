"""Speed and memory as ratios within one run: `make bench`. Absolute times depend on the machine and mean little."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cases import MILLION
from data import DATA, QUASI, ROOT, adult, published

sys.path.insert(0, str(ROOT / "tests"))
from support.rivals import environment, pycanon

HERE = Path(__file__).parent
SAMPLE = 30_000
"""Rows that pyCANON is given."""
TWINS = {
    "caat": (300, 600),
    "kaca": (200, 400),
    "k-member": (60, 120),
    "oka, lca": (1_000, 2_000),
    "k-means No. 1": (500, 1_000),
    "k-means No. 2": (500, 1_000),
    "k-means No. 3": (500, 1_000),
    "mdav": (1_000, 2_000),
}
"""How many rows the twins are given: what they need for a minute at most."""


def measured(*arguments: object) -> dict[str, float]:
    """Run one case in a process of its own."""
    line = [sys.executable, str(HERE / "cases.py"), *map(str, arguments)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def rival(k: int) -> dict[str, float]:
    """anonypy on the same columns, in its own environment, made on the first run."""
    python = environment(".rivals", "anonypy", "pandas")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        adult().select([*QUASI, "income"]).write_csv(file)
        line = [python, HERE / "rival_anonypy.py", file, str(k)]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def models_by_pycanon() -> dict[str, float]:
    """pyCANON on a published table, in its own environment, made on the first run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "published.csv"
        published(SAMPLE).write_csv(file)
        line = [pycanon(), HERE / "rival_pycanon.py", "time", file]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    shown = Table(
        title="Where not said otherwise: Adult, 30,162 complete rows, 8 quasi-identifiers, k = 10", title_justify="left"
    )
    for column in ("what", "measured", "wanted", ""):
        shown.add_column(column)

    missed = []

    def row(what: str, text: str, wanted: str, met: bool) -> None:
        missed.extend([] if met else [what])
        shown.add_row(what, text, wanted, "ok" if met else "MISSED")
        print(f"{'ok' if met else 'MISSED':7}{what}: {text} (wanted: {wanted})", flush=True)

    for name, (least, most) in TWINS.items():
        ours = measured("on_adult", name)
        small, large = measured("against_twin", name, least), measured("against_twin", name, most)
        growth = large["seconds"] / small["seconds"]
        # Every twin is at least quadratic in the rows; the larger run is the base of the extrapolation.
        slow = large["seconds"] * (30_162 / most) ** 2
        ratio = slow / ours["seconds"]
        text = (
            f"{ratio:,.0f}x; {ours['seconds']:.2f} s against {slow:,.0f} s extrapolated"
            f" (x{growth:.1f} from {least:,} to {most:,} rows),"
            f" NCP {100 * ours['ncp']:.2f} %, peak {ours['peak_mb']:.0f} MB"
        )
        row(f"{name} against its slow twin", text, ">= 100x", ratio >= 100)
        same = small["same_labels"] == large["same_labels"] == 1
        row(f"{name}: labels equal the twin's at {least:,} and {most:,} rows", str(same), "True", same)

    plain, one, two = measured("mdav_plain"), measured("mdav", 1), measured("mdav", 2)
    ratios = plain["seconds"] / one["seconds"], plain["seconds"] / two["seconds"], one["seconds"] / two["seconds"]
    text = f"{ratios[0]:.1f}x on one core, {ratios[1]:.1f}x on two ({ratios[2]:.2f}x of one); {one['seconds']:.2f} s"
    met = ratios[0] >= 1 and ratios[1] >= 1.5
    row("MDAV, 50,000 x 8, against plain compiled loops", text, ">= 1x on one, >= 1.5x on two", met)

    fast, theirs = measured("mondrian"), rival(10)
    ratio = theirs["seconds"] / fast["seconds"]
    text = f"{ratio:,.0f}x; {fast['seconds']:.2f} s with checking and measuring against {theirs['seconds']:.1f} s"
    row("Mondrian against anonypy", text, ">= 20x", ratio >= 20)
    base, million = measured("mondrian_scaled", 30_162), measured("mondrian_scaled", MILLION)
    ratio = million["seconds"] / base["seconds"]
    text = f"{ratio:.1f}x; {base['seconds']:.2f} s and {million['seconds']:.2f} s, peak {million['peak_mb']:.0f} MB"
    row("Mondrian over 1,000,000 rows against 30,162", text, "<= 60x", ratio <= 60)

    whole, part, theirs = measured("models", MILLION), measured("models", SAMPLE), models_by_pycanon()
    slow = theirs["seconds"] * MILLION / SAMPLE
    ratio = slow / whole["seconds"]
    text = f"{ratio:,.0f}x; {whole['seconds']:.2f} s against {slow:,.0f} s extrapolated from {SAMPLE:,} rows"
    text += f" ({theirs['seconds']:.1f} s against {part['seconds']:.3f} s there), peak {whole['peak_mb']:.0f} MB"
    row("k, alpha, 3 l, 3 t of 1,000,000 rows against pyCANON (one t)", text, ">= 50x", ratio >= 50)
    same = all(abs(part[f"{key}:s"] - theirs[key]) < 1e-9 for key in ("l", "alpha", "t")) and part["k"] == theirs["k"]
    row(f"the same k, l, alpha, t at {SAMPLE:,} rows", str(same), "True", same)

    for k, wanted in ((5, 1.80), (10, 3.50)):
        member = measured("k_member", k)
        text = f"{100 * member['ncp']:.2f} % in {member['seconds']:.1f} s, peak {member['peak_mb']:.0f} MB"
        row(f"k-member, set cost, k = {k}: NCP", text, f"<= {wanted} %", 100 * member["ncp"] <= wanted)

        refined = measured("k_member", k, 1)
        text = f"{100 * refined['ncp']:.2f} % in {refined['seconds']:.1f} s, peak {refined['peak_mb']:.0f} MB"
        row("the same, refined, one round: NCP", text, "lower", refined["ncp"] < member["ncp"])

    plain, kept = measured("promised", "nothing", 10), measured("promised", "entropy", 10)
    ratio = kept["ncp"] / plain["ncp"]
    text = f"{ratio:.2f}x; NCP {100 * kept['ncp']:.2f} % in {kept['seconds']:.1f} s against {100 * plain['ncp']:.2f} %"
    row("k-member with entropy l = 3 of occupation, k = 10, against without", text, "<= 1.5x", ratio <= 1.5)
    close = measured("promised", "closeness", 5)
    text = f"{100 * close['ncp']:.2f} %, {close['suppressed']} suppressed, in {close['seconds']:.1f} s"
    met = 100 * close["ncp"] < 25 and close["suppressed"] == 0 and close["reached t:occupation"] <= 0.2
    row("k-member with t = 0.2 of occupation, k = 5: NCP", text, "< 25 %, none suppressed", met)

    for k, wanted in ((3, 5.25), (5, 8.21), (10, 12.35)):
        plain, longer = measured("census_refined", k, 0), measured("census_refined", k, 500)
        text = f"{plain['lost']:.3f} % in {plain['seconds']:.1f} s; 500 rounds {longer['lost']:.3f} % in"
        text += f" {longer['seconds']:.1f} s"
        met = longer["lost"] < plain["lost"] < wanted and min(plain["least"], longer["least"]) >= k
        row(f"MDAV refined on Census, k = {k}: SSE / SST", text, f"< {wanted} %, with rounds lower", met)

    help_time, demo_time = measured("command", "--help"), measured("command", "demo --overwrite")
    row("shoal --help", f"{help_time['seconds']:.2f} s", "< 0.5 s", help_time["seconds"] < 0.5)
    row("shoal demo, second time", f"{demo_time['seconds']:.2f} s", "< 10 s", demo_time["seconds"] < 10)
    Console(width=150).print(shown)
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
