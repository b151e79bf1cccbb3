"""Averages and centres in files: their own input is never refused, one that they cannot be of is."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.measure.averaged import FITS
from support.pairwise import examples

SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric(), "pay": shoal.Numeric(), "sex": shoal.Nominal()})
SHOWN = {
    "means": shoal.Aggregate(),
    "medians": shoal.Aggregate(numeric="median"),
    "one median": shoal.Aggregate(average={"pay": "median"}),
    "restored": shoal.Aggregate(restore_variance=True),
    "central means": shoal.Centres(centre="average"),
    "records": shoal.Centres(),
}
NUMBERS = st.one_of(
    st.integers(0, 5),
    st.integers(-(2**60), 2**60),
    st.floats(-1e250, 1e250, allow_nan=False),
    st.floats(0, 1),
    st.none(),
)


def of_files(frame, publish, tmp_path_factory, **more):
    made = shoal.anonymize(frame, SCHEMA, shoal.Mdav(k=2), publish=publish, seed=1, **more)
    folder = tmp_path_factory.mktemp("release") / "out"
    made.write(folder)
    return shoal.read_release(folder)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from("ab")), min_size=3, max_size=14),
    st.sampled_from([*SHOWN]), st.sampled_from(["keep", "drop"]),
)  # fmt: skip
def test_the_input_is_taken(tmp_path_factory, rows, publish, missing):
    frame = pl.DataFrame(rows, schema={"age": pl.Float64, "pay": pl.Float64, "sex": pl.String}, orient="row")
    if missing == "drop" and frame.drop_nulls().height < 3:
        return
    release = of_files(frame, SHOWN[publish], tmp_path_factory, missing=missing)
    assert release.measure("suda", original=frame[::-1], schema=SCHEMA)


PEOPLE = pl.DataFrame(
    {"age": [20, 21, 23, 24, 40, 41, 43, 44], "pay": [10, 12, 11, 15, 30, 33, 38, 31], "sex": list("ffmmffmm")}
)


@pytest.mark.parametrize("publish", SHOWN)
def test_somebody_elses_numbers_are_refused(publish, tmp_path_factory):
    release = of_files(PEOPLE, SHOWN[publish], tmp_path_factory)
    for other in (PEOPLE.with_columns(pl.col("pay") + 20), PEOPLE.with_columns(pl.col("age") * 3)):
        with pytest.raises(shoal.ParameterError, match=r"averages of the release|shows as centres"):
            release.measure("suda", original=other, schema=SCHEMA)


@pytest.mark.parametrize("publish", ["means", "restored", "central means"])
def test_one_number_is_enough(publish, tmp_path_factory):
    release = of_files(PEOPLE, SHOWN[publish], tmp_path_factory)
    other = PEOPLE.with_columns(pay=pl.when(pl.col("age") == 23).then(pl.lit(12)).otherwise(pl.col("pay")))
    with pytest.raises(shoal.ParameterError, match="in column 'pay'"):
        release.attack(other, schema=SCHEMA)


def test_what_averages_can_be_of():
    """By hand: 2 and 8 are means of 1, 3 and 7, 9; not of 2, 2 and 5, 11, and of no four numbers of another sum."""

    def fits(rule, averages, numbers):
        return FITS[rule](np.array(averages, dtype=float), np.array(numbers, dtype=float))

    assert fits("mean", [2, 2, 8, 8], [1, 3, 7, 9])
    assert fits("mean", [2, 2, 8, 8], [0, 2, 2, 8, 8, 90]), "others may have been left out"
    assert not fits("mean", [2, 2, 8, 8], [1, 3, 7, 10])
    assert not fits("mean", [2, 2, 8, 8], [3, 3, 7, 7]), "means are no wider apart than numbers"
    assert not fits("mean", [2, 2, 2], [1, 3]), "more are shown than there are"
    assert fits("median", [2, 2, 8, 8], [2, 2, 8, 90])
    assert fits("median", [2, 2, 2, 9, 9, 9], [2, 2, 3, 8, 9, 9])
    assert not fits("median", [2, 2, 2, 9, 9, 9], [2, 3, 3, 3, 3, 9])
    assert fits("restored", [1, 1, 3, 3], [2 - 2**0.5, 2, 2, 2 + 2**0.5])
    assert not fits("restored", [1, 1, 3, 3], [0, 2, 2, 4.5])
    assert not fits("restored", [1, 1, 3, 3], [1, 2, 2, 3])
    assert fits("restored", [2, 2, 2, 2], [1, 2, 2, 3]), "equal averages cannot be stretched"
