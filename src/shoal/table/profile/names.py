"""Names of people, known by their cells: given names of several languages, and the surnames that stand beside them."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.table.profile.evidence import MOSTLY, Evidence
from shoal.table.profile.roles import LOW, MEDIUM, Proposal

FEWEST_NAMES = 10
"""Different words from which a column can be one of names."""


def surnames_beside_given_names(evidence: Sequence[Evidence], proposals: dict[str, Proposal]) -> None:
    """Hide a column of capitalised words, of which nothing else is known, beside one of given names."""
    for place, seen in enumerate(evidence):
        if not seen.given_names or seen.look.shares["name of a person"] > MOSTLY:  # a full name lacks no surname
            continue
        for beside in (*evidence[max(place - 1, 0) : place], *evidence[place + 1 : place + 2]):
            if proposals[beside.name].confidence == LOW and _words_of_many(beside):
                why = f"Capitalised words beside the given names in {seen.name!r}: they look like surnames"
                proposals[beside.name] = Proposal("identifying", why, MEDIUM)


def _words_of_many(seen: Evidence) -> bool:
    return seen.look.holds("capitalised words") and seen.n_distinct >= FEWEST_NAMES and seen.vocabulary is None
