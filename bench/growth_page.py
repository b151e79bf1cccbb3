"""docs/performance.md and its pictures, from what `growth.py` measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.report.pictures import charts, drawn

Curve = dict[int, dict[str, float]]
FAMILIES = {
    "clusters": ("k-member", "caat", "kaca", "threshold-greedy", "mondrian"),
    "centroids": ("oka, lca", "k-means No. 1", "k-means No. 2", "k-means No. 3", "weighted-c-means"),
    "microaggregation": ("mdav", "v-mdav", "cbfs", "dba, 2", "tfrp, 1", "tfrp, 2"),
    "gathering": ("r-gather", "r-gather, epsilon 0.05", "r-cellular"),
}
"""Which methods are drawn together, six at most."""
TABLES = {"adult": "Adult-like", "kdd": "Census-Income (KDD)"}
INTRODUCTION = """# Performance

Written by `make growth`. Every run is a process of its own, on one core; seconds are CPU seconds of the grouping alone,
k = 10, eight quasi-identifiers. Adult-like: up to 30,162 rows those of Adult, beyond that drawn from it with
replacement, ages spread by up to two years, with hierarchies. Census-Income (KDD): 299,285 rows or some of them,
without hierarchies, missing cells kept. A size that would have taken longer than {limit:g} seconds was left out, or
than a quarter of that where nothing is wanted of the method. Peak memory is that of the process with the input, the
interpreter and the libraries (some 190 MB). Use times for comparison only: machines differ, and this one had other
work.

"""


def written(page: Path, curves: dict[tuple[str, str], Curve], bars: list, rivals: list, limit: float) -> None:
    """Write the page and its pictures."""
    folder = page.parent / "performance"
    folder.mkdir(exist_ok=True)
    parts = [INTRODUCTION.format(limit=limit), *_pictures(folder, curves)]
    for table, title in TABLES.items():
        parts.append(_table(title, {name: found for (name, of), found in curves.items() if of == table}))
    parts += [_bars(bars), _rivals(rivals)]
    page.write_text("\n".join(parts), encoding="utf-8")


def _pictures(folder: Path, curves: dict[tuple[str, str], Curve]) -> list[str]:
    """Seconds against rows, a picture for each family with a panel for each table; the lines that show them."""
    alt, lines = charts("the pictures of docs/performance.md"), []
    for family, names in FAMILIES.items():
        text = f"Seconds against rows, equal steps for equal factors: {', '.join(names)}"
        panels = [
            _panel(alt, title, [
                {"method": name, "rows": rows, "seconds": max(one["seconds"], 1e-3)}
                for name in names for rows, one in curves.get((name, table), {}).items()
            ])
            for table, title in TABLES.items()
        ]  # fmt: skip
        chart = (
            alt.hconcat(*panels, spacing=26).resolve_scale(color="shared", shape="shared").properties(description=text)
        )
        chart = chart.configure(background="white")
        (folder / f"{family}.svg").write_bytes(drawn(family, chart, text)[f"{family}.svg"])
        lines.append(f"![{text}](performance/{family}.svg)\n")
    return lines


def _panel(alt: Any, title: str, rows: list[dict[str, Any]]) -> Any:
    steps, legend = alt.Scale(type="log", nice=False, padding=8), alt.Legend(orient="bottom", columns=3)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("rows:Q", scale=steps, axis=alt.Axis(values=[10**power for power in range(3, 7)], format="~s")),
        y=alt.Y("seconds:Q", scale=steps, axis=alt.Axis(format="~g")),
        color=alt.Color("method:N", title=None, legend=legend),
        shape=alt.Shape("method:N", legend=None),
    )
    marks = base.mark_line(strokeWidth=1.6) + base.mark_point(filled=True, size=40, opacity=1)
    return marks.properties(width=300, height=240, title=title)


def _table(title: str, found: dict[str, Curve]) -> str:
    from growth import exponent

    sizes = sorted({rows for curve in found.values() for rows in curve})
    first = 30_162 if 30_162 in sizes else 10_000
    head = [f"{rows:,}" for rows in sizes]
    lines = [
        f"## {title}\n",
        f"| method | {' | '.join(head)} | growth | peak memory |",
        "|---|" + "---|" * (len(sizes) + 2),
    ]
    for name, curve in found.items():
        cells = [f"{curve[rows]['seconds']:.2f} s" if rows in curve else "" for rows in sizes]
        growth = f"{exponent(curve, first):.2f}" if first in curve and max(curve) > first else ""
        cells += [growth, f"{curve[max(curve)]['peak_mb']:,.0f} MB"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    said = f"\nGrowth: the exponent from {first:,} rows to the largest size; 1 is linear, 2 is quadratic."
    return "\n".join([*lines, said, "Peak memory: at the largest size.\n"])


def _bars(bars: list) -> str:
    lines = ["## What is wanted\n", "| what | measured | wanted | |", "|---|---|---|---|"]
    lines += [f"| {what} | {text} | {wanted} | {'reached' if met else 'missed'} |" for what, text, wanted, met in bars]
    return "\n".join([*lines, ""])


def _rivals(rivals: list) -> str:
    lines = ["## The same work by other tools\n", "| work | rows | they | Shoal | ratio |", "|---|---|---|---|---|"]
    lines += [
        f"| {what} | {rows:,} | {theirs:.2f} s | {ours:.2f} s | {theirs / ours:,.1f}x |"
        for what, rows, theirs, ours in rivals
    ]
    said = "\nShoal's time of Mondrian and MDAV is that of the whole path, verifying and measuring included."
    return "\n".join([*lines, said, ""])
