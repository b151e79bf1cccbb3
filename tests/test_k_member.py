"""Greedy k-member against its worked example, its slow twin, and what it is chosen for: low loss."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from realdata import ADULT_QUASI, adult
from shoal import KMember, Nominal, Numeric
from test_caat import mixed
from twins.k_member import k_member, loss
from twins.tables import both, groups_of, patients, tables

P = patients()


def drawn(n_rows, *, start=0):
    """The start and the order of leftovers as the method draws them."""
    return start, np.random.default_rng(0).random(n_rows)


@pytest.mark.parametrize("ref", ["last", "seed"])
def test_worked_example(ref):
    """{2,3,5,7},{1,4,6} with a total loss of 212/39 + 59/13, the least of all partitions of the patients."""
    labels = P.labels(KMember(k=3, start=0, ref=ref))
    assert groups_of(labels) == {frozenset({2, 3, 5, 7}), frozenset({1, 4, 6})}
    release = shoal.anonymize(P.frame, P.schema, KMember(k=3, start=0, ref=ref))
    assert release.measure()["il_total"] == pytest.approx(212 / 39 + 59 / 13)


def test_steps_of_the_worked_example():
    """The figures along the way: what each record adds to the loss of the group."""

    def il(*numbers):
        rows = [P.rows[number - 1] for number in numbers]
        return len(rows) * loss(rows, P.rows, P.columns, "hierarchy")

    assert loss([P.rows[0], P.rows[6]], P.rows, P.columns, "hierarchy") == pytest.approx(0.7094 * 3, abs=2e-4)
    assert il(7, 2) == pytest.approx(0.5128, abs=5e-5)
    assert il(7, 2, 5) - il(7, 2) == pytest.approx(3.4872, abs=5e-5)
    assert il(6, 1) == pytest.approx(1.5385, abs=5e-5)
    assert il(6, 1, 4) - il(6, 1) == pytest.approx(3.0, abs=5e-5)
    assert il(7, 2, 5, 3) - il(7, 2, 5) == pytest.approx(1.4359, abs=5e-5)
    assert il(6, 1, 4, 3) - il(6, 1, 4) == pytest.approx(3.4615, abs=5e-5)


@pytest.mark.parametrize("ref", ["last", "seed"])
@pytest.mark.parametrize("cost", ["hierarchy", "set"])
@settings(max_examples=60)
@given(data=st.data(), k=st.integers(2, 6))
def test_kernel_equals_twin(data, k, cost, ref):
    table = data.draw(tables(k, most=25))
    n_rows = len(table.rows)
    start = data.draw(st.integers(0, n_rows - 1), label="start")
    labels = table.labels(KMember(k=k, ref=ref, cost=cost, start=start))
    assert labels == k_member(table.rows, table.columns, k, start, ref, cost, np.random.default_rng(0).random(n_rows))
    sizes = np.bincount(labels)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("cost", ["hierarchy", "set"])
def test_kernel_equals_twin_on_a_larger_table(cost):
    table = mixed(120, seed=3)
    order = np.random.default_rng(0).random(120)
    assert table.labels(KMember(k=7, cost=cost, start=5)) == k_member(
        table.rows, table.columns, 7, 5, "last", cost, order
    )


def test_start_outside_the_table():
    with pytest.raises(shoal.ParameterError, match=r"KMember\(start=\): start = 9, but the table has 4 rows"):
        shoal.anonymize(pl.DataFrame({"a": [1, 2, 3, 4]}), shoal.Schema(quasi={"a": Numeric()}), KMember(k=2, start=9))


def test_leftovers_go_where_they_cost_least():
    """Not to the last group, as a widely copied program has it."""
    table = both([[0, 1, 2, 100, 101, 102, 3]], [Numeric()])
    assert groups_of(table.labels(KMember(k=3, start=3))) == {frozenset({1, 2, 3, 7}), frozenset({4, 5, 6})}


def test_loss_on_adult_with_sets():
    """On 4,000 rows the set cost loses less than the hierarchy cost does where sets are published."""
    frame = adult().head(4_000).select(*ADULT_QUASI)
    schema = shoal.Schema(quasi={name: Numeric() if name == "age" else Nominal() for name in ADULT_QUASI})
    publish = shoal.Generalize(sets=True)
    ncp = {
        cost: shoal.anonymize(frame, schema, KMember(k=5, cost=cost, start=0), publish=publish).measure()["ncp"]
        for cost in ("set", "hierarchy")
    }
    mondrian = shoal.anonymize(frame, schema, shoal.Mondrian(k=5, nominal="order"), publish=publish).measure()["ncp"]
    assert ncp["set"] < ncp["hierarchy"] < mondrian
