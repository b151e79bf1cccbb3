"""People linked with a release of any shape."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.attack.index import BoxIndex
from shoal.attack.joined import joined
from shoal.attack.knowledge import Known, asked_of
from shoal.attack.links import Links, WholeRows
from shoal.attack.nearest import nearest_rows
from shoal.attack.published import Published


def link(published: Published, names: Sequence[str], known: Known, at: int = 0) -> Links:
    """Link people with the units of one part of a release.

    Parameters
    ----------
    published
        The release.
    names
        The attributes that are known; the release shows all of them.
    known
        What is known of the people.
    at
        The part whose units they are linked with.
    """
    part = published.parts[at]
    if not published.covers:
        return nearest_rows(part, names, known)
    if len(published.parts) > 1:
        return joined(published, names, known, at)
    units = part.units(names)
    asked = asked_of(part, names, units.codes, known)
    return WholeRows(units, BoxIndex.of(asked.cells), asked.queries, asked.query)


__all__ = ["link"]
