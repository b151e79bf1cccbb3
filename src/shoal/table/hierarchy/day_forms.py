"""How days are written: each form is declared, none is guessed while a text is read."""

from __future__ import annotations

import re
from datetime import date

FORMS = ("YYYY-MM-DD", "YYYY/MM/DD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MM-DD-YYYY")
"""The forms of days that can be read; a time may follow. All but the first need no leading zeros."""
ISO = FORMS[0]


def pattern(form: str) -> str:
    """A regular expression of a form, with the groups `year`, `month`, `day` and `time`."""
    digits = "2" if form == ISO else "1,2"
    parts = {
        "YYYY": "(?P<year>[0-9]{4})",
        "MM": f"(?P<month>[0-9]{{{digits}}})",
        "DD": f"(?P<day>[0-9]{{{digits}}})",
    }
    text = re.escape(form)
    for letters, part in parts.items():
        text = text.replace(letters, part)
    return f"^{text}(?P<time>[T ][0-9]{{2}}:[0-9]{{2}}.*)?$"


_PATTERNS = {form: re.compile(pattern(form)) for form in FORMS}


def day_of(text: str, form: str) -> date | None:
    """The day that a text says, with or without a time after it; None where it is not of the form.

    >>> day_of("1.2.1990", "DD.MM.YYYY"), day_of("31.02.1990", "DD.MM.YYYY")
    (datetime.date(1990, 2, 1), None)
    """
    found = _PATTERNS[form].fullmatch(text)
    if found is None:
        return None
    try:
        return date(*(int(found[part]) for part in ("year", "month", "day")))
    except ValueError:
        return None


def has_time(text: str, form: str) -> bool:
    """Whether a text of the form says a time of day, too."""
    found = _PATTERNS[form].fullmatch(text)
    return found is not None and found["time"] is not None
