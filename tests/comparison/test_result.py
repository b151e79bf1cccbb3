"""The table of a comparison, what nothing beats, and the recipe to take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.comparison.certainty import Certainty, samples
from shoal.comparison.result import Comparison

ROWS = {
    "mondrian k=3": {"ncp": 0.2, "prosecutor_max": 1 / 3, "seconds": 1.0},
    "mondrian k=10": {"ncp": 0.4, "prosecutor_max": 0.1, "seconds": 1.0},
    "caat k=10": {"ncp": 0.3, "prosecutor_max": 0.1, "seconds": 9.0},
    "kaca k=10": {"ncp": 0.5, "prosecutor_max": 0.1, "seconds": 9.5},
}


def test_short_names_stand_for_what_all_have():
    assert Comparison(ROWS).axes == {"loss": "ncp", "risk": "prosecutor_max", "time": "seconds"}
    mixed = ROWS | {"mdav k=3": {"sse_percent": 3.0, "prosecutor_max": 0.3, "seconds": 1.0}}
    assert "loss" not in Comparison(mixed).axes
    shared = {name: row | {"pair_error": 0.1, "linking": 0.2} for name, row in mixed.items()}
    del shared["mdav k=3"]["prosecutor_max"]
    shared = {name: row | {"accuracy": 0.8} for name, row in shared.items()}
    assert Comparison(shared).axes == {
        "loss": "pair_error", "risk": "linking", "accuracy": "accuracy", "time": "seconds",
    }  # fmt: skip


def test_accuracy_is_the_better_the_higher():
    rows = {
        name: row | {"accuracy": score} for (name, row), score in zip(ROWS.items(), (0.9, 0.8, 0.7, 0.95), strict=True)
    }
    found = Comparison(rows)
    assert found.frontier("accuracy") == ["kaca k=10"]
    assert found.recommend("accuracy, loss <= 0.45").name == "mondrian k=3"
    assert found.recommend("loss, risk <= 0.1, accuracy >= 0.75").name == "mondrian k=10"


def test_of_equally_good_releases_one_is_taken_that_none_of_them_beats():
    rows = {name: ROWS[name] for name in ("kaca k=10", "caat k=10", "mondrian k=10")}
    found = Comparison(rows)
    assert found.recommend("risk").name == "caat k=10"  # kaca is as safe, but slower, and loses more
    assert found.recommend("risk, loss > 0.35").name == "mondrian k=10"


def test_the_table_has_a_row_for_each():
    frame = Comparison(ROWS).to_frame("loss", "seconds")
    assert frame.columns == ["release", "loss", "seconds"]
    assert frame.rows()[2] == ("caat k=10", 0.3, 9.0)
    assert Comparison(ROWS).to_frame().columns == ["release", "ncp", "prosecutor_max", "seconds"]


def test_the_frontier_is_what_nothing_beats():
    found = Comparison(ROWS)
    assert found.frontier() == ["mondrian k=3", "mondrian k=10", "caat k=10"]
    assert found.frontier("loss", "risk") == ["mondrian k=3", "caat k=10"]
    assert found.frontier("time") == ["mondrian k=3", "mondrian k=10"]


KEYS = ("ncp", "prosecutor_max", "seconds")
FIGURES = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=3),
    st.fixed_dictionaries(dict.fromkeys(KEYS, st.integers(0, 4))),
    min_size=1,
    max_size=12,
)


@given(FIGURES)
def test_what_is_not_on_the_frontier_is_beaten_by_something_on_it(rows):
    best = Comparison(rows).frontier()
    assert best
    for name, row in rows.items():
        better = [one for one in best if rows[one] != row and all(rows[one][key] <= row[key] for key in row)]
        assert (name in best) != bool(better)


def test_a_wish_names_the_best_within_bounds():
    found = Comparison(ROWS)
    assert found.recommend("loss").name == "mondrian k=3"
    choice = found.recommend("loss, risk <= 0.1")
    assert choice.name == "caat k=10"
    assert choice.why == (
        "caat k=10 has the least loss (ncp 0.3) of 3 of 4 releases that keep the bounds, "
        "with risk 0.1 (<= 0.1); next is mondrian k=10 (0.4)."
    )
    assert found.recommend("loss, risk <= 0.1, time < 5").name == "mondrian k=10"
    assert found.recommend("time, ncp<=2.5e-1").name == "mondrian k=3"


def test_more_is_better_of_some_figures():
    rows = {"a": {"membership_ratio": 2.0}, "b": {"membership_ratio": 5.0}}
    found = Comparison(rows)
    assert found.recommend("membership_ratio").why.startswith("b has the most membership_ratio")
    assert found.frontier("membership_ratio") == ["b"]


def test_bounds_that_nothing_keeps_say_how_near_the_best_is():
    with pytest.raises(shoal.InfeasibleError) as refused:
        Comparison(ROWS).recommend("loss, risk <= 0.05, time < 3")
    assert "recommend risk <= 0.05: no release keeps all bounds; the best risk of all is 0.1" in str(refused.value)
    assert "the best time of all is 1 (mondrian k=3)" in str(refused.value)


def test_bounds_apart_may_be_kept_and_together_not():
    with pytest.raises(shoal.InfeasibleError, match=r"the best loss of all is 0.2 .*\n.*the best risk of all is 0.1"):
        Comparison(ROWS).recommend("time, loss <= 0.25, risk <= 0.2")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("", "does not begin with a figure"),
        ("loss, risk", "'risk' is no bound"),
        ("loss, risk <= much", "is no bound"),
        ("loss, risk <= 1.2.3", "'risk <= 1.2.3' is no bound"),
        ("los", "'los' is no figure that all releases have; did you mean 'loss'?"),
        ("loss, riks <= 1", "'riks' is no figure that all releases have; did you mean 'risk'?"),
        ("<b>, risk", "does not begin with a figure"),
    ],
)
def test_wishes_that_cannot_be_read(wish, said):
    with pytest.raises(shoal.ParameterError) as refused:
        Comparison(ROWS).recommend(wish)
    assert said in str(refused.value)


def test_all_mistakes_of_a_wish_are_in_one_error():
    with pytest.raises(shoal.ParameterError) as refused:
        Comparison(ROWS).recommend("loss, riks <= 1, what, time <= 1.2.3")
    assert len(refused.value.problems) == 3


def test_nothing_to_choose_from():
    with pytest.raises(shoal.ShoalError):
        Comparison({}).recommend("loss")


# -- how sure the order is -------------------------------------------------------------------------------------------


def of_samples(*values):
    """Samples in which releases a, b and c have these figures."""
    rows = [{name: {"ncp": value} for name, value in zip("abc", one, strict=True)} for one in values]
    return Certainty(100, 1000, tuple(rows))


def test_pairs_in_the_same_order_everywhere_are_sure():
    sure = of_samples((1, 2, 3), (1, 2, 3), (2, 4, 6))
    assert sure.agreement("ncp") == 1
    half = of_samples((1, 2, 3), (1, 2, 3), (1, 3, 2))
    assert half.agreement("ncp") == pytest.approx(2 / 3)
    assert half.of_pair("b", "c", "ncp") == "in this order in 2 of 3 samples of 100 rows"
    assert half.means()["a"] == {"ncp": 1.0}
    assert half.said("ncp").startswith("Compared on 3 samples of 100 of 1,000 rows: 67% of all pairs")


def test_a_release_that_one_sample_does_not_give_is_not_compared():
    rows = ({"a": {"ncp": 1.0}, "b": {"ncp": 2.0}}, {"a": {"ncp": 1.0}})
    assert Certainty(10, 20, rows).means() == {"a": {"ncp": 1.0}}


def test_samples_share_no_row_while_there_are_enough():
    frame = shoal.sample.people(100, seed=1).with_row_index("row")
    drawn = samples(frame, 20)
    rows = [row for one in drawn for row in one["row"].to_list()]
    assert len(rows) == len(set(rows)) == 100
    assert [one["row"].to_list() for one in samples(frame, 20)] == [one["row"].to_list() for one in drawn]
    assert all(one["row"].is_sorted() and one.height == 60 for one in samples(frame, 60))
