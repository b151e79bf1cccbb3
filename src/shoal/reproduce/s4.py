"""S4: generalisation, bucketization and slicing, by classification accuracy and membership disclosure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

import polars as pl

from shoal.errors import InfeasibleError, ParameterError
from shoal.learning.released.utility import HELD_OUT, ORIGINAL, RELEASE, Utility
from shoal.learning.split import utility
from shoal.methods.anatomy import Anatomy
from shoal.methods.base import Method
from shoal.methods.mondrian import Mondrian
from shoal.methods.slicing import Slicing
from shoal.pipeline import anonymize
from shoal.privacy.alpha_k import AlphaK
from shoal.published.release import Release
from shoal.report.membership import picture
from shoal.reproduce.data import ADULT, drawn_rows, kind_of
from shoal.reproduce.page import Block, Claim, Page, Picture, table
from shoal.reproduce.plots import bars
from shoal.reproduce.runs import OPEN, Mean, together
from shoal.reproduce.works import Setting, Work
from shoal.table.schema import Nominal, Schema

TARGET = "occupation"
SEVEN = ("age", "workclass", "education", "marital-status", "race", "sex", TARGET)
SETS = {7: SEVEN, 15: ADULT}
L = 5
GENERAL, BUCKETS, SLICED, PRINTED, COARSE = (
    "generalisation", "bucketization", "slicing", "slicing, as published", "slicing, generalised columns",
)  # fmt: skip
WAYS: Mapping[str, tuple[Method, tuple[AlphaK, ...]]] = {
    GENERAL: (Mondrian(k=L), (AlphaK(TARGET, alpha=1 / L),)),
    BUCKETS: (Anatomy(l=L), ()),
    SLICED: (Slicing(l=L, sensitive_apart=True), ()),
    PRINTED: (Slicing(l=L, sensitive_apart=True, cuts="widest"), ()),
    COARSE: (Slicing(l=L, p=L), ()),
}
DRAWN = (GENERAL, BUCKETS, SLICED)
LEARNT = (GENERAL, BUCKETS, SLICED, COARSE)
LEARNERS = {"c45": "C4.5", "bayes": "naive Bayes"}
SAMPLE, FOLDS = 3_000, 5
MANY = 1e9
"""From here on numbers are shown by their size alone."""
Place = tuple[int, str]
"""A number of attributes, and a way of publishing."""


@dataclass
class Found:
    """What was learnt, and who can be told to be in the table, in every run."""

    accuracy: dict[tuple[int, str, str, str], list[float]] = field(default_factory=dict)
    """By attributes, way, learner and what was tested on; way `as they are` for the rows themselves."""
    baseline: dict[int, list[float]] = field(default_factory=dict)
    fakes: dict[Place, list[float]] = field(default_factory=dict)
    """Fakes for every row of the input."""
    refused: dict[Place, int] = field(default_factory=dict)
    """Runs in which a way could not keep its promise."""


AS_THEY_ARE = "rows as they are"


def schema_of(names: Sequence[str]) -> Schema:
    """Occupation sensitive, the other named attributes quasi-identifiers."""
    quasi = {name: kind_of(name) for name in names if name != TARGET}
    return Schema(quasi=quasi, sensitive={TARGET: Nominal()}, rest="drop")


def released(rows: pl.DataFrame, n_attributes: int, way: str, seed: int) -> Release:
    """One release."""
    method, require = WAYS[way]
    return anonymize(rows, schema_of(SETS[n_attributes]), method, require=list(require), seed=seed, progress=False)


def measured(setting: Setting) -> Found:
    """Learn from every way of publishing, and count who matches it, on rows that every run draws."""
    found = Found()
    setting.progress.stage("S4: accuracy", setting.n_runs * len(SETS) * len(LEARNT))
    for seed in setting.seeds:
        rows = drawn_rows(setting.tables["adult"], min(SAMPLE, setting.n_rows), seed)
        for n_attributes in SETS:
            for way in LEARNT:
                _one(found, rows, (n_attributes, way), seed)
                setting.progress.advance(1)
    return found


def _one(found: Found, rows: pl.DataFrame, place: Place, seed: int) -> None:
    n_attributes, way = place
    method, require = WAYS[way]
    known = schema_of(SETS[n_attributes])
    try:
        learnt = utility(
            rows, known, method, target=TARGET, learners=list(LEARNERS), folds=FOLDS, draws=1, seed=seed,
            require=list(require),
        )  # fmt: skip
        release = released(rows, n_attributes, way, seed)
    except InfeasibleError:
        found.refused[place] = found.refused.get(place, 0) + 1
        return
    _keep(found, learnt, place)
    found.fakes.setdefault(place, []).append(release.membership(rows, schema=known).ratio)


def _keep(found: Found, learnt: Utility, place: Place) -> None:
    """Note accuracies; those of the rows as they are once for each number of attributes."""
    n_attributes, way = place
    for learner in LEARNERS:
        for tested_on in (HELD_OUT, RELEASE):
            value = learnt.score(learner, RELEASE, tested_on).accuracy
            found.accuracy.setdefault((n_attributes, way, learner, tested_on), []).append(value)
        if way == GENERAL:
            before = learnt.score(learner, ORIGINAL, HELD_OUT)
            found.accuracy.setdefault((n_attributes, AS_THEY_ARE, learner, HELD_OUT), []).append(before.accuracy)
    if way == GENERAL:
        found.baseline.setdefault(n_attributes, []).append(before.baseline)


def whole(setting: Setting) -> tuple[list[tuple[str, ...]], list[Picture]]:
    """All ways on the whole table, once: losses, fakes, and histograms of matching classes."""
    rows = drawn_rows(setting.tables["adult"], setting.n_rows, setting.seed)
    lines, pictures = [], []
    setting.progress.stage("S4: membership", len(SETS) * len(WAYS))
    for n_attributes in SETS:
        known = schema_of(SETS[n_attributes])
        for way in WAYS:
            try:
                release = released(rows, n_attributes, way, setting.seed)
            except InfeasibleError:
                lines.append((str(n_attributes), way, "not possible", *[""] * 5))
                continue
            lines.append(_line(n_attributes, way, release, rows, known))
            if way in DRAWN:
                svg = picture(release.membership(rows, schema=known))["membership.svg"]
                text = (
                    f"{n_attributes} attributes, {way}: how many classes rows of the input match, and how many fakes do"
                )
                pictures.append(Picture(f"membership-{way}-{n_attributes}", text, svg))
            setting.progress.advance(1)
    return lines, pictures


def _line(n_attributes: int, way: str, release: Release, rows: pl.DataFrame, known: Schema) -> tuple[str, ...]:
    pairs = release.pair_errors(rows, schema=known)
    own = [value for pair, value in pairs.items() if TARGET in pair]
    figures = release.manifest.measures
    try:
        found = release.membership(rows, schema=known)
        about = "" if found.exact else "about "
        fakes, chance = f"{about}{found.ratio:,.3g}", f"{about}{found.chance:.2g}"
    except ParameterError:  # more combinations than can be written out
        fakes = chance = "not counted"
    return (
        str(n_attributes), way, f"{figures['classes']:,.0f}", f"{figures['ncp']:.1%}", f"{mean(pairs.values()):.3f}",
        f"{mean(own):.3f}", fakes, chance,
    )  # fmt: skip


def page(setting: Setting) -> Page:
    """Run it, and say what came out."""
    found = measured(setting)
    lines, pictures = whole(setting)
    claims = [
        _better(found, GENERAL, "Slicing keeps more for classification than generalisation does.", COMPARES),
        _better(found, BUCKETS,
                "Slicing keeps more for classification with the sensitive attribute than bucketization.", COMPARES),
        _more_attributes(found),
        _hidden(found),
    ]  # fmt: skip
    return Page(
        "S4", "generalisation, bucketization and slicing", REFERENCE, claims, _setup(setting),
        _blocks(found, lines, pictures), _figures(found),
    )  # fmt: skip


def differences(found: Found, other: str) -> dict[tuple[int, str], Mean]:
    """How much more is right with slicing than with another way, in rows that were not published."""
    places = [(n, learner) for n in SETS for learner in LEARNERS]
    keys = {(n, learner): ((n, SLICED, learner, HELD_OUT), (n, other, learner, HELD_OUT)) for n, learner in places}
    return {
        place: Mean.difference(found.accuracy[one], found.accuracy[two])
        for place, (one, two) in keys.items()
        if len(found.accuracy.get(one, ())) == len(found.accuracy.get(two, ())) > 0
    }


def _better(found: Found, other: str, text: str, origin: str) -> Claim:
    gained = differences(found, other)
    shown = "; ".join(
        f"{LEARNERS[learner]}, {n} attributes: {change.text('+.1f', 100)}" for (n, learner), change in gained.items()
    )
    verdict = together([change.above(0) for change in gained.values()]) if gained else OPEN
    return Claim(text, origin, verdict, f"points gained over {other}, {shown}")


def _more_attributes(found: Found) -> Claim:
    gained, verdicts, shown = differences(found, GENERAL), [], []
    for learner, title in LEARNERS.items():
        runs = {
            n: [
                one - other
                for one, other in zip(
                    found.accuracy.get((n, SLICED, learner, HELD_OUT), ()),
                    found.accuracy.get((n, GENERAL, learner, HELD_OUT), ()),
                    strict=False,
                )
            ]
            for n in SETS
        }
        if (7, learner) in gained and (15, learner) in gained:
            grown = Mean.difference(runs[15], runs[7])
            verdicts.append(grown.above(0))
            shown.append(f"{title}: {grown.text('+.1f', 100)} points")
    text = "The advantage of slicing over generalisation grows with the number of attributes."
    origin = "inferred: the title of S4 speaks of high-dimensional data"
    return Claim(text, origin, together(verdicts) if verdicts else OPEN, f"from 7 to 15, {'; '.join(shown)}")


def _hidden(found: Found) -> Claim:
    verdicts, shown = [], []
    for n in SETS:
        one, other = found.fakes.get((n, SLICED), []), found.fakes.get((n, BUCKETS), [])
        if not one or len(one) != len(other):
            continue
        more = Mean.ratio(one, other)
        verdicts.append(more.above(1))
        shown.append(f"{n} attributes: {more.text(',.0f' if more.high < MANY else '.2g')}")
    text = "Slicing hides who is in the table, bucketization does not."
    evidence = (
        f"fakes for every row, as many times as with bucketization, {'; '.join(shown)}. All fakes of bucketization "
    )
    evidence += "have the quasi-identifiers of somebody in the table"
    return Claim(text, COMPARES, together(verdicts) if verdicts else OPEN, evidence)


def _setup(setting: Setting) -> list[str]:
    n_rows = min(SAMPLE, setting.n_rows)
    return [
        f"**Table**: Adult, {min(setting.n_rows, setting.tables['adult'].height):,} complete rows; occupation "
        "sensitive, "
        f"with 7 attributes ({', '.join(SEVEN)}) and with all 15. Hierarchies are our own, written into Shoal.",
        f"**Promise**: no occupation of a person has a probability above 1/{L}.",
        f'**Generalisation**: `Mondrian(k={L})` with `AlphaK("occupation", alpha=1/{L})`. **Bucketization**: '
        f"`Anatomy(l={L})`. **Slicing**: `Slicing(l={L}, sensitive_apart=True)`, the occupation in a column of its "
        "own; "
        f'*as published* with `cuts="widest"`; *generalised columns* with `p={L}` and the occupation wherever it '
        "belongs.",
        f"**Accuracy**: how often occupation is predicted, from {n_rows:,} rows that every run draws, by {FOLDS}-fold "
        "cross-validation: models are trained on a release of four fifths, and tested on the fifth that was not "
        "published, "
        "shown as the release would show it. *Within the release*: trained and tested on published rows. Of buckets "
        "and "
        "slices, rows are drawn that the release may stand for, once in every run.",
        f"**Runs**: {setting.n_runs}, seeds {setting.seeds.start} to {setting.seeds.stop - 1}.",
        "**Fakes**: tuples that match the release and are not in the input.",
    ]


def _blocks(found: Found, lines: list[tuple[str, ...]], pictures: list[Picture]) -> list[Block]:
    panels, marks, rows = {}, {}, []
    for n in SETS:
        for learner, title in LEARNERS.items():
            panel = f"{title}, {n} attributes"
            ways = [way for way in (AS_THEY_ARE, *LEARNT) if (n, way, learner, HELD_OUT) in found.accuracy]
            panels[panel] = {way: Mean.of(found.accuracy[n, way, learner, HELD_OUT]) for way in ways}
            marks[panel] = mean(found.baseline[n])
            for way in ways:
                inside = found.accuracy.get((n, way, learner, RELEASE))
                within = "" if inside is None else Mean.of(inside).text(".1f", 100)
                rows.append(
                    (str(n), title, way, panels[panel][way].text(".1f", 100), within, f"{100 * marks[panel]:.1f}")
                )
    drawn: list[Block] = [
        bars(f"accuracy-{n}", f"Accuracy with {n} attributes; the broken line is the baseline",
             {key: value for key, value in panels.items() if key.endswith(f" {n} attributes")},
             x="right predictions of occupation", line=marks)
        for n in SETS
    ]  # fmt: skip
    fakes = [(str(n), way, _counted(values)) for (n, way), values in found.fakes.items()]
    return [
        "## Classification accuracy", *drawn,
        table(("attributes", "learner", "way", "held-out rows, %", "within the release, %", "baseline, %"), rows),
        *_refusals(found),
        "## Membership disclosure", "Fakes for every different row of the input, geometric means over the runs:",
        table(("attributes", "way", "fakes per row"), fakes),
        "On the whole table, once:",
        table(HEADS, lines),
        KEYS, "## Reading", READING, "## How many classes originals and fakes match", MATCHING, *pictures,
    ]  # fmt: skip


def _counted(values: list[float]) -> str:
    """The geometric mean of numbers that may be of any size, with its interval."""
    found = Mean.ratio(values, [1.0] * len(values))
    return found.text(",.1f" if found.high < 100 else ",.0f" if found.high < MANY else ".2g")


def _refusals(found: Found) -> list[Block]:
    return [
        f"With {n} attributes, *{way}* could not keep the promise in {count} runs, which are left out."
        for (n, way), count in found.refused.items()
    ]


def _figures(found: Found) -> dict[str, object]:
    figures: dict[str, object] = {
        f"{n} attributes, {way}, {LEARNERS[learner]}, {tested_on}": values
        for (n, way, learner, tested_on), values in found.accuracy.items()
    }
    return figures | {f"{n} attributes, {way}, fakes per row": values for (n, way), values in found.fakes.items()}


COMPARES = "inferred from what S4 compares; it follows Li, Li, Zhang, Molloy, who claim it"
REFERENCE = (
    'Phanikrishna, Surya Ram Prasad, "A novel framework for privacy conserving data publishing and handling high '
    'dimensional data", 2014.'
)
HEADS = ("attributes", "way", "classes", "NCP", "pairs", "pairs with occupation", "fakes per row", "chance")
KEYS = """\
- **NCP**: what the cells leave open. Bucketization and slicing publish values unchanged.
- **pairs**: how much of the relation between two attributes is lost, on average over all pairs (`Release.pair_errors`:
  total variation over categories, 0 for nothing, 1 for all); then over the pairs with the occupation only.
