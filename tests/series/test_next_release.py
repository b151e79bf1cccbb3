"""Repeated releases: nobody's sensitive value comes out when they are compared."""

from __future__ import annotations

import warnings
from datetime import datetime
from decimal import Decimal
from itertools import cycle, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import testing
from shoal.cluster.signatures import assigned, spared
from support.forging import mended
from support.pairwise import examples
from support.series_example import FIRST, SCHEMA, TWO, table
from twins.m_invariance import can_be_grouped, candidates, highest_chance, least_counterfeits


def facts(release, members=None):
    """The values of every class, and its counterfeits."""
    values: dict[int, list] = {}
    for number, value in release.frames["table"].rows():
        values.setdefault(number, []).append(value)
    fakes = dict(release.frames["classes"].select("class", "counterfeits").rows())
    return values, fakes


def republish(frame, schema=SCHEMA, method=TWO, **options):
    """A release whose draws are always the same: of the first table, those of the worked example, a with b."""
    return shoal.republish(frame, schema, method, **{"seed": 3, **options})


def by_name(made, frame, ids="name"):
    """Class number of every person in the last release."""
    return dict(zip(frame[ids].to_list(), (made.release.labels + 1).tolist(), strict=True))


# -- the worked example -----------------------------------------------------------------------------------------


def test_the_worked_example():
    one = republish(FIRST, SCHEMA, TWO)
    values, fakes = facts(one.release)
    where = by_name(one, FIRST)
    assert sorted(values[where["a"]]) == ["flu", "gastritis"]
    assert where["a"] == where["b"]
    assert where["c"] == where["d"]
    assert set(fakes.values()) == {0}

    second = table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"), f=(80, "gastritis"))
    two = republish(second, SCHEMA, TWO, previous=one.release, state=one.state)
    where = by_name(two, second)
    assert (where["a"], where["c"]) == (where["f"], where["e"])
    assert two.release.manifest.rows.counterfeits == 0
    verdict = shoal.verify_series([one.release, two.release], two.state.memberships())
    assert verdict == shoal.SeriesVerdict(n_releases=2, m=2, counterfeits=(0, 0), n_people=6)


def test_the_worked_example_with_a_counterfeit():
    one = republish(FIRST, SCHEMA, TWO)
    second = table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"))
    two = republish(second, SCHEMA, TWO, previous=one.release, state=one.state)
    values, fakes = facts(two.release)
    where = by_name(two, second)
    assert sorted(values[where["a"]]) == ["flu", "gastritis"]
    assert fakes == {where["a"]: 1, where["c"]: 0}
    assert two.release.manifest.rows.counterfeits == 1
    assert (two.release.manifest.rows.published, two.release.frames["table"].height) == (3, 4)
    assert two.release.manifest.achieved == {"m:disease": 2, "k": 1}
    assert two.release.manifest.series.previous == one.release.manifest.fingerprint()


def test_pairing_by_age_alone_is_refused_by_the_checker():
    """a with e: their class has flu and bronchitis, so that a's values of both releases share flu alone."""
    one = republish(FIRST, SCHEMA, TWO)
    second = table(a=(20, "flu"), c=(40, "flu"), e=(22, "bronchitis"), f=(42, "gastritis"))
    forgetful = republish(second, seed=0)  # as if nothing had come before
    follows = forgetful.release.manifest.series.model_copy(
        update={"number": 2, "previous": one.release.manifest.fingerprint()}
    )
    naive = shoal.Release(
        forgetful.release.frames, forgetful.release.manifest.model_copy(update={"series": follows}), np.zeros(4, int)
    )
    members = [by_name(one, FIRST), by_name(forgetful, second)]
    assert members[1]["a"] == members[1]["e"]
    assert shoal.verify_series([one.release, naive]).n_people is None
    with pytest.raises(shoal.GuaranteeError, match="release 2: 2 people are in a class with other sensitive values"):
        shoal.verify_series([one.release, naive], members)
    assert candidates([facts(one.release)[0], facts(naive)[0]], members)["a"] == {"flu"}


# -- histories --------------------------------------------------------------------------------------------------

VALUES = ("flu", "cold", "ulcer", "gastritis", None)


