"""Who gets which signature: division, balancing and assignment of m-invariance.

A signature is a set of sensitive values, here a sorted tuple of their codes. A bucket holds the rows of one signature;
it is balanced when each value has as many rows, and where it is not, counterfeits stand in.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InternalError
from shoal.methods.groups import Labels

Signature = tuple[int, ...]
Buckets = dict[Signature, dict[int, list[Labels]]]
"""Rows by signature and value, in pieces."""


@dataclass(frozen=True)
class SignedPeople:
    """The rows of a release as the three phases see them.

    `codes` is the sensitive value of each row; `bound` the place among `signatures` of what a row is bound to since it
    was published first, -1 for a new row.
    """

    codes: Labels
    n_values: int
    signatures: Sequence[Signature]
    bound: Labels


def bucketed(people: SignedPeople, m: int, rng: np.random.Generator, *, mix: bool = True) -> Buckets:
    """Put every row into the bucket of one signature, of at least m values.

    Which of the rows of a value go to which bucket is drawn: a rule that looked at their quasi-identifiers could be
    replayed by whoever knows them, and would tell values apart. New rows are mixed with those that are bound, so that
    few counterfeits are needed, or kept apart.
    """
    buckets = _divided(people)
    free = _new_rows(people)
    if mix:
        _mix(buckets, free, people.n_values, m, rng)
    else:
        _keep_apart(buckets, free, people.n_values, m, rng)
    return buckets


def would_tell(people: SignedPeople, m: int, fresh: Collection[int], *, mix: bool) -> bool:
    """Whether new rows need counterfeits beside a value that was never published before.

    Counterfeits have values that are known. Beside one of them, a value that nobody knew before is a person's.
    """
    free = _new_rows(people)
    if not set(fresh) & set(free):
        return False
    if not mix:
        return len(free) < m
    have = _counts({value: len(rows) for value, rows in free.items()}, people.n_values)
    wanted = _counts(
        {value: _wanted(takers) for value, takers in _shortfalls(_divided(people)).items()}, people.n_values
    )
    cap = int((have - np.minimum(have, wanted)).max())
    return m * cap > int(np.minimum(have, cap).sum())


def _counts(counted: Mapping[int, int], n_values: int) -> Labels:
    """So many of each value, as an array."""
    counts = np.zeros(n_values, dtype=np.int64)
    for value, count in counted.items():
        counts[value] = count
    return counts


def _wanted(takers: list[tuple[Signature, int]]) -> int:
    return sum(count for _, count in takers)


def _mix(buckets: Buckets, free: dict[int, Labels], n_values: int, m: int, rng: np.random.Generator) -> None:
    """Balance buckets with new rows; the others get signatures of their own."""
    shortfalls = _shortfalls(buckets)
    have = _counts({value: len(rows) for value, rows in free.items()}, n_values)
    wanted = _counts({value: _wanted(takers) for value, takers in shortfalls.items()}, n_values)
    left, padding = spared(have, wanted, m, rng)
    for value in np.flatnonzero(left < have).tolist():
        free[value] = _balance(buckets, shortfalls[value], value, free[value], int(have[value] - left[value]), rng)
    _deal(buckets, assigned(left + padding, m), free, rng)


def _keep_apart(buckets: Buckets, free: dict[int, Labels], n_values: int, m: int, rng: np.random.Generator) -> None:
    """Give new rows signatures of their own; those of one release are as many of each value of a signature.

    Where they are not m-eligible, all get one signature: every value they have, and others drawn at random up to m.
    Whatever is done then depends on the values only up to an exchange of those of a signature.
    """
    have = _counts({value: len(rows) for value, rows in free.items()}, n_values)
    if have.max(initial=0) * m <= have.sum():
        deals = assigned(have, m)
    else:
        others = rng.permutation(np.flatnonzero(have == 0))
        signature = [*np.flatnonzero(have), *others[: max(m - len(free), 0)]]
        if len(signature) < m:
            raise InternalError("fewer than m sensitive values reached the assignment")
        deals = [(tuple(sorted(map(int, signature))), int(have.max()))]
    _deal(buckets, deals, free, rng)


def _new_rows(people: SignedPeople) -> dict[int, Labels]:
    """The rows that are bound to nothing, by value."""
    rows = np.flatnonzero(people.bound < 0)
    rows = rows[np.argsort(people.codes[rows], kind="stable")]
    return {int(people.codes[piece[0]]): piece for piece in _runs(rows, people.codes[rows])}


def _runs(rows: Labels, keys: Labels) -> list[Labels]:
    """Rows with equal keys, which stand together."""
    return np.split(rows, np.flatnonzero(np.diff(keys)) + 1) if len(rows) else []


def _divided(people: SignedPeople) -> Buckets:
    """Division: the rows that are bound, by signature and value."""
    rows = np.flatnonzero(people.bound >= 0)
    rows = rows[np.lexsort((people.codes[rows], people.bound[rows]))]
    buckets: Buckets = {}
    for piece in _runs(rows, people.bound[rows] * people.n_values + people.codes[rows]):
        signature = people.signatures[people.bound[piece[0]]]
        buckets.setdefault(signature, {}).setdefault(int(people.codes[piece[0]]), []).append(piece)
    return buckets


def _shortfalls(buckets: Buckets) -> dict[int, list[tuple[Signature, int]]]:
    """By value: the buckets that lack it to be balanced, and how many rows of it."""
    shortfalls: dict[int, list[tuple[Signature, int]]] = {}
    for signature in sorted(buckets):
        counts = {value: _count(buckets[signature].get(value, ())) for value in signature}
        most = max(counts.values())
        for value, count in counts.items():
            if count < most:
                shortfalls.setdefault(value, []).append((signature, most - count))
    return shortfalls


def _count(pieces: Sequence[Labels]) -> int:
    return sum(len(piece) for piece in pieces)


def spared(have: Labels, wanted: Labels, m: int, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Balancing: how many new rows of each value to keep out of it, and the counterfeits to add to those kept out.

    As many as possible are used, as long as the others stay m-eligible: no value has more than its share 1/m of them.
    The largest count that must remain, c, is that of the value with the most rows beyond what is wanted. With every
    value cut down to c, the rest is eligible if it has m c rows; if even all rows together have fewer, counterfeits
    make up for them, in the values that have most rows already. Equals are drawn: the order of the
    values would tell which of a signature were there and which were added.
    """
    least = have - np.minimum(have, wanted)
    cap = int(least.max(initial=0))
    most = np.minimum(have, cap)
    left = least.copy()
    padding = np.zeros_like(left)
    short = m * cap - int(left.sum())
    if short <= 0:
        return left, padding
    turn = rng.permutation(len(have))
    for value in np.lexsort((turn, -most)):
        if short <= 0:
            break
        kept = min(int(most[value] - left[value]), short)
        left[value] += kept
        short -= kept
    for value in np.lexsort((turn, -left)):
        if short <= 0:
            break
        padding[value] = min(cap - int(left[value]), short)
        short -= int(padding[value])
    if short > 0:
        raise InternalError("fewer than m sensitive values reached the balancing")
    return left, padding


