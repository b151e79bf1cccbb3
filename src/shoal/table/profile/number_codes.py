"""Numbers that stand for a missing answer in many surveys and registers: -9, 99, 9999."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile

import polars as pl

from shoal.table.profile.shapes import MARKERS

BELOW = frozenset({*range(-9, 0), *range(-99, -95), *range(-999, -995), -9999, -99999, -66, -77, -88, -777, -888})
"""Codes below all answers; of those of one digit, -1, -8 or -9 is one."""
NINES = (99, 999, 9999, 99999, 999999)
"""Codes above all answers."""
BESIDE = 3
"""How many numbers just below such a code may be codes, too: 97 and 98 beside 99."""
MOST, OFTEN = 5, 2
"""How many codes a column has at most below its answers, and how often each occurs at least."""


def missing_codes(counts: pl.DataFrame) -> dict[str, int]:
    """Find numbers that look like codes of missing cells: texts with their counts, the most frequent first.

    They lie far from all other numbers of their column. -1 beside 0 may be a number like any other, and so may 99 among
    ages up to 95.

    >>> answers = pl.DataFrame({"text": ["1", "2", "3", "4", "-9", "99"], "n": [5, 5, 5, 5, 2, 3]})
    >>> missing_codes(answers)
    {'99': 3, '-9': 2}
    """
    texts = counts.select("text", "n").drop_nulls()
    texts = texts.filter(~pl.col("text").str.strip_chars().str.to_lowercase().is_in(list(MARKERS)))
    numbers = texts["text"].str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() or not numbers.is_finite().all():
        return {}
    few_below = 0 < numbers.filter(numbers < 0).n_unique() <= MOST
    if not few_below and numbers.max() not in NINES:  # most columns, whose numbers may be millions
        return {}
    often: Counter[float] = Counter()
    for number, n in zip(numbers.to_list(), texts["n"].to_list(), strict=True):  # one number may be written in two ways
        often[number] += n
    codes = _below(often) | _above(often)
    found = texts.filter(numbers.is_in(list(codes))).sort("n", "text", descending=[True, False])
    return dict(zip(found["text"].to_list(), found["n"].to_list(), strict=True))


def _below(often: Mapping[float, int]) -> set[float]:
    """Codes among the negative numbers, where no other number is negative."""
    low, answers = sorted(number for number in often if number < 0), [number for number in often if number >= 0]
    single = [number for number in low if number > -10]
    if not low or len(low) > MOST or len(answers) <= len(low) or not set(low) <= BELOW:
        return set()
    if single and not {-1, -8, -9} & set(single):
        return set()
    return set(low) if min(answers) - max(low) >= 2 and min(often[number] for number in low) >= OFTEN else set()


def _above(often: Mapping[float, int]) -> set[float]:
    """Codes among the highest numbers: 99 and the like, where all others are at most half as large."""
    falling = sorted(often, reverse=True)
    for code in NINES:
        if falling and falling[0] == code and often[code] >= OFTEN:
            beside = {*range(code - BESIDE, code + 1), code // 9 * 8, code // 9 * 7}
            codes = set(takewhile(beside.__contains__, falling))
            answers = falling[len(codes) :]
            if len(answers) > len(codes) and answers[0] <= code / 2:
                return codes
    return set()
