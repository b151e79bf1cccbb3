"""A calendar: all days from one to another, as the order of a column of days.

It is declared, not taken from the table: of an order of the days that a table has, the ranks would tell how many of
them lie between two that are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import ClassVar

import polars as pl

from shoal.errors import ParameterError, Problem
from shoal.spec import OneOf, Spec, param, shown
from shoal.table.hierarchy.day_forms import FORMS, ISO, day_of, has_time

UNPADDED = tuple(form.replace("DD", "D").replace("MM", "M") for form in FORMS[1:])
"""The same forms without leading zeros; ISO dates have them always."""
MOST = 150_000
"""Days that a calendar may have, some four hundred years: each is kept as a text."""


@dataclass(frozen=True)
class ADay:
    """A day of the calendar, as a date or as a text `YYYY-MM-DD`."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if _as_day(value) is not None else f"needs {self.describe()}, got {shown(value)}"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return "a day written YYYY-MM-DD"

    def parse(self, text: str) -> object:
        """Take the text as it is."""
        return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", "1990-02-30", "1.2.1990", "1990-01-01 08:00", 1990, None, True]


def _as_day(value: object) -> date | None:
    if isinstance(value, str):
        return day_of(value, ISO) if len(value) == len(ISO) else None
    if isinstance(value, datetime):  # a Timestamp of pandas is one: midnight of no time zone is the day itself
        return value.date() if value.tzinfo is None and value.time() == time() else None
    return value if isinstance(value, date) else None


@dataclass(frozen=True)
class Days(Spec):
    """All days from the first to the last, in order and as the column writes them.

    >>> Days("1999-12-30", "2000-01-01").texts_of_days()
    ('1999-12-30', '1999-12-31', '2000-01-01')
    >>> Days("1999-12-31", "2000-01-01", form="D.M.YYYY").texts_of_days()
    ('31.12.1999', '1.1.2000')
    """

    name: ClassVar[str] = "days"
    first: str = param(ADay(), "the first day; choose one that does not depend on the table")
    last: str = param(ADay(), "the last day")
    form: str = param(OneOf((*FORMS, *UNPADDED)), "how the column writes days; D and M: no leading zero", default=ISO)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first", "last"):
            object.__setattr__(self, name, str(_as_day(getattr(self, name))))
        n_days = self._n_days()
        if n_days < 1:
            raise ParameterError(Problem("Days(last=)", "is before the first day", "exchange the two"))
        if n_days > MOST:
            what = f"makes {n_days:,} days from the first; there can be {MOST:,}"
            fix = "choose days nearer to those of the table; name markers such as 9999-12-31 in missing_values"
            raise ParameterError(Problem("Days(last=)", what, fix))

    def __len__(self) -> int:
        return self._n_days()

    def _n_days(self) -> int:
        """How many there are, less than 1 where the last is before the first: that is no length for `len`."""
        return (date.fromisoformat(self.last) - date.fromisoformat(self.first)).days + 1

    def texts_of_days(self) -> tuple[str, ...]:
        """Every day as the column writes it."""
        days = pl.date_range(date.fromisoformat(self.first), date.fromisoformat(self.last), eager=True)
        return tuple(days.dt.to_string(_directives(self.form)))

    def remedy(self, texts: Iterable[str]) -> str:
        """What to do about texts that are none of these days."""
        found = {self._fault(text) for text in texts}
        return ", ".join(remedy for fault, remedy in _REMEDIES.items() if fault in found).format(form=self.form)

    def _fault(self, text: str) -> str:
        """Why a text is none of these days."""
        (padded,) = (form for form in FORMS if self.form in _ways_of(form))
        if has_time(text, padded) or has_time(text, ISO):
            return _TIMED
        day = day_of(text, padded)
        if day is not None and written(day, self.form) == text:
            return _OUTSIDE
        return _OTHER if day_of(text, ISO) is None else _AS_ISO


_OUTSIDE, _TIMED, _AS_ISO, _OTHER = "outside", "timed", "iso", "other"
_REMEDIES = {
    _OUTSIDE: "choose its first and last day around all cells, markers such as 9999-12-31 named in missing_values",
    _TIMED: "cut off times, or show them by a hierarchy of dates",
    _AS_ISO: f"leave out its form {{form}}, since cells have the form {ISO}, as all that come as dates have",
    _OTHER: "write all cells in the form {form}, or choose the one they have",
}
"""What to do about cells that are no days of a calendar."""


def written(day: date, form: str) -> str:
    """A day as a form writes it."""
    padded = "DD" in form
    text = form.replace("YYYY", f"{day.year:04d}")
    text = text.replace("MM", f"{day.month:02d}") if padded else text.replace("M", str(day.month))
    return text.replace("DD", f"{day.day:02d}") if padded else text.replace("D", str(day.day))


def _directives(form: str) -> str:
    """A form as polars takes it; a calendar of a century is written in milliseconds that way."""
    return _DIRECTIVE.sub(lambda part: _DIRECTIVES[part[0]], form)


_DIRECTIVES = {"YYYY": "%Y", "MM": "%m", "DD": "%d", "M": "%-m", "D": "%-d"}
_DIRECTIVE = re.compile("YYYY|MM?|DD?")


def years_around(texts: Iterable[str], form: str) -> Days | None:
    """The calendar of whole years around days of a form; None if they are written in several ways, or too far apart.

    >>> years_around(["3.1.1990", "24.12.1991"], "DD.MM.YYYY")
    Days(first='1990-01-01', last='1991-12-31', form='D.M.YYYY')
    """
    given = {text: day_of(text, form) for text in texts}
    found = {text: day for text, day in given.items() if day is not None}
    if not given or len(found) < len(given):
        return None
    kept = [one for one in _ways_of(form) if all(written(day, one) == text for text, day in found.items())]
    first, last = min(found.values()).year, max(found.values()).year
    if not kept or date(last, 12, 31) - date(first, 1, 1) >= timedelta(days=MOST):
        return None
    return Days(f"{first:04d}-01-01", f"{last:04d}-12-31", kept[0])


def calendar_of(order: Sequence[str]) -> Days | None:
    """The calendar that an order lists day by day, if it does; one day alone could be of several forms.

    >>> calendar_of(Days("2020-01-01", "2020-12-31", form="D/M/YYYY").texts_of_days())
    Days(first='2020-01-01', last='2020-12-31', form='D/M/YYYY')
    """
    if not 1 < len(order) <= MOST:
        return None
    for form in FORMS:
        first, last = day_of(order[0], form), day_of(order[-1], form)
        if first is None or last is None or (last - first).days + 1 != len(order):
            continue
        for one in _ways_of(form):
            found = Days(first.isoformat(), last.isoformat(), one)
            if found.texts_of_days() == tuple(order):
                return found
    return None


def _ways_of(form: str) -> tuple[str, ...]:
    """The form with leading zeros and, where it has one, without."""
    return tuple(one for one in (form, form.replace("DD", "D").replace("MM", "M")) if one in (*FORMS, *UNPADDED))
