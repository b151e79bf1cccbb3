"""The evidence on one column: its name, its counts, and what its values look like."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import polars as pl

from shoal.table.cells import are_cells, as_told
from shoal.table.profile.bands import band_order
from shoal.table.profile.days import day_forms, marker_days
from shoal.table.profile.shapes import HOLDS, MARKERS, Look, look, pattern_of
from shoal.table.profile.values import Vocabulary, are_flags, vocabulary_of
from shoal.table.profile.words import COUNTS, MEASURES, MONEY, MONEY_ABBREVIATED, UNITS, Meaning, says

MOSTLY = 0.5
"""A column is mostly unique when more than this share of its values occurs once."""
FEW = 50
"""Values that a column may have to be looked at as a list of categories."""
NAMED_SHARE = 0.25
"""Share of cells with a given name that is known, from which all are names of people."""
ASSIGNED = 0.1
"""Distinct values in a present one from which numbers can be those of persons: ten rows each."""


@dataclass(frozen=True)
class Evidence:
    """What the proposals for one column rest on."""

    name: str
    dtype: pl.DataType
    n_rows: int
    n_present: int
    n_distinct: int
    n_once: int
    """Present values that occur once."""
    look: Look
    pattern: str | None
    markers: dict[str, int]
    """Texts that may stand for missing cells, with their counts: what `suspected` and `marker_days` find."""
    vocabulary: Vocabulary | None = None
    flags: bool = False
    """Whether it holds two answers, such as yes and no."""
    banded: bool = False
    """Whether its values are bands of numbers."""
    jagged: bool = False
    """Whether few whole numbers occur as codes do: with gaps, or not more and then less often from low to high."""
    day_forms: tuple[str, ...] = ()
    """Every form of days that all values have, where they are dates."""

    def says(self, wanted: Meaning) -> str | None:
        """What the name says of a meaning."""
        return says(self.name, wanted)

    @property
    def once_share(self) -> float:
        """Share of the present values that occur once."""
        return self.n_once / self.n_present if self.n_present else 0.0

    @property
    def mostly_unique(self) -> bool:
        """Whether most present values occur once."""
        return self.once_share > MOSTLY

    @property
    def constant(self) -> bool:
        """Whether every row has the same, or nothing."""
        return self.n_distinct + (self.n_present < self.n_rows) <= 1 and self.n_rows > 1

    @property
    def handful(self) -> bool:
        """Whether few values stand in many rows each."""
        return 0 < self.n_distinct <= FEW and self.n_present >= 5 * self.n_distinct

    @property
    def repeats(self) -> bool:
        """Whether a good part of the rows shares its value with another, without being a handful of categories."""
        return self.n_distinct > 0 and self.n_present - self.n_once > 0.05 * self.n_present

    @property
    def numeric(self) -> bool:
        """Whether every present value is a finite number."""
        return self.look.always("number")

    @property
    def whole(self) -> bool:
        """Whether every present value is a whole number."""
        return self.look.always("integer")

    @property
    def measured(self) -> bool:
        """Whether these are numbers that the name calls a measurement or a count."""
        return self.numeric and (self.says(MEASURES) or self.says(COUNTS)) is not None

    @property
    def mixed(self) -> bool:
        """Whether these are numbers but for a few texts: limits of detection, reasons why there is none."""
        return not self.numeric and self.look.shares["number"] >= 0.8 and self.n_distinct > 12

    @property
    def money(self) -> str | None:
        """What calls it money: a word of its name, an abbreviation above large numbers, or the look of amounts."""
        if word := self.says(MONEY):
            return f"Its name says {word!r}, which is money"
        if self.look.holds("currency"):
            return "Its values are written with a currency"
        if not self.numeric or self.handful:
            return None
        large = self.look.numbers.middle >= 100 and self.look.numbers.span >= 1000
        if large and (word := self.says(MONEY_ABBREVIATED)):
            return f"Its name says {word!r} above large numbers, which is money"
        cents = self.look.shares["two decimals"] >= 0.9 and self.look.numbers.high > 20 * self.look.numbers.middle / 3
        if large and cents and self.look.numbers.low >= 0:
            return "Its values look like amounts of money: two decimals, many small and few large"
        return None

    @property
    def none_comes_twice(self) -> bool:
        """Whether so many whole numbers stand so close together that some would come twice, had they been measured."""
        twice = self.n_present**2 / (2 * max(self.look.numbers.span, 1))
        return self.whole and self.n_once == self.n_present and self.n_present >= 20 and twice > 10

    @property
    def assigned(self) -> str | None:
        """What makes values look given out to persons or records, rather than measured or chosen."""
        seen, share = self.look, self.n_distinct / max(self.n_present, 1)
        if self.pattern == "hash":
            return "random digits that stand for somebody or something"
        if self.handful or self.measured or share < ASSIGNED:
            return None
        if self.whole:
            return self._assigned_number()
        form = seen.form_share >= HOLDS and seen.form_digits >= 3 and not self.numeric
        if form and self.n_distinct >= 20 and self.pattern is None and (share > 0.2 or seen.form_digits >= 5):
            return "letters and digits of one form, as numbers of persons or records have"
        plates = seen.holds("plate") and seen.runs_share >= HOLDS and not self.says(UNITS)
        if plates and share > 0.2 and self.n_distinct >= 20 and self.pattern is None:
            return "letters and digits of one pattern, as plates and numbers of members have"
        if seen.holds("token") and seen.length_share >= HOLDS and self.n_distinct >= 20 and self.pattern is None:
            return "random letters and digits that stand for somebody or something"
        return None

    @property
    def coded(self) -> bool:
        """Whether values are codes, by their look: whole numbers that are no quantity, or letters and digits."""
        seen, numbers = self.look, self.look.numbers
        if self.flags or self.banded or self.measured or self.vocabulary is not None or self.money:
            return False
        if self.numeric:
            years = numbers.low >= 1850 and numbers.high <= 2100
            return self.whole and numbers.low >= 0 and not years and seen.shares["whole tens"] < 0.3
        return seen.holds("letters and digits") or (seen.holds("capitals") and seen.length_share >= HOLDS)

    @property
    def given_names(self) -> bool:
        """Whether words are names of people: capitalised, many, and a good part of them given names that are known."""
        if self.n_distinct < 10 or self.vocabulary is not None or self.numeric:
            return False
        return self.look.shares["given name"] >= NAMED_SHARE

    def _assigned_number(self) -> str | None:
        seen, numbers = self.look, self.look.numbers
        # A counter, or a sample of one: never the same number twice, though at least a quarter of them is taken.
        if self.n_distinct >= 20 and self.n_once == self.n_present and numbers.span < 4 * self.n_distinct:
            return "numbers that count on"
        # Numbers that are measured come twice now and then; so many of which none does were given out.
        twice = self.n_present**2 / (2 * max(numbers.span, 1))
        if twice > 5 and self.n_once == self.n_present and numbers.even:
            return "numbers of which none comes twice"
        if seen.holds("13 digits"):
            return "numbers of 13 digits or more"
        exact = seen.shares["whole tens"] < 0.3 and self.n_distinct >= 20
        same_length = seen.length_share >= HOLDS and seen.length >= 6
        if exact and same_length and (numbers.even or self.mostly_unique or seen.shares["leading zero"] > 0):
            return f"numbers of {seen.length} digits, none of them rounded"
        if exact and seen.length >= 6 and (numbers.even or seen.length >= 9):
            return "long numbers, none of them rounded, spread as numbers that are given out"
        return None


def distinct(series: pl.Series) -> pl.DataFrame:
    """Count the distinct values of a column: `value`, its text (`text`) and how often it occurs (`n`); null is one."""
    if series.dtype == pl.Object:
        return pl.DataFrame(schema={"value": pl.Null, "text": pl.String, "n": pl.UInt32})
    counts = as_told(series).rename("value").value_counts(name="n")
    if not are_cells(series.dtype):
        return counts.with_columns(text=pl.lit(None, pl.String))
    values = counts["value"]
    if values.dtype.is_float() or values.dtype.is_decimal():
        floats = values.cast(pl.Float64)
        whole = ((floats.floor() == floats) & (floats.abs() < 2**53)).all()
        values = floats.cast(pl.Int64) if whole else floats
    return counts.with_columns(text=values.cast(pl.String))


def suspected(counts: pl.DataFrame) -> dict[str, int]:
    """Find texts that look like markers of missing cells, as they are written, most frequent first."""
    if counts.schema["value"] != pl.String:
        return {}
    plain = pl.col("text").str.strip_chars().str.to_lowercase()
    found = counts.filter(plain.is_in(list(MARKERS))).sort("n", "text", descending=[True, False])
    return dict(zip(found["text"].to_list(), found["n"].to_list(), strict=True))


def gather(series: pl.Series, counts: pl.DataFrame) -> Evidence:
    """Gather the evidence on one column from its distinct values."""
    present = counts.filter(pl.col("value").is_not_null())
    n_present = len(series) - series.null_count()
    n_once = int((present["n"] == 1).sum())
    seen = look(present.select(pl.col("text").alias("value"), "n").drop_nulls())
    unique = n_present > 0 and n_once / n_present > MOSTLY
    few = _few(present)
    pattern = pattern_of(series.name, seen, n_distinct=present.height, mostly_unique=unique)
    forms = day_forms(present["text"]) if pattern == "date" else ()
    return Evidence(
        name=series.name,
        dtype=series.dtype,
        n_rows=len(series),
        n_present=n_present,
        n_distinct=present.height,
        n_once=n_once,
        look=seen,
        pattern=pattern,
        markers=suspected(counts) | (marker_days(present, forms[0]) if len(forms) == 1 else {}),
        vocabulary=vocabulary_of(few),
        flags=are_flags(list(few)),
        banded=bool(band_order(without_markers_of(few))) and not unique,
        jagged=_jagged(few) if seen.always("integer") else False,
        day_forms=forms,
    )


def without_markers_of(counts: dict[str, int]) -> list[str]:
    """The texts of a column that are no markers of missing cells."""
    return [text for text in counts if text.strip().lower() not in MARKERS]


def _few(present: pl.DataFrame) -> dict[str, int]:
    """The distinct texts with their counts, where they are not too many to be a list of categories."""
    texts = present.select("text", "n").drop_nulls()
    if texts.height > 2 * FEW:
        return {}
    return dict(zip(texts["text"].to_list(), texts["n"].to_list(), strict=True))


def _jagged(counts: dict[str, int]) -> bool:
    """Whether few whole numbers occur as codes do.

    Counts begin at 0 or 1, have no gaps below their middle, and occur more often up to a number and less often from
    there on. Differences that chance explains are none.
    """
    numbers = sorted((int(text), times) for text, times in counts.items())
    values, times = [value for value, _ in numbers], [times for _, times in numbers]
    if not numbers or len(numbers) > 30 or numbers[0][0] < 0 or sum(times) < 5 * len(values):
        return False
    if values[-1] > 99:  # a dozen of large numbers, many times each
        return len(values) <= 12 and sum(times) >= 20 * len(values)
    if len(values) <= 4:  # what falls off from 0 on, step by step, was counted
        counted = len(values) > 2 and values == list(range(len(values)))
        return not (counted and all(a >= 3 * b for a, b in pairwise(times)))
    half = len(values) // 2
    if values[half] - values[0] > half:
        return True
    # Scales and codes begin at 1, counts at 0: of the former we cannot tell, and few numbers are rather codes.
    if values[0] >= 1 and len(values) <= 12:
        return True
    top = times.index(max(times))
    rising = all(b - a > -3 * (a + b) ** 0.5 for a, b in pairwise(times[: top + 1]))
    falling = all(b - a < 3 * (a + b) ** 0.5 for a, b in pairwise(times[top:]))
    return not (rising and falling)
