"""Equivalence classes: the group of every row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from shoal.errors import InternalError

if TYPE_CHECKING:
    from shoal.slicing.attributes import Attributes, Columns

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SliceColumns:
    """Attributes that stay together, slice by slice.

    `classes` has for each slice the rows whose quasi-identifiers are shown alike, or None where they are shown as they
    are.
    """

    attributes: tuple[tuple[str, ...], ...]
    classes: tuple[Labels | None, ...]
    phi2: Attributes
    """How much attributes say of each other."""
    columns: Columns
    """How they were gathered; an attribute that two slices show is in one of them here."""

    def only(self, kept: npt.NDArray[np.bool_]) -> SliceColumns:
        """The same slices of some of the rows."""
        return replace(self, classes=tuple(None if one is None else one[kept] for one in self.classes))


@dataclass(frozen=True)
class Groups:
    """One label per row, 0 .. n_groups - 1, and -1 for a suppressed row.

    `notes` are facts about the run that belong into the manifest, such as a number of iterations. `centres` is the row
    each group was formed around, for methods that have one. `slices` says which attributes stay together, for methods
    that cut a table both ways.
    """

    labels: Labels
    notes: dict[str, object] = field(default_factory=dict)
    centres: Labels | None = None
    slices: SliceColumns | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> Labels:
        """Rows of each group."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_groups).astype(np.int64)

    @property
    def n_suppressed(self) -> int:
        """Rows in no group."""
        return int((self.labels < 0).sum())

    def only(self, kept: npt.NDArray[np.bool_]) -> Groups:
        """The same groups of some of the rows, all those in groups among them; nothing is noted of the others."""
        if kept.all():
            return self
        place = np.cumsum(kept) - 1
        centres = None if self.centres is None else place[self.centres]
        slices = None if self.slices is None else self.slices.only(kept)
        return Groups(self.labels[kept], self.notes, centres, slices)

    def check(self, n_rows: int, k: int) -> None:
        """Refuse what no method may return: a row without a label, a group below k, a centre outside its group."""
        if not np.issubdtype(self.labels.dtype, np.integer):
            raise InternalError("a method returned labels that are not whole numbers")
        if len(self.labels) != n_rows or self.labels.min(initial=0) < -1:
            raise InternalError("a method returned labels that do not fit the rows")
        if self.n_groups and self.sizes.min() < k:
            raise InternalError(f"a method returned a group of {self.sizes.min()} rows where k = {k}")
        if self.centres is not None:
            self._check_centres(self.centres, n_rows)

    def _check_centres(self, centres: Labels, n_rows: int) -> None:
        inside = len(centres) == self.n_groups and ((centres >= 0) & (centres < n_rows)).all()
        if not inside or (self.labels[centres] != np.arange(self.n_groups)).any():
            raise InternalError("a method returned a centre that is no row of its group")


def members_of(labels: Labels) -> list[Labels]:
    """Rows of every group, in row order."""
    order = np.argsort(labels, kind="stable")
    n_groups = int(labels.max(initial=-1)) + 1
    begin = np.searchsorted(labels[order], np.arange(n_groups + 1))
    return [order[begin[group] : begin[group + 1]] for group in range(n_groups)]


def without_holes(labels: Labels) -> Labels:
    """Labels 0, 1, ... in the order of the old ones."""
    kept = np.unique(labels[labels >= 0])
    return np.where(labels >= 0, np.searchsorted(kept, labels), -1)
