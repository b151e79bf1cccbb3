"""What the cells of a column look like: shapes, forms and numbers, seen in its distinct values.

Shapes are regular expressions over the distinct values, weighted by how often each occurs, so that a column costs what
its distinct values cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.table.profile.given_names import GIVEN_NAMES
from shoal.table.profile.words import CONTACTS, HEALTH, MEASURES, POSTAL, QUASI, SENSITIVE, says

HOLDS = 0.95
"""Share of the present values that must have a shape for the column to have it."""

MARKERS = frozenset(
    {"?", "??", "-", "--", "---", ".", "..", "*", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "\\n", "null", "(null)"}
    | {"nil", "none", "unknown", "unk", "missing", "not available", "not known", "not stated", "not specified"}
    | {"not recorded", "no answer", "don't know", "don’t know", "do not know", "prefer not to say"}
    | {"k.a.", "k. a.", "keine angabe", "keine angaben", "keine antwort", "weiß nicht", "weiss nicht", "unbekannt"}
    | {"ns/nr", "ns/nc", "no sabe", "no contesta", "desconocido", "sin datos", "nsp", "ne sait pas", "sans réponse"}
    | {"non renseigné", "inconnu", "não sabe", "desconhecido", "non so", "sconosciuto", "weet niet", "onbekend"}
)
"""Texts, in lower case, that often stand for a missing cell."""

_TEXT, _LETTERS = pl.col("text"), pl.col("letters")
WITH_LETTERS = {
    "text": pl.col("value").str.strip_chars(),
    "letters": pl.col("value")
    .str.strip_chars()
    .str.replace_all(r"\p{Lu}", "A")
    .str.replace_all(r"\p{Ll}", "a")
    .str.replace_all(r"[\p{Lt}\p{Lm}\p{Lo}]", "o"),
}
"""What `SHAPES` look at: a text, and the text with A for every capital, a for every small letter and o for any other.

