"""Work and income of the invented people."""

from __future__ import annotations

from typing import Final

import numpy as np

from shoal.sample.draws import Floats, Places, curve, curves, factors, normal, pick_each

# Who works where, by level of education, lowest first.
_JOBS = {
    "Nurse": (0, 1, 4, 12, 12, 8, 2, 0),
    "Physician": (0, 0, 0, 0, 0, 0, 14, 38),
    "Teacher": (0, 0, 1, 1, 3, 22, 22, 26),
    "Accountant": (0, 0, 3, 4, 9, 16, 12, 3),
    "Clerk": (4, 10, 26, 18, 16, 16, 9, 3),
    "Engineer": (0, 0, 0, 1, 12, 14, 20, 20),
    "Programmer": (0, 1, 5, 3, 8, 14, 16, 10),
    "Electrician": (1, 4, 4, 14, 16, 1, 0, 0),
    "Carpenter": (4, 8, 5, 14, 9, 1, 0, 0),
    "Driver": (18, 20, 12, 9, 5, 2, 1, 0),
    "Cook": (16, 15, 11, 9, 4, 2, 1, 0),
    "Shop assistant": (20, 22, 22, 12, 5, 4, 2, 0),
    "Cleaner": (37, 19, 7, 3, 1, 0.5, 0.2, 0),
}
_BY_SEX = {
    "Nurse": (1.6, 0.7),
    "Teacher": (1.25, 0.8),
    "Clerk": (1.3, 0.8),
    "Engineer": (0.6, 1.3),
    "Programmer": (0.6, 1.3),
    "Electrician": (0.35, 1.4),
    "Carpenter": (0.35, 1.4),
    "Driver": (0.5, 1.4),
    "Shop assistant": (1.3, 0.8),
    "Cleaner": (1.4, 0.7),
}
_STATUS = {
    "Employed": (25, 40, 62, 87, 94, 94.5, 93, 78, 50, 12, 3, 0),
    "Student": (68, 53, 31, 7, 1, 0.5, 0, 0, 0, 0, 0, 0),
    "Jobseeker": (7, 7, 7, 6, 5, 5, 5, 5, 3, 0, 0, 0),
    "Retired": (0, 0, 0, 0, 0, 0, 2, 17, 47, 88, 97, 100),
}
# The less schooling, the harder to find work.
_STATUS_BY_EDUCATION = {
    "Student": (0.3, 0.9, 1.3, 0.6, 0.6, 1.0, 0.3, 0.2),
    "Jobseeker": (2.4, 1.8, 1.1, 0.9, 0.7, 0.6, 0.5, 0.4),
}

# Whole currency units a year.
_PAY = {
    "Nurse": 39_000,
    "Physician": 88_000,
    "Teacher": 47_000,
    "Accountant": 50_000,
    "Clerk": 36_000,
    "Engineer": 60_000,
    "Programmer": 58_000,
    "Electrician": 41_000,
    "Carpenter": 37_000,
    "Driver": 33_000,
    "Cook": 27_500,
    "Shop assistant": 26_500,
    "Cleaner": 22_500,
    "Student": 8_500,
    "Jobseeker": 12_500,
    "Retired": 21_000,
}
OCCUPATIONS: Final = tuple(_PAY)
_EDUCATION_PAYS = np.array((0.85, 0.90, 0.96, 1.0, 1.06, 1.12, 1.22, 1.34))
_AGE_PAYS = curve((18, 25, 35, 50, 60, 70, 96), (0.62, 0.82, 1.0, 1.14, 1.12, 0.9, 0.8))
_SPREAD = 0.27

_JOB_AT = np.array(list(_JOBS.values()), dtype=np.float64).T
_JOB_BY_SEX = factors(_BY_SEX, tuple(_JOBS))
_STATUS_AT = curves((18, 20, 23, 27, 32, 40, 54, 60, 63, 66, 70, 76), _STATUS)
_STATUS_BY = factors(_STATUS_BY_EDUCATION, tuple(_STATUS), n_factors=8)
_NOT_EMPLOYED = np.array([-1, *(OCCUPATIONS.index(status) for status in list(_STATUS)[1:])])


def occupations(draws: dict[str, Floats], age: Places, sex: Places, education: Places) -> Places:
    """Place of each person in `OCCUPATIONS`: a job for the employed, else what keeps them from one."""
    status = pick_each(draws["status"], _STATUS_AT[age] * _STATUS_BY[education])
    job = pick_each(draws["job"], _JOB_AT[education] * _JOB_BY_SEX[sex])
    place: Places = np.where(status == 0, job, _NOT_EMPLOYED[status])
    return place


def incomes(draws: dict[str, Floats], age: Places, education: Places, occupation: Places, local: Floats) -> Places:
    """Whole currency units a year: pay of the occupation, schooling, age and region, with log-normal noise."""
    pay = np.array(list(_PAY.values()), dtype=np.float64)[occupation]
    with_age = np.where(occupation < len(_JOBS), _AGE_PAYS[age], 1.0)
    noise = np.exp(_SPREAD * normal(draws["income"]))
    income: Places = np.rint(pay * _EDUCATION_PAYS[education] * with_age * local * noise).astype(np.int64)
    return income
