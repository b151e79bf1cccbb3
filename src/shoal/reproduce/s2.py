"""S2: square error, total information loss and discernibility over k for No. 1 to 3, k-member and one-pass k-means."""

from __future__ import annotations

from shoal.methods.base import Method
from shoal.methods.k_means import KMeans
from shoal.methods.k_member import KMember
from shoal.methods.oka import Oka
from shoal.pipeline import anonymize
from shoal.publish.generalize import Generalize
from shoal.reproduce.data import EIGHT, drawn_rows, kind_of
from shoal.reproduce.page import Block, Claim, Page, table
from shoal.reproduce.plots import curves
from shoal.reproduce.runs import FAILS, HOLDS, Mean, together
from shoal.reproduce.works import Setting, Work
from shoal.table.schema import Schema

SIZES = (5, 10, 25, 50, 100)
NO_1, NO_2, NO_3, NO_1_ALL, MEMBER, ONE_PASS = (
    "No. 1", "No. 2", "No. 3", "No. 1, all columns", "k-member", "one-pass k-means",
)  # fmt: skip
METHODS = (NO_1, NO_2, NO_3, NO_1_ALL, MEMBER, ONE_PASS)
MEASURED = {
    "square_error_all": "square error, all columns",
    "square_error": "square error, quasi-identifiers",
    "il_total": "total information loss",
    "discernibility": "discernibility",
}
ALIKE = 0.1
Found = dict[tuple[str, str, int], list[float]]
"""Figures of every run, by measure, method and k."""


def made(name: str, k: int) -> Method:
    """A method as it is compared."""
    if name == MEMBER:
        return KMember(k=k)
    if name == ONE_PASS:
        return Oka(k=k)
    variant = int(name[4])
    return KMeans(k=k, variant=variant, features="all" if name == NO_1_ALL else "qi")


def schema() -> Schema:
    """The eight attributes that S2 lists are quasi-identifiers; income stands for the rest of the table."""
    return Schema(quasi={name: kind_of(name) for name in EIGHT}, sensitive={"income": kind_of("income")}, rest="drop")


def measured(setting: Setting) -> Found:
    """All methods at every k, in every run."""
    found: Found = {}
    setting.progress.stage("S2", setting.n_runs * len(SIZES) * len(METHODS))
    sizes = [k for k in SIZES if 2 * k <= setting.n_rows]
    for seed in setting.seeds:
        rows = drawn_rows(setting.tables["adult"], setting.n_rows, seed)
        for k in sizes:
            for name in METHODS:
                publish = Generalize()
                figures = anonymize(rows, schema(), made(name, k), publish=publish, seed=seed, progress=False).measure()
                for measure in MEASURED:
                    found.setdefault((measure, name, k), []).append(figures[measure])
                setting.progress.advance(1)
    return found


def page(setting: Setting) -> Page:
    """Run it, and say what came out."""
    found = measured(setting)
    sizes = sorted({k for _, _, k in found})
    claims = [
        _best(found, sizes, "square_error_all", NO_1, (NO_2, NO_3),
              "No. 1 has a lower square error than No. 2 and No. 3.", "stated in our notes of its figures"),
        _best(found, sizes, "square_error_all", NO_1, (MEMBER, ONE_PASS),
              "No. 1 has a lower square error than k-member and one-pass k-means.",
              "inferred: S2 credits a lower square error to clustering on all attributes"),
        _best(found, sizes, "square_error_all", NO_1_ALL, (MEMBER, ONE_PASS),
              "The same, with No. 1 on all columns, as S2 argues for it.",
              "inferred, as above"),
        _best(found, sizes, "il_total", MEMBER, (NO_1, NO_2, NO_3, ONE_PASS),
              "k-member has the lowest total information loss.", "stated in our notes of its figures"),
        _equal(found, sizes),
    ]  # fmt: skip
    return Page(
        "S2", "k-means with groups of k, k-member and one-pass k-means", REFERENCE, claims, _setup(setting, sizes),
        _blocks(found, sizes), {f"{m}, {name}, k = {k}": values for (m, name, k), values in found.items()},
    )  # fmt: skip


