"""Generalisation, slowly: what every row of a group must show, from the values of its group alone."""

from __future__ import annotations

from shoal import Nominal, Numeric, Ordinal


def text_cell(values, kind, hierarchy, *, sets):
    """The one cell that covers all values of a group, as text; None for a missing cell."""
    present = [value for value in values if value is not None]
    if not present:
        return None
    if len(present) < len(values):
        return "*"
    if isinstance(kind, Nominal) and kind.hierarchy is None and sets:
        distinct = sorted(set(present))
        if len(distinct) == 1 and not distinct[0].startswith("{"):
            return distinct[0]
        escaped = (value.replace("\\", "\\\\").replace(",", "\\,").replace("}", "\\}") for value in distinct)
        return "{" + ", ".join(escaped) + "}"
    if hierarchy is not None:
        return lowest_common(hierarchy, present)
    low, high = ends(present, kind)
    return str(low) if low == high else f"[{low}, {high}]"


def ends(present, kind):
    """Smallest and largest value."""
    if isinstance(kind, Ordinal):
        ranked = sorted(present, key=kind.order.index)
        return ranked[0], ranked[-1]
    assert isinstance(kind, Numeric)
    return min(present), max(present)


def lowest_common(hierarchy, values):
    """First node on the way up from one value that lies above all others."""
    for node in hierarchy.path(values[0]):
        if all(node in hierarchy.path(value) for value in values):
            return node
    raise AssertionError
