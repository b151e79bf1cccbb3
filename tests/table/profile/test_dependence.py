"""Whether a column decides others: worked by hand, and as plain Python has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.table.profile import dependence
from shoal.table.profile.dependence import agreement, apart, by_chance, decides, more_alike, same_groups
from support.pairwise import examples
from twins import dependence as twin


def codes(*cells: int) -> np.ndarray:
    return np.array(cells, dtype=np.int64)


def test_agreement_by_hand():
    people = codes(0, 0, 1, 1, 1, 2)
    sex = codes(5, 5, 6, 6, 7, 7)
    assert agreement(people, [sex]) == 2 / 3  # rows 2, 4 and 5 follow a first one; the last differs from it
    assert agreement(people, [sex, np.zeros(6, dtype=np.int64)]) == 2 / 3
    assert agreement(people, [codes(5, -1, 6, 6, -1, 7)]) == 1  # what is missing disagrees with nobody
    assert agreement(people, []) is None
    assert agreement(codes(0, 1, 2, 3, 4, 5), [sex]) is None


def test_deciding_by_hand():
    number = np.repeat(np.arange(15), 3)  # 30 rows have an earlier one
    town = number % 5
    assert decides(number, town)
    assert not decides(town, number)
    assert not decides(number, np.zeros(45, dtype=np.int64))  # a constant is decided by nobody
    assert not decides(number[:24], town[:24])  # too few to say
    wrong = town.copy()
    wrong[1] = 9
    assert decides(number, wrong)  # 29 of 30 are 0.967
    wrong[4] = 9
    assert not decides(number, wrong)  # 28 of 30 are 0.933
    rare = np.zeros(45, dtype=np.int64)
    rare[0] = 1
    assert not decides(number, rare)  # 28 of 30 agree, and as many would by chance


def test_what_two_columns_say_apart():
    town = np.arange(120) % 12
    region, sex = town // 4, np.arange(120) // 60
    assert apart([region, town]) == 1
    assert apart([region, town, sex]) == 2
    assert same_groups(town, 11 - town)
    assert not same_groups(town, region)


def test_alike_by_hand():
    share, times = more_alike([codes(0, 0, 1, 1), codes(0, 0, 1, 2)])
    assert share == 0.5
    assert times == pytest.approx(2 / (12 * 0.5 * 0.375))  # two ordered pairs of twelve, where 2.25 are expected


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 2)), min_size=2, max_size=80), st.integers(1, 3))
def test_as_plain_python_has_it(rows, times):
    key, other = (np.array(column, dtype=np.int64) for column in zip(*(rows * times), strict=True))
    assert by_chance(other) == pytest.approx(twin.by_chance(other.tolist()))
    share, later = twin.agreeing(key.tolist(), other.tolist())
    assert agreement(key, [other]) == (pytest.approx(share) if later else None)
    assert decides(key, other) == twin.decides(key.tolist(), other.tolist())


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_alike_as_plain_python_has_it(rows):
    columns = [np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)]
    assert more_alike(columns) == pytest.approx(twin.more_alike([column.tolist() for column in columns]))


def test_a_glance_refuses_what_all_rows_refuse(monkeypatch):
    key = np.arange(900) % 150
    coin = (np.arange(900) * 7919 // 13) % 2
    whole = decides(key, coin), decides(key, key % 2)
    monkeypatch.setattr(dependence, "GLANCE", 200)
    assert (decides(key, coin), decides(key, key % 2)) == whole == (False, True)
