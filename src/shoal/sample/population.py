"""The table of invented people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.errors import ParameterError, Problems
from shoal.sample import health, life, names, work
from shoal.sample.draws import Floats, Places, draw
from shoal.sample.trees import EDUCATION_ORDER
from shoal.spec import Whole

_MISSING = {"postcode": 0.010, "education": 0.015, "occupation": 0.020}
"""Share of the cells nobody filled in."""


def people(n: int = 5000, seed: int = 1) -> pl.DataFrame:
    """Invent people whose age, schooling, work, income and health hang together as they do in life.

    The same seed gives the same people: the first ten of a thousand are the ten one gets by asking for ten.

    Parameters
    ----------
    n
        How many.
    seed
        Where the stream of random numbers begins.

    Returns
    -------
    polars.DataFrame
        Columns name, birth_date, age (on 1 January 2026), sex, postcode, education, occupation, marital_status,
        income, disease and choice (1 to 3: how much protection the person asks for). About one cell in a hundred of
        postcode, education and occupation is missing.

    Examples
    --------
    >>> people(3).select("age", "sex", "disease").shape
    (3, 3)
    """
    _check(n, seed)
    draws = draw(n, seed)
    birth, age = life.births(draws)
    sex = life.sexes(draws, age)
    home = life.homes(draws)
    education = life.educations(draws, age)
    occupation = work.occupations(draws, age, sex, education)
    disease = health.diseases(draws, age, sex, occupation)
    return pl.DataFrame(
        [
            names.full_names(draws, sex).alias("name"),
            pl.Series("birth_date", birth).dt.to_string("%Y-%m-%d"),
            pl.Series("age", age),
            _texts("sex", life.SEXES, sex, draws),
            _texts("postcode", life.POSTCODES, home, draws),
            _texts("education", EDUCATION_ORDER, education, draws),
            _texts("occupation", work.OCCUPATIONS, occupation, draws),
            _texts("marital_status", life.MARITAL_STATUSES, life.marriages(draws, age, sex), draws),
            pl.Series("income", work.incomes(draws, age, education, occupation, life.REGIONAL_PAY[home])),
            _texts("disease", health.DISEASES, disease, draws),
            pl.Series("choice", health.choices(draws, disease)),
        ]
    )


def _check(n: object, seed: object) -> None:
    problems = Problems()
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if complaint := Whole(least).complaint(value):
            problems.add(f"people({name}=)", complaint)
    problems.raise_if_any(ParameterError)


def _texts(column: str, values: Sequence[str], places: Places, draws: dict[str, Floats]) -> pl.Series:
    """Texts at the given places, with the holes of a column that has some."""
    texts = pl.Series(column, values, dtype=pl.String).gather(places)
    if column not in _MISSING:
        return texts
    holes = np.flatnonzero(draws[f"{column} missing"] < _MISSING[column])
    return texts.scatter(holes, None)
