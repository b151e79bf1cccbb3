"""Threshold greedy clustering against its worked example, its slow twin, and what it suppresses."""

from contextlib import nullcontext
from dataclasses import replace

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InfeasibleError, Nominal, Numeric, ParameterError, Schema, ThresholdGreedy
from shoal.cluster.box_tree import for_few_rows
from shoal.published.reading import check_directory
from shoal.release.receipt import Receipt
from support.forging import mended, put, with_entries
from support.pairwise import examples
from support.realdata import ADULT_QUASI, adult
from twins.partitions import partitions, subsets
from twins.tables import RAGGED, both, groups_of, mixed, patients, tables
from twins.threshold_greedy import summed, threshold_greedy

X = both([[1, 2, 3, 10, 11, 12, 20]], [Numeric()])
P = patients()
WHOLE = ThresholdGreedy(k=3, delta=0.2, w=1, seeds=(0, 3, 6))


def with_secrets(table, secrets):
    """A table with the columns of another one as sensitive values."""
    names = {name: f"secret {name}" for name in secrets.frame.columns}
    frame = pl.concat([table.frame, secrets.frame.rename(names)], how="horizontal")
    sensitive = {names[name]: kind for name, kind in secrets.schema.quasi.items()}
    return replace(table, frame=frame, schema=Schema(quasi=table.schema.quasi, sensitive=sensitive))


def twin_of(table, secrets, method, n_rows):
    order = [*(method.seeds or ()), *np.random.default_rng(0).permutation(n_rows).tolist()]
    return threshold_greedy(
        table.rows, table.columns, secrets.rows if secrets else None, secrets.columns if secrets else [], method.k,
        method.delta, order, method.w, list((method.weights or {}).values()), method.below, method.max_size,
    )  # fmt: skip


def partition(table, method):
    """Labels, or -1 for all where nothing is left to publish."""
    try:
        return table.labels(method)
    except InfeasibleError:
        return [-1] * len(table.rows)


# -- the worked example ------------------------------------------------------------------------------------------------


def test_worked_example():
    """Width at most 3.8 of 19: {1,2,3}, {10,11,12}; 20 stays alone and is suppressed."""
    assert X.labels(WHOLE) == [0, 0, 0, 1, 1, 1, -1]


@pytest.mark.parametrize("below", ["suppress", "return"])
def test_what_becomes_of_a_cluster_below_k(below):
    """From 12 the cluster is {12, 11, 10}; at k = 4 it is too small, and so are all others."""
    method = ThresholdGreedy(k=4, delta=0.5, w=1, seeds=(6, 5), below=below)
    labels = X.labels(method)
    # 20 takes 12, 11 and stops before 10 (10/19 > 1/2): three rows
    assert labels[6] == -1
    assert labels[4:6] == ([-1, -1] if below == "suppress" else [0, 0])


def test_largest_size():
    assert X.labels(ThresholdGreedy(k=2, delta=1, w=1, seeds=(0, 3, 6), max_size=3)) == [0, 0, 0, 1, 1, 1, -1]


def test_a_delta_of_all_columns_is_one_group():
    assert set(P.labels(ThresholdGreedy(k=3, delta=3, w=1))) == {0}


def test_seeds_that_are_taken_are_passed_over():
    assert X.labels(ThresholdGreedy(k=3, delta=0.2, w=1, seeds=(0, 1, 2, 3, 0))) == [0, 0, 0, 1, 1, 1, -1]


# -- kernel and twin ---------------------------------------------------------------------------------------------------


@st.composite
def methods(draw, table, k):
    delta = draw(st.sampled_from([0, 0.1, 0.25, 0.5, 1, 1.5, 4]))
    names = table.frame.columns
    weights = draw(st.none() | st.fixed_dictionaries({name: st.sampled_from([0.3, 1, 2]) for name in names}))
    return ThresholdGreedy(
        k=k,
        delta=delta,
        w=draw(st.sampled_from([0, 0.3, 0.5, 0.9, 1])),
        weights=weights,
        below=draw(st.sampled_from(["suppress", "return"])),
        max_size=draw(st.none() | st.integers(k, 2 * k)),
        seeds=draw(st.none() | st.lists(st.integers(0, len(table.rows) - 1), min_size=1, max_size=3)),
    )


