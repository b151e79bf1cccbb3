"""Which form the dates of a column have, where their values decide it."""

from __future__ import annotations

import polars as pl

from shoal.table.hierarchy.day_forms import FORMS, pattern


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
