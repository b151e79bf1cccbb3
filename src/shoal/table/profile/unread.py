"""Columns that are not read as what they seem to hold, since their values do not say how: what to do with them."""

from __future__ import annotations

from shoal.table.profile.decimals import DOUBT, Decimals
from shoal.table.profile.evidence import Evidence


def unread(seen: Evidence, written: Decimals) -> str:
    """What a column seems to hold, why it is not read so, and what to do; empty for most columns."""
    for key, columns in (*written.options.items(), (DOUBT, written.doubt)):
        if seen.name in columns:
            return _numbers(seen, key)
    if seen.pattern == "date" and len(seen.day_forms) != 1:
        return _dates(seen)
    return ""


def _numbers(seen: Evidence, key: str) -> str:
    """Numbers with other marks than a decimal point: what is not declared is not read."""
    where = f"column {seen.name!r} seems to hold numbers with commas, points or currencies"
    if key == DOUBT:
        either = "decimal_comma (1.234,5) or decimal_point (1,234.5)"
        fix = f"if they are decimal, name it in {either} under [source]"
        return f"{where}, and no value decides what these are: {fix}"
    return f"{where}: name it in {key} under [source] to have it read as numbers"


def _dates(seen: Evidence) -> str:
    """Dates of no form, or of several: whether the day or the month comes first is not guessed."""
    where = f"column {seen.name!r} holds dates"
    if not seen.day_forms:
        fix = "write all of them in one form with four digits of the year, such as YYYY-MM-DD"
        return f"{where} that are not all of one form that is read, so they are not shown as months or years: {fix}"
    either, rule = " or ".join(seen.day_forms), f'{{name = "dates", form = "{seen.day_forms[0]}"}}'
    return f"{where} that may be {either}, and no value decides it: say which in a recipe, as in hierarchy = {rule}"
