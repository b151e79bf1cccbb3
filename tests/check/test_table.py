"""Any published table: its two readings against plain sets of values, files as other tools write them, bad input."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.check.containment
import shoal.check.readings
from shoal.check.promises import survey
from shoal.check.table import judge_table, verify_table
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Classes, Values
from shoal.privacy.epsilon_m import EpsilonM
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.k_map import KMap
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.testing import tables
from support.pairwise import examples
from twins.matching import MISSING, containing, fewest_matches

TREE = shoal.Hierarchy.from_tree({"x": ["a", "b"], "y": {"z": ["c"], "w": ["d", "e"]}}, root="any")
ORDER = ["low", "mid", "high"]
SCHEMA = shoal.Schema(
    quasi={"n": shoal.Numeric(), "o": shoal.Ordinal(ORDER), "t": shoal.Nominal(TREE)},
    sensitive={"s": shoal.Nominal(), "v": shoal.Numeric()},
)
NUMBERS = range(5)
NODES = {
    "any": "abcde", "x": "ab", "y": "cde", "z": "c", "w": "de", **{leaf: leaf for leaf in "abcde"},
    "{a, c}": "ac", "{a, b}": "ab", "{x, d}": "abd",
}  # fmt: skip


@st.composite
def shown(draw, universe, cells):
    """A cell as it is written, and the values it stands for."""
    sort = draw(st.sampled_from(["any", "missing", "cell", "cell", "cell"]))
    if sort == "any":
        return draw(st.sampled_from(["*", "**"])), frozenset(universe) | {MISSING}
    return (None, frozenset({MISSING})) if sort == "missing" else draw(cells)


@st.composite
def intervals(draw):
    low, high = sorted(draw(st.tuples(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS))))
    texts = [f"[{low}, {high}]"] + [str(low)] * (low == high)
    if low in (0, 2) and high in (1, 3, 4):  # none of these begins where another ends, so both ends are inside
        texts += [f"{low}-{high}", f"{low}..{high}"]
    if low == 0:
        texts.append(f"[0, {high}]")
    return draw(st.sampled_from(texts)), frozenset(range(low, high + 1))


@st.composite
def runs(draw):
    low, high = sorted(draw(st.tuples(st.integers(0, 2), st.integers(0, 2))))
    text = (
        ORDER[low]
        if low == high
        else draw(st.sampled_from([f"[{ORDER[low]}, {ORDER[high]}]", f"{ORDER[low]}-{ORDER[high]}"]))
    )
    return text, frozenset(ORDER[low : high + 1])


@st.composite
def nodes(draw):
    text = draw(st.sampled_from(sorted(NODES)))
    return text, frozenset(NODES[text])


@st.composite
def published(draw):
    """A published table and, row by row, the sets of values its cells stand for."""
    n_rows = draw(st.integers(1, 12))
    columns = [shown(NUMBERS, intervals()), shown(ORDER, runs()), shown("abcde", nodes())]
    rows = [[draw(column) for column in columns] for _ in range(n_rows)]
    frame = pl.DataFrame(
        [[cell[0] for cell in row] for row in rows], orient="row", schema=dict.fromkeys("not", pl.String)
    ).with_columns(
        s=pl.Series(draw(st.lists(st.sampled_from("pqr"), min_size=n_rows, max_size=n_rows))),
        v=pl.Series(draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))),
    )
    return frame, [tuple(cell[1] for cell in row) for row in rows]


def rich(rows):
    """The rows over more values: every cell holds one that only it and the cells around it have."""
    cells = [{row[column] for row in rows} for column in range(len(rows[0]))]
    return [
        tuple(cell | {("own", one) for one in cells[column] if one <= cell} for column, cell in enumerate(row))
        for row in rows
    ]


@settings(max_examples=examples(50))
@given(published())
def test_both_readings_against_plain_sets(given):
    frame, rows = given
    found = judge_table(frame, SCHEMA)
    cells, matching = found.readings["cells"], found.readings["matching"]
    assert cells.n_classes == matching.n_classes == len(set(rows))
    assert cells.surveyed["k"] == min(rows.count(row) for row in rows)
    assert matching.surveyed["k"] == min(len(containing(rows, row)) for row in rows)
    # Whoever is behind a row, at least so many rows match; and where there are values enough, not more for somebody.
    assert fewest_matches(rows) >= matching.surveyed["k"]
    assert fewest_matches(rich(rows)) == matching.surveyed["k"]
    assert matching.surveyed["k"] >= cells.surveyed["k"]
    assert matching.surveyed["l:s"] >= cells.surveyed["l:s"]


@settings(max_examples=examples(25))
@given(published())
def test_every_model_is_worked_out_on_the_rows_that_match(given):
    frame, rows = given
    whole = {"s": Values(frame["s"], "nominal"), "v": Values(frame["v"], "numeric")}
    slow: dict[str, float] = {}
    for row in rows:
        inside = np.array(containing(rows, row))
        classes = Classes(
            np.zeros(len(inside), dtype=np.int64), {name: one.take(inside) for name, one in whole.items()}
        )
        for model, value in survey(classes):
            worst = min if model.rising else max
            slow[model.key] = worst(slow.get(model.key, value), value)
    for at_once, together in ((2_000_000, 16), (1, 2), (7, 3)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shoal.check.readings, "ROWS_AT_ONCE", at_once)
            patch.setattr(shoal.check.containment, "TOGETHER", together)
            found = judge_table(frame, SCHEMA, require=[EpsilonM("v", epsilon=1, m=2)]).readings["matching"]
        assert found.surveyed.keys() == slow.keys()
        for key, value in slow.items():
            assert found.surveyed[key] == pytest.approx(value), (key, at_once, together)
        assert set(found.achieved) == {"m(epsilon=1):v"}


@settings(max_examples=examples(15))
@given(data=st.data())
def test_a_release_of_shoal_reads_the_same_as_any_table(data):
    mix = data.draw(st.sampled_from(["one", "numeric", "ordinal", "nominal", "mixed"]))
    case = data.draw(tables(mix, min_rows=4, max_rows=20))
    release = shoal.anonymize(
        case.frame, case.schema, shoal.Mondrian(k=2), publish=shoal.Generalize(sets=data.draw(st.booleans()))
    )
    verdict, found = release.verify(), judge_table(release.table, case.schema)
    assert found.unread == {}
    assert found.n_rows == verdict.n_rows
    assert found.surveyed["k"] >= verdict.k  # cells that look different may mean the same
    if found.readings["cells"].n_classes == verdict.n_classes:
        assert found.surveyed == pytest.approx(verdict.surveyed)


def test_many_boxes_against_all_pairs(n_threads):
    rng = np.random.default_rng(4)
    low = rng.integers(0, 30, (600, 3))
    high = low + rng.integers(0, 12, (600, 3)) * rng.integers(0, 2, (600, 3))
    columns = {f"c{j}": [f"[{a}, {b}]" for a, b in zip(low[:, j], high[:, j], strict=True)] for j in range(3)}
    columns["c1"] = ["*" if row % 7 == 0 else cell for row, cell in enumerate(columns["c1"])]
    low[::7, 1], high[::7, 1] = -1, 1000
    inside = (low[:, None] <= low[None]).all(axis=2) & (high[:, None] >= high[None]).all(axis=2)
    schema = shoal.Schema(quasi=dict.fromkeys(columns, shoal.Numeric()), sensitive=["s"])
    frame = pl.DataFrame({**columns, "s": rng.integers(0, 5, 600).astype(str)})
    for threads in (1, 2):
        n_threads(threads)
        found = judge_table(frame, schema).readings["matching"]
        assert found.surveyed["k"] == inside.sum(axis=0).min()
        codes = frame["s"].to_numpy()
        assert found.surveyed["l:s"] == min(len(set(codes[inside[:, row]])) for row in range(600))


# -- why containment -----------------------------------------------------------------------------------------------


def test_overlap_is_not_enough():
    """Somebody of 25 is behind the first row alone, though its interval overlaps with every other."""
    frame = pl.DataFrame({"age": ["20-40", "30-50", "35-60", "*"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    assert judge_table(frame, schema).readings["matching"].surveyed["k"] == 1  # only '*' is around itself
    frame = pl.DataFrame({"age": ["20-40", "30-50", "35-60", "*", "*"]})
    found = judge_table(frame, schema)
    assert (found.readings["cells"].surveyed["k"], found.readings["matching"].surveyed["k"]) == (1, 2)
    nested = pl.DataFrame({"age": ["30", "[30, 35]", "[20, 40]", "*", "*"]})
    assert judge_table(nested, schema, require=[KAnonymity(k=2)], reading="matching").reasons == ()


# -- as other tools write them -------------------------------------------------------------------------------------


def test_masks_and_intervals_as_arx_writes_them():
    frame = pl.DataFrame(
        {
            "zip": ["1305*", "1305*", "130**", "130**", "*****", "*****"],
            "age": ["[20, 30[", "[20, 30[", "[20, 40[", "[20, 40[", "*", "*"],
            "disease": ["flu", "ulcer", "flu", "ulcer", "flu", "ulcer"],
        }
    )
    schema = shoal.Schema(
        quasi={"zip": shoal.Nominal(shoal.Prefixes(keep=(4, 3))), "age": shoal.Numeric()}, sensitive=["disease"]
    )
    found = verify_table(
        frame, schema, require=[KAnonymity(k=2), LDiversity("disease", l=2), TCloseness("disease", t=0)]
    )
    assert found.achieved == {"k": 2, "l:disease": 2, "t:disease": 0}
    assert found.unread == {}
    assert found.readings["matching"].surveyed["k"] == 2  # the starred rows are alone with each other


def test_local_suppression_as_sdcmicro_writes_it():
    """NA is a value of its own unless it is said to stand for any."""
    frame = pl.DataFrame({"age": ["30", "30", "NA", "40", "40", "NA"], "sex": ["m", "m", "m", "NA", "f", "f"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "sex": shoal.Nominal()})
    assert judge_table(frame, schema).unread == {"age": 2}
    as_missing = judge_table(frame, schema, missing_values=["NA"])
    as_any = judge_table(frame, schema, suppressed=["NA"])
    assert as_missing.unread == as_any.unread == {}
    assert as_missing.readings == as_any.readings  # no row is sure to match more: the NA row may be of any age
    assert as_any.readings["matching"].surveyed["k"] == 1
    # What is left out of a cell can only add rows: somebody of 30 also matches the NA row.
    grown = pl.concat([frame, frame.filter(pl.col("age") == "NA"), frame.filter(pl.col("sex") == "NA")])
    assert judge_table(grown, schema, suppressed=["NA"]).readings["matching"].surveyed["k"] == 2


def test_intervals_as_pandas_cuts_them():
    import pandas as pd

    frame = pd.DataFrame(
        {"age": pd.cut(pd.Series([21, 25, 30, 31, 39, None]), [20, 30, 40]), "disease": list("aabbab")}
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    before = frame.dtypes.copy()
    found = judge_table(frame, schema)
    assert (frame.dtypes == before).all()
    assert (found.readings["cells"].n_classes, found.unread) == (3, {})
    assert found.surveyed["k"] == 1
    texts = pl.DataFrame({"age": ["(20.0, 30.0]", "(20, 30]", "(20,30]"], "disease": list("aab")})
    assert judge_table(texts, schema).readings["cells"].n_classes == 1


DISEASES = shoal.Hierarchy.from_tree(
    {
        "respiratory": {"infection": ["flu", "pneumonia", "bronchitis"]},
        "digestive": {"stomach": ["gastric ulcer", "gastritis", "stomach cancer"]},
    }
)
PEOPLE = {
    3: "gastric ulcer", 4: "gastritis", 5: "stomach cancer", 6: "gastritis", 7: "bronchitis", 8: "bronchitis",
    9: "pneumonia", 10: "stomach cancer", 11: "flu",
}  # fmt: skip


@pytest.mark.parametrize(
    ("classes", "ordered", "hierarchical"),
    [
        ({("476**", "2*"): (3, 4, 5), ("4790*", "≥40"): (6, 11, 8), ("476**", "3*"): (7, 9, 10)}, 3 / 8, 4 / 9),
        ({("4767*", "≤40"): (3, 5, 9), ("4790*", "≥40"): (6, 11, 8), ("4760*", "≤40"): (4, 7, 10)}, 1 / 6, 8 / 27),
    ],
)
def test_the_tables_of_the_t_closeness_paper_as_printed(classes, ordered, hierarchical):
    rows = [(*cells, salary, PEOPLE[salary]) for cells, salaries in classes.items() for salary in salaries]
    frame = pl.DataFrame(rows, orient="row", schema=["zip", "age", "salary", "disease"])
    schema = shoal.Schema(
        quasi={"zip": shoal.Nominal(), "age": shoal.Numeric()},
        sensitive={"salary": shoal.Numeric(), "disease": shoal.Nominal(DISEASES)},
    )
    found = verify_table(frame, schema, require=[KAnonymity(k=3), LDiversity("disease", l=3)])
    assert found.unread == {}
    assert found.surveyed["t_ordered:salary"] == pytest.approx(ordered)
    assert found.surveyed["t_hierarchical:disease"] == pytest.approx(hierarchical)


def test_ranges_as_small_programs_write_them():
    frame = pl.DataFrame({"age": ["20~30", "20-30", "[20, 30]", "20 to 30"], "job": ["a,b", "a,b", "a,b", "a,b"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "job": shoal.Nominal()})
    assert verify_table(frame, schema, require=[KAnonymity(k=4)]).k == 4


def fewest(cells, kind, **options):
    """k in both readings of one column."""
    found = judge_table(pl.DataFrame({"q": cells}), shoal.Schema(quasi={"q": kind}), **options)
    return found.readings["cells"].surveyed["k"], found.readings["matching"].surveyed["k"]


@pytest.mark.parametrize("kind", [shoal.Nominal(), shoal.Nominal(shoal.Prefixes(keep=(2,)))], ids=repr)
def test_masks_by_different_letters_make_no_class(kind):
    """Nobody can tell that both mean the same, and a class that seems larger than it is would be the dearer mistake."""
    assert fewest(["ab_", "ab#"], kind) == (1, 1)
    assert fewest(["ab_", "ab_", "ab#", "ab#"], kind) == (2, 2)
    assert fewest(["130**", "130__", "130##"], kind) == (1, 1)
    assert fewest(["130**", "130**", "130##", "130##"], kind) == (2, 2)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["ab_", "abc"], shoal.Nominal()),
        (["2*", "2#"], shoal.Numeric()),
        (["?", "*"], shoal.Numeric()),
        (["flu", "flu "], shoal.Nominal()),
        (["20-30", "[20, 30]", "30-40", "30-40"], shoal.Numeric()),
        (["20-30", "30-40", "30"], shoal.Numeric()),
        (["0.30000000000000001", "0.3"], shoal.Numeric()),
    ],
    ids=str,
)
def test_what_may_differ_makes_no_class(cells, kind):
    assert fewest(cells, kind)[0] == 1
    assert "?" in cells or fewest(cells, kind)[1] == 1


# -- what is said --------------------------------------------------------------------------------------------------

FRAME = pl.DataFrame(
    {
        "name": ["Zyx9Canary"] * 4,
        "age": ["20-30", "[20, 30]", "40-50", "oldZyx9"],
        "disease": ["flu", "ulcer", "flu", "flu"],
        "pay": ["1", "2", "3", "4"],
        "spare": [1, 2, 3, 4],
    }
)
PLAIN = shoal.Schema(
    identifying=["name"],
    quasi={"age": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal(), "pay": shoal.Numeric()},
    neutral=["gone"],
)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pl.Series([500_000_000, 900_000_000], dtype=pl.Int64).cast(pl.Time), shoal.Nominal()),
        (pl.Series(["12345678901234567890.1", "12345678901234567890.2"]).cast(pl.Decimal(38, 1)), shoal.Numeric()),
        (pl.Series(["12345678901234567890.1", "12345678901234567890.2"]).cast(pl.Decimal(38, 1)), shoal.Nominal()),
    ],
    ids=["times", "decimals", "decimals-as-names"],
)
def test_cells_of_other_types_that_differ_make_no_class(cells, kind):
    frame = pl.DataFrame({"a": pl.concat([cells, cells.head(1)])})
    found = verify_table(frame, shoal.Schema(quasi={"a": kind}))
    for reading in found.readings.values():
        assert (reading.n_classes, reading.surveyed["k"]) == (2, 1)


def test_decimals_are_read_as_the_numbers_they_are():
    cells = pl.Series(["1.10", "30.00", "1.10"]).cast(pl.Decimal(38, 2))
    found = verify_table(pl.DataFrame({"a": cells}), shoal.Schema(quasi={"a": shoal.Numeric()}))
    assert (found.readings["cells"].n_classes, found.unread) == (2, {})


def test_reasons_warnings_and_what_could_not_be_read():
    require = [KAnonymity(k=2), AlphaK("disease", alpha=0.5), KMap(k=2)]
    found = judge_table(FRAME, PLAIN, require=require)
    assert [str(problem) for problem in found.reasons] == [
        "k-anonymity: k = 2 was promised, the weakest class reaches 1",
        "alpha-k: column = disease, alpha = 0.5 was promised, the weakest class reaches 1",
    ]
    assert found.unread == {"age": 1}
    assert found.warnings == (
        "column 'name' has the role identifying, but is in the table",
        "columns without a role were not checked: spare",
    )
    assert found.unchecked == ("k-map: needs the population",)
    assert len(judge_table(FRAME, replace(PLAIN, rest="neutral")).warnings) == 1
    with pytest.raises(shoal.GuaranteeError, match="2 problems"):
        verify_table(FRAME, PLAIN, require=require)
    assert "Zyx9" not in repr(found)


LISTS = pl.DataFrame({"age": ["1"] * 6, "disease": ["a, b"] + ["a"] * 4 + ["b"], "pay": [0, 2000001] * 3})


@pytest.mark.parametrize(
    ("strict", "weak"),
    [
        (LDiversity("disease", l=4), LDiversity("disease", l=2)),
        (AlphaK("disease", alpha=0.3, values=["a", "b"]), AlphaK("disease", alpha=0.9, values=["a, b"])),
        (AlphaK("disease", alpha=0.3, values=["a"]), AlphaK("disease", alpha=0.9, values=["a"])),
        (EpsilonM("pay", epsilon=2000001, m=1.5), EpsilonM("pay", epsilon=2000000, m=1.5)),
    ],
    ids=str,
)
def test_a_requirement_is_judged_whatever_else_is_required(strict, weak):
    assert verify_table(LISTS, PLAIN, require=[weak]).reasons == ()
    alone = judge_table(LISTS, PLAIN, require=[strict]).reasons
    assert len(alone) == 1
    for require in ([strict, weak], [weak, strict]):
        assert judge_table(LISTS, PLAIN, require=require).reasons == alone


def test_models_of_another_package_that_share_a_key_are_judged_each():
    class Generous(KAnonymity):
        def achieved(self, classes):
            return 2 * super().achieved(classes)

    found = judge_table(LISTS, PLAIN, require=[KAnonymity(k=7), Generous(k=8)])
    assert [problem.where for problem in found.reasons] == ["k-anonymity"]
    assert found.achieved == {"k": 6}


ILLS = shoal.Hierarchy([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "stomach", "*")])


@pytest.mark.parametrize(
    ("cells", "kind", "options", "n_vague"),
    [
        (["flu", "lung", "*"], shoal.Nominal(ILLS), {}, 2),
        (["flu", "cold", "lung"], shoal.Nominal(ILLS), {}, 1),
        (["flu", "cold", "*"], shoal.Nominal(), {}, 1),
        (["flu", " ** ", "??"], None, {}, 2),
        (["flu", "cold", "NA"], shoal.Nominal(), {"suppressed": ["NA"]}, 1),
        (["flu", "cold", None], shoal.Nominal(), {"suppressed": [""]}, 1),
        ([1, 2, 99], shoal.Numeric(), {"suppressed": ["99"]}, 1),
        (["lo", "mid", "any"], shoal.Ordinal(["lo", "mid", "any"]), {"suppressed": ["any"]}, 1),
        (["flu", "{cold, flu}", "{flu}"], None, {}, 2),
        (["{cold, flu}", "{cold, gout}", "asthma"], shoal.Nominal(), {}, 2),
        (["13053", "130**", "1****"], shoal.Nominal(), {}, 2),
        (["13053", "1305_", "2"], None, {}, 1),
        (["C50", "C5x", "D1"], shoal.Nominal(shoal.Prefixes(keep=(1,), mask="x")), {}, 1),
        (["[1, 5]", "[4, 9]", "12"], None, {}, 2),
        (["3", "[1, 5]", "(5, 9]"], shoal.Nominal(), {}, 1),
        (["[1, 5)", "1-2", "[5, 9)"], None, {}, 1),
        (["[5, 5]", "5", "6"], None, {}, 1),
    ],
)
def test_sensitive_cells_that_say_less_than_a_value_are_no_further_value(cells, kind, options, n_vague):
    frame = pl.DataFrame({"age": [1] * 3, "d": pl.Series(cells, strict=False), "other": ["x", "y", "z"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"d": kind, "other": None})
    say = "1 cell says" if n_vague == 1 else f"{n_vague} cells say"
    match = rf"column 'd': {say} less than a value: .*; give the leaf values, or leave the column out"
    for require in ([LDiversity("d", l=3)], [LDiversity("d", l=2), AlphaK("d", alpha=0.34)]):
        with pytest.raises(shoal.SchemaError, match=match) as caught:
            verify_table(frame, schema, require=require, **options)
        assert len(caught.value.problems) == 1
    found = verify_table(frame, schema, require=[LDiversity("other", l=3)], **options)  # nothing depends on them
    assert [text for text in found.warnings if f"column 'd': {say} less than a value" in text]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["[1, 5)", "[5, 9)", "[9, 12]"], None), (["20-30", "25-40", "30"], None), (["130**", "140**", "150"], None),
        (["{flu", "flu}", "{}"], None), (["a#", "ab", "abc"], None), (["flu*", "cold", "gout"], shoal.Nominal()),
        (["{a, b}", "a", "b"], shoal.Nominal(shoal.Hierarchy([("{a, b}", "*"), ("a", "*"), ("b", "*")]))),
        (["{a, b}", "a", "b"], shoal.Ordinal(["a", "b", "{a, b}"])),
    ],
)  # fmt: skip
def test_sensitive_categories_that_only_look_like_several_values_are_values(cells, kind):
    frame = pl.DataFrame({"age": [1] * 3, "d": cells})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"d": kind})
    found = verify_table(frame, schema, require=[LDiversity("d", l=3)])
    assert (found.achieved, found.warnings) == ({"l:d": 3}, ())


def test_sensitive_values_and_missing_cells_are_values():
    frame = pl.DataFrame({"age": [1] * 4, "d": ["flu", "cold", None, "?"]})
    for kind in (shoal.Nominal(ILLS), shoal.Nominal()):
        schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"d": kind})
        found = verify_table(frame, schema, require=[LDiversity("d", l=3)], missing_values=["?"])
        assert (found.achieved, found.warnings) == ({"l:d": 3}, ())


@pytest.mark.parametrize(
    ("frame", "schema", "options", "error", "messages"),
    [
        (
            FRAME.drop("age", "disease"), PLAIN, {}, shoal.SchemaError,
            ["column 'age': quasi in the schema, but not in the table", "column 'disease': sensitive in the schema"],
        ),
        (FRAME.clear(), PLAIN, {}, shoal.SchemaError, ["table: has no rows"]),
        (FRAME, PLAIN, {"reading": "match"}, shoal.ParameterError, ["reading=: needs cells or matching; did you mean"]),
        (
            FRAME, PLAIN, {"require": [LDiversity("age", l=2), TCloseness("disease", t=0.1, distance="ordered")]},
            shoal.ParameterError, ["'age' is not a sensitive column of the schema", "column 'disease' "],
        ),
        (
            FRAME.with_columns(pay=pl.lit("Zyx9")), PLAIN, {}, shoal.SchemaError,
            ["column 'pay': is numeric in the schema, but 4 cells are not numbers"],
        ),
        (
            FRAME, shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(TREE)}), {},
            shoal.SchemaError, ["column 'disease': 4 cells are not in its hierarchy, at rows 1, 2, 3, 4"],
        ),
        (FRAME.with_columns(age=pl.lit(b"Zyx9")), PLAIN, {}, shoal.SchemaError, ["column 'age': holds Binary"]),
        (FRAME.with_columns(age=pl.lit([1])), PLAIN, {}, shoal.SchemaError, ["column 'age': holds List"]),
        ("table.csv", PLAIN, {}, shoal.SourceError, ["needs a polars, pandas or pyarrow frame, got str"]),
    ],
)  # fmt: skip
def test_bad_input(frame, schema, options, error, messages):
    with pytest.raises(error) as caught:
        verify_table(frame, schema, **options)
    for message in messages:
        assert message in str(caught.value)
    assert "Zyx9" not in str(caught.value)


# -- the command line ----------------------------------------------------------------------------------------------

RECIPE = """
[columns.name]
role = "identifying"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.disease]
role = "sensitive"
[columns.pay]
role = "sensitive"
kind = "numeric"
"""
PROMISE = """
[method]
name = "mondrian"
k = 2
[[require]]
model = "l-diversity"
column = "disease"
l = 2
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("table.csv")
    FRAME.write_parquet("table.parquet")
    FRAME[:2].write_excel("table.xlsx")
    (tmp_path / "bare.toml").write_text(RECIPE)
    (tmp_path / "recipe.toml").write_text(RECIPE + PROMISE)
    return tmp_path