- **chance**: the probability that a matching tuple is in the input (`Release.membership`). "About" marks an
  estimate."""
MATCHING = """\
Classes of generalisation and buckets of slicing are made by cuts, which do not overlap: whoever matches, matches one of
them, and so does every fake. The number of matches tells nothing of either. The buckets of bucketization overlap."""
READING = """\
- Accuracy is about occupation itself, whose link to everything else is what all three hide. So all of them lose most
  of what can be predicted, and which loses least depends on the learner. A tree asks for combinations of attributes,
  which buckets and slices pair at random; naive Bayes asks for one attribute at a time, whose counts they keep.
- A tree learns next to nothing from buckets and slices at 1/5: it is right about as often as somebody who always says
  the most frequent occupation. From generalised rows it learns a little. With naive Bayes it is the other way round.
  S4 may have promised less, or had more rows to learn from; we cannot tell.
- Generalisation hides membership among hundreds of fakes for every row, and with more attributes among more than can
  be counted. It loses most of the relations between attributes.
- Bucketization keeps these relations, except those of the occupation. Everybody's quasi-identifiers are published: if
  a person matches, the person is certainly in the table. The fakes differ from real rows only in the occupation.
- Slicing has about as many fakes as generalisation with 7 attributes, and keeps nearly all relations between
  attributes, those of the occupation included: more of them than bucketization. As published, a bucket whose widest
  attribute cannot be cut is never cut again, which leaves few buckets.
- S4 has its results as plots, so no number of it can be compared."""

WORK = Work("S4", ("adult",), 50_000, 500, 5, page)
