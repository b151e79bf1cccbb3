"""The contract: every pair of method, publisher, model and mix of kinds, on tables that hypothesis thinks up.

With ``SHOAL_COMBINATIONS=all`` every combination of them, and more tables of each.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import cycle, product

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Problems
from shoal.methods.base import Task
from shoal.privacy import MODELS
from shoal.publish import PUBLISHERS
from shoal.release.receipt import Receipt, receipt_path
from shoal.table.prepare import prepare
from shoal.testing import (
    KIND_MIXES,
    Case,
    check_contract,
    published_cells,
    requirements,
    sensitive_tables,
    tables,
)
from support.drawn import beyond_the_simplest
from support.mixed_table import MIXED, mixed_frame
from support.pairwise import examples
from support.registered import K_METHODS, METHODS
from support.variants import (
    LINKS,
    ONE_COLUMN,
    SHOWN,
    VARIANTS,
    each_method,
    every_cutter,
    every_method,
)
from twins.averages import aggregate_cells, centre_cells
from twins.generalize import ends, text_cell

MAY_SUPPRESS_ALL = {"threshold-greedy"}
"""Methods that suppress what does not fit, and must refuse to publish where nothing does."""


BY_ROWS = [name for name, model in MODELS.items() if model.needs != "population"]
"""Models that need no population beside the table."""

MAY_MIX_EQUAL_ROWS = {"oka", "k-means"}
"""Methods that draw where groups start, and fill the last ones with whoever is left: equal rows may be parted."""


REFINED = [None, shoal.Refine(), shoal.Refine(rounds=1)]
FOR_ONE_COLUMN = [
    (name, options, publish, "one", refine)
    for name in ONE_COLUMN
    for options in VARIANTS[name]
    for publish, refine in zip(SHOWN, cycle(REFINED), strict=False)
]


@pytest.mark.parametrize(
    ("name", "options", "publish", "mix", "refine"),
    each_method(SHOWN, KIND_MIXES, REFINED) + FOR_ONE_COLUMN,
    ids=str,
)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_contract(name, options, publish, mix, refine, data):
    beyond_the_simplest(data)
    check_with_twins(name, options, publish, mix, refine, data)


@pytest.mark.parametrize(
    ("name", "options", "publish", "mix", "refine"),
    [
        (*method, *shown)
        for method, shown in zip(
            [*each_method(), *each_method()],
            zip(cycle(SHOWN), cycle(mix for mix in KIND_MIXES if mix != "one"), cycle(REFINED), strict=False),
            strict=False,
        )
    ],
    ids=str,
)
@settings(max_examples=1)
@given(data=st.data())
def test_contract_of_the_simplest_tables(name, options, publish, mix, refine, data):
    """The one example is the simplest: two rows, all cells the same."""
    check_with_twins(name, options, publish, mix, refine, data)


def check_with_twins(name, options, publish, mix, refine, data):
    """Publish a table, check what any release keeps, and its cells against those that are worked out slowly."""
    k = data.draw(st.integers(2, 6), "k")
    case = data.draw(tables(mix, min_rows=k, max_rows=30), "table")
    try:
        release = check_contract(case, K_METHODS[name](k=k, **options), publish, refine=refine, again=False)
    except shoal.InfeasibleError as error:
        if name in MAY_SUPPRESS_ALL and "suppresses all rows" in str(error):
            return
        raise
    expected = EXPECTED.get(publish.name)
    if expected and not getattr(publish, "restore_variance", False) and getattr(publish, "centre", "") != "record":
        shown = Counter(rounded(cells) for cells in published_cells(release))
        assert shown == expected_cells(case, release.labels, publish, expected)


@pytest.mark.parametrize("mix", [mix for mix in KIND_MIXES if mix != "one"])
@pytest.mark.parametrize("name", ONE_COLUMN)
@settings(max_examples=1)
@given(data=st.data())
def test_methods_for_one_column_refuse_others(name, mix, data):
    beyond_the_simplest(data)
    case = data.draw(tables(mix, min_rows=6, max_rows=30), "table")
    publish = data.draw(st.sampled_from(SHOWN), "publish")
    with pytest.raises(shoal.SchemaError, match="quasi-identifier"):
        shoal.anonymize(case.frame, case.schema, K_METHODS[name](k=3), publish=publish)


@pytest.mark.parametrize(("name", "options", "model"), each_method(BY_ROWS, any_table=False), ids=str)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_contract_with_every_model(name, options, model, data):
    """Every promise is kept or refused: before any work, or because no groups were found and joining does not help."""
    beyond_the_simplest(data)
    k = data.draw(st.integers(2, 4), "k")
    mix = "one" if name in ONE_COLUMN else data.draw(st.sampled_from(list(KIND_MIXES)), "mix")
    case = data.draw(sensitive_tables(mix, min_rows=2 * k, max_rows=30), "table")
    others = data.draw(st.lists(st.sampled_from(BY_ROWS), max_size=data.draw(st.sampled_from([0, 0, 2]))), "others")
    drawn = [data.draw(requirements(one, case), one) for one in (model, *others)]
    require = [*{one.key: one for one in drawn}.values()]  # nothing is asked for twice
    publish = data.draw(st.sampled_from(SHOWN), "publish")
    refine = data.draw(st.sampled_from(REFINED), "refine")
    suppress = data.draw(st.sampled_from([0.0, 0.0, 0.2]), "suppress")
    method = K_METHODS[name](k=k, **options)
    before = refused_before_work(case, require, suppress)
    asked = {
        "require": require,
        "suppress": suppress,
        "refine": refine,
        "again": data.draw(st.sampled_from([False, False, True]), "again"),
    }
    try:
        release = check_contract(case, method, publish, **asked)
    except shoal.InfeasibleError as error:
        check_refusal(error, before, name, options, require, suppress)
    else:
        assert not before
        if not may_suppress(name, options):
            assert release.receipt.rows.suppressed <= suppress * case.frame.height
            assert release.manifest.rows.left_out == release.receipt.rows.suppressed


@pytest.mark.parametrize(
    ("name", "options", "model"),
    each_method([name for name in MODELS if name not in BY_ROWS], any_table=False),
    ids=str,
)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_contract_with_models_that_need_a_population(name, options, model, data):
    """The people are those of the table and others like them: k of them can always be covered by joining all."""
    beyond_the_simplest(data)
    k = data.draw(st.integers(2, 3), "k")
    mix = "one" if name in ONE_COLUMN else data.draw(st.sampled_from(list(KIND_MIXES)), "mix")
    case = data.draw(sensitive_tables(mix, min_rows=2 * k, max_rows=20), "table")
    others = data.draw(st.lists(st.integers(0, case.frame.height - 1), max_size=40), "others")
    people = pl.concat([case.frame, case.frame[others]]).select(list(case.schema.quasi))
    one = data.draw(requirements(model, case), "require")
    publish = data.draw(st.sampled_from([show for show in SHOWN if show.name == "generalize"]), "publish")
    refine = data.draw(st.sampled_from([None, shoal.Refine()]), "refine")
    problems = Problems()
    one.check_population(case.frame.height, people.height, problems)
    try:
        method = K_METHODS[name](k=k, **options)
        check_contract(case, method, publish, require=[one], population=people, refine=refine, again=False)
    except shoal.InfeasibleError as error:
        text = str(error)
        if not (name in MAY_SUPPRESS_ALL and "suppresses all rows" in text):
            assert len(problems) or may_suppress(name, options) or not one.monotone, text
            assert f"require {model}: " in text
    else:
        assert not len(problems)


def refused_before_work(case, require, suppress):
    """What the models say the table cannot keep, each on its own."""
    problems = Problems()
    table = prepare(case.frame, case.schema)
    for one in require:
        one.check(table, problems)
    if not len(problems) and not int(suppress * table.n_rows):
        for one in require:
            one.check_unsuppressed(table, problems)
    try:
        problems.raise_if_any(shoal.InfeasibleError)
    except shoal.InfeasibleError as error:
        return [str(problem) for problem in error.problems]
    return []


def check_refusal(error, before, name, options, require, suppress=0.0):
    """It names requirement and column and says what would do; joining all is a way out where that cannot make worse."""
    text = str(error)
    if before:
        assert [str(problem) for problem in error.problems] == before
    elif "rows are suppressed, column" in text:  # what the others could promise, those that are left cannot
        assert suppress or may_suppress(name, options)
        named = {one.column for one in require if one.name == "alpha-k" and one.values is not None}
        lost = tuple(f"column {column!r} does not have " for column in named)
        said = [
            re.match(r"require alpha-k: once (?:1 row is|[1-9]\d* rows are) suppressed, (.*)", str(one))
            for one in error.problems
        ]
        assert all(one is not None and one[1].startswith(lost) for one in said)
        assert all(problem.fix == "suppress less, or require less" for problem in error.problems)
    elif not (name in MAY_SUPPRESS_ALL and "suppresses all rows" in text):
        assert may_suppress(name, options) or not all(one.monotone for one in require), text
        may_be_blamed = tuple(re.escape(f"require {one.name}: {one.key}: ") for one in require)
        pattern = rf"({'|'.join(may_be_blamed)})(\d+ of \d+ groups could not be repaired|joining groups|not reached in)"
        assert all(re.match(pattern, str(problem)) for problem in error.problems)
        assert all(problem.fix.startswith("use a") for problem in error.problems)
        assert all(problem.fix.endswith(", or raise suppress") for problem in error.problems)


def may_suppress(name, options):
    return name in MAY_SUPPRESS_ALL or bool(options.get("epsilon"))


@pytest.mark.parametrize(
    ("name", "options", "publish"),
    each_method([shoal.Generalize(), shoal.Generalize(sets=True), shoal.Aggregate()], any_table=False),
    ids=str,
)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_refining_never_loses_more(name, options, publish, data):
    beyond_the_simplest(data)
    k = data.draw(st.integers(2, 4), "k")
    mix = "one" if name in ONE_COLUMN else data.draw(st.sampled_from(list(KIND_MIXES)), "mix")
    case, method = data.draw(tables(mix, min_rows=2 * k, max_rows=30), "table"), K_METHODS[name](k=k, **options)
    try:
        plain = shoal.anonymize(case.frame, case.schema, method, publish=publish, seed=0)
    except shoal.InfeasibleError:
        return
    refine = shoal.Refine(rounds=data.draw(st.integers(0, 1), "rounds"))
    better = shoal.anonymize(case.frame, case.schema, method, publish=publish, refine=refine, seed=0)
    assert better.manifest.rows == plain.manifest.rows
    if publish.name == "generalize":
        assert better.measure()["ncp"] <= plain.measure()["ncp"] * (1 + 1e-9)
    elif mix in ("one", "numeric"):
        assert better.measure()["sse"] <= plain.measure()["sse"] * (1 + 1e-9) + 1e-9


def rounded(cells):
    """Numbers to nine digits: a mean may be off by the last bit."""
    return tuple(float(f"{cell:.9g}") + 0.0 if isinstance(cell, float) else cell for cell in cells)


def expected_cells(case: Case, labels, publish, cells_of) -> Counter:
    """What the rows of every group must show, worked out slowly from those of the input that are published."""
    table = prepare(case.frame.filter(pl.Series(labels >= 0)), case.schema)
    groups = [table.frame.filter(pl.Series(labels[labels >= 0] == label)) for label in set(labels.tolist()) - {-1}]
    values = {name: [rows[name].to_list() for rows in groups] for name in table.quasi}
    if publish.name == "generalize":
        values = {name: as_written(table.quasi[name], of_groups) for name, of_groups in values.items()}
    columns = [[cells_of(table, name, of_group, publish) for of_group in values[name]] for name in table.quasi]
    if publish.name == "centres":  # where no centre is missing, nothing is said of it
        columns = [
            [one[:1] if all(one[1:] == (False,) for one in column) else one for one in column] for column in columns
        ]
    expected: Counter = Counter()
    for place, rows in enumerate(groups):
        expected[rounded([cell for column in columns for cell in column[place]])] += rows.height
    return expected


def as_written(kind, of_groups):
    """Numbers without a fraction as whole ones, where the ends that cells show have none, whatever lies between."""
    if not isinstance(kind, shoal.Numeric) or kind.hierarchy is not None:
        return of_groups
    shown = [end for values in of_groups if None not in values for end in (min(values), max(values))]
    if not all(float(end).is_integer() for end in shown):
        return of_groups
    return [[value if value is None or value % 1 else int(value) for value in values] for values in of_groups]


def generalized(table, name, values, publish):
    kind = table.quasi[name]
    if publish.shape != "typed" or isinstance(kind, shoal.Nominal):
        return [text_cell(values, kind, table.hierarchy(name), sets=publish.sets)]
    gone = [value is None for value in values]
    cells = [*(ends(values, kind) if not any(gone) else (None, None))]
    if table.frame[name].null_count():
        cells.append(False if not any(gone) else True if all(gone) else None)
    return cells


def aggregated(table, name, values, publish):
    kind = table.quasi[name]
    rule = {shoal.Numeric: publish.numeric, shoal.Ordinal: publish.ordinal, shoal.Nominal: "mode"}[type(kind)]
    has_missing = table.frame[name].null_count() > 0
    return aggregate_cells(values, kind, categories(table, name), rule, has_missing=has_missing)


def central(table, name, values, publish):
    has_missing = table.frame[name].null_count() > 0
    return centre_cells(values, table.quasi[name], categories(table, name), has_missing=has_missing)


def categories(table, name):
    kind = table.quasi[name]
    if isinstance(kind, shoal.Ordinal):
        return list(kind.order)
    return list(table.hierarchy(name).leaves) if isinstance(kind, shoal.Nominal) else []


EXPECTED = {"generalize": generalized, "aggregate": aggregated, "centres": central}


FRAMES = {"pandas": pl.DataFrame.to_pandas, "arrow": pl.DataFrame.to_arrow, "lazy": pl.DataFrame.lazy}
"""Other sorts of frames, and how one is made of a polars one."""


@pytest.mark.parametrize(
    ("name", "options", "shown", "sort"),
    [
        (*method, shown, sort)
        for method, (shown, sort) in zip(cycle(every_method(any_table=True)), product(SHOWN, FRAMES), strict=False)
    ],
    ids=str,
)
def test_same_bytes_from_any_frame_and_any_number_of_threads(name, options, shown, sort, tmp_path):
    """One thread and a polars frame against several and another sort; every sort with every publisher."""
    frame, folders = mixed_frame(100), []
    for given_frame, threads in ((frame, 1), (FRAMES[sort](frame), min(2, numba.config.NUMBA_NUM_THREADS))):
        release = shoal.anonymize(
            given_frame,
            MIXED,
            K_METHODS[name](k=4, **options),
            publish=shown,
            seed=5,
            threads=threads,
        )
        wanted = pl.DataFrame if isinstance(given_frame, pl.LazyFrame) else type(given_frame)
        assert isinstance(release.table, wanted)
        folders.append(release.write(tmp_path / str(len(folders))))
    first, second = ({path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders)
    assert "manifest.json" in first
    assert first == second
    held = [Receipt.read(receipt_path(folder)).model_copy(update={"created": ""}) for folder in folders]
    assert held[0] == held[1]


@pytest.mark.parametrize(("name", "options"), every_method(any_table=True), ids=str)
class TestCorners:
    def anonymize(self, frame, schema, name, options, k=3):
        method = K_METHODS[name](k=k, **options)
        return check_contract(Case(pl.DataFrame(frame), schema), method, shoal.Generalize(), again=False)

    def test_fewer_rows_than_k_is_refused(self, name, options):
        with pytest.raises(shoal.InfeasibleError, match="k = 5, but the table has 4 rows; use a k of at most 4"):
            self.anonymize({"a": [1, 2, 3, 4]}, shoal.Schema(quasi={"a": shoal.Numeric()}), name, options, k=5)

    @pytest.mark.parametrize("n_rows", [3, 4, 5])
    def test_fewer_than_two_groups_is_one_group(self, name, options, n_rows):
        release = self.anonymize({"a": list(range(n_rows))}, shoal.Schema(quasi={"a": shoal.Numeric()}), name, options)
        assert set(release.labels) - {-1} == {0}
        if release.manifest.rows.left_out == 0:
            assert set(release.tables["table"]["a"]) == {f"[0, {n_rows - 1}]"}

    def test_constant_columns(self, name, options):
        frame = {"a": [7] * 8, "b": ["x"] * 8}
        release = self.anonymize(frame, shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Nominal()}), name, options)
        assert set(release.tables["table"].rows()) == {("7", "x")}
        assert release.manifest.measures["ncp"] == 0

    def test_identical_rows_cost_nothing(self, name, options):
        frame = {"a": [1, 2] * 6, "b": ["x", "y"] * 6}
        schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Nominal()})
        release = self.anonymize(frame, schema, name, options)
        if name not in MAY_MIX_EQUAL_ROWS:
            assert release.manifest.measures["ncp"] == 0

    def test_all_missing_column(self, name, options):
        frame = {"a": [1, 2, 3, 4, 5, 6], "b": pl.Series([None] * 6, dtype=pl.String)}
        release = self.anonymize(frame, shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Nominal()}), name, options)
        assert release.tables["table"]["b"].null_count() == 6

    def test_unseen_categories_may_stay_unseen(self, name, options):
        tree = shoal.Hierarchy([("x", "xy", "*"), ("y", "xy", "*"), ("never", "*")])
        frame = {"a": ["x", "y", "x", "y", "x", "y"]}
        release = self.anonymize(frame, shoal.Schema(quasi={"a": shoal.Nominal(tree)}), name, options)
        assert not {"never", "*"} & set(release.tables["table"]["a"])
        assert "never" not in release.manifest.to_json()
        named = {node.name for node in release.manifest.layout.quasi[0].nodes} - {None}
        assert named == set(release.tables["table"]["a"])

    def test_unicode(self, name, options):
        frame = {"größe": [1.5, 2.5, 3.5, 4.5], "名前": ["é", "e\u0301", "é", "🐟"]}
        schema = shoal.Schema(quasi={"größe": shoal.Numeric(), "名前": shoal.Nominal()})
        release = self.anonymize(frame, schema, name, options, k=2)
        assert release.tables["table"].columns == ["größe", "名前"]

    def test_dropping_rows_with_missing_cells_is_counted(self, name, options):
        frame = pl.DataFrame({"a": [1, 2, None, 4, 5, 6, 7]})
        schema = shoal.Schema(quasi={"a": shoal.Numeric()})
        release = shoal.anonymize(frame, schema, K_METHODS[name](k=3, **options), missing="drop", seed=0)
        assert release.receipt.rows.dropped == {"missing quasi-identifier": 1}
        assert release.manifest.rows.model_dump() == {"published": 6, "left_out": 1, "counterfeits": 0}
        assert release.labels.tolist()[2] == -1
        assert release.tables["table"].height == 6


@cache
def forty_columns():
    """A table with twenty columns of numbers and twenty of categories, ready for methods."""
    rng = np.random.default_rng(1)
    frame = {f"n{j}": rng.integers(0, 9, 40) for j in range(20)}
    frame |= {f"c{j}": rng.choice(["x", "y", "z"], 40) for j in range(20)}
    kinds = {column: shoal.Numeric() if column[0] == "n" else shoal.Nominal() for column in frame}
    case = Case(pl.DataFrame(frame), shoal.Schema(quasi=kinds))
    return case, Task.of(prepare(case.frame, case.schema))


@pytest.mark.parametrize(("name", "options"), each_method(), ids=str)
def test_forty_columns(name, options):
    if "delta" in options:
        options = {**options, "delta": 40.0}
    groups = K_METHODS[name](k=3, **options).partition(forty_columns()[1], np.random.default_rng([0, 0]))
    groups.check(40, 3)
    assert min(Counter(groups.labels[groups.labels >= 0].tolist()).values()) >= 3


def test_forty_columns_are_published():
    case, _ = forty_columns()
    release = shoal.anonymize(case.frame, case.schema, shoal.Mondrian(k=3), publish=shoal.Generalize())
    assert release.tables["table"].width == 40
    assert min(Counter(release.tables["table"].rows()).values()) >= 3


@pytest.mark.parametrize("values", [[7] * 6, [1, 1, 2, 2, 3, 3], [None] * 6, [5, None, None, None, 9, 1]])
def test_corners_of_one_column(values):
    frame = pl.DataFrame({"a": pl.Series(values, dtype=pl.Int64)})
    schema = shoal.Schema(quasi={"a": shoal.Numeric()})
    for name, options in every_method():
        check_contract(Case(frame, schema), K_METHODS[name](k=3, **options), shoal.Generalize(), again=False)


def test_rows_are_in_no_order_that_leads_back():
    """The published order is the same however the input rows are ordered, and whatever the seed."""
    frame = mixed_frame(300)
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, neutral=["code"], rest="drop")
    one = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=3)
    other = shoal.anonymize(frame.reverse(), schema, shoal.Mondrian(k=5), seed=3)
    assert one.tables["table"].equals(other.tables["table"])
    assert one.manifest == other.manifest
    assert one.tables["table"]["code"].to_list() != frame["code"].to_list()
    assert not one.tables["table"].equals(one.tables["table"].sort("age", "code", nulls_last=True))
    for seed in (4, None):
        another = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=seed)
        assert another.tables["table"].equals(one.tables["table"])
        assert another.manifest == one.manifest
        assert another.receipt.seed != one.receipt.seed


# -- methods that cut links --------------------------------------------------------------------------------------


def some_sensitive(case, names):
    """The same table with these sensitive columns alone, the others dropped."""
    kinds = {name: case.schema.sensitive[name] for name in names}
    return Case(case.frame, replace(case.schema, sensitive=kinds, rest="drop"))


def spread(frame, names):
    """Sensitive values in turn, so that l of them can be had."""
    turns = {name: frame[name].unique(maintain_order=True).to_list() for name in names}
    turns |= {"stage": ["mild", "bad", "worse", "worst"], "income": [0.1, 0.2, 0.3, None, 0.5]}
    return frame.with_columns(
        pl.Series(name, [turns[name][row % len(turns[name])] for row in range(frame.height)], dtype=frame.schema[name])
        for name in names
    )


def shown_by(name, data):
    return shoal.Slices(shape=data.draw(st.sampled_from(["table", "files"]), "shape")) if name == "slicing" else None


def check_cut(case, method, publish, require=(), *, again=True):
    """What every release of buckets or slices keeps, and that no row is left out; the release."""
    release = check_contract(case, method, publish, require=require, seed=3, again=again)
    assert release.manifest.rows.left_out == 0
    needing = {one.key for one in method.promises(case.schema) if one.needs == "original"}
    assert set(release.receipt.achieved) == needing
    return release


@pytest.mark.parametrize("mix", KIND_MIXES)
@pytest.mark.parametrize(("name", "options"), every_cutter(), ids=str)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_contract_of_methods_that_cut_links(name, options, mix, data):
    beyond_the_simplest(data)
    case = data.draw(sensitive_tables(mix, min_rows=6, max_rows=24), "table")
    l = data.draw(st.integers(2, 3), "l")  # noqa: E741
    chosen = data.draw(st.lists(st.sampled_from(["illness", "stage", "income"]), min_size=1, unique=True), "sensitive")
    case = some_sensitive(case, chosen)
    if data.draw(st.sampled_from([True, True, False]), "spread"):
        case = Case(spread(case.frame, chosen), case.schema)
    own = {"column": chosen[0]} if name == "anatomy" else {}
    if name == "slicing" and data.draw(st.sampled_from([True, True, False]), "given"):
        groups = {column: data.draw(st.integers(1, 3), column) for column in (*case.schema.quasi, "note")}
        groups |= dict.fromkeys(chosen, data.draw(st.sampled_from([4, 4, 3]), "own column"))
        options = {key: options[key] for key in options if key not in ("columns", "sensitive_apart")} | {
            "groups": groups
        }
    method = METHODS[name](l=l, **own, **options)
    try:
        check_cut(case, method, shown_by(name, data))
    except shoal.InfeasibleError as error:
        check_nearest(error, case, method)
    except shoal.SchemaError as error:
        check_constant(error, case, name)


def check_constant(error, case, name):
    """Slicing refuses columns of one value, each by its name: they say nothing of others."""
    assert name == "slicing"
    published = [column for column in case.frame.columns if case.schema.roles.get(column) in ("quasi", "sensitive")]
    constant = [f"column {column!r}" for column in published if case.frame[column].n_unique() == 1]
    assert [problem.where for problem in error.problems if "is constant" in problem.what] == constant


def check_nearest(error, case, method):
    """An l that cannot be kept is refused with what can be done; Anatomy's nearest l is one."""
    assert all(problem.where.startswith(type(method).__name__) for problem in error.problems)
    assert all(problem.fix for problem in error.problems)
    if method.name == "anatomy":
        most = max(Counter(case.frame[method.column].to_list()).values())
        assert most * method.l > case.frame.height
        if case.frame.height // most >= 2:
            assert str(error).endswith(f"use an l of at most {case.frame.height // most}")
            check_cut(case, replace(method, l=case.frame.height // most), None, again=False)


@pytest.mark.parametrize("column", ["stage", "income"])
@settings(max_examples=examples(2))
@given(data=st.data())
def test_the_nearest_l_of_anatomy_can_be_kept(column, data):
    """A third to half of the rows have one value, and none is more frequent: one more than can be kept is asked for."""
    case = some_sensitive(data.draw(sensitive_tables(min_rows=8, max_rows=24), "table"), [column])
    value, *others = spread(case.frame, [column])[column].unique(maintain_order=True).to_list()
    n_rows = case.frame.height
    most = data.draw(st.integers(n_rows // 3, n_rows // 2), "most")
    cells = [*[value] * most, *(others[row % len(others)] for row in range(n_rows - most))]
    frame = case.frame.with_columns(pl.Series(column, cells, dtype=case.frame.schema[column]))
    method = METHODS["anatomy"](l=n_rows // most + 1, column=column)
    with pytest.raises(shoal.InfeasibleError) as refused:
        shoal.anonymize(frame, case.schema, method)
    check_nearest(refused.value, Case(frame, case.schema), method)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize(("name", "options"), every_cutter(), ids=str)
@settings(max_examples=1)
@given(data=st.data())
def test_files_of_methods_that_cut_links_verify(name, options, format, data):  # noqa: A002
    beyond_the_simplest(data)
    case = data.draw(sensitive_tables(min_rows=12, max_rows=24), "table")
    case = some_sensitive(Case(spread(case.frame, ["stage"]), case.schema), ["stage"])
    assume(name == "anatomy" or all(case.frame[column].n_unique() > 1 for column in case.schema.quasi))
    try:
        release = shoal.anonymize(
            case.frame, case.schema, METHODS[name](l=2, **options), publish=shown_by(name, data), seed=0
        )
    except shoal.InfeasibleError:
        assert not options.get("sensitive_apart")
        reject()
    with tempfile.TemporaryDirectory() as folder:
        back = shoal.read_release(release.write(f"{folder}/out", format=format))
        assert back.verify(original=case.frame).achieved == release.manifest.achieved | release.receipt.achieved
        for table in release.frames:
            texts = [frames[table].select(pl.all().cast(pl.String)) for frames in (back.frames, release.frames)]
            assert texts[0].equals(texts[1])


CARRIED = {
    "anatomy": set(MODELS) - {"k-anonymity", "k-map", "delta-presence", "guarding-nodes"},
    "slicing": set(),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "options"), every_cutter(), ids=str)
@settings(max_examples=examples(1))
@given(data=st.data())
def test_methods_that_cut_links_keep_the_models_they_carry(name, options, model, data):
    """Anatomy those that speak of sensitive values alone, slicing none; all others are refused before any work."""
    beyond_the_simplest(data)
    case = data.draw(sensitive_tables(min_rows=8, max_rows=30), "table")
    if data.draw(st.sampled_from([True, True, False]), "spread"):
        case = Case(spread(case.frame, ["stage"]), case.schema)
    one = data.draw(requirements(model, case), "require")
    own = {"column": "stage"} if name == "anatomy" else {}
    method = METHODS[name](l=2, **own, **options)
    carried = method.supports(one)
    assert name not in CARRIED or carried == (model in CARRIED[name])
    if not carried:
        with pytest.raises(shoal.ParameterError, match=f"require=: {model} cannot be kept by {name}; leave it out"):
            shoal.anonymize(case.frame, case.schema, method, require=[one])
        return
    try:
        check_cut(case, method, None, [one], again=False)
    except shoal.InfeasibleError as error:
        problems = Problems()
        method.check(prepare(case.frame, case.schema), problems)
        if not len(problems):
            promised = [*method.promises(case.schema), one]
            check_refusal(error, refused_before_work(case, [one], 0.0), name, options, promised)


def test_parts_that_cut_links_and_parts_that_hide_cells_do_not_mix():
    frame = mixed_frame(40)
    for name in LINKS:
        method = METHODS[name](l=2)
        others = SHOWN + [
            publisher()
            for key, publisher in PUBLISHERS.items()
            if publisher.protects == "links" and key != method.publisher
        ]
        for publish in others:
            with pytest.raises(shoal.ParameterError, match=f"the buckets of {name} cannot be shown by {publish.name}"):
                shoal.anonymize(frame, MIXED, method, publish=publish)
        with pytest.raises(
            shoal.ParameterError, match=f"refine=: does not apply to the buckets of {name}; leave it out"
        ):
            shoal.anonymize(frame, MIXED, method, refine=shoal.Refine())
        for method_name, options in every_method(any_table=True):
            publish = PUBLISHERS[METHODS[name].publisher]()
            with pytest.raises(
                shoal.ParameterError,
                match=f"{method_name} promises a k, and {publish.name} shows quasi-identifiers as they are",
            ):
                shoal.anonymize(frame, MIXED, K_METHODS[method_name](k=3, **options), publish=publish)
