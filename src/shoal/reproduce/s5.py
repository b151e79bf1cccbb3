"""S5: IL1 to IL6 for MDAV-generic on Census, and categorical losses on ordinal and nominal columns of Adult."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import polars as pl

from shoal.methods.mdav import Mdav
from shoal.pipeline import anonymize
from shoal.publish.aggregate import Aggregate
from shoal.published.release import Release
from shoal.reproduce.data import CENSUS, drawn_rows
from shoal.reproduce.page import Block, Claim, Page, Picture, table
from shoal.reproduce.plots import curves
from shoal.reproduce.runs import FAILS, HOLDS, PARTLY, Mean, together
from shoal.reproduce.trees import DEGREES
from shoal.reproduce.works import Setting, Work
from shoal.table.schema import Kind, Nominal, Numeric, Ordinal, Schema

SIZES = tuple(range(3, 10))
SETS = {6: CENSUS[:6], 13: CENSUS}
NUMBER_LOSSES = ("il1", "il2", "il3", "il4", "il5", "il6")
CATEGORY_LOSSES = ("dist", "ctbil", "actbil", "ebil")
TITLES = {
    "il1": "IL1, numbers", "il2": "IL2, means", "il3": "IL3, variances", "il4": "IL4, covariances",
    "il5": "IL5, correlations", "il6": "IL6, the mean of these, %", "dist": "Dist", "ctbil": "CTBIL",
    "actbil": "ACTBIL", "ebil": "EBIL, bits",
}  # fmt: skip
PLAIN, RESTORED = "plain means", "mean and variance restored"
PUBLISHED = {PLAIN: Aggregate(), RESTORED: Aggregate(restore_variance=True)}
LITERATURE = {3: 5.692186279, 4: 7.494699833, 5: 9.088435498}
"""Percentage of the squared error that MDAV loses on all thirteen columns."""
TENS = ("0-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "70-79", "80-89", "90-99")
ORDINAL, CONVEX, NOMINAL = "ordinal, median", "ordinal, convex median", "nominal, mode"
COLUMNS: Mapping[str, Mapping[str, Kind]] = {
    "ordinal": {"education": Ordinal(DEGREES), "age-group": Ordinal(TENS), "hours-group": Ordinal(TENS)},
    "nominal": {"workclass": Nominal(), "marital-status": Nominal(), "occupation": Nominal()},
}
KINDS = {
    ORDINAL: ("ordinal", Aggregate()),
    CONVEX: ("ordinal", Aggregate(ordinal="convex-median")),
    NOMINAL: ("nominal", Aggregate()),
}
ZERO = 1e-9
"""What rounding leaves of nothing."""


@dataclass
class Found:
    """Losses of every run."""

    numbers: dict[tuple[str, int, str, int], list[float]] = field(default_factory=dict)
    """By measure, number of attributes, publishing and k."""
    categories: dict[tuple[str, str, int], list[float]] = field(default_factory=dict)
    """By measure, kind of columns and k."""
    squared: dict[int, float] = field(default_factory=dict)
    """Percentage of the squared error on the whole table, by k."""


def losses(release: Release, names: Sequence[str], rows: pl.DataFrame, schema: Schema) -> dict[str, float]:
    """Figures of a release, by the names under which they are registered."""
    return {name: release.measure(name, original=rows, schema=schema)[name] for name in names}


def measured(setting: Setting) -> Found:
    """Numbers and categories at every k, in every run."""
    found = Found()
    sizes = [k for k in SIZES if 2 * k <= setting.n_rows]
    setting.progress.stage("S5", setting.n_runs * len(sizes) * 2)
    for seed in setting.seeds:
        numbers = drawn_rows(setting.tables["census"], setting.n_rows, seed)
        categories = with_groups(drawn_rows(setting.tables["adult"], setting.n_rows, seed))
        for k in sizes:
            _numbers(found, numbers, k, seed)
            setting.progress.advance(1)
            _categories(found, categories, k, seed)
            setting.progress.advance(1)
    known = Schema(quasi=dict.fromkeys(CENSUS, Numeric()))
    for k in LITERATURE:
        release = anonymize(
            setting.tables["census"].select(CENSUS), known, Mdav(k=k), seed=setting.seed, progress=False
        )
        found.squared[k] = release.measure()["sse_percent"]
    return found


def _numbers(found: Found, rows: pl.DataFrame, k: int, seed: int) -> None:
    for n_attributes, names in SETS.items():
        own, known = rows.select(names), Schema(quasi=dict.fromkeys(names, Numeric()))
        for how, publish in PUBLISHED.items():
            release = anonymize(own, known, Mdav(k=k), publish=publish, seed=seed, progress=False)
            for name, value in losses(release, NUMBER_LOSSES, own, known).items():
                found.numbers.setdefault((name, n_attributes, how, k), []).append(value)


def _categories(found: Found, rows: pl.DataFrame, k: int, seed: int) -> None:
    for kind, (columns, publish) in KINDS.items():
        own, known = rows.select(list(COLUMNS[columns])), Schema(quasi=COLUMNS[columns])
        release = anonymize(own, known, Mdav(k=k), publish=publish, seed=seed, progress=False)
        for name, value in losses(release, CATEGORY_LOSSES, own, known).items():
            found.categories.setdefault((name, kind, k), []).append(value)


def with_groups(frame: pl.DataFrame) -> pl.DataFrame:
    """Age and hours by tens: Adult has one ordinal column of its own."""
    tens = pl.Series("tens", TENS)
    return frame.with_columns(
        tens.gather((frame[source] // 10).clip(0, len(TENS) - 1)).alias(target)
        for source, target in (("age", "age-group"), ("hours-per-week", "hours-group"))
    )


def page(setting: Setting) -> Page:
    """Run it, and say what came out."""
    found = measured(setting)
    sizes = sorted({k for *_, k in found.numbers})
    claims = [
        _kept(found, sizes), _literature(found, setting), _grows(found, sizes), _wider(found, sizes),
        _categories_grow(found, sizes),
    ]  # fmt: skip
    return Page(
        "S5", "information loss of MDAV-generic", REFERENCE, claims, _setup(setting, sizes), _blocks(found, sizes),
        _figures(found),
    )  # fmt: skip


def _kept(found: Found, sizes: list[int]) -> Claim:
    """Whether means and variances are those of the input."""
    most = {
        (name, how): max(max(found.numbers[name, n, how, k]) for n in SETS for k in sizes)
        for name in ("il2", "il3")
        for how in PUBLISHED
    }
    restored = all(most[name, RESTORED] < ZERO for name in ("il2", "il3"))
    plain = all(most[name, PLAIN] < ZERO for name in ("il2", "il3"))
    shown = "; ".join(f"{how}: IL2 {most['il2', how]:.2g}, IL3 {most['il3', how]:.2g}" for how in PUBLISHED)
    verdict = HOLDS if restored and plain else PARTLY if restored else FAILS
    evidence = f"largest of all runs, {shown}: it needs `restore_variance`"
    return Claim("Microaggregation preserves means and variances.", "stated in our notes", verdict, evidence)


def _literature(found: Found, setting: Setting) -> Claim:
    right = [k for k, value in LITERATURE.items() if abs(found.squared[k] - value) < 1e-6]
    shown = ", ".join(f"{found.squared[k]:.6f} at k = {k}" for k in LITERATURE)
    wanted = ", ".join(f"{value:.6f} at k = {k}" for k, value in LITERATURE.items())
    verdict = HOLDS if len(right) == len(LITERATURE) else PARTLY if right else FAILS
    text = f"On all 13 columns of Census MDAV loses so many percent of the squared error: {wanted}."
    evidence = f"{shown}, of {setting.tables['census'].height:,} rows; one run, since nothing is drawn"
    return Claim(text, "not of S5: figures of the literature on MDAV", verdict, evidence)


def _grows(found: Found, sizes: list[int]) -> Claim:
    first, last, verdicts, shown = sizes[0], sizes[-1], [], []
    for n in SETS:
        for how in PUBLISHED:
            runs = {k: found.numbers["il6", n, how, k] for k in sizes}
            steps = [Mean.difference(runs[b], runs[a]).above(0) for a, b in pairwise(sizes)]
            whole = Mean.difference(runs[last], runs[first])
            verdicts.append(whole.above(0))
            sure = sum(one == HOLDS for one in steps)
            shown.append(f"{n} attributes, {how}: {whole.text('+.1f')}, sure in {sure} of {len(steps)} steps")
    evidence = f"IL6 in points, from k = {first} to {last}: {'; '.join(shown)}"
    return Claim("Information loss grows with k.", "inferred: S5 varies k", together(verdicts), evidence)


def _wider(found: Found, sizes: list[int]) -> Claim:
    verdicts, shown = [], []
    for how in PUBLISHED:
        more = {k: Mean.difference(found.numbers["il6", 13, how, k], found.numbers["il6", 6, how, k]) for k in sizes}
        verdicts += [change.above(0) for change in more.values()]
        ends = ", ".join(f"{more[k].text('+.1f')} at k = {k}" for k in (sizes[0], sizes[-1]))
        shown.append(f"{how}: {ends}")
    evidence = f"IL6 with 13 less that with 6, in points, {'; '.join(shown)}"
    text = "At the same k, more attributes lose more."
    return Claim(text, "inferred: S5 compares 6 and 13 attributes", together(verdicts), evidence)


def _categories_grow(found: Found, sizes: list[int]) -> Claim:
    first, last, verdicts, shown = sizes[0], sizes[-1], [], []
    for kind in KINDS:
        for name in ("dist", "ebil"):
            runs = [found.categories[name, kind, k] for k in (last, first)]
            more = Mean.ratio(runs[0], runs[1])
            verdicts.append(more.above(1))
            shown.append(f"{kind}, {TITLES[name].split(',')[0]}: {more.text('.2f')}")
    evidence = f"times as much at k = {last} as at k = {first}, {'; '.join(shown)}"
    text = "The same holds for categorical losses, on ordinal and on nominal columns."
    return Claim(text, "inferred, as above", together(verdicts), evidence)


def _setup(setting: Setting, sizes: list[int]) -> list[str]:
    census, adult = setting.tables["census"].height, setting.tables["adult"].height
    return [
        f"**Numbers**: Census, the reference table of the CASC project; every run draws "
        f"{min(setting.n_rows, census):,} of {census:,} rows. All 13 columns, or the first six: {', '.join(SETS[6])}. "
        "Which "
        "six S5 took we do not know.",
        f"**Categories**: Adult; every run draws {min(setting.n_rows, adult):,} of {adult:,} complete rows. Ordinal: "
        "education, and age and hours by tens. Nominal: work class, marital status, occupation.",
        f"**Method**: `Mdav(k)` with k = {sizes[0]} to {sizes[-1]}, which is MDAV-generic. Nothing is drawn in it: "
        "runs "
        "differ by their rows alone.",
        "**Published**: numbers as `Aggregate()`, plain means, and as `Aggregate(restore_variance=True)`; ordinal "
        "columns "
        "as medians and as convex medians, nominal ones as modes.",
        f"**Runs**: {setting.n_runs}, seeds {setting.seeds.start} to {setting.seeds.stop - 1}. They share most of the "
        "rows "
        "of Census, so its intervals are too narrow for another table.",
        "**IL1** mean over cells of |x - x'| / |x|; **IL2** to **IL4** means over columns, or pairs of them, of how "
        "far "
        "means, variances and covariances move, as a share of themselves; **IL5** how far correlations move; **IL6** "
        "100 "
        "times the mean of these five. S5 defines it as an average that has IL6 itself in it, which cannot be meant.",
        "**Dist** sum over cells of 0 or 1 for names, and difference of ranks over number of categories for an order; "
        "**CTBIL** sum of differences between contingency tables of one and of two columns; **ACTBIL** that for every "
        "cell "
        "of these tables; **EBIL** sum over cells of the entropy that is left of the value.",
    ]


def _blocks(found: Found, sizes: list[int]) -> list[Block]:
    blocks: list[Block] = ["## Numbers", *_number_pictures(found, sizes)]
    for n in SETS:
        for how in PUBLISHED:
            rows = [
                (TITLES[name], *(_shown(found.numbers[name, n, how, k], name) for k in sizes)) for name in NUMBER_LOSSES
            ]
            blocks += [f"{n} attributes, {how}:", table(("loss", *(f"k = {k}" for k in sizes)), rows)]
    blocks += ["## Categories", *_category_pictures(found, sizes)]
    for kind in KINDS:
        rows = [
            (TITLES[name], *(Mean.of(found.categories[name, kind, k]).text(",.4g") for k in sizes))
            for name in CATEGORY_LOSSES
        ]
        blocks += [f"{kind[0].upper()}{kind[1:]}:", table(("loss", *(f"k = {k}" for k in sizes)), rows)]
    return [*blocks, READING]


def _shown(values: list[float], name: str) -> str:
    """A mean with its interval; what rounding leaves of nothing is nothing."""
    if max(abs(value) for value in values) < ZERO:
        return "0"
    return Mean.of(values).text(".2f" if name == "il6" else ".4f")


def _number_pictures(found: Found, sizes: list[int]) -> list[Picture]:
    def panel(names: Sequence[str], n: int, how: str) -> dict[str, dict[float, Mean]]:
        return {TITLES[name]: {float(k): Mean.of(found.numbers[name, n, how, k]) for k in sizes} for name in names}

    total = {
        how: {f"{n} attributes": panel(("il6",), n, how)[TITLES["il6"]] for n in SETS} for how in PUBLISHED
    }  # fmt: skip
    parts = {f"{n} attributes, {PLAIN}": panel(NUMBER_LOSSES[:5], n, PLAIN) for n in SETS}
    return [
        curves("il6", "IL6 over k, with 6 and with 13 attributes", total, x="k", y="IL6, %"),
        curves("il", "IL1 to IL5 over k, with 6 and with 13 attributes", parts, x="k", y="loss"),
    ]


def _category_pictures(found: Found, sizes: list[int]) -> list[Picture]:
    panels = {
        TITLES[name]: {kind: {float(k): Mean.of(found.categories[name, kind, k]) for k in sizes} for kind in KINDS}
        for name in ("dist", "ebil", "actbil")
    }
    return [
        curves("categories", "Dist, EBIL and ACTBIL over k, on ordinal and on nominal columns", panels, x="k",
               y={title: title for title in panels}),
    ]  # fmt: skip


def _figures(found: Found) -> dict[str, object]:
    numbers: dict[str, object] = {
        f"{name}, {n} attributes, {how}, k = {k}": values for (name, n, how, k), values in found.numbers.items()
    }
    return numbers | {f"{name}, {kind}, k = {k}": values for (name, kind, k), values in found.categories.items()}


REFERENCE = 'Xiong, lecture slides "Anonymization algorithms: microaggregation and clustering".'
READING = """\
## Reading

- Means of groups keep the mean of a column, so IL2 is 0 either way. They take away what varies inside groups:
  variances shrink (IL3), and correlations move (IL5). Stretching a column until its variance is the old one sets IL3
  to 0 and leaves correlations as they were before it, so covariances move farther (IL4). By IL1 stretched numbers are
  no farther from the input, but nearer: small numbers weigh most in it, and the means of their groups lie above them.
- IL1 and IL4 divide by what they compare with: a few small numbers, and a few covariances near 0, weigh most in them.
  So the mean of five losses, IL6, says more of those than of anything else.
- The convex median fills the gaps between frequent categories, and loses about as much as the median here. Distances
  of nominal columns are larger because any other name is as far as can be.
- S5 is a set of slides. Which columns and which figures it shows we know from our notes alone, so no number of it is
  compared here; the squared error is, with what the literature has."""

WORK = Work("S5", ("adult", "census"), 1_000, 50, 10, page)