@st.composite
def histories(draw, max_people=14, max_releases=4, most=3):
    """Who is in which release, with values of their own; everybody may leave, and come back."""
    chosen = draw(st.integers(2, most))
    n_people = draw(st.integers(chosen, max_people))
    values = draw(st.permutations(VALUES * 3))[:n_people]  # balanced, so that most first releases can be made
    ages = draw(st.lists(st.integers(0, 9), min_size=n_people, max_size=n_people))
    people = [(f"p{i}", age, value) for i, (age, value) in enumerate(zip(ages, values, strict=True))]
    present = st.sets(st.integers(0, n_people - 1), min_size=1)
    releases = draw(st.lists(present, min_size=1, max_size=max_releases))
    frames = [table(**{people[i][0]: people[i][1:] for i in sorted(inside)}) for inside in releases]
    return chosen, frames, draw(st.integers(0, 9))


def series(m, frames, seed):
    """Every release that can be made, the first one first; those that cannot are left out."""
    method = shoal.MInvariance(m=m, id="name", column="disease")
    made, used = [], []
    for frame in frames:
        before = made[-1] if made else None
        try:
            made.append(
                republish(
                    frame, SCHEMA, method, previous=before and before.release, state=before and before.state, seed=seed
                )
            )
        except shoal.InfeasibleError:
            if before is not None:  # a later one only for values that nobody was published with yet
                known = {value for signature in before.state.signatures for value in signature}
                assert set(frame["disease"]) - known
            continue
        used.append(frame)
    return made, used


@given(histories())
@settings(max_examples=examples(20))
def test_no_history_leaves_an_attacker_with_fewer_than_m_values(history):
    m, frames, seed = history
    made, used = series(m, frames, seed)
    if not made:
        return
    verdict = shoal.verify_series([one.release for one in made], made[-1].state.memberships())
    assert verdict.m >= m
    members = [by_name(one, frame) for one, frame in zip(made, used, strict=True)]
    left = candidates([facts(one.release)[0] for one in made], members)
    for frame in used:
        for name, value in frame.select("name", "disease").rows():
            assert value in left[name]
            assert len(left[name]) >= m
    for one, frame in zip(made, used, strict=True):
        assert one.release.manifest.rows.published == frame.height
        assert one.release.frames["table"].height == frame.height + one.release.manifest.rows.counterfeits


@given(histories(max_people=5, max_releases=3, most=2))
@settings(max_examples=examples(20))
def test_all_worlds_that_fit_leave_a_chance_of_one_in_m(history):
    """Not only intersections: every assignment of values to people that fits all releases is counted."""
    m, frames, seed = history
    made, used = series(m, frames, seed)
    if made:
        members = [by_name(one, frame) for one, frame in zip(made, used, strict=True)]
        assert highest_chance([facts(one.release)[0] for one in made], members) <= 1 / m + 1e-9


@given(histories(max_people=10))
@settings(max_examples=examples(8))
def test_same_state_and_seed_same_release(history):
    m, frames, seed = history
    made, used = series(m, frames, seed)
    for place, frame in enumerate(used):
        before = made[place - 1] if place else None
        method = made[0].state.method
        again = republish(
            frame, SCHEMA, method, previous=before and before.release, state=before and before.state, seed=seed,
            threads=1,
        )  # fmt: skip
        assert again.release.manifest == made[place].release.manifest
        for name, shown in again.release.frames.items():
            assert shown.equals(made[place].release.frames[name])


@given(testing.tables("mixed", min_rows=4), st.data())
@settings(max_examples=examples(14))
def test_every_kind_of_column(case, data):
    """Quasi-identifiers of all kinds with missing cells, two releases, through files of both formats."""
    schema = shoal.Schema(identifying=["name"], quasi=case.schema.quasi, sensitive=["disease"], rest="drop")
    diseases = data.draw(st.permutations(["flu", "ulcer", "cold", None] * case.frame.height))[: case.frame.height]
    frame = case.frame.with_columns(pl.Series("disease", diseases, dtype=pl.String))
    before = frame.clone()
    try:
        one = republish(frame, schema, TWO, publish=shoal.Generalize(sets=data.draw(st.booleans())))
    except shoal.InfeasibleError:
        assert frame["disease"].value_counts()["count"].max() * 2 > frame.height
        return
    part = frame.filter(pl.Series(data.draw(st.lists(st.booleans(), min_size=frame.height, max_size=frame.height))))
    made = [one]
    if part.height:
        made.append(republish(part, schema, TWO, previous=one.release, state=one.state))
    shoal.verify_series([each.release for each in made], made[-1].state.memberships())
    assert frame.equals(before)
    for each in made:
        shown = each.release.frames["table"]
        assert shown.columns == ["class", "disease"]
        assert not {"name", "note"} & set(each.release.frames["classes"].columns)


