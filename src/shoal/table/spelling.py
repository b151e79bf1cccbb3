"""Values that people spell in more than one way: blanks, case and Unicode form apart, they are the same text.

Where such spellings count as different values, a class of one illness in three spellings seems to hold three illnesses.
Everything here works on distinct values, so that the number of rows hardly matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.markers import Markers, markers_of
from shoal.table.numbering import LONG, is_long, values_of
from shoal.table.schema import Kind, Ordinal

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that are not seen, zero-width blanks among them: Unicode's Default_Ignorable_Code_Point."""


def normal_form(text: str) -> str:
    r"""What all spellings of a text have in common; empty when there is nothing to be seen.

    It is Unicode's NFKC_Casefold, which leaves out case, form and unseen characters, with every run of blanks as one
    blank and none around.

    >>> normal_form(" Flu\u00a0 A\u200b"), normal_form("u\u0308") == normal_form("\u00dc")
    ('flu a', True)
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = normalize("NFD", UNSEEN.sub("", text)).casefold()
    folded = normalize("NFKC", normalize("NFKC", folded).casefold())
    return " ".join(UNSEEN.sub("", folded).split())


@dataclass(frozen=True, repr=False)
class Variants:
    """The values of a column that have more than one spelling."""

    becomes: Mapping[str, str | None]
    """The spelling that each other one gives way to; None where it stands for a missing cell."""
    n_values: int
    """Values that have another spelling, or are one of a missing cell."""
    n_rows: int
    """Rows whose cell gives way."""


def find_variants(
    series: pl.Series,
    *,
    kept: npt.NDArray[np.int64] | None = None,
    known: Iterable[str] = (),
    missing_values: Markers = (),
    counts: Mapping[str, int] | None = None,
) -> Variants:
    """Find the spellings of a column of texts that have one normal form.

    The most frequent spelling stays, the smallest text where two are as frequent; one that is `known` goes before all
    others. A text of blanks alone, or one spelt like a marker of a missing cell, is a spelling of missing.

    Parameters
    ----------
    series
        Texts, missing cells null.
    kept
        Positions of the rows that go on, where not all do; what only the others hold decides and counts nothing.
    known
        Spellings that the hierarchy or the order of the column has.
    missing_values
        Texts that stand for a missing cell.
    counts
        How many rows have each text, where `series` has every text once.

    Examples
    --------
    >>> found = find_variants(pl.Series(["flu", "Flu", "flu ", "ulcer", " ", "flu"]))
    >>> found.becomes, found.n_values, found.n_rows
    ({' ': None, 'Flu': 'flu', 'flu ': 'flu'}, 4, 3)
    """
    names, gone = set(known), {normal_form(marker) for marker in ("", *markers_of(missing_values, series.name))}
    groups = _alike(series, names, gone)
    alike = [value for group in groups.values() for value in group]
    if counts is None:
        counts = _counted(series, kept, alike)
    else:
        counts = {value: counts[value] for value in alike if value in counts}
    becomes: dict[str, str | None] = {}
    n_values = 0
    for form, group in groups.items():
        best = _best(group, counts, names, missing=form in gone)
        giving_way = [value for value in group if value != best and value in counts]
        becomes.update(dict.fromkeys(giving_way, best))
        if any(counts[value] for value in giving_way):
            n_values += sum(counts.get(value, 0) > 0 for value in group)
    return Variants(becomes, n_values, sum(counts[value] for value in becomes))


def _alike(series: pl.Series, known: set[str], gone: set[str]) -> dict[str, list[str]]:
    """Values that share a normal form with another, or with a known spelling, or with missing: by that form, sorted."""
    groups: dict[str, list[str]] = {}
    short = series.filter(series.str.len_bytes() <= LONG) if is_long(series) else series  # long ones are not compared
    for value in known.union(values_of(short.to_frame())[series.name].to_list()):
        groups.setdefault(normal_form(value), []).append(value)
    return {form: sorted(groups[form]) for form in sorted(groups) if len(groups[form]) > 1 or form in gone}


def _counted(series: pl.Series, kept: npt.NDArray[np.int64] | None, values: Sequence[str]) -> dict[str, int]:
    """How many rows that go on hold each of some values; 0 for a value that only other rows hold."""
    if not values:
        return {}
    rows = series if kept is None else series.gather(kept)
    counts = dict(rows.filter(rows.is_in(values)).alias("value").value_counts(name="n").iter_rows())
    return {value: counts.get(value, 0) for value in series.filter(series.is_in(values)).unique()}


def _best(spellings: Sequence[str], counts: Mapping[str, int], known: set[str], *, missing: bool) -> str | None:
    """The spelling that stays, None for missing."""
    if missing and known.isdisjoint(spellings):
        return None
    return min(spellings, key=lambda value: (value not in known, -counts.get(value, 0), value))


def merge_variants(series: pl.Series, found: Variants) -> pl.Series:
    """The column with one spelling of each value."""
    if not found.becomes:
        return series
    old = pl.Series(list(found.becomes), dtype=pl.String)
    return series.replace(old, pl.Series(list(found.becomes.values()), dtype=pl.String))


def known_spellings(kind: Kind | None) -> tuple[str, ...]:
    """Spellings that the order or the hierarchy of a column has."""
    leaves = kind.hierarchy.leaves if kind is not None and isinstance(kind.hierarchy, Hierarchy) else ()
    return kind.order if isinstance(kind, Ordinal) else leaves


def spelling_warning(n_values: Mapping[str, int], fix: str = "normalise = true merges them") -> str:
    """Say of which columns so many values have another spelling; no value is in it.

    >>> spelling_warning({"disease": 4})
    "column 'disease': 4 values differ from another, or from a missing cell, only in spaces, case or Unicode form; they
    count as different values; normalise = true merges them"
    """
    what = "from another, or from a missing cell, only in spaces, case or Unicode form; they count as different values"
    each = [
        f"column {name!r}: {count} {'value differs' if count == 1 else 'values differ'} {what}"
        for name, count in n_values.items()
    ]
    return "; ".join([*each, fix] if fix else each)
