"""Whose row it is: which column says so, and whether rows repeat people though none does.

What is found by content comes first. The rows of one person agree in what does not change, such as the sex and the
birth, though these vary over the table; those of a place, a product or a doctor do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shoal.table.profile.dependence import AGREES, Codes, agreement, apart, by_chance, decides, more_alike, same_groups
from shoal.table.profile.evidence import Evidence
from shoal.table.profile.roles import HIGH, LOW, MEDIUM, Proposal
from shoal.table.profile.words import (
    AGE,
    BIRTH,
    HOUSEHOLDS,
    ISSUED,
    NAMES,
    PLACES,
    POSTAL,
    RECORDS,
    SENSITIVE,
    UNITS,
    meaning,
    says,
)

SEX = meaning("sex, sexo, sexe, gender, geschlecht")
STEADY = SEX | meaning("race, ethni~, native, nationality") | BIRTH
"""What stays with a person from row to row."""
STEADY_CELLS = ("sexes", "ethnic groups")
MOST_BY_CHANCE = 0.7
"""How often rows may agree by chance in a column that shall tell people apart."""
FEWEST = 20
"""Values from which a column can say whose row it is, if only its look speaks for it."""
SOME = 0.02
"""Values in a row from which codes can be those of people: at most 50 rows each."""
MOST_OTHERS = 40
"""Columns that are looked at for what a number decides, where none is known to stay with a person."""
MOST_DOUBTFUL = 20
"""Columns of codes that are looked at, those of most values: a table has few numbers of people."""
MORE_ALIKE = 5.0
"""How many times more often than by chance rows are alike, where they repeat people."""
Keys = Mapping[str, Codes]


def found_by_content(evidence: Sequence[Evidence], proposals: dict[str, Proposal], keys: Keys) -> None:
    """Hide the codes that nothing but their content gives away: each stands for one person, or for a number of one."""
    doubtful = [seen for seen in evidence if _may_be_somebody(seen, proposals[seen.name])]
    doubtful = sorted(doubtful, key=lambda seen: -seen.n_distinct)[:MOST_DOUBTFUL]
    for seen in doubtful:
        kept = kept_with(seen, evidence, keys, known=False)
        if kept:
            listed = ", ".join(repr(name) for name in kept[:3])
            why = f"{seen.n_distinct:,} codes that repeat, and rows of one agree in {listed}, as those of one person do"
            proposals[seen.name] = Proposal("identifying", why, MEDIUM, 1)
    hidden = [one for one in evidence if proposals[one.name].role == "identifying" and one.repeats and one.name in keys]
    for seen in doubtful:
        twin = next((one for one in hidden if one is not seen and same_groups(keys[seen.name], keys[one.name])), None)
        if twin and proposals[seen.name].role != "identifying":
            why = f"Its codes go with those of {twin.name!r} one by one: each stands for the same person or record"
            proposals[seen.name] = Proposal("identifying", why, MEDIUM, proposals[twin.name].person and 1)


def person_of(evidence: Sequence[Evidence], proposals: Mapping[str, Proposal], keys: Keys) -> Evidence | None:
    """Choose the column that says whose row it is: an id whose values repeat, named as one or with steady people."""
    found: list[tuple[int, int, int, int]] = []
    for place, seen in enumerate(evidence):
        strength = proposals[seen.name].person
        if not strength or not seen.repeats or seen.n_present < 0.5 * seen.n_rows:
            continue
        kept = kept_with(seen, evidence, keys, known=True)
        if strength == 1 and (seen.n_distinct < FEWEST or not kept):
            continue
        # Of two that do, the coarser is the person: an order or a sample decides its person, and not the other way.
        found.append((-strength - 2 * bool(kept), -len(kept), seen.n_distinct, place))
    return evidence[min(found)[3]] if found else None


def kept_with(seen: Evidence, evidence: Sequence[Evidence], keys: Keys, *, known: bool) -> tuple[str, ...]:
    """The columns that stay the same with a value of this one, if they are those that stay with a person.

    Where some are known to, such as the sex, all of them must. Otherwise one must that the value decides and that does
    not decide it, or two that do not decide each other where nothing but the content speaks (`known` is False).
    """
    steady = [one for one in evidence if one is not seen and _steady(one) and one.name in keys]
    if steady:
        stay = all(decides(keys[seen.name], keys[one.name]) for one in steady)
        return tuple(one.name for one in steady) if stay else ()
    others = [one for one in evidence if one is not seen and not one.constant and not one.mostly_unique]
    decided = [
        one
        for one in [one for one in others if one.name in keys][:MOST_OTHERS]
        if decides(keys[seen.name], keys[one.name]) and not decides(keys[one.name], keys[seen.name])
    ]
    enough = apart([keys[one.name] for one in decided]) >= (1 if known else 2)
    return tuple(one.name for one in decided) if enough else ()


def _steady(seen: Evidence) -> bool:
    """Whether a column stays with a person, by its name or its cells, and can tell people apart."""
    known = seen.vocabulary is not None and seen.vocabulary.title in STEADY_CELLS
    return (known or bool(seen.says(STEADY))) and not seen.constant


def _is_sex(seen: Evidence) -> bool:
    return bool(seen.says(SEX)) or (seen.vocabulary is not None and seen.vocabulary.title == "sexes")


def _may_be_somebody(seen: Evidence, proposal: Proposal) -> bool:
    """Whether codes of which nothing else is known may stand for people: many, and each in a few rows."""
    doubt = proposal.role == "quasi" and proposal.confidence == LOW and seen.coded and seen.repeats
    varied = seen.n_distinct >= max(FEWEST, SOME * seen.n_present)
    record = seen.says(RECORDS) and not seen.says(ISSUED)
    named = record or seen.says(HOUSEHOLDS) or seen.says(UNITS) or seen.says(SENSITIVE)
    return doubt and varied and not named


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


def repeated_people(evidence: Sequence[Evidence], proposals: Mapping[str, Proposal], keys: Keys) -> str | None:
    """Say why rows seem to repeat people: those of one name, birth or record agree in what stays with a person."""
    for seen in evidence:
        key = says(seen.name, NAMES) or says(seen.name, BIRTH) or proposals[seen.name].role == "identifying"
        rare = seen.n_distinct < FEWEST or seen.n_present - seen.n_once < 0.1 * seen.n_rows
        if not key or rare or seen.name not in keys:
            continue
        steady = [one for one in evidence if one is not seen and _steady(one) and one.name in keys]
        telling = [one for one in steady if by_chance(keys[one.name]) < MOST_BY_CHANCE]
        if seen.look.holds("capitalised words"):  # a name decides the sex of any Ann
            telling = telling if any(not _is_sex(one) for one in telling) else []
        if telling and (agreement(keys[seen.name], [keys[one.name] for one in telling]) or 0) >= AGREES:
            names = ", ".join(repr(one.name) for one in telling)
            return f"rows with the same {seen.name!r} agree in {names}, as those of one person do"
    return _alike(evidence, keys)


def _alike(evidence: Sequence[Evidence], keys: Keys) -> str | None:
    """Say in which columns many rows agree, more often than strangers do: birth or age, sex, where they live."""
    there = [seen for seen in evidence if seen.name in keys and not seen.constant and seen.n_present == seen.n_rows]
    sorts = (
        [one for one in there if one.says(BIRTH) or one.says(AGE)],
        [one for one in there if _steady(one) and not one.says(BIRTH)],
        [one for one in there if one.pattern == "postcode" or one.says(POSTAL) or one.says(PLACES)],
    )
    # The finest of each sort alone: two of a sort are alike by what they mean.
    chosen = [min(sort, key=lambda one: by_chance(keys[one.name])) for sort in sorts if sort]
    if not sorts[0] or len(chosen) < 2:
        return None
    share, times = more_alike([keys[one.name] for one in chosen])
    if share < 0.2 or times < MORE_ALIKE:
        return None
    names = ", ".join(repr(one.name) for one in chosen)
    return f"{share:.0%} of the rows have another that agrees in {names}, {times:.0f} times as many as by chance"


def as_person(seen: Evidence, proposal: Proposal) -> Proposal:
    """The proposal for the column that says whose row it is."""
    times = seen.n_present / seen.n_distinct
    text = f"its values repeat, {times:.1f} rows each: it says whose row it is, and promises count people"
    return replace(proposal, role="person", why=f"{proposal.why}; {text}")
