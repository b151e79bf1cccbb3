"""Which form the dates of a column have, where their values decide it."""

from __future__ import annotations

import polars as pl

from shoal.table.hierarchy.day_forms import FORMS, day_of, pattern

MARKER_DAYS = frozenset(
    {"0001-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01"}
    | {"2099-12-31", "2999-12-31", "3000-01-01", "9999-01-01", "9999-12-31"}
)
"""Days that often stand for a missing one."""


def day_forms(texts: pl.Series) -> tuple[str, ...]:
    """Every form that all texts of a column have: one is known, several are in doubt.

    >>> day_forms(pl.Series(["21.03.1987", "1.12.2001"])), day_forms(pl.Series(["03/04/1987"]))
    (('DD.MM.YYYY',), ('DD/MM/YYYY', 'MM/DD/YYYY'))
    """
    present = texts.drop_nulls()
    return tuple(form for form in FORMS if len(present) and _all_of(present, form))


def _all_of(texts: pl.Series, form: str) -> bool:
    """Whether all texts are days of the form, as they are written: categories are never stripped."""
    if not texts.str.contains(pattern(form)).all():
        return False
    parts = texts.str.extract_groups(pattern(form)).struct
    day = parts.field("year") + "-" + parts.field("month").str.zfill(2) + "-" + parts.field("day").str.zfill(2)
    return (
        bool(day.str.to_date("%Y-%m-%d", strict=False).is_not_null().all())
        and not (parts.field("year") == "0000").any()
    )


def marker_days(present: pl.DataFrame, form: str) -> dict[str, int]:
    """Days that often stand for a missing one, where no other is as early, or as late: texts with their counts."""
    days = [day_of(text, form) for text in present["text"].to_list()]
    known = [day for day in days if day is not None]
    ends = {day for day in (min(known), max(known)) if day.isoformat() in MARKER_DAYS} if known else set()
    found = present.filter(pl.Series([day in ends for day in days], dtype=pl.Boolean)).sort("text")
    return dict(zip(found["text"].to_list(), found["n"].to_list(), strict=True))
