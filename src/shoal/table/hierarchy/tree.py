"""A rooted tree over the values of a column, and its form as arrays."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.errors import ParameterError, Problem, Problems, SchemaError, counted, rows_at
from shoal.spec import checked_call
from shoal.table.hierarchy import builders
from shoal.table.hierarchy.builders import STAR
from shoal.table.hierarchy.lines import delimited_paths

Nodes = npt.NDArray[np.integer]


@dataclass(frozen=True)
class TreeArrays:
    """A hierarchy as arrays over nodes in depth-first order, so that every subtree is one run of nodes and of leaves.

    Two nodes follow the hierarchy's own: `missing`, the value of its own that a missing cell is, and `top`, the
    parent of `missing` and of the root. A group that holds a missing and a present value meets in `top` and publishes
    `*`. Neither counts as a leaf or adds to a height.
    """

    parent: npt.NDArray[np.int32]
    depth: npt.NDArray[np.int32]
    """Edges to the root; the root and `missing` have 0, `top` has -1."""
    height: npt.NDArray[np.int32]
    """Height of the subtree; a leaf has 0."""
    n_leaves: npt.NDArray[np.int32]
    first_leaf: npt.NDArray[np.int32]
    """Position of the node's leftmost leaf in the left-to-right order."""
    leaf_node: npt.NDArray[np.int32]
    """Node of each leaf position."""

    @property
    def root(self) -> int:
        """The hierarchy's root."""
        return 0

    @property
    def missing(self) -> int:
        """The node of a missing cell."""
        return len(self.parent) - 2

    @property
    def top(self) -> int:
        """Where missing and present cells meet."""
        return len(self.parent) - 1

    def over(self, left: Nodes, right: Nodes) -> Nodes:
        """The lowest node over two leaves each, which are given by their positions."""
        return meet(self.parent, self.depth, self.leaf_node[left], self.leaf_node[right])


def meet(parent: Nodes, depth: Nodes, left: Nodes, right: Nodes) -> Nodes:
    """The lowest common ancestors of pairs of nodes."""
    while (apart := left != right).any():
        above = depth.take(left) - depth.take(right)
        left, right = (
            np.where(apart & (above >= 0), parent.take(left), left),
            np.where(apart & (above <= 0), parent.take(right), right),
        )
    return left