An expression with classes of all letters there are takes up to nine milliseconds to compile, anew for every column.
"""
_DAY, _MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

_DATES = "|".join(
    (
        rf"^[0-9]{{4}}[-/.]{_MONTH}[-/.]{_DAY}([T ].*)?$",
        rf"^{_DAY}[-/. ]{_DAY}[-/. ]([0-9]{{4}}|[0-9]{{2}})( .*)?$",
        rf"^{_DAY}[ -][A-Za-z]{{3,9}}[ ,-]+([0-9]{{4}}|[0-9]{{2}})$",
        rf"(?i)^({_MONTHS})[a-z]*\.? {_DAY},? [0-9]{{4}}$",
    )
)
_NATIONAL_IDS = "|".join(
    (
        r"^[0-9]{3}-[0-9]{2}-[0-9]{4}$",  # United States
        r"(?i)^[0-9]{8}-?[A-Z]$|^[XYZ]-?[0-9]{7}-?[A-Z]$",  # Spain, residents and foreigners
        r"^[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]$",  # United Kingdom
        r"^[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]$",  # Italy
        r"^[12] ?[0-9]{2} ?[01][0-9] ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3}( ?[0-9]{2})?$",  # France
        r"^[0-9]{6}[-+A][0-9]{3}[0-9A-Z]$",  # Denmark, Finland, Sweden
        r"^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$",  # Brazil
        r"^[0-9]{4} [0-9]{4} [0-9]{4}$",  # India
    )
)
_POSTCODES = "|".join(
    (
        r"(?i)^[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}$",  # United Kingdom
        r"^[A-Z][0-9][A-Z][ -]?[0-9][A-Z][0-9]$",  # Canada
        r"^[1-9][0-9]{3} ?[A-Z]{2}$",  # Netherlands
        r"^[0-9]{5}-[0-9]{4}$",  # United States, long form
    )
)
_NUMBER = _TEXT.cast(pl.Float64, strict=False).is_finite().fill_null(False)
_N_DIGITS = _TEXT.str.count_matches("[0-9]")
_GROUPED = r"^\+?[0-9()]+([ ./-]{1,2}[0-9()]+)*$"
# A plus, a bracket, a leading zero, three groups or the short local form: one dash alone may be a range of amounts.
_DIALLED = r"^[+(0]|^[0-9]{3}[-. ][0-9]{4}$|[0-9)][ ./-]+[0-9()]+[ ./-]+[0-9()]"
_A_GIVEN_NAME = (
    _TEXT.str.to_lowercase().str.extract(r"^(\p{L}+)").is_in(list(GIVEN_NAMES))
    | _TEXT.str.to_lowercase().str.extract(r"(\p{L}+)$").is_in(list(GIVEN_NAMES))
).fill_null(False)
_SAINTS = r"(?i)^(san|santa|santo|sao|saint|sainte|sankt|st|ste)\b"  # of places, schools and churches
_NOT_DIALLED = r"^[1-9][0-9]{0,2}([ .][0-9]{3})+$|^[0-9]{1,3}(\.[0-9]{1,3}){3}$"  # thousands; internet addresses

_UNITS = (
    "[kcdmµμn]?m|mi|miles?|ft|feet|in|inch(es)?|yd|[kc]?m[2²³]|ha|[kmµμn]?g|lbs?|oz|t|[mcdµμ]?l|kcal|cal|kj|k?wh?|bpm|"
    "mmhg|[mµμn]?mol/l|[mµμn]?g/[dm]?l|km/h|mph|°?[cf]|h|hrs?|hours?|min|mins|minutes?|ms|s|sec|seconds?|"
    "days?|weeks?|months?|years?|yrs?|jahre?|tage?|stunden?|minuten?"
)

SHAPES: dict[str, pl.Expr] = {
    "e-mail": _TEXT.str.contains(r"^[^@\s]+@[^@\s]+\.[^@\s.]+$"),
    "date": _TEXT.str.contains(_DATES),
    "national id": _TEXT.str.contains(_NATIONAL_IDS),
    "postcode": _TEXT.str.contains(_POSTCODES),
    "code": _TEXT.str.contains(r"^[0-9A-Za-z]{2,5}[ -]?[0-9A-Za-z]{1,5}$") & _TEXT.str.contains("[0-9]"),
    "phone": _N_DIGITS.is_between(7, 15)
    & _TEXT.str.contains(_GROUPED)
    & _TEXT.str.contains(_DIALLED)
    & ~_TEXT.str.contains(_NOT_DIALLED)
    & (~_NUMBER | _TEXT.str.starts_with("+")),
    "integer": _TEXT.str.contains("^[+-]?[0-9]+$") & _NUMBER,
    "number": _NUMBER,
    "9-12 digits": _TEXT.str.contains("^[0-9]{9,12}$"),
    "13 digits": _TEXT.str.contains("^[0-9]{13,}$"),
    "7 digits": _N_DIGITS >= 7,
    "number or marker": _NUMBER | _TEXT.str.to_lowercase().is_in(list(MARKERS)),
    "leading zero": _TEXT.str.contains("^0[0-9]+$"),
    "URL": _TEXT.str.contains(r"(?i)^(https?|ftp)://|^www\."),
    "internet address": _TEXT.str.contains(r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$|^[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){4,7}$"),
    "hash": _TEXT.str.contains(r"(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[0-9a-f]{16,128}$")
    & _TEXT.str.contains("(?i)[a-f]"),
    "token": _TEXT.str.contains(r"^[0-9A-Za-z_-]{8,}$") & _TEXT.str.contains("[A-Za-z]") & (_N_DIGITS >= 2),
    "account number": _TEXT.str.contains(r"^[A-Z]{2}[0-9]{2} ?[0-9A-Z]{4}[0-9A-Z ]{7,26}$|^[0-9]{4}([- ][0-9]{4}){3}$"),
    "ICD code": _TEXT.str.contains(r"^[A-TV-Z][0-9][0-9AB](\.?[0-9A-Z]{1,4})?$"),
    "dotted code": _TEXT.str.contains(r"^[A-Z][0-9][0-9A-Z]\.[0-9A-Z]"),
    "ATC code": _TEXT.str.contains(r"^[A-Z][0-9]{2}[A-Z]{2}[0-9]{2}$"),
    "name of a person": _LETTERS.str.contains(r"^A[Aao'.-]+(,? ([Aao]{2,3} )?A[Aao'.-]*){1,3}$"),
    "titled name": _TEXT.str.contains(r"^(Dr|Prof|Mr|Mrs|Ms|Herr|Frau|Mme|Sra?|Dra)\.? ")
    & _LETTERS.str.contains(r"^[Aao]+\.? ([Aao]+\.? )*A[Aao'-]+$"),
    "capitalised words": _LETTERS.str.contains(r"^A[Aao'’.-]+( (a{2,3} )?A[Aao'’.-]*){0,2}$"),
    "given name": _LETTERS.str.contains(r"^A[Aao'’.-]*(,? [Aao'’.-]+){0,3}$")
    & _A_GIVEN_NAME
    & ~_TEXT.str.contains(_SAINTS),
    "letters and digits": _LETTERS.str.contains(r"^[Aao0-9][Aao0-9_./#:*-]*( [Aao0-9_./#:*-]+)?$") & (_N_DIGITS >= 1),
    "capitals": _TEXT.str.contains(r"^[A-Z]{4,12}$"),
    "plate": _TEXT.str.contains(r"^[A-Z0-9][A-Z0-9 ./-]*$") & _TEXT.str.contains("[A-Z]") & (_N_DIGITS >= 2),
    "street address": (
        _TEXT.str.contains("^[0-9]+[A-Za-z]?,? ") & _LETTERS.str.contains("^[0-9]+[Aao]?,? A[Aao]+( [Aao]+)+")
        | _TEXT.str.contains("[0-9][a-z]?$") & _LETTERS.str.contains("^A[Aao]+( [Aao]+)*,? [0-9]+a?$")
    ),
    "sentence": _TEXT.str.count_matches(r"\s+") >= 3,
    "whole tens": _TEXT.str.contains("^[+-]?[0-9]*0(\\.0+)?$"),
    "two decimals": _TEXT.str.contains(r"^[+-]?[0-9]*\.[0-9]{1,2}$"),
    "padded decimal": _TEXT.str.contains(r"^0[0-9]+\.[0-9]+$"),
    "number with a unit": _TEXT.str.contains(rf"(?i)^[-+]?[0-9][0-9.,]* ?({_UNITS})$"),
    "currency": _TEXT.str.contains(r"^[-+]?[$€£] ?[0-9][0-9.,]*$|^[-+]?[0-9][0-9.,]* ?[$€£]$"),
}

WITHOUT_DIGITS = frozenset(
    {"e-mail", "number", "number or marker", "URL", "internet address", "hash", "name of a person", "titled name"}
    | {"capitalised words", "given name", "capitals", "sentence"}
)
"""Shapes that a text without a digit may have; columns of names are not asked for others."""
WITHOUT_LETTERS = frozenset(
    {
        "e-mail",
        "date",
        "national id",
        "postcode",
        "code",
        "phone",
        "integer",
        "number",
        "9-12 digits",
        "13 digits",
        "7 digits",
    }
    | {"number or marker", "leading zero", "internet address", "hash", "account number", "letters and digits"}
    | {"sentence", "whole tens", "two decimals", "padded decimal", "currency"}
)
"""Shapes that a text without a letter may have; columns of numbers are not asked for others."""


@dataclass(frozen=True)
class Numbers:
    """Where the distinct numbers of a column lie."""

    low: float = 0.0
    first_quarter: float = 0.0
    middle: float = 0.0
    last_quarter: float = 0.0
    high: float = 0.0

    @property
    def span(self) -> float:
        """Largest minus smallest."""
        return self.high - self.low

    @property
    def even(self) -> bool:
        """Whether they lie about evenly between the ends, as numbers do that are given out, and quantities rarely."""
        if not self.span:
            return False
        places = [(place - self.low) / self.span for place in (self.first_quarter, self.middle, self.last_quarter)]
        return all(abs(place - even) < 0.09 for place, even in zip(places, (0.25, 0.5, 0.75), strict=True))


@dataclass(frozen=True)
class Look:
    """What the present values of a column look like: never a value, only shares, lengths and where numbers lie."""

    shares: dict[str, float]
    """Share of the present cells that have each shape of `SHAPES`."""
    length: int
    """The most common number of characters, the larger of two: what lost its leading zeros is the shorter."""
    length_share: float
    """Share of the present cells that have it."""
    numbers: Numbers
    """All 0 without numbers."""
    form_share: float
    """Share of the cells that have the most common form: every digit a 9, every letter an A."""
    form_digits: int
    """Digits in that form."""
    runs_share: float
    """Share of the cells that have the most common form, a run of digits or letters counted as one: plates."""
    n_letters: int
    """How many different letters values begin with."""

    def holds(self, shape: str) -> bool:
        """Whether the column has a shape."""
        return self.shares[shape] >= HOLDS

    def always(self, shape: str) -> bool:
        """Whether every present cell has a shape."""
        return self.shares[shape] == 1.0


def look(counts: pl.DataFrame) -> Look:
    """Look at the distinct texts of a column (`value`) and how often each occurs (`n`)."""
    total = int(counts["n"].sum())
    if not total:
        return Look(dict.fromkeys(SHAPES, 0.0), 0, 0.0, Numbers(), 0.0, 0, 0.0, 0)
    texts = counts.select("value", pl.col("n").cast(pl.Int64), **WITH_LETTERS)
    found = texts.select((pl.col("n") * SHAPES[name]).sum().alias(name) for name in _possible(texts)).row(0, named=True)
    length, n_long = _most(texts, _TEXT.str.len_chars())
    form = _LETTERS.str.replace_all("[0-9]", "9").str.replace_all("[Aao]", "A")
    common, n_form = _most(texts, form)
    return Look(
        shares={name: found.get(name, 0) / total for name in SHAPES},
        length=length,
        length_share=n_long / total,
        numbers=_numbers(texts),
        form_share=n_form / total,
        form_digits=common.count("9"),
        runs_share=_most(texts, form.str.replace_all("9+", "9").str.replace_all("A+", "A"))[1] / total,
        n_letters=texts.select(_TEXT.str.extract("^([A-Za-z])").str.to_lowercase()).to_series().drop_nulls().n_unique(),
    )


def _possible(texts: pl.DataFrame) -> list[str]:
    """The shapes that any of these texts may have, seen from whether they have digits and letters."""
    digits, letters = texts.select(
        _TEXT.str.contains("[0-9]").any(), _LETTERS.str.contains("[Aao]").any().alias("a")
    ).row(0)
    return [name for name in SHAPES if (digits or name in WITHOUT_DIGITS) and (letters or name in WITHOUT_LETTERS)]


def _most(texts: pl.DataFrame, what: pl.Expr) -> tuple[Any, int]:
    """What most cells have, the larger of two, and how many have it."""
    found = texts.group_by(what.alias("what")).agg(pl.col("n").sum())
    common, times = found.sort("n", "what", descending=True).row(0)
    return common, times


def _numbers(texts: pl.DataFrame) -> Numbers:
    found = texts.select(_TEXT.cast(pl.Float64, strict=False).alias("number"))["number"]
    finite = found.filter(found.is_finite().fill_null(False)).unique()
    if not len(finite):
        return Numbers()
    return Numbers(*(float(finite.quantile(place, "nearest") or 0.0) for place in (0, 0.25, 0.5, 0.75, 1)))


_NAMES_FIRST = (
    "date", "e-mail", "URL", "internet address", "hash", "account number", "national id", "postcode",
    "ATC code", "phone",
)  # fmt: skip


def pattern_of(name: str, seen: Look, *, n_distinct: int, mostly_unique: bool) -> str | None:
    """Name the pattern of a column; the narrower shapes come first."""
    for shape in _NAMES_FIRST:
        if seen.holds(shape):
            return shape
    if _is_icd(name, seen, n_distinct):
        return "ICD code"
    if says(name, POSTAL) and seen.holds("code"):
        return "postcode"
    if says(name, CONTACTS) and seen.holds("7 digits"):
        return "phone"
    # Digits alone are an amount as easily as a number of a person, so name, length and uniqueness must agree.
    amount = says(name, SENSITIVE | QUASI | MEASURES)
    if seen.holds("9-12 digits") and seen.length_share >= HOLDS and mostly_unique and not amount:
        return "national id"
    if seen.holds("integer"):
        return "integer"
    return "decimal" if seen.holds("number") else None


def _is_icd(name: str, seen: Look, n_distinct: int) -> bool:
    """Letters and two digits are a code of illnesses where the name says so, a point does, or many letters do."""
    if not seen.holds("ICD code"):
        return False
    many = n_distinct >= 8 and seen.n_letters >= 5 and seen.length_share < HOLDS
    return bool(says(name, HEALTH)) or seen.shares["dotted code"] >= 0.3 or many


def prefix_lengths(seen: Look) -> tuple[int, ...]:
    """How many leading characters the levels above a postcode keep."""
    if seen.holds("integer") and seen.length <= 5:
        return tuple(range(seen.length - 1, 0, -1)) or (1,)
    if seen.length >= 9:  # a long form: the short code, then its region
        return (5, 3, 1)
    return (4, 2) if seen.length > 4 else (2, 1)
