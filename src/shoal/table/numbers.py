"""How a number is written: shortest text that reads back as the same number, whole numbers without a point."""

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