# -- the phases -------------------------------------------------------------------------------------------------

COUNTS = st.lists(st.integers(0, 5), min_size=1, max_size=5)


@given(COUNTS, st.integers(2, 4))
def test_assignment_takes_every_eligible_row(counts, m):
    if max(counts) * m > sum(counts):
        return
    deals = assigned(np.array(counts), m)
    dealt = np.zeros(len(counts), dtype=int)
    for signature, depth in deals:
        assert len(signature) >= m
        assert depth >= 1
        dealt[list(signature)] += depth
    assert dealt.tolist() == counts


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(2, 3))
def test_eligible_is_what_can_be_grouped(counts, m):
    """A value with more than its share 1/m of the rows cannot be in different classes; otherwise there is a way."""
    assert can_be_grouped(counts, m) == (max(counts) * m <= sum(counts))


@given(st.data(), st.integers(2, 4))
def test_balancing_uses_as_many_new_rows_as_can_be(data, m):
    n_values = data.draw(st.integers(m, 5))
    wanted = data.draw(st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values))
    have = data.draw(st.lists(st.integers(0, 4), min_size=n_values, max_size=n_values))
    left, padding = spared(np.array(have), np.array(wanted), m, np.random.default_rng(data.draw(st.integers(0, 9))))
    assert (left <= have).all()
    assert (have - left <= wanted).all()
    rest = left + padding
    assert rest.max(initial=0) * m <= rest.sum()
    # One bucket per lack: a row of another value, and what is wanted beside it.
    buckets = [((value, n_values), {n_values: 1}) for value in range(n_values) for _ in range(wanted[value])]
    needed = sum(wanted) - int((np.array(have) - left).sum()) + int(padding.sum())
    assert needed == least_counterfeits(buckets, [*have, 0], m, n_values + 1)


def test_new_people_of_one_value_get_counterfeits_not_refused():
    one = republish(FIRST, SCHEMA, TWO)
    second = table(x=(20, "flu"), y=(30, "flu"), z=(40, "flu"))
    two = republish(second, SCHEMA, TWO, previous=one.release, state=one.state)
    assert two.release.manifest.rows.counterfeits == 3
    assert two.release.manifest.rows.published == 3
    shoal.verify_series([one.release, two.release], two.state.memberships())


def test_who_comes_back_has_the_signature_of_the_first_time():
    one = republish(FIRST, SCHEMA, TWO)
    second = table(x=(20, "flu"), y=(30, "ulcer"))
    two = republish(second, SCHEMA, TWO, previous=one.release, state=one.state)
    three = republish(table(a=(20, "flu"), y=(30, "ulcer")), SCHEMA, TWO, previous=two.release, state=two.state)
    values, fakes = facts(three.release)
    assert sorted(map(sorted, values.values())) == [["flu", "gastritis"], ["flu", "ulcer"]]
    assert set(fakes.values()) == {1}
    shoal.verify_series([one.release, two.release, three.release], three.state.memberships())


def test_a_value_that_changed_within_the_signature_is_served():
    one = republish(FIRST, SCHEMA, TWO)
    two = republish(table(a=(20, "gastritis")), SCHEMA, TWO, previous=one.release, state=one.state)
    assert sorted(two.release.frames["table"]["disease"]) == ["flu", "gastritis"]


