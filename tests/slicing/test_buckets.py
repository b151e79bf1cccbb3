"""Tuple partitioning of slicing: worked example, corners, twins in fractions, and all tables a bucket may stand for."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice
from math import inf

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.slicing import buckets as tuple_partition
from shoal.slicing.buckets import TOLERANCE, BucketSearch, partition_tuples, sliced_of
from shoal.table.encode import Encoded, encode
from shoal.table.prepare import prepare
from support.pairwise import examples
from twins import slicing as twin

AGE, SEX = [22, 22, 33, 52, 54, 60, 60, 64], [0, 1, 1, 1, 0, 0, 0, 1]
ZIP, DISEASE = [6, 6, 5, 5, 2, 2, 4, 4], [0, 1, 1, 2, 1, 0, 0, 3]
"""The table of the paper: diseases are dyspepsia, flu, bronchitis, gastritis."""


def numbered(*columns):
    """Every combination of these columns as a number from 0."""
    rows = list(zip(*columns, strict=True))
    numbers = {row: number for number, row in enumerate(dict.fromkeys(rows))}
    return [numbers[row] for row in rows]


def encoded(points, spans):
    """Numbers only, infinity for missing."""
    lines = np.array(points, dtype=float).T.reshape(len(spans), len(points)).copy()
    lines[np.isinf(lines)] = np.nan
    return Encoded(
        names=tuple(f"q{j}" for j in range(len(spans))),
        is_tree=np.zeros(len(spans), dtype=bool),
        slot=np.arange(len(spans)),
        lines=lines,
        spans=np.array(spans, dtype=float),
        codes=np.zeros((0, len(points)), dtype=np.uint16),
        trees=(),
    )


def spans_of(points):
    """What the encoding divides by: the range of the known numbers."""
    columns = [[place for place in column if place < inf] for column in zip(*points, strict=True)]
    return [max(column, default=0) - min(column, default=0) or 1 for column in columns]


def sensitive_of(sensitive):
    return [(home, np.array(codes)) for home, codes in sensitive]


def run(points, parts, sensitive, l, k, tries=1):  # noqa: E741
    return partition_tuples(
        encoded(points, spans_of(points)), np.array(parts, dtype=np.int32), sensitive_of(sensitive), l, k, tries=tries
    )


def begun(points, parts, sensitive, tries=1):
    return BucketSearch.of(
        encoded(points, spans_of(points)), sliced_of(np.array(parts), sensitive_of(sensitive)), 1, tries
    )


def run_to_end(search, l):  # noqa: E741
    for _ in search.steps(1 / l + TOLERANCE):
        pass


def checked(parts, sensitive, labels, bound=inf):
    """Sum of f(t, B) and largest p(t, s) of every row by a check of the whole table, and its verdict."""
    labels, parts = np.array(labels), np.array(parts)
    n_rows, sizes = len(labels), np.bincount(labels)
    with_part = []  # of every slice: rows of each bucket with the part of each row
    for part in parts:
        counts = np.zeros((part.max() + 1, len(sizes)))
        np.add.at(counts, (part, labels), 1)
        with_part.append(counts[part])
    fits = np.prod([counts / sizes for counts in with_part], axis=0)
    worst = np.zeros(n_rows)
    for home, codes in sensitive_of(sensitive):
        for value in np.unique(codes):
            counts = np.zeros((parts[home].max() + 1, len(sizes)))
            np.add.at(counts, (parts[home][codes == value], labels[codes == value]), 1)
            shares = counts[parts[home]] / np.maximum(with_part[home], 1)
            worst = np.maximum(worst, (fits * shares).sum(axis=1) / fits.sum(axis=1))
    return fits.sum(axis=1), worst, bool((worst <= bound).all())


# -- the worked example and the corners -------------------------------------------------------------------------

EXAMPLE_POINTS = list(zip(AGE, SEX, ZIP, strict=True))
EXAMPLE_PARTS, EXAMPLE_SENSITIVE = [numbered(AGE, SEX), numbered(ZIP)], [(1, DISEASE)]
TWO_BUCKETS = [0, 0, 0, 0, 1, 1, 1, 1]


def test_the_worked_example_has_the_published_probabilities():
    match, worst, fine = checked(EXAMPLE_PARTS, EXAMPLE_SENSITIVE, TWO_BUCKETS, bound=0.5)
    assert match[0] == pytest.approx(1 / 8, rel=1e-14)
    assert match[5] == pytest.approx(1 / 4, rel=1e-14)
    assert worst == pytest.approx(np.full(8, 0.5), rel=1e-14)
    assert fine
    assert not checked(EXAMPLE_PARTS, EXAMPLE_SENSITIVE, TWO_BUCKETS, bound=0.49)[2]
    buckets = [range(4), range(4, 8)]
    assert [twin.match(0, bucket, EXAMPLE_PARTS) for bucket in buckets] == [Fraction(1, 8), 0]
    assert twin.shares(0, buckets, EXAMPLE_PARTS, 1, DISEASE) == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_the_worked_example_is_split_where_the_paper_splits_it():
    split = run(EXAMPLE_POINTS, EXAMPLE_PARTS, EXAMPLE_SENSITIVE, l=2, k=4)
    assert split.labels.tolist() == TWO_BUCKETS
    assert (split.n_trials, split.n_rejected, split.worst) == (1, 0, pytest.approx(0.5, rel=1e-14))


def test_one_attribute_per_column_is_as_diverse():
    parts = [numbered(AGE), numbered(SEX), numbered(ZIP), [0] * 8]
    split = run(EXAMPLE_POINTS, parts, [(3, DISEASE)], l=2, k=4)
    assert (split.labels.tolist(), split.worst) == (TWO_BUCKETS, pytest.approx(0.5, rel=1e-14))


def test_equality_is_allowed_and_more_is_not():
    assert run(EXAMPLE_POINTS, EXAMPLE_PARTS, EXAMPLE_SENSITIVE, l=2, k=2).labels.max() > 1
    refused = run(EXAMPLE_POINTS, EXAMPLE_PARTS, EXAMPLE_SENSITIVE, l=3, k=1)
    assert (refused.labels.tolist(), refused.n_trials, refused.worst) == ([0] * 8, 0, 0.5)


def test_all_in_one_slice_gives_every_unique_row_away():
    parts = [numbered(AGE, SEX, ZIP)]
    assert run(EXAMPLE_POINTS, parts, [(0, DISEASE)], l=2, k=1).worst == 1.0
    doubled = run(EXAMPLE_POINTS * 2, [parts[0] * 2], [(0, [*DISEASE, 4, 5, 6, 7, 8, 9, 10, 11])], l=2, k=1)
    assert doubled.worst == 0.5
    assert doubled.labels.max() > 0


points_drawn = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.one_of(st.integers(0, 9), st.just(inf))] * d), min_size=1, max_size=40)
)


@settings(max_examples=examples(40), deadline=None)
@given(points_drawn, st.data())
def test_two_columns_are_bucketization(points, data):
    """Quasi-identifiers in one, the sensitive in the other: equal rows stay in one bucket, so p is its histogram."""
    codes = data.draw(st.lists(st.integers(0, 5), min_size=len(points), max_size=len(points)))
    split = run(points, [numbered(*zip(*points, strict=True)), [0] * len(points)], [(1, codes)], l=2, k=1)
    in_bucket = [Counter(np.array(codes)[split.labels == bucket]) for bucket in range(split.labels.max() + 1)]
    worst = max(Fraction(max(counts.values()), counts.total()) for counts in in_bucket)
    assert split.worst == pytest.approx(float(worst), rel=1e-12)
    assert worst <= Fraction(1, 2) or len(in_bucket) == 1


# -- against the twin -------------------------------------------------------------------------------------------


@st.composite
def cases(draw, most_slices=4, most_rows=40):
    """Points, parts, sensitive values: parts need not follow from the points, the check takes any."""
    points = draw(points_drawn)[:most_rows]
    n_rows, n_slices = len(points), draw(st.integers(1, most_slices))
    widest = draw(st.integers(0, 3))
    numbers = lambda most: st.lists(st.integers(0, most), min_size=n_rows, max_size=n_rows)  # noqa: E731
    parts = [draw(numbers(draw(st.integers(0, widest)))) for _ in range(n_slices)]
    sensitive = [
        (draw(st.integers(0, n_slices - 1)), draw(numbers(draw(st.integers(1, 9)))))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return points, parts, sensitive


@settings(max_examples=examples(80), deadline=None)
@given(cases(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_the_buckets_are_those_of_a_full_check_after_every_split(case, l, k, tries):  # noqa: E741
    points, parts, sensitive = case
    expected = twin.partition(points, spans_of(points), parts, sensitive, l, k, tries)
    split = run(points, parts, sensitive, l, k, tries)
    assert (split.labels.tolist(), split.n_trials, split.n_rejected) == expected[:3]
    assert split.worst == pytest.approx(float(expected[3]), abs=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(cases(), st.integers(1, 3), st.integers(1, 3))
def test_too_many_values_to_keep_change_nothing(case, l, tries):  # noqa: E741
    points, parts, sensitive = case
    split = run(points, parts, sensitive, l, 1, tries)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuple_partition, "MOST_SUMS", 0)
        folded = run(points, parts, sensitive, l, 1, tries)
    assert (folded.labels.tolist(), folded.n_trials) == (split.labels.tolist(), split.n_trials)
    assert folded.worst == pytest.approx(split.worst, rel=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(cases(most_slices=12), st.integers(1, 4))
def test_what_is_kept_of_every_tuple_is_what_the_check_of_all_finds(case, l):  # noqa: E741
    points, parts, sensitive = case
    search = begun(points, parts, sensitive, tries=3)
    if search.worst <= 1 / l + TOLERANCE:
        run_to_end(search, l)
    match, worst, _ = checked(parts, sensitive, search.table.counts.bucket_of)
    sums, row_tuple = search.table.sums, search.table.sliced.row_tuple
    mine = sums.match["high"] / search.table.sliced.scale ** len(parts)
    assert mine[row_tuple] == pytest.approx(match, rel=1e-12)
    largest = sums.value["high"].max(axis=1) / sums.match["high"]
    assert largest[row_tuple] == pytest.approx(worst, rel=1e-12)


def far_apart(n_slices):
    """Forty rows that cannot be cut, and four that between them hold every part of the first, until they are cut."""
    points = [(0,)] * 40 + [(10,)] * 2 + [(11,)] * 2
    parts = [[0] + [1] * 39 + ([0, 0, 2, 2] if j % 2 else [2, 2, 0, 0]) for j in range(n_slices)]
    return points, [*parts, [0] * 44], [(n_slices, [0, 1] * 22)]


@pytest.mark.parametrize("n_slices", [2, 14, 16, 40])
def test_a_tuple_that_loses_nearly_all_it_matched_is_summed_anew(n_slices):
    """The first row matches the four with 2^-c and its own bucket with 40^-c: what is left drowns in rounding."""
    points, parts, sensitive = far_apart(n_slices)
    search = begun(points, parts, sensitive)
    run_to_end(search, l=2)
    first, sums = search.table.sliced.row_tuple[0], search.table.sums
    assert len(set(search.table.counts.bucket_of)) == 3
    kept = sums.match["high"][first] / search.table.sliced.scale ** (n_slices + 1)
    assert kept == pytest.approx(40.0**-n_slices, rel=1e-12)
    assert search.worst == pytest.approx(0.5, rel=1e-12)
    assert (sums.n_calls[0] > 0) == (n_slices >= 14)
    assert (
        run(points, parts, sensitive, 2, 1).labels.tolist() == twin.partition(points, [11], parts, sensitive, 2, 1)[0]
    )


def test_a_refused_split_leaves_no_trace():
    """After a run whose every trial is refused, all is as it was, to the last bit."""
    points = [(place,) for place in range(12)]
    search = begun(points, [numbered(points), [0] * 12], [(1, [0, 1, 2] * 2 + [3, 4, 5] * 2)])
    counts, sums = search.table.counts, search.table.sums
    before = [array.copy() for array in (counts.order, counts.bucket_of, sums.match, sums.value)]
    run_to_end(search, l=6)
    assert search.tally["n_trials"] == search.tally["n_rejected"] == 1
    for one, other in zip(before, (counts.order, counts.bucket_of, sums.match, sums.value), strict=True):
        assert one.tobytes() == other.tobytes()
    assert not search.table.halves.count.any()


# -- what the probabilities mean --------------------------------------------------------------------------------


@st.composite
def small_buckets(draw, rows=(2, 3, 4)):
    """One bucket of at most four rows in up to three slices: at most 24^3 tables."""
    n_rows, n_slices = draw(st.sampled_from(rows)), draw(st.integers(1, 3))
    numbers = st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)
    return [draw(numbers) for _ in range(n_slices)], draw(st.integers(0, n_slices - 1)), draw(numbers)


def chances(bucket, parts, home, codes):
    """Over all tables the bucket may stand for: how many rows have t's parts, and their sensitive values, by t."""
    counts, n_tables = Counter(), 0
    for table in twin.consistent_tables(bucket, parts, home, codes):
        n_tables += 1
        counts.update(table)
    found = {t: Counter() for t in range(len(codes))}
    for (row, value), count in counts.items():
        for t, of_row in found.items():
            if row == tuple(part[t] for part in parts):
                of_row[value] += count
    return found, n_tables