class Hierarchy:
    """A rooted tree over the values of a column.

    Built from paths, a CSV file, nested mappings, or one of the builders (`intervals`, `quantiles`, `prefixes`,
    `dates`, `grouping`, `flat`).

    Parameters
    ----------
    paths
        One path per leaf, from the leaf up to the root: ``("Flu", "Respiratory", "*")``. Paths may differ in length,
        and a node repeated along its own path (padding) counts once.
    column
        A name used in error messages.

    Examples
    --------
    >>> tree = Hierarchy([("flu", "lung", "*"), ("asthma", "lung", "*"), ("ulcer", "stomach", "*")])
    >>> tree.lowest_common(["flu", "asthma"]), tree.lowest_common(["flu", "ulcer"])
    ('lung', '*')
    """

    @checked_call(examples={"paths": '[["Vienna", "Austria", "Europe"]]'})
    def __init__(self, paths: Iterable[Sequence[str]], *, column: str = "") -> None:
        where = f"hierarchy of {column!r}" if column else "hierarchy"
        given = list(paths) if isinstance(paths, Iterable) else [paths]
        if isinstance(paths, str) or not all(isinstance(path, (list, tuple)) for path in given):
            raise SchemaError(Problem(where, "needs one list of names per value, from the value to the root"))
        cleaned = [_without_repeats([str(node) for node in path]) for path in given]
        _check_paths(cleaned, where)
        self.names, self.parents = _depth_first(cleaned)

    # -- ways to make one ---------------------------------------------------------------------------------------

    @classmethod
    def from_csv(
        cls,
        source: str | Path | io.TextIOBase,
        *,
        delimiter: str | None = None,
        encoding: str = "utf-8-sig",
        column: str = "",
    ) -> Hierarchy:
        """Read ``leaf;level1;...;*``, one line per leaf, no header; lines may differ in length.

        The delimiter is ``;`` unless given. Where no line has one, it is the only other one of ``,``, tab and ``|``
        that every line has and by which all lines end in the same root.
        """
        if isinstance(source, (str, Path)):
            where = f"hierarchy file {Path(source).name!r}"
            try:
                text = Path(source).read_text(encoding=encoding)
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise SchemaError(Problem(where, f"cannot be read ({reason})", "check the path")) from None
            except UnicodeError:
                raise SchemaError(Problem(where, f"is not {encoding} text", "save it as UTF-8")) from None
            except LookupError:
                raise SchemaError(Problem(where, "the encoding is unknown", 'use "utf-8"')) from None
            except ValueError:  # a path no file can have
                raise SchemaError(Problem(where, "cannot be read", "check the path")) from None
        else:
            text = source.read()
        return cls(
            delimited_paths(text, delimiter, f"hierarchy of {column!r}" if column else "hierarchy"), column=column
        )

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], *, root: str = STAR, column: str = "") -> Hierarchy:
        """Build from nested mappings whose ends are lists of leaves.

        >>> Hierarchy.from_tree({"lung": ["flu", "asthma"], "stomach": ["ulcer"]}).leaves
        ('flu', 'asthma', 'ulcer')
        """
        return cls(_paths_of(tree, (root,)), column=column)

    @classmethod
    def grow(cls, rule: builders.Rule, values: Iterable[object], *, column: str = "") -> Hierarchy:
        """Build the tree that a rule makes of given values; no values make a single root."""
        return cls(rule.paths(values) or [(STAR,)], column=column)

    @classmethod
    def flat(cls, *values: str, root: str = STAR) -> Hierarchy:
        """All values directly under one root."""
        return cls.grow(builders.Flat(root=root), values)

    @classmethod
    def prefixes(cls, *values: str, keep: Sequence[int], mask: str = "*") -> Hierarchy:
        """Codes cut to fewer and fewer leading characters: ``600018 -> 6000** -> 60**** -> *``."""
        return cls.grow(builders.Prefixes(keep=keep, mask=mask), values)

    @classmethod
    def intervals(cls, *values: float, width: Sequence[float], start: float = 0) -> Hierarchy:
        """Numbers in intervals of equal width, each level a multiple of the one below."""
        return cls.grow(builders.Intervals(width=width, start=start), values)

    @classmethod
    def quantiles(cls, *values: float, parts: Sequence[int]) -> Hierarchy:
        """Numbers in intervals that hold about equally many values, fewer and fewer of them."""
        return cls.grow(builders.Quantiles(parts=parts), values)

    @classmethod
    def dates(
        cls, *values: str, levels: Sequence[str] = ("day", "month", "year", "decade"), form: str = "YYYY-MM-DD"
    ) -> Hierarchy:
        """Dates of one form, with or without a time, under their day, month, year and decade."""
        return cls.grow(builders.Dates(levels=levels, form=form), values)

    @classmethod
    def grouping(cls, *values: str, sizes: Sequence[int]) -> Hierarchy:
        """Ordered values in runs of `sizes[0]`, those runs in runs of `sizes[1]`, and so on."""
        return cls.grow(builders.Grouping(sizes=sizes), values)

    # -- what it knows ------------------------------------------------------------------------------------------

    @property
    def root(self) -> str:
        """Name of the root."""
        return self.names[0]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values, left to right."""
        return tuple(self.names[node] for node in self.arrays.leaf_node)

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Node number of every name."""
        return {name: node for node, name in enumerate(self.names)}

    @property
    def height(self) -> int:
        """Edges from the root to the deepest leaf."""
        return int(self.arrays.height[0])

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree as arrays, for kernels."""
        return _arrays(self.parents)

    def parent(self, name: str) -> str | None:
        """Name of a node's parent, None for the root."""
        parent = self.parents[self.node_of[name]]
        return None if parent < 0 else self.names[parent]

    def path(self, name: str) -> tuple[str, ...]:
        """Names from a node up to the root, both included."""
        found = [name]
        while (parent := self.parent(found[-1])) is not None:
            found.append(parent)
        return tuple(found)

    def paths(self) -> list[tuple[str, ...]]:
        """One path per leaf, as the constructor takes them."""
        return [self.path(leaf) for leaf in self.leaves]

    def lowest_common(self, names: Iterable[str]) -> str:
        """Name of the lowest node above all the given ones."""
        nodes = [self.node_of[name] for name in names]
        if not nodes:
            raise ParameterError(Problem("lowest_common(names=)", "needs at least one name"))
        return self.names[reduce(partial(_meet, self.arrays), nodes)]

    def check_covers(
        self,
        values: Iterable[str],
        column: str,
        problems: Problems,
        *,
        rows_of: Callable[[set[str]], Sequence[int]] | None = None,
    ) -> None:
        """Note the distinct values of a column that have no leaf; with `rows_of`, by their rows alone."""
        absent = set(values).difference(self.leaves)
        if absent:
            what = f"its hierarchy has no leaf for {len(absent)} of the column's distinct values"
            fix = (
                "add one line for each to the hierarchy, or name the marker in missing_values if it stands for missing"
            )
            if rows_of is None:
                problems.add(f"column {column!r}", what, fix, values=sorted(absent))
            else:
                problems.add(f"column {column!r}", f"{what}, at {rows_at(rows_of(absent))}", fix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self.names == other.names and self.parents == other.parents

    def __hash__(self) -> int:
        return hash((self.names, self.parents))

    def __repr__(self) -> str:
        return f"Hierarchy({counted(len(self.leaves), 'leaf', 'leaves')}, height {self.height}, root {self.root!r})"


def _without_repeats(path: list[str]) -> tuple[str, ...]:
    """Collapse padding: a node that repeats directly above itself is one node."""
    return tuple(node for place, node in enumerate(path) if place == 0 or node != path[place - 1])


def _paths_of(tree: Mapping[str, Any] | Sequence[str], above: tuple[str, ...]) -> list[tuple[str, ...]]:
    if isinstance(tree, Mapping):
        return [path for name, below in tree.items() for path in _paths_of(below, (str(name), *above))]
    if not isinstance(tree, (list, tuple)):
        text = f"needs a list of values or a mapping of groups under {above[0]!r}, got {type(tree).__name__}"
        raise SchemaError(Problem("hierarchy", text))
    return [(str(leaf), *above) for leaf in tree]


def _check_paths(paths: list[tuple[str, ...]], where: str) -> None:
    """Refuse what is no tree, naming up to ten offending values of each sort."""
    problems = Problems()
    if not paths:
        problems.add(where, "has no leaves", "give one line per value, from the value to the root")
        problems.raise_if_any(SchemaError)
    roots = list(dict.fromkeys(path[-1] for path in paths if path))
    if any(not path or "" in path for path in paths):
        problems.add(where, "has an empty node name", "remove empty lines and cells")
    if len(roots) > 1:
        problems.add(where, f"has {len(roots)} roots", "end every line in the same root", values=roots)
    leaves = [path[0] for path in paths if path]
    seen: set[str] = set()
    doubled = list(dict.fromkeys(leaf for leaf in leaves if leaf in seen or seen.add(leaf)))  # type: ignore[func-returns-value]
    if doubled:
        problems.add(where, "lists leaves more than once", "keep one line per value", values=doubled)
    above: dict[str, str] = {}
    torn: dict[str, None] = {}
    looped: dict[str, None] = {}
    for path in paths:
        for child, parent in pairwise(path):
            if above.setdefault(child, parent) != parent:
                torn[child] = None
        looped.update((node, None) for node in path if path.count(node) > 1)
    if torn:
        problems.add(where, "has nodes with more than one parent", "give every node one parent", values=torn)
    if looped:
        problems.add(where, "has nodes that are their own ancestors", "name every node once on its line", values=looped)
    inner = {node for path in paths for node in path[1:]}
    both = [leaf for leaf in seen if leaf in inner]
    if both:
        problems.add(where, "has values that are both leaf and group", "rename the group", values=sorted(both))
    if STAR in {node for path in paths for node in path} and STAR not in roots:
        problems.add(where, "uses '*' for a node that is not the root", "keep '*' for the root")
    if STAR in seen and len(paths) > 1:
        problems.add(where, "uses '*' for a value", "keep '*' for the root")
    problems.raise_if_any(SchemaError)


def _depth_first(paths: list[tuple[str, ...]]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Number the nodes root first, children in the order they were met."""
    children: dict[str, dict[str, None]] = {}
    for path in paths:
        for child, parent in pairwise(path):
            children.setdefault(parent, {})[child] = None
    names: list[str] = []
    parents: list[int] = []
    stack = [(paths[0][-1], -1)]
    while stack:
        name, above = stack.pop()
        node = len(names)
        names.append(name)
        parents.append(above)
        stack.extend((child, node) for child in reversed(children.get(name, {})))
    return tuple(names), tuple(parents)


def _arrays(parents: Sequence[int]) -> TreeArrays:
    n_nodes = len(parents)
    parent = np.full(n_nodes + 2, n_nodes + 1, dtype=np.int32)
    parent[1:n_nodes] = parents[1:]
    depth = np.zeros(n_nodes + 2, dtype=np.int32)
    for node in range(1, n_nodes):
        depth[node] = depth[parents[node]] + 1
    depth[n_nodes + 1] = -1
    height = np.zeros(n_nodes + 2, dtype=np.int32)
    n_leaves = np.zeros(n_nodes + 2, dtype=np.int32)
    has_child = np.zeros(n_nodes, dtype=bool)
    has_child[list(parents[1:])] = True
    n_leaves[:n_nodes][~has_child] = 1
    for node in range(n_nodes - 1, 0, -1):
        height[parents[node]] = max(height[parents[node]], height[node] + 1)
        n_leaves[parents[node]] += n_leaves[node]
    height[n_nodes + 1], n_leaves[n_nodes + 1] = height[0], n_leaves[0]
    before = np.cumsum(~has_child, dtype=np.int32) - ~has_child
    first_leaf = np.concatenate([before, np.array([n_leaves[0], 0], dtype=np.int32)]).astype(np.int32)
    leaf_node = np.flatnonzero(~has_child).astype(np.int32)
    return TreeArrays(parent, depth, height, n_leaves, first_leaf, leaf_node)


def _meet(tree: TreeArrays, left: int, right: int) -> int:
    while left != right:
        if tree.depth[left] >= tree.depth[right]:
            left = int(tree.parent[left])
        else:
            right = int(tree.parent[right])
    return left