def test_numbers_as_sensitive_values_stay_the_same_whatever_the_others_are():
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    method = shoal.MInvariance(m=2, id="name", column="income")
    first = pl.DataFrame({"name": ["a", "b"], "age": [1, 2], "income": [1.5, 3.0]})
    one = republish(first, schema, method)
    two = republish(
        pl.DataFrame({"name": ["b"], "age": [2], "income": [3]}), schema, method, previous=one.release, state=one.state
    )
    assert sorted(two.release.frames["table"]["income"]) == [1.5, 3.0]
    shoal.verify_series([one.release, two.release], two.state.memberships())


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 3.5]),
        ([1.0, 2.5, 3.0, 4.0], [1.0, 2.0, 3.0]),
        ([Decimal("1.5"), Decimal("2.25"), Decimal("3.5"), Decimal("4.0")], [Decimal("1.5"), Decimal("3.5"), None]),
        ([datetime(2000, 1, day, day - 1) for day in (1, 2, 3, 4)], [datetime(2000, 1, day) for day in (1, 2, 3)]),
    ],
    ids=["whole before", "whole now", "fewer digits", "midnights"],
)
@pytest.mark.parametrize("kind", [None, shoal.Nominal()], ids=["no kind", "nominal"])
def test_values_without_a_kind_stay_the_same_whatever_the_others_are(before, now, kind):
    """They were spelt as the others needed it: who stayed was said to have another value, and was to be left out."""
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"disease": kind})
    first = pl.DataFrame({"name": list("abcd"), "age": range(4), "disease": before})
    one = republish(first, schema, TWO)
    second = pl.DataFrame({"name": list("axy"), "age": range(3), "disease": now})
    two = republish(second, schema, TWO, previous=one.release, state=one.state)
    shoal.verify_series([one.release, two.release], two.state.memberships(), two.state.fingerprints())


def test_counterfeits_are_spelt_as_people_are():
    """0.50 beside 0.5: the column came as decimals, and now as floats, and who has 0.25 was known."""
    first = pl.DataFrame({"name": list("abcd"), "age": range(4), "disease": [Decimal(n) / 4 for n in (1, 2, 3, 4)]})
    one = republish(first, SCHEMA, TWO)
    second = pl.DataFrame({"name": list("axy"), "age": [0, 1, 2], "disease": [0.25, 0.5, 0.75]})
    for seed in range(5):
        two = republish(second, SCHEMA, TWO, previous=one.release, state=one.state, seed=seed)
        assert two.release.manifest.rows.counterfeits
        assert {*two.release.frames["table"]["disease"]} <= {"0.25", "0.5", "0.75", "1"}


def test_orders_and_hierarchies_of_sensitive_values_cover_counterfeits():
    tree = shoal.Hierarchy([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*")])
    for kind in (shoal.Nominal(tree), shoal.Ordinal(["cold", "flu", "ulcer"])):
        schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"disease": kind})
        one = republish(table(a=(1, "flu"), b=(2, "ulcer")), schema, TWO)
        two = republish(table(a=(1, "flu")), schema, TWO, previous=one.release, state=one.state)
        assert sorted(two.release.frames["table"]["disease"]) == ["flu", "ulcer"]
        assert two.release.verify().achieved["m:disease"] == 2


def test_rows_are_in_no_order_and_counterfeits_look_like_the_others():
    """Whatever the order of the input and the draws, what shows the same is the same; so it says nothing about them."""
    found = {}
    for order, seed in zip(permutations(range(4)), cycle(range(5)), strict=False):
        made = republish(FIRST[list(order)], seed=seed)
        values, _ = facts(made.release)
        content = frozenset(frozenset(shown) for shown in values.values())
        cells = frozenset(made.release.frames["classes"]["age"])
        first = found.setdefault((content, cells), made)
        assert made.release.manifest == first.release.manifest
        assert all(shown.equals(first.release.frames[name]) for name, shown in made.release.frames.items())
    assert len(found) == 2, "either of those with flu is with either of the others, as it is drawn"

    one, second = republish(FIRST), table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"))
    two, *others = (
        republish(second[list(order)], previous=one.release, state=one.state, seed=seed)
        for seed, order in enumerate(permutations(range(3)))
    )
    assert two.release.manifest.rows.counterfeits == 1
    for other in others:
        assert other.release.manifest == two.release.manifest
        assert all(shown.equals(two.release.frames[name]) for name, shown in other.release.frames.items())


def test_dropped_rows_are_counted_and_stay_out():
    frame = pl.concat([FIRST, table(g=(None, "flu"))])
    made = republish(frame, SCHEMA, TWO, missing="drop")
    assert made.release.receipt.rows.dropped == {"missing quasi-identifier": 1}
    assert (made.release.manifest.rows.published, made.release.manifest.rows.left_out) == (4, 1)
    assert made.release.labels[-1] == -1
    assert len(made.state.people) == 4


def test_a_pandas_frame_gives_one_back():
    pandas = pytest.importorskip("pandas")
    made = republish(FIRST.to_pandas(), SCHEMA, TWO)
    assert isinstance(made.release.table, pandas.DataFrame)


