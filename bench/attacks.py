"""The attacks: how quick linking is beside Mondrian, and Anonymeter beside them on the same releases.

`python bench/attacks.py` measures everything and writes the figures into docs/attacks.md; it ends with an error where a
wanted ratio is missed. `python bench/attacks.py CASE ...` measures one thing in a process of its own.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from data import DATA, ROOT, whole_adult

sys.path.insert(0, str(ROOT / "tests"))
MILLION, OUTSIDE = 1_000_000, 100_000
PAGE = ROOT / "docs" / "attacks.md"
MARKS = re.compile(r"(<!-- figures, written by bench/attacks.py -->\n).*?(<!-- end of figures -->)", re.DOTALL)
ROWS = 2_000
"""Rows of Adult that are published, and as many that are not."""
FIRST = ["age", "workclass", "education-num", "race"]
SECOND = ["marital-status", "occupation", "sex", "hours-per-week"]
NUMBERS = ("age", "education-num", "hours-per-week")
SECRET = "income"
ASKED = {"seeds": [1, 2, 3, 4, 5], "predicates": 500, "columns": 3, "people": ROWS, "first": FIRST, "second": SECOND,
         "secrets": [SECRET]}  # fmt: skip


# -- speed -------------------------------------------------------------------------------------------------------------


def people(n_rows: int, seed: int):
    from shoal import sample

    return sample.people(n_rows, seed=seed).with_row_index("id").drop("name")


def schema():
    import shoal
    from shoal import sample

    made = sample.schema()
    return shoal.Schema(identifying=["id", "birth_date"], quasi=made.quasi, sensitive=made.sensitive, choice="choice")


def publish(folder: str) -> dict[str, float]:
    """A million people, by Mondrian: checked, measured, and kept for the attack."""
    import shoal

    frame = people(MILLION, seed=3)
    shoal.anonymize(frame.head(2_000), schema(), shoal.Mondrian(k=10), seed=1)  # loads the kernels
    begin = time.perf_counter()
    release = shoal.anonymize(frame, schema(), shoal.Mondrian(k=10), seed=1)
    taken = time.perf_counter() - begin
    release.frames["table"].write_parquet(Path(folder) / "table.parquet")
    (Path(folder) / "manifest.json").write_text(release.manifest.to_json())
    return {"seconds": taken, "classes": release.manifest.measures["classes"]}


def linking(folder: str, *known: str) -> dict[str, float]:
    """A hundred thousand people from outside, half of them in the release, against a million rows."""
    import polars as pl

    import shoal
    from shoal.release.manifest import Manifest

    table = pl.read_parquet(Path(folder) / "table.parquet")
    release = shoal.Release({"table": table}, Manifest.read(folder))
    frame = people(MILLION, seed=3)
    strangers = people(OUTSIDE // 2, seed=4).with_columns(pl.col("id") + MILLION)
    outside = pl.concat([frame.sample(OUTSIDE // 2, seed=1), strangers]).drop("income", "disease", "choice")
    small = outside.head(100)
    background = shoal.Background(known=known or None)
    release.attack(frame, "linking", outside=small, schema=schema(), background=background)  # loads the kernels
    begin = time.perf_counter()
    found = release.attack(frame, "linking", outside=outside, schema=schema(), background=background)["linking"]
    return {"seconds": time.perf_counter() - begin, "success": found.success, "n": found.n}


# -- Anonymeter --------------------------------------------------------------------------------------------------------


def adult_halves():
    """Two lots of rows of Adult, drawn, with numbers as numbers."""
    frame = whole_adult().select(*FIRST, *SECOND, SECRET).sample(2 * ROWS, seed=1, shuffle=True)
    return frame.head(ROWS), frame.tail(ROWS)


def adult_releases():
    """The same rows as they are, and as averages of 3 and of 10."""
    import shoal
    from support.by_hand import release_of

    quasi = {name: shoal.Numeric() if name in NUMBERS else shoal.Nominal() for name in FIRST + SECOND}
    made = shoal.Schema(quasi=quasi, sensitive={SECRET: shoal.Nominal()})
    frame, _ = adult_halves()
    publish = shoal.Aggregate()
    yield "as they are", made, release_of(frame, made, range(frame.height), publish=publish)
    for k in (3, 10):
        yield f"MDAV, averages, k = {k}", made, shoal.anonymize(frame, made, shoal.Mdav(k=k), publish=publish, seed=1)


def ours(schema, release, frame, control) -> dict[str, dict[str, float]]:
    """The same attacks by Shoal."""
    import shoal

    given = {"schema": schema, "control": control}

    def asked(name: str, key: str, **parameters: object):
        return release.attack(frame, name, **parameters, **given)[key]

    found = {}
    for mode, columns, seeds in (("univariate", 1, [1]), ("multivariate", ASKED["columns"], ASKED["seeds"])):
        options = {"columns": columns, "predicates": ASKED["predicates"], "distinct": True}
        some = [asked("singling-out", "singling-out", seed=seed, **options) for seed in seeds]
        n = sum(one.n for one in some)
        rates = [sum(one.n * rate for one, rate in zip(some, each, strict=True)) / max(n, 1)
                 for each in ([one.success for one in some], [one.baseline for one in some])]  # fmt: skip
        found[f"singling out, {mode}"] = {"n": n, "success": rates[0], "control": rates[1]}
    halves = {"first": FIRST, "second": SECOND, "background": shoal.Background(known=FIRST + SECOND)}
    whole = {
        "linkability": asked("linkability", "linkability", **halves),
        f"inference of {SECRET}": asked("inference", f"inference:{SECRET}", model="neighbour"),
    }
    return found | {
        name: {"n": one.n, "success": one.success, "control": one.baseline} for name, one in whole.items()
    }  # fmt: skip


def theirs(release, frame, control) -> dict[str, dict[str, float]]:
    """Anonymeter on the same table, in its own environment, made on the first run."""
    from support.rivals import environment

    python = environment(".rivals-anonymeter", "anonymeter==1.1.0")
    with tempfile.TemporaryDirectory() as folder:
        shown = release.frames["table"].select(frame.columns)
        for name, table in (("original", frame), ("published", shown), ("control", control)):
            table.write_csv(Path(folder) / f"{name}.csv")
        (Path(folder) / "asked.json").write_text(json.dumps(ASKED))
        line = [python, ROOT / "bench" / "rival_anonymeter.py", folder]
        return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def beside() -> dict[str, object]:
    """All figures of both, release by release."""
    frame, control = adult_halves()
    return {
        name: {"shoal": ours(made, release, frame, control), "anonymeter": theirs(release, frame, control)}
        for name, made, release in adult_releases()
    }


CASES = {"publish": publish, "linking": linking, "beside": beside}


def measured(*arguments: object) -> dict:
    """Run one case in a process of its own."""
    line = [sys.executable, __file__, *map(str, arguments)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


# -- both, told --------------------------------------------------------------------------------------------------------


def interval(rate: float, n: int) -> tuple[float, float]:
    from shoal.attack.intervals import wilson

    return wilson(rate, n)


def agree(one: dict[str, float], other: dict[str, float], what: str) -> bool:
    """Whether the intervals of two rates have something in common."""
    (low, high), (other_low, other_high) = (interval(each[what], each["n"]) for each in (one, other))
    return low <= other_high and other_low <= high


def told(one: dict[str, float], what: str) -> str:
    low, high = interval(one[what], one["n"])
    return f"{100 * one[what]:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def speed_lines(missed: list[str]) -> list[str]:
    """Linking beside a run of Mondrian, with all that is known and with three columns."""
    lines = ["| what | seconds | times a Mondrian run | peak memory |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        base = measured("publish", folder)
        lines.append(
            f"| Mondrian, k = 10, checked and measured: {base['classes']:,.0f} classes | {base['seconds']:.1f} | 1 | "
            f"{base['peak_mb'] / 1024:.1f} GB |"
        )
        for known in ([], ["age", "sex", "postcode"]):
            one = measured("linking", folder, *known)
            ratio = one["seconds"] / base["seconds"]
            what = "all six quasi-identifiers" if not known else ", ".join(known)
            lines.append(f"| linking by {what} | {one['seconds']:.1f} | {ratio:.2f} | {one['peak_mb'] / 1024:.1f} GB |")
            missed += [f"linking by {what}"] if ratio >= 10 or one["peak_mb"] >= 3 * 1024 else []
    return lines


def rival_lines(missed: list[str]) -> list[str]:
    """Rates of both on the same releases, in percent."""
    lines = ["| release | attack | tried | Shoal | Anonymeter | control: Shoal | control: Anonymeter | agree |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for release, both in measured("beside").items():
        for attack, one in both["shoal"].items():
            other = both["anonymeter"][attack]
            same = agree(one, other, "success") and agree(one, other, "control")
            missed += [] if same else [f"{attack} of {release}"]
            cells = [f"{one['n']:,} / {other['n']:,}", told(one, "success"), told(other, "success")]
            cells += [told(one, "control"), told(other, "control"), "yes" if same else "no"]
            lines.append(f"| {release} | {attack} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    missed: list[str] = []
    text = "\n".join(["", *speed_lines(missed), "", *rival_lines(missed), ""])
    print(text, flush=True)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKS.sub(lambda block: f"{block[1]}{text}\n{block[2]}", page), encoding="utf-8")
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    name, *arguments = sys.argv[1:]
    result = CASES[name](*arguments)
    unit = 1024**2 if sys.platform == "darwin" else 1024
    if name != "beside":
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps(result))
