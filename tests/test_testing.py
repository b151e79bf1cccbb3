"""The contract can fail: what it re-derives agrees with the models, and a release that keeps less is found out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.release import verify
from shoal.enforce.repair import classes_of
from shoal.engines.description import Asked, describe
from shoal.methods.base import Task
from shoal.methods.groups import Groups, without_holes
from shoal.privacy import MODELS, OF_METHODS
from shoal.privacy.base import ColumnRequirement
from shoal.registry.declared import METHODS as DECLARED
from shoal.table.prepare import prepare
from shoal.testing import (
    Case,
    Shown,
    ShownClass,
    check_contract,
    checks,
    contract,
    kept,
    options_to_try,
    requirements,
    sensitive_tables,
    tables,
    variants,
)
from shoal.testing.models import slice_diversity
from support.pairwise import examples
from twins import slices as slices_twin

BY_ROWS = [name for name in MODELS.own if MODELS[name].needs != "population"]


def in_lists(case: Case, labels: np.ndarray) -> Shown:
    """Groups written down, as if they had been published."""
    frame, names = case.frame, list(case.schema.sensitive)
    groups = [frame.filter(pl.Series(labels == label)) for label in range(labels.max() + 1)]
    classes = [ShownClass(one.height, {n: one[n].to_list() for n in names}, one["guard"].to_list()) for one in groups]
    return Shown(classes, prepare(frame, case.schema), layout=None)  # type: ignore[arg-type]


@settings(max_examples=examples(30))
@given(data=st.data())
def test_what_is_re_derived_agrees_with_the_models(data):
    """Parameters are fractions of small numbers: what is not on the bound is far from it."""
    case = data.draw(sensitive_tables("one", max_rows=24), "table")
    n_rows = case.frame.height
    labels = without_holes(np.array(data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))))
    classes, shown = classes_of(Task.of(prepare(case.frame, case.schema)), labels), in_lists(case, labels)
    for model in (*BY_ROWS, "m-uniqueness"):
        one = data.draw(requirements(model, case), model)
        if not (isinstance(one, ColumnRequirement) and one.misfit(classes.columns[one.column])):
            assert kept(one, shown) == bool(one.holds(one.achieved(classes))), model


@settings(max_examples=examples(30))
@given(data=st.data())
def test_what_is_re_derived_of_a_population_agrees_with_the_checker(data):
    case = data.draw(tables("mixed", min_rows=4, max_rows=14), "table")
    table = prepare(case.frame, case.schema)
    groups = Groups(np.arange(table.n_rows) * data.draw(st.integers(1, table.n_rows // 2)) // table.n_rows)
    others = data.draw(st.lists(st.integers(0, table.n_rows - 1), max_size=20), "others")
    people = pl.concat([case.frame, case.frame[others]]).select(list(case.schema.quasi))
    shape, sets = data.draw(st.sampled_from(["text", "typed", "classes"])), data.draw(st.booleans())
    publish = shoal.Generalize(shape=shape, sets=sets)
    published, _ = publish.arrange(publish.publish(table, groups))
    for model in ("k-map", "delta-presence"):
        one = data.draw(requirements(model, case), model)
        manifest = describe(published, Asked(shoal.Mondrian(k=2), publish, [one]), left_out=0)
        release = SimpleNamespace(frames=published.tables, manifest=manifest)
        try:
            verify(published.tables, manifest, claims=False, population=people, schema=case.schema)
            refused = []
        except shoal.GuaranteeError as error:
            refused = [problem.where for problem in error.problems]
        assert refused == ([] if kept(one, Shown.of(release, case, people, table)) else [model])


@pytest.mark.parametrize("name", [*MODELS.own, *OF_METHODS.own])
def test_no_model_falls_through(name):
    found = import_module(f"shoal.testing.models.{name.replace('-', '_')}")
    assert callable(found.kept)
    assert callable(found.drawn)


@dataclass(frozen=True)
class Unheard(shoal.KAnonymity):
    name: ClassVar[str] = "unheard"


def test_a_model_that_nobody_re_derives_is_an_error():
    shown = SimpleNamespace(classes=[ShownClass(3, {})])
    with pytest.raises(shoal.ParameterError, match="rederive=: nobody says how 'unheard' is re-derived; give"):
        kept(Unheard(k=2), shown)
    assert kept(Unheard(k=2), shown, {"unheard": lambda one, shown: shown.classes[0].size >= one.k})
    assert not kept(Unheard(k=4), shown, {"unheard": lambda one, shown: shown.classes[0].size >= one.k})


# -- slices -----------------------------------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "name": [f"person {row}" for row in range(12)],
        "age": [20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43],
        "sex": ["f", "m"] * 6,
        "disease": ["flu", "ulcer", "cold", "cough"] * 3,
        "note": list(range(12)),
    }
)
SCHEMA = shoal.Schema(
    identifying=["name"],
    quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()},
    sensitive=["disease"],
    neutral=["note"],
)
CASE = Case(FRAME, SCHEMA)


@pytest.mark.parametrize("overlap", [None, "sex"])
def test_chances_of_slices_are_those_of_the_twin(overlap):
    method = shoal.Slicing(l=2, groups={"age": 1, "sex": 2, "disease": 3, "note": 1}, overlap=overlap)
    release = shoal.anonymize(FRAME, SCHEMA, method, seed=1)
    buckets = {
        key: slices_twin.joined(slices)
        for key, slices in slices_twin.buckets_of(release.frames, release.manifest.layout).items()
    }
    shown = Shown.of(release, CASE)
    mine = [slice_diversity.joined(slices) for slices in shown.buckets]
    worst = []
    for person in FRAME.select("age", "sex").to_dicts():
        wanted = slices_twin.shares(person, buckets, "disease")
        assert slice_diversity.chances(person, mine, "disease") == wanted
        worst += wanted.values()
    assert kept(shoal.privacy.slice_diversity.SliceDiversity("disease", l=2), shown)
    assert kept(shoal.privacy.slice_diversity.SliceDiversity("disease", l=int(1 / max(worst))), shown)
    assert not kept(shoal.privacy.slice_diversity.SliceDiversity("disease", l=int(1 / max(worst)) + 1), shown)
    assert kept(shoal.privacy.bucket_size.BucketSize(k=2), shown)
    assert not kept(shoal.privacy.bucket_size.BucketSize(k=13), shown)


# -- a release that keeps less ----------------------------------------------------------------------------------------


def weakened(monkeypatch, change):
    """The path, but what comes out of it is changed."""
    monkeypatch.setattr(checks, "anonymize", lambda *args, **asked: change(shoal.anonymize(*args, **asked)))


def table_of(release, **columns):
    table = release.frames["table"].with_columns(**columns)
    return replace(release, frames={**release.frames, "table": table})


CHANGES = {
    "the manifest states other promises": lambda one: replace(
        one, manifest=one.manifest.model_copy(update={"promise": ()})
    ),
    "untouched cells were touched": lambda one: table_of(one, disease=pl.col("disease").reverse()),
    "an identifying column or a choice is published": lambda one: table_of(one, name=pl.lit("person")),
    "one label per input row": lambda one: replace(one, labels=one.labels[1:]),
    "rows without a count": lambda one: replace(one, labels=np.where(np.arange(12) == 3, -1, one.labels)),
    "a group is too small": lambda one: replace(one, labels=np.arange(12)),
    "labels have gaps": lambda one: replace(one, labels=2 * one.labels),
    "the input was changed": None,
}


@pytest.mark.parametrize(
    ("method", "said"),
    [(method, said) for method in (shoal.Mondrian(k=3), shoal.Anatomy(l=2)) for said in CHANGES
     if method.protects == "cells" or "touched" not in said],
    ids=str,
)  # fmt: skip
def test_a_release_that_keeps_less_is_found_out(monkeypatch, method, said):
    case = Case(FRAME.clone(), SCHEMA)

    def spoil(release):
        case.frame[0, "age"] = 99
        return release

    weakened(monkeypatch, CHANGES[said] or spoil)
    with pytest.raises(AssertionError, match=said):
        check_contract(case, method)


@pytest.mark.parametrize("method", [shoal.Mondrian(k=3), shoal.Anatomy(l=2)], ids=str)
def test_a_release_that_keeps_all_is_not(method):
    check_contract(CASE, method)


def test_another_seed_is_found_out(monkeypatch):
    seeds = iter([1, 2])
    monkeypatch.setattr(
        checks, "anonymize", lambda *args, **asked: shoal.anonymize(*args, **{**asked, "seed": next(seeds)})
    )
    with pytest.raises(AssertionError, match="the same seed gave another"):
        check_contract(CASE, shoal.Anatomy(l=2))


# -- what is tried ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECLARED)
def test_every_choice_of_every_method_is_tried(name):
    method = shoal.methods.METHODS[name]
    tried = options_to_try(method)
    for parameter in method.parameters():
        words = set(getattr(parameter.bound, "words", ()))
        used = {options.get(parameter.name, parameter.default) for options in tried}
        assert words <= used, parameter.name


def test_the_first_variant_has_the_defaults():
    assert variants(shoal.Mdav, k=4) == [shoal.Mdav(k=4), shoal.Mdav(k=4, leftover="assign")]
    assert variants(shoal.Buckets) == [shoal.Buckets()]
    assert options_to_try(shoal.ThresholdGreedy)[0] == {"delta": 1.0}


TestOfLinks = contract(shoal.Anatomy(l=2, column="stage"), examples=4)
TestOfOneColumn = contract(shoal.OptimalUnivariate(k=3), examples=4)
TestOfModels = contract(
    require=[shoal.EpsilonM("income", epsilon=0.1, m=1.5), shoal.GuardingNodes("illness", p=0.5)], examples=4
)