SPELT = [["Flu", "Cold"] * 4, ["flu", "gout"] * 4, ["flu"] * 4]


def in_three_spellings(**options: bool) -> tuple[list[shoal.Republished], list[str]]:
    """Three releases of different people, one value spelt in two ways; and what was warned of."""
    made: list[shoal.Republished] = []
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        for number, diseases in enumerate(SPELT):
            rows = {f"{number}{i}": (20 + 10 * number + i, disease) for i, disease in enumerate(diseases)}
            before = {"previous": made[-1].release, "state": made[-1].state} if made else {}
            made.append(shoal.republish(table(**rows), SCHEMA, TWO, seed=number, **before, **options))
    return made, [str(one.message) for one in noted]


def test_a_value_of_an_earlier_release_in_another_spelling_is_the_same_value():
    """Else a class of one illness in two spellings would seem to hold two illnesses."""
    made, noted = in_three_spellings(normalise=True)
    assert not noted
    shown = {text for one in made for text in one.release.table["disease"]}
    assert shown == {"Flu", "Cold", "gout"}
    _, noted = in_three_spellings()
    assert len(noted) == 1  # when the other spelling comes in
    assert "column 'disease': 1 value differs from another" in noted[0]


def test_counterfeits_of_large_whole_numbers_look_like_the_others():
    large = 2**53 + 1
    frame = pl.DataFrame({"name": list("abcdefgh"), "age": range(20, 28), "v": [large, 5] * 4})
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"v": shoal.Numeric()})
    method = shoal.MInvariance(m=2, id="name", column="v")
    one = shoal.republish(frame, schema, method, seed=1)
    left = frame.filter(pl.col("name").is_in(list("bdfgh")))
    two = shoal.republish(left, schema, method, previous=one.release, state=one.state, seed=5)
    assert two.release.manifest.rows.counterfeits
    assert set(two.release.table["v"]) == {large, 5}
    forged = two.release.frames["table"].with_columns(v=pl.col("v").replace(large, large - 1))
    with pytest.raises(shoal.GuaranteeError, match="other sensitive values than in their first release"):
        shoal.verify_series([one.release, mended(two.release, table=forged)], two.state.memberships())


def test_ids_that_differ_in_spaces_alone_are_warned_of():
    frame = FIRST.with_columns(name=FIRST["name"].str.replace("^b$", "a "))
    said = "column 'name': 2 ids differ from another, of this release or an earlier one, only in spaces around it; they"
    with pytest.warns(shoal.ShoalWarning, match=said):
        shoal.republish(frame, SCHEMA, TWO, seed=3)
    one = shoal.republish(FIRST, SCHEMA, TWO, seed=3)
    again = FIRST.with_columns(name=FIRST["name"].str.replace("^b$", " b"))
    with pytest.warns(shoal.ShoalWarning, match="column 'name': 1 id differs from another"):
        shoal.republish(again, SCHEMA, TWO, previous=one.release, state=one.state, seed=4)


@pytest.mark.parametrize(
    ("before", "now"),
    [("abcd", "ABCD"), (["ann lee", "bo", "cy", "di"], ["Ann Lee", "Bo", "Cy", "Di"]),
     (["01", "02", "03", "04"], [1, 2, 3, 4]), ([1, 2, 3, 4], ["0001", "0002", "0003", "0004"]),
     (["\u00e4", "\u00f6", "\u00fc", "\u00e9"], ["a\u0308", "o\u0308", "u\u0308", "e\u0301"])],
    ids=["case", "names", "without zeros", "with zeros", "Unicode form"],
)  # fmt: skip
def test_old_ids_in_another_form_are_warned_of(before, now):
    """They count as new people: who compares the releases intersects their classes."""
    one = shoal.republish(FIRST.with_columns(name=pl.Series(list(before))), SCHEMA, TWO, seed=3)
    again = FIRST.with_columns(name=pl.Series(list(now)))
    said = "column 'name': 4 new ids differ from old ones only in case, Unicode form or zeros in front; they count as"
    with pytest.warns(shoal.ShoalWarning, match=said):
        shoal.republish(again, SCHEMA, TWO, previous=one.release, state=one.state, seed=4)


def test_ids_with_spaces_that_are_nobody_elses_are_not():
    frame = FIRST.with_columns(name=FIRST["name"] + " ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.republish(frame, SCHEMA, TWO, seed=3)