@settings(max_examples=examples(45), deadline=None)
@given(data=st.data(), k=st.integers(2, 5))
def test_kernel_equals_twin(data, k):
    table = data.draw(tables(k, most=20))
    n_rows = len(table.rows)
    cells = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n_rows, max_size=n_rows)
    numbers = st.lists(st.sampled_from([1, 2, 9, None]), min_size=n_rows, max_size=n_rows)
    values, kinds = [data.draw(cells), data.draw(numbers)], [Nominal(RAGGED), Numeric()]
    for n_secrets in (0, 1, 2):
        method = data.draw(methods(table, k))
        secrets = both(values[:n_secrets], kinds[:n_secrets]) if n_secrets else None
        whole = with_secrets(table, secrets) if secrets else table
        labels = partition(whole, method)
        assert labels == twin_of(table, secrets, method, n_rows), n_secrets
        with for_few_rows():
            assert partition(whole, method) == labels, "with a tree"
        keeps_its_word(table, method, labels)


def keeps_its_word(table, method, labels):
    """Sizes and diversity of every group."""
    weights = list((method.weights or {}).values()) or [1.0] * len(table.columns)
    for group in groups_of(labels, 0):
        if labels[min(group)] >= 0:
            assert method.k <= len(group) <= (method.max_size or len(labels))
            members = [table.rows[row] for row in sorted(group)]
            assert summed(members, table.rows, table.columns, weights) <= method.delta


@pytest.mark.parametrize("below", ["suppress", "return"])
@pytest.mark.parametrize("w", [0.4, 1])
def test_kernel_equals_twin_on_a_larger_table(w, below):
    table = mixed(90, seed=3)
    secrets = both([[row % 3 for row in range(90)]], [Numeric()])
    method = ThresholdGreedy(k=4, delta=0.9, w=w, below=below)
    labels = with_secrets(table, secrets).labels(method)
    assert labels == twin_of(table, secrets, method, 90)
    assert -1 in labels


def test_shared_scans_change_nothing(monkeypatch):
    """With blocks of eight tuples the cores share every scan."""
    table = mixed(150, seed=5)
    method = ThresholdGreedy(k=4, delta=1.2, w=1, below="return")
    expected = table.labels(method)
    monkeypatch.setattr("shoal.kernels.sharing.PART", 1)
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        try:
            assert table.labels(method) == expected
        finally:
            numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


def test_short_calls_change_nothing(monkeypatch):
    """However few steps the kernel makes at a time."""
    table = mixed(100, seed=6)
    method = ThresholdGreedy(k=4, delta=1.5, w=1)
    expected = table.labels(method)
    monkeypatch.setattr("shoal.cluster.diversity.WORK", 1)
    assert table.labels(method) == expected


@pytest.mark.parametrize("tree", [False, True])
def test_what_is_given_back_is_as_it_was(tree):
    """A cluster that is given back leaves the pool as a fresh one without the seed, but for the order of positions."""
    from shoal.cluster.diversity import Diversity
    from shoal.progress import SILENT

    table = mixed(60, seed=7)
    with for_few_rows() if tree else nullcontext():
        diversity = Diversity(table.task, np.ones(len(table.columns)), 1.0, 1.5, None)
    pool = diversity.pool

    def free():
        positions = np.flatnonzero(pool.tuples["next_row"] < pool.tuples["last_row"])
        assert len(positions) == pool.size[0]
        heads = {
            int(pool.tuples["id"][i]): pool.rows[pool.tuples["next_row"][i] : pool.tuples["last_row"][i]].tolist()
            for i in positions
        }
        cells = {int(pool.tuples["id"][i]): (*pool.lines[:, i], *pool.codes[:, i]) for i in positions}
        return heads, {key: np.nan_to_num(value, nan=-1).tolist() for key, value in cells.items()}

    rows, cells = free()
    seed = 31
    members = diversity.grow(seed, 3, SILENT)
    assert len(members) > 5
    diversity.give_back()
    rows_after, cells_after = free()
    without = {key: [row for row in value if row != seed] for key, value in rows.items()}
    assert rows_after == {key: value for key, value in without.items() if value}
    assert cells_after == {key: cells[key] for key in rows_after}


