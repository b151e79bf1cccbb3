"""Diseases of the invented people, and how much protection they ask for."""

from __future__ import annotations

from typing import Final

import numpy as np

from shoal.sample.draws import Floats, Places, curves, factors, pick_each
from shoal.sample.work import OCCUPATIONS

_DISEASES = {
    "Hypertension": (2, 6, 16, 26, 28, 26),
    "Heart failure": (0.2, 0.5, 2, 7, 16, 24),
    "Diabetes": (1.5, 3, 8, 14, 14, 10),
    "Thyroid disorder": (3, 5, 6, 6, 5, 4),
    "Arthritis": (1, 2.5, 7, 13, 16, 17),
    "Back pain": (9, 15, 17, 11, 8, 6),
    "Breast cancer": (0.1, 1, 3.5, 4, 3.5, 3),
    "Lung cancer": (0.05, 0.2, 1.5, 4, 4, 2),
    "Influenza": (30, 24, 14, 8, 6, 6),
    "Pneumonia": (4, 3.5, 3.5, 5, 9, 14),
    "HIV infection": (1.5, 3, 2.5, 1, 0.3, 0.1),
    "Hepatitis C": (1, 1.8, 2.2, 1.4, 0.6, 0.2),
    "Depression": (14, 13, 11, 7, 6, 6),
    "Anxiety disorder": (16, 12, 8, 4, 3, 2),
    "Alcohol dependence": (3, 5, 6, 4, 1.5, 0.5),
    "Opioid dependence": (2.5, 2.5, 1.2, 0.4, 0.1, 0),
}
DISEASES: Final = tuple(_DISEASES)
_BY_AGE = curves((20, 35, 50, 65, 80, 95), _DISEASES)
_BY_SEX = factors(
    {
        "Thyroid disorder": (1.7, 0.4),
        "Arthritis": (1.25, 0.8),
        "Breast cancer": (2.0, 0.02),
        "Lung cancer": (0.8, 1.2),
        "HIV infection": (0.5, 1.5),
        "Depression": (1.3, 0.75),
        "Anxiety disorder": (1.3, 0.75),
        "Alcohol dependence": (0.5, 1.5),
        "Opioid dependence": (0.6, 1.4),
    },
    DISEASES,
)
_AT_WORK = {
    ("Nurse", "Back pain"): 1.5,
    ("Nurse", "Influenza"): 1.4,
    ("Teacher", "Influenza"): 1.5,
    ("Teacher", "Depression"): 1.2,
    ("Programmer", "Back pain"): 1.3,
    ("Programmer", "Anxiety disorder"): 1.3,
    ("Electrician", "Back pain"): 1.3,
    ("Carpenter", "Back pain"): 1.8,
    ("Driver", "Back pain"): 1.5,
    ("Driver", "Hypertension"): 1.3,
    ("Cook", "Alcohol dependence"): 1.6,
    ("Cleaner", "Arthritis"): 1.4,
    ("Jobseeker", "Depression"): 1.7,
    ("Jobseeker", "Alcohol dependence"): 1.8,
}

_OPEN = (0.62, 0.27, 0.11)
_GUARDED = (0.30, 0.40, 0.30)
_HIDDEN = (0.10, 0.28, 0.62)
_WISHES = {
    "Breast cancer": _GUARDED,
    "Lung cancer": _GUARDED,
    "Depression": _GUARDED,
    "Anxiety disorder": _GUARDED,
    "HIV infection": _HIDDEN,
    "Hepatitis C": _HIDDEN,
    "Alcohol dependence": _HIDDEN,
    "Opioid dependence": _HIDDEN,
}
_WISH_AT = np.array([_WISHES.get(disease, _OPEN) for disease in DISEASES])


def _by_work() -> Floats:
    """How much likelier each occupation makes each disease."""
    table = np.ones((len(OCCUPATIONS), len(DISEASES)))
    for (occupation, disease), factor in _AT_WORK.items():
        table[OCCUPATIONS.index(occupation), DISEASES.index(disease)] = factor
    return table


_BY_WORK = _by_work()


def diseases(draws: dict[str, Floats], age: Places, sex: Places, occupation: Places) -> Places:
    """Place of each person in `DISEASES`."""
    return pick_each(draws["disease"], _BY_AGE[age] * _BY_SEX[sex] * _BY_WORK[occupation])


def choices(draws: dict[str, Floats], disease: Places) -> Places:
    """Protection each person asks for, 1 (little) to 3 (much): more where the disease carries a stigma."""
    return 1 + pick_each(draws["choice"], _WISH_AT[disease])
