"""Violations of groups as kernels compute them, held against the privacy models: both formulas must agree."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.enforce.constraints import Constraints
from shoal.enforce.constraints.group_sizes import FARTHEST
from shoal.enforce.constraints.layouts import LAID_OUT
from shoal.enforce.repair import classes_of
from shoal.kernels.enforce.growth import closing_size
from shoal.methods.base import Task
from shoal.methods.groups import members_of, without_holes
from shoal.privacy import MODELS
from shoal.table.prepare import prepare
from shoal.testing import requirements, sensitive_tables
from support.pairwise import examples

BY_ROWS = [name for name, model in MODELS.items() if model.needs != "population"]
"""Models that look at the rows of a group alone."""


def test_every_model_that_looks_at_rows_is_laid_out_for_the_kernels():
    assert {model.name for model in LAID_OUT} == set(BY_ROWS)


@st.composite
def partitions(draw, n_rows):
    """Labels of some groups, with suppressed rows, at least one row left."""
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n_rows, max_size=n_rows)), dtype=np.int64)
    if (labels < 0).all():
        labels[0] = 0
    return without_holes(labels)


def kept_by_kernels(task, labels):
    """Which groups keep everything, as the kernels say: all at once, and each on its own."""
    constraints = Constraints.of(task, labels >= 0)
    violations = constraints.violation(labels)
    assert violations.tolist() == [constraints.violation_of(rows) for rows in members_of(labels)]
    assert np.isfinite(violations).all()
    assert (violations >= 0).all()
    return violations == 0


def kept_by_models(task, labels):
    classes = classes_of(task, labels)
    return np.logical_and.reduce([one.satisfied(classes) for one in task.require])


@settings(max_examples=examples(40))
@given(data=st.data())
def test_a_group_lacks_nothing_exactly_where_the_model_holds(data):
    """Parameters are fractions of small numbers: what is not on the bound is far from it."""
    case = data.draw(sensitive_tables("one", max_rows=24), "table")
    labels = data.draw(partitions(case.frame.height), "labels")
    plain = Task.of(prepare(case.frame, case.schema))
    for model in BY_ROWS:
        task = replace(plain, require=(data.draw(requirements(model, case), "require"),))
        assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist(), task.require


def test_a_missing_value_is_below_no_guard():
    tree = shoal.Hierarchy.from_tree({"lung": ["flu"], "gut": ["ulcer"]})
    frame = pl.DataFrame({"a": [1] * 4, "s": [None, "ulcer", "flu", "ulcer"], "guard": ["lung", None, "lung", None]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": shoal.Nominal(tree)}, choice="guard")
    task = Task.of(prepare(frame, schema), [shoal.GuardingNodes("s", p=0.4)])
    labels = np.array([0, 0, 1, 1])
    assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist() == [True, False]


@pytest.mark.parametrize("absent", ["counts", "ignored"])
@pytest.mark.parametrize(("delta", "kept"), [(0.5, False), (0.69, False), (0.7, True)])
def test_a_share_beyond_delta_is_seen(absent, delta, kept):
    """One in four where half of the table has the value: half as many, so that log 2 is reached."""
    frame = pl.DataFrame({"a": [1] * 8, "s": ["x", "x", "x", "y", "x", "y", "y", "y"]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive=["s"])
    task = Task.of(prepare(frame, schema), [shoal.DeltaDisclosure("s", delta=delta, absent=absent)])
    labels = np.array([0] * 4 + [1] * 4)
    assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist() == [kept, kept]


@settings(max_examples=examples(30))
@given(data=st.data())
def test_several_requirements_are_kept_where_each_is(data):
    case = data.draw(sensitive_tables("one", max_rows=24), "table")
    labels = data.draw(partitions(case.frame.height), "labels")
    names = data.draw(st.lists(st.sampled_from(BY_ROWS), min_size=2, max_size=4), "models")
    task = Task.of(prepare(case.frame, case.schema), [data.draw(requirements(name, case)) for name in names])
    assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist()


@settings(max_examples=examples(30))
@given(data=st.data())
def test_what_kernels_let_pass_the_models_let_pass(data):
    """Whatever the parameters, a hair beside what a group reaches included."""
    case = data.draw(sensitive_tables("one", max_rows=24), "table")
    labels = data.draw(partitions(case.frame.height), "labels")
    plain = Task.of(prepare(case.frame, case.schema))
    classes = classes_of(plain, labels)
    for model in NEAR_BOUND:
        hair = data.draw(st.sampled_from([0.0, 1e-16, 1e-13, 1e-11, 1e-10, 1e-9, 1e-8]), "hair")
        side = data.draw(st.sampled_from([-1, 1]), "side")
        task = replace(plain, require=(model(classes, 1 + side * hair),))
        kernels, models = kept_by_kernels(task, labels), kept_by_models(task, labels)
        assert (models | ~kernels).all(), task.require


def reached(one, classes):
    """What the first class reaches, where it is a number that may be asked for."""
    value = float(one.per_class(classes)[0])
    return value if math.isfinite(value) else 1.0


def beside(make, probe, low, high=math.inf):
    """A requirement whose parameter lies a hair beside what the first class reaches, within bounds."""
    return lambda classes, factor: make(min(max(reached(probe, classes) * factor, low), high))


NEAR_BOUND = [
    beside(lambda low: shoal.LDiversity("income", l=low, variant="entropy"),
           shoal.LDiversity("income", l=2, variant="entropy"), 1.001),
    beside(lambda c: shoal.LDiversity("income", l=2, variant="recursive", c=c),
           shoal.LDiversity("income", l=2, variant="recursive", c=1), 0.001),
    beside(lambda a: shoal.AlphaK("illness", alpha=a), shoal.AlphaK("illness", alpha=1), 0.01, 1.0),
    beside(lambda t: shoal.TCloseness("income", t=t), shoal.TCloseness("income", t=1), 0.0, 1.0),
    beside(lambda t: shoal.TCloseness("stage", t=t, distance="ordered"),
           shoal.TCloseness("stage", t=1, distance="ordered"), 0.0, 1.0),
    beside(lambda t: shoal.TCloseness("illness", t=t, distance="hierarchical"),
           shoal.TCloseness("illness", t=1, distance="hierarchical"), 0.0, 1.0),
    beside(lambda m: shoal.EpsilonM("income", epsilon=0.1, m=m), shoal.EpsilonM("income", epsilon=0.1, m=2), 1.001),
    beside(lambda d: shoal.DeltaDisclosure("stage", delta=d, absent="ignored"),
           shoal.DeltaDisclosure("stage", delta=1, absent="ignored"), 1e-9),
    beside(lambda b: shoal.BetaLikeness("illness", beta=b), shoal.BetaLikeness("illness", beta=1), 1e-9),
    beside(lambda b: shoal.BetaLikeness("illness", beta=b, variant="enhanced"),
           shoal.BetaLikeness("illness", beta=1, variant="enhanced"), 1e-9),
    beside(lambda p: shoal.GuardingNodes("illness", p=p), shoal.GuardingNodes("illness", p=1), 0.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("named", ["1", "1.0", "01", "1e0"])
def test_a_named_number_is_found_however_it_is_written(named):
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "s": [1, 1, 1, 2]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": shoal.Numeric()})
    labels = np.array([0, 0, 1, 1])
    for cells in (frame, frame.with_columns(pl.col("s").cast(pl.Float64))):
        task = Task.of(prepare(cells, schema), [shoal.AlphaK("s", alpha=0.5, values=[named])])
        assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist() == [False, True]


def test_numbers_too_far_apart_only_by_rounding_are_near():
    """To a machine 0.7 + 0.1 is below 0.8 and 0.8 - 0.1 above 0.7."""
    frame = pl.DataFrame({"a": [1, 2], "s": [0.7, 0.8]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive={"s": shoal.Numeric()})
    for one in (shoal.EpsilonM("s", epsilon=0.1, m=2), shoal.EpsilonM("s", epsilon=0.125, m=2, relative=True)):
        task, labels = Task.of(prepare(frame, schema), [one]), np.zeros(2, dtype=np.int64)
        assert kept_by_kernels(task, labels).tolist() == kept_by_models(task, labels).tolist() == [False]


@settings(max_examples=examples(30))
@given(data=st.data())
def test_joining_groups_brings_them_nearer_where_models_are_monotone(data):
    """What repair rests on: the violation of two groups together is at most that of the worse one."""
    case = data.draw(sensitive_tables("one", min_rows=2, max_rows=24), "table")
    names = data.draw(st.lists(st.sampled_from(BY_ROWS), min_size=1, max_size=3), "models")
    require = [data.draw(requirements(name, case)) for name in names]
    task = Task.of(prepare(case.frame, case.schema), [one for one in require if one.monotone])
    labels = np.arange(case.frame.height) % 2
    before, after = (Constraints.of(task).violation(group).max() for group in (labels, labels * 0))
    # A group that fails by less than 1e-6 is said to fail by that much.
    assert after <= before + 1e-6 * len(task.require)


@settings(max_examples=examples(15))
@given(data=st.data())
def test_the_smallest_group_is_that_of_a_group_that_grows(data):
    """The size is worked out once without compiling anything, and again by the kernel whenever a group grows.

    Where growing sees no way, rows in the shares of the table may still be few.
    """
    case = data.draw(sensitive_tables("one", max_rows=24), "table")
    plain = Task.of(prepare(case.frame, case.schema))
    for model in BY_ROWS:
        constraints = Constraints.of(replace(plain, require=(data.draw(requirements(model, case), "require"),)))
        growing = closing_size(constraints.growth(planned=FARTHEST), 1, FARTHEST)
        assert constraints.smallest == growing or constraints.smallest < FARTHEST < growing, model


@pytest.mark.parametrize(("l", "smallest"), [(2, 2), (67, 67), (68, FARTHEST + 1)])
def test_of_many_values_a_group_that_grows_tries_some(l, smallest):  # noqa: E741
    """Every third of 200: 67 different ones are the most that it sees a way to."""
    frame = pl.DataFrame({"a": range(200), "s": [f"{value:03d}" for value in range(200)]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()}, sensitive=["s"])
    constraints = Constraints.of(Task.of(prepare(frame, schema), [shoal.LDiversity("s", l=l)]))
    assert constraints.smallest == smallest
    assert closing_size(constraints.growth(planned=FARTHEST), 1, FARTHEST) == smallest


def test_a_promise_of_rows_sees_one_value():
    frame = pl.DataFrame({"age": [1, 2, 3], "disease": ["flu", "flu", "gout"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    task = Task.of(prepare(frame, schema), (shoal.KAnonymity(k=2),))
    assert Constraints.of(task).n_values.tolist() == [1]
