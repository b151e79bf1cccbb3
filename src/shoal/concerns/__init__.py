"""What to look at in a release that keeps its promise: where it could still tell too much, or lost nearly all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shoal.concerns.alike_values import alike_values
from shoal.concerns.base import Concern, Looked
from shoal.concerns.exact_sets import exact_sets
from shoal.concerns.identifiers import identifiers
from shoal.concerns.lost_columns import lost_columns
from shoal.concerns.repeated_people import repeated_people
from shoal.concerns.unique_rows import unique_rows

LOOKS: tuple[Callable[[Looked], Iterator[Concern]], ...] = (
    identifiers, repeated_people, alike_values, exact_sets, unique_rows, lost_columns,
)  # fmt: skip
"""Everything that is looked at, the worst first."""


def concerns_of(looked: Looked) -> tuple[Concern, ...]:
    """What to look at, the worst first."""
    found = [concern for look in LOOKS for concern in look(looked)]
    return tuple(sorted(found, key=lambda concern: -concern.weight))


__all__ = ["LOOKS", "Concern", "Looked", "concerns_of"]
