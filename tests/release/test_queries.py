"""What releases answer: expected counts against the mean over all tables, and tables that could have been the one."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from support.pairwise import examples
from twins import slices as twin

SCHEMA = shoal.Schema(
    quasi={"a": shoal.Nominal(), "b": shoal.Numeric()}, neutral=["n"], sensitive={"s": shoal.Nominal()}
)  # fmt: skip
NAMES = ("a", "b", "n", "s")
METHODS = [
    (shoal.Anatomy(l=2), None),
    (shoal.Slicing(l=2, groups={"a": 1, "b": 1, "n": 2, "s": 2}), shoal.Slices()),
    (shoal.Slicing(l=2, groups={"a": 1, "b": 2, "n": 1, "s": 3}), shoal.Slices(shape="files")),
    (shoal.Slicing(l=2, groups={"a": 1, "b": 2, "n": 2, "s": 3}, overlap="a"), shoal.Slices()),
    (shoal.Slicing(l=2, groups={"a": 1, "b": 2, "n": 3, "s": 4}), shoal.Slices()),
]
IDS = ["buckets", "two slices", "three files", "a shared attribute", "four slices"]


@st.composite
def frames(draw, max_rows=12):
    n_rows = draw(st.integers(2, max_rows))
    columns = {"a": ["x", "y", None], "b": [1, 2, 3, None], "n": ["m", "o"], "s": ["p", "q", "r", None]}
    dtypes = {"a": pl.String, "b": pl.Int64, "n": pl.String, "s": pl.String}
    cells = {
        name: draw(st.lists(st.sampled_from(some), min_size=n_rows, max_size=n_rows)) for name, some in columns.items()
    }
    return pl.DataFrame([pl.Series(name, column, dtype=dtypes[name]) for name, column in cells.items()])


def released(frame, method, publish=None):
    assume(2 * max(Counter(frame["s"].to_list()).values()) <= frame.height)  # else no l of two can be kept
    try:
        return shoal.anonymize(frame, SCHEMA, method, publish=publish, seed=0)
    except shoal.InfeasibleError:
        reject()


def answer(release, *names):
    """Expected counts by combination; each is named once."""
    answered = release.expected_counts(*names)
    found = {tuple(cells): count for *cells, count in answered.rows()}
    assert len(found) == answered.height
    assert answered.columns == [*names, "expected"]
    assert all(count > 0 for count in found.values())
    return found


def together(release):
    """Columns that are published side by side."""
    layout = release.manifest.layout
    if layout.shape == "buckets":
        return [("a", "b", "n"), ("s",)]
    return [one.attributes for one in layout.slices]


def parts_of(release):
    """What each bucket shows, part by part."""
    layout = release.manifest.layout
    if layout.shape == "slices":
        return twin.buckets_of(release.frames, layout)
    found: dict[int, list[list[dict[str, object]]]] = {}
    for line in release.frames["table"].to_dicts():
        found.setdefault(line.pop("bucket"), [[], []])[0].append(line)
    for line in release.frames["sensitive"].to_dicts():
        found[line.pop("bucket")][1].extend([line] * line.pop("count"))
    return found


@pytest.mark.parametrize(("method", "publish"), METHODS, ids=IDS)
@settings(max_examples=examples(6))
@given(frames())
def test_columns_that_stand_together_are_counted(method, publish, frame):
    release = released(frame, method, publish)
    side_by_side = together(release)
    for names in (*side_by_side, *(names[::-1] for names in side_by_side if len(names) > 1), *zip(NAMES, strict=True)):
        assert answer(release, *names) == Counter(frame.select(names).rows())


@pytest.mark.parametrize(("method", "publish"), METHODS[:4], ids=IDS[:4])
@settings(max_examples=examples(6))
@given(frames(max_rows=5))
def test_what_stands_apart_is_the_mean_over_all_ways_to_put_it_together(method, publish, frame):
    release = released(frame, method, publish)
    tables = list(twin.tables_of(parts_of(release)))
    for names in (("b", "s"), ("s", "a"), ("n", "s", "b"), NAMES):
        counts = Counter(
            tuple(row[name] for name in names) for table in tables for rows in table.values() for row in rows
        )
        expected = {cells: float(Fraction(count, len(tables))) for cells, count in counts.items()}
        assert answer(release, *names) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("method", "publish"), METHODS, ids=IDS)
@settings(max_examples=examples(4))
@given(frames())
def test_counts_add_up_to_the_rows_and_to_their_marginals(method, publish, frame):
    release = released(frame, method, publish)
    for names in (*combinations(NAMES, 2), *combinations(NAMES, 3)):
        found = answer(release, *names)
        assert sum(found.values()) == pytest.approx(frame.height, rel=1e-12)
        for place, name in enumerate(names):
            margin: dict[object, float] = {}
            for cells, count in found.items():
                margin[cells[place]] = margin.get(cells[place], 0) + count
            assert margin == pytest.approx(dict(Counter(frame[name].to_list())), rel=1e-12)


@pytest.mark.parametrize(
    "publish",
    [*(shoal.Generalize(shape=shape) for shape in ("text", "typed", "classes")), shoal.Aggregate(), shoal.Centres()],
    ids=str,
)  # fmt: skip
def test_releases_of_classes_answer_with_the_cells_they_show(publish):
    frame = pl.DataFrame({"a": list("xyxyxyxx"), "b": range(8), "n": ["m"] * 8, "s": list("pqrppqrp")})
    release = shoal.anonymize(frame, SCHEMA, shoal.Mondrian(k=2), publish=publish)
    assert answer(release, "s") == Counter(frame.select("s").rows())
    rows = release.frames["table"]
    if name := release.manifest.layout.class_table:
        rows = rows.join(release.frames[name], on="class")
    shown = release.manifest.layout.cell_columns
    for names in (shown, [*shown, "s"], ["s", *shown[:1]]):
        assert answer(release, *names) == Counter(rows.select(names).rows())
    plausible = release.plausible_table()
    assert Counter(plausible.select(*shown, "s").rows()) == Counter(rows.select(*shown, "s").rows())


def unique_rows(n_rows=40):
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], n_rows),
            "b": range(n_rows),
            "n": [f"note {row}" for row in range(n_rows)],
            "s": [f"v{row % 8}" for row in range(n_rows)],
        }
    )


@cache
def unique_release(place):
    """What one of the methods makes of rows that differ."""
    method, publish = METHODS[place]
    return shoal.anonymize(unique_rows(), SCHEMA, method, publish=publish, seed=0)


@pytest.mark.parametrize("place", range(len(METHODS)), ids=IDS)
def test_a_plausible_table_shows_what_every_bucket_shows(place):
    """Every `b` and every `n` is in one bucket: from it, rows are put back into their buckets."""
    frame, release = unique_rows(), unique_release(place)
    home = dict(zip(frame["b"], release.labels.tolist(), strict=True))
    table = release.plausible_table(seed=3)
    assert table.columns == ([*NAMES] if release.manifest.layout.shape == "buckets" else table.columns)
    assert set(table.columns) == set(NAMES)
    for names in together(release):
        drawn = Counter((home[b], *cells) for b, *cells in table.select(pl.col("b").alias("row"), *names).rows())
        given = Counter((home[b], *cells) for b, *cells in frame.select(pl.col("b").alias("row"), *names).rows())
        assert drawn == given
    assert table.equals(release.plausible_table(seed=3))
    other = release.plausible_table(seed=4)
    assert not table.sort("b").equals(other.sort("b"))
    assert table["b"].to_list() != sorted(table["b"])


def test_plausible_tables_have_the_expected_counts_on_average():
    release = shoal.anonymize(unique_rows(12), SCHEMA, shoal.Anatomy(l=4), seed=0)
    drawn = Counter(row for seed in range(600) for row in release.plausible_table(seed).select("b", "s").rows())
    expected = answer(release, "b", "s")
    assert set(drawn) == set(expected)
    for cells, count in expected.items():  # 600 draws of a share: four standard deviations
        assert abs(drawn[cells] / 600 - count) < 4 * (count * (1 - count) / 600) ** 0.5 + 1e-9


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("place", range(len(METHODS)), ids=IDS)
def test_a_release_that_was_read_back_answers_alike(place, format, tmp_path):  # noqa: A002
    release = unique_release(place)
    back = shoal.read_release(release.write(tmp_path / "out", format=format))
    for names in (("a", "s"), ("b",), ("n", "s")):
        assert back.expected_counts(*names).equals(release.expected_counts(*names))
    assert back.plausible_table(5).equals(release.plausible_table(5))


def test_answers_come_in_the_type_of_frame_that_was_given():
    frame = unique_rows()
    for given_frame in (frame.to_pandas(), frame.to_arrow()):
        release = shoal.anonymize(given_frame, SCHEMA, shoal.Anatomy(l=2), seed=0)
        assert isinstance(release.expected_counts("a", "s"), type(given_frame))
        assert isinstance(release.plausible_table(), type(given_frame))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "columns: none is given; name some of a, b, n, s"),
        (("a", "ss"), r"columns: 'ss' is not published; did you mean 's'\?"),
        (("bucket",), "columns: 'bucket' is not published"),
        (("a", "s", "a"), "columns: a column is named twice; name each once"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_questions_that_cannot_be_answered(names, message, place):
    with pytest.raises(shoal.ParameterError, match=message):
        unique_release(place).expected_counts(*names)


def test_a_question_that_is_too_large_is_refused(monkeypatch):
    release = unique_release(4)
    monkeypatch.setattr("shoal.release.queries.MOST_LINES", 20)
    with pytest.raises(shoal.ParameterError, match="needs more than 20 combinations within buckets"):
        release.expected_counts("b", "s")
