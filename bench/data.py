"""The real tables the benchmarks run on: `SHOAL_DATA`, or `shared/data` beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")
QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
KDD_QUASI = (
    "age", "class_of_worker", "education", "marital_stat", "major_occupation_code", "race", "sex",
    "country_of_birth_self",
)  # fmt: skip


SEVEN = ("age", "workclass", "education", "marital-status", "race", "sex", "occupation")
"""Seven attributes of Adult that bucketization and slicing are tried on, the sensitive one last."""
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
"""Those of all fifteen that are numbers."""


def whole_adult():
    """The 45,222 complete rows of both parts of Adult, all fifteen attributes; numbers as numbers, the rest text."""
    import polars as pl

    frame = pl.read_csv(DATA / "adult" / "adult.csv.gz", infer_schema=False, null_values="?").drop_nulls()
    return frame.with_columns(pl.col(NUMBERS).cast(pl.Int64))


def occupation_schema(names, *, trees: bool):
    """Occupation sensitive, the other named attributes quasi-identifiers, with or without their hierarchies."""
    import shoal

    folder = DATA / "adult" / "hierarchies"
    quasi = {}
    for name in names:
        tree = folder / f"{name}.csv"
        if name in NUMBERS:
            quasi[name] = shoal.Numeric()
        elif name != "occupation":
            quasi[name] = shoal.Nominal(shoal.Hierarchy.from_csv(tree) if trees and tree.exists() else None)
    return shoal.Schema(quasi=quasi, sensitive={"occupation": shoal.Nominal()}, rest="drop")


def adult():
    """The 30,162 complete rows of Adult's training part; age a number, the rest text."""
    import polars as pl

    frame = pl.read_csv(DATA / "adult" / "adult.csv.gz", infer_schema=False, null_values="?")
    return frame.head(32_561).drop_nulls().with_columns(pl.col("age").cast(pl.Int64))


def adult_schema(*, trees: bool):
    """The eight usual quasi-identifiers; age a number, the others with or without their hierarchies."""
    import shoal

    folder = DATA / "adult" / "hierarchies"
    kinds = {
        name: shoal.Nominal(shoal.Hierarchy.from_csv(folder / f"{name}.csv") if trees else None) for name in QUASI[1:]
    }
    return shoal.Schema(quasi={"age": shoal.Numeric(), **kinds}, sensitive=["income"], rest="drop")


def published(rows: int):
    """A published table: eight quasi-identifiers in classes of ten rows or so, and a sensitive column of 20 values."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    n_classes = rows // 10
    labels = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
    width = int(np.ceil(n_classes ** (1 / 8))) + 1
    cells = pl.Series([f"[{10 * digit}, {10 * digit + 9}]" for digit in range(width)])
    columns = {f"q{place}": cells.gather(labels // width**place % width) for place in range(8)}
    weights = 1 / np.arange(1, 21)
    values = pl.Series([f"v{value:02d}" for value in range(20)])
    columns["s"] = values.gather(rng.choice(20, rows, p=weights / weights.sum()))
    return pl.DataFrame(columns)[rng.permutation(rows)]


def census():
    """The 1,080 rows of CASC Census, thirteen numbers each."""
    import polars as pl

    return pl.read_csv(DATA / "casc" / "census.csv")


def kdd():
    """The 299,285 rows of Census-Income (KDD), missing cells kept."""
    import polars as pl

    file = DATA / "census-income-kdd" / "census_income_kdd.csv.gz"
    return pl.read_csv(file, columns=[*KDD_QUASI, "income_gt_50k"], null_values="?", schema_overrides={"age": pl.Int64})


def kdd_schema():
    """The columns of the same meaning as Adult's eight, without hierarchies."""
    import shoal

    kinds = {name: shoal.Numeric() if name == "age" else shoal.Nominal() for name in KDD_QUASI}
    return shoal.Schema(quasi=kinds, sensitive=["income_gt_50k"])