def test_where_a_tree_does_not_pay_a_scan_goes_on(monkeypatch):
    """Asked in the middle of a cluster, and before the next one."""
    table = mixed(300, seed=8)
    method = ThresholdGreedy(k=4, delta=1.5, w=1)
    expected = table.labels(method)
    monkeypatch.setattr("shoal.cluster.diversity.WORK", 1)
    for last in (0, 7, 90):
        asked = iter(range(10**6))
        monkeypatch.setattr("shoal.cluster.diversity.pays", lambda _, asked=asked, last=last: next(asked) < last)
        with for_few_rows():
            assert table.labels(method) == expected


# -- by trying everything ----------------------------------------------------------------------------------------------


def fewest_suppressed(table, k, delta):
    """The least number of rows that any partition within delta leaves out."""
    weights = [1.0] * len(table.columns)
    rows = range(len(table.rows))

    def fits(group):
        return summed([table.rows[row] for row in group], table.rows, table.columns, weights) <= delta

    for kept in sorted(subsets(rows), key=len, reverse=True):
        if any(all(fits(group) for group in groups) for groups in partitions(kept, k)):
            return len(table.rows) - len(kept)
    return len(table.rows)


@settings(max_examples=examples(15), deadline=None)
@given(data=st.data(), delta=st.sampled_from([0.1, 0.3, 0.6, 1]))
def test_no_fewer_are_suppressed_than_must_be(data, delta):
    table = data.draw(tables(3, most=8))
    labels = partition(table, ThresholdGreedy(k=3, delta=delta, w=1, below="return"))
    assert labels.count(-1) >= fewest_suppressed(table, 3, delta)


def test_the_worked_example_suppresses_as_few_as_possible():
    assert fewest_suppressed(X, 3, 0.2) == 1


@settings(max_examples=examples(20), deadline=None)
@given(data=st.data(), k=st.integers(2, 4))
def test_what_is_refused_before_the_work_cannot_be_done(data, k):
    """The bound below the diversity of any k rows is one."""
    table = data.draw(tables(k, most=9))
    groups = [group for group in subsets(range(len(table.rows))) if len(group) == k]
    weights = [1.0] * len(table.columns)
    least = min(summed([table.rows[row] for row in group], table.rows, table.columns, weights) for group in groups)
    shoal.anonymize(table.frame, table.schema, ThresholdGreedy(k=k, delta=100), seed=0)
    problems = shoal.errors.Problems()
    ThresholdGreedy(k=k, delta=least).check(table.table, problems)
    assert not len(problems)


# -- what is refused ---------------------------------------------------------------------------------------------------


FRAME = pl.DataFrame({"age": [1, 2, 3, 10, 11, 12, 20], "sex": list("fmfmfmf")})
SCHEMA = Schema(quasi={"age": Numeric(), "sex": Nominal()})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"delta": 0.05}, InfeasibleError, r"\(delta=\): delta = 0.05 suppresses all .*; use at least 0.1053"),
        ({"delta": 0.2, "k": 4}, InfeasibleError, r"any 4 rows differ by 0.4737 or more"),
        ({"seeds": [0, 7]}, ParameterError, r"\(seeds=\): seeds has 7, but the table has 7 rows; .* from 0 to 6"),
        (
            {"weights": {"agee": 2}},
            ParameterError,
            r"\(weights=\): 'agee' is not a quasi-identifier.*; did you mean 'age'",
        ),
    ],
)
def test_what_the_table_cannot_give(options, error, message):
    with pytest.raises(error, match=message):
        shoal.anonymize(FRAME, SCHEMA, ThresholdGreedy(**{"k": 3, "delta": 1, **options}))


def test_missing_values_bound_delta():
    frame = pl.DataFrame({"age": [1, None, 2, None]})
    with pytest.raises(InfeasibleError, match="any 3 rows differ by 1 or more"):
        shoal.anonymize(frame, Schema(quasi={"age": Numeric()}), ThresholdGreedy(k=3, delta=0.9))


