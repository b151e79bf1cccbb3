"""m-invariance, slow and obvious: what an attacker with all releases is left with, and whether rows can be grouped."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product


def candidates(releases, memberships):
    """Per person: the sensitive values that every class the person was in has, as an attacker intersects them.

    `releases` gives for each release the values of every class, `memberships` the class of every person.
    """
    left = {}
    for values, members in zip(releases, memberships, strict=True):
        for person, number in members.items():
            left[person] = left.get(person, set(values[number])) & set(values[number])
    return left


def worlds(releases, memberships):
    """Every assignment of one value to each person that fits all releases: the people of a class have different values
    of that class, whatever the counterfeits have."""
    people = sorted({person for members in memberships for person in members})
    classes = [
        (sorted(person for person, where in members.items() if where == number), sorted(map(str, values[number])))
        for values, members in zip(releases, memberships, strict=True)
        for number in values
    ]
    domain = sorted({value for _, values in classes for value in values})
    found = []
    for guess in product(domain, repeat=len(people)):
        value_of = dict(zip(people, guess, strict=True))
        if all(tuple(value_of[person] for person in inside) in _ways(inside, values) for inside, values in classes):
            found.append(value_of)
    return found


def _ways(inside, values):
    return set(permutations(values, len(inside)))


def highest_chance(releases, memberships):
    """The best chance to name anybody's value, when all worlds that fit are as likely."""
    found = worlds(releases, memberships)
    people = found[0].keys()
    return max(max(Counter(world[person] for world in found).values()) / len(found) for person in people)


def can_be_grouped(counts, m):
    """Whether rows with these counts of values fit into classes of m or more, all values of a class different."""
    left = tuple(sorted((count for count in counts if count), reverse=True))
    if not left:
        return True
    for size in range(m, len(left) + 1):
        for chosen in _choices(len(left), size):
            rest = [count - (place in chosen) for place, count in enumerate(left)]
            if can_be_grouped(rest, m):
                return True
    return False


def _choices(n, size):
    return [
        set(chosen)
        for chosen in product(range(n), repeat=size)
        if len(set(chosen)) == size and list(chosen) == sorted(chosen)
    ]


def least_counterfeits(buckets, new, m, n_values):
    """The fewest counterfeits: new rows are given to buckets that lack them in every way there is, and the others get
    as many as make them m-eligible."""
    shortfalls = []
    for signature, counts in buckets:
        most = max(counts.get(value, 0) for value in signature)
        shortfalls += [value for value in signature for _ in range(most - counts.get(value, 0))]
    wanted = Counter(shortfalls)
    best = None
    for used in product(*(range(min(wanted[value], new[value]) + 1) for value in range(n_values))):
        rest = [new[value] - used[value] for value in range(n_values)]
        padding = max(m * max(rest) - sum(rest), 0)
        total = len(shortfalls) - sum(used) + padding
        best = total if best is None else min(best, total)
    return best