@pytest.mark.parametrize("file", ["table.csv", "table.parquet"])
def test_a_file_is_reported(place, call, file):
    status, out, err = call("verify", file, "--schema", "bare.toml")
    assert (status, err) == (0, "")
    for text in (
        f"{file}: no requirement was given.",
        "warning   column 'name' has the role identifying, but is in the table",
        "unread    column 'age': 1 cell could not be read",
        "decides   cells:", "also      matching:", "entropy_l", "t_ordered",
    ):  # fmt: skip
        assert text in out
    assert "Zyx9" not in out


def test_a_file_that_does_not_keep_what_is_required(place, call):
    status, out, err = call("verify", "table.csv", "--schema", "recipe.toml")
    assert status == 1
    assert "table.csv does not keep what is required." in out
    assert "k-anonymity: k = 2 was promised, the weakest class reaches 1" in err
    assert "l-diversity: column = disease, l = 2, variant = distinct was promised, the weakest class reaches 1" in err
    assert "Zyx9" not in out + err
    status, out, err = call("verify", "table.csv", "--schema", "recipe.toml", "--json")
    entries = json.loads(out)
    assert (status, entries["holds"], err) == (1, False, "")
    assert [reason["where"] for reason in entries["reasons"]] == ["k-anonymity", "l-diversity"]
    assert entries["readings"]["matching"]["achieved"] == {"k": 1, "l:disease": 1}
    assert entries["readings"]["cells"]["surveyed"]["c(l=2):disease"] is None  # beyond all numbers
    assert entries["unread"] == {"age": 1}


