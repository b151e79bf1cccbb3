"""Calls that Python would refuse with a TypeError: one error, with all that is wrong and what to give."""

from __future__ import annotations

import inspect

import polars as pl
import pytest

import shoal
from shoal.comparison.compare import SETTINGS
from shoal.errors import ParameterError
from shoal.learning.split import PASSED
from shoal.spec import checked_call

FRAME = pl.DataFrame({"age": [21, 25, 22, 60, 58, 55], "disease": ["flu", "flu", "ulcer"] * 2})
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
METHOD = shoal.Mondrian(k=3)
FUNCTIONS = [name for name in shoal.__all__ if inspect.isfunction(getattr(shoal, name))]
MADE_BY_USERS = ["Budget", "Hierarchy", "Nominal", "Numeric", "Ordinal", "Recipe", "Vault"]
OF_RELEASES = [
    name
    for name, work in vars(shoal.Release).items()
    if inspect.isfunction(work) and not name.startswith("_") and name not in ("stage", "given", "fill")
    and any(one.kind is one.KEYWORD_ONLY for one in inspect.signature(work).parameters.values())
]  # fmt: skip


def said(call):
    with pytest.raises(ParameterError) as caught:
        call()
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("name", [*FUNCTIONS, *MADE_BY_USERS])
def test_every_public_call_refuses_what_it_does_not_know(name):
    with pytest.raises(shoal.ShoalError) as caught:
        getattr(shoal, name)(nonsense=1)
    if name != "read":  # its options are those of a source, which it checks with the source itself
        assert caught.value.problems[0].where == f"{name}(nonsense=)"
        assert caught.value.problems[0].what == "unknown argument"


@pytest.mark.parametrize("name", [one for one in OF_RELEASES if one not in ("attack", "measure")])
def test_every_call_of_a_release_refuses_what_it_does_not_know(name):
    release = shoal.anonymize(FRAME, SCHEMA, METHOD, seed=1)
    assert said(lambda: getattr(release, name)(nonsense=1))[0].startswith(f"Release.{name}(nonsense=): unknown ")


def test_what_a_call_of_a_release_needs_is_told_with_an_example():
    release = shoal.anonymize(FRAME, SCHEMA, METHOD, seed=1)
    frame = "missing; give something like the frame that was released"
    assert said(release.attack) == [f"Release.attack(original=): {frame}"]
    assert said(release.membership) == [f"Release.membership(original=): {frame}"]
    assert said(release.utility) == ["Release.utility(target=): missing; give something like 'disease'"]


def test_a_class_to_register_is_missing():
    assert said(shoal.register) == ["register(thing=): missing; give something like a class after shoal.Method"]


def test_on_a_cluster_too():
    from shoal.spark import anonymize, follow

    of_method = "it is a parameter of a part, such as method=shoal.Caat(k=...) or require=[shoal.KAnonymity(k=...)]"
    assert said(lambda: anonymize(schema=SCHEMA, k=5)) == [
        f"anonymize(k=): unknown argument; {of_method}",
        "anonymize(df=): missing; give something like a DataFrame of Spark",
        "anonymize(method=): missing; give something like shoal.Caat(k=5)",
    ]
    assert said(lambda: follow(shoal.Recipe(SCHEMA, METHOD), "release", masters="local")) == [
        "follow(masters=): unknown argument; did you mean 'master'?"
    ]


def test_what_belongs_to_a_part_is_sent_there():
    of_method = "it is a parameter of a part, such as method=shoal.Caat(k=...) or require=[shoal.KAnonymity(k=...)]"
    lacking = [
        "anonymize(schema=): missing; give something like shoal.Schema(quasi={...})",
        "anonymize(method=): missing; give something like shoal.Caat(k=5)",
    ]
    assert said(lambda: shoal.anonymize(FRAME, k=5)) == [f"anonymize(k=): unknown argument; {of_method}", *lacking]
    of_schema = "columns and their roles stand in the schema: shoal.Schema(quasi=...)"
    found = said(lambda: shoal.anonymize(FRAME, quasi=["age"]))
    assert found == [f"anonymize(quasi=): unknown argument; {of_schema}", *lacking]
    found = said(lambda: shoal.anonymize(FRAME, SCHEMA, METHOD, t=0.2))
    assert found == [
        "anonymize(t=): unknown argument; it is a parameter of a part, such as require=[shoal.TCloseness(t=...)]"
    ]


