"""Slices read back: how sure anybody can be of a sensitive value who matches people with them.

A person fits a bucket as far as the person's quasi-identifiers of every slice stand in it. Which values the person may
have, and with what chance, is counted from the published cells alone: no code of the method is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.refutation import Put, ShownSlices, certain_chance
from shoal.check.slice_people import covering_alike, placed
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, counted, some
from shoal.kernels.check import fitting as kernel
from shoal.privacy.base import SLACK
from shoal.release.manifest import Layout, QuasiColumn
from shoal.release.shapes.slices import read_slices
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Schema

MOST_COMBINATIONS = 5_000_000
"""How many ways to put slices together are looked at one by one; beyond, what each says on its own is a bound."""

BUCKET, TIMES = "\0bucket", "\0times"
"""Names of work columns; no column of a table can have them."""
LAID_OUT = 1 << 22
"""How many cells are laid out at a time: 32 MB of chances."""
MOST_JOINED = 20_000_000
"""Rows that slices may become that share an attribute and are put together."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def _sum(times: Floats, places: Ints) -> Floats:
    """Rows that go to each place."""
    return np.bincount(places, weights=times).astype(np.float64)


def _once(*columns: Ints) -> Floats:
    """What each row counts so that all that are alike in some columns, a person's among them, count as one."""
    line = combined(columns)
    return np.asarray(1.0 / np.bincount(line)[line], dtype=np.float64)


