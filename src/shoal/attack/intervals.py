"""Intervals around rates of success: what else they could well have been, had other people been drawn."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""Of the normal distribution, 95 % lie within so many standard deviations."""
Interval = tuple[float, float]


def wilson(rate: float, n: float) -> Interval:
    """Wilson's interval (1927) of a rate that was found in n tries, with 95 % confidence.

    Where tries have chances between 0 and 1 instead of being right or wrong, their mean varies less than that of tries
    that are: the interval is then wider than it had to be, never narrower.

    Examples
    --------
    >>> low, high = wilson(0.5, 100)
    >>> round(low, 4), round(high, 4)
    (0.4038, 0.5962)
    >>> wilson(0.0, 0)
    (0.0, 1.0)
    """
    if n <= 0:
        return 0.0, 1.0
    middle = (rate + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(rate * (1 - rate) / n + Z**2 / (4 * n**2))
    low = 0.0 if rate <= 0.0 else max(0.0, middle - half)
    return low, 1.0 if rate >= 1.0 else min(1.0, middle + half)


def difference(rate: float, n: float, other: float, m: float) -> Interval:
    """Newcombe's interval (1998, method 10) of the difference of two rates, with 95 % confidence.

    Examples
    --------
    >>> low, high = difference(56 / 70, 70, 48 / 80, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    (low, high), (other_low, other_high) = wilson(rate, n), wilson(other, m)
    below = math.sqrt((rate - low) ** 2 + (other_high - other) ** 2)
    above = math.sqrt((high - rate) ** 2 + (other - other_low) ** 2)
    return rate - other - below, rate - other + above


__all__ = ["Interval", "difference", "wilson"]
