"""Hierarchies: read from files, refused with the value named, and as arrays that agree with the plain tree."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import Hierarchy, ParameterError, SchemaError
from shoal.errors import Problems
from shoal.kernels.cluster.trees import meet
from support.pairwise import examples
from support.realdata import data_folder
from twins.tables import trees

RAGGED = "flu;lung;*\nasthma;lung;*\nulcer;*\n"


class TestFiles:
    def read(self, tmp_path, content, **options):
        file = tmp_path / "tree.csv"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Hierarchy.from_csv(file, **options)

    def test_lines_may_differ_in_length(self, tmp_path):
        tree = self.read(tmp_path, RAGGED)
        assert tree.paths() == [("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "*")]

    @pytest.mark.parametrize(
        "content",
        [
            "\ufeff" + RAGGED,
            RAGGED.replace("\n", "\r\n"),
            RAGGED.rstrip("\n"),
            RAGGED.replace("ulcer;*", "ulcer;ulcer;*"),  # padded by repetition at the bottom
            RAGGED.replace("ulcer;*", "ulcer;*;*"),  # and at the top
            RAGGED.replace("ulcer;*", "ulcer;;*;"),  # by empty cells
            RAGGED.replace("ulcer", "  ulcer\t"),
            RAGGED.replace("flu", '"flu"'),
            "\n\n" + RAGGED + "   \n;;\n",
        ],
        ids=["mark", "ends", "no end", "repeats", "stars", "holes", "spaces", "quotes", "blank lines"],
    )
    def test_many_ways_to_write_one_tree(self, tmp_path, content):
        assert self.read(tmp_path, content) == Hierarchy.from_csv(io.StringIO(RAGGED))

    def test_commas_and_quoted_delimiters_belong_to_the_cell(self, tmp_path):
        tree = self.read(tmp_path, '[20,30[;"a;b";*\n')
        assert tree.paths() == [("[20,30[", "a;b", "*")]
        assert self.read(tmp_path, "a,b,*\n", delimiter=",").leaves == ("a",)

    def test_another_encoding(self, tmp_path):
        content = "Ålesund;*\n".encode("latin-1")
        with pytest.raises(SchemaError, match=r"hierarchy file 'tree.csv': is not utf-8-sig text; save it as UTF-8"):
            self.read(tmp_path, content)
        assert self.read(tmp_path, content, encoding="latin-1").leaves == ("Ålesund",)

    def test_a_file_that_cannot_be_read(self, tmp_path):
        with pytest.raises(SchemaError, match=r"'no.csv': cannot be read \(No such file or directory\); check the"):
            Hierarchy.from_csv(tmp_path / "no.csv")
        with pytest.raises(SchemaError, match=r"cannot be read.*check the path"):
            Hierarchy.from_csv(tmp_path)
        with pytest.raises(SchemaError, match="cannot be read; check the path"):
            Hierarchy.from_csv("no\0file.csv")

    @pytest.mark.parametrize("content", ["", "\n\n", " ; ;\n"])
    def test_a_file_without_lines(self, tmp_path, content):
        with pytest.raises(SchemaError, match="hierarchy of 'zip': has no leaves; give one line per value"):
            self.read(tmp_path, content, column="zip")

    def test_a_line_without_its_value_is_not_taken_for_another(self, tmp_path):
        with pytest.raises(SchemaError, match="has an empty node name"):
            self.read(tmp_path, RAGGED + ";stomach;*\n")


class TestRefusals:
    @pytest.mark.parametrize(
        ("paths", "message"),
        [
            ([], "has no leaves"),
            ([()], "has an empty node name"),
            ([("a", "", "*")], "has an empty node name"),
            ([("a", "*"), ("b", "any")], "has 2 roots: .*, any; end every line in the same root"),
            ([("a", "*"), ("a", "*")], "lists leaves more than once: a; keep one line per value"),
            ([("a", "g", "*"), ("a", "h", "*")], "lists leaves more than once: a"),
            (
                [("a", "g", "x", "*"), ("b", "g", "y", "*")],
                "has nodes with more than one parent: g; give every node one",
            ),
            ([("a", "b", "*"), ("b", "*")], "has values that are both leaf and group: b; rename the group"),
            ([("a", "b", "c", "*"), ("d", "c", "b", "*")], "has nodes with more than one parent: c, b"),
            ([("a", "b", "c", "b", "*")], "has nodes that are their own ancestors: b"),
            ([("a", "*", "b", "*")], r"has nodes that are their own ancestors: \*"),
            ([("a", "*", "any")], r"uses '\*' for a node that is not the root"),
            ([("*", "any")], r"uses '\*' for a node that is not the root"),
            ([("*",), ("a", "*")], r"uses '\*' for a value; keep '\*' for the root"),
        ],
        ids=str,
    )
    def test_what_is_no_tree(self, paths, message):
        with pytest.raises(SchemaError, match=f"hierarchy of 'zip': {message}"):
            Hierarchy(paths, column="zip")

    @pytest.mark.parametrize("paths", ["ab", ["ab", "cb"], [1, 2], [{"a": "b"}], [None]], ids=str)
    def test_what_is_no_list_of_paths(self, paths):
        with pytest.raises(SchemaError, match="hierarchy: needs one list of names per value"):
            Hierarchy(paths)

    def test_up_to_ten_values_are_named_and_kept_apart(self):
        """Apart, because a tree that a rule builds is made of cells, and those are never named."""
        doubled = [(f"v{n:02}", "*") for n in range(12)]
        with pytest.raises(SchemaError, match=r"more than once: v00, .*, v09 and 2 more; keep") as caught:
            Hierarchy([*doubled, *doubled])
        (problem,) = caught.value.problems
        assert problem.values == tuple(f"v{n:02}" for n in range(12))
        assert "v00" not in problem.what + problem.fix + problem.where

    def test_all_problems_come_in_one_error(self):
        with pytest.raises(
            SchemaError, match=r"(?s)4 problems:.*2 roots.*more than once: a.*one parent: g.*both leaf and"
        ):
            Hierarchy([("a", "g", "*"), ("a", "g", "x"), ("g", "*")])

    def test_a_root_alone_is_a_tree(self):
        tree = Hierarchy([("*",)])
        assert (tree.leaves, tree.height, tree.root) == (("*",), 0, "*")

    def test_padding_is_no_second_node(self):
        assert Hierarchy([("a", "a", "g", "g", "*")]).paths() == [("a", "g", "*")]


class TestNested:
    def test_mappings_and_lists(self):
        tree = Hierarchy.from_tree({"lung": {"upper": ["flu"], "lower": ("asthma",)}, "stomach": ["ulcer"]}, root="any")
        assert tree.paths() == [
            ("flu", "upper", "lung", "any"),
            ("asthma", "lower", "lung", "any"),
            ("ulcer", "stomach", "any"),
        ]

    @pytest.mark.parametrize("below", ["flu", None, 3, {"flu"}], ids=str)
    def test_a_single_text_is_not_taken_letter_by_letter(self, below):
        with pytest.raises(SchemaError, match="needs a list of values or a mapping of groups under 'lung', got"):
            Hierarchy.from_tree({"lung": below})


class TestQuestions:
    tree = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "*")])

    def test_up_and_down(self):
        assert self.tree.parent("flu") == "lung"
        assert self.tree.parent("*") is None
        assert self.tree.path("lung") == ("lung", "*")
        assert (self.tree.root, self.tree.height, self.tree.leaves) == ("*", 2, ("flu", "asthma", "ulcer"))
        assert repr(self.tree) == "Hierarchy(3 leaves, height 2, root '*')"

    def test_lowest_common(self):
        assert self.tree.lowest_common(["asthma"]) == "asthma"
        assert self.tree.lowest_common(iter(["asthma", "lung"])) == "lung"
        assert self.tree.lowest_common(["flu", "asthma", "ulcer"]) == "*"
        with pytest.raises(ParameterError, match="needs at least one name"):
            self.tree.lowest_common([])

    def test_equality_is_by_tree_and_order_of_leaves(self):
        again = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "*")], column="other")
        assert (again, hash(again)) == (self.tree, hash(self.tree))
        assert Hierarchy([("asthma", "lung", "*"), ("flu", "lung", "*"), ("ulcer", "*")]) != self.tree
        assert Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "lung", "*")]) != self.tree

    def test_values_without_a_leaf_are_named_once_and_in_order(self):
        problems = Problems()
        self.tree.check_covers(["flu", "ulcer"], "disease", problems)
        assert not problems
        self.tree.check_covers(["gout", "flu", "angina", "gout"], "disease", problems)
        with pytest.raises(
            SchemaError, match=r"^column 'disease': its hierarchy has no leaf for 2 of .* values: angina, gout; add one"
        ) as caught:
            problems.raise_if_any(SchemaError)
        assert caught.value.problems[0].values == ("angina", "gout")

    def test_a_group_is_no_leaf(self):
        problems = Problems()
        self.tree.check_covers(["lung"], "disease", problems)
        assert problems


@st.composite
def shuffled_paths(draw):
    """The paths of a tree in any order, so that no subtree is given in one run."""
    return draw(st.permutations(draw(trees()).paths()))


class TestArrays:
    @settings(max_examples=examples(80), deadline=None)
    @given(paths=shuffled_paths())
    def test_against_the_plain_tree(self, paths):
        tree = Hierarchy(paths)
        arrays = tree.arrays
        path_of = {path[place]: path[place:] for path in paths for place in range(len(path))}
        below = {name: {path[0] for path in paths if name in path} for name in path_of}
        assert sorted(tree.names) == sorted(path_of)
        assert sorted(tree.paths()) == sorted(tuple(path) for path in paths)
        for node, name in enumerate(tree.names):
            assert tree.node_of[name] == node
            assert arrays.depth[node] == len(path_of[name]) - 1
            assert arrays.height[node] == max(path.index(name) for path in paths if name in path)
            assert arrays.n_leaves[node] == len(below[name])
            run = range(arrays.first_leaf[node], arrays.first_leaf[node] + arrays.n_leaves[node])
            assert {tree.leaves[place] for place in run} == below[name], "the leaves of a subtree are one run"
            if name != tree.root:
                assert tree.names[arrays.parent[node]] == path_of[name][1]
                assert arrays.parent[node] < node, "parents come before their children"

    @settings(max_examples=examples(40), deadline=None)
    @given(tree=trees())
    def test_leaves_and_the_two_nodes_of_missing_cells(self, tree):
        arrays = tree.arrays
        n_nodes = len(tree.names)
        assert [tree.names[node] for node in arrays.leaf_node] == list(tree.leaves)
        assert arrays.first_leaf[arrays.leaf_node].tolist() == list(range(len(tree.leaves)))
        assert (arrays.missing, arrays.top, arrays.root) == (n_nodes, n_nodes + 1, 0)
        assert arrays.parent[[arrays.missing, arrays.root, arrays.top]].tolist() == [arrays.top] * 3
        assert arrays.depth[[arrays.root, arrays.missing, arrays.top]].tolist() == [0, 0, -1]
        assert arrays.n_leaves[arrays.top] == len(tree.leaves)
        assert arrays.n_leaves[arrays.missing] == 0
        assert arrays.height[arrays.top] == tree.height
        for array in (arrays.parent, arrays.depth, arrays.height, arrays.n_leaves, arrays.first_leaf, arrays.leaf_node):
            assert array.dtype == np.int32

    @settings(max_examples=examples(40), deadline=None)
    @given(tree=trees())
    def test_where_two_nodes_meet(self, tree):
        arrays = tree.arrays
        for left, one in enumerate(tree.names):
            for right, other in enumerate(tree.names):
                common = next(name for name in tree.path(one) if name in tree.path(other))
                assert tree.names[meet(arrays.parent, arrays.depth, left, right)] == common
                assert tree.lowest_common([one, other]) == common
            assert meet(arrays.parent, arrays.depth, left, arrays.missing) == arrays.top
            assert meet(arrays.parent, arrays.depth, arrays.missing, left) == arrays.top
        assert meet(arrays.parent, arrays.depth, arrays.missing, arrays.missing) == arrays.missing

    @settings(max_examples=examples(30), deadline=None)
    @given(tree=trees(), data=st.data())
    def test_lowest_common_of_many(self, tree, data):
        names = data.draw(st.lists(st.sampled_from(tree.names), min_size=1, max_size=5))
        found = tree.lowest_common(names)
        assert all(found in tree.path(name) for name in names)
        lower = [name for name in tree.names if tree.parent(name) == found]
        assert found in names or not any(all(child in tree.path(name) for name in names) for child in lower)

    @settings(max_examples=examples(30), deadline=None)
    @given(tree=trees())
    def test_written_to_a_file_and_read_back(self, tree):
        text = "\n".join(";".join(path) for path in tree.paths())
        assert Hierarchy.from_csv(io.StringIO(text)) == tree


@pytest.mark.parametrize("folder", ["adult/hierarchies", "worked-examples/hierarchies"])
def test_real_hierarchies(folder):
    files = sorted((data_folder() / folder).rglob("*.csv"))
    assert len(files) >= 5
    for file in files:
        lines = [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        tree = Hierarchy.from_csv(file)
        assert len(tree.leaves) == len(lines), file
        assert set(tree.leaves) == {line.split(";")[0].strip() for line in lines}, file
        assert tree.root in {line.split(";")[-1].strip() for line in lines}, file
        assert 1 <= tree.height < max(line.count(";") for line in lines) + 1, file

    @settings(max_examples=examples(40), deadline=None)
    @given(tree=trees())
    def test_the_lowest_node_over_two_leaves(self, tree):
        places = np.arange(len(tree.leaves))
        left, right = np.repeat(places, len(places)), np.tile(places, len(places))
        for one, other, node in zip(left, right, tree.arrays.over(left, right), strict=True):
            below = tree.path(tree.leaves[other])
            assert tree.names[node] == next(name for name in tree.path(tree.leaves[one]) if name in below)
