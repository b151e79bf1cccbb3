"""Slicing from end to end: the worked example, the corners, what is published, and what must be refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from shoal.measure.candidates import of_release
from shoal.measure.membership import membership
from shoal.methods.groups import Groups
from shoal.table.prepare import prepare
from shoal.testing import sensitive_tables, tables
from support.pairwise import examples, pairwise
from support.slicing_example import ROWS, SCHEMA
from twins import slices as twin

TWO = {"Age": 1, "Sex": 1, "Zip": 2, "Disease": 2}
EACH = {"Age": 1, "Sex": 2, "Zip": 3, "Disease": 4}
TWO_BUCKETS = [0, 0, 0, 0, 1, 1, 1, 1]


def sliced(groups, l=2, frame=ROWS, schema=SCHEMA, publish=None, **more):  # noqa: E741
    return shoal.anonymize(frame, schema, shoal.Slicing(l=l, groups=groups, **more), publish=publish, seed=0)


def reached(release):
    """What the tables alone show to be reached, and what the holder noted: for everybody in the table."""
    public, private = release.manifest.achieved, release.receipt.achieved
    assert {key.split(":")[0] for key in public} == {"bucket_size", "slice_l_every"}
    assert {key.split(":")[0] for key in private} == {"slice_l"}
    return public | private


def membership_of(release, original):
    return membership(of_release(release.frames, release.manifest, original))


def check_rows(release, frame):
    """The lines of every slice in a bucket are those of the rows that have its label, whatever their order."""
    layout = release.manifest.layout
    shown = twin.buckets_of(release.frames, layout)
    in_bucket: dict[tuple, list[int]] = {}
    labels = release.labels.tolist()
    for label in set(labels) - {-1}:
        rows = frame.filter(pl.Series(release.labels == label))
        content = tuple(tuple(sorted(map(str, rows.select(one.attributes).rows()))) for one in layout.slices)
        in_bucket.setdefault(content, []).append(label)
    read: dict[tuple, list[int]] = {}
    for bucket, slices in shown.items():
        content = tuple(tuple(sorted(str(tuple(line.values())) for line in lines)) for lines in slices)
        read.setdefault(content, []).append(bucket)
    assert {key: len(buckets) for key, buckets in read.items()} == {key: len(found) for key, found in in_bucket.items()}
    assert sorted(shown) == list(range(1, len(shown) + 1))


# -- the worked example ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "candidates"), [(TWO, 28), (EACH, 72), ({"Age": 1, "Sex": 1, "Zip": 1, "Disease": 2}, 24)]
)
def test_the_worked_example(groups, candidates):
    release = sliced(groups, k=4)
    assert release.labels.tolist() == TWO_BUCKETS
    assert release.manifest.achieved == {"bucket_size": 4, "slice_l_every:Disease": 2.0}
    assert release.receipt.achieved == {"slice_l:Disease": 2.0}
    found = membership_of(release, ROWS)
    assert (found.originals, found.candidates, found.fakes) == (8, candidates, candidates - 8)
    check_rows(release, ROWS)


def test_equality_with_one_over_l_is_allowed_and_more_is_refused():
    assert sliced(TWO).verify(original=ROWS).achieved["slice_l:Disease"] == 2.0
    message = (
        r"Slicing\(l=\): column 'Disease': the most frequent value is in 3 of 8 rows \(37.5%\), l = 3 allows 33.3%; "
        r"use an l of at most 2"
    )
    with pytest.raises(shoal.InfeasibleError, match=message) as refused:
        sliced(TWO, l=3)
    assert "dyspepsia" not in str(refused.value)


@pytest.mark.parametrize(("columns", "n_slices"), [(1, 1), (2, 2), (3, 3), (4, 4)])
def test_attributes_are_gathered_into_as_many_columns_as_asked_for(columns, n_slices):
    frame = pl.concat([ROWS] * 3).with_columns(pl.Series("Disease", [f"v{i % 12}" for i in range(24)]))
    try:
        release = shoal.anonymize(frame, SCHEMA, shoal.Slicing(l=2, columns=columns), seed=0)
    except shoal.InfeasibleError:
        assert columns == 1
        return
    slices = release.manifest.layout.slices
    assert len(slices) == n_slices
    assert Counter(name for one in slices for name in one.attributes) == Counter(frame.columns)
    assert release.receipt.notes["slicing_biased_pairs"] > 0  # 24 rows are too few for so many categories
    check_rows(release, frame)


def test_the_sensitive_attribute_has_a_column_of_its_own_where_asked_for():
    for columns in (None, 2, 3):
        release = shoal.anonymize(ROWS, SCHEMA, shoal.Slicing(l=2, sensitive_apart=True, columns=columns), seed=0)
        slices = release.manifest.layout.slices
        assert slices[-1].attributes == ("Disease",)
        assert len(slices) == (columns or len(slices))


# -- corners -----------------------------------------------------------------------------------------------------


def test_everything_in_one_column_is_plain_publication_and_refused():
    message = "even with all rows in one bucket, a value has a probability of 1; l = 2 allows 0.5"
    with pytest.raises(shoal.InfeasibleError, match=message) as refused:
        sliced(dict.fromkeys(ROWS.columns, 1))
    assert "generalise columns with p = 2, or put the sensitive attribute into a column of its own" in str(
        refused.value
    )
    assert "use an l of at most" not in str(refused.value)


def test_everything_in_one_column_is_kept_where_duplicates_differ():
    doubled = pl.concat([ROWS, ROWS.with_columns(pl.Series("Disease", list("abcdefgh")))])
    release = sliced(dict.fromkeys(ROWS.columns, 1), frame=doubled)
    assert reached(release)["slice_l:Disease"] == 2.0
    assert membership_of(release, doubled).fakes == 0


@settings(max_examples=examples(14))
@given(st.lists(st.sampled_from("pqrst"), min_size=4, max_size=24), st.integers(2, 3), st.randoms())
def test_two_columns_are_bucketization(values, l, random):  # noqa: E741
    """Everybody fits one bucket alone, so the chance of a value is its share there: what is promised of buckets."""
    assume(max(Counter(values).values()) * l <= len(values))
    ages = random.sample(range(100), len(values))
    frame = pl.DataFrame({"a": ages, "b": [age % 7 for age in ages], "s": values})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive={"s": shoal.Nominal()})
    release = sliced({"a": 1, "b": 1, "s": 2}, l, frame, schema)
    shown = shoal.Buckets().publish(prepare(frame, schema), Groups(release.labels)).tables["sensitive"]
    in_bucket: dict[int, Counter] = {}
    for bucket, value, count in shown.rows():
        in_bucket.setdefault(bucket, Counter())[value] += count
    alpha = max(Fraction(max(counts.values()), counts.total()) for counts in in_bucket.values())
    assert reached(release)["slice_l:s"] == pytest.approx(float(1 / alpha), rel=1e-12)
    assert alpha <= Fraction(1, l)
    assert shoal.anonymize(frame, schema, shoal.Anatomy(l=l)).manifest.achieved["alpha:s"] <= 1 / l + 1e-12


def test_one_attribute_per_column_leaves_only_the_histograms_of_buckets():
    release = sliced(EACH, k=4)
    buckets = twin.buckets_of(release.frames, release.manifest.layout)
    assert {max(Counter(line["Disease"] for line in slices[3]).values()) for slices in buckets.values()} == {2}
    for person in ROWS.select("Age", "Sex", "Zip").to_dicts():
        assert max(twin.shares(person, buckets, "Disease").values()) == Fraction(1, 2)


# -- what is published -------------------------------------------------------------------------------------------


def hospital(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "name": [f"person {row}" for row in range(n_rows)],
            "age": rng.integers(20, 60, n_rows),
            "town": rng.choice(["Bo", "Å, B", '"q"', "007"], n_rows),
            "weight": rng.integers(80, 200, n_rows) / 2,
            "note": rng.choice(["x", "y", "z"], n_rows),
            "disease": rng.choice(["a", "b", "c", "d", "e", "f"], n_rows),
            "stage": rng.choice(["mild", "bad", "worse", "worst"], n_rows),
        }
    )
    hole = pl.Series(rng.random(n_rows) < 0.15)
    return frame.with_columns(
        pl.when(hole).then(None).otherwise(pl.col("age")).alias("age"),
        pl.when(hole.reverse()).then(None).otherwise(pl.col("town")).alias("town"),
        pl.when(hole.shift(1, fill_value=False)).then(None).otherwise(pl.col("disease")).alias("disease"),
    )


HOSPITAL = shoal.Schema(
    identifying=["name"],
    quasi={"age": shoal.Numeric(), "town": shoal.Nominal(), "weight": shoal.Numeric()},
    neutral=["note"],
    sensitive={"disease": shoal.Nominal(), "stage": shoal.Ordinal(["mild", "bad", "worse", "worst"])},
)
SLICINGS = [
    {"age": 1, "town": 2, "weight": 1, "note": 2, "disease": 3, "stage": 3},
    {"age": 1, "town": 1, "weight": 2, "note": 1, "disease": 3, "stage": 4},
    {"age": 1, "town": 2, "weight": 3, "note": 4, "disease": 5, "stage": 6},
]


@pytest.mark.parametrize(("groups", "shape", "format"), pairwise(SLICINGS, ["table", "files"], ["csv", "parquet"]))
def test_it_is_written_read_back_and_verified(groups, shape, format, tmp_path, monkeypatch):  # noqa: A002
    monkeypatch.setattr("shoal.report.columns.picture", lambda phi2, columns: {"columns.svg": "drawn"})
    frame = hospital()
    release = sliced(groups, 2, frame, HOSPITAL, shoal.Slices(shape=shape))
    n_slices = max(groups.values())
    names = ["table"] if shape == "table" else [f"slice_{place}" for place in range(1, n_slices + 1)]
    assert list(release.frames) == names
    assert set(release.receipt.achieved) == {"slice_l:disease", "slice_l:stage"}
    assert set(release.manifest.achieved) == {"bucket_size", "slice_l_every:disease", "slice_l_every:stage"}
    assert "name" not in {name for table in release.frames.values() for name in table.columns}
    check_rows(release, frame)
    folder = release.write(tmp_path / "out", format=format)
    assert {path.name for path in folder.iterdir()} == {f"{name}.{format}" for name in names} | {"manifest.json"}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "out.receipt.json"}
    assert release.pictures() == {"columns.svg": "drawn"}
    back = shoal.read_release(folder, tmp_path / "out.receipt.json")
    for name, table in release.frames.items():
        assert back.frames[name].equals(table), name
    assert back.verify(original=frame).achieved == reached(release)
    assert back.measure() == release.measure()
    assert shoal.read_release(folder).measure() == release.manifest.measures


@pytest.mark.parametrize("shape", ["table", "files"])
def test_same_bytes_from_any_frame_and_with_any_seed(shape, tmp_path):
    """Nothing is drawn: how buckets are cut and how slices stand side by side is what the cells make of it."""
    frame, publish, written = hospital(), shoal.Slices(shape=shape), []
    for place, (given_frame, seed) in enumerate(
        [(frame, 5), (frame.to_pandas(), 5), (frame.to_arrow(), 5), (frame.lazy(), 5), (frame, 6)]
    ):
        method = shoal.Slicing(l=2, groups=SLICINGS[1])
        release = shoal.anonymize(given_frame, HOSPITAL, method, publish=publish, seed=seed)
        folder = release.write(tmp_path / str(place))
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    first, *others = written
    assert all(other == first for other in others)
    assert len(first) == len(release.frames) + 1


def test_cells_of_different_slices_stand_side_by_side_whoever_they_belong_to():
    """In one bucket of sixty, the same cells come out whoever has which: few rows stay as they were."""
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive=["s"])
    stayed, tables = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = [f"v{row % 30}" for row in rng.permutation(60)]
        frame = pl.DataFrame({"a": range(60), "b": rng.permutation(60), "s": values})
        method = shoal.Slicing(l=2, k=60, groups={"a": 1, "b": 2, "s": 3})
        table = shoal.anonymize(frame, schema, method, seed=seed).frames["table"]
        tables.append(table)
        assert table["bucket"].unique().to_list() == [1]
        assert table["a"].to_list() != sorted(table["a"])
        stayed.append(len(set(frame.select("a", "b").rows()) & set(table.select("a", "b").rows())))
    assert all(table.equals(tables[0]) for table in tables)
    assert sum(stayed) / 8 < 3  # one on average; a variance of one each: more than five standard deviations


def test_the_order_of_the_input_is_not_in_the_release():
    frame = hospital()
    one, other = (sliced(SLICINGS[0], 2, given_frame, HOSPITAL) for given_frame in (frame, frame.reverse()))
    assert one.labels.tolist() != other.labels.tolist()
    assert one.frames["table"].equals(other.frames["table"])


def test_neutral_columns_are_published_and_nobody_is_matched_by_them():
    frame = hospital().with_columns(pl.col("name").alias("note"))
    release = sliced({**SLICINGS[0], "note": 3}, 2, frame, HOSPITAL)
    assert Counter(release.frames["table"]["note"]) == Counter(frame["note"])
    # Everybody's note stands beside the disease, and an adversary who knew it would know the disease.
    assert reached(release)["slice_l:disease"] >= 2


def test_several_sensitive_attributes_are_all_protected():
    frame = hospital(80)
    release = sliced(SLICINGS[1], 3, frame, HOSPITAL)
    buckets = twin.buckets_of(release.frames, release.manifest.layout)
    people = frame.select("age", "town", "weight").to_dicts()
    for name in ("disease", "stage"):
        worst = twin.largest(people, buckets, name)
        assert worst <= Fraction(1, 3)
        assert reached(release)[f"slice_l:{name}"] == pytest.approx(float(1 / worst), rel=1e-12)


def test_rows_with_missing_cells_are_dropped_where_asked_for_and_counted():
    frame = hospital()
    method = shoal.Slicing(l=2, groups=SLICINGS[0])
    release = shoal.anonymize(frame, HOSPITAL, method, missing="drop")
    kept = frame.drop_nulls(["age", "town", "weight"])
    assert release.manifest.rows.published == kept.height < frame.height
    assert release.manifest.rows.left_out == frame.height - kept.height
    assert release.receipt.rows.dropped == {"missing quasi-identifier": frame.height - kept.height}
    check_rows(release, frame)
    assert release.verify(original=frame).achieved == reached(release)


# -- columns generalised until combinations occur often ----------------------------------------------------------

GENERAL = shoal.Schema(
    quasi={
        "age": shoal.Numeric(),
        "grade": shoal.Ordinal(["low", "middle", "high"]),
        "town": shoal.Nominal(),
        "code": shoal.Nominal(shoal.Prefixes(keep=(2, 1))),
    },
    sensitive={"disease": shoal.Nominal()},
)


def general(n_rows, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 40, n_rows),
            "grade": rng.choice(["low", "middle", "high"], n_rows),
            "town": rng.choice(["Bo", "Cà Mau", "Y"], n_rows),
            "code": [f"{number:03d}" for number in rng.integers(0, 130, n_rows)],
            "disease": rng.choice(list("abcdefgh"), n_rows),
        }
    )


APART_TWO_ONE = [
    {"age": 1, "grade": 1, "town": 2, "code": 2, "disease": 3},
    {"age": 1, "grade": 2, "town": 2, "code": 1, "disease": 2},
    {"age": 1, "grade": 1, "town": 1, "code": 1, "disease": 1},
]


@pytest.mark.parametrize(("groups", "seed", "p"), pairwise(APART_TWO_ONE, range(2), [2, 5]))
def test_every_combination_in_a_column_occurs_as_often_as_promised(groups, seed, p, tmp_path):
    frame = general(120, seed)
    release = sliced(groups, 2, frame, GENERAL, p=p)
    table, quasi = release.frames["table"], list(GENERAL.quasi)
    for one in release.manifest.layout.slices:
        names = [name for name in one.attributes if name in quasi]
        counts = Counter(table.select(names).rows()) if names else Counter({(): p})
        assert min(counts.values()) >= p
        if names and "disease" in one.attributes:
            for cells in counts:
                beside = Counter(row[-1] for row in table.select(*names, "disease").rows() if row[:-1] == cells)
                assert max(beside.values()) * 2 <= beside.total()
    assert Counter(table["disease"]) == Counter(frame["disease"])
    back = shoal.read_release(release.write(tmp_path / "out"))
    assert back.verify(original=frame, schema=GENERAL).achieved == reached(release)


def test_missing_values_cannot_be_generalised_within_a_column():
    message = "(?s)2 problems:.*column 'age': has missing values, which p cannot generalise.*column 'town'"
    with pytest.raises(shoal.SchemaError, match=message):
        sliced(SLICINGS[0], 2, hospital(), HOSPITAL, p=2)
    release = shoal.anonymize(hospital(), HOSPITAL, shoal.Slicing(l=2, groups=SLICINGS[0], p=2), missing="drop")
    assert min(Counter(release.frames["table"].select("age", "weight").rows()).values()) >= 2


@pytest.mark.parametrize("seed", range(4))
def test_numbers_and_orders_with_a_hierarchy_are_generalised_along_it(seed):
    """Nodes over both sides of a median would cover each other: then nobody knows which combination is whose."""
    rng = np.random.default_rng(seed)
    grades, levels = ["low", "fair", "good", "best"], {"weak": ["low", "fair"], "strong": ["good", "best"]}
    kinds = {
        "age": shoal.Numeric(shoal.Intervals([5, 10])),
        "score": shoal.Numeric(shoal.Intervals([1, 2])),
        "grade": shoal.Ordinal(grades, hierarchy=shoal.Hierarchy.from_tree(levels)),
    }
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 30, 60),
            "score": rng.integers(0, 12, 60) / 2,
            "grade": rng.choice(grades, 60),
            "disease": rng.choice(list("uvwxyz"), 60),
        }
    )
    schema = shoal.Schema(quasi=kinds, sensitive=["disease"])
    release = sliced({"age": 1, "grade": 1, "score": 2, "disease": 3}, 2, frame, schema, p=3)
    shown = Counter(release.table.select("age", "grade").rows())
    assert min(shown.values()) >= 3
    assert len(shown) > 1
    trees = [prepare(frame, schema).hierarchy(name) for name in ("age", "grade")]
    for age, grade in frame.select(pl.col("age", "grade").cast(pl.String)).unique().rows():
        ways = [set(tree.path(value)) for tree, value in zip(trees, (age, grade), strict=True)]
        assert sum(all(cell in way for cell, way in zip(cells, ways, strict=True)) for cells in shown) == 1
    assert release.verify(original=frame, schema=schema).achieved["slice_l:disease"] >= 2


def test_a_hierarchy_that_is_built_of_the_values_has_a_place_for_everybody_in_the_table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {"age": rng.integers(0, 40, 60), "town": rng.choice(list("abcdefgh"), 60), "s": rng.choice(list("uvwxyz"), 60)}
    ).with_columns(pl.when(pl.col("age") == 7).then(None).otherwise("age").alias("age"))
    kinds = {"age": shoal.Numeric(shoal.Quantiles([8, 4, 2])), "town": shoal.Nominal(shoal.Grouping([2, 2]))}
    schema = shoal.Schema(quasi=kinds, sensitive=["s"])
    method = shoal.Slicing(l=2, groups={"age": 1, "town": 2, "s": 3}, p=4)
    release = shoal.anonymize(frame, schema, method, missing="drop", seed=0)
    assert set(release.table["age"]).isdisjoint(map(str, range(40)))
    back = shoal.read_release(release.write(tmp_path / "out"))
    assert (
        back.verify(original=frame, schema=schema).achieved["slice_l:s"] == release.receipt.achieved["slice_l:s"] >= 2
    )


def test_a_p_beyond_the_rows_is_refused():
    with pytest.raises(
        shoal.InfeasibleError, match=r"Slicing\(p=\): p = 9, but the table has 8 rows; use a p of at mo"
    ):
        sliced(TWO, p=9)


# -- an attribute in two columns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", ["age", "town", "note"])
def test_an_attribute_is_shown_by_two_columns_and_the_promise_holds_for_both_together(shared, tmp_path):
    frame = hospital(80).with_columns(pl.col("age") // 10)  # few ages: one that is rare would give its person away
    people, worst = frame.select("age", "town", "weight").to_dicts(), {}
    for shape in ("table", "files"):
        release = sliced(SLICINGS[1], 2, frame, HOSPITAL, shoal.Slices(shape=shape), overlap=shared)
        layout = release.manifest.layout
        shown = Counter(name for one in layout.slices for name in one.attributes)
        assert shown == {**dict.fromkeys(SLICINGS[1], 1), shared: 2}
        columns = [name for one in layout.slices for name in one.columns]
        assert len(set(columns)) == len(columns)
        check_rows(release, frame)
        buckets = twin.buckets_of(release.frames, layout)
        if not worst:
            joined = {key: twin.joined(slices) for key, slices in buckets.items()}
            worst = {name: twin.largest(people, joined, name) for name in ("disease", "stage")}
            in_table = as_counts(buckets)
        assert as_counts(buckets) == in_table  # so what the twin found of one holds for the other
        for name, chance in worst.items():
            assert chance <= Fraction(1, 2) + Fraction(1, 10**9)
            assert reached(release)[f"slice_l:{name}"] == pytest.approx(float(1 / chance), rel=1e-9)
        back = shoal.read_release(release.write(tmp_path / shape))
        assert back.verify(original=frame).achieved == reached(release)
        found = back.expected_counts(shared).rows()
        assert dict(found) == pytest.approx(dict(Counter(frame[shared].to_list())))


def as_counts(buckets):
    """The lines of every slice in a bucket, whatever their order."""
    return {
        key: [Counter(tuple(sorted(line.items(), key=str)) for line in lines) for lines in slices]
        for key, slices in buckets.items()
    }


def test_sharing_that_would_give_somebody_away_is_refused():
    frame = pl.DataFrame({"a": range(8), "b": [row % 2 for row in range(8)], "s": [f"v{row}" for row in range(8)]})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Numeric()}, sensitive=["s"])
    assert reached(sliced({"a": 1, "b": 1, "s": 2}, 2, frame, schema))["slice_l:s"] == 2
    message = r"Slicing\(overlap=\): with 'a' in two columns, a value has a probability of 1; l = 2 allows"
    with pytest.raises(shoal.InfeasibleError, match=message):
        sliced({"a": 1, "b": 1, "s": 2}, 2, frame, schema, overlap="a")
    with pytest.raises(shoal.ParameterError, match=r"Slicing\(overlap=\): "):
        shoal.Slicing(l=2, p=2, overlap="a")


# -- any table ---------------------------------------------------------------------------------------------------


def two_sensitive(case):
    """The table with `stage` and `income` sensitive alone: with all four, hardly any l can be kept."""
    schema = shoal.Schema(
        quasi=case.schema.quasi, neutral=["note"], rest="drop",
        sensitive={name: case.schema.sensitive[name] for name in ("stage", "income")},
    )  # fmt: skip
    return case.frame.select(*schema.quasi, "note", "stage", "income"), schema


def check_against_twin(release, frame, schema, l):  # noqa: E741
    buckets = twin.buckets_of(release.frames, release.manifest.layout)
    people = frame.select(list(schema.quasi)).to_dicts()
    for name in schema.sensitive:
        worst = twin.largest(people, buckets, name)
        assert worst <= Fraction(1, l) + Fraction(1, 10**9)
        assert reached(release)[f"slice_l:{name}"] == pytest.approx(float(1 / worst), rel=1e-9)


@settings(max_examples=examples(14))
@given(sensitive_tables(min_rows=8, max_rows=24), st.data())
def test_the_promise_is_that_of_the_twin(case, data):
    frame, schema = two_sensitive(case)
    for name in schema.sensitive:  # else there is no way to slice it
        assume(2 * max(Counter(frame[name].to_list()).values()) <= frame.height)
    groups = {name: data.draw(st.integers(1, 3), name) for name in (*schema.quasi, "note")}
    groups |= {name: data.draw(st.sampled_from([3, 4, 5, 5, 5]), name) for name in schema.sensitive}
    publish = shoal.Slices(shape=data.draw(st.sampled_from(["table", "files"])))
    try:
        release = sliced(groups, 2, frame, schema, publish)
    except shoal.InfeasibleError:
        reject()
    check_rows(release, frame)
    check_against_twin(release, frame, schema, 2)


@settings(max_examples=examples(14))
@given(tables(min_rows=10, max_rows=24, missing=False), st.integers(2, 4), st.data())
def test_generalised_columns_of_any_kind_are_read_back(case, p, data):
    """Trees that are ragged, orders, numbers: the checker finds the one combination that covers a person."""
    frame = case.frame.with_columns(pl.Series("disease", [f"v{row % 6}" for row in range(case.frame.height)]))
    groups = {name: data.draw(st.integers(1, 2), name) for name in (*case.schema.quasi, "note")}
    groups |= {"disease": data.draw(st.integers(1, 3), "disease")}
    try:
        release = sliced(groups, 2, frame, case.schema, p=p)
    except shoal.InfeasibleError:
        reject()
    for one in release.manifest.layout.slices:
        if names := [name for name in one.columns if name in case.schema.quasi]:
            assert min(Counter(release.frames["table"].select(names).rows()).values()) >= p
    assert release.verify(original=frame, schema=case.schema).achieved == reached(release)


# -- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("l", [1, 0, 2.5, "2", None])
def test_an_l_below_two_is_refused(l):  # noqa: E741
    with pytest.raises(shoal.ParameterError, match=r"Slicing\(l=\): needs a whole number of at least 2"):
        shoal.Slicing(l=l)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"columns": 5},
            r"Slicing\(columns=\): 5 columns, but the table has 4 attributes; use 1 to 4",
        ),
        (
            {"columns": 1, "sensitive_apart": True},
            r"1 column, but the table has 4 attributes; use 2 to 4",
        ),
        ({"groups": {**TWO, "Zap": 1}}, r"Slicing\(groups=\): 'Zap' is not a published column; did you mean 'Zip'\?"),
        (
            {"groups": {"Age": 1, "Disease": 2}},
            r"Slicing\(groups=\): has no entry for Sex, Zip; give the column of every",
        ),
        ({"overlap": "Agee"}, r"Slicing\(overlap=\): 'Agee' is not a published column; did you mean 'Age'\?"),
    ],
)
def test_attributes_that_do_not_fit_are_refused(more, message):
    with pytest.raises(shoal.ParameterError, match=message):
        shoal.anonymize(ROWS, SCHEMA, shoal.Slicing(l=2, **more))


def test_groups_leave_nothing_else_to_decide():
    with pytest.raises(shoal.ParameterError, match=r"Slicing\(apart=\): was renamed; use sensitive_apart instead"):
        shoal.Slicing(l=2, apart=True)
    for more in ({"columns": 2}, {"sensitive_apart": True}):
        with pytest.raises(
            shoal.ParameterError, match=r"Slicing\(groups=\): cannot be combined with columns or sensitive_apart"
        ):
            shoal.Slicing(l=2, groups=TWO, **more)
    assert hash(shoal.Slicing(l=2, groups=TWO)) == hash(shoal.Slicing(l=2, groups=dict(TWO)))


def test_too_few_rows_for_a_bucket_are_refused():
    with pytest.raises(shoal.InfeasibleError, match=r"Slicing\(k=\): the table has 8 rows, but a bucket needs 9"):
        sliced(TWO, k=9)
    with pytest.raises(shoal.InfeasibleError, match=r"Slicing\(l=\): the table has 8 rows, but a bucket needs 9"):
        sliced(TWO, l=9)


def test_a_table_without_sensitive_values_is_refused():
    schema = shoal.Schema(quasi={"Age": shoal.Numeric()}, rest="neutral")
    with pytest.raises(shoal.ParameterError, match="Slicing: the table has no sensitive column; give one the role"):
        shoal.anonymize(ROWS, schema, shoal.Slicing(l=2))


def test_a_constant_column_is_refused_where_attributes_are_gathered():
    frame = ROWS.with_columns(pl.lit("M").alias("Sex"))
    message = "column 'Sex': is constant, so it has no correlation with other columns; leave it out"
    with pytest.raises(shoal.SchemaError, match=message):
        shoal.anonymize(frame, SCHEMA, shoal.Slicing(l=2, columns=2))
    assert reached(sliced(TWO, frame=frame))["slice_l:Disease"] == 2.0


def test_a_column_of_distinct_values_is_brought_to_few_and_noted():
    frame = pl.concat([ROWS] * 10).with_columns(
        pl.Series("Age", range(80)), pl.Series("Disease", [f"v{row % 4}" for row in range(80)])
    )
    notes = shoal.anonymize(frame, SCHEMA, shoal.Slicing(l=2, columns=2, sensitive_apart=True)).receipt.notes
    assert notes["slicing_all_distinct"] == 1
    assert notes["slicing_biased_pairs"] > 0  # ten categories of age by four of zip need 200 rows
    few = frame.with_columns(pl.col("Age") // 40)
    notes = shoal.anonymize(few, SCHEMA, shoal.Slicing(l=2, columns=2, sensitive_apart=True)).receipt.notes
    assert notes["slicing_all_distinct"] == 0


def test_parts_that_do_not_go_together_are_refused_at_once():
    require = [shoal.KAnonymity(k=2), shoal.LDiversity("Disease", l=2)]
    parts = r"(?s)4 problems:.*publish=.*refine=.*require=.*require="
    with pytest.raises(shoal.ParameterError, match=parts) as refused:
        shoal.anonymize(
            ROWS, SCHEMA, shoal.Slicing(l=2), require=require, publish=shoal.Buckets(), refine=shoal.Refine()
        )
    for words in ("l-diversity cannot be kept by slicing", "the buckets of slicing cannot be shown by buckets"):
        assert words in str(refused.value)
    with pytest.raises(
        shoal.ParameterError, match="mondrian promises a k, and slices shows quasi-identifiers as they are"
    ):
        shoal.anonymize(ROWS, SCHEMA, shoal.Mondrian(k=2), publish=shoal.Slices())


def test_a_column_named_bucket_is_refused():
    frame = ROWS.rename({"Age": "bucket"})
    schema = shoal.Schema(quasi={"bucket": shoal.Numeric()}, sensitive=["Disease"], rest="neutral")
    with pytest.raises(shoal.SchemaError, match="bucket"):
        shoal.anonymize(frame, schema, shoal.Slicing(l=2, groups={"bucket": 1, "Sex": 1, "Zip": 1, "Disease": 2}))
