"""C4.5: a decision tree by gain ratio, with pessimistic pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.errors import InfeasibleError, Problems, SchemaError, did_you_mean
from shoal.learning.columns import attributes_of, check_columns
from shoal.learning.growing import Training, grow
from shoal.learning.pruning import pruned
from shoal.learning.tree import Tree
from shoal.spec import Share, Spec, Whole, YesNo, param


@dataclass(frozen=True)
class C45(Spec):
    r"""A decision tree as Quinlan's C4.5, release 8, and Weka's J48 with its defaults, train it.

    Columns of numbers are split in two at a value that occurs, all others into a branch for every category. A node is
    split on the attribute with the best gain ratio among those whose gain is at least average. Rows with a missing
    value go to all branches, in parts. Then the tree is cut back: a node becomes a leaf, or its largest branch takes
    its place, if that is expected to make no more errors.

    Parameters
    ----------
    min_rows
        Rows that at least two branches of a split must have.
    confidence
        Of the errors expected of a leaf: smaller means more pessimistic, and a smaller tree.
    prune
        Whether the tree is cut back. Splits that do not make fewer errors in training are taken back in any case.
    raise_subtrees
        Whether a branch may take the place of its node.

    Notes
    -----
    Nothing is drawn, and the tree does not depend on the order of rows. Ties: of attributes the first column, of
    thresholds the lowest, of classes the most frequent in the table, then the first in the order of values; of branches
    that may take the place of their node the last.

    A numeric split must leave a tenth of the rows per class on both sides, though never more than 25 or fewer than
    `min_rows`; its gain is reduced by log2(thresholds tried) / rows. Nominal attributes with as many categories as 0.3
    of the rows do not enter the average gain.

    References
    ----------
    Quinlan, "C4.5: programs for machine learning", 1993.
    Quinlan, "Improved use of continuous attributes in C4.5", Journal of Artificial Intelligence Research 4, 1996.

    Examples
    --------
    >>> rows = pl.DataFrame({"sky": ["sun", "sun", "rain", "rain"] * 3, "play": ["no", "no", "yes", "yes"] * 3})
    >>> tree = C45().fit(rows, "play")
    >>> print(*tree.rules(), sep="\n")
    sky = rain -> play = yes (6/0)
    sky = sun -> play = no (6/0)
    >>> tree.predict(pl.DataFrame({"sky": ["rain", "sun"]})).to_list()
    ['yes', 'no']
    """

    name: ClassVar[str] = "c4.5"
    title: ClassVar[str] = "decision tree by gain ratio, with pessimistic pruning"

    min_rows: int = param(Whole(1), "rows that two branches of a split must have", default=2)
    confidence: float = param(
        Share(0, 0.5, open_low=True), "of the errors expected of a leaf; smaller prunes more", default=0.25
    )
    prune: bool = param(YesNo(), "whether the tree is cut back", default=True)
    raise_subtrees: bool = param(YesNo(), "whether a branch may take the place of its node", default=True)

    def fit(self, frame: pl.DataFrame, target: str) -> Tree:
        """Train a tree that predicts one column from all others.

        Parameters
        ----------
        frame
            The rows to learn from; those whose target is missing are left out.
        target
            The column to predict, of categories or whole numbers; each different value is a class.
        """
        check_learnable(frame, target)
        rows = frame.filter(present(frame, target))
        classes = frequent_first(rows[target])
        attributes = attributes_of([rows[name] for name in rows.columns if name != target])
        label = rows[target].replace_strict(classes, range(len(classes)), return_dtype=pl.Int64).to_numpy()
        training = Training.of(rows, attributes, label, len(classes))
        grown = grow(training, self.min_rows)
        nodes = pruned(training, grown, self.confidence if self.prune else None, raising=self.raise_subtrees)
        return Tree.trained(target, classes, training, nodes)


def frequent_first(target: pl.Series) -> pl.Series:
    """The values of the target, the most frequent first, equally frequent ones in their order."""
    counts = target.value_counts(name="count")
    ordered = counts.sort("count", pl.col(target.name).cast(pl.String), descending=[True, False])
    return ordered[target.name]


def present(frame: pl.DataFrame, target: str) -> pl.Expr:
    """Which rows have a value of the target."""
    known = pl.col(target).is_not_null()
    return known & (pl.col(target) != "") if frame.schema[target] == pl.String else known


def check_learnable(frame: pl.DataFrame, target: str) -> None:
    """Refuse a table that nothing can be learnt from, with all that is wrong in one error."""
    problems = Problems()
    if target not in frame.columns:
        problems.add(f"target {target!r}", "not in the table", did_you_mean(target, frame.columns), error=SchemaError)
        problems.raise_if_any(SchemaError)
    check_columns(frame, [name for name in frame.columns if name != target], problems)
    dtype = frame.schema[target]
    if not (dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean)):
        problems.add(f"target {target!r}", f"has type {dtype}", "make it categories, such as ranges of numbers")
    elif not frame.select(present(frame, target).any()).item():
        problems.add(f"target {target!r}", "has no value in any row", "give rows to learn from", error=InfeasibleError)
    problems.raise_if_any(SchemaError)