def _join(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Rows of two slices that agree on bucket and shared attributes, each combination once.

    Each comes with how many rows of the bucket it stands for, on average over all ways to put the slices together: of
    four rows that show a value in one slice, and four in the other, every pair belongs together in a quarter of them.
    """
    shared = [BUCKET, *(name for name in one.columns if name in other.columns and name not in (BUCKET, TIMES))]
    left, right = (frame.group_by(pl.all().exclude(TIMES)).agg(pl.col(TIMES).sum()) for frame in (one, other))
    both = left.group_by(shared).len("\0left").join(right.group_by(shared).len("\0right"), on=shared, nulls_equal=True)
    if both.select((pl.col("\0left").cast(pl.Int64) * pl.col("\0right")).sum()).item() > MOST_JOINED:
        raise GuaranteeError(Problem("slices", "share an attribute and have too many combinations to be checked"))
    others = right.rename({TIMES: "\0others"}).with_columns(pl.col("\0others").sum().over(shared).alias("\0ways"))
    found = left.join(others, on=shared, how="inner", nulls_equal=True)
    return found.with_columns(pl.col(TIMES) * pl.col("\0others") / pl.col("\0ways")).drop("\0others", "\0ways")


def _codes(frame: pl.DataFrame, column: QuasiColumn) -> Ints:
    """Number the cells of a quasi-identifier; numbers are compared as such, however they are written."""
    as_numbers = [pl.Series([], dtype=pl.Int64)] if column.kind == "numeric" and column.form == "raw" else []
    return numbered([frame[column.name], *as_numbers])[0]


def _largest_share(shown: kernel.Shown) -> float:
    """The largest share of a value beside a combination in a bucket: no chance is larger."""
    some = np.diff(shown.beside) > 0
    most = np.maximum.reduceat(shown.times, shown.beside[:-1][some])
    return float((most / shown.count[some]).max())


def chances_of(shown: kernel.Shown, persons: Ints, at: int) -> Floats:
    """The largest chance of a value for each person; 0 for one who fits no bucket.

    `persons` has the combination of each person in each slice, -1 where it is in none.
    """
    chances, known = np.zeros(len(persons)), np.flatnonzero((persons >= 0).all(axis=1))
    combinations = shown.first + persons[known]
    n_in = np.diff(shown.begin)[combinations].min(axis=1, initial=len(shown.bucket))
    taken = np.cumsum(n_in + int(shown.value.max(initial=0)) + 1)  # what the first so many take, cell by cell
    begin = 0
    while begin < len(known):
        before = taken[begin - 1] if begin else 0
        end = max(int(np.searchsorted(taken, before + LAID_OUT, "right")), begin + 1)
        chances[known[begin:end]] = _chances_of_some(shown, combinations[begin:end], at)
        begin = end
    return chances


def _chances_of_some(shown: kernel.Shown, combinations: Ints, at: int) -> Floats:
    """The same for so many persons that all buckets they may fit can be laid out."""
    n_in, n_buckets, n_values = np.diff(shown.begin), shown.size.shape[1], int(shown.value.max(initial=0)) + 1
    rare = combinations[np.arange(len(combinations)), n_in[combinations].argmin(axis=1)]
    person, place = _laid_out(shown.begin[rare], n_in[rare])
    bucket, fit, pair = shown.bucket[place], np.ones(len(place)), place
    keys = np.repeat(np.arange(len(n_in)), n_in) * n_buckets + shown.bucket
    for i in range(combinations.shape[1]):
        wanted = combinations[person, i] * n_buckets + bucket
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[found] == wanted
        person, bucket, found = person[there], bucket[there], found[there]
        fit = fit[there] * (shown.count[found] / shown.size[i, bucket])
        pair = found if i == at else pair[there]
    entry, place = _laid_out(shown.beside[pair], np.diff(shown.beside)[pair])
    terms = fit[entry] * shown.times[place] / shown.count[pair[entry]]
    cells, n_cells = person[entry] * n_values + shown.value[place], len(combinations) * n_values
    largest = np.bincount(cells, weights=terms, minlength=n_cells).reshape(-1, n_values).max(axis=1)
    total = np.bincount(person, weights=fit, minlength=len(combinations))
    return np.where(total > 0.0, largest / np.where(total > 0.0, total, 1.0), 0.0)


def _laid_out(begin: Ints, n: Ints) -> tuple[Ints, Ints]:
    """Runs of places one after another: which run each place is of, and the place."""
    run = np.repeat(np.arange(len(n)), n)
    return run, np.arange(len(run)) + np.repeat(begin - np.cumsum(n) + n, n)


@dataclass(frozen=True)
class SlicesRead:
    """The slices of a release, each with the bucket of every row, rows in no order.

    `frames` have the attributes by the names of the input; `buckets` are numbered from 0.
    """

    layout: Layout
    frames: tuple[pl.DataFrame, ...]
    buckets: tuple[Ints, ...]
    times: tuple[Floats, ...]
    """How many rows each row stands for."""
    names: pl.Series
    """The bucket of each row of the first slice, as it is published."""
    published: SlicesRead | None = None
    """The slices as they are published, where these were put together of them."""
    whose: tuple[Ints, ...] = ()
    """The person of each row of every slice, where people may have several: each is counted once."""

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame], layout: Layout, problems: Problems) -> SlicesRead:
        """Read the tables of a sliced release; note files whose buckets are not the same."""
        frames, numbers, names = read_slices(tables, layout, problems)
        times = tuple(np.ones(len(codes)) for codes in numbers)
        return cls(layout, tuple(frames), tuple(numbers), times, names)

    def joined(self) -> SlicesRead:
        """The same with slices that share attributes put together: only cells that agree on them can belong."""
        frames = [
            frame.with_columns(pl.Series(BUCKET, bucket), pl.Series(TIMES, times))
            for frame, bucket, times in zip(self.frames, self.buckets, self.times, strict=True)
        ]
        apart: list[pl.DataFrame] = []
        for frame in frames:
            while True:
                near = next((one for one in apart if set(one.columns) & set(frame.columns) - {BUCKET, TIMES}), None)
                if near is None:
                    break
                apart = [one for one in apart if one is not near]
                frame = _join(near, frame)
            apart.append(frame)
        if len(apart) == len(frames):
            return self
        return SlicesRead(
            self.layout,
            tuple(frame.drop(BUCKET, TIMES) for frame in apart),
            tuple(frame[BUCKET].to_numpy() for frame in apart),
            tuple(frame[TIMES].to_numpy() for frame in apart),
            apart[0][BUCKET],
            self,
        )

    def check_generalised(self, p: int, l: int, problems: Problems) -> None:  # noqa: E741
        """Note slices whose quasi-identifiers are shared by fewer than p rows, or stand beside too likely a value."""
        for place, frame in enumerate(self.frames):
            if not self._quasi(place):
                continue
            together = self.combinations(place)
            counts = np.bincount(together)
            if counts.min(initial=p) < p:
                what = f"p = {p} was promised, but a combination is in {counted(counts.min(), 'row')}"
                problems.add(f"slice {place + 1}", what)
            for name in frame.columns:
                if name in self.layout.sensitive:
                    values = numbered([frame[name]])[0]
                    both = np.unique(np.stack([together, values]), axis=1, return_counts=True)
                    share = float((both[1] / counts[both[0][0]]).max(initial=0.0))
                    if share > 1 / l + SLACK:
                        what = f"column {name!r}: l = {l} was promised, but a value is in {share:.1%} of the rows"
                        problems.add(f"slice {place + 1}", f"{what} of a combination")

    # -- what stands where --------------------------------------------------------------------------------------------

    def _quasi(self, place: int) -> list[QuasiColumn]:
        known = {column.name: column for column in self.layout.quasi}
        return [known[name] for name in self.frames[place].columns if name in known]

    def combinations(self, place: int) -> Ints:
        """Number of the combination of quasi-identifiers that each row of a slice shows."""
        columns = [_codes(self.frames[place], column) for column in self._quasi(place)]
        return combined(columns) if columns else np.zeros(len(self.buckets[place]), dtype=np.int64)

    @cached_property
    def parts(self) -> list[Ints]:
        """The combinations of all slices."""
        return [self.combinations(place) for place in range(len(self.frames))]

    def shown(self, parts: Sequence[Ints], at: int, values: Ints) -> kernel.Shown:
        """All slices as the kernels read them, with the values of a sensitive attribute in the slice `at`."""
        weights = self.times
        if self.whose:  # once for each combination in a bucket
            lines = zip(self.whose, self.buckets, parts, strict=True)
            weights = tuple(_once(*line) for line in lines)
        size = np.array([_sum(times, bucket) for times, bucket in zip(weights, self.buckets, strict=True)])
        n_buckets = size.shape[1]
        first = np.cumsum([0, *(int(part.max(initial=0)) + 1 for part in parts)]).astype(np.int64)
        keys = [
            (first[i] + part) * n_buckets + bucket
            for i, (part, bucket) in enumerate(zip(parts, self.buckets, strict=True))
        ]
        pairs, pair = np.unique(np.concatenate(keys), return_inverse=True)
        count = _sum(np.concatenate(weights), pair)
        begin = np.searchsorted(pairs // n_buckets, np.arange(first[-1] + 1))
        n_values = int(values.max(initial=0)) + 1
        both, place = np.unique(np.searchsorted(pairs, keys[at]) * n_values + values, return_inverse=True)
        beside = np.searchsorted(both // n_values, np.arange(len(pairs) + 1))
        times = _once(self.whose[at], self.buckets[at], parts[at], values) if self.whose else self.times[at]
        return kernel.Shown(
            first[:-1].astype(np.int64), begin.astype(np.int64), (pairs % n_buckets).astype(np.int64), count, size,
            beside.astype(np.int64), (both % n_values).astype(np.int64), _sum(times, place),
        )  # fmt: skip

    def chances(self, original: pl.DataFrame, schema: Schema | None = None) -> dict[str, float]:
        """The largest chance of a value of each sensitive attribute, for everybody in the original table.

        Parameters
        ----------
        original
            The rows that were published, with their quasi-identifiers as they were.
        schema
            The hierarchies whole, where cells were generalised.
        """
        lacking = [column.name for column in self.layout.quasi if column.name not in original.columns]
        if lacking:
            raise ParameterError(
                Problem("original=", f"has no column {some(lacking, 50)}", "give the input of the release")
            )
        parts, people = [], []
        for place in range(len(self.frames)):
            part, person = placed(self.frames[place], self._quasi(place), original, schema, f"slice {place + 1}")
            parts.append(part)
            people.append(person)
        distinct = np.unique(np.stack(people, axis=1), axis=0)
        found = {}
        for name, at, values in self._sensitive():
            shown = self.shown(parts, at, values)
            chance = chances_of(shown, distinct, at)
            found[name], n_strange = float(chance.max(initial=0.0)), int((chance == 0.0).sum())
            if n_strange:
                what = counted(n_strange, "combination") + " of quasi-identifiers of the original "
                what += "matches no bucket" if n_strange == 1 else "match no bucket"
                raise GuaranteeError(Problem("slices", what, "give the input of the release"))
        return found

    def chances_of_all(self, enough: Mapping[str, float] | None = None) -> dict[str, float]:
        """The largest chance of a value of each sensitive attribute, for whatever slices can be put together to.

        The largest share of a value beside a combination in a bucket is never less. It stands for the chance where it
        is small `enough` already, by column, and where there are too many ways to put slices together.
        """
        parts = self.parts
        inside, standing, n_ways = self._standing(parts)
        found = {}
        for name, at, values in self._sensitive():
            shown = self.shown(parts, at, values)
            found[name] = _largest_share(shown)
            if found[name] > (enough or {}).get(name, 0.0) and n_ways <= MOST_COMBINATIONS:
                n_values = int(values.max(initial=0)) + 1
                found[name] = float(kernel.largest_of_all(shown, inside, standing, at, n_values))
        return found

    def _standing(self, parts: Sequence[Ints]) -> tuple[Ints, Ints, float]:
        """The combinations of every bucket, slice by slice, and how many ways there are to put them together."""
        n_slices, n_buckets = len(parts), int(self.buckets[0].max(initial=-1)) + 1
        n_parts = max(int(part.max(initial=0)) for part in parts) + 1
        lines = [
            np.unique((bucket * n_slices + i) * n_parts + part)
            for i, (part, bucket) in enumerate(zip(parts, self.buckets, strict=True))
        ]
        pairs = np.sort(np.concatenate(lines))
        inside = np.searchsorted(pairs // n_parts, np.arange(n_buckets * n_slices + 1)).astype(np.int64)
        n_ways = np.diff(inside).reshape(n_buckets, n_slices).astype(np.float64).prod(axis=1).sum()
        return inside, (pairs % n_parts).astype(np.int64), float(n_ways)

    def _sensitive(self) -> list[tuple[str, int, Ints]]:
        """Every sensitive attribute, the slice it is in, and the number of each row's value."""
        found = []
        for name in self.layout.sensitive:
            at = next(place for place, frame in enumerate(self.frames) if name in frame.columns)
            found.append((name, at, numbered([self.frames[at][name]])[0]))
        return found

    # -- what is certain ----------------------------------------------------------------------------------------------

    def refuted(self, asked: Mapping[str, float]) -> dict[str, float]:
        """The sensitive columns whose promise no table keeps that has these slices, and a chance that somebody has.

        Every row is that of somebody in its bucket. A column is named if in every way to put the rows of a bucket
        together, there is somebody with a value of a larger chance than asked for. What is not named may be broken all
        the same: where there are too many ways, or three slices and more, not all that follows is found.

        Parameters
        ----------
        asked
            The largest chance that is promised, by sensitive column: 1 / l.
        """
        found: dict[str, float] = {}
        for name, at, values in self._sensitive():
            if name not in asked:
                continue
            shown, bound = self.shown(self.parts, at, values), asked[name] / (1.0 - SLACK)
            if _largest_share(shown) > bound:  # or nobody can have a larger chance
                lines = [Put(bucket, part) for bucket, part in zip(self.buckets, self.parts, strict=True)]
                chance = certain_chance(
                    shown, lines, self._rows_of_lines, self._groups, at, bound=bound, most=MOST_COMBINATIONS
                )
                found |= {name: chance} if chance > bound else {}
        return found

    @cached_property
    def _rows_of_lines(self) -> list[ShownSlices]:
        """The slices as they are published, and which of their rows each line of these shows."""
        if self.published is None:
            lines = zip(self.buckets, self.parts, strict=True)
            return [ShownSlices(place, bucket, part, part) for place, (bucket, part) in enumerate(lines)]
        frames = self.published.frames
        shown = Counter(name for frame in frames for name in frame.columns)
        telling = {column.name for column in self.layout.quasi} | {name for name, n in shown.items() if n > 1}
        found = []
        for frame, bucket in zip(frames, self.published.buckets, strict=True):
            place = next(i for i, one in enumerate(self.frames) if set(frame.columns) <= set(one.columns))
            both = [numbered([frame[name], self.frames[place][name]]) for name in frame.columns if name in telling]
            n_lines = [np.zeros(len(one), dtype=np.int64) for one in (bucket, self.buckets[place])]
            number = combined([np.concatenate(codes) for codes in (n_lines, *both)])
            found.append(ShownSlices(place, bucket, number[: len(bucket)], number[len(bucket) :]))
        return found

    @cached_property
    def _groups(self) -> list[Ints]:
        """Of each slice, the combinations numbered so that those have one number that may cover the same person.

        Cells that were generalised may cover the same values, or be covered in a row by others that do.
        """
        return [covering_alike(self.frames[place], self._quasi(place), part) for place, part in enumerate(self.parts)]
