"""Whose row it is: which column says so, and whether rows repeat people though none does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from shoal.table.profile.evidence import Evidence
from shoal.table.profile.roles import HIGH, LOW, Proposal
from shoal.table.profile.words import BIRTH, HOUSEHOLDS, NAMES, meaning, says

Codes = npt.NDArray[np.int64]

AGREES = 0.97
"""Share of the rows of one person that must agree with the first in what does not change, such as the sex."""
STEADY = meaning("sex, sexo, sexe, gender, geschlecht, race, ethni~, native, nationality") | BIRTH
"""What stays with a person from row to row."""
MOST_BY_CHANCE = 0.7
"""How often rows may agree by chance in a column that shall tell people apart."""
FEWEST = 20
"""Values from which a column can say whose row it is, if only its look speaks for it."""


def person_of(
    evidence: Sequence[Evidence], proposals: Mapping[str, Proposal], codes: Mapping[str, Codes]
) -> Evidence | None:
    """Choose the column that says whose row it is: an id whose values repeat, named as one or with steady people."""
    found: list[tuple[int, int]] = []
    for place, seen in enumerate(evidence):
        strength = proposals[seen.name].person
        if not strength or not seen.repeats or seen.n_present < 0.5 * seen.n_rows:
            continue
        steady = agreement(codes[seen.name], _others(seen.name, evidence, codes))
        if strength == 1 and (seen.n_distinct < FEWEST or steady is None or steady < AGREES):
            continue
        found.append((-strength - 2 * (steady is not None and steady >= AGREES), place))
    return evidence[min(found)[1]] if found else None


def one_weight(evidence: Sequence[Evidence], proposals: dict[str, Proposal]) -> None:
    """Leave one weight: the surest, of persons, with the shortest name; it must be there and above 0 in every row."""
    weights = [seen for seen in evidence if proposals[seen.name].role == "weight"]
    broken = [seen for seen in weights if seen.n_present < seen.n_rows or seen.look.numbers.low <= 0]
    fit = sorted(
        (seen for seen in weights if seen not in broken),
        key=lambda seen: (proposals[seen.name].confidence != HIGH, bool(seen.says(HOUSEHOLDS)), len(seen.name)),
    )
    for seen in broken:
        why = (
            "It looks like a weight of a survey, but some are missing or not above 0: correct them to publish it as one"
        )
        proposals[seen.name] = Proposal("identifying", why, LOW)
    for seen in fit[1:]:
        why = f"Another weight beside {fit[0].name!r}: a table can have one, and several together single out rows"
        proposals[seen.name] = Proposal("identifying", why, LOW)


def _others(name: str, evidence: Sequence[Evidence], codes: Mapping[str, Codes]) -> list[Codes]:
    """The columns that stay with a person, but for this one."""
    return [codes[one.name] for one in evidence if one.name != name and says(one.name, STEADY) and not one.constant]


def agreement(people: Codes, others: Sequence[Codes]) -> float | None:
    """Share of the rows that agree with the first row of the same person, in the column that agrees least."""
    _, first, owner, times = np.unique(people, return_index=True, return_inverse=True, return_counts=True)
    again = (times[owner] > 1) & (np.arange(len(people)) != first[owner])
    if not again.any() or not others:
        return None
    return min(float((one[again] == one[first[owner]][again]).mean()) for one in others)


def repeated_people(evidence: Sequence[Evidence], codes: Mapping[str, Codes]) -> str | None:
    """Say why rows seem to repeat people: those of one name or birth agree in what stays with a person, too often."""
    for seen in evidence:
        key = says(seen.name, NAMES) or says(seen.name, BIRTH)
        if not key or seen.n_distinct < FEWEST or seen.n_present - seen.n_once < 0.1 * seen.n_rows:
            continue
        steady = [one for one in evidence if one.name != seen.name and says(one.name, STEADY) and not one.constant]
        telling = [one for one in steady if _by_chance(codes[one.name]) < MOST_BY_CHANCE]
        if telling and (agreement(codes[seen.name], [codes[one.name] for one in telling]) or 0) >= AGREES:
            names = ", ".join(repr(one.name) for one in telling)
            return f"rows with the same {seen.name!r} agree in {names}, as those of one person do"
    return None


def _by_chance(codes: Codes) -> float:
    """How often two rows agree that have nothing to do with each other."""
    return float(((np.bincount(codes) / len(codes)) ** 2).sum())
