"""Membership disclosure: how well the rows of the input hide among the tuples that a release may stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problems
from shoal.kernels.check import membership as kernel
from shoal.kernels.sharing import in_parts
from shoal.measure.base import COVERING_SHAPES, Given, Measure
from shoal.measure.boxed import Boxed
from shoal.measure.candidates import of_release, products_of_shown
from shoal.measure.pairing import checked
from shoal.measure.products import Ints, Lists, Products, runs_of
from shoal.spec import Whole, param
from shoal.table.numbering import codes_together

LISTED, FEWEST = 8, 2**16
"""Classes listed for each run and row, and at the least, so that tuples are found: more room than that is not taken."""
MOST, DRAWS = 20_000_000, 200_000
"""Tuples that are counted one by one, and tuples that are drawn where there are more."""
FEWER_DRAWS = 100_000
"""The same for measures, which are asked for many releases: a standard error of some 0.3 %."""
BOUNDS = {"most": Whole(0, 2**31 - 1), "draws": Whole(2), "seed": Whole(0)}


@dataclass(frozen=True)
class Membership:
    """What a reader of a release learns about who is in it.

    A candidate is a tuple that some class may stand for; a fake is a candidate that is no row of the input. The more
    fakes there are, and the more alike the two histograms, the less a match says. Counts are of distinct tuples.
    """

    originals: int
    """Distinct rows of the input."""
    candidates: float
    fakes: float
    """Whole numbers where they were counted; `inf` where they pass the largest float."""
    exact: bool
    """Whether candidates and fakes were counted, not estimated."""
    error: float
    """Standard error of candidates and fakes; 0 where they were counted."""
    original_matches: dict[int, int]
    """How many originals match how many classes; 0 classes for rows not published. `membership` counts them."""
    fake_matches: dict[int, float]
    """How many fakes match how many classes."""

    @property
    def ratio(self) -> float:
        """Fakes for every original."""
        return self.fakes / self.originals if self.originals else 0.0

    @property
    def chance(self) -> float:
        """Share of originals among the candidates: how sure somebody may be whose tuple matches."""
        matching = sum(count for classes, count in self.original_matches.items() if classes)
        return matching / self.candidates if self.candidates else 0.0

    def to_frame(self) -> pl.DataFrame:
        """The two histograms side by side: matching classes, originals, fakes."""
        classes = sorted({*self.original_matches, *self.fake_matches})
        return pl.DataFrame(
            {
                "matching_classes": classes,
                "originals": [self.original_matches.get(number, 0) for number in classes],
                "fakes": [float(self.fake_matches.get(number, 0)) for number in classes],
            },
            schema={"matching_classes": pl.Int64, "originals": pl.Int64, "fakes": pl.Float64},
        )


def membership(
    products: Products, *, most: int = MOST, draws: int = DRAWS, seed: int = 0
) -> Membership:  # fmt: skip
    """Count what a release may stand for, and how many of that is not in the input.

    Where all classes together have at most `most` tuples, everything is counted. Otherwise fakes are estimated from
    tuples drawn at random, each class as often as it has tuples: how many tuples of classes are fakes is known exactly,
    and those drawn say by how many classes a fake is held on average (Karp and Luby 1983). The estimate is unbiased;
    `error` is its standard error, and never less than what one drawn tuple weighs, for what was not met among the
    draws may still be there. Fifteen components make more tuples than whole numbers of 64 bits can count: numbers of
    tuples are Python's own, estimates are floats, and beyond the largest float they are infinite.

    Parameters
    ----------
    products
        What the classes of a release may stand for, by `of_release` and its like.
    most
        Up to how many tuples are counted rather than estimated.
    draws
        How many tuples are drawn where they cannot be counted.
    seed
        Same products, same seed: same figures.

    Examples
    --------
    >>> from shoal.measure.candidates import products_of_slices
    >>> rows = pl.DataFrame({"age": [22, 33, 52], "disease": ["flu", "ulcer", "flu"]})
    >>> slices = [rows.select("age"), rows.select("disease")]
    >>> found = membership(products_of_slices(pl.Series([1, 1, 1]), slices, rows))
    >>> found.candidates, found.fakes, found.ratio
    (6, 3, 1.0)
    """
    problems = Problems()
    for name, value in {"most": most, "draws": draws, "seed": seed}.items():
        if complaint := BOUNDS[name].complaint(value):
            problems.add(f"membership({name}=)", complaint)
    problems.raise_if_any(ParameterError)
    asked = Boxed.of(products) if Boxed.fits(products) else _Asked.of(products)
    matches = _Matches(asked.count(products.originals), len(products.originals))
    if products.volume <= most:
        return _counted(products, matches.found)
    return _estimated(products, asked, matches, draws, np.random.default_rng(seed))


def for_figures(products: Products, most: int, draws: int, seed: int) -> Membership:
    """The same for figures that are estimates: of more originals than draws, as many are drawn, and stand for all."""
    n = len(products.originals)
    if products.volume <= most or n <= draws:
        return membership(products, most=most, draws=draws, seed=seed)
    asked, rng = Boxed.of(products) if Boxed.fits(products) else _Asked.of(products), np.random.default_rng(seed)
    some = products.originals[np.sort(rng.integers(0, n, size=draws))]
    return _estimated(products, asked, _Matches(asked.count(some), n), draws, rng)


class _Matches(NamedTuple):
    """How many classes hold each original, or each of those that were drawn to stand for all."""

    found: Ints
    originals: int

    @property
    def total(self) -> int:
        """Of all originals together; exact where all were asked."""
        return int(self.found.sum()) * self.originals // max(len(self.found), 1)

    @property
    def variance(self) -> float:
        """Of the total: 0 where it is exact."""
        n = len(self.found)
        return 0.0 if n == self.originals else self.originals**2 * float(self.found.var(ddof=1)) / n

    def histogram(self) -> dict[int, int]:
        """How many originals are held by how many classes."""
        times = self.originals / max(len(self.found), 1)
        return {number: round(count * times) for number, count in _histogram(self.found).items()}


@dataclass(frozen=True)
class MembershipMeasure(Measure):
    """A measure of what a reader of a release learns about who is in it.

    Where tuples are too many to be counted, and rows of the input more than the draws, rows are drawn as well.
    """

    needs: ClassVar[Literal["release", "original"]] = "original"
    shapes: ClassVar[tuple[str, ...]] = COVERING_SHAPES

    most: int = param(BOUNDS["most"], "up to how many tuples are counted, not estimated", default=MOST)
    draws: int = param(BOUNDS["draws"], "how many tuples are drawn for an estimate", default=FEWER_DRAWS)
    seed: int = param(BOUNDS["seed"], "of the draws", default=0)

    def found(self, given: Given) -> Membership:
        """What a reader learns; measures that ask the same are answered once."""
        return given.once(_found, self.most, self.draws, self.seed)


def _found(given: Given, most: int, draws: int, seed: int) -> Membership:
    """What a reader learns of a release."""
    assert given.original is not None  # noqa: S101  seen to before
    layout = given.manifest.layout
    if layout.laid_out.protects == "cells" and not layout.hidden:
        return for_figures(products_of_shown(given.once(checked), layout), most, draws, seed)
    products = of_release(
        given.tables, given.manifest, given.original, schema=given.schema, missing_values=given.missing_values
    )
    return for_figures(products, most, draws, seed)


@dataclass(frozen=True, repr=False, eq=False)
class _Asked:
    """Products that can be asked how many classes hold a tuple."""

    order: Ints
    """Components in the order they are looked at: what tells classes apart comes first."""
    classes: kernel.ClassRuns
    lists: kernel.ClassLists

    @classmethod
    def of(cls, products: Products) -> _Asked:
        """Lay the components out; lists take no more room than runs and rows do."""
        order = np.argsort([one.classes_per_value for one in products.components], kind="stable")
        parts = [products.components[place] for place in order]
        rows = products.n_classes + len(products.originals)
        found = [Lists.of(part, most=LISTED * (len(part.low) + rows) + FEWEST) for part in parts]
        offset = np.cumsum([0, *(len(one.listed) for one in found)])
        shift = np.array([one.shift for one in found], dtype=np.int64)
        first = np.cumsum([0, *(len(one.heads) for one in found)]).astype(np.int64)
        heads = np.concatenate([one.heads + before for one, before in zip(found, offset, strict=False)])
        listed = np.concatenate([one.listed for one in found])
        return cls(order.astype(np.int64), runs_of(parts), kernel.ClassLists(shift, first, heads, listed))

    def count(self, tuples: Ints) -> Ints:
        """How many classes hold each tuple."""
        matches = np.zeros(len(tuples), dtype=np.int64)
        asked = np.ascontiguousarray(tuples[:, self.order])

        def count(begin: int, end: int) -> None:
            kernel.count_matches(self.classes, self.lists, asked[begin:end], matches[begin:end])

        in_parts(count, 0, len(asked), LISTED * asked.size)
        return matches


def _histogram(matches: Ints) -> dict[int, int]:
    numbers, counts = np.unique(matches, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def _counted(products: Products, matches: Ints) -> Membership:
    """All tuples by the number of classes that hold them; those that are no originals are fakes."""
    originals = _histogram(matches)
    union = dict(enumerate(_union(products).tolist()))
    fakes = {number: count - originals.get(number, 0) for number, count in union.items() if number}
    fakes = {number: count for number, count in fakes.items() if count}
    return Membership(
        len(matches), sum(union.values()), sum(fakes.values()), exact=True, error=0.0,
        original_matches=originals, fake_matches=dict(fakes),
    )  # fmt: skip


def _union(products: Products) -> Ints:
    """Distinct tuples by the number of classes that hold them."""
    full = np.all(products.sizes > 0, axis=0)  # a class without a value in one component holds nothing
    if not full.any():
        return np.zeros(1, dtype=np.int64)
    parts = sorted((one.of_classes(full) for one in products.components), key=lambda one: one.classes_per_value)
    sizes = np.stack([one.sizes for one in parts])
    rest = np.ones((len(parts) + 1, sizes.shape[1]), dtype=np.int64)
    rest[:-1] = np.cumprod(sizes[::-1], axis=0)[::-1]
    lists = Lists.of(parts[0], most=int(sizes[0].sum()))  # as finely as can be: every number has its list
    lengths = np.diff(lists.heads)
    begins = lists.heads[:-1][lengths > 0]
    room = np.array([int(np.add.reduceat(line[lists.listed], begins).max()) for line in sizes], dtype=np.int64)
    room[0], room[1:][-1:] = lengths.max(), 0  # the last step only counts
    base = np.concatenate([[0], np.cumsum(room + 1)])
    n_values = max(one.n_values for one in parts)
    found = np.zeros(int(lengths.max()) + 1, dtype=np.int64)
    kernel.count_union(kernel.ClassUnion(runs_of(parts), rest, lists.heads, lists.listed, base, n_values), found)
    return found


def _estimated(
    products: Products, asked: _Asked | Boxed, matches: _Matches, draws: int, rng: np.random.Generator
) -> Membership:  # fmt: skip
    """Fakes are their tuples of classes, of which the number is known, each over the classes that hold it."""
    volume = max(products.volume - matches.total, 0)
    tuples = _draw(products, draws, rng)
    held = asked.count(tuples)[~_among(tuples, products.originals)]
    shares = {number: count / (number * len(held)) for number, count in _histogram(held).items()} or {1: 1.0}
    mean = math.fsum(shares.values())
    spread = math.fsum((1 / number - mean) ** 2 * share * number for number, share in shares.items())
    n_held = max(len(held), 1)
    error = math.sqrt(spread / n_held + 1 / n_held**2)
    fakes, originals = _times(volume, mean), matches.histogram()
    return Membership(
        matches.originals, fakes + sum(count for number, count in originals.items() if number), fakes, exact=False,
        error=math.hypot(_times(volume, error), mean * math.sqrt(matches.variance)), original_matches=originals,
        fake_matches={number: _times(volume, share) for number, share in shares.items()} if volume else {},
    )  # fmt: skip


def _draw(products: Products, draws: int, rng: np.random.Generator) -> Ints:
    """Tuples of classes, every one as likely as any other."""
    with np.errstate(divide="ignore"):  # a class without a value in one component is never drawn
        logs = np.log(products.sizes).sum(axis=0)
    weights = np.exp(logs - logs.max())
    classes = rng.choice(len(weights), size=draws, p=weights / weights.sum())
    ranks = [rng.integers(0, sizes[classes]) for sizes in products.sizes]
    return np.stack([one.at(classes, rank) for one, rank in zip(products.components, ranks, strict=True)], axis=1)


def _among(tuples: Ints, originals: Ints) -> npt.NDArray[np.bool_]:
    """Which tuples are originals."""
    columns = [np.concatenate(pair) + 1 for pair in zip(tuples.T, originals.T, strict=True)]  # -1 is no number
    codes = pl.Series(codes_together(columns))
    return codes[: len(tuples)].is_in(codes[len(tuples) :].implode()).to_numpy()


def _times(count: int, share: float) -> float:
    """A share of a count of any size."""
    try:
        return float(count) * share
    except OverflowError:
        return math.inf if share else 0.0
