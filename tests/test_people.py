"""Where people have several rows, every promise counts people: of every method and model, by counting one by one."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import cycle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.check.promises import reached
from shoal.errors import GuaranteeError, InfeasibleError, ParameterError, Problems, SchemaError, SourceError
from shoal.measure.base import Given
from shoal.personal import aliases
from shoal.privacy.base import Classes, Values
from shoal.release.receipt import packed_places
from support.pairwise import pairwise
from support.registered import K_METHODS
from support.variants import ONE_COLUMN, VARIANTS
from twins.privacy import distinct, t_equal

DRAWN = np.random.default_rng(5)
N, PEOPLE = 90, 24
WHO = DRAWN.integers(0, PEOPLE, N)
FRAME = pl.DataFrame(
    {
        "patient": [f"P-{who:03d}" for who in WHO],
        "age": 20 + 2 * WHO + DRAWN.integers(0, 3, N),
        "zip": [f"47{who % 4}0{who % 3}" for who in WHO],
        "disease": DRAWN.choice(["flu", "cold", "ulcer", "cough", "gout"], N, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
        "income": DRAWN.integers(1, 9, N),
    }
)
SCHEMA = shoal.Schema(
    person="patient", quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(3, 2)))},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()},
)  # fmt: skip
ONE_QUASI = shoal.Schema(
    person="patient", quasi={"age": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()}, rest="drop",
)  # fmt: skip


def values(pairs):
    """The values, each once for each person who has it."""
    return [value for _, value in pairs]


def share(pairs):
    """The share of people who have the value that most have."""
    return max(Counter(values(pairs)).values()) / len({who for who, _ in pairs})


def as_asked(pairs):
    """Shares of values: of the most frequent, the people who have it; the others share the rest as they occur."""
    often, n = Counter(values(pairs)).most_common(), len({who for who, _ in pairs})
    (_, top), others = often[0], [count for _, count in often[1:]]
    return [Fraction(top, n), *(Fraction(n - top, n) * Fraction(count, sum(others)) for count in others)]


def entropy_of_people(pairs):
    return math.exp(-sum(float(part) * math.log(part) for part in as_asked(pairs) if part))


def recursive_of_people(pairs, l):  # noqa: E741
    top, *others = as_asked(pairs)
    rare = sum(sorted(others, reverse=True)[l - 2 :])
    return float(top / rare) if rare else math.inf


def shares(pairs):
    """The part of the people who have each value."""
    n = len({who for who, _ in pairs})
    return {value: count / n for value, count in Counter(values(pairs)).items()}


def changes(pairs, table):
    """By how much the share of each value of the table differs."""
    here = shares(pairs)
    return {value: here.get(value, 0.0) - share for value, share in shares(table).items()}


def beta_of_people(pairs, table):
    there, here = shares(table), shares(pairs)
    return max(0.0, max((here[value] - there[value]) / there[value] for value in here))


def delta_of_people(pairs, table):
    there, here = shares(table), shares(pairs)
    return max(abs(math.log(here[value] / there[value])) for value in here)


def t_equal_of_people(pairs, table):
    return max(t_equal(values(pairs), values(table)), max(map(abs, changes(pairs, table).values())))


def t_ordered_of_people(pairs, table):
    changed = changes(pairs, table)
    every = sorted(changed)
    up = [abs(sum(changed[value] for value in every if value <= bound)) for bound in every[:-1]]
    down = [abs(sum(changed[value] for value in every if value > bound)) for bound in every[:-1]]
    return min(1.0, max(sum(up), sum(down)) / (len(every) - 1))


def m_of_people(pairs, epsilon):
    people = {who for who, _ in pairs}
    near = [len({who for who, other in pairs if abs(other - value) <= epsilon}) for value in values(pairs)]
    return len(people) / max(near)


REQUIRED = {
    None: None,
    shoal.LDiversity("disease", l=3): lambda pairs, _: distinct(values(pairs)),
    shoal.LDiversity("disease", l=1.7, variant="entropy"): lambda pairs, _: entropy_of_people(pairs),
    shoal.LDiversity("disease", l=2, variant="recursive", c=7): lambda pairs, _: recursive_of_people(pairs, 2),
    shoal.AlphaK("disease", alpha=0.9): lambda pairs, _: share(pairs),
    shoal.TCloseness("disease", t=0.45): t_equal_of_people,
    shoal.TCloseness("income", t=0.4, distance="ordered"): t_ordered_of_people,
    shoal.BetaLikeness("disease", beta=2): beta_of_people,
    shoal.DeltaDisclosure("disease", delta=1.5, absent="ignored"): delta_of_people,
    shoal.EpsilonM("income", epsilon=0, m=1.2): lambda pairs, _: m_of_people(pairs, 0),
    shoal.EpsilonM("income", epsilon=1, m=1.01): lambda pairs, _: m_of_people(pairs, 1),
}
"""Models, each with the value that a class reaches, by its definition."""
TURNS = {name: cycle(VARIANTS[name]) for name in K_METHODS}
CASES = [(name, next(TURNS[name]), model) for name, model in pairwise(K_METHODS, REQUIRED)]


def published(name, options, model):
    schema = ONE_QUASI if name in ONE_COLUMN else SCHEMA
    method = K_METHODS[name](**{"k": 4, **{key: value for key, value in options.items() if key != "k"}})
    return shoal.anonymize(FRAME, schema, method, require=[] if model is None else [model], seed=3), schema


def of_classes(release, column=None, frame=FRAME):
    """People of each class; or pairs of a person and a value."""
    found = defaultdict(set)
    for row, label in enumerate(release.labels.tolist()):
        if label >= 0:
            found[label].add(WHO[row] if column is None else (WHO[row], frame[column][row]))
    return list(found.values())


@pytest.mark.parametrize(("name", "options", "model"), CASES)
def test_every_promise_counts_people(name, options, model):
    release, schema = published(name, options, model)
    fewest = min(map(len, of_classes(release)))
    reached = release.verify(original=FRAME, schema=schema).achieved
    assert reached["k"] == release.receipt.achieved["k"] == fewest >= 4
    if model is None:
        return
    shown = FRAME.filter(pl.Series(release.labels >= 0))
    table = {(who, value) for who, value in shown.select("patient", model.column).iter_rows()}
    found = [REQUIRED[model](pairs, table) for pairs in of_classes(release, model.column)]
    weakest = min(found) if model.rising else max(found)
    assert reached[model.key] == pytest.approx(float(weakest))
    assert model.holds(float(weakest))


@given(st.data())
def test_counts_are_those_of_people(data):
    n = data.draw(st.integers(1, 20))
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    who = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    cells = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=n, max_size=n))
    classes = Classes(labels, {"s": Values(pl.Series(cells, dtype=pl.String), people=who)}, people=who)
    triples = set(zip(labels.tolist(), who.tolist(), cells, strict=True))
    of_people = [len({one for label, one, _ in triples if label == number}) for number in range(labels.max() + 1)]
    assert classes.sizes.tolist() == of_people
    count = classes.count("s")
    assert count.sizes.tolist() == [sum(label == number for label, _, _ in triples) for number in range(len(of_people))]
    often = defaultdict(int)
    for label, _, cell in triples:
        often[label, cell] += 1
    assert sorted(count.count.tolist()) == sorted(often.values())
    assert classes.columns["s"].counts.sum() == len({(one, cell) for _, one, cell in triples})


@given(st.data())
def test_shares_of_people_are_those_of_the_twins(data):
    """Hundreds of small tables, some people in several classes; where each has one value, what is known of rows."""
    n = data.draw(st.integers(2, 16))
    labels = np.unique(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), return_inverse=True)[1]
    who = np.array(data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)))
    cells = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    epsilon = data.draw(st.integers(0, 3))
    values_of = Values(pl.Series(cells), "numeric", people=who)
    classes = Classes(labels, {"s": values_of}, people=who)
    table = set(zip(who.tolist(), cells, strict=True))
    pairs = [
        {(who[row], cells[row]) for row in np.flatnonzero(labels == label).tolist()}
        for label in range(labels.max() + 1)
    ]
    expected = {
        shoal.EpsilonM("s", epsilon=epsilon, m=2): lambda one: m_of_people(one, epsilon),
        shoal.TCloseness("s", t=1): lambda one: t_equal_of_people(one, table),
        shoal.TCloseness("s", t=1, distance="ordered"): lambda one: (
            t_ordered_of_people(one, table) if len(set(cells)) > 1 else 0.0
        ),
        shoal.BetaLikeness("s", beta=1): lambda one: beta_of_people(one, table),
        shoal.DeltaDisclosure("s", delta=1, absent="ignored"): lambda one: delta_of_people(one, table),
    }
    for model, twin in expected.items():
        assert model.per_class(classes).tolist() == pytest.approx([twin(one) for one in pairs], abs=1e-9), model
    if len(table) == len(set(who.tolist())) == n:
        by_rows = Classes(labels, {"s": replace(values_of, people=None)})
        for model in expected:
            assert model.per_class(classes).tolist() == pytest.approx(model.per_class(by_rows).tolist(), abs=1e-9)


def test_what_everybody_of_a_class_has_is_not_thinned_out_by_what_else_they_have():
    """An attacker who sees a class of two people, both of whom have flu among ten diseases, knows that they have it."""
    diseases = ["flu", *(f"v{place}" for place in range(9))]
    rows = [(f"p{person}", 1, disease) for person in range(2) for disease in diseases]
    rows += [(f"q{person}", 5, "flu" if person < 10 else diseases[1 + person % 9]) for person in range(100)]
    frame = pl.DataFrame(rows, schema=["who", "x", "d"], orient="row")
    schema = shoal.Schema(person="who", quasi={"x": shoal.Numeric()}, sensitive={"d": shoal.Nominal()})
    labels = (frame["x"] == 5).to_numpy().astype(np.int64)
    people = np.unique(frame["who"], return_inverse=True)[1]
    classes = Classes(labels, {"d": Values(frame["d"], people=people)}, people=people)
    for model, reached_at_least in (
        (shoal.TCloseness("d", t=0.1), 1 - 12 / 102),
        (shoal.BetaLikeness("d", beta=0.5), 102 / 12 - 1),
        (shoal.DeltaDisclosure("d", delta=0.5), math.log(102 / 12)),
    ):
        assert model.achieved(classes) >= reached_at_least - 1e-9
        release = shoal.anonymize(frame, schema, shoal.KMember(k=2), require=[model])
        assert release.table["x"].n_unique() == 1


def test_what_everybody_guards_and_has_is_a_breach_however_much_else_they_have():
    tree = shoal.Hierarchy(
        [("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*"), ("gout", "bone", "*")]
    )
    diseases = ["flu", "ulcer", "gout"] * 2
    people = np.repeat([0, 1], 3)
    column = Values.of(pl.Series(diseases), shoal.Nominal(tree), people)
    guards = pl.Series(["lung"] * 6)
    model = shoal.GuardingNodes("d", p=0.5)
    by_rows = Classes(np.zeros(6, dtype=np.int64), {"d": replace(column, people=None)}, guards)
    assert model.achieved(by_rows) == pytest.approx(1 / 3)
    assert model.achieved(Classes(np.zeros(6, dtype=np.int64), {"d": column}, guards, people=people)) == 1.0


def test_how_likely_people_are_in_a_release_counts_people_before_the_work_too():
    """Thirty rows of six people in a population of ten are no chance of three."""
    frame = pl.DataFrame({"who": [row % 6 for row in range(30)], "age": [20 + row % 6 for row in range(30)]})
    schema = shoal.Schema(person="who", quasi={"age": shoal.Numeric()})
    population = pl.DataFrame({"age": [20, 21, 22, 23, 24, 25, 21, 22, 23, 24]})

    def release(low, high):
        require = [shoal.DeltaPresence(low=low, high=high)]
        return shoal.anonymize(frame, schema, shoal.Mondrian(k=6), require=require, population=population, seed=1)

    assert release(0.1, 0.7).receipt.achieved["presence"] == pytest.approx(0.6)
    with pytest.raises(InfeasibleError, match=r"6 of 10 people give a mean probability of 0\.6"):
        release(0.1, 0.5)


def test_a_value_in_clear_is_shown_by_enough_people(monkeypatch):
    """Six visits of one person are not six people who show what they have."""
    who = ["a"] * 6 + [f"p{row}" for row in range(12)]
    frame = pl.DataFrame({"who": who, "age": range(20, 38), "d": ["lupus"] * 6 + ["flu", "cold"] * 6, "show": [1] * 18})
    schema = shoal.Schema(person="who", quasi={"age": shoal.Numeric()}, sensitive=["d"], choice="show")
    hiding = [shoal.Generalize(), shoal.Aliases("d", min_support=5)]
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), publish=hiding, seed=1)
    assert set(release.table["d"]) > {"flu", "cold"}
    assert "lupus" not in set(release.table["d"])
    release.verify(original=frame, schema=schema, key=release.key)
    monkeypatch.setattr(aliases, "_supported", lambda choices, *_: choices)
    with pytest.raises(GuaranteeError, match="chose"):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2), publish=hiding, seed=1)


def test_numbers_that_everybody_of_a_class_has_are_close():
    rows = [(person, 20 + place, number) for place, person in enumerate("abcd") for number in (0, 100, 200, 300)]
    frame = pl.DataFrame(rows, schema=["who", "x", "w"], orient="row")
    schema = shoal.Schema(person="who", quasi={"x": shoal.Numeric()}, sensitive={"w": shoal.Numeric()})
    with pytest.raises(InfeasibleError):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[shoal.EpsilonM("w", epsilon=10, m=1.1)])


def test_k_rows_of_two_people_are_no_class_of_k():
    frame = pl.DataFrame(
        {"id": ["a"] * 5 + ["b"] * 5 + [f"c{i}" for i in range(6)], "age": [30] * 10 + [50, 51, 52, 53, 54, 55]}
    )
    quasi = {"age": shoal.Numeric()}
    by_rows = shoal.anonymize(frame, shoal.Schema(quasi=quasi, identifying=["id"]), shoal.Mondrian(k=3), seed=1)
    by_people = shoal.anonymize(frame, shoal.Schema(quasi=quasi, person="id"), shoal.Mondrian(k=3), seed=1)
    assert len(set(by_rows.labels[:10])) >= 1
    assert set(by_rows.labels[:10]).isdisjoint(by_rows.labels[10:])
    assert len({frame["id"][int(row)] for row in np.flatnonzero(by_people.labels == by_people.labels[0])}) >= 3


def test_what_people_are_called_changes_nothing(tmp_path):
    other = {name: f"{hash(name) % 997}-{place}" for place, name in enumerate(FRAME["patient"].unique().sort())}
    renamed = FRAME.with_columns(pl.col("patient").replace_strict(other))
    for place, frame in enumerate((FRAME, renamed)):
        release = shoal.anonymize(frame, SCHEMA, shoal.KMember(k=4), seed=2)
        release.public().write(tmp_path / str(place))
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / str(i)).iterdir()} for i in range(2))
    assert one == two
    assert not any(b"patient" in content or b"P-0" in content for content in one.values())


ILLS = ["flu", "cold", "ulcer", "cough", "gout", "mumps"]
STEADY = FRAME.with_columns(
    zip=pl.Series([f"4{who % 2}000" for who in WHO]),
    disease=pl.Series([ILLS[(int(who) // 2 + (row % 9 == 0)) % 6] for row, who in enumerate(WHO)]),
    income=pl.Series([int(who) // 2 % 7 for who in WHO]),
)
"""People who mostly have the same whenever they come: buckets hide what somebody has, not what many have at times."""


class TestBuckets:
    """Rows and sensitive values stand apart, or slices do: people are counted with the input."""

    @pytest.mark.parametrize("l", [2, 3])
    def test_anatomy(self, l):  # noqa: E741
        release = shoal.anonymize(STEADY, SCHEMA, shoal.Anatomy(l=l, column="disease"), seed=3)
        shares = [share(pairs) for pairs in of_classes(release, "disease", STEADY)]
        reached = release.verify(original=STEADY, schema=SCHEMA).achieved
        assert reached == {"alpha:disease": pytest.approx(max(shares))}
        assert max(shares) <= 1 / l + 1e-12

    @given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd")), min_size=4, max_size=24))
    def test_any_table(self, rows):
        frame = pl.DataFrame(
            {"id": [who for who, _ in rows], "age": range(len(rows)), "s": [value for _, value in rows]}
        )
        schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()}, sensitive=["s"])
        try:
            release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), seed=1)
        except InfeasibleError:
            return
        for label in range(int(release.labels.max()) + 1):
            inside = {row for row, own in zip(rows, release.labels.tolist(), strict=True) if own == label}
            assert share(inside) <= 0.5

    @pytest.mark.parametrize(
        "options",
        [
            {"groups": {"age": 1, "zip": 2, "disease": 2, "income": 3}},
            {"sensitive_apart": True, "k": 4},
            {"l": 3, "sensitive_apart": True},
        ],
    )
    @pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
    def test_slicing(self, options):
        method = shoal.Slicing(**{"l": 2, **options})
        release = shoal.anonymize(STEADY, SCHEMA, method, seed=3)
        verdict = release.verify(original=STEADY, schema=SCHEMA)
        assert verdict.achieved["bucket_size"] == min(map(len, of_classes(release))) >= method.min_group_size
        rows = STEADY.with_columns(bucket=pl.Series(release.labels))
        slices, quasi = [one.attributes for one in release.manifest.layout.slices], ("age", "zip")
        for name in ("disease", "income"):
            worst = max(
                chance for person in STEADY.select(quasi).unique().to_dicts()
                for chance in chances(person, rows.to_dicts(), slices, name).values()
            )  # fmt: skip
            assert verdict.achieved[f"slice_l:{name}"] == pytest.approx(float(1 / worst))
            assert worst <= 1 / method.l + 1e-12

    @pytest.mark.parametrize("method", [shoal.Anatomy(l=2, column="disease"), shoal.Slicing(l=2, sensitive_apart=True)])
    @pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
    def test_the_holder_counts_them_and_believes_no_receipt(self, method, tmp_path):
        release = shoal.anonymize(STEADY, SCHEMA, method, seed=3)
        release.write(tmp_path / "out")
        assert shoal.read_release(tmp_path / "out").manifest.achieved == {}
        assert all("needs the original" in text for text in shoal.read_release(tmp_path / "out").verify().unchecked)
        held = shoal.read_release(tmp_path / "out", tmp_path / "out.receipt.json")
        assert held.verify(original=STEADY, schema=SCHEMA).achieved == release.receipt.achieved
        moved = held.receipt.model_copy(update={"places": packed_places(np.roll(held.receipt.place_of, 1))})
        with pytest.raises(GuaranteeError, match="than the original has"):
            replace(held, receipt=moved).verify(original=STEADY, schema=SCHEMA)
        with pytest.raises(GuaranteeError, match="was promised, the weakest class reaches"):
            held.verify(original=STEADY.with_columns(patient=pl.lit("everybody")), schema=SCHEMA)


def chances(person, rows, slices, name):
    """How likely each value of a sensitive attribute is for somebody with some quasi-identifiers, person by person."""
    found, total = defaultdict(Fraction), Fraction(0)
    for bucket in {row["bucket"] for row in rows}:
        inside, weight = [row for row in rows if row["bucket"] == bucket], Fraction(1)
        for names in slices:
            known = [one for one in names if one in person]
            with_all = {(row["patient"], *(row[one] for one in known)) for row in inside}
            beside = {who for who, *cells in with_all if cells == [person[one] for one in known]}
            weight *= Fraction(len(beside), len(with_all))
            if name in names:
                who_has = defaultdict(set)
                for row in inside:
                    if all(row[one] == person[one] for one in known):
                        who_has[row[name]].add(row["patient"])
                shares = {value: Fraction(len(people), len(beside)) for value, people in who_has.items()}
        total += weight
        if weight:
            for value, part in shares.items():
                found[value] += weight * part
    return {value: chance / total for value, chance in found.items()}


class TestFilesAlone:
    """The files show rows; only the holder, with input and receipt, shows people."""

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory):
        folder = tmp_path_factory.mktemp("people") / "out"
        shoal.anonymize(
            FRAME, SCHEMA, shoal.Mondrian(k=4), require=[shoal.LDiversity("disease", l=1.5, variant="entropy")], seed=3
        ).write(folder)
        return folder

    def test_nothing_is_claimed_of_people(self, folder):
        release = shoal.read_release(folder)
        verdict = release.verify()
        assert verdict.achieved == {}
        assert len(verdict.unchecked) == 2
        assert all("counts people" in text for text in verdict.unchecked)
        assert [text.partition(":")[0] for text in verdict.unchecked] == ["k-anonymity", "l-diversity of 'disease'"]
        assert not any(name.startswith("prosecutor") for name in release.manifest.measures)
        with pytest.raises(ParameterError, match="counts people"):
            verdict.k  # noqa: B018
        with pytest.raises(ParameterError, match="counts people"):
            release.measure("prosecutor_max")

    def test_the_holder_counts_them(self, folder):
        held = shoal.read_release(folder, folder.with_name("out.receipt.json"))
        verdict = held.verify(original=FRAME, schema=SCHEMA)
        assert verdict.k >= 4
        assert verdict.unchecked == ()
        assert verdict.public == {}
        assert held.measure()["prosecutor_max"] == 1 / verdict.k

    def test_fewer_people_than_promised_are_found_out(self, folder):
        held = shoal.read_release(folder, folder.with_name("out.receipt.json"))
        fewer = FRAME.with_columns(patient=pl.lit("everybody"))
        with pytest.raises(GuaranteeError, match="k = 4 was promised, the weakest class reaches 1"):
            held.verify(original=fewer, schema=SCHEMA)

    def test_a_receipt_is_not_believed(self, folder):
        path = folder.with_name("out.receipt.json")
        held = shoal.read_release(folder, path)
        places = held.receipt.place_of
        swapped = held.receipt.model_copy(update={"places": packed_places(np.roll(places, 1))})
        twice = held.receipt.model_copy(update={"places": packed_places(np.zeros_like(places))})
        broken = held.receipt.model_copy(update={"places": "no such thing"})
        for receipt, error, text in (
            (swapped, GuaranteeError, "do not cover what the original has"),
            (twice, GuaranteeError, "does not say of every published row"),
            (broken, SourceError, "it was changed"),
        ):
            with pytest.raises(error, match=text):
                replace(held, receipt=receipt).verify(original=FRAME, schema=SCHEMA)

    def test_too_few_rows_are_refused_without_the_holder(self, folder):
        assert json.loads((folder / "manifest.json").read_text())["recipe"]["counts"] == "people"
        problems, classes = Problems(), shoal.read_release(folder).verify().classes
        reached([shoal.KAnonymity(k=90)], classes, problems, people=True)
        with pytest.raises(GuaranteeError, match="k = 90 was promised, the weakest class reaches"):
            problems.raise_if_any(GuaranteeError)


class TestBadInput:
    def test_rows_of_nobody(self):
        holes = FRAME.with_columns(
            pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("patient")).alias("patient")
        )
        with pytest.raises(SchemaError, match=r"'patient': says whose row each one is, but 3 cells are missing"):
            shoal.anonymize(holes, SCHEMA, shoal.Mondrian(k=2))

    def test_too_few_people(self):
        with pytest.raises(InfeasibleError, match=f"k = 25, but the table has 90 rows of {len(set(WHO))} people"):
            shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=25))

    @pytest.mark.parametrize("options", [{"p": 2}, {"overlap": "age"}])
    def test_slices_that_count_rows(self, options):
        with pytest.raises(ParameterError, match=f"Slicing.{next(iter(options))}=.: counts rows, but column 'patient'"):
            shoal.anonymize(STEADY, SCHEMA, shoal.Slicing(l=2, **options))

    def test_aliases_in_buckets(self):
        with pytest.raises(ParameterError, match="only count of values as they are"):
            shoal.anonymize(STEADY, SCHEMA, shoal.Anatomy(l=2, column="disease"), publish=shoal.Aliases("disease"))

    def test_a_value_that_too_many_people_have(self):
        often = pl.DataFrame({"id": [0, 1, 2, 3, 0, 0], "age": [1, 2, 3, 4, 5, 6], "s": ["a", "a", "a", "b", "b", "c"]})
        schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()}, sensitive=["s"])
        with pytest.raises(InfeasibleError, match=r"in 3 of 4 people \(75.0%\), l = 2 allows"):
            shoal.anonymize(often, schema, shoal.Anatomy(l=2))

    def test_weights_are_above_zero(self):
        frame = FRAME.with_columns(w=pl.Series([0.0, -1.0] + [2.5] * (N - 2)))
        schema = shoal.Schema(quasi=SCHEMA.quasi, sensitive=["disease"], weight="w", rest="drop")
        with pytest.raises(SchemaError, match=r"'w': 2 weights are missing or not above 0, at rows 1, 2"):
            shoal.anonymize(frame, schema, shoal.Mondrian(k=2))

    def test_two_roles_and_no_text(self):
        with pytest.raises(SchemaError, match="has two roles: "):
            shoal.Schema(quasi={"age": shoal.Numeric()}, person="age")
        with pytest.raises(SchemaError, match=r"schema\.person: needs the name of one column"):
            shoal.Schema(quasi={"age": shoal.Numeric()}, person=["age"])


class TestWeights:
    """Each row of a survey stands for people of a population."""

    FRAME = pl.DataFrame({"age": [20, 21, 50, 51, 52], "w": [10.0, 20.0, 1.0, 0.5, 4.0]})
    SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, weight="w")

    def test_they_are_published_and_used_for_the_population(self):
        release = shoal.anonymize(self.FRAME, self.SCHEMA, shoal.Mondrian(k=2), seed=1)
        assert sorted(release.table["w"].to_list()) == sorted(self.FRAME["w"].to_list())
        # The classes stand for 30 and 1 + 1 + 4 people: nobody for less than one.
        assert release.measure("journalist_max") == {"journalist_max": pytest.approx(1 / 6)}
        assert release.measure("marketer") == {"marketer": pytest.approx((2 / 30 + 3 / 6) / 5)}
        assert release.measure("journalist_max", fraction=1.0) == {"journalist_max": pytest.approx(1 / 2)}

    def test_whoever_has_several_rows_stands_for_one(self):
        frame = self.FRAME.with_columns(id=pl.Series(["a", "b", "c", "d", "c"]))
        schema = shoal.Schema(quasi={"age": shoal.Numeric()}, weight="w", person="id")
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)
        found = release.measure("journalist_max", original=frame, schema=schema)
        assert found == {"journalist_max": pytest.approx(1 / 2)}  # c stands for 1, d for one at least


def test_risk_is_a_persons():
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3)
    sizes, smallest = {label: len(set(WHO[release.labels == label])) for label in set(release.labels.tolist())}, {}
    for row, label in enumerate(release.labels.tolist()):
        smallest[WHO[row]] = min(smallest.get(WHO[row], N), sizes[label])
    figures = release.measure()
    assert figures["prosecutor_max"] == 1 / min(sizes.values())
    assert figures["prosecutor_mean"] == pytest.approx(np.mean([1 / one for one in smallest.values()]))
    assert figures["prosecutor_high_share"] == pytest.approx(np.mean([one < 5 for one in smallest.values()]))
    by_row = release.by_person(FRAME, schema=SCHEMA)
    assert by_row["class_size"].to_list() == [smallest[who] for who in WHO]


def test_a_person_in_recipes(tmp_path, call):
    FRAME.write_csv(tmp_path / "visits.csv")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f"""
