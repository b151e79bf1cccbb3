"""What the release does not protect, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.privacy import MODELS, OF_METHODS
from shoal.report.blocks import Notes, Section
from shoal.report.facts import Facts

OF_CELLS = (
    "The promise is about the columns that were named as quasi-identifiers. A rare value in any other column that is "
    "published can single out its row.",
    "It says nothing about people who are known to be in a class: if an attacker knows some of them, fewer are left.",
)
OF_ROWS = (
    "If one person has several rows, a class of so many rows can hold fewer people, unless a person column was named."
)
OF_PEOPLE = (
    "People are told apart by one column of the input: two people under one id, or one under two, are not protected."
)
OF_LINKS = (
    "It can be seen who is in the table: quasi-identifiers are published unchanged.",
    "An attacker who knows the sensitive value of others in a bucket is left with fewer values for the rest.",
)
OF_VALUES = (
    "This is pseudonymisation, no anonymity: rows can be found by their quasi-identifiers.",
    "One known person tells what an alias stands for, and equal aliases are equal values.",
)
OF_SHAPES = {
    "values": "An average is exact: who knows all values of a group but one can work out the last.",
    "centres": "A centre that is a record shows the values of a real person.",
    "invariant": "It is made for repeated releases. Two people under one id, or one under two, are not protected.",
}
ALWAYS = (
    "Another release of the same people, by other parameters or with other rows, can be compared with this one. "
    "Publish once, or as a series.",
    "It is not differential privacy: there is no bound against an attacker with arbitrary knowledge.",
)


def limits(facts: Facts) -> Section:
    """Limits of what was promised, of the way it is published, and of any release."""
    return Section.of("limits", "What it does not protect", [Notes(tuple(("plain", text) for text in _said(facts)))])


def _said(facts: Facts) -> Iterator[str]:
    layout = facts.manifest.layout
    yield from {"cells": OF_CELLS, "links": OF_LINKS, "values": OF_VALUES}[layout.laid_out.protects]
    if layout.laid_out.protects == "cells":
        yield OF_PEOPLE if facts.manifest.recipe.counts == "people" else OF_ROWS
    if layout.shape in OF_SHAPES:
        yield OF_SHAPES[layout.shape]
    for model in dict.fromkeys(str(entry["model"]) for entry in facts.manifest.promise):
        kind = MODELS.get(model) or OF_METHODS[model]
        yield f"{kind.name}: {kind.advice}."
    yield from ALWAYS