def test_a_weaker_requirement_hides_no_stronger_one(place, call):
    LISTS.write_csv("lists.csv")
    ask = '[[require]]\nmodel = "alpha-k"\ncolumn = "disease"\nalpha = {}\nvalues = {}\n'
    (place / "lists.toml").write_text(RECIPE + ask.format(0.3, '["a", "b"]') + ask.format(0.9, '["a, b"]'))
    status, _, err = call("verify", "lists.csv", "--schema", "lists.toml")
    assert status == 1
    assert "alpha-k: column = disease, alpha = 0.3" in err


def test_a_file_whose_sensitive_cells_are_suppressed(place, call):
    (place / "vague.csv").write_text("age,disease,pay\n1,flu,1\n1,cold,2\n1,NA,3\n")
    status, out, err = call("verify", "vague.csv", "--schema", "recipe.toml", "--suppressed", "NA")
    assert (status, out) == (2, "")
    assert "column 'disease': 1 cell says less than a value" in err
    status, out, _ = call("verify", "vague.csv", "--schema", "bare.toml", "--suppressed", "NA")
    assert status == 0
    assert "warning   column 'disease': 1 cell says less than a value" in out


def test_a_file_that_keeps_what_is_required(place, call):
    status, out, _ = call("verify", "table.xlsx", "--schema", "recipe.toml", "--reading", "matching")
    assert status == 0
    assert "table.xlsx keeps what is required." in out
    assert "decides   matching:" in out
    FRAME.with_columns(age=pl.Series(["NA", "NA", "20", "20"]), disease=pl.Series(["a", "b"] * 2)).write_csv("na.csv")
    assert call("verify", "na.csv", "--schema", "recipe.toml", "--suppressed", "NA,.")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv", "--schema", "bare.toml"], "nowhere.csv: there is no such file"),
        (["nowhere"], "nowhere: does not exist; give the directory with manifest.json"),
        (["table.csv"], "table.csv: is a file, not a release directory; give --schema recipe.toml"),
        (
            [".", "--schema", "bare.toml"],
            ".: is not needed for a release directory: its manifest describes the columns",
        ),
        ([".", "--reading", "cells"], "--reading: is for a table with --schema"),
        (
            ["table.csv", "--schema", "bare.toml", "--population", "table.csv"],
            "--population: is for a release directory",
        ),
        (["table.csv", "--schema", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["table.csv", "--schema", "bare.toml", "--reading", "tight"], "reading=: needs cells or matching"),
        (["short.csv", "--schema", "bare.toml"], "column 'disease': sensitive in the schema, but not in the table"),
    ],
    ids=str,
)
def test_bad_command_lines(place, call, arguments, message):
    (place / "short.csv").write_text("age\n20-30\n")
    status, out, err = call("verify", *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_a_recipe_with_mistakes_is_refused_whole(place, call):
    broken = (
        RECIPE.replace("quasi", "kwasi") + '[[require]]\nmodel = "l-diversty"\n[method]\nname = "mondrian"\nk = 1\n'
    )
    (place / "broken.toml").write_text("sead = 1\n" + broken)
    status, _, err = call("verify", "table.csv", "--schema", "broken.toml")
    assert status == 2
    for text in ("sead: unknown key", "columns.age.role", "require[0].model", "method.k"):
        assert text in err


def test_a_release_with_a_population(place, call):
    people = pl.DataFrame({"age": [20, 21, 40, 41], "disease": ["flu", "ulcer"] * 2})
    people.write_csv("people.csv")
    recipe = '[source]\npath = "people.csv"\n' + RECIPE.replace('[columns.name]\nrole = "identifying"\n', "")
    recipe = recipe.replace('[columns.pay]\nrole = "sensitive"\nkind = "numeric"\n', "")
    (place / "run.toml").write_text(recipe + PROMISE)
    assert call("run", "run.toml")[0] == 0
    status, out, _ = call("verify", "release")
    assert status == 0
    assert "reached   k = 2, l:disease = 2" in out
    assert "t  " in out
    status, out, _ = call("verify", "release", "--population", "people.csv", "--schema", "run.toml", "--json")
    entries = json.loads(out)
    assert (status, entries["unchecked"]) == (0, [])
    assert entries["surveyed"]["alpha:disease"] == 0.5
