"""Errors: all problems in one, each with what, where and what to do, and near matches for misspelt words."""

from __future__ import annotations

import pickle

import pytest

from shoal import errors
from shoal.errors import (
    InputError,
    ParameterError,
    Problem,
    Problems,
    SchemaError,
    ShoalError,
    SourceError,
    did_you_mean,
    rows_at,
    some,
)

EVERY_ERROR = [thing for thing in vars(errors).values() if isinstance(thing, type) and issubclass(thing, ShoalError)]


def test_a_problem_says_where_what_which_values_and_what_to_do():
    assert str(Problem("k", "too small")) == "k: too small"
    assert str(Problem("k", "too small", "use 2")) == "k: too small; use 2"
    assert str(Problem("tree", "lacks", "add them", ("a", "b"))) == "tree: lacks: a, b; add them"


def test_a_problem_is_one_line():
    assert str(Problem("column a\nb", "has no c\r\nd", "e\nf")) == r"column a\nb: has no c\r\nd; e\nf"


def test_at_most_ten_values_are_named():
    text = str(Problem("tree", "lacks", values=tuple(f"v{n}" for n in range(13))))
    assert text == "tree: lacks: v0, v1, v2, v3, v4, v5, v6, v7, v8, v9 and 3 more"


@pytest.mark.parametrize("error", EVERY_ERROR)
def test_every_error_survives_a_process_border(error):
    """Workers send their errors home by pickle; the problems must still be apart there."""
    one = error([Problem("a", "b", "c", ("d",)), Problem("e", "f")])
    other = pickle.loads(pickle.dumps(one))
    assert type(other) is error
    assert other.problems == one.problems
    assert str(other) == "2 problems:\n  1. a: b: d; c\n  2. e: f"


def test_a_parameter_error_is_a_value_error_and_bad_input_is_told_from_broken_promises():
    assert issubclass(ParameterError, ValueError)
    inputs = {error.__name__ for error in EVERY_ERROR if issubclass(error, InputError)}
    assert {error.__name__ for error in EVERY_ERROR} - inputs == {"ShoalError", "GuaranteeError", "InternalError"}


def test_problems_are_raised_together_as_the_class_of_the_first():
    found = Problems()
    assert not found
    found.raise_if_any(SchemaError)  # nothing found, nothing raised
    found.add("a", "wrong")
    found.take(SourceError([Problem("b", "wrong"), Problem("c", "wrong")]))
    found.add("d", "wrong", error=ParameterError)
    assert len(found) == 4
    with pytest.raises(SchemaError, match=r"4 problems:\n  1\. a: .*\n  2\. b: .*\n  3\. c: .*\n  4\. d: wrong"):
        found.raise_if_any(SchemaError)
    first_taken = Problems()
    first_taken.take(SourceError("gone"))
    first_taken.add("a", "wrong")
    with pytest.raises(SourceError, match="2 problems"):
        first_taken.raise_if_any(SchemaError)


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("agee", ["age", "sex"], "did you mean 'age'?"),
        ("DISEASE", ["disease", "sex"], "did you mean 'disease'?"),
        ("gae", ["age", "sex"], "did you mean 'age'?"),
        ("ondrian", ["mdav", "mondrian"], "did you mean 'mondrian'?"),
        ("engine", ["refine", "suppress"], "known: refine, suppress"),
        ("engine", ["refine", "engines"], "did you mean 'engines'?"),
        ("zzz", ["b", "a"], "known: a, b"),
        ("zzz", [f"w{n}" for n in range(21)], ""),
        ("zzz", [], ""),
    ],
)
def test_near_matches(word, known, hint):
    assert did_you_mean(word, known) == hint


def test_what_to_do_when_nothing_is_near():
    assert did_you_mean("zzz", ["a"], "check the spelling") == "check the spelling"


def test_rows_are_counted_from_one():
    assert rows_at([0]) == "row 1"
    assert rows_at(range(12)) == "rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
    assert some([1, 2], limit=2) == "1, 2"


class TestWhatIsShown:
    def test_long_values_are_cut_short_and_made_printable(self):
        problem = Problem("column 'a'", "has values", values=("x" * 10_000, "a\u202eb\x1b[31m", "plain"))
        assert str(problem) == (f"column 'a': has values: {'x' * 60}... (10,000 letters), a\\u202eb\\x1b[31m, plain")

    @pytest.mark.parametrize("word", ["partial", "old"])
    def test_hidden_names_are_those_of_the_place(self, word):
        problem = Problem(f"/data/.release.{word}-0a1b2c3d/table.csv", f"is at '.x.toml.{word}-0a1b2c3d'")
        assert str(problem) == "/data/release/table.csv: is at 'x.toml'"
        other = "/data/.release.partially/file: a.b.partial-day"
        assert Problem(other, "x").where == other

    def test_problems_are_noted_and_work_goes_on(self):
        found = Problems()
        for text in ("one", "two"):
            with found.noting():
                raise SchemaError(text)
        with pytest.raises(SchemaError, match=r"(?s)2 problems:.*one.*two"):
            found.raise_if_any(SourceError)