def test_a_run_that_ends_without_a_group():
    """Each column alone has three equal rows, no three rows are equal in both: found out only by the run."""
    frame = pl.DataFrame({"a": [1, 1, 1, 2, 3, 4], "b": [2, 3, 4, 1, 1, 1]})
    with pytest.raises(
        InfeasibleError, match=r"delta = 0.1 suppresses all rows: no cluster reached k = 3; use a larger"
    ):
        shoal.anonymize(frame, Schema(quasi={"a": Numeric(), "b": Numeric()}), ThresholdGreedy(k=3, delta=0.1))


@pytest.mark.parametrize(
    "options", [{"delta": -0.1}, {"w": 1.1}, {"w": -0.1}, {"weights": {"age": 0}}, {"below": "drop"}]
)
def test_parameters_out_of_bounds(options):
    name = next(iter(options))
    with pytest.raises(ParameterError, match=rf"ThresholdGreedy\({name}=\): needs "):
        ThresholdGreedy(**{"k": 3, "delta": 1, **options})


def test_largest_size_below_k():
    with pytest.raises(ParameterError, match=r"\(max_size=\): max_size = 2 is below k = 3; use at least 3"):
        ThresholdGreedy(k=3, delta=1, max_size=2)


# -- weights and sensitive values --------------------------------------------------------------------------------------


def test_weights_widen_and_narrow():
    """What weighs 4 may span a quarter of the threshold."""
    table = both([[0, 1, 2, 3, 4, 5, 6, 7, 8]], [Numeric()])
    plain = table.labels(ThresholdGreedy(k=2, delta=0.5, w=1, seeds=(0,)))
    heavy = table.labels(ThresholdGreedy(k=2, delta=0.5, w=1, seeds=(0,), weights={"column 0": 4}))
    assert plain.count(plain[0]) == 5
    assert heavy.count(heavy[0]) == 2


def test_protection_prefers_other_sensitive_values():
    frame = pl.DataFrame({"age": [1, 2, 3, 4], "disease": ["flu", "flu", "ulcer", "flu"]})
    schema = Schema(quasi={"age": Numeric()}, sensitive=["disease"])

    def first_group(w):
        labels = shoal.anonymize(
            frame, schema, ThresholdGreedy(k=2, delta=1, w=w, max_size=2, seeds=(0,)), seed=0
        ).labels
        return [row for row in range(4) if labels[row] == labels[0]]

    assert first_group(1) == [0, 1]
    assert first_group(0.5) == [0, 2]


# -- the whole path with suppressed rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["text", "typed", "classes"])
def test_suppressed_rows_are_counted_and_charged(shape, tmp_path):
    frame = X.frame.with_columns(pl.Series("name", list("abcdefg")))
    schema = Schema(quasi=X.schema.quasi, identifying=["name"])
    release = shoal.anonymize(frame, schema, WHOLE, publish=shoal.Generalize(shape=shape), seed=0)
    rows, measures = release.manifest.rows, release.manifest.measures
    assert (rows.published, rows.left_out) == (6, 1)
    assert (release.receipt.rows.suppressed, release.receipt.rows.dropped) == (1, {})
    assert release.labels.tolist() == [0, 0, 0, 1, 1, 1, -1]
    assert release.tables["table"].height == 6
    assert measures["discernibility"] == 9 + 9 + 7
    # 1 to 12 are published: a suppressed extreme is not told by the range either
    assert (release.manifest.layout.quasi[0].low, release.manifest.layout.quasi[0].high) == (1, 12)
    assert measures["il_total"] == pytest.approx(6 * 2 / 11 + 1)
    assert measures["ncp"] == pytest.approx((6 * 2 / 11 + 1) / 7)
    assert shoal.read_release(release.write(tmp_path / "out")).verify().k == 3


def test_suppressed_and_dropped_rows_are_told_apart_by_the_receipt_alone():
    frame = pl.DataFrame({"age": [1, 2, None, 3, 20]})
    method = ThresholdGreedy(k=3, delta=0.2, w=1)
    release = shoal.anonymize(frame, Schema(quasi={"age": Numeric()}), method, missing="drop", seed=0)
    rows = release.receipt.rows
    assert (rows.published, rows.suppressed, rows.dropped) == (3, 1, {"missing quasi-identifier": 1})
    assert release.manifest.rows.model_dump() == {"published": 3, "left_out": 2, "counterfeits": 0}
    assert release.labels.tolist() == [0, 0, -1, 0, -1]
    assert release.manifest.measures["discernibility"] == 9 + 2 * 5  # both are charged
    assert release.manifest.measures["il_total"] == pytest.approx(3 + 2)


