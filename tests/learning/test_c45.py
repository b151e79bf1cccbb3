"""C4.5 against the book, against a slow twin, and against what must not matter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError, ParameterError, SchemaError
from shoal.learning.c45 import C45
from shoal.learning.tree import Tree
from support.learnable import golf, learnable
from support.pairwise import examples
from twins import c45 as twin

LEARNERS = st.builds(
    dict,
    min_rows=st.integers(1, 3),
    confidence=st.sampled_from([0.1, 0.25, 0.5]),
    prune=st.booleans(),
    raise_subtrees=st.booleans(),
)


def told(tree: Tree) -> np.ndarray:
    return np.array(sorted((round(leaf.rows, 6), leaf.wrong) for leaf in tree.rules()))


def leaves(tree: Tree) -> list[str]:
    return [str(leaf) for leaf in tree.rules()]


def test_the_tree_of_the_book():
    tree = C45().fit(golf(), "golf")
    assert (tree.size, tree.n_leaves) == (8, 5)
    assert leaves(tree) == [
        "outlook = overcast -> golf = play (4/0)",
        "outlook = rain and windy = false -> golf = play (3/0)",
        "outlook = rain and windy = true -> golf = stay (2/0)",
        "outlook = sunny and humidity <= 75 -> golf = play (2/0)",  # 75 occurs, half way between 70 and 85 does not
        "outlook = sunny and humidity > 75 -> golf = stay (3/0)",
    ]
    assert (tree.predict(golf()) == golf()["golf"]).all()
    assert [attribute.name for attribute in tree.used] == ["outlook", "humidity", "windy"]
    assert repr(tree) == "Tree(target='golf', size=8, n_leaves=5)"


@pytest.fixture
def book_with_a_hole() -> Tree:
    """The book's second example: the outlook of the sixth row is not known (Quinlan 1993, section 3.2)."""
    hole = pl.Series(np.arange(14) == 5)
    return C45(prune=False).fit(golf().with_columns(outlook=pl.when(~hole).then("outlook")), "golf")


def test_a_row_with_a_missing_value_goes_to_all_branches_in_parts(book_with_a_hole):
    # 13 rows have an outlook: 5 sunny, 3 overcast, 5 rain. The sixth is humid (90), windy, and one of play.
    assert leaves(book_with_a_hole) == [
        "outlook = overcast -> golf = play (3.23077/0)",
        "outlook = rain and windy = false -> golf = play (3/0)",
        "outlook = rain and windy = true -> golf = stay (2.38462/0.384615)",
        "outlook = sunny and humidity <= 75 -> golf = play (2/0)",
        "outlook = sunny and humidity > 75 -> golf = stay (3.38462/0.384615)",
    ]


def test_a_missing_value_is_predicted_by_all_branches(book_with_a_hole):
    # Sunny, humidity unknown: 2 of 5.38 rows are dry and play; of the 3.38 humid ones 3 stay.
    row = pl.DataFrame({"outlook": ["sunny"], "humidity": pl.Series([None], dtype=pl.Int64), "windy": ["false"]})
    shares = dict(zip(book_with_a_hole.classes, book_with_a_hole.distribution(row)[0], strict=True))
    whole = 5 + Fraction(5, 13)
    assert shares["stay"] == pytest.approx(float(3 / whole))  # the book: 56 %
    assert shares["play"] == pytest.approx(float((2 + Fraction(5, 13)) / whole))  # the book: 44 %


def test_a_category_nobody_has_seen_is_predicted_like_a_missing_one():
    tree = C45().fit(golf(), "golf")
    rows = pl.DataFrame({"outlook": ["hail", None, ""], "humidity": [90] * 3, "windy": ["true"] * 3})
    shares = tree.distribution(rows)
    assert shares[0] == pytest.approx([4 / 14, 10 / 14])  # play in the 4 of 14 rows that were overcast
    assert (shares == shares[0]).all()


def test_a_branch_without_rows_predicts_as_its_node_does():
    # Where x is above 1, `n` says the class, and nobody has a `c`.
    names = ["a"] * 7 + ["b"] * 5 + ["a", "b", "c"] * 4
    frame = pl.DataFrame({"n": names, "x": [5] * 12 + [1] * 12, "y": ["p"] * 7 + ["q"] * 5 + ["r"] * 12})
    tree = C45(prune=False).fit(frame, "y")
    assert [str(leaf) for leaf in tree.rules() if leaf.rows == 0] == ["x > 1 and n = c -> y = p (0/0)"]
    found = tree.distribution(pl.DataFrame({"n": ["c"], "x": [5]}))[0]
    assert dict(zip(tree.classes, found, strict=True)) == pytest.approx({"r": 0, "p": 7 / 12, "q": 5 / 12})


