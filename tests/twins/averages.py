"""Averages, slowly: what stands for the values of a group, from the definition."""

from __future__ import annotations

from fractions import Fraction

from shoal import Numeric, Ordinal


def mean(values):
    """Exact mean."""
    return float(sum(Fraction(value) for value in values) / len(values))


def middle(values):
    """Middle number, or halfway between the two."""
    ordered = sorted(values)
    low, high = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    return float((Fraction(low) + Fraction(high)) / 2)


def lower_median(frequencies):
    """Lowest category that half of the weight does not exceed."""
    for category in range(len(frequencies)):
        if 2 * sum(frequencies[: category + 1]) >= sum(frequencies):
            return category
    raise AssertionError


def hull(frequencies):
    """The least unimodal frequencies above the given ones."""
    return [min(max(frequencies[: category + 1]), max(frequencies[category:])) for category in range(len(frequencies))]


def average(values, kind, domain, rule):
    """One value for many, none of them missing."""
    if isinstance(kind, Numeric):
        return {"mean": mean, "median": middle}[rule](values)
    frequencies = [values.count(category) for category in domain]
    if rule == "mode":
        return domain[frequencies.index(max(frequencies))]
    return domain[lower_median(hull(frequencies) if rule == "convex-median" else frequencies)]


def aggregate_cells(values, kind, domain, rule, *, has_missing):
    """The cells of one group and column as `Aggregate` shows them: `*` where missing stands beside present."""
    gone = [value is None for value in values]
    number = isinstance(kind, Numeric)
    cell = average(values, kind, domain, rule) if not any(gone) else None if number or all(gone) else "*"
    said = False if not any(gone) else True if all(gone) else None
    return (cell, said) if number and has_missing else (cell,)


def centre_cells(values, kind, domain, *, has_missing):
    """The cells of an average centre: missing where more than half are (of names: where missing is the mode)."""
    present = [value for value in values if value is not None]
    rule = "mean" if isinstance(kind, Numeric) else "median" if isinstance(kind, Ordinal) else "mode"
    if rule == "mode":
        frequencies = [values.count(category) for category in [*domain, None]]
        is_missing = frequencies.index(max(frequencies)) == len(domain)
    else:
        is_missing = 2 * len(present) < len(values)
    cell = None if is_missing else average(present, kind, domain, rule)
    return (cell, is_missing) if isinstance(kind, Numeric) and has_missing else (cell,)