def test_a_forged_count_of_rows_left_out_is_refused(tmp_path):
    release = shoal.anonymize(X.frame, X.schema, WHOLE, seed=0)
    folder, held = release.write(tmp_path / "out"), tmp_path / "out.receipt.json"
    assert shoal.read_release(folder, held).receipt == release.receipt
    forged = with_entries(release, rows=release.manifest.rows.model_copy(update={"left_out": 0}))
    with pytest.raises(shoal.GuaranteeError, match="measures: the manifest states other figures than the release has"):
        check_directory(put(forged, folder))
    check_directory(put(mended(forged), folder))  # with its figures, it is a release that could be
    with pytest.raises(shoal.GuaranteeError, match="belongs to another release, or the release was changed"):
        shoal.read_release(folder, held)


def test_more_rows_left_out_than_the_recipe_allows_are_refused():
    release = shoal.anonymize(X.frame, X.schema, shoal.Mondrian(k=3))
    forged = with_entries(release, rows=release.manifest.rows.model_copy(update={"left_out": 1}))
    with pytest.raises(shoal.GuaranteeError, match="rows: 1 row is left out, but the recipe allows at most 0 of 8"):
        forged.verify()


def test_recipe_and_manifest_hold_weights_and_seeds(tmp_path):
    method = ThresholdGreedy(k=3, delta=0.5, weights={"sex": 0.5, "age": 2}, seeds=[0, 3])
    recipe = shoal.Recipe(SCHEMA, method)
    text = recipe.to_toml()
    assert "weights = {age = 2.0, sex = 0.5}" in text
    assert shoal.Recipe.from_toml(text) == recipe
    assert shoal.Recipe.from_toml(text).to_toml() == text
    release = shoal.anonymize(FRAME, SCHEMA, replace(method, delta=1.5), seed=0)
    release.write(tmp_path / "out")
    said = shoal.release.manifest.Manifest.read(tmp_path / "out").recipe.method
    assert said["weights"] == {"age": 2.0, "sex": 0.5}
    assert "seeds" not in said  # they are rows of the input
    assert Receipt.read(tmp_path / "out.receipt.json").method["seeds"] == (0, 3)


def test_command_line(tmp_path):
    from typer.testing import CliRunner

    from shoal.cli.app import app

    FRAME.write_csv(tmp_path / "people.csv")
    recipe = shoal.Recipe(SCHEMA, ThresholdGreedy(k=3, delta=0.2), shoal.Source(path="people.csv"))
    (tmp_path / "recipe.toml").write_text(recipe.to_toml())
    flags = ["--w", "1", "--weights", "age=1,sex=0.01", "--seeds", "0,3,6", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["run", str(tmp_path / "recipe.toml"), *flags])
    assert done.exit_code == 0, done.output
    assert "6 published of 7, 1 suppressed" in done.output


# -- real data ---------------------------------------------------------------------------------------------------------


def test_adult():
    """What a larger delta buys, and what it costs."""
    frame = adult().head(1_500)
    schema = Schema(
        quasi={name: Numeric() if name == "age" else Nominal() for name in ADULT_QUASI},
        sensitive=["income"],
        rest="drop",
    )
    suppressed, kept_loss = [], []
    for delta in (0.3, 0.6, 1.2):
        release = shoal.anonymize(frame, schema, ThresholdGreedy(k=5, delta=delta, w=1, below="return"), seed=0)
        rows = release.manifest.rows
        assert release.receipt.rows.suppressed == rows.left_out
        suppressed.append(rows.left_out)
        kept_loss.append((release.measure()["ncp"] * 1_500 - rows.left_out) / rows.published)
    assert suppressed[0] > suppressed[1] > suppressed[2]
    assert kept_loss[0] < kept_loss[1] < kept_loss[2]
