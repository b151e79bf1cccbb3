"""Categories: in an order, runs of them; in none, masks and parts of dates; in both, nodes of a hierarchy and sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from shoal.check.cell_forms import splits
from shoal.check.grammar.texts import is_masked, leaves_below, mask_letter, members
from shoal.check.value_ranges import SPAN, Range, one_of
from shoal.table.hierarchy.builders import Dates, Flat, Prefixes
from shoal.table.hierarchy.day_forms import day_of
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.schema import Nominal, Ordinal

RUN = re.compile(r"\s*(?:\bto\b|\.\.\.?|~|-|–|—)\s*")
DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?)?")


# -- in an order -----------------------------------------------------------------------------------------------------


class Runs:
    """Reads ordered categories and runs of them."""

    def __init__(self, kind: Ordinal) -> None:
        self.rank = {category: place for place, category in enumerate(kind.order)}
        self.tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None

    def read(self, text: str) -> Range | None:
        """What a cell may stand for, or None."""
        rank = self.rank
        if text in rank:
            return Range(SPAN, rank[text], rank[text])
        if self.tree is not None and text in self.tree.node_of:
            return self._one_of(leaves_below(self.tree, text))
        if text.startswith("{") and text.endswith("}"):
            return self._one_of(members(text) or [""])
        runs = {(rank[low], rank[high]) for low, high in _ways(text) if low in rank and high in rank}
        runs = {run for run in runs if run[0] <= run[1]}
        return Range(SPAN, *runs.pop()) if len(runs) == 1 else None  # two ways to read it are none

    def _one_of(self, values: Sequence[str]) -> Range | None:
        known = set(values) <= set(self.rank)
        return one_of([self.rank[value] for value in values], discrete=True) if known else None


def _ways(text: str) -> list[tuple[str, str]]:
    """Every way to read a run; a category may hold what separates the two ends."""
    brackets = list(splits(text[1:-1])) if text.startswith("[") and text.endswith("]") else []
    return brackets + [(text[: found.start()], text[found.end() :]) for found in RUN.finditer(text)]


# -- in none ---------------------------------------------------------------------------------------------------------


class Mask(NamedTuple):
    """Codes that begin alike: of a fixed length, or of any."""

    prefix: str
    length: int | None


class Atoms:
    """The values, masks and nodes of a nominal column, each with a place of its own on a line.

    The place of a mask, or of part of a date, stands for the values it covers that no other cell names.
    """

    def __init__(self, kind: Nominal, texts: Sequence[str]) -> None:
        self.rule = None if isinstance(kind.hierarchy, Hierarchy) else kind.hierarchy
        self.tree = kind.hierarchy if isinstance(kind.hierarchy, Hierarchy) else None
        sets = (text for text in texts if text[0] == "{" and not self._in_tree(text))
        self.sets = {text: values for text in sets if (values := members(text)) is not None}
        single = [text for text in texts if text not in self.sets]
        atoms = {*single, *(value for values in self.sets.values() for value in values)}
        leaves = () if self.tree is None else self.tree.leaves
        strange = [atom for atom in atoms if not self._in_tree(atom)]
        given = self.rule.mask if isinstance(self.rule, Prefixes) and len(self.rule.mask) == 1 else ""
        self.letter = given or mask_letter(strange)
        self.in_doubt = {text for text in strange if is_masked(text) and text[-1] != self.letter}
        lengths = {len(text) for text in (*leaves, *strange)}
        self.masks = {text: mask for text in atoms if (mask := self._mask(text, fixed=len(lengths) == 1)) is not None}
        # A mask right before the codes it covers, so that these are one stretch.
        outside = sorted({self._key(text) for text in strange}, key=_begins)
        keys: list[str | Mask] = [*leaves, *outside]  # no leaf is outside
        self.place = {key: place for place, key in enumerate(keys)}
        self.below: dict[str | Mask, list[float]] = {}
        wanted = set(outside)
        for key, place in self.place.items():
            for above in self._above(key):
                if above in wanted:
                    self.below.setdefault(above, []).append(place)

    def read(self, text: str) -> Range | None:
        """What a cell may stand for, or None."""
        values = self.sets.get(text)
        if values is None:
            places = self._places(text) if text[0] != "{" or self._in_tree(text) else None
            return None if places is None else one_of(places, discrete=True)
        found: list[float] = []
        for value in values:
            places = self._places(value)
            if places is None:
                return None
            found += places
        return one_of(found, discrete=True)

    def _places(self, text: str) -> list[float] | None:
        if self.tree is not None and text in self.tree.node_of:
            return [self.place[leaf] for leaf in leaves_below(self.tree, text)]
        if text in self.in_doubt:
            return None
        known = self.tree is None and (not isinstance(self.rule, Dates) or _is_date(text, self.rule))
        if not known and text not in self.masks:
            return None
        key = self._key(text)
        return [self.place[key], *self.below.get(key, ())]

    def _in_tree(self, text: str) -> bool:
        return self.tree is not None and text in self.tree.node_of

    def _key(self, text: str) -> str | Mask:
        return self.masks.get(text, text)

    def _mask(self, text: str, *, fixed: bool) -> Mask | None:
        """A code whose end is masked. Where all codes are of one length, so is this; else a lone `*` may be any end."""
        if self._in_tree(text) or text[-1] != self.letter:
            return None
        prefix = text.rstrip(text[-1])
        if not prefix:
            return None
        any_end = text[-1] == "*" and len(text) - len(prefix) == 1 and not fixed
        return Mask(prefix, None if any_end else len(text))

    def _above(self, key: str | Mask) -> list[str | Mask]:
        """Everything that would cover a value or a mask, were it a cell."""
        if isinstance(key, Mask):
            found: list[str | Mask] = [Mask(key.prefix[:n], None) for n in range(1, len(key.prefix) + 1)]
            found += [Mask(key.prefix[:n], key.length) for n in range(1, len(key.prefix)) if key.length is not None]
            return [one for one in (*found, *self._dates_above(key.prefix)) if one not in (key, key.prefix)]
        masks: list[str | Mask] = [Mask(key[:n], length) for n in range(1, len(key)) for length in (None, len(key))]
        masks.append(Mask(key, None))
        if isinstance(self.rule, Flat) and key != self.rule.root:
            masks.append(self.rule.root)
        return [one for one in (*masks, *self._dates_above(key)) if one != key]

    def _dates_above(self, text: str) -> list[str | Mask]:
        """Every part of a date that covers it, whatever levels the rule has; parts are written as in ISO dates."""
        if not isinstance(self.rule, Dates):
            return []
        day = day_of(text, self.rule.form)
        whole = text if day is None else day.isoformat()
        if not DATE.fullmatch(whole):
            return []
        above: list[str | Mask] = [whole[:10], whole[:7], whole[:4], f"{whole[:3]}0s"]
        return above if day is None else [*above, Mask(whole, None), Mask(whole, len(whole) + 1)]


def _begins(key: str | Mask) -> tuple[str, bool, int]:
    return (key.prefix, False, key.length or 0) if isinstance(key, Mask) else (key, True, 0)


def _is_date(text: str, rule: Dates) -> bool:
    part = DATE.fullmatch(text) is not None or re.fullmatch(r"\d{3}0s", text) is not None
    return part or day_of(text, rule.form) is not None
