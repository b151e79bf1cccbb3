"""What somebody who decides about the release should look at."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.concerns.base import Looked
from shoal.concerns.exact_sets import exact_sets
from shoal.concerns.identifiers import identifiers
from shoal.concerns.lost_columns import MOST
from shoal.concerns.repeated_people import repeated_people
from shoal.concerns.unique_rows import unique_rows
from shoal.errors import counted
from shoal.report.blocks import Notes, Section, percent
from shoal.report.facts import Facts

LISTED = 10
"""Columns that are named one by one, those that lose most first."""
FEW = 5
"""Classes below this size are small by the usual rules of statistics offices."""
MANY_LEFT_OUT = 0.05
"""More rows than this share make a release differ from its input."""
FOUND = (
    "Quasi-identifiers are published unchanged: who knows them finds the row of a person. Only the way in which "
    "sensitive values are shown protects what is in it."
)
SEEN = (
    "Quasi-identifiers are published unchanged: it can be seen who is in the table. What is hidden is which sensitive "
    "value belongs to whom."
)
ALIKE = "who knows that a person is in it knows that too."
IN_PARTS = (
    "Whether columns that are published as they are make rows unique is not looked at in a release in parts, whose "
    "rows are never in memory at once."
)
OTHERWISE = (identifiers, repeated_people, exact_sets, unique_rows)
"""Concerns that no note below says in its own words."""

Note = tuple[str, str]


def attention(facts: Facts) -> Section:
    """Notes: what is weak first, then what is good."""
    notes = [*_kind(facts), *_concerns(facts), *_sizes(facts), *_values(facts), *_rows(facts), *_columns(facts)]
    order = {"look": 0, "plain": 1, "good": 2}
    notes.sort(key=lambda note: order[note[0]])
    return Section.of("look", "What to look at", [Notes(tuple(notes))])


def _kind(facts: Facts) -> Iterator[Note]:
    protects = facts.manifest.layout.laid_out.protects
    if protects != "cells":
        yield "look", FOUND if protects == "values" else SEEN


def _concerns(facts: Facts) -> Iterator[Note]:
    """What `shoal run` tells the holder; on the public page, as far as the release alone shows it."""
    if facts.manifest.in_parts or not facts.given.rows.height:
        if any(one.role != "sensitive" for one in facts.manifest.layout.passed):
            yield "plain", IN_PARTS
        return
    looked = Looked(facts.given, facts.verdict, facts.receipt)
    for look in OTHERWISE:
        for concern in look(looked.by_readers if facts.is_public else looked):
            yield "look", f"{concern.what[:1].upper()}{concern.what[1:]}."


def _sizes(facts: Facts) -> Iterator[Note]:
    if not facts.shares_cells or not len(facts.given.matching_sizes):
        return
    fewest = int(facts.given.matching_sizes[0])
    if not facts.given.tells_people:
        yield (
            "plain",
            f"The smallest class has {counted(fewest, 'row')}. How many people they are of, the holder alone can tell.",
        )
    elif fewest < FEW:
        yield (
            "look",
            f"The smallest class has {counted(fewest, 'person', 'people')}. Many offices ask for {FEW} or more.",
        )
    else:
        yield "good", f"Everybody shares the published quasi-identifiers with at least {counted(fewest - 1, 'other')}."


def _values(facts: Facts) -> Iterator[Note]:
    """What classes tell of sensitive values, whatever was promised."""
    if not facts.shares_cells:
        return
    for name in facts.sensitive:
        least = facts.verdict.surveyed.get(f"l:{name}")
        if least is not None and least < 2:
            promised = sorted({str(one["model"]) for one in facts.manifest.promise if one.get("column") == name})
            asked = f"{' and '.join(promised)}, as promised, allows this; l-diversity does not."
            fix = asked if promised else "l-diversity prevents this."
            yield "look", f"In some class everybody has the same {name}: {ALIKE} {fix}"
        elif least is not None:
            yield "good", f"In every class there are at least {int(least)} different values of {name}."


def _rows(facts: Facts) -> Iterator[Note]:
    rows = facts.manifest.rows
    if rows.left_out:
        share = rows.left_out / (rows.left_out + rows.published)
        words = ("is not published, and no random one", "are not published, and no random ones")
        said = f"{counted(rows.left_out, 'row')} ({percent(share)}) {words[rows.left_out > 1]}."
        yield "look" if share > MANY_LEFT_OUT else "plain", said
    elif rows.left_out is None:
        yield "plain", "How many rows are not published is not told."
    if rows.counterfeits:
        yield (
            "plain",
            f"{counted(rows.counterfeits, 'published row stands', 'published rows stand')} for nobody; "
            "each class says how many it has.",
        )


def _columns(facts: Facts) -> Iterator[Note]:
    lost = {name: facts.figures.get(f"ncp:{name}", 0.0) for name in facts.quasi}
    most = sorted((name for name in lost if lost[name] > MOST), key=lambda name: -lost[name])
    for name in most[:LISTED]:
        yield "look", f"Column {name} loses {percent(lost[name])} of what it says: little can be learnt from it."
    if more := len(most) - LISTED if len(most) > LISTED else 0:
        columns, they = ("column loses", "it says") if more == 1 else ("columns lose", "they say")
        yield "look", f"{more} more {columns} more than {percent(MOST)} of what {they}."
    if facts.figures.get("ncp", 1.0) <= 0.1:
        yield "good", f"Cells lose {percent(facts.figures['ncp'])} of what they say on average."
