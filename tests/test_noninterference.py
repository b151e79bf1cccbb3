"""A release says nothing but its tables: inputs that lead to equal tables lead to equal bytes in the whole directory.

The groups that a method found are carried over to other inputs (other row order, other suppressed and dropped rows,
other identifying and unpublished columns, another seed), and everything after them runs as it does for anybody.
"""

from __future__ import annotations

import itertools
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.methods.m_invariance import Arrangement, MInvariance
from shoal.publish import PUBLISHERS as EVERY_PUBLISHER
from shoal.table.prepare import prepare
from shoal.testing import variants
from support.pairwise import ALL, pairwise
from support.registered import K_METHODS

ROWS = 48
PEOPLE = np.random.default_rng(11)
BASE = pl.DataFrame(
    {
        "name": [f"person {row}" for row in range(ROWS)],
        "age": PEOPLE.integers(20, 80, ROWS),
        "weight": PEOPLE.normal(70, 9, ROWS).round(1),
        "zip": [f"47{row % 4}0{row % 3}" for row in range(ROWS)],
        "grade": [("low", "middle", "high")[row % 3] for row in range(ROWS)],
        "town": [("Ada", "Bo", "Cy", None)[row % 4] for row in range(ROWS)],
        "disease": [("flu", "cold", "ulcer", "cough")[row % 4] for row in range(ROWS)],
        "income": PEOPLE.integers(10, 90, ROWS),
        "note": [f"n{row % 5}" for row in range(ROWS)],
    }
)
QUASI = {
    "age": shoal.Numeric(),
    "weight": shoal.Numeric(),
    "zip": shoal.Nominal(shoal.Prefixes(keep=(3, 2))),
    "grade": shoal.Ordinal(["none", "low", "middle", "high", "highest"]),
    "town": shoal.Nominal(),
}
SENSITIVE = {"disease": shoal.Nominal(), "income": shoal.Numeric()}
SCHEMA = shoal.Schema(identifying=["name"], quasi=QUASI, sensitive=SENSITIVE, neutral=["note"], rest="drop")
NUMBERS = shoal.Schema(
    identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=SENSITIVE, neutral=["note"], rest="drop"
)
ONE_SENSITIVE = shoal.Schema(identifying=["name"], quasi=QUASI, sensitive={"disease": shoal.Nominal()}, rest="drop")
COMPLETE = BASE.with_columns(pl.col("town").fill_null("Dee"))
OUTLIERS = (
    {"age": [900, 950, 999], "weight": [0.5, 1.0, 2.0], "zip": ["99", "98", "9"], "grade": ["none"] * 3},
    {"age": [-7, -8, -9], "weight": [777.25, 1.0, 3.0], "zip": ["0123456789", "1", "2"], "grade": ["highest"] * 3},
)
"""People who are suppressed: their values are nobody else's, and differ between the inputs."""
CHOSEN = [
    shoal.Generalize(), shoal.Generalize("typed"), shoal.Generalize("classes", sets=True), shoal.Aggregate(),
    shoal.Aggregate(numeric="median", restore_variance=True), shoal.Centres(), shoal.Centres(centre="average"),
]  # fmt: skip
PUBLISHERS = CHOSEN + [
    variants(publisher)[0]
    for publisher in EVERY_PUBLISHER.values()
    if publisher.protects == "cells" and publisher not in map(type, CHOSEN)
]
ROW_METHODS = {
    name: method(k=3, delta=5.0) if name == "threshold-greedy" else variants(method, k=3)[0]
    for name, method in K_METHODS.items()
}
GROUPS = {"age": 1, "weight": 1, "zip": 2, "grade": 2, "town": 2, "disease": 3}
LINKS = [
    (shoal.Anatomy(l=2), shoal.Buckets()),
    (shoal.Slicing(l=2, groups=GROUPS), shoal.Slices()),
    (shoal.Slicing(l=2, groups=GROUPS), shoal.Slices(shape="files")),
    (shoal.Slicing(l=2, p=3, sensitive_apart=True, columns=3), shoal.Slices()),
    (shoal.Slicing(l=2, overlap="grade", sensitive_apart=True, columns=3), shoal.Slices()),
]
WAYS = [("csv", "keep"), ("parquet", "drop")]
IN_TURN = [
    (method, PUBLISHERS[(place + turn) % len(PUBLISHERS)], way)
    for turn, way in enumerate(WAYS)
    for place, method in enumerate(ROW_METHODS.values())
]
"""Every method and every publisher in both ways; groups are carried over, so that a method is little but its name."""
EQUAL_TABLES = [
    *(pairwise(ROW_METHODS.values(), PUBLISHERS, WAYS) if ALL else IN_TURN),
    *((*link, way) for link in LINKS for way in WAYS if way[1] == "drop" or not getattr(link[0], "p", None)),
]
"""Columns with p take no missing values."""
WHOLE_PATH = [
    *((shoal.Mondrian(k=3), publish) for publish in PUBLISHERS),  # which finds the same groups in any order
    *zip([*ROW_METHODS.values()] * (len(PUBLISHERS) if ALL else 1), itertools.cycle(PUBLISHERS), strict=False),
    *LINKS,
]


