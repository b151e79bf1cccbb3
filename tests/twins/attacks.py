"""Attacks in plain Python: everybody is compared with every group, or every row; no cell is parsed.

Groups are known by their rows as they were before publishing: a cell covers what lies between the least and the largest
value of its group, or below the lowest node above all of them, and everything where some values are missing.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from shoal import Nominal, Numeric, Ordinal

UNKNOWN = object()
"""What is known of somebody of whom nothing is known."""


def fits(values, kind, known, *, tolerance=0, level=0, sets=False):
    """Whether the cell of a group with these values may be that of somebody of whom one value is known."""
    present = [value for value in values if value is not None]
    if known is UNKNOWN or (present and len(present) < len(values)) or (present and says_nothing(present, kind, sets)):
        return True
    if known is None or not present:
        return known is None and not present
    if isinstance(kind, Numeric):
        return min(present) <= known + tolerance and known - tolerance <= max(present)
    if isinstance(kind, Ordinal):
        ranks = [kind.order.index(value) for value in present]
        return min(ranks) <= kind.order.index(known) + tolerance and kind.order.index(known) - tolerance <= max(ranks)
    if sets and kind.hierarchy is None:
        return bool(set(present) & alike(kind, known, level))
    return bool(below(kind, present) & alike(kind, known, level))


def says_nothing(values, kind, sets):
    """Whether a group publishes `*`, which nobody can tell from one that stands for missing values."""
    if not isinstance(kind, Nominal) or len(set(values)) == 1:
        return False
    if kind.hierarchy is None:
        return not sets
    return below(kind, values) == set(kind.hierarchy.leaves) and kind.hierarchy.root == "*"


def below(kind: Nominal, values):
    """All values below the lowest node above some; without a hierarchy, one value alone or everything."""
    if kind.hierarchy is None:
        return set(values)
    paths = {leaf: path_of(kind.hierarchy, leaf) for leaf in kind.hierarchy.leaves}
    for node in paths[values[0]]:
        under = {leaf for leaf, path in paths.items() if node in path}
        if set(values) <= under:
            return under
    raise AssertionError("a tree has a root")


def path_of(hierarchy, leaf):
    return next(path for path in hierarchy.paths() if path[0] == leaf)


def alike(kind: Nominal, value, level):
    """All values that cannot be told from one that is known by what stands some levels above it."""
    if kind.hierarchy is None or not level:
        return {value}
    path = path_of(kind.hierarchy, value)
    top = path[min(level, len(path) - 1)]
    return {leaf for leaf in kind.hierarchy.leaves if top in path_of(kind.hierarchy, leaf)}


def linked_groups(rows, labels, kinds, person, **precision):
    """Groups whose every cell may be that of a person; `precision` has tolerances and levels by place of the column."""
    groups = {}
    for row, label in zip(rows, labels, strict=True):
        groups.setdefault(label, []).append(row)
    found = []
    for label, members in groups.items():
        columns = zip(*members, strict=True)
        told = (
            fits(
                list(values), kind, known,
                tolerance=precision.get("tolerance", {}).get(place, 0), level=precision.get("level", {}).get(place, 0),
                sets=precision.get("sets", False),
            )
            for place, (values, kind, known) in enumerate(zip(columns, kinds, person, strict=True))
        )  # fmt: skip
        if label >= 0 and all(told):
            found.append(label)
    return found


def linked_rows(labels, groups):
    """The rows of some groups."""
    return [row for row, label in enumerate(labels) if label in groups]


# -- what follows for sensitive values ---------------------------------------------------------------------------------


def is_certain(values, truth, certainty=1):
    """Homogeneity: enough of the values are one, and that is the truth."""
    return bool(values) and Fraction(values.count(truth), len(values)) >= certainty


def is_certain_without(values, truth, ruled_out):
    """Background knowledge: the values that help most are ruled out, none of them the truth."""
    wrong = Counter(value for value in values if value != truth).most_common(ruled_out)
    left = [value for value in values if value not in {value for value, _ in wrong}]
    return truth in left and len(set(left)) == 1


def share_of(values, truth):
    """Skewness: how many of the values are the truth."""
    return Fraction(values.count(truth), len(values)) if values else Fraction(0)


def share_near(values, truth, epsilon):
    """Proximity: how many of the values are about the truth; missing is near missing alone."""
    if not values:
        return Fraction(0)
    if truth is None:
        return Fraction(values.count(None), len(values))
    return Fraction(sum(value is not None and abs(value - truth) <= epsilon for value in values), len(values))


def share_related(values, truth, hierarchy):
    """Divergence: how many of the values of the same branch below the root are the truth."""
    related = [value for value in values if is_related(value, truth, hierarchy)]
    return Fraction(related.count(truth), len(related)) if related else Fraction(0)


def is_related(one, other, hierarchy):
    """Whether two values are the same, or meet below the root."""
    if one is None or other is None or one == other:
        return one == other
    return bool(set(path_of(hierarchy, one)[:-1]) & set(path_of(hierarchy, other)[:-1]))


# -- parts that stand apart --------------------------------------------------------------------------------------------


def joint_chances(parts, person, secret):
    """The chance of every value of a sensitive attribute, from parts whose rows belong together by their bucket.

    `parts` are lists of pairs of a bucket and a row, as a mapping; `person` is a mapping of what is known.
    """
    buckets = sorted({bucket for bucket, _ in parts[0]})
    at = next(place for place, part in enumerate(parts) if secret in part[0][1])
    masses = Counter()
    for bucket in buckets:
        shares = []
        for part in parts:
            rows = [row for home, row in part if home == bucket]
            good = [row for row in rows if all(row[key] == value for key, value in person.items() if key in row)]
            shares.append((good, len(rows)))
        weight = Fraction(1)
        for place, (good, n_rows) in enumerate(shares):
            weight *= Fraction(len(good), n_rows) if place != at else 1
        good, n_rows = shares[at]
        for row in good:
            masses[row[secret]] += weight / n_rows
    total = sum(masses.values())
    return {value: mass / total for value, mass in masses.items() if mass} if total else {}


def gower(one, other, ranges):
    """Gower's distance of two rows; `ranges` has None for categories."""
    total = 0.0
    for left, right, span in zip(one, other, ranges, strict=True):
        if left is None or right is None or span is None:
            total += left != right
        else:
            total += abs(left - right) / span if span else 0.0
    return total
