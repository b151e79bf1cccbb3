"""m-invariance: a table is published again and again, and nobody's sensitive value comes out by comparing releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.cluster.signatures import Buckets, Signature, SignedPeople, bucketed
from shoal.cluster.space import space_of
from shoal.errors import ParameterError, Problems
from shoal.kernels.cluster import m_invariance as kernel
from shoal.kernels.cluster.mondrian import CutSpace
from shoal.kernels.sharing import in_parts
from shoal.methods.base import Method, Task
from shoal.methods.groups import Groups, Labels
from shoal.progress import SILENT, Progress
from shoal.spec import ColumnName, OneOf, Whole, param
from shoal.table.prepare import Table

WINDOW = 32
"""Classes between which rows are exchanged: neighbours after the halving, hence near."""
AT_A_TIME = 64 * WINDOW
"""Classes given to the kernel in one call, so that it can be stopped in between."""
ROUNDS = 4
"""How often all pairs of a window are gone through, at most."""


@dataclass(frozen=True)
class Arrangement:
    """Classes for one release: the class of each row, and the counterfeits that fill classes up.

    `signature_of` is the place among `signatures` of each class; `fake_class` and `fake_code` are the class and the
    sensitive value of each counterfeit.
    """

    labels: Labels
    signatures: tuple[Signature, ...]
    signature_of: Labels
    fake_class: Labels
    fake_code: Labels


@dataclass(frozen=True)
class MInvariance(Method):
    """Releases of a table that grows and shrinks, each person among the same sensitive values in all of them.

    Every class holds m different sensitive values or more, each once; this set is the signature of the people in it.
    Who is published again is put among people of the same signature again; where none has a value that is needed, a
    counterfeit row stands in, and how many a class has is published. It is used through `shoal.republish`, because it
    needs to know the signatures of all earlier releases.

    Parameters
    ----------
    m
        How many different sensitive values every class has at least.
    id
        The identifying column by which a person is known from one release to the next.
    column
        The sensitive column.
    newcomers
        ``"mix"`` puts new people among those whose signature lacks their value, as the paper does, so that few
        counterfeits are needed. ``"apart"`` keeps new people among themselves and fills up with counterfeits alone.

    Guarantee
    ---------
    Against an attacker who has all releases, knows everybody's quasi-identifiers and who is in which release: the
    chance to name the sensitive value of a person is at most 1/m, for exchanging the values of a signature everywhere
    gives another history that fits the releases as well. With ``newcomers="apart"`` this holds against an attacker who
    also re-runs the method on every history; with ``"mix"`` it does not, for a counterfeit where somebody new could
    have stood in tells which values were lacking. It does not hide who is in a release, nor does it hold for a person
    who is listed under two ids.

    >>> import polars as pl, shoal
    >>> schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> first = pl.DataFrame({"name": ["a", "b", "c", "d"], "age": [20, 21, 40, 41],
    ...                       "disease": ["flu", "gastritis", "flu", "bronchitis"]})
    >>> one = shoal.republish(first, schema, MInvariance(m=2, id="name", column="disease"))
    >>> one.release.verify().achieved["m:disease"]
    2

    References
    ----------
    Xiao, Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", SIGMOD 2007.
    """

    name: ClassVar[str] = "m-invariance"
    title: ClassVar[str] = "m-invariance for repeated releases"
    paper: ClassVar[str] = "Xiao, Tao, m-invariance: towards privacy preserving re-publication, SIGMOD 2007"
    complexity: ClassVar[str] = "time O(n log n d^2), memory O(n d)"
    advice: ClassVar[str] = (
        "For a table that is published again and again; needs sensitive values of similar frequency."
    )

    m: int = param(Whole(2), "least number of different sensitive values in a class")
    id: str = param(ColumnName(), "identifying column that names a person")
    column: str = param(ColumnName(), "sensitive column")
    newcomers: str = param(
        OneOf(("mix", "apart")),
        "whether new people fill up classes of known people (mix), or counterfeits alone do (apart)",
        default="mix",
    )

    @property
    def k(self) -> int:  # type: ignore[override]
        """Smallest class, counterfeits included."""
        return self.m

    def check(self, table: Table, problems: Problems) -> None:  # noqa: ARG002
        """Refuse a release that remembers nothing of those before it."""
        fix = "use `shoal republish`, or shoal.republish(...) in Python"
        problems.add("method", "m-invariance is for repeated releases, which need a state", fix, error=ParameterError)

    def partition(self, task: Task, rng: np.random.Generator, progress: Progress = SILENT) -> Groups:
        """Form the equivalence classes of a release that nothing came before."""
        values = task.table.sensitive[self.column]
        nobody = np.full(task.table.n_rows, -1, dtype=np.int64)
        return Groups(self.arrange(task, values.codes, len(values.counts), (), nobody, rng, progress).labels)

    def arrange(
        self,
        task: Task,
        codes: Labels,
        n_values: int,
        signatures: Sequence[Signature],
        bound: Labels,
        rng: np.random.Generator,
        progress: Progress = SILENT,
    ) -> Arrangement:
        """Form the classes of a release.

        Parameters
        ----------
        task
            The table and its arrays.
        codes
            Sensitive value of each row.
        n_values
            How many values there are, those included that no row has now.
        signatures
            What people are bound to since they were published first.
        bound
            Place among them of each row's signature, -1 for a person who is new.
        rng
            Draws which rows of a value go to which signature, and the order in which values are looked at: so that
            nothing that is done depends on who has which value of a signature.
        progress
            Is told how far the work is.
        """
        progress.stage("grouping", task.table.n_rows)
        space = space_of(task.encoded, along_trees=True)
        people = SignedPeople(codes, n_values, signatures, bound)
        split, member = _split(space, bucketed(people, self.m, rng, mix=self.newcomers == "mix"), rng, progress)
        _exchange(space, split, member, progress)
        return _arranged(split, member, len(codes))


@dataclass(frozen=True)
class _Split:
    """The classes of all buckets, as the kernel sees them, and their signatures."""

    classes: kernel.Shelf
    signatures: tuple[Signature, ...]

    @property
    def owner(self) -> Labels:
        """Class of each entry."""
        first = self.classes.first
        return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _split(space: CutSpace, buckets: Buckets, rng: np.random.Generator, progress: Progress) -> tuple[_Split, Labels]:
    """Split: classes with one row, or a counterfeit, of every value of the signature; and the row of each entry."""
    signatures = tuple(sorted(buckets))
    member, code, sizes, signature_of = [], [], [], []
    for place, signature in enumerate(signatures):
        values = rng.permutation(np.array(signature, dtype=np.int64))
        members = _members(values.tolist(), buckets[signature])
        n_classes = members.shape[1]
        kernel.halve(space, members)
        member.append(members.T.ravel())
        code.append(np.tile(values, n_classes))
        sizes.append(np.full(n_classes, len(signature), dtype=np.int64))
        signature_of.append(np.full(n_classes, place, dtype=np.int64))
        progress.advance(int((members >= 0).sum()))
    first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    shelf = kernel.Shelf(first, np.concatenate(code), np.concatenate(signature_of))
    return _Split(shelf, signatures), np.concatenate(member)


def _exchange(space: CutSpace, split: _Split, member: Labels, progress: Progress) -> None:
    """Exchange rows of one value between neighbours within a bucket.

    Never between buckets: that two people were not exchanged there would tell that they do not share a value.
    """
    n_classes = len(split.classes.signature)
    progress.stage("exchanging", 2 * n_classes)
    order = np.arange(n_classes)
    for offset in (0, WINDOW // 2):
        for start in range(offset, n_classes, AT_A_TIME):
            near = order[start : start + AT_A_TIME]

            def exchange(begin: int, end: int, near: Labels = near) -> None:
                some = near[begin * WINDOW : end * WINDOW]
                kernel.exchange(space, split.classes, member, some, WINDOW, ROUNDS)

            cells = len(near) * WINDOW * space.points.shape[1]
            in_parts(exchange, 0, -(-len(near) // WINDOW), cells)
            progress.advance(min(AT_A_TIME, n_classes - start))


def _arranged(split: _Split, member: Labels, n_rows: int) -> Arrangement:
    owner, fake = split.owner, member < 0
    labels = np.full(n_rows, -1, dtype=np.int64)
    labels[member[~fake]] = owner[~fake]
    return Arrangement(labels, split.signatures, split.classes.signature, owner[fake], split.classes.code[fake])


def _members(signature: Sequence[int], bucket: dict[int, list[Labels]]) -> Labels:
    """The rows of a bucket, a line for each value, filled up with counterfeits to the longest."""
    lines = [
        np.sort(np.concatenate(bucket[value])) if value in bucket else np.zeros(0, np.int64) for value in signature
    ]
    members = np.full((len(lines), max(len(line) for line in lines)), -1, dtype=np.int64)
    for place, line in enumerate(lines):
        members[place, : len(line)] = line
    return members
