"""Which role and kind the evidence of a column speaks for, and why."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.table.hierarchy.builders import Dates, Prefixes, Rule
from shoal.table.profile.patterns import (
    CATEGORIES,
    CODES,
    HOLDS,
    NAMING,
    NAMING_WEAKLY,
    QUASI,
    SENSITIVE,
    Evidence,
    groupable,
    prefix_lengths,
    says,
)

TELLING = 0.1
"""From this share of values that occur once, a column of numbers is a danger worth naming."""


def role_of(seen: Evidence) -> tuple[str, str]:
    """Propose a role, and the reason; the first rule that speaks decides."""
    for rule in (_role_by_pattern, _role_by_choice, _role_by_name, _role_by_uniqueness):
        proposed = rule(seen)
        if proposed:
            return proposed
    return "quasi", "No sign whether others know it; in doubt, a column is a quasi-identifier"


_NAMES_A_PERSON = {
    "e-mail": "an e-mail address",
    "phone": "a telephone number",
    "national id": "a national identity number",
}


def _role_by_pattern(seen: Evidence) -> tuple[str, str] | None:
    if not groupable(seen.dtype):
        kind = seen.dtype.base_type()
        return (
            "identifying",
            f"It holds values of type {kind}, which cannot be generalised unless they are converted to text",
        )
    if seen.pattern in _NAMES_A_PERSON:
        return "identifying", f"At least {HOLDS:.0%} of its values have the shape of {_NAMES_A_PERSON[seen.pattern]}"
    return None


def _role_by_choice(seen: Evidence) -> tuple[str, str] | None:
    small = seen.look.always("integer") and seen.look.length == 1 and seen.look.span < 10
    if seen.name == "choice" and seen.n_distinct <= 5 and small:
        return "choice", f"It is called choice and holds {seen.n_distinct} small whole numbers"
    return None


def _role_by_name(seen: Evidence) -> tuple[str, str] | None:
    if naming := says(seen.name, NAMING):
        return "identifying", f"Its name says {naming!r}, which names a person or can"
    once = f"{seen.once_share:.0%} of its values occur once"
    sensitive, quasi = says(seen.name, SENSITIVE), says(seen.name, QUASI)
    if (naming := says(seen.name, NAMING_WEAKLY)) and not seen.measured:
        if not sensitive and not quasi:
            return "identifying", f"Its name says {naming!r}, which names a person or can"
        if seen.mostly_unique:
            return "identifying", f"Its name says {naming!r} and {once}"
    if sensitive:
        free = f", though {once} and free text can name a person" if seen.mostly_unique and not seen.numeric else ""
        return "sensitive", f"Its name says {sensitive!r}, which people expect to stay private{free}"
    if quasi:
        return "quasi", f"Its name says {quasi!r}, which others know of a person"
    return None


def _role_by_uniqueness(seen: Evidence) -> tuple[str, str] | None:
    once = f"{seen.once_share:.0%} of its values occur once"
    if seen.pattern in ("date", "postcode"):
        return "quasi", f"At least {HOLDS:.0%} of its values have the shape of a {seen.pattern}, which others may know"
    if seen.mostly_unique and (not seen.numeric or seen.look.shares["leading zero"]):
        return "identifying", f"{once} and it is not a known demographic column or measurement"
    if seen.assigned:
        return "identifying", f"{once} and they look like numbers assigned to persons"
    if seen.numeric and (seen.measured or seen.once_share >= TELLING):
        what = once if seen.once_share >= TELLING else "It is a measurement"
        return (
            "quasi",
            f"{what}: as neutral, its exact numbers could be linked; as a quasi-identifier they are generalised",
        )
    return None


def kind_of(seen: Evidence) -> tuple[str, Rule | None, str]:
    """Propose a kind and a hierarchy, and how they come about."""
    if seen.pattern == "postcode":
        keep = prefix_lengths(seen.look)
        lost = ", though leading zeros may be lost" if seen.numeric and seen.look.length_share < 1 else ""
        return "nominal", Prefixes(keep=keep), f"postcodes are cut to {_listed(keep)} leading characters{lost}"
    if seen.pattern == "date":
        if seen.look.always("ISO date"):
            return "nominal", Dates(), "dates are shown as month, year or decade"
        return "nominal", None, "write all dates as YYYY-MM-DD to have them shown as month, year or decade"
    if seen.dtype == pl.Boolean:
        return "nominal", None, "it holds true and false"
    if not seen.numeric:
        return "nominal", None, _not_numeric(seen)
    code = says(seen.name, CODES)
    if code or seen.look.shares["leading zero"]:
        return "nominal", None, "its numbers are codes, as " + (f"{code!r} says" if code else "leading zeros show")
    category = says(seen.name, CATEGORIES)
    if category and seen.look.always("integer"):
        return "nominal", None, f"its numbers stand for categories, as {category!r} says"
    return "numeric", None, "all present values are numbers"


def _not_numeric(seen: Evidence) -> str:
    if not seen.n_present:
        return "all cells are missing"
    if seen.look.always("number or marker") and seen.look.shares["number"] > 0:
        markers = ", ".join(repr(marker) for marker in seen.markers)
        return f"all values but {markers} are numbers: name these in missing_values to make it numeric"
    if seen.look.holds("number"):
        n_bad = round((1 - seen.look.shares["number"]) * seen.n_present)
        return f"all but {n_bad} of {seen.n_present} values are numbers: correct the others to make it numeric"
    return f"{seen.n_distinct} categories"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
