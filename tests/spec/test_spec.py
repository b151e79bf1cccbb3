"""Specs: one table of constraints gives the check, the error, the recipe key and the bad values tried here."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ParameterError, ShoalError, SourceError
from shoal.measure import MEASURES
from shoal.privacy import MODELS
from shoal.publish import PUBLISHERS
from shoal.spec import Maybe, OneOf, Real, Spec, Weights, Whole, YesNo, find, param
from shoal.table.hierarchy.builders import RULES, AnyText, Several
from shoal.table.sources import Source
from support.pairwise import examples
from support.registered import METHODS

SPECS = [spec for registry in (METHODS, MODELS, PUBLISHERS, MEASURES, RULES) for spec in registry.values()] + [Source]
GOOD = {
    "k": 3,
    "delta": 2,
    "keep": (3, 1),
    "width": (5, 10),
    "parts": (4, 2),
    "sizes": (2, 2),
    "path": "people.csv",
    "column": "disease",
    "l": 2,
    "alpha": 1,
    "t": 1,
    "epsilon": 2,
    "m": 2,
    "beta": 1,
    "p": 1,
    "low": 0,
    "high": 1,
}
"""A value for every parameter that has no default, and for what a source cannot be without."""


def settings_of(spec: type[Spec]) -> dict[str, object]:
    """The fewest settings that make a valid spec."""
    needed = {parameter.name for parameter in spec.parameters() if parameter.required}
    needed |= {"path"} if spec is Source else set()
    assert needed <= set(GOOD), f"no good value for {needed - set(GOOD)} of {spec.__name__}: add it to GOOD"
    return {name: GOOD[name] for name in sorted(needed)}


def every_bad_value():
    """Every parameter with what it must refuse."""
    for spec in SPECS:
        for parameter in spec.parameters():
            bad = parameter.bound.bad_values()
            assert len(bad) >= 3, f"hardly a bad value for {parameter.name} of {spec.__name__}"
            yield spec, parameter.name, bad


def named(spec):
    return spec.__name__ if isinstance(spec, type) else None


@pytest.mark.parametrize(("spec", "name", "bad"), list(every_bad_value()), ids=named)
def test_every_bad_value_is_refused_by_name(spec, name, bad):
    error = SourceError if spec is Source else ParameterError
    for value in bad:
        given = {**settings_of(spec), name: value}
        with pytest.raises(error, match=re.escape(f"{spec.__name__}({name}=): ")):
            spec(**given)
        with pytest.raises(error, match=re.escape(f"here.{name}: ")):
            spec.from_mapping(given, "here")


@pytest.mark.parametrize("spec", SPECS, ids=named)
class TestEverySpec:
    def test_it_is_described(self, spec):
        for parameter in spec.parameters():
            assert parameter.text
            assert parameter.bound.describe()
            if not parameter.required:
                assert parameter.bound.complaint(parameter.default) is None, parameter.name

    def test_it_is_frozen(self, spec):
        made = spec(**settings_of(spec))
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign"):
            setattr(made, next((parameter.name for parameter in spec.parameters()), "more"), 9)

    def test_it_can_be_written_and_read_back(self, spec):
        made = spec(**settings_of(spec))
        written = made.to_mapping()
        assert None not in written.values()
        assert spec.from_mapping(written, "here") == made
        assert hash(spec(**written)) == hash(made)

    def test_it_can_be_sent_to_another_process(self, spec):
        made = spec(**settings_of(spec))
        assert pickle.loads(pickle.dumps(made)) == made

    def test_lists_and_tuples_say_the_same(self, spec):
        given = settings_of(spec)
        as_lists = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
        assert spec(**as_lists) == spec(**given)

    def test_all_problems_come_in_one_error(self, spec):
        parameters = spec.parameters()
        bad = {parameter.name: parameter.bound.bad_values()[0] for parameter in parameters}
        if spec is Source:
            del bad["path"]  # with path and uri both given, that would be one matter more
        error = SourceError if spec is Source else ParameterError
        with pytest.raises(error, match="here") as caught:
            spec.from_mapping({**bad, "no such key at all": 1}, "here")
        places = {problem.where for problem in caught.value.problems}
        assert places == {f"here.{name}" for name in [*bad, "no such key at all"]}

    def test_a_misspelt_key_gets_the_near_match(self, spec):
        for parameter in spec.parameters():
            wrong = parameter.name + parameter.name[-1]
            with pytest.raises(ShoalError, match=f"here.{wrong}: unknown.*; did you mean '{parameter.name}'"):
                spec.from_mapping({**settings_of(spec), wrong: 1}, "here")

    def test_what_is_missing_is_said_with_what_is_allowed(self, spec):
        for name in settings_of(spec):
            with pytest.raises(ShoalError, match=rf"here\.{name}: (missing; give a|neither path nor uri is given)"):
                spec.from_mapping({key: value for key, value in settings_of(spec).items() if key != name}, "here")

    def test_every_number_may_come_from_numpy(self, spec):
        """Such a value must not survive: it would break equality, the manifest and TOML."""
        given = settings_of(spec)
        arrays = {
            key: [np.int64(item) for item in value] if isinstance(value, tuple) else np.int64(value)
            for key, value in given.items()
            if not isinstance(value, str)
        }
        made = spec(**{**given, **arrays})
        assert made == spec(**given)
        for value in made.to_mapping().values():
            items = value if isinstance(value, tuple) else (value,)
            assert {type(item) for item in items} <= {int, float, str, bool}, value


@pytest.mark.parametrize(
    ("bound", "good", "bad"),
    [
        (Whole(), [-5, 0, 10**30, np.int8(3)], [1.0, "1", True, None, np.bool_(True), [1], np.arange(2)]),
        (Whole(2), [2, 3], [1, -2]),
        (Whole(maximum=4), [4, -9], [5]),
        (Whole(2, 4), [2, 3, 4], [1, 5]),
        (Real(), [0, -1.5, np.float32(2), Decimal("0.1"), Fraction(1, 3)], [np.nan, -np.inf, True, "1", 10**400]),
        (Real(0, 1), [0, 1, 0.5], [-1e-9, 1.0000001, [0.5], np.arange(2.0)]),
        (Real(0, 1, open_low=True, open_high=True), [0.5], [0, 1]),
        (OneOf(("a", "b")), ["a", "b"], ["c", "", "A", ["a"], {}]),
        (YesNo(), [True, False], [0, 1, "true", None]),
        (Maybe(Whole(2)), [None, 2], [1, "", False]),
        (Several(Whole(1)), [[1], (2, 1), range(3, 0, -1)], [[], [0], [1, 0], "12", 1, {1}, {"a": 1}, None]),
        (AnyText(), ["a", " "], ["", 1, None, b"a"]),
        (Weights(), [{"a": 1}, {"a": 0.5, "b=c": np.float32(2)}], [{"a": 0}, {"a": np.inf}, {"a": "1"}, {2: 1}, None]),
    ],
    ids=str,
)
def test_bounds(bound, good, bad):
    for value in good:
        assert bound.complaint(value) is None, value
    for value in [*bad, *bound.bad_values()]:
        complaint = bound.complaint(value)
        assert complaint, value
        assert complaint.startswith("needs "), complaint


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        (Whole(), "a whole number"),
        (Whole(2), "a whole number of at least 2"),
        (Whole(maximum=4), "a whole number of at most 4"),
        (Whole(2, 4), "a whole number from 2 to 4"),
        (Real(0, open_low=True), "a number in (0, inf)"),
        (Real(0, 1), "a number in [0, 1]"),
        (Maybe(OneOf(("a", "b"))), 'one of "a", "b", or nothing'),
        (Several(Whole(2)), "a list; each a whole number of at least 2"),
        (Maybe(Weights()), "positive numbers by column name, or nothing"),
    ],
    ids=str,
)
def test_bounds_describe_themselves(bound, text):
    assert bound.describe() == text


def test_a_long_value_is_not_shown_and_a_near_word_is_named():
    assert Whole(2).complaint("x" * 50) == "needs a whole number of at least 2, got a value of type str"
    assert OneOf(("text", "typed")).complaint("type") == (
        "needs one of \"text\", \"typed\", got 'type' (did you mean 'typed'?)"
    )


@pytest.mark.parametrize(
    ("bound", "text", "value"),
    [
        (Whole(2), "5", 5),
        (Whole(2), " -5 ", -5),
        (Whole(2), "5.0", "5.0"),
        (Whole(2), "", ""),
        (Real(0, 1), "0.5", 0.5),
        (Real(0, 1), "half", "half"),
        (YesNo(), "True", True),
        (YesNo(), " false", False),
        (YesNo(), "yes", "yes"),
        (OneOf(("a", "b")), "c", "c"),
        (Maybe(Whole(2)), "7", 7),
        (Several(Whole(1)), "4,2", [4, 2]),
        (Several(Whole(1)), "4,x", [4, "x"]),
        (Several(Real()), "0.1,0.2", [0.1, 0.2]),
        (Weights(), "age=2, sex=0.5", {"age": 2.0, "sex": 0.5}),
        (Weights(), "a=b=2", {"a=b": 2.0}),
        (Weights(), "age=much", {"age": "much"}),
        (Weights(), "age", "age"),
        (Weights(), "age=1,age=2", "age=1,age=2"),
        (Maybe(Weights()), "", ""),
    ],
    ids=str,
)
def test_command_lines_are_read(bound, text, value):
    parsed = bound.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@settings(max_examples=examples(60), deadline=None)
@given(value=st.one_of(st.integers(), st.floats(), st.text(max_size=5), st.none(), st.booleans(), st.lists(st.none())))
def test_a_bound_never_fails_itself(value):
    bounds = (Whole(2, 9), Real(0, 1), OneOf(("a",)), YesNo(), Several(Whole()), AnyText(), Maybe(Real()), Weights())
    for bound in bounds:
        complaint = bound.complaint(value)
        assert complaint is None or isinstance(complaint, str)


@settings(max_examples=examples(60), deadline=None)
@given(text=st.text(max_size=6))
def test_what_a_command_line_gives_is_valid_or_refused(text):
    for bound in (Whole(2, 9), Real(0, 1), YesNo(), Several(Whole(1)), Weights()):
        value = bound.parse(text)
        complaint = bound.complaint(value)
        assert complaint is None or isinstance(complaint, str)


def test_several_wrong_parameters_in_one_error():
    with pytest.raises(ParameterError, match=r"2 problems:\n  1. Mondrian\(k=\).*\n  2. Mondrian\(strict=\)"):
        METHODS["mondrian"](k=1, strict="no")


def test_unset_optional_parameters_are_not_written():
    @dataclasses.dataclass(frozen=True)
    class Tried(Spec):
        a: int | None = param(Maybe(Whole()), "a", default=None)
        b: int = param(Whole(), "b", default=2)

    assert Tried().to_mapping() == {"b": 2}
    assert Tried(a=1).to_mapping() == {"a": 1, "b": 2}
    assert [(parameter.name, parameter.required) for parameter in Tried.parameters()] == [("a", False), ("b", False)]


def test_weights_are_a_plain_dict_of_floats_in_one_order():
    @dataclasses.dataclass(frozen=True)
    class Weighed(Spec):
        weights: Mapping[str, float] | None = param(Maybe(Weights()), "weights", default=None)

    given = {"b": np.int64(2), "a": Fraction(1, 2)}
    made = Weighed(given)
    assert made.to_mapping() == {"weights": {"a": 0.5, "b": 2.0}}
    assert type(made.weights) is dict
    assert list(made.weights) == ["a", "b"]
    assert {type(weight) for weight in made.weights.values()} == {float}
    given["a"] = -1
    assert made == Weighed({"a": 0.5, "b": 2}) != Weighed({"a": 0.5})
    assert hash(made) == hash(Weighed({"a": 0.5, "b": 2}))
    with pytest.raises(ParameterError, match=r"Weighed\(weights=\): needs positive numbers .*, got -1 for column 'b'"):
        Weighed({"a": 1.0, "b": -1})


def test_names_are_found_or_suggested():
    assert find(METHODS, "caat", "method.name") is METHODS["caat"]
    with pytest.raises(ParameterError, match=r"method.name: unknown name 'mondrain'; did you mean 'mondrian'\?"):
        find(METHODS, "mondrain", "method.name")
    with pytest.raises(ParameterError, match=r"method.name: missing; known: "):
        find(METHODS, None, "method.name")
    for wrong in (3, ["caat"], {}, True):
        with pytest.raises(ParameterError, match=r"method.name: unknown name"):
            find(METHODS, wrong, "method.name")


def test_names_are_unique_over_all_registries_of_a_recipe():
    for registry in (METHODS, MODELS, PUBLISHERS, RULES):
        assert all(spec.name == name for name, spec in registry.items())
    for one, other in itertools.combinations((METHODS, MODELS, PUBLISHERS), 2):
        assert not set(one) & set(other)


def test_an_old_name_gets_the_new_one():
    @dataclasses.dataclass(frozen=True)
    class Moved(Spec):
        renamed: ClassVar = {"size": "length", "width": "breadth"}
        length: int = param(Whole(), "length", default=1)
        breadth: int = param(Whole(), "breadth", default=1)

    said = [("was renamed", "use length instead"), ("was renamed", "use breadth instead")]
    with pytest.raises(ParameterError, match=r"Moved\(size=\): was renamed; use length instead") as caught:
        Moved(size=2, width=3)
    assert [(problem.what, problem.fix) for problem in caught.value.problems] == said
    with pytest.raises(ParameterError, match=r"here\.size: was renamed; use length instead") as caught:
        Moved.from_mapping({"size": 2, "width": 3}, "here")
    assert [(problem.what, problem.fix) for problem in caught.value.problems] == said
    with pytest.raises(ParameterError, match=r"^Moved\(height=\): unknown parameter; known: breadth, length$"):
        Moved(height=2)


def test_an_old_name_leads_to_a_parameter_that_is_there():
    for spec in SPECS:
        names = {parameter.name for parameter in spec.parameters()}
        assert set(spec.renamed.values()) <= names
        assert not names & set(spec.renamed)