[source]
path = "{tmp_path / "visits.csv"}"
[columns.patient]
role = "person"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.zip]
role = "quasi"
kind = "nominal"
[columns.disease]
role = "sensitive"
[columns.income]
role = "weight"
[method]
name = "mondrian"
k = 4
"""
    )
    assert shoal.Recipe.from_toml(shoal.Recipe.load(recipe).to_toml()).schema.person == "patient"
    status, _, errors = call("run", str(recipe), "-o", str(tmp_path / "out"))
    assert status == 0, errors
    status, output, _ = call("verify", str(tmp_path / "out"))
    assert status == 0
    assert "the files alone show rows" in " ".join(output.split())
    status, output, _ = call("verify", str(tmp_path / "out"), "--original", str(recipe))
    assert status == 0
    assert "unchecked" not in output
    assert "k = " in output
    status, output, _ = call("measure", str(tmp_path / "out"), "--original", str(recipe), "-m", "prosecutor_max")
    assert status == 0, "the receipt beside it says whose rows are where"
    other = tmp_path / "other.toml"
    text = recipe.read_text().replace('patient]\nrole = "person"', 'patient]\nrole = "identifying"')
    other.write_text(text.replace('zip]\nrole = "quasi"\nkind = "nominal"', 'zip]\nrole = "person"'))
    status, _, errors = call("verify", str(tmp_path / "out"), "--original", str(other))
    assert status != 0
    (tmp_path / "out.receipt.json").rename(tmp_path / "elsewhere.json")
    status, _, errors = call("verify", str(tmp_path / "out"), "--original", str(recipe))
    assert status == 2
    assert "whose rows are where is only in the receipt" in " ".join(errors.split())
    status, _, errors = call("run", str(recipe), "--shape", "classes", "-o", str(tmp_path / "classes"))
    assert status == 0, errors


def test_given_without_places_tells_no_people():
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3)
    assert not Given(release.frames, release.manifest).tells_people


def test_attacks_are_on_people():
    """Whoever points at a row of a class is right if it is any of the person's."""
    release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3)
    rows = [np.flatnonzero(release.labels == label) for label in release.labels]
    chance = [np.mean(WHO[there] == WHO[row]) for row, there in enumerate(rows)]
    best = [max(chance[row] for row in np.flatnonzero(one == WHO)) for one in set(WHO)]
    found = release.attack(FRAME, "linking", schema=SCHEMA)["linking"]
    assert found.success >= np.mean([1 / len(there) for there in rows])
    assert found.success == pytest.approx(np.mean(best))