@settings(max_examples=examples(30), deadline=None)
@given(small_buckets())
def test_in_one_bucket_p_is_the_share_among_all_consistent_tables(case):
    """Of all rows with t's quasi-identifiers in all tables that look the same when sliced, p(t, s) have the value s;
    and f(t, B) is the chance that a given place of a random such table is one of them."""
    parts, home, codes = case
    bucket = range(len(codes))
    _, worst, _ = checked(parts, [(home, codes)], [0] * len(codes))
    by_row, n_tables = chances(bucket, parts, home, codes)
    for t in bucket:
        counts = by_row[t]
        assert Fraction(counts.total(), n_tables * len(codes)) == twin.match(t, bucket, parts)
        found = {value: Fraction(count, counts.total()) for value, count in counts.items()}
        assert found == twin.shares(t, [bucket], parts, home, codes)
        assert worst[t] == pytest.approx(float(max(found.values())), rel=1e-12)


@settings(max_examples=examples(12), deadline=None)
@given(small_buckets(rows=(4, 5, 6)), st.integers(2, 3))
def test_with_several_buckets_p_draws_the_bucket_by_how_well_it_matches(case, cut):
    """The formula's model: first a bucket, with probability f(t, B) / f(t), then a consistent table of that bucket. In
    buckets of equal size this is again the share among the rows of all consistent tables of the whole."""
    parts, home, codes = case
    cut = min(cut, len(codes) - 2)
    buckets = [range(cut), range(cut, len(codes))]
    labels = [int(row >= cut) for row in range(len(codes))]
    _, worst, _ = checked(parts, [(home, codes)], labels)
    in_bucket = [chances(bucket, parts, home, codes) for bucket in buckets]
    for t in range(len(codes)):
        drawn, rows = Counter(), Counter()
        for bucket, (by_row, n_tables) in zip(buckets, in_bucket, strict=True):
            for value, count in by_row[t].items():
                drawn[value] += Fraction(count, n_tables * len(bucket))
                rows[value] += Fraction(count, n_tables)
        found = {value: share / sum(drawn.values()) for value, share in drawn.items()}
        assert found == twin.shares(t, buckets, parts, home, codes)
        assert worst[t] == pytest.approx(float(max(found.values())), rel=1e-12)
        if len(buckets[0]) == len(buckets[1]):
            assert found == {value: share / sum(rows.values()) for value, share in rows.items()}


