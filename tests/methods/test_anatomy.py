"""Anatomy and its two tables: the worked example, a twin, what is promised, and what must be refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.engines.description import Asked, describe
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.publish.base import Published, arrange
from shoal.release.receipt import receipt_path
from shoal.table.prepare import prepare
from support.forging import InOrder, fingerprinted, mended
from support.pairwise import examples
from twins import anatomy as twin

DISEASES = ["pneumonia", "dyspepsia", "gastritis", "flu", "dyspepsia", "pneumonia", "flu", "bronchitis"]
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})


def frame_of(values, **more):
    series = pl.Series("disease", values, dtype=pl.String)
    return pl.DataFrame({"age": range(20, 20 + len(values)), **more}).with_columns(series)


def release_of(values, l, seed=7, **more):  # noqa: E741
    return shoal.anonymize(frame_of(values), SCHEMA, shoal.Anatomy(l=l), seed=seed, **more)


def first_taken(values, l):  # noqa: E741
    """The release where nothing is drawn: of every pile the first row is taken, and of several buckets the first."""
    method, publish = shoal.Anatomy(l=l), shoal.Buckets()
    table = prepare(frame_of(values), SCHEMA)
    groups = method.partition(Task.of(table), InOrder())
    published, _ = publish.arrange(publish.publish(table, groups))
    return shoal.Release(published.tables, describe(published, Asked(method, publish), left_out=0), groups.labels)


def buckets_of(release):
    """The sensitive values of every bucket, counted from the published table."""
    found: dict[int, Counter] = {}
    for bucket, value, count in release.frames["sensitive"].rows():
        found.setdefault(bucket, Counter())[value] += count
    return found


columns = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", None]), min_size=2, max_size=40)


# -- the worked example and the twin -----------------------------------------------------------------------------


def test_the_worked_example():
    release = first_taken(DISEASES, l=2)
    groups = {frozenset(row + 1 for row in range(8) if release.labels[row] == label) for label in release.labels}
    assert groups == {frozenset({1, 2}), frozenset({6, 4}), frozenset({5, 3}), frozenset({7, 8})}
    assert twin.partition(DISEASES, 2) == (release.labels.tolist(), 0)
    assert release.verify().achieved == {"alpha:disease": 0.5}
    figures = release.measure()
    assert (figures["rce:disease"], figures["rce_bound:disease"]) == (4, 4)
    assert twin.reconstruction_error(DISEASES, release.labels.tolist()) == 4


@settings(max_examples=examples(60))
@given(columns, st.integers(2, 5))
def test_buckets_are_those_of_the_twin(values, l):  # noqa: E741
    assume(max(Counter(values).values()) * l <= len(values))
    release = first_taken(values, l)
    labels, n_rest = twin.partition(values, l)
    assert release.labels.tolist() == labels
    assert n_rest == len(values) % l
    for counts in buckets_of(release).values():
        assert counts.total() >= l
        assert set(counts.values()) == {1}


@settings(max_examples=examples(40))
@given(columns, st.integers(2, 4), st.integers(0, 5))
def test_whatever_is_drawn_all_values_of_a_bucket_differ(values, l, seed):  # noqa: E741
    assume(max(Counter(values).values()) * l <= len(values))
    release = release_of(values, l, seed=seed)
    labels, n_rows = release.labels.tolist(), len(values)
    for counts in buckets_of(release).values():
        assert counts.total() >= l
        assert set(counts.values()) == {1}
    assert release.verify().achieved["alpha:disease"] <= 1 / l + 1e-12
    error, bound = twin.reconstruction_error(values, labels), n_rows * (1 - Fraction(1, l))
    figures = release.measure()
    assert figures["rce:disease"] == pytest.approx(float(error), rel=1e-12)
    assert figures["rce_bound:disease"] == pytest.approx(float(bound), rel=1e-12)
    assert bound <= error <= bound * (1 + Fraction(1, n_rows))
    assert (error == bound) == (n_rows % l == 0)


def test_the_seed_draws_the_rows_and_changes_nothing_else():
    values = [f"v{i % 7}" for i in range(60)]
    one, again, other = (release_of(values, 3, seed=seed) for seed in (1, 1, 2))
    assert one.labels.tolist() == again.labels.tolist()
    assert one.manifest == again.manifest
    assert one.labels.tolist() != other.labels.tolist()
    assert one.labels.tolist() != first_taken(values, 3).labels.tolist()
    assert one.manifest.achieved == other.manifest.achieved == {"alpha:disease": pytest.approx(1 / 3)}
    assert one.manifest.model_dump(exclude={"tables"}) == other.manifest.model_dump(exclude={"tables"})
    assert one.measure()["rce:disease"] == other.measure()["rce:disease"]


def test_without_a_seed_nobody_can_foresee_what_is_drawn():
    values = [f"v{i % 7}" for i in range(60)]
    one, other = (release_of(values, 3, seed=None) for _ in range(2))
    assert one.labels.tolist() != other.labels.tolist()
    assert one.receipt.seed != other.receipt.seed
    assert release_of(values, 3, seed=one.receipt.seed).manifest == one.manifest


def test_nothing_but_drawing_decides_who_goes_where():
    """Who knows how a method takes rows, and not the seed, must not learn whose value is whose: there is no choice."""
    with pytest.raises(shoal.ParameterError, match=r"^Anatomy\(draw=\): unknown parameter"):
        shoal.Anatomy(l=2, draw="first")


# -- what is published -------------------------------------------------------------------------------------------


def test_everything_but_the_link_is_published_as_it_is():
    frame = frame_of(DISEASES, note=list("ABCDEFGH"), name=list("stuvwxyz"), stage=["x", "y"] * 4)
    schema = shoal.Schema(
        identifying=["name"], quasi={"age": shoal.Numeric()}, neutral=["note"], sensitive=["disease", "stage"]
    )
    release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2, column="disease"))
    assert release.frames["table"].columns == ["bucket", "age", "note"]
    assert release.frames["sensitive"].columns == ["bucket", "stage", "disease", "count"]
    assert Counter(release.frames["table"].drop("bucket").rows()) == Counter(frame.select("age", "note").rows())
    bucket_of = dict(release.frames["table"].select("age", "bucket").rows())
    shown = {(bucket, *values): count for bucket, *values, count in release.frames["sensitive"].rows()}
    rows = frame.select("age", "stage", "disease").rows()
    expected = Counter((bucket_of[age], *values) for age, *values in rows)
    assert shown == expected
    assert release.manifest.promise == ({"model": "alpha-k", "column": "disease", "alpha": 0.5},)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_it_is_written_read_back_and_verified(tmp_path, format):  # noqa: A002
    values = [None, "007", "7", "a, b", None, "é", '"q"', "7", "é", "x"]
    release = release_of(values, 2)
    folder = release.write(tmp_path / "out", format=format)
    assert {path.name for path in folder.iterdir()} == {f"table.{format}", f"sensitive.{format}", "manifest.json"}
    back = shoal.read_release(folder, receipt_path(folder))
    for name, table in release.frames.items():
        assert back.frames[name].equals(table), name
    assert back.verify().achieved == release.manifest.achieved
    assert back.measure() == release.measure()


def test_rows_and_bucket_numbers_say_nothing_of_the_order_of_the_input():
    frame = frame_of([f"v{i % 9}" for i in range(45)]).with_columns(pl.col("age").reverse())
    one = shoal.anonymize(frame, SCHEMA, shoal.Anatomy(l=3), seed=1)
    labels, shown = one.labels.tolist(), dict(one.frames["table"].select("age", "bucket").rows())
    numbers = [shown[age] for age in frame["age"]]
    assert len(set(zip(labels, numbers, strict=True))) == len(set(labels))  # the same buckets
    youngest = [min(age for age, number in shown.items() if number == bucket) for bucket in range(1, 16)]
    assert youngest == sorted(youngest)  # numbered by what they show
    assert one.frames["table"]["age"].to_list() != frame["age"].to_list()
    order = one.frames["sensitive"].select("bucket", "disease")
    assert order.rows() == order.sort("bucket", "disease").rows()
    published = shoal.Buckets().arrange(shoal.Buckets().publish(prepare(frame.reverse(), SCHEMA), groups_of(one)))[0]
    for name, table in one.frames.items():  # the same buckets, met in another order
        assert published.tables[name].equals(table)


def groups_of(release):
    """The groups of a release for the rows of its table from the last to the first, numbered in another way."""
    return Groups(release.labels.max() - release.labels[::-1])


# -- further promises --------------------------------------------------------------------------------------------


@settings(max_examples=examples(20))
@given(st.lists(st.sampled_from("abcd"), min_size=8, max_size=40), st.integers(2, 3), st.integers(2, 9))
def test_closeness_to_the_table_is_kept_beside_its_own_promise(values, l, tenths):  # noqa: E741
    assume(max(Counter(values).values()) * l <= len(values))
    release = release_of(values, l, require=[shoal.TCloseness("disease", t=tenths / 10)])
    assert {promise["model"] for promise in release.manifest.promise} == {"alpha-k", "t-closeness"}
    whole = Counter(values)
    for counts in buckets_of(release).values():
        assert max(counts.values()) * l <= counts.total()
        gaps = (abs(Fraction(counts[v], counts.total()) - Fraction(whole[v], len(values))) for v in whole)
        assert sum(gaps) / 2 <= tenths / 10 + 1e-9
    assert sum(counts.total() for counts in buckets_of(release).values()) == len(values)


def test_a_second_sensitive_column_is_protected_where_that_is_required():
    frame = frame_of([f"v{i % 4}" for i in range(24)], stage=["x", "y", "y", "z"] * 6)
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease", "stage"])
    method = shoal.Anatomy(l=2, column="disease")
    release = shoal.anonymize(frame, schema, method, require=[shoal.LDiversity("stage", l=2)], seed=1)
    stages = release.frames["sensitive"].group_by("bucket").agg(pl.col("stage").n_unique())["stage"]
    assert stages.min() >= 2
    assert release.verify().achieved == {"alpha:disease": 0.5, "l:stage": 2}


# -- bad input ---------------------------------------------------------------------------------------------------


def test_a_value_that_is_too_frequent_is_refused_with_column_share_and_nearest_l():
    values = ["flu"] * 4 + ["a", "b", "c", "d", "e", "f"]
    message = (
        r"Anatomy\(l=\): column 'disease': the most frequent value is in 4 of 10 rows \(40.0%\), l = 3 allows 33.3%; "
        r"use an l of at most 2"
    )
    with pytest.raises(shoal.InfeasibleError, match=message) as refused:
        release_of(values, 3)
    assert "flu" not in str(refused.value)
    assert release_of(values, 2).verify().achieved == {"alpha:disease": 0.5}


def test_missing_values_count_as_one_value():
    with pytest.raises(shoal.InfeasibleError, match=r"in 3 of 5 rows \(60.0%\).*no l of two or more can be reached"):
        release_of([None, None, None, "a", "b"], 2)


@settings(max_examples=examples(30))
@given(columns, st.integers(2, 5))
def test_it_is_refused_exactly_where_there_is_no_way(values, l):  # noqa: E741
    if max(Counter(values).values()) * l <= len(values):
        release_of(values, l)
        return
    best = len(values) // max(Counter(values).values())
    with pytest.raises(shoal.InfeasibleError, match=f"of at most {best}" if best >= 2 else "no l of two or more"):
        release_of(values, l)
    if best >= 2:
        release_of(values, best)


@pytest.mark.parametrize(
    ("sensitive", "column", "message"),
    [
        ([], None, r"Anatomy\(column=\): the table has no sensitive column; give one the role sensitive"),
        (["disease", "stage"], None, r"the table has 2 sensitive columns; name one of disease, stage"),
        (["disease"], "stage", r"'stage' is not a sensitive column"),
        (["disease"], "diseese", r"'diseese' is not a sensitive column; did you mean 'disease'\?"),
    ],
)
def test_a_column_that_cannot_be_told_is_refused(sensitive, column, message):
    frame = frame_of(DISEASES, stage=["x", "y"] * 4)
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=sensitive, rest="neutral")
    with pytest.raises(shoal.ParameterError, match=message):
        shoal.anonymize(frame, schema, shoal.Anatomy(l=2, column=column))


def test_parts_that_do_not_go_together_are_refused_at_once():
    require = [shoal.KAnonymity(k=2), shoal.LDiversity("disease", l=2), shoal.KMap(k=2)]
    with pytest.raises(
        shoal.ParameterError, match=r"(?s)4 problems:.*publish=.*refine=.*require=.*require="
    ) as refused:
        release_of(DISEASES, 2, require=require, publish=shoal.Generalize(), refine=shoal.Refine())
    text = str(refused.value)
    assert "the buckets of anatomy cannot be shown by generalize" in text
    assert "k-anonymity cannot be kept by anatomy" in text
    assert "k-map cannot be kept by anatomy" in text
    assert "l-diversity" not in text
    with pytest.raises(
        shoal.ParameterError, match="mondrian promises a k, and buckets shows quasi-identifiers as they are"
    ):
        shoal.anonymize(frame_of(DISEASES), SCHEMA, shoal.Mondrian(k=2), publish=shoal.Buckets())


@pytest.mark.parametrize("l", [1, 0, -3, 2.5, None, "2"])
def test_an_l_below_two_is_refused(l):  # noqa: E741
    with pytest.raises(shoal.ParameterError, match=r"Anatomy\(l=\): needs a whole number of at least 2"):
        shoal.Anatomy(l=l)


@pytest.mark.parametrize("taken", ["bucket", "count"])
def test_a_column_that_would_clash_is_refused(taken):
    frame = frame_of(DISEASES).rename({"age": taken})
    schema = shoal.Schema(quasi={taken: shoal.Numeric()}, sensitive=["disease"])
    with pytest.raises(shoal.SchemaError, match=taken):
        shoal.anonymize(frame, schema, shoal.Anatomy(l=2))


# -- tampering ---------------------------------------------------------------------------------------------------


def test_what_was_changed_is_refused():
    release = release_of(DISEASES, 2)
    table, values = release.frames["table"], release.frames["sensitive"]
    assert mended(release).verify().achieved == {"alpha:disease": 0.5}
    assert mended(release, table=table.reverse(), sensitive=values.reverse()).manifest == release.manifest
    one_value = values.filter(pl.col("bucket") == 1)[:1].with_columns(pl.lit(2, dtype=pl.Int64).alias("count"))
    cases = {
        "its counts do not add up to the rows of each bucket": {"sensitive": values[1:]},
        "lists the same values of a bucket more than once": {"sensitive": values[[0, 0, *range(2, 8)]]},
        "has a count that is not a positive whole number": {"sensitive": values.with_columns(pl.col("count") - 1)},
        r"alpha = 0\.5 was promised, the weakest class reaches 1": {
            "sensitive": pl.concat([one_value, values.filter(pl.col("bucket") != 1)])
        },
    }  # fmt: skip
    for message, changed in cases.items():
        with pytest.raises(shoal.GuaranteeError, match=message):
            mended(release, **changed).verify()
        with pytest.raises(shoal.GuaranteeError, match=r"was changed since it was released|rows, the manifest says"):
            shoal.Release(release.frames | changed, release.manifest).verify()
    with pytest.raises(shoal.GuaranteeError, match="7 are published, the manifest says 8"):
        fingerprinted(release, table=table[1:]).verify()
    moved = table.with_columns(pl.when(pl.col("bucket") == 1).then(2).otherwise(pl.col("bucket")).alias("bucket"))
    with pytest.raises(shoal.GuaranteeError, match="its counts do not add up to the rows"):
        mended(release, table=moved.cast({"bucket": pl.Int64})).verify()


def test_another_order_or_other_numbers_are_refused():
    """They could be those in which buckets were made."""
    release = release_of(DISEASES, 2)
    table, values = release.frames["table"], release.frames["sensitive"]
    for changed, message in (
        ({"table": table.reverse()}, "table 'table': its rows are not in the order that follows from their content"),
        (
            {"sensitive": values.reverse()},
            "table 'sensitive': its rows are not in the order that follows from their content",
        ),
    ):
        with pytest.raises(shoal.GuaranteeError) as caught:
            fingerprinted(release, **changed).verify()
        assert str(caught.value) == message
    swapped = [frame.with_columns(pl.col("bucket").replace({1: 2, 2: 1})) for frame in (table, values)]
    published, _ = arrange(Published({"table": swapped[0]}, release.manifest.layout))
    with pytest.raises(shoal.GuaranteeError) as caught:
        fingerprinted(release, table=published.tables["table"], sensitive=swapped[1].sort("bucket", "disease")).verify()
    assert str(caught.value) == "buckets: are not numbered in the order that follows from their content"
    gaps = [frame.with_columns(pl.col("bucket") + 1) for frame in (table, values)]
    with pytest.raises(shoal.GuaranteeError, match=r"buckets: are not numbered 1, 2, 3, \.\.\."):
        fingerprinted(release, table=gaps[0], sensitive=gaps[1]).verify()


@pytest.mark.parametrize(
    "promise",
    [
        (),
        ({"model": "alpha-k", "column": "disease", "alpha": 0.9},),
        ({"model": "l-diversity", "column": "disease", "l": 2},),
    ],
)
def test_a_weaker_promise_than_was_asked_for_is_refused(promise):
    release = release_of(DISEASES, 2)
    forged = release.manifest.model_copy(update={"promise": promise, "achieved": {}})
    with pytest.raises(
        shoal.GuaranteeError, match="promise: does not contain what the recipe requires: model = alpha-k"
    ):
        shoal.Release(release.frames, forged, release.labels).verify()
