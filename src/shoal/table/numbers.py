"""Numbers as texts: written as the shortest that reads back as the same number, and read exactly."""

from __future__ import annotations


def number_text(value: float) -> str:
    """Write a number.

    >>> number_text(3.0), number_text(0.1), number_text(12)
    ('3', '0.1', '12')
    """
    if isinstance(value, int):
        return str(value)
    number = float(value)
    return str(int(number)) if abs(number) < 2**53 and number == int(number) else repr(number)


def exact_number(text: str) -> int | float:
    """Read a number exactly: whole ones beyond 2^53 are told apart, and 5 is 5.0.

    >>> exact_number("9007199254740993"), exact_number("5.0") == 5
    (9007199254740993, True)
    """
    try:
        return int(text)
    except ValueError:
        return float(text)