def _balance(
    buckets: Buckets,
    takers: list[tuple[Signature, int]],
    value: int,
    free: Labels,
    n_used: int,
    rng: np.random.Generator,
) -> Labels:
    """Give new rows of a value to the buckets that lack it, drawn from all of them; return the others."""
    slots = np.repeat(np.arange(len(takers)), [count for _, count in takers])
    taker, rows = rng.permutation(slots)[:n_used], rng.permutation(free)
    for place in np.unique(taker).tolist():
        buckets[takers[place][0]].setdefault(value, []).append(rows[:n_used][taker == place])
    return rows[n_used:]


def _spread(n: int, count: int) -> Labels:
    """So many of n positions, spread evenly."""
    return ((2 * np.arange(count, dtype=np.int64) + 1) * n) // (2 * count)


def assigned(counts: Labels, m: int) -> list[tuple[Signature, int]]:
    """Assignment: signatures for m-eligible counts of new rows, and how many rows of each value every one gets.

    The most frequent values go together, as few as may be but at least m, and as many rows of each as leave the rest
    m-eligible (Xiao and Tao's rule; equal counts go by code).
    """
    ranked = [(-count, value) for value, count in enumerate(counts.tolist()) if count]
    heapq.heapify(ranked)
    total = int(counts.sum())
    deals = []
    while ranked:
        top = [heapq.heappop(ranked) for _ in range(min(m, len(ranked)))]
        depth = _depth(top, ranked, total, m)
        while depth < 1 and ranked:
            top.append(heapq.heappop(ranked))
            depth = _depth(top, ranked, total, m)
        if depth < 1:
            raise InternalError("new rows that are not m-eligible reached the assignment")
        deals.append((tuple(sorted(value for _, value in top)), depth))
        total -= depth * len(top)
        for count, value in top:
            if count + depth:
                heapq.heappush(ranked, (count + depth, value))
    return deals


def _depth(top: list[tuple[int, int]], others: list[tuple[int, int]], total: int, m: int) -> int:
    """How many rows of each of the values on top may go together, with the rest m-eligible; counts are negative."""
    width, most, least = len(top), -top[0][0], -top[-1][0]
    if width < m:
        return 0
    next_most = -others[0][0] if others else 0
    depth = min(least, (total - m * next_most) // width)
    return min(depth, (total - m * most) // (width - m)) if width > m else depth


def _deal(
    buckets: Buckets, deals: list[tuple[Signature, int]], free: dict[int, Labels], rng: np.random.Generator
) -> None:
    """Deal the rows of each value out to the signatures that take it, as they are drawn."""
    takers: dict[int, list[tuple[Signature, int]]] = {}
    for signature, depth in deals:
        for value in signature:
            takers.setdefault(value, []).append((signature, depth))
    for value, rows in free.items():
        if not len(rows):
            continue
        depths = [depth for _, depth in takers[value]]
        turns = np.concatenate([(np.arange(depth) + 0.5) / depth for depth in depths])
        owner = np.repeat(np.arange(len(depths)), depths)
        order = np.lexsort((owner, turns))
        owner = owner[order[_spread(len(order), len(rows))]]  # fewer rows than turns: counterfeits take the others
        owner = rng.permutation(owner)
        for place, (signature, _) in enumerate(takers[value]):
            if (mine := rows[owner == place]).size:
                buckets.setdefault(signature, {}).setdefault(value, []).append(mine)