@settings(max_examples=examples(150))
@given(learnable(), LEARNERS)
def test_the_tree_is_that_of_the_twin(frame, options):
    tree, slow = C45(**options).fit(frame, "y"), twin.Learning(frame, "y", **options)
    assert tree.classes.to_list() == slow.classes
    assert told(tree) == pytest.approx(slow.told(), abs=1e-9)
    strange = frame.with_columns(pl.col(pl.String).replace("a", "z"))
    for rows in (frame, strange, strange.clear(1)):
        wanted = [[float(share) for share in slow.distribution(row)] for row in rows.to_dicts()]
        assert tree.distribution(rows) == pytest.approx(np.array(wanted), abs=1e-9)


@settings(max_examples=examples(50))
@given(learnable(), LEARNERS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(frame, options, random):
    order = random.sample(range(frame.height), frame.height)
    one, other = (C45(**options).fit(table, "y") for table in (frame, frame[order]))
    assert leaves(one) == leaves(other)
    assert (one.distribution(frame) == other.distribution(frame)).all()


@settings(max_examples=examples(50))
@given(learnable(), LEARNERS)
def test_other_names_in_the_same_order_do_not_matter(frame, options):
    names = {"a": "aa", "b": "bb", "c": "cc", "d": "dd", "p": "pp", "q": "qq", "r": "rr", "s": "ss"}
    renamed = frame.with_columns(pl.col(pl.String).replace(names))
    one, other = C45(**options).fit(frame, "y"), C45(**options).fit(renamed, "y")
    assert other.predict(renamed).to_list() == [names[value] for value in one.predict(frame)]


@settings(max_examples=examples(50))
@given(learnable(), LEARNERS, st.permutations("pqrs"))
def test_classes_may_be_renamed_at_will(frame, options, names):
    renamed = frame.with_columns(pl.col("y").replace(list("pqrs"), list(names)))
    one, other = C45(**options).fit(frame, "y"), C45(**options).fit(renamed, "y")
    there = [other.classes.to_list().index(names["pqrs".index(value)]) for value in one.classes]
    assert other.distribution(frame)[:, there] == pytest.approx(one.distribution(frame), abs=1e-12)


@settings(max_examples=examples(50))
@given(learnable(), LEARNERS, st.permutations("abcd"))
def test_categories_may_be_renamed_at_will(frame, options, names):
    # Only which of two equally large branches may take the place of its node depends on their order.
    learner = C45(**options | {"raise_subtrees": False})
    renamed = frame.with_columns(pl.col("^n.$").replace(list("abcd"), list(names)))
    one, other = learner.fit(frame, "y"), learner.fit(renamed, "y")
    assert other.distribution(renamed) == pytest.approx(one.distribution(frame), abs=1e-9)


@settings(max_examples=examples(50))
@given(learnable(min_rows=14), LEARNERS)  # fewer, and every column has many categories for its rows
def test_units_and_columns_that_say_nothing_do_not_matter(frame, options):
    learner = C45(**options)
    more = frame.with_columns(pl.col("^x.$") * 4, pl.lit("k").alias("nothing"), pl.lit(1).alias("one"))
    assert (learner.fit(more, "y").distribution(more) == learner.fit(frame, "y").distribution(frame)).all()


@settings(max_examples=examples(50))
@given(learnable(), LEARNERS)
def test_what_any_tree_is(frame, options):
    tree = C45(**options).fit(frame, "y")
    assert tree.distribution(frame).sum(axis=1) == pytest.approx(np.ones(frame.height))
    found = tree.rules()
    assert len(found) == tree.n_leaves
    assert sum(leaf.rows for leaf in found) == pytest.approx(frame.height)
    assert tree.size == tree.n_leaves + int((tree.nodes.attribute >= 0).sum())


@settings(max_examples=examples(50))
@given(learnable(missing=False, min_rows=4))
def test_without_missing_values_rules_and_predictions_agree(frame):
    tree = C45(min_rows=1, prune=False).fit(frame, "y")
    covered = np.zeros(frame.height, dtype=int)
    for leaf in tree.rules():
        there = np.ones(frame.height, dtype=bool)
        for condition in leaf.rule.when:
            there &= condition.holds(frame[condition.column])
        covered += there
        assert there.sum() == leaf.rows
        assert set(tree.predict(frame).filter(pl.Series(there))) <= {leaf.rule.then[0].value}
    assert (covered == 1).all()
    assert (tree.predict(frame) == frame["y"]).mean() >= frame["y"].value_counts()["count"].max() / frame.height


def test_ties_are_stated():
    twice = pl.DataFrame({"b": ["u", "u", "v", "v"] * 2, "y": ["p", "p", "q", "q"] * 2}).with_columns(a="b")
    assert leaves(C45().fit(twice, "y"))[0].startswith("b = u")  # the first column, not the first name
    even = pl.DataFrame({"y": ["q", "q", "p", "p"]})
    assert C45().fit(even, "y").predict(even).to_list() == ["p"] * 4  # equally frequent: the first value
    steps = pl.DataFrame({"x": [1, 2, 3, 4] * 10, "y": ["p", "q", "q", "p"] * 10})
    assert leaves(C45().fit(steps, "y")) == [  # cuts above 1 and above 3 gain as much: the lower one comes first
        "x <= 1 -> y = p (10/0)", "x > 1 and x <= 3 -> y = q (20/0)", "x > 3 -> y = p (10/0)",
    ]  # fmt: skip


def test_columns_of_every_kind():
    frame = golf().with_columns(
        pl.col("outlook").cast(pl.Categorical), windy=pl.col("windy") == "true", golf=pl.col("golf") == "play",
        nothing=pl.lit(None), temperature=pl.col("temperature").cast(pl.Float32),
    )  # fmt: skip
    tree = C45().fit(frame, "golf")
    assert tree.size == 8
    assert tree.predict(frame).dtype == pl.Boolean
    assert (tree.predict(frame) == frame["golf"]).all()
    assert leaves(tree)[0] == "outlook = overcast -> golf = True (4/0)"
    whole = golf().with_columns(golf=pl.when(pl.col("golf") == "play").then(7).otherwise(3))
    assert C45().fit(whole, "golf").predict(whole).to_list() == whole["golf"].to_list()


def test_infinite_numbers_and_none_at_all():
    frame = pl.DataFrame({"x": [-np.inf] * 3 + [np.inf] * 3 + [np.nan], "y": ["p"] * 3 + ["q"] * 4})
    tree = C45().fit(frame, "y")
    assert tree.predict(pl.DataFrame({"x": [-np.inf, 0.0, np.inf]})).to_list() == ["p", "q", "q"]
    assert tree.predict(pl.DataFrame({"x": []}, schema={"x": pl.Float64})).len() == 0


def test_rows_without_a_target_are_left_out():
    holes = golf().vstack(golf().with_columns(golf=pl.lit(None, dtype=pl.String)).head(3))
    assert leaves(C45().fit(holes, "golf")) == leaves(C45().fit(golf(), "golf"))
    blank = golf().vstack(golf().with_columns(golf=pl.lit("")).head(3))
    assert C45().fit(blank, "golf").classes.to_list() == ["play", "stay"]


def test_the_table_is_not_changed():
    frame = golf()
    C45().fit(frame, "golf").predict(frame)
    assert frame.equals(golf())


def test_wrong_tables_are_refused_with_all_that_is_wrong():
    with pytest.raises(SchemaError, match=r"target 'gulf': not in the table; did you mean 'golf'\?"):
        C45().fit(golf(), "gulf")
    frame = golf().with_columns(day=pl.date(2026, 1, 1), many=pl.lit([1]), share=pl.lit(0.5))
    with pytest.raises(SchemaError, match=r"(?s)3 problems.*'day': has type Date.*'many'.*target 'share': has type"):
        C45().fit(frame, "share")
    with pytest.raises(InfeasibleError, match="target 'golf': has no value in any row"):
        C45().fit(golf().clear(), "golf")
    tree = C45().fit(golf(), "golf")
    with pytest.raises(SchemaError, match=r"(?s)'outlook': not in the table.*'humidity': has type String"):
        tree.predict(golf().drop("outlook").with_columns(pl.col("humidity").cast(pl.String)))
    assert tree.predict(golf().drop("temperature")).len() == 14  # not asked about


@pytest.mark.parametrize(
    ("parameter", "value"), [(one.name, bad) for one in C45.parameters() for bad in one.bound.bad_values()]
)
def test_wrong_parameters_are_refused(parameter, value):
    with pytest.raises(ParameterError, match=rf"C45\({parameter}=\): needs"):
        C45(**{parameter: value})
