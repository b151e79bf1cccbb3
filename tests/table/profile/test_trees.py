"""Hierarchies as files: read back as they were meant, or not written at all."""

from __future__ import annotations

import io

import polars as pl
import pytest

from shoal.table.hierarchy.builders import Prefixes
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.profile.trees import file_names, mixed_paths, tree_text


def tree(rule, values: list) -> Hierarchy | None:
    text = tree_text(rule, pl.Series(values, dtype=pl.String))
    return None if text is None else Hierarchy.from_csv(io.StringIO(text))


def test_a_flat_tree_to_edit():
    assert tree_text(None, pl.Series(["b", "a", None, "c;d", "a"])) == 'a;*\nb;*\n"c;d";*\n'


def test_a_rule_is_written_out():
    found = tree(Prefixes(keep=(2,)), ["6001", "6002", "7001"])
    assert found is not None
    assert found.path("6001") == ("6001", "60**", "*")


@pytest.mark.parametrize(
    "values",
    [["a", "b"], ["a", " b", "c"], ["a", "*", "c"], [], [None, None], ["a", "b\n", "c"]],
    ids=["few", "spaces", "star", "none", "missing", "line"],
)
def test_what_cannot_be_kept_in_a_file_is_not_written(values):
    assert tree(None, values) is None


def test_numbers_among_texts_stand_under_intervals():
    texts = [f"{number / 10:.2f}" for number in range(5, 300, 7)] + ["<0.10", "clotted"]
    found = tree(None, texts)
    assert found is not None
    assert sorted(found.leaves) == sorted(texts)
    assert found.path("clotted") == ("clotted", "*")
    assert found.path("12.40") == ("12.40", "[12, 14[", "[10, 20[", "*")
    assert mixed_paths([str(number) for number in range(40)]) == []
    assert mixed_paths(["a", "b", "c", *map(str, range(5))]) == []


def test_file_names_are_safe_and_apart():
    names = file_names(["a/b", "a b", "A_B", "..", "größe", "x" * 99])
    assert list(names.values()) == ["a_b.csv", "a_b-2.csv", "A_B-3.csv", "column.csv", "gr_e.csv", "x" * 60 + ".csv"]
