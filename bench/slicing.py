"""What the check of a split costs on Adult, by what changes against the whole table anew, and how it grows with rows.

    python bench/slicing.py

Both ratios come from one run, in seconds of the processor. The full recheck (`slice_check`) is measured on a
sample of the splits that the run tries, refused ones too, where it ends at the first row that refuses; its mean, times
the number of trials, is compared with the whole run, cuts and all.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from time import process_time

import numpy as np
import polars as pl

import shoal
from data import DATA, SEVEN, occupation_schema, whole_adult
from shoal.slicing.attributes import attributes_of, partition_attributes
from shoal.slicing.buckets import TOLERANCE, BucketSearch, sliced_of
from shoal.table.encode import encode
from shoal.table.numbering import value_codes
from shoal.table.prepare import prepare
from slice_check import check_all

L, K = 5, 1
SAMPLE = 40
"""Splits that are rechecked in full."""
REPEATS = 9
FASTER, GROWTH = 50, 2.6


def laid_out(frame: pl.DataFrame, names: tuple[str, ...]):
    """Encoded quasi-identifiers, and the slices: columns by correlation, occupation in one of its own.

    Together with any other attribute, some combination of Adult has one occupation only: no l can be promised then.
    """
    table = prepare(frame, occupation_schema(names, trees=False))
    columns = partition_attributes(attributes_of(table, names), None, last="occupation").groups
    parts = [table.frame.select(pl.struct(group).rank("dense")).to_series().to_numpy() for group in columns[:-1]]
    parts = np.stack([*parts, np.zeros(table.n_rows)]).astype(np.int32)
    occupation = value_codes(table.frame.select("occupation"))["occupation"]
    return encode(table), sliced_of(parts, [(len(columns) - 1, occupation)]), columns


def searched(encoded, sliced) -> tuple[float, BucketSearch]:
    """Processor time of a whole search, and the search."""
    begun = process_time()
    search = BucketSearch.of(encoded, sliced, K, encoded.n_columns)
    for _ in search.steps(1 / L + TOLERANCE):
        pass
    return process_time() - begun, search


def whole_path(frame: pl.DataFrame, names: tuple[str, ...]) -> float:
    """Processor time from the frame to a checked release."""
    begun = process_time()
    shoal.anonymize(frame, occupation_schema(names, trees=False), shoal.Slicing(l=L, sensitive_apart=True), seed=0)
    return process_time() - begun


def rechecks(encoded, sliced, n_trials: int) -> float:
    """Mean time of a full recheck, over splits sampled evenly from the run."""
    search, times, bound = BucketSearch.of(encoded, sliced, K, encoded.n_columns), [], 1 / L + TOLERANCE
    for _ in search.steps(bound, max(n_trials // SAMPLE, 1)):
        if search.tally["head"] == search.tally["tail"]:
            break
        tried = deepcopy(search)
        next(tried.steps(np.inf, 1))  # the next split, allowed whatever comes of it
        times.append(recheck(sliced, tried.table.counts.bucket_of, bound))
    return float(np.mean(times[1:]))  # the first may have compiled


def recheck(sliced, labels, bound: float) -> float:
    begun = process_time()
    check_all(sliced, labels, int(labels.max()) + 1, bound)
    return process_time() - begun


def main() -> None:
    if not (DATA / "adult").is_dir():
        sys.exit("real data not found: set SHOAL_DATA to the folder that holds adult/")
    frame, missed = whole_adult(), False
    places = np.random.default_rng(0).permutation(len(frame))
    halves = [frame[np.sort(half)] for half in np.array_split(places, 2)]
    for names in (SEVEN, tuple(frame.columns)):
        cases = [laid_out(part, names) for part in (frame, *halves)]
        # By turns, so that what else the machine does meets all of them alike.
        rounds = [[searched(*case[:2])[0] for case in cases] for _ in range(REPEATS)]
        seconds, *of_halves = np.min(rounds, axis=0)
        halved = np.mean(of_halves)
        encoded, sliced, columns = cases[0]
        tally = searched(encoded, sliced)[1].tally[0]
        n_trials, n_buckets = int(tally["n_trials"]), int(tally["n_buckets"])
        full = rechecks(encoded, sliced, n_trials) * n_trials
        print(f"{len(names)} attributes in {len(columns)} columns, {n_buckets} buckets, {n_trials} splits tried")
        print(f"  by what changes {seconds:.2f} s, in full {full:.1f} s: {full / seconds:.0f} times (wanted: {FASTER})")
        print(f"  half the rows {halved:.2f} s: twice the rows take {seconds / halved:.2f} times")
        paths = [[whole_path(part, names) for part in (frame, *halves)] for _ in range(REPEATS)]
        path, *of_halves = np.min(paths, axis=0)
        growth = path / np.mean(of_halves)
        print(f"  the whole path {path:.2f} s: twice the rows take {growth:.2f} times (wanted: {GROWTH})")
        missed |= full / seconds < FASTER or growth > GROWTH
    sys.exit("MISSED" if missed else 0)


if __name__ == "__main__":
    main()