def with_others(base: pl.DataFrame, which: int, seed: int) -> pl.DataFrame:
    """The same people in another order, with others who are suppressed, or dropped for a missing age."""
    strange = pl.DataFrame(OUTLIERS[which]).with_columns(
        name=pl.Series([f"strange {which} {row}" for row in range(3)]),
        town=pl.Series([None, "Zed", "Ada"] if which else ["Xi", "Yo", None]),
        disease=pl.Series(["plague" if which else "gout"] * 3),
        income=pl.Series([10_000 + which, 5, 7]),
        note=pl.Series(["secret" if which else "hidden"] * 3),
    )
    missing = strange.head(1).with_columns(age=pl.lit(None, dtype=pl.Int64), name=pl.lit(f"dropped {which}"))
    others = [one.select(base.columns).cast(dict(base.schema)) for one in (strange, missing)]
    rows = pl.concat([base, *others])
    rows = rows.with_columns(pl.lit(f"unpublished {which}").alias(f"extra {which}"))
    return rows[np.random.default_rng(seed).permutation(rows.height)] if which else rows


def carry(monkeypatch, method, found: Groups, people: list[str]) -> None:
    """Have the method find the same groups again: people by their names, everybody else suppressed."""
    label = dict(zip(people, found.labels.tolist(), strict=True))

    def partition(self, task: Task, rng, progress=None) -> Groups:
        names = task.table.frame["name"].to_list()
        row_of = {name: row for row, name in enumerate(names)}
        labels = np.array([label.get(name, -1) for name in names], dtype=np.int64)
        centres = None if found.centres is None else np.array([row_of[people[row]] for row in found.centres])
        slices = found.slices
        if slices is not None:
            own = [None if one is None else dict(zip(people, one.tolist(), strict=True)) for one in slices.classes]
            classes = tuple(
                None if one is None else np.array([one.get(name, 0) for name in names], dtype=np.int64) for one in own
            )
            slices = type(slices)(slices.attributes, classes, slices.phi2, slices.columns)
        return Groups(labels, {"draws": int(rng.integers(1 << 30))}, centres, slices)

    monkeypatch.setattr(type(method), "partition", partition)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def schema_of(method) -> shoal.Schema:
    if method.name == "optimal-univariate":
        return NUMBERS
    return ONE_SENSITIVE if method.name in ("anatomy", "slicing") else SCHEMA


@pytest.mark.parametrize(("method", "publish", "way"), EQUAL_TABLES, ids=str)
def test_equal_tables_lead_to_equal_bytes(method, publish, way, tmp_path, monkeypatch):
    schema, (form, missing) = schema_of(method), way
    base = BASE if missing == "keep" else COMPLETE
    found = method.partition(Task.of(prepare(base, schema)), np.random.default_rng(3))
    carry(monkeypatch, method, found, base["name"].to_list())
    made = []
    for which, seed in ((0, 5), (1, 6)):
        frame = with_others(base, which, seed)
        strange_id = f"id {which}"
        other = shoal.Schema(
            identifying=["name", strange_id], quasi=schema.quasi, sensitive=schema.sensitive, neutral=schema.neutral,
            rest="drop",
        )  # fmt: skip
        frame = frame.with_columns(pl.Series(strange_id, range(frame.height)))
        release = shoal.anonymize(frame, other, method, publish=publish, suppress=0.2, missing=missing, seed=seed)
        assert release.manifest.rows.left_out == release.receipt.rows.left_out == 4
        assert bool(release.receipt.rows.dropped) == (missing == "drop")
        made.append(content(release.write(tmp_path / f"release {which}", format=form)))
    assert made[0] == made[1]


@pytest.mark.parametrize(("method", "publish"), WHOLE_PATH, ids=str)
def test_the_whole_path_tells_nothing_of_order_and_seed(method, publish, tmp_path):
    """Run as anybody would: where another order and another seed lead to the same rows, they lead to the same bytes."""
    schema, tables, made = schema_of(method), [], []
    for place in range(2):
        base = COMPLETE if getattr(method, "p", None) else BASE
        frame = base if not place else base[np.random.default_rng(8).permutation(ROWS)]
        release = shoal.anonymize(frame, schema, method, publish=publish, seed=place)
        tables.append({name: sorted(map(repr, table.rows())) for name, table in release.frames.items()})
        made.append(content(release.write(tmp_path / f"release {place}")))
    if tables[0] == tables[1]:
        assert made[0] == made[1]
    elif method.name == "mondrian":
        pytest.fail("Mondrian does not depend on the order of the rows")


