"""Columns of aliases and grades: what the manifest and the key say of their cells is what these can be."""

from __future__ import annotations

import hashlib
import math
from itertools import accumulate

import polars as pl
import pytest

import shoal
from shoal.check.derived import HIGHEST, random_grades
from support.forging import with_entries

FRAME = pl.DataFrame(
    {
        "age": list(range(20, 44)),
        "disease": ["flu", "cold", "gout", "ache"] * 6,
        "income": [1000 + 10 * (i * 7 % 24) for i in range(24)],
        "show": [1, 3, 1, 1, 2, 1] * 4,
    }
)
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()},
    choice="show",
)
HIDING = [shoal.Aliases("disease"), shoal.Grades("income", quantiles=2)]


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(FRAME, SCHEMA, shoal.Mondrian(k=4), publish=HIDING, seed=12345678901)


def with_clear(release, *clear):
    passed = [
        one.model_copy(update={"clear": clear}) if one.name == "disease" else one
        for one in release.manifest.layout.passed
    ]
    return with_entries(release, layout={"passed": tuple(passed)})


def test_values_in_clear_are_listed_in_their_order_once_and_none_but_those_shown(release):
    clear = next(one.clear for one in release.manifest.layout.passed if one.name == "disease")
    assert len(clear) > 1
    with_clear(release, *clear).verify()
    for other in (clear[::-1], (*clear, clear[-1]), (*clear, "zoster")):
        with pytest.raises(shoal.GuaranteeError, match="lists other values in clear than its cells show"):
            with_clear(release, *other).verify()


def test_grades_stand_for_numbers_in_a_column_of_numbers(release):
    income = release.key.by_name["income"]
    release.verify(key=release.key)
    for changed in (
        {"kind": "nominal"},
        {"meanings": tuple(one.model_copy(update={"values": ("much",)}) for one in income.meanings)},
        {"meanings": tuple(one.model_copy(update={"values": (None,)}) for one in income.meanings)},
    ):
        columns = [one.model_copy(update=changed) if one is income else one for one in release.key.columns]
        forged = release.key.model_copy(update={"columns": tuple(columns)}).to_bytes()
        with pytest.raises(shoal.GuaranteeError, match="column 'income': has grades that stand for no number"):
            release.verify(key=shoal.Key.model_validate_json(forged))


def test_random_grades_are_steps_of_chances_drawn_from_the_middle_of_their_cells():
    """So a word of zeros has a logarithm, too. The first chance here is about a millionth, and its place matters."""
    secret = (448164).to_bytes(4, "big")
    words = hashlib.shake_256(secret).digest(8 * 5)
    chances = [(2 * (int.from_bytes(words[at : at + 8], "little") >> 11) + 1) / 2**54 for at in range(0, 24, 8)]
    ends = list(accumulate(-math.log(chance) for chance in chances))
    expected = [3 + HIGHEST * end / ends[-1] for end in ends[:-1]]
    assert chances[0] < 2e-6
    assert random_grades(secret, [3, 3]) == pytest.approx(expected, rel=0, abs=1e-14)
