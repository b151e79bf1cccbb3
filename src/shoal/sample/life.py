"""Birth, sex, home, schooling and marriage of the invented people."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from shoal.sample.draws import OLDEST, Floats, Places, curve, curves, factors, pick, pick_each
from shoal.sample.trees import EDUCATION_ORDER

SEXES: Final = ("female", "male")
REFERENCE_YEAR: Final = 2026
"""Ages are those of the first of January of this year."""
_YOUNGEST = 18

_PYRAMID = curve((18, 25, 35, 45, 55, 62, 70, 80, 88, 96), (1.05, 1.2, 1.35, 1.25, 1.4, 1.3, 1.0, 0.62, 0.25, 0.03))
_WOMEN = curve((18, 60, 75, 85, 96), (0.49, 0.505, 0.55, 0.63, 0.74))

# First digit: province; first two: region; first three: district. Region: size, pay against the country's.
_REGIONS = {
    "01": (7.0, 0.97),
    "04": (3.5, 0.92),
    "09": (1.5, 0.90),
    "10": (19.0, 1.14),  # the capital
    "12": (9.0, 1.04),
    "17": (4.5, 0.97),
    "21": (11.0, 1.06),
    "26": (3.0, 0.91),
    "40": (12.0, 1.02),
    "43": (6.0, 0.96),
    "48": (2.0, 0.88),
    "70": (10.0, 0.99),
    "75": (5.0, 0.95),
    "78": (2.5, 0.93),
    "90": (4.0, 0.94),
}

_COHORTS = (18, 21, 25, 29, 36, 50, 65, 80, 96)
_EDUCATION = {
    "Primary school": (2, 2, 2, 2, 2, 4, 9, 24, 38),
    "Lower secondary": (20, 10, 8, 7, 7, 11, 19, 28, 28),
    "Upper secondary": (70, 52, 26, 18, 15, 15, 14, 11, 10),
    "Apprenticeship": (8, 24, 28, 27, 27, 32, 34, 26, 18),
    "Technical college": (0, 6, 10, 12, 13, 13, 10, 5, 3),
    "Bachelor": (0, 6, 20, 20, 20, 14, 8, 3, 1.5),
    "Master": (0, 0, 6, 13, 14, 9, 5, 2.5, 1.2),
    "Doctorate": (0, 0, 0, 1, 2, 2, 1, 0.5, 0.3),
}
_EDUCATION_AT = curves(_COHORTS, {level: _EDUCATION[level] for level in EDUCATION_ORDER})

_MARITAL = {
    "Married": (0.5, 9, 32, 54, 57, 59, 59, 46, 22),
    "Civil partnership": (0.2, 3, 5, 5, 3.5, 2, 1, 0.5, 0.2),
    "Separated": (0, 0.5, 1.5, 3, 3.5, 2.5, 1.5, 0.8, 0.3),
    "Single": (99.3, 87, 59, 29, 18, 12, 7, 6, 6),
    "Divorced": (0, 0.5, 2.5, 8.5, 16, 18, 14, 8, 4),
    "Widowed": (0, 0, 0.1, 0.5, 2, 6.5, 17.5, 38.7, 67.5),
}
MARITAL_STATUSES: Final = tuple(_MARITAL)
_MARITAL_AT = curves((18, 25, 30, 40, 50, 60, 70, 80, 96), _MARITAL)
# Women outlive their husbands more often than the other way round.
_MARITAL_BY_SEX = factors({"Widowed": (1.4, 0.5)}, MARITAL_STATUSES)


def births(draws: dict[str, Floats]) -> tuple[npt.NDArray[np.datetime64], Places]:
    """Day of birth and age of each person."""
    years_old = np.arange(_YOUNGEST, OLDEST)
    year = REFERENCE_YEAR - 1 - years_old[pick(draws["birth year"], _PYRAMID[years_old])]
    new_year = _new_year(year)
    length = (_new_year(year + 1) - new_year).astype(np.int64)
    day = (draws["birthday"] * length).astype(np.int64)
    # Whoever was born on a first of January has a birthday on the reference day itself.
    return new_year + day, REFERENCE_YEAR - 1 - year + (day == 0)


def _new_year(year: Places) -> npt.NDArray[np.datetime64]:
    """First of January of each year."""
    return (year - 1970).astype("datetime64[Y]").astype("datetime64[D]")


def sexes(draws: dict[str, Floats], age: Places) -> Places:
    """Place of each person in `SEXES`."""
    return (draws["sex"] >= _WOMEN[age]).astype(np.int64)


def _postcodes() -> tuple[list[str], list[float], list[float]]:
    """Every postcode with its share of the people and its pay: larger regions have more districts and places."""
    codes, shares, pays = [], [], []
    for region, (size, pay) in _REGIONS.items():
        places = [(district, place) for district in range(2 + int(size // 4)) for place in range(4 + int(size // 5))]
        weights = [1 / ((district + 2) * (place + 2)) for district, place in places]
        for (district, place), weight in zip(places, weights, strict=True):
            codes.append(f"{region}{district + 1}{place * 7 % 100:02d}")
            shares.append(size * weight / sum(weights))
            pays.append(pay)
    return codes, shares, pays


_codes, _shares, _pays = _postcodes()
POSTCODES: Final = tuple(_codes)
REGIONAL_PAY: Final = np.array(_pays)
"""Pay at each of `POSTCODES`, against the country's."""


def homes(draws: dict[str, Floats]) -> Places:
    """Place of each person in `POSTCODES`."""
    return pick(draws["postcode"], _shares)


def educations(draws: dict[str, Floats], age: Places) -> Places:
    """Place of each person in `EDUCATION_ORDER`: the young are still at it, the old had fewer chances."""
    return pick_each(draws["education"], _EDUCATION_AT[age])


def marriages(draws: dict[str, Floats], age: Places, sex: Places) -> Places:
    """Place of each person in `MARITAL_STATUSES`."""
    return pick_each(draws["marital status"], _MARITAL_AT[age] * _MARITAL_BY_SEX[sex])
