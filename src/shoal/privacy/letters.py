"""How parameters are written in the name of what a model reaches: no two of them alike."""

from __future__ import annotations

import json
from collections.abc import Iterable

from shoal.table.numbers import number_text

AMBIGUOUS = (",", '"', "):")
"""What parts values from each other and from the column; a value that has it is quoted."""


def number_letter(number: float) -> str:
    """A number in six digits where these are all it has, and otherwise in as many as it takes.

    >>> number_letter(0.1), number_letter(2_000_000), number_letter(2_000_001), number_letter(0.12345678)
    ('0.1', '2e+06', '2000001', '0.12345678')
    """
    short = f"{number:g}"
    return short if float(short) == number else number_text(number)


def values_letter(values: Iterable[str]) -> str:
    """Values side by side, quoted where they could be taken for several.

    >>> values_letter(["a", "b"]), values_letter(["a, b"])
    ('a, b', '"a, b"')
    """
    return ", ".join(_quoted(value) if any(mark in value for mark in AMBIGUOUS) else value for value in values)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)
