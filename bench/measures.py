"""All measures that need no model, on a million people, beside the time that publishing them by Mondrian takes.

`python bench/measures.py` measures whatever is registered and writes the figures into docs/measures.md; it ends with an
error where they take longer than Mondrian, or more memory than they may. `python bench/measures.py ROWS` does the same
with fewer rows and writes nothing.
"""

from __future__ import annotations

import re
import resource
import sys
import time

from data import ROOT

MILLION = 1_000_000
RATIO, MEMORY = 1.0, 3.0
"""The wanted figures: times a Mondrian run, and GB, both at the most."""
SHOWN = 0.03
"""Measures that take a smaller share of the time of all are not listed one by one."""
PAGE = ROOT / "docs" / "measures.md"
MARKS = re.compile(r"(<!-- figures, written by bench/measures.py -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def people(n_rows: int):
    """Invented people with eight quasi-identifiers, three of them numbers."""
    import polars as pl

    import shoal
    from shoal import sample

    frame = sample.people(n_rows, seed=3).with_columns(birth_year=pl.col("birth_date").str.head(4).cast(pl.Int64))
    made = sample.schema()
    quasi = {**made.quasi, "income": shoal.Numeric(), "birth_year": shoal.Numeric()}
    sensitive = {"disease": made.sensitive["disease"]}
    return frame.drop("name", "birth_date", "choice"), shoal.Schema(quasi=quasi, sensitive=sensitive)


def reason(one, given) -> str:
    """Why a measure is not worked out here, by what it declares; nothing where it is."""
    from shoal.errors import Problems

    if one.fits_model:
        return "fits a model"
    if given.manifest.layout.shape not in one.shapes:
        return f"says nothing of the shape {given.manifest.layout.shape}"
    if asked := [parameter.name for parameter in one.parameters() if parameter.required]:
        return f"must be told {', '.join(asked)}"
    problems = Problems()
    one().check(given, problems)
    return "needs more than the input" if problems else ""


def measured(release, frame, schema) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds of every measure that can be worked out of the release and its input, and why others cannot.

    Only what a measure declares lets it be left out: an error of one that is worked out ends the run.
    """
    from shoal.measure import MEASURES

    given, seconds, skipped = release.given(frame, schema, ()), {}, {}
    for name, one in MEASURES.items():
        if why := reason(one, given):
            skipped[name] = why
            continue
        begin = time.perf_counter()
        one().figures(given)
        seconds[name] = time.perf_counter() - begin
    return seconds, skipped


def run(n_rows: int) -> tuple[dict[str, float], dict[str, float], dict[str, str]]:
    """Publish, then measure, in one process; kernels are loaded before."""
    import shoal
    from shoal.measure.ncp_bound import bound_of
    from shoal.measure.sampled import Sampling
    from shoal.table.prepare import prepare

    frame, schema = people(n_rows)
    small, _ = people(2_000)
    first = shoal.anonymize(small, schema, shoal.Mondrian(k=10), seed=1)
    measured(first, small, schema)
    bound_of(prepare(small, schema), first.manifest.layout.quasi, 10, sampling=Sampling(above=0))
    begin = time.perf_counter()
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=10), seed=1)
    published = time.perf_counter() - begin
    seconds, skipped = measured(release, frame, schema)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    return {"publish": published, "measure": sum(seconds.values()), "gb": peak}, seconds, skipped


def lines_of(whole: dict[str, float], seconds: dict[str, float], n_rows: int) -> list[str]:
    base = whole["publish"]
    lines = ["| what | seconds | times a Mondrian run |", "|---|---|---|"]
    lines.append(f"| Mondrian, k = 10, {n_rows:,} rows, 8 quasi-identifiers, checked and measured | {base:.1f} | 1 |")
    lines.append(f"| all {len(seconds)} measures together | {whole['measure']:.1f} | {whole['measure'] / base:.2f} |")
    largest = sorted(seconds.items(), key=lambda one: -one[1])
    listed = [(name, taken) for name, taken in largest if taken >= SHOWN * whole["measure"]]
    lines += [f"| `{name}` | {taken:.1f} | {taken / base:.2f} |" for name, taken in listed]
    return lines


def main(n_rows: int = MILLION) -> int:
    whole, seconds, skipped = run(n_rows)
    lines = lines_of(whole, seconds, n_rows)
    lines += [
        "",
        f"Peak memory of both: {whole['gb']:.1f} GB. What measures share is counted with the first that asks.",
    ]
    print("\n".join(lines))
    for name, why in skipped.items():
        print(f"not measured: {name}, which {why}")
    ratio = whole["measure"] / whole["publish"]
    if n_rows == MILLION:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(MARKS.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text), encoding="utf-8")
    return int(ratio >= RATIO or whole["gb"] >= MEMORY)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
