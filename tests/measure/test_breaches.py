"""Breaches of sensitive values: by hand, against the twin, and what must hold of them whatever the table."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric
from shoal.errors import GuaranteeError, ParameterError
from shoal.measure import MEASURES
from shoal.release.manifest import Layout
from support.pairwise import examples
from support.series_example import FIRST, TWO, table
from support.series_example import SCHEMA as PATIENTS
from twins.breaches import Paths, near, per_row, unrelated

LINES = [
    ["Bronchitis", "Respiratory", "*"],
    ["Flu", "Respiratory", "*"],
    ["Gastritis", "Stomach", "Digestive", "*"],
    ["Stomach Cancer", "Stomach", "Digestive", "*"],
    ["Hernia", "Digestive", "*"],
]
TREE = shoal.Hierarchy(LINES)
PATHS = Paths(LINES)
NODES = [*PATHS.leaves, None]
SCHEMA = shoal.Schema(quasi={"town": Nominal()}, sensitive={"income": Numeric(), "disease": Nominal(TREE)})
FLAT = shoal.Schema(quasi={"town": Nominal()}, sensitive={"income": Numeric(), "disease": Nominal()})


def released(towns, incomes, diseases, schema=SCHEMA, **options):
    """A release whose classes are the towns: each shows its own name, so there must be two rows of each at least."""
    frame = pl.DataFrame(
        {"town": towns, "income": incomes, "disease": diseases},
        schema={"town": pl.String, "income": pl.Float64, "disease": pl.String},
    )
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=2), seed=1, **options)


@st.composite
def people(draw):
    """Towns of two people or more, incomes that are often near each other, diseases; any of the latter missing."""
    sizes = draw(st.lists(st.integers(2, 6), min_size=1, max_size=4))
    towns = [f"town {place}" for place, size in enumerate(sizes) for _ in range(size)]
    money = st.one_of(st.none(), st.integers(-20, 20), st.integers(-200, 200).map(lambda tenths: tenths / 10))
    n = len(towns)
    incomes = draw(st.lists(money, min_size=n, max_size=n))
    return towns, incomes, draw(st.lists(st.sampled_from(NODES), min_size=n, max_size=n))


def by_row(release, column, **parameters):
    """The class, the value and the breach of every row, as the release shows them."""
    kind = "proximity_breach" if column == "income" else "divergence_breach"
    return release.breaches(**parameters).select("town", column, f"{kind}:{column}")


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_table_4_of_the_paper():
    """Group 1 of Table IV: for Girija, the first patient, 3/4 and 1/4; S3 counts values, not rows, and says 1/2."""
    incomes = [10000, 10020, 10030, 15000]
    release = released(["group 1"] * 4, incomes, ["Bronchitis"] * 3 + ["Stomach Cancer"])
    found = release.breaches(epsilon=30)
    girija = found.row(by_predicate=pl.col("income") == 10000, named=True)
    assert (girija["proximity_breach:income"], girija["divergence_breach:disease"]) == (3 / 4, 1 / 4)
    assert release.measure("proximity_breach", epsilon=30) == {
        "proximity_breach:mean:income": (3 * 3 / 4 + 1 / 4) / 4,
        "proximity_breach:max:income": 3 / 4,
        "proximity_breach:share:income": 3 / 4,
    }
    assert release.measure("divergence_breach", threshold=0.25) == {
        "divergence_breach:mean:disease": (3 * 1 / 4 + 3 / 4) / 4,
        "divergence_breach:max:disease": 3 / 4,
        "divergence_breach:share:disease": 1 / 4,
    }


def test_a_row_for_each_published_one_in_their_order():
    release = released(["a", "a", "b", "b"], [1, 2, 3, 4], ["Flu", None, "Flu", "Hernia"])
    found = release.breaches()
    assert found.columns == ["town", "income", "disease", "proximity_breach:income", "divergence_breach:disease"]
    assert found.select("town", "income", "disease").equals(release.table)
    assert found["proximity_breach:income"].to_list() == [0.5] * 4


def test_relative_to_the_own_number():
    release = released(["a"] * 3, [100, 109, 120], ["Flu"] * 3)
    rows = by_row(release, "income", epsilon=0.1, relative=True)
    assert dict(rows.select("income", "proximity_breach:income").rows()) == {100: 2 / 3, 109: 2 / 3, 120: 2 / 3}


def test_too_far_by_rounding_alone_is_near():
    release = released(["a"] * 2, [0.1, 0.4], ["Flu"] * 2)
    assert 0.4 - 0.1 > 0.3
    assert by_row(release, "income", epsilon=0.3)["proximity_breach:income"].to_list() == [1.0, 1.0]


def test_theta_is_the_height_where_values_meet():
    """Of a tree of height 3: Gastritis and cancer of the stomach meet at 1/3, hernia meets them at 2/3, flu at 1."""
    release = released(["a"] * 4, [1] * 4, ["Gastritis", "Stomach Cancer", "Hernia", "Flu"])
    for theta, breach in ((1, 1 / 4), (0.7, 1 / 4), (2 / 3, 2 / 4), (0.5, 2 / 4), (1 / 3, 3 / 4), (0.1, 3 / 4)):
        rows = dict(by_row(release, "disease", theta=theta).select("disease", "divergence_breach:disease").rows())
        assert rows["Gastritis"] == breach, theta
        assert rows["Flu"] == 3 / 4


def test_without_a_hierarchy_all_others_are_unrelated():
    release = released(["a"] * 4, [1] * 4, ["Flu", "Flu", "Bronchitis", None], FLAT)
    rows = dict(by_row(release, "disease").select("disease", "divergence_breach:disease").rows())
    assert rows == {"Flu": 2 / 4, "Bronchitis": 3 / 4, None: 3 / 4}


def test_ordinal_columns_and_those_without_a_kind_have_no_hierarchy():
    frame = pl.DataFrame({"town": ["a"] * 3, "stage": ["I", "I", "II"], "note": [1, 2, 2]})
    schema = shoal.Schema(
        quasi={"town": Nominal()}, sensitive={"stage": shoal.Ordinal(["I", "II", "III"]), "note": None}
    )
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert release.measure("proximity_breach") == {}
    found = release.measure("divergence_breach")
    assert found["divergence_breach:max:stage"] == found["divergence_breach:max:note"] == 2 / 3


def test_a_release_without_rows():
    full = released(["a"] * 2, [1, 2], ["Flu"] * 2, FLAT)
    release = shoal.Release({"table": full.table.clear()}, full.manifest)
    assert set(release.measure("proximity_breach").values()) == {0.0}
    assert set(release.measure("divergence_breach").values()) == {0.0}
    assert release.breaches().height == 0


def test_rows_left_out_have_no_class_and_do_not_count():
    far = pl.DataFrame({"age": [1, 2, 1000], "income": [1, 1, 7]})
    schema = shoal.Schema(quasi={"age": Numeric()}, sensitive={"income": Numeric()})
    release = shoal.anonymize(far, schema, shoal.RGather(k=2, epsilon=0.4))
    assert release.manifest.rows.left_out == 1
    assert release.measure("proximity_breach")["proximity_breach:mean:income"] == 1.0
    assert release.breaches().height == 2


# -- against the twin --------------------------------------------------------------------------------------------------


@settings(max_examples=examples(60), deadline=None)
@given(people(), st.sampled_from([0, 0.1, 1, 3.5, 30]), st.booleans())
def test_proximity_is_what_the_twin_counts(drawn, epsilon, relative):
    rows = by_row(released(*drawn), "income", epsilon=epsilon, relative=relative)
    towns, incomes, found = (rows[name].to_list() for name in rows.columns)
    assert found == [float(share) for share in per_row(towns, incomes, near(epsilon, relative=relative))]


@settings(max_examples=examples(60), deadline=None)
@given(people(), st.sampled_from([0.2, 1 / 3, 0.5, 2 / 3, 0.9, 1]), st.booleans())
def test_divergence_is_what_the_twin_counts(drawn, theta, flat):
    rows = by_row(released(*drawn, FLAT if flat else SCHEMA), "disease", theta=theta)
    towns, diseases, found = (rows[name].to_list() for name in rows.columns)
    expected = per_row(towns, diseases, unrelated(None if flat else PATHS, theta))
    assert found == [float(share) for share in expected]


def test_inner_nodes_that_are_shown():
    """A value may be a node: related to itself, and to what is below it only where it is lower than theta."""
    from shoal.privacy.base import Classes, Tree, Values

    names = [*PATHS.leaves, "Stomach", "Digestive", "*", None]
    values = Values(pl.Series(names), "nominal", tree=Tree.of(TREE))
    classes = Classes(np.zeros(len(names), dtype=np.int64), {"disease": values})
    for theta in (0.2, 1 / 3, 0.5, 2 / 3, 1.0):
        ((_, breach),) = MEASURES["divergence_breach"](theta=theta).breaches(classes)
        expected = per_row([0] * len(names), names, unrelated(PATHS, theta))
        assert breach.by_row(classes.labels, values.codes).tolist() == [float(share) for share in expected]


# -- what must hold ----------------------------------------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(people(), st.floats(0, 50), st.floats(0, 50))
def test_proximity_rises_with_epsilon_and_has_its_bounds(drawn, one, other):
    release = released(*drawn)
    small, large = (by_row(release, "income", epsilon=epsilon) for epsilon in sorted((one, other)))
    sizes = small.select(pl.len().over("town")).to_series()
    for rows in (small, large):
        assert (rows["proximity_breach:income"] >= 1 / sizes).all()
        assert (rows["proximity_breach:income"] <= 1).all()
    assert (small["proximity_breach:income"] <= large["proximity_breach:income"]).all()


@settings(max_examples=examples(40), deadline=None)
@given(people(), st.floats(0.01, 1), st.floats(0.01, 1))
def test_divergence_falls_with_theta_and_has_its_bounds(drawn, one, other):
    release = released(*drawn)
    small, large = (by_row(release, "disease", theta=theta) for theta in sorted((one, other)))
    sizes = small.select(pl.len().over("town")).to_series()
    assert (small["divergence_breach:disease"] >= large["divergence_breach:disease"]).all()
    assert (large["divergence_breach:disease"] >= 0).all()
    assert (small["divergence_breach:disease"] <= 1 - 1 / sizes).all()


@settings(max_examples=examples(40), deadline=None)
@given(people(), st.sampled_from([0, 1, 3.5]), st.sampled_from([0, 0.25, 0.5, 1]))
def test_figures_sum_the_rows_up(drawn, epsilon, threshold):
    release = released(*drawn)
    for name, parameters in (("proximity_breach", {"epsilon": epsilon}), ("divergence_breach", {})):
        column = "income" if name == "proximity_breach" else "disease"
        rows = release.breaches(**parameters)[f"{name}:{column}"]
        found = release.measure(name, threshold=threshold, **parameters)
        assert found[f"{name}:max:{column}"] == rows.max()
        assert found[f"{name}:mean:{column}"] == pytest.approx(rows.mean())
        assert found[f"{name}:share:{column}"] == (rows > threshold).mean()


@settings(max_examples=examples(30), deadline=None)
@given(people(), st.sampled_from([0, 1, 3.5]))
def test_the_largest_proximity_is_what_epsilon_m_reaches(drawn, epsilon):
    release = released(*drawn)
    model = shoal.EpsilonM("income", epsilon=epsilon, m=2)
    reached = model.achieved(release.verify().classes)
    found = release.measure("proximity_breach", epsilon=epsilon)["proximity_breach:max:income"]
    assert found == pytest.approx(1 / reached)


# -- shapes ------------------------------------------------------------------------------------------------------------

PEOPLE = pl.DataFrame(
    {
        "age": [20, 22, 24, 40, 44, 48, 60, 62],
        "income": [10, 11, 30, 10, 25, 26, 27, 60],
        "disease": ["Flu", "Hernia", "Flu", "Gastritis", "Hernia", "Bronchitis", "Flu", "Gastritis"],
    }
)
AGED = shoal.Schema(quasi={"age": Numeric()}, sensitive={"income": Numeric(), "disease": Nominal(TREE)})


def of_shape(shape):
    ways = {
        "text": (shoal.Mondrian(k=2), shoal.Generalize()),
        "typed": (shoal.Mondrian(k=2), shoal.Generalize(shape="typed")),
        "classes": (shoal.Mondrian(k=2), shoal.Generalize(shape="classes")),
        "values": (shoal.Mdav(k=2), shoal.Aggregate()),
        "centres": (shoal.Mdav(k=2), shoal.Centres()),
        "buckets": (shoal.Anatomy(l=2, column="disease"), None),
        "slices": (shoal.Slicing(l=2, groups={"age": 1, "income": 2, "disease": 3}), None),
        "records": (shoal.Personal(), [shoal.Aliases("disease", default=1), shoal.Grades("income", quantiles=2)]),
    }
    method, publish = ways[shape]
    return shoal.anonymize(PEOPLE, AGED, method, publish=publish, seed=3)


@pytest.mark.parametrize("shape", ["text", "typed", "classes", "values", "centres", "buckets"])
def test_every_shape_that_shows_classes(shape, tmp_path):
    release = of_shape(shape)
    assert release.manifest.layout.shape == shape
    rows = release.breaches(epsilon=2, theta=0.5)
    groups = rows.select(release.manifest.layout.class_columns).rows()
    incomes, diseases = rows["income"].to_list(), rows["disease"].to_list()
    assert rows["proximity_breach:income"].to_list() == list(map(float, per_row(groups, incomes, near(2))))
    expected = per_row(groups, diseases, unrelated(PATHS, 0.5))
    assert rows["divergence_breach:disease"].to_list() == list(map(float, expected))
    back = shoal.read_release(release.write(tmp_path / "release"))
    for name, parameters in (("proximity_breach", {"epsilon": 2}), ("divergence_breach", {"theta": 0.5})):
        assert back.measure(name, **parameters) == release.measure(name, **parameters)
    assert back.breaches(epsilon=2, theta=0.5).equals(rows)


def test_classes_are_the_same_whatever_shape_shows_them():
    one, *others = (of_shape(shape) for shape in ("text", "typed", "classes"))
    for name in ("proximity_breach", "divergence_breach"):
        assert all(other.measure(name) == one.measure(name) for other in others)


def test_a_bucket_is_a_group():
    release = of_shape("buckets")
    rows = release.breaches(epsilon=0)
    assert sorted(rows.select("income", "disease").rows()) == sorted(PEOPLE.select("income", "disease").rows())
    assert rows.columns[:3] == ["bucket", "income", "disease"]
    assert rows["divergence_breach:disease"].max() <= 1 - 1 / 2


def test_of_slices_nothing_is_said():
    release = of_shape("slices")
    for name in ("proximity_breach", "divergence_breach"):
        with pytest.raises(ParameterError, match="says nothing of a release of the shape 'slices'"):
            release.measure(name)
    with pytest.raises(ParameterError, match="2 problems"):
        release.breaches()


def test_every_shape_is_decided():
    shapes = get_args(Layout.model_fields["shape"].annotation)
    assert {*MEASURES["proximity_breach"].shapes, "slices"} == set(shapes)


def test_counterfeits_count_like_any_row():
    """Nobody can tell them from people: a is alone with one, and c is with e."""
    one = shoal.republish(FIRST, PATIENTS, TWO, seed=3)
    second = table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"))
    two = shoal.republish(second, PATIENTS, TWO, previous=one.release, state=one.state, seed=3).release
    assert (two.manifest.layout.shape, two.manifest.rows.counterfeits) == ("invariant", 1)
    assert two.breaches()["divergence_breach:disease"].to_list() == [0.5] * 4
    assert two.measure("divergence_breach")["divergence_breach:mean:disease"] == 0.5


# -- aliases and grades ------------------------------------------------------------------------------------------------


def hidden(method=None):
    hiding = [shoal.Aliases("disease", default=2), shoal.Grades("income", quantiles=2)]
    return shoal.anonymize(PEOPLE, AGED, method or shoal.Mondrian(k=4), publish=hiding, seed=3)


def test_hidden_columns_are_left_out_without_the_key(tmp_path):
    release = hidden()
    bare = shoal.Release(release.frames, release.manifest)
    assert bare.measure("proximity_breach") == bare.measure("divergence_breach") == {}
    assert not [name for name in bare.breaches().columns if "breach" in name]
    for name, column in (("proximity_breach", "income"), ("divergence_breach", "disease")):
        with pytest.raises(ParameterError, match=f"column '{column}' shows aliases or grades"):
            bare.measure(name, column=column)


@pytest.mark.parametrize("method", [shoal.Mondrian(k=4), shoal.Personal()], ids=["classes", "records"])
def test_with_the_key_the_figures_are_those_of_the_values(method):
    release = hidden(method)
    bare = shoal.Release(release.frames, release.manifest)
    found = release.measure("divergence_breach", theta=0.5)
    assert found == bare.measure("divergence_breach", theta=0.5, key=release.key)
    assert release.measure("proximity_breach", epsilon=1) == bare.measure(
        "proximity_breach", epsilon=1, key=release.key
    )
    rows = release.breaches(theta=0.5, epsilon=1)
    groups = rows["age"].to_list()
    meant = [release.key.by_name["disease"].values[cell][0] for cell in rows["disease"]]
    money = [release.key.by_name["income"].values[cell][0] for cell in rows["income"]]
    assert rows["divergence_breach:disease"].to_list() == list(
        map(float, per_row(groups, meant, unrelated(PATHS, 0.5)))
    )
    assert rows["proximity_breach:income"].to_list() == list(map(float, per_row(groups, money, near(1))))
    assert rows.select("income", "disease").equals(release.table.select("income", "disease")), "cells stay hidden"


def test_generalised_choices_stay_out():
    """A node stands for more than one value: no key says which."""
    hiding = shoal.Aliases("disease", default=2, choice2="generalise")
    release = shoal.anonymize(PEOPLE, AGED, shoal.Mondrian(k=4), publish=hiding, seed=3)
    assert release.measure("divergence_breach") == {}
    assert release.measure("proximity_breach") != {}


def test_the_key_of_another_release_is_refused():
    with pytest.raises(GuaranteeError, match="belongs to another release"):
        hidden().measure("divergence_breach", key=hidden(shoal.Personal()).key)


# -- what cannot be measured -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "fragment"),
    [
        (
            "proximity_breach",
            {"column": "incom"},
            "'incom' is not a sensitive column of the release; did you mean 'income'",
        ),
        ("proximity_breach", {"column": "disease"}, "column 'disease' has no numbers"),
        ("divergence_breach", {"column": "income"}, "column 'income' has numbers"),
        ("proximity_breach", {"epsilon": -1}, "epsilon: needs a number"),
        ("divergence_breach", {"theta": 0}, "theta: needs a number"),
        ("divergence_breach", {"threshold": 2}, "threshold: needs a number"),
        ("divergence_breach", {"epsilon": 2}, "epsilon: unknown key"),
    ],
)
def test_what_is_refused(name, parameters, fragment):
    with pytest.raises(ParameterError, match="measure") as caught:
        of_shape("text").measure(name, **parameters)
    assert fragment in str(caught.value)


def test_one_column_alone():
    release = of_shape("text")
    assert release.measure("proximity_breach", column="income") == release.measure("proximity_breach")
    with pytest.raises(ParameterError, match=r"breaches\.theta"):
        release.breaches(theta=2)
    with pytest.raises(ParameterError, match=r"measure\(key=\): is for one measure"):
        release.measure(key=hidden().key)


def test_a_frame_of_the_type_that_was_given():
    frame = PEOPLE.to_pandas()
    release = shoal.anonymize(frame, AGED, shoal.Mondrian(k=2), seed=3)
    assert type(release.breaches()) is type(frame)


def test_many_rows_are_a_matter_of_sorting():
    """No loop over rows: 200,000 of them in one class, each near to thousands, are counted at once."""
    n = 200_000
    frame = pl.DataFrame({"town": ["a"] * n, "income": np.arange(n, dtype=np.float64), "disease": ["Flu"] * n})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), seed=3)
    found = release.measure("proximity_breach", epsilon=5000)
    inner = n - 2 * 5000
    total = inner * 10_001 + 2 * sum(range(5001, 10_001))
    assert found["proximity_breach:mean:income"] == pytest.approx(float(Fraction(total, n * n)))


# -- the command line --------------------------------------------------------------------------------------------------


def shown_by(capsys, *arguments: str) -> dict[str, float]:
    from typer.main import get_command

    from shoal.cli.app import app

    get_command(app).main(["measure", *arguments, "--json"], standalone_mode=False)
    return json.loads(capsys.readouterr().out)


def test_parameters_are_flags(capsys, tmp_path):
    release = of_shape("text")
    folder = str(release.write(tmp_path / "release"))
    found = shown_by(capsys, folder, "-m", "proximity_breach", "--epsilon", "0.2", "--relative", "--column=income")
    assert found == release.measure("proximity_breach", epsilon=0.2, relative=True)
    assert shown_by(capsys, folder, "-m", "divergence_breach", "--theta", "0.5") == release.measure(
        "divergence_breach", theta=0.5
    )


def test_the_key_on_the_command_line(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_PASSPHRASE", "correct horse battery staple")
    release = hidden()
    folder = release.write(tmp_path / "release", passphrase="correct horse battery staple")
    asked = [str(folder), "-m", "divergence_breach"]
    assert shown_by(capsys, *asked) == {}
    assert shown_by(capsys, *asked, "--key", f"{folder}.key") == release.measure("divergence_breach")


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["-m", "proximity_breach", "--epsilom", "2"], "--epsilom: unknown flag; did you mean '--epsilon'?"),
        (["-m", "proximity_breach", "--epsilon"], "--epsilon: has no value; write --epsilon VALUE"),
        (["-m", "proximity_breach", "--epsilon", "much"], "measure proximity_breach.epsilon: needs a number"),
        (["--epsilon", "2"], "--epsilon: unknown flag; parameters go with --measure"),
        (["--orignal", "recipe.toml"], "--orignal: unknown flag; did you mean '--original'?"),
        (["--key", "release.key"], "--key: is for --measure"),
    ],
)
def test_flags_that_are_refused(capsys, tmp_path, arguments, fragment):
    folder = str(of_shape("text").write(tmp_path / "release"))
    with pytest.raises(ParameterError, match=r"--|measure") as caught:
        shown_by(capsys, folder, *arguments)
    assert fragment in str(caught.value)
