"""Membership disclosure, slowly: every tuple that a class may stand for is written down."""

from __future__ import annotations

from collections import Counter
from itertools import product

from shoal import Nominal, Ordinal
from twins.generalize import text_cell


def figures(classes, originals):
    """Candidates, and how many originals and fakes match how many classes; a class is the set of its tuples."""
    matches = Counter(candidate for one in classes for candidate in one)
    of_originals = Counter(matches[row] for row in set(originals))
    of_fakes = Counter(count for candidate, count in matches.items() if candidate not in set(originals))
    return len(matches), dict(of_originals), dict(of_fakes)


def of_products(classes):
    """The tuples of classes that are given as one set per component."""
    return [set(product(*sets)) for sets in classes]


def of_slices(buckets, slices):
    """The tuples of buckets; a slice is a pair of names and rows, and tuples are in the order of all names, each once.

    Any rows of a bucket are put together, one from each slice, that agree on the names they share.
    """
    names = list(dict.fromkeys(name for columns, _ in slices for name in columns))
    found = []
    for bucket in sorted(set(buckets)):
        shown = [[row for row, at in zip(rows, buckets, strict=True) if at == bucket] for _, rows in slices]
        tuples = set()
        for rows in product(*shown):
            pairs = {
                pair for (columns, _), row in zip(slices, rows, strict=True) for pair in zip(columns, row, strict=True)
            }
            if len(pairs) == len(names):
                tuples.add(tuple(dict(pairs)[name] for name in names))
        found.append(tuples)
    return found


def of_groups(frame, quasi, passed, labels, hierarchies, *, sets):
    """The tuples of generalised groups; groups that show the same cells are one class, and labels below 0 nobody's."""
    classes = {}
    domain = {name: set(frame[name].to_list()) for name in quasi}
    for group in sorted(set(labels) - {-1}):
        rows = [place for place, label in enumerate(labels) if label == group]
        cells = tuple(
            text_cell([frame[name][row] for row in rows], kind, hierarchies[name], sets=sets)
            for name, kind in quasi.items()
        )
        covers = [
            covered([frame[name][row] for row in rows], kind, hierarchies[name], domain[name], sets=sets)
            for name, kind in quasi.items()
        ]
        tails = {tuple(frame[name][row] for name in passed) for row in rows}
        classes.setdefault(cells, (covers, set()))[1].update(tails)
    return [{(*head, *tail) for head in product(*covers) for tail in tails} for covers, tails in classes.values()]


def covered(values, kind, hierarchy, domain, *, sets):
    """The values of the input that the cell of a group may stand for."""
    cell = text_cell(values, kind, hierarchy, sets=sets)
    if cell is None:
        return {None}
    if cell == "*":
        return domain
    known = domain - {None}
    if isinstance(kind, Nominal) and kind.hierarchy is None and sets:
        return set(values)
    if hierarchy is not None:
        return {value for value in known if cell in hierarchy.path(str(value))}
    if isinstance(kind, Ordinal):
        ranks = [kind.order.index(value) for value in values]
        return {value for value in known if min(ranks) <= kind.order.index(value) <= max(ranks)}
    return {value for value in known if min(values) <= value <= max(values)}