def _best(
    found: Found, sizes: list[int], measure: str, one: str, others: tuple[str, ...], text: str, origin: str
) -> Claim:
    """Whether one method has less of something than every other, at every k."""
    verdicts, shown = [], []
    for other in others:
        ratios = {k: Mean.ratio(found[measure, other, k], found[measure, one, k]) for k in sizes}
        verdicts += [ratio.above(1) for ratio in ratios.values()]
        wrong = [k for k, ratio in ratios.items() if ratio.above(1) != HOLDS]
        least, most = min(ratios, key=lambda k: ratios[k].value), max(ratios, key=lambda k: ratios[k].value)
        said = f"{other} has {ratios[least].text('.2f')} times as much at k = {least}, "
        said += f"{ratios[most].text('.2f')} at k = {most}"
        shown.append(said + (f"; not decided, or less, at k = {', '.join(map(str, wrong))}" if wrong else ""))
    return Claim(text, origin, together(verdicts), ". ".join(shown))


def _equal(found: Found, sizes: list[int]) -> Claim:
    """Whether discernibility is nearly the same for all methods."""
    means = {(name, k): Mean.of(found["discernibility", name, k]).value for name in METHODS for k in sizes}
    apart = {k: max(means[name, k] for name in METHODS) / min(means[name, k] for name in METHODS) for k in sizes}
    most = max(apart, key=lambda k: apart[k])
    verdict = HOLDS if apart[most] <= 1 + ALIKE else FAILS
    text = f"Discernibility hardly tells these methods apart: by less than {ALIKE:.0%} at the same k."
    evidence = f"largest mean over smallest mean of all methods: at most {apart[most]:.3f}, at k = {most}"
    why = (
        "our expectation, since all make groups of k: our notes have no claim here; the border was set after a first "
        "look"
    )
    return Claim(text, why, verdict, evidence)


def _setup(setting: Setting, sizes: list[int]) -> list[str]:
    return [
        f"**Table**: Adult, rows without missing cells; every run draws {setting.n_rows:,} of "
        f"{setting.tables['adult'].height:,} rows.",
        f"**Columns**: S2 announces nine attributes and lists eight, which are the quasi-identifiers here: "
        f"{', '.join(EIGHT)}. Income is published beside them. Hierarchies are our own, written into Shoal.",
        "**Methods**: `KMeans(variant=1)`, `2` and `3` on the quasi-identifiers, and No. 1 also on all columns "
        '(`features="all"`); `KMember`, `Oka`. What a centroid is for categories S2 does not say: the most frequent '
        "value here, for one-pass k-means the lowest common node.",
        f"**k**: {', '.join(map(str, sizes))}. **Runs**: {setting.n_runs}, seeds {setting.seeds.start} to "
        f"{setting.seeds.stop - 1}; each has rows and first centroids of its own.",
        "**Square error**: squared distances from the mean of the group for standardised numbers, rows that differ "
        "from "
        "the most frequent value for categories; over all published columns, and over the quasi-identifiers alone.",
        "**Total information loss** (IL): widths of intervals and heights of nodes over all cells. **Discernibility**: "
        "squared sizes of classes.",
    ]


def _blocks(found: Found, sizes: list[int]) -> list[Block]:
    blocks: list[Block] = []
    for measure, title in MEASURED.items():
        blocks.append(f"## {title[0].upper()}{title[1:]}")
        if measure != "square_error":
            panel = {name: {float(k): Mean.of(found[measure, name, k]) for k in sizes} for name in METHODS}
            name = measure.replace("_", "-")
            blocks.append(curves(name, f"{title} over k", {title: panel}, x="k", y=title))
        rows = [(name, *(Mean.of(found[measure, name, k]).text(",.0f") for k in sizes)) for name in METHODS]
        blocks.append(table(("method", *(f"k = {k}" for k in sizes)), rows))
    return [*blocks, READING]


REFERENCE = (
    'El-Rashidy, Taha, Ayad, Sroor, "An effective k-anonymity clustering method for less effectiveness on accuracy of '
    'data mining results", 2011.'
)
READING = """\
## Reading

- Square error and information loss are two different things, and rank the methods differently: a centroid makes groups
  whose members are alike on average, and one outlier among them widens every interval. k-member looks at these
  intervals alone.
- S2 has its figures as plots, so no number of it can be compared, only the order of the methods.
- No. 1 and No. 2 need not converge. They stop after 50 iterations here, and give the best grouping on the way."""

WORK = Work("S2", ("adult",), 3_000, 50, 10, page)