# -- tables -----------------------------------------------------------------------------------------------------


def people(n_rows):
    """Invented people with categories, numbers and missing cells."""
    rng = np.random.default_rng(1)
    age = [None if draw < 0.05 else int(90 * draw) for draw in rng.random(n_rows)]
    frame = pl.DataFrame(
        {"age": age, "town": rng.choice(list("abcdef"), n_rows), "work": rng.choice(list("uvwxyz"), n_rows)}
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive=["work"])
    return prepare(frame, schema)


def test_a_table_with_categories_and_missing_cells_is_split_into_many_buckets_and_always_alike():
    table = people(2_000)
    parts = np.stack(
        [table.frame[name].rank("dense").fill_null(0).to_numpy() for name in ("age", "town")] + [np.zeros(2_000)]
    )
    codes = table.frame["work"].rank("dense").to_numpy()
    splits = [partition_tuples(encode(table), parts.astype(np.int32), [(2, codes)], l=3, k=5) for _ in range(2)]
    assert splits[0].labels.tolist() == splits[1].labels.tolist()
    first_rows = np.unique(splits[0].labels, return_index=True)[1]
    assert (np.diff(first_rows) > 0).all()
    sizes = np.bincount(splits[0].labels)
    assert sizes.min() >= 5
    assert len(sizes) > 50
    _, worst, fine = checked(parts.astype(int).tolist(), [(2, codes)], splits[0].labels, 1 / 3 + 1e-12)
    assert fine
    assert worst.max() == pytest.approx(splits[0].worst, rel=1e-12)


def test_progress_counts_every_row_once():
    seen = []

    class Listener:
        def stage(self, name, total=None):
            seen.append((name, total))

        def advance(self, steps):
            seen.append(steps)

    table = people(500)
    parts = np.stack([np.arange(500), np.zeros(500)]).astype(np.int32)
    partition_tuples(encode(table), parts, [(1, np.arange(500) % 7)], l=2, k=2, progress=Listener())
    assert seen[0] == ("splitting buckets", 500)
    assert sum(islice(seen, 1, None)) == 500


def test_no_quasi_identifier_means_one_bucket():
    split = partition_tuples(encoded([()] * 4, []), np.zeros((1, 4), dtype=np.int32), [(0, np.arange(4))], l=4, k=1)
    assert (split.labels.tolist(), split.n_trials, split.worst) == ([0] * 4, 0, 0.25)
