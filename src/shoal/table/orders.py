"""Words that people write in an order, so that a column of them can be proposed as ordinal."""

from __future__ import annotations

from collections.abc import Iterable

ORDERS: tuple[tuple[str, ...], ...] = (
    ("none", "very low", "low", "medium", "moderate", "high", "very high"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("xs", "small", "s", "medium", "m", "large", "l", "xl", "xxl"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("no education", "primary", "primary school", "lower secondary", "secondary", "upper secondary", "high school",
     "apprenticeship", "vocational", "technical college", "college", "tertiary", "bachelor", "bachelors", "master",
     "masters", "doctorate", "phd"),
    ("preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "hs-grad", "some-college",
     "assoc-voc", "assoc-acdm", "bachelors", "masters", "prof-school", "doctorate"),
    ("child", "teenager", "adolescent", "young adult", "adult", "middle-aged", "senior", "elderly"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december"),
)  # fmt: skip
"""Each from the lowest to the highest; words of like meaning stand side by side."""


def known_order(values: Iterable[str]) -> tuple[str, ...]:
    """Put categories in order, if one order knows them all; nothing otherwise.

    >>> known_order(["High", "low", "Medium"])
    ('low', 'Medium', 'High')
    >>> known_order(["low", "blue"])
    ()
    """
    given = list(values)
    for order in ORDERS:
        rank = {word: place for place, word in enumerate(order)}
        ranks = [rank.get(value.strip().lower()) for value in given]
        if len(given) > 1 and None not in ranks and len(set(ranks)) == len(ranks):
            return tuple(sorted(given, key=lambda value: rank[value.strip().lower()]))
    return ()