def test_a_series_knows_people_by_their_id():
    frame = pl.DataFrame(
        {"id": ["a", "b", "c", "d"], "whose": ["p", "p", "q", "q"], "age": [1, 2, 3, 4], "s": list("uvuv")}
    )
    schema = shoal.Schema(identifying=["id"], person="whose", quasi={"age": shoal.Numeric()}, sensitive=["s"])
    with pytest.raises(ParameterError, match="m-invariance knows people by 'id', and each has one row"):
        shoal.republish(frame, schema, shoal.MInvariance(m=2, id="id", column="s"))


def test_any_published_table_is_counted_by_rows():
    table = pl.DataFrame({"age": ["[1, 9]"] * 4, "disease": list("uvuv")})
    schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    assert any("rows are counted, not people" in text for text in shoal.verify_table(table, schema).warnings)


class TestAttacks:
    """What fresh eyes tried."""

    def test_a_value_that_everybody_has_is_no_diversity(self):
        rows = [(f"p{who}", 20 + who, ill) for who in range(60) for ill in ("flu", f"x{who % 20}")]
        frame = pl.DataFrame(rows, schema=["id", "age", "disease"], orient="row")
        schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()}, sensitive=["disease"])
        for asked in (
            shoal.LDiversity("disease", l=2, variant="entropy"),
            shoal.LDiversity("disease", l=3, variant="recursive", c=3),
            shoal.AlphaK("disease", alpha=0.9),
        ):
            with pytest.raises(InfeasibleError):
                shoal.anonymize(frame, schema, shoal.Mondrian(k=5), require=[asked], seed=1)
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=1)
        assert [one.name for one in release.concerns] == ["alike-values"]

    @pytest.mark.parametrize("shape", ["text", "typed", "classes"])
    def test_every_shape_of_cells(self, shape, tmp_path):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), publish=shoal.Generalize(shape=shape), seed=3)
        release.write(tmp_path / "out")
        held = shoal.read_release(tmp_path / "out", tmp_path / "out.receipt.json")
        assert held.verify(original=FRAME, schema=SCHEMA).k == min(map(len, of_classes(release)))

    @pytest.mark.parametrize(
        "publish",
        [
            shoal.Aggregate(), shoal.Aggregate(numeric="median"), shoal.Aggregate(restore_variance=True),
            shoal.Centres(), shoal.Centres(centre="average"),
        ],
    )  # fmt: skip
    def test_places_of_averages_are_not_believed(self, publish):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=4), publish=publish, seed=3)
        assert release.verify(original=FRAME, schema=SCHEMA).k >= 4
        moved = release._places.copy()
        for value in FRAME["disease"].unique().sort():
            for income in range(1, 9):
                rows = np.flatnonzero(((FRAME["disease"] == value) & (FRAME["income"] == income)).to_numpy())
                moved[rows] = moved[np.roll(rows, 1)]
        assert (moved != release._places).any()
        expected = (
            "no rows that the original has" if publish == shoal.Centres() else "does not stand for what the original"
        )
        with pytest.raises(GuaranteeError, match=expected):
            replace(release, _places=moved).verify(original=FRAME, schema=SCHEMA)

    def test_a_release_by_rows_is_no_promise_to_people(self):
        by_rows = replace(SCHEMA, person=None, identifying=["patient"])
        release = shoal.anonymize(FRAME, by_rows, shoal.Mondrian(k=4), seed=3)
        with pytest.raises(GuaranteeError, match="counts rows, but column 'patient' says that people may have several"):
            release.verify(original=FRAME, schema=SCHEMA)

    def test_risk_by_person_needs_to_know_people(self):
        release = shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), seed=3)
        with pytest.raises(ParameterError, match="by_person: counts people"):
            replace(release, receipt=None, _places=None).by_person(FRAME, schema=SCHEMA)

    def test_people_spelt_in_two_ways(self):
        frame = pl.DataFrame({"id": ["a", "a ", "b", "B", "c"], "age": [1, 2, 3, 4, 5]})
        schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()})
        with pytest.warns(shoal.ShoalWarning, match="4 names of people differ from another only in spaces, case"):
            shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1)

    def test_periods_of_pandas(self):
        import pandas as pd

        frame = pd.DataFrame({"id": pd.period_range("2020", periods=6, freq="Y"), "age": [1, 2, 3, 4, 5, 6]})
        schema = shoal.Schema(person="id", quasi={"age": shoal.Numeric()})
        assert shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1).verify(original=frame, schema=schema).k >= 2

    @pytest.mark.parametrize("beside", ["identifying", "drop"])
    def test_visits_beside_the_number_of_a_person(self, beside):
        """A number of every visit hides that of the person, and people grow older between visits."""
        frame = FRAME.with_columns(visit=pl.Series([f"V{row}" for row in range(N)]))
        roles = {"identifying": ["visit", "patient"]} if beside == "identifying" else {"identifying": ["visit"]}
        schema = shoal.Schema(quasi=SCHEMA.quasi, sensitive=["disease"], rest="drop", **roles)
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), seed=3)
        (found,) = [one for one in release.concerns if one.name == "repeated-people"]
        assert found.column == "patient"