def test_what_is_misspelt_doubled_or_has_no_name():
    assert said(lambda: shoal.anonymize(FRAME, SCHEMA, METHOD, requires=[])) == [
        "anonymize(requires=): unknown argument; did you mean 'require'?"
    ]
    assert said(lambda: shoal.anonymize(FRAME, SCHEMA, METHOD, method=METHOD)) == [
        "anonymize(method=): is given twice; keep one"
    ]
    assert said(lambda: shoal.anonymize(FRAME, SCHEMA, METHOD, [])) == [
        "anonymize: got 4 values without a name, and takes 3: frame, schema, method; give all others by their names"
    ]


def test_settings_that_are_passed_on_are_known_before_the_work():
    (found,) = said(lambda: shoal.compare(FRAME, SCHEMA, foo=3))
    assert found.startswith("compare(foo=): unknown argument; known: budget, ")
    assert all(name in found for name in SETTINGS)
    (found,) = said(lambda: shoal.utility(FRAME, SCHEMA, METHOD, target="disease", foo=3))
    assert found.startswith("utility(foo=): unknown argument; known: draws, ")
    assert all(name in found for name in PASSED)


def test_other_things_than_recipes_and_releases_by_name():
    assert said(lambda: shoal.run("recipe.toml")) == [
        'recipe=: needs something like shoal.Recipe.load("recipe.toml"), got str'
    ]
    assert said(lambda: shoal.compare_releases([])) == [
        'releases=: needs something like {"first": shoal.read_release("first")}, got list'
    ]
    assert said(lambda: shoal.read_release(5, receipt=shoal.Receipt)) == [
        "read_release(folder=): needs something like 'release', got int",
        "read_release(receipt=): needs something like 'release.receipt.json', got ModelMetaclass",
    ]


@pytest.mark.parametrize(
    ("call", "said_first"),
    [
        (
            lambda one: one.expected_counts(["age", "disease"]),
            "Release.expected_counts: needs something like 'disease', ",
        ),
        (lambda one: one.verify(schema="quasi"), "Release.verify(schema=): needs something like shoal.Schema(quasi="),
        (lambda one: one.report(schema=5), "Release.report(schema=): needs something like shoal.Schema(quasi="),
        (
            lambda one: one.plausible_table("x"),
            "Release.plausible_table(seed=): needs a whole number of at least 0, got",
        ),
        (lambda one: one.attack(FRAME, seed=-1), "Release.attack(seed=): needs a whole number of at least 0, got -1"),
        (lambda one: one.utility(["disease"]), "Release.utility(target=): needs something like 'disease', got list"),
        (lambda one: one.to_pandas(["table"]), "Release.to_pandas(table=): needs something like 'table', got list"),
        (lambda one: shoal.compare_releases({"a": one, "b": "b"}), "releases=: needs something like "),
    ],
)
def test_values_of_another_type_are_refused_before_the_work(call, said_first):
    release = shoal.anonymize(FRAME, SCHEMA, METHOD)
    (found,) = said(lambda: call(release))
    assert found.startswith(said_first)


def test_what_is_wrong_inside_a_call_is_not_taken_for_a_wrong_call():
    with pytest.raises(TypeError, match="from within"):
        shoal.anonymize(FRAME, SCHEMA, METHOD, progress=_Broken())


class _Broken:
    """Told how far the work is, and unable to listen."""

    def stage(self, name, total=None):
        raise TypeError("from within")

    def advance(self, steps):
        pass


def test_a_function_that_takes_names_alone_says_which():
    @checked_call()
    def read(*, path: str = "", rows: int = 0) -> None: ...

    with pytest.raises(ParameterError, match="takes none; give each by its name: path, rows"):
        read("table.csv")
