"""Which kind of values a column holds, and how they are coarsened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from shoal.table.hierarchy.builders import Dates, Prefixes, Rule
from shoal.table.orders import known_order
from shoal.table.profile.bands import band_order, counted_order
from shoal.table.profile.evidence import Evidence
from shoal.table.profile.shapes import HOLDS, MARKERS, prefix_lengths
from shoal.table.profile.words import AGE, CATEGORIES, CODED, COUNTED, COUNTS, MEASURES, MONEY, SCHEMES

Kind = tuple[str, Rule | None, str]
SHOWN_AS_NODES = "are shown as month, year or decade"


def kind_of(seen: Evidence) -> Kind:
    """Propose a kind and a hierarchy, and how they come about."""
    for rule in (_postcodes, _dates, _codes_of_a_scheme, _texts):
        proposed = rule(seen)
        if proposed:
            return proposed
    return _numbers(seen)


def _postcodes(seen: Evidence) -> Kind | None:
    if seen.pattern != "postcode":
        return None
    keep = prefix_lengths(seen.look)
    lost = ", though leading zeros may be lost" if seen.numeric and seen.look.length_share < 1 else ""
    return "nominal", Prefixes(keep=keep), f"postcodes are cut to {_listed(keep)} leading characters{lost}"


def _dates(seen: Evidence) -> Kind | None:
    if seen.pattern != "date":
        return None
    if len(seen.day_forms) == 1:
        (form,) = seen.day_forms
        how = f"dates of the form {form} {SHOWN_AS_NODES}"
        return "nominal", Dates(form=form), how
    return "nominal", None, "dates that are not of one form are not shown as month, year or decade"


def _codes_of_a_scheme(seen: Evidence) -> Kind | None:
    """Codes that are built from the left: of illnesses, drugs, industries, occupations, places."""
    if seen.pattern == "ATC code":
        return "nominal", Prefixes(keep=(5, 4, 3, 1)), "codes of drugs are cut to their groups"
    named = None if seen.says(AGE) or seen.measured else seen.says(SCHEMES)
    if seen.pattern != "ICD code" and not (named and _looks_coded(seen)):
        return None
    keep = tuple(n for n in (3, 2, 1) if n < seen.look.length) if seen.look.length <= 5 else (4, 3, 2, 1)
    if seen.pattern == "ICD code" or seen.look.shares["number"] < 1:
        keep = (3, 1) if seen.look.length != 3 else (2, 1)
    return "nominal", Prefixes(keep=keep), f"codes of one scheme are cut to {_listed(keep)} leading characters"


def _looks_coded(seen: Evidence) -> bool:
    """Whether values are codes of two characters or more, most with digits, that are not all words."""
    return seen.look.length >= 2 and seen.n_distinct > 5 and seen.look.form_digits >= 2


def _texts(seen: Evidence) -> Kind | None:
    if seen.dtype == pl.Boolean:
        return "nominal", None, "it holds true and false"
    if seen.banded:
        return "ordinal", None, "bands of numbers, which come in an order"
    return None if seen.numeric else ("nominal", None, _not_numeric(seen))


def _numbers(seen: Evidence) -> Kind:
    quantity = seen.says(COUNTED) or _is_quantity(seen)
    if seen.look.shares["padded decimal"] or not seen.whole or quantity:
        return "numeric", None, "all present values are numbers"
    if seen.look.shares["leading zero"]:
        return "nominal", None, "its numbers are codes, as leading zeros show"
    if code := seen.says(CODED):
        return "nominal", None, f"its numbers are codes, as {code!r} says"
    if category := seen.says(CATEGORIES):
        return "nominal", None, f"its numbers stand for categories, as {category!r} says"
    if seen.jagged:
        return "nominal", None, f"{seen.n_distinct} whole numbers that occur as codes do, not as counts"
    if _long_codes(seen):
        return "nominal", None, "long numbers that repeat, none of them rounded, are codes"
    return "numeric", None, "all present values are numbers"


def _is_quantity(seen: Evidence) -> bool:
    named = seen.says(MEASURES) or seen.says(COUNTS) or seen.says(MONEY) or seen.money
    return bool(named) and not seen.says(CODED) and not seen.flags


def _long_codes(seen: Evidence) -> bool:
    same_length = seen.look.length >= 5 and seen.look.length_share >= HOLDS
    return same_length and 10 * seen.n_distinct < seen.n_present and seen.look.shares["whole tens"] < 0.3


def _not_numeric(seen: Evidence) -> str:
    if not seen.n_present:
        return "all cells are missing"
    if seen.look.always("number or marker") and seen.look.shares["number"] > 0:
        markers = ", ".join(repr(marker) for marker in seen.markers)
        return f"all values but {markers} are numbers: name these in missing_values to make it numeric"
    if seen.look.shares["number"] >= 0.8:
        n_bad = round((1 - seen.look.shares["number"]) * seen.n_present)
        return f"all but {n_bad} of {seen.n_present} values are numbers: correct the others to make it numeric"
    return "one category" if seen.n_distinct == 1 else f"{seen.n_distinct} categories"


def order_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Put categories in order, lowest first, where it is known: words, bands, counted words; nothing otherwise.

    Markers of a missing cell that the order does not know stand last.

    >>> order_of(["agree", "disagree", "don't know"])
    ('disagree', 'agree', "don't know")
    """
    given = list(texts)
    if known := known_order(given) or counted_order(given):
        return known
    answers = [text for text in given if text.strip().lower() not in MARKERS]
    if not (order := known_order(answers) or band_order(answers)):
        return ()
    return (*order, *sorted(set(given) - set(order)))


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