LEFT_OUT_CELLS = {
    "whole numbers": ([1.0, 2.0], [50.0, 50.5]),
    "days": ([datetime(2020, 1, 1), datetime(2020, 1, 2)], [datetime(2020, 1, 5), datetime(2020, 1, 5, 13)]),
    "times": (
        [datetime(2020, 1, 1, 9), datetime(2020, 1, 2)],
        [datetime(2020, 1, 5), datetime(2020, 1, 5, 1, 1, 1, 7)],
    ),
    "decimals": ([Decimal("1.5"), Decimal("2")], [Decimal("1.5"), Decimal("0.001")]),
    "large numbers": ([1, 2], [7, 2**63 + 5]),
    "texts": (["a", "b"], ["a", "ä" * 40]),
    "truth values": ([True, False], [None, True]),
}
"""Cells of rows that are published, and two cells of a row that is not."""


@pytest.mark.parametrize(
    ("cells", "role", "way"),
    pairwise(LEFT_OUT_CELLS, ["sensitive", "neutral", "a category", "quasi"], ["dropped", "suppressed"]),
)
def test_rows_left_out_do_not_decide_how_others_are_written(cells, role, way, tmp_path, monkeypatch):
    shown, hidden = LEFT_OUT_CELLS[cells]
    schema = {
        "sensitive": shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["cell"], identifying=["name"]),
        "neutral": shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["cell"], identifying=["name"]),
        "a category": shoal.Schema(
            quasi={"age": shoal.Numeric()}, neutral={"cell": shoal.Nominal()}, identifying=["name"]
        ),
        "quasi": shoal.Schema(quasi={"age": shoal.Numeric(), "cell": shoal.Nominal()}, identifying=["name"]),
    }[role]
    names, made = list("abcdefgh"), []
    method = shoal.Mondrian(k=2)
    carry(monkeypatch, method, Groups(np.arange(8) // 4), names)
    for place, cell in enumerate(hidden):
        column = pl.Series([*shown * 4, cell], strict=False)
        age = [*range(20, 28), None if way == "dropped" else 30]
        frame = pl.DataFrame({"name": [*names, "i"], "age": age, "cell": column})
        release = shoal.anonymize(
            frame, schema, method, suppress=0.2, missing="drop" if way == "dropped" else "keep", seed=1
        )
        assert release.manifest.rows.left_out == 1
        made += [content(release.write(tmp_path / f"{place} {form}", format=form)) for form in ("csv", "parquet")]
    assert made[:2] == made[2:]


def test_repeated_releases_tell_nothing_of_order_seed_and_key(tmp_path, monkeypatch):
    schema = shoal.Schema(identifying=["name"], quasi=QUASI, sensitive={"disease": shoal.Nominal()}, rest="drop")
    method = MInvariance(m=2, id="name", column="disease")
    found: dict[str, int] = {}
    arrange = MInvariance.arrange

    def carried_over(self, task, codes, n_values, signatures, bound, rng, progress):
        made = arrange(self, task, codes, n_values, signatures, bound, np.random.default_rng(1), progress)
        names = task.table.frame["name"].to_list()
        if not found:
            found.update(zip(names, made.labels.tolist(), strict=True))
            found["\0kept"] = made  # type: ignore[assignment]
        kept = found["\0kept"]
        labels = np.array([found[name] for name in names])
        return Arrangement(labels, kept.signatures, kept.signature_of, kept.fake_class, kept.fake_code)

    monkeypatch.setattr(MInvariance, "arrange", carried_over)
    made = []
    for place in range(2):
        frame = BASE if not place else BASE[np.random.default_rng(8).permutation(ROWS)]
        released = shoal.republish(frame, schema, method, seed=place).release
        made.append(content(released.write(tmp_path / f"release {place}")))
    assert made[0] == made[1]


def test_a_leak_would_be_found(tmp_path, monkeypatch):
    """The test can fail: one byte beside the tables that depends on the seed is enough."""
    import shoal.pipeline as path

    plain = path.describe
    count = itertools.count(1)

    def leaking(published, asked, **facts):
        return plain(published, asked, **facts).model_copy(update={"shoal": f"0.0.{next(count)}"})

    monkeypatch.setattr(path, "describe", leaking)
    made = []
    for seed in range(2):
        release = shoal.anonymize(BASE, SCHEMA, shoal.Mondrian(k=3), seed=seed)
        made.append(content(release.write(tmp_path / f"release {seed}")))
    assert made[0] != made[1]
