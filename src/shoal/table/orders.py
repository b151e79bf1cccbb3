"""Words that people write in an order, so that a column of them can be proposed as ordinal."""

from __future__ import annotations

from collections.abc import Iterable

ORDERS: tuple[tuple[str, ...], ...] = (
    ("none", "very low", "low", "medium", "moderate", "high", "very high"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("xs", "small", "s", "medium", "m", "large", "l", "xl", "xxl"),
    ("never", "rarely", "seldom", "sometimes", "often", "usually", "always"),
    ("very poor", "poor", "fair", "average", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "somewhat disagree", "slightly disagree", "neither", "neutral", "undecided",
     "neither agree nor disagree", "slightly agree", "somewhat agree", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "somewhat dissatisfied", "neither", "neutral",
     "neither satisfied nor dissatisfied", "somewhat satisfied", "satisfied", "very satisfied"),
    ("very unlikely", "unlikely", "neither", "neutral", "likely", "very likely"),
    ("not at all", "a little", "slightly", "somewhat", "moderately", "quite a bit", "very", "very much", "extremely"),
    ("nie", "selten", "manchmal", "oft", "häufig", "meistens", "immer"),
    ("trifft gar nicht zu", "trifft überhaupt nicht zu", "trifft nicht zu", "trifft eher nicht zu", "teils teils",
     "teils/teils", "teils, teils", "trifft eher zu", "trifft zu", "trifft voll zu", "trifft voll und ganz zu"),
    ("stimme gar nicht zu", "stimme überhaupt nicht zu", "stimme nicht zu", "stimme eher nicht zu", "teils teils",
     "teils/teils", "weder noch", "stimme eher zu", "stimme zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("fail", "pass", "merit", "distinction"),
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
