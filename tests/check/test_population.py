"""A population against a release: who is covered by which class, counted by a slow twin over plain sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.cell_forms import set_values
from shoal.check.population import population_matches
from shoal.check.release import class_numbers
from shoal.engines.description import Asked, describe
from shoal.errors import Problems
from shoal.methods.groups import Groups
from shoal.published.release import Release
from shoal.table.prepare import prepare
from shoal.testing import CATEGORIES, tables
from support.pairwise import examples
from twins.matching import MISSING, fits


def matches_of(release, population, schema=None):
    layout = release.manifest.layout
    cells = layout.laid_out.cells(release.frames, layout, Problems())
    labels = class_numbers(cells, layout.class_columns)
    return population_matches(cells, labels, layout, population, schema), labels, cells


def universe(table, name, people):
    """Every value that anybody has in a column, and one that nobody has."""
    known = [*table.frame[name].to_list(), *people[name].to_list()]
    return {MISSING if value is None else value for value in known} | {MISSING}


def covered(table, kind, column, cells, values):
    """The values a published cell covers, found by plain means."""
    if len(column.columns) > 1:
        low, high, *gone = cells
        if low is None:
            return {MISSING} if gone[0] is True else values
        text = f"[{low}, {high}]"
    else:
        text = cells[0]
    if text is None:
        return {MISSING}
    if text == "*":
        return values
    present = values - {MISSING}
    if column.form == "node":
        tree = kind.hierarchy or table.hierarchy(column.name)
        paths = {value: tree.path(value) if value in tree.node_of else (value, tree.root) for value in present}
        return {value for value in present if text in paths[value]}
    if column.form == "set":
        inside = set_values(text[1:-1]) if text.startswith("{") else [text]
        return present & set(inside)
    order = {} if column.form != "order" else {category: rank for rank, category in enumerate(kind.order)}
    place = order.get if column.form == "order" else float
    for low in present:
        for high in present:
            if text in (f"[{low}, {high}]", f"[{float(low)}, {float(high)}]" if column.form != "order" else ""):
                return {value for value in present if place(low) <= place(value) <= place(high)}
    return {value for value in present if str(value) == text or (column.form != "order" and float(text) == value)}


@settings(max_examples=examples(25))
@given(data=st.data())
def test_people_are_counted_as_by_the_twin(data):
    mix = data.draw(st.sampled_from(["one", "numeric", "ordinal", "nominal", "mixed"]))
    case = data.draw(tables(mix, min_rows=4, max_rows=14))
    publish = shoal.Generalize(
        shape=data.draw(st.sampled_from(["text", "typed", "classes"])), sets=data.draw(st.booleans())
    )
    release = shoal.anonymize(case.frame, case.schema, shoal.Mondrian(k=2), publish=publish)
    names = list(case.schema.quasi)
    extra = data.draw(st.integers(0, 6))
    rows = [data.draw(st.sampled_from(case.frame[name].to_list()), name) for _ in range(extra) for name in names]
    more = pl.DataFrame([rows[at : at + len(names)] for at in range(0, len(rows), len(names))], orient="row",
                        schema={name: case.frame.schema[name] for name in names})  # fmt: skip
    people = pl.concat([case.frame.select(names), more])
    found, labels, cells = matches_of(release, people, case.schema)
    table = prepare(case.frame, case.schema)
    boxes = []
    for number in range(labels.max() + 1):
        row = int(np.flatnonzero(labels == number)[0])
        box = []
        for column in release.manifest.layout.quasi:
            shown, values = cells.select(column.columns).row(row), universe(table, column.name, people)
            box.append(covered(table, case.schema.quasi[column.name], column, shown, values))
        boxes.append((int((labels == number).sum()), box))
    per_class, chances = fits(boxes, [tuple(MISSING if v is None else v for v in row) for row in people.rows()])
    assert found.per_class.tolist() == per_class
    assert np.allclose(found.chance, chances)
    assert (found.per_class >= [size for size, _ in boxes]).all()


TREE = shoal.Hierarchy.from_tree({"lung": ["flu", "asthma"], "belly": ["ulcer", "colic"]})


@pytest.fixture(scope="module")
def release():
    frame = pl.DataFrame({"age": [20, 21, 40, 41], "illness": ["flu", "asthma", "ulcer", "ulcer"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "illness": shoal.Nominal(TREE)})
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=2))


def people(*rows):
    return pl.DataFrame(rows, orient="row", schema={"age": pl.Int64, "illness": pl.String})


SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric(), "illness": shoal.Nominal(TREE)})


def test_a_value_that_is_not_published_is_placed_by_the_schema(release):
    """'colic' is not in the release, and neither is 'belly': it is covered by nothing that is shown."""
    everybody = people((20, "flu"), (21, "asthma"), (20, "asthma"), (40, "ulcer"), (41, "ulcer"), (40, "colic"))
    assert "no known place in the hierarchy; give the schema" in matches_of(release, everybody)[0]
    found = matches_of(release, everybody, SCHEMA)[0]
    assert sorted(found.per_class.tolist()) == [2, 3]
    assert found.chance.tolist() == [2 / 3] * 3 + [1, 1, 0]


def test_a_missing_value_of_a_person_is_covered_by_missing_and_by_star():
    frame = pl.DataFrame({"age": [20, 20, None, None, 60, None]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()})
    labels = np.array([0, 0, 1, 1, 2, 2])
    table, groups = prepare(frame, schema), Groups(labels)
    published = shoal.Generalize().publish(table, groups)
    manifest = describe(published, Asked(shoal.Mondrian(k=2), shoal.Generalize()), left_out=0)
    found, *_ = matches_of(Release(published.tables, manifest), pl.DataFrame({"age": [20, 30, None]}))
    assert found.per_class.tolist() == [1, 1, 3]
    assert found.chance.tolist() == pytest.approx([2 + 2 / 3, 2 / 3, 2 + 2 / 3])


def test_a_hierarchy_of_another_schema_is_refused(release):
    other = shoal.Hierarchy.from_tree({"lung": ["flu"], "belly": ["ulcer", "colic", "asthma"]})
    schema = replace(SCHEMA, quasi={"age": shoal.Numeric(), "illness": shoal.Nominal(other)})
    with pytest.raises(shoal.ParameterError, match="its hierarchy of 'illness' is not the one of the release"):
        matches_of(release, people((20, "flu")), schema)


def test_published_values_must_lie_as_deep_in_the_schema():
    """Only 'flu', 'cold' and 'ulcer' are named, but it shows that the first two have a node of their own."""
    tree = shoal.Hierarchy.from_tree({"lung": ["flu", "cold", "asthma"], "belly": ["ulcer", "colic"]})
    frame = pl.DataFrame({"illness": ["flu", "flu", "cold", "cold", "ulcer", "ulcer"]})
    schema = shoal.Schema(quasi={"illness": shoal.Nominal(tree)})
    made = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    assert matches_of(made, frame, schema)[0].per_class.tolist() == [2, 2, 2]
    flatter = [("flu", "*"), ("cold", "*"), *(tree.path(leaf) for leaf in ("asthma", "ulcer", "colic"))]
    other = shoal.Schema(quasi={"illness": shoal.Nominal(shoal.Hierarchy(flatter))})
    with pytest.raises(shoal.ParameterError, match="its hierarchy of 'illness' is not the one of the release"):
        matches_of(made, frame, other)


def test_a_value_that_is_not_published_lies_below_the_root_of_a_flat_hierarchy():
    tree = shoal.Hierarchy.flat("flu", "asthma", "ulcer", root="any illness")
    frame = pl.DataFrame({"illness": ["flu", "asthma", "ulcer", "ulcer"]})
    made = shoal.anonymize(frame, shoal.Schema(quasi={"illness": shoal.Nominal(tree)}), shoal.Mondrian(k=4))
    assert made.table["illness"].to_list() == ["any illness"] * 4
    assert matches_of(made, pl.DataFrame({"illness": ["flu", "colic"]}))[0].per_class.tolist() == [2]


class TestOrdered:
    """Categories with an order: the manifest has those that cells name, and their ranks in the whole order."""

    ORDER = ("none", "mild", "fair", "bad", "fatal")

    @pytest.fixture
    def graded(self):
        frame = pl.DataFrame({"pain": ["none", "mild", "bad", "bad"]})
        return shoal.anonymize(frame, self.schema(*self.ORDER), shoal.Mondrian(k=2))

    @staticmethod
    def schema(*order):
        return shoal.Schema(quasi={"pain": shoal.Ordinal(order)})

    def test_the_schema_places_what_is_not_published(self, graded):
        everybody = pl.DataFrame({"pain": ["none", "mild", "fair", "bad", "fatal"]})
        assert "no known place in its order; give the schema" in matches_of(graded, everybody)[0]
        found = matches_of(graded, everybody, self.schema(*self.ORDER))[0]
        assert sorted(found.per_class.tolist()) == [1, 2]
        assert found.chance.tolist() == [1, 1, 0, 2, 0]

    def test_a_value_outside_of_the_order_has_no_place(self, graded):
        found = matches_of(graded, pl.DataFrame({"pain": ["slight"]}), self.schema(*self.ORDER))[0]
        assert found == "of the population, column 'pain' has values that are not in its order"

    @pytest.mark.parametrize(
        "order",
        [("mild", "none", "fair", "bad", "fatal"), (*ORDER, "worse"), ORDER[:-1]],
        ids=["other ranks", "longer", "shorter"],
    )
    def test_another_order_is_refused(self, graded, order):
        with pytest.raises(shoal.ParameterError, match="its order of 'pain' is not the one of the release"):
            matches_of(graded, pl.DataFrame({"pain": ["none"]}), self.schema(*order))


def test_a_population_without_the_columns_or_with_other_cells_is_refused(release):
    with pytest.raises(shoal.ParameterError, match="population: has no column age, illness"):
        matches_of(release, pl.DataFrame({"x": [1]}))
    with pytest.raises(shoal.SchemaError, match="column 'age': is numeric in the schema, but 1 cell is not numbers"):
        matches_of(release, pl.DataFrame({"age": ["old"], "illness": ["flu"]}))


@pytest.mark.parametrize("publish", [shoal.Aggregate(), shoal.Centres()], ids=str)
def test_only_what_generalises_covers_people(publish):
    frame = pl.DataFrame({"age": [20, 21, 40, 41]})
    made = shoal.anonymize(frame, shoal.Schema(quasi={"age": shoal.Numeric()}), shoal.Mondrian(k=2), publish=publish)
    assert matches_of(made, frame)[0] == "only a release that generalises can be compared with a population"


def test_rules_place_values_that_were_never_seen():
    frame = pl.DataFrame(
        {"zip": ["13001", "13002", "14001", "14002"], "day": ["1980-05-01", "1980-06-01"] * 2, "pay": [1, 2, 11, 12]}
    )
    schema = shoal.Schema(
        quasi={
            "zip": shoal.Nominal(shoal.Prefixes(keep=(2,))),
            "day": shoal.Nominal(shoal.Dates()),
            "pay": shoal.Numeric(shoal.Intervals(width=(10,))),
        }
    )
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2))
    everybody = pl.DataFrame(
        {"zip": ["13999", "14001", "13001"], "day": ["1980-12-31", "1980-01-01", "1981-01-01"], "pay": [9, 10, 3]}
    )
    found = matches_of(release, everybody, schema)[0]
    assert sorted(found.per_class.tolist()) == [1, 1]
    assert found.chance.tolist() == [2, 2, 0]


@pytest.mark.parametrize("rule", [shoal.Grouping(sizes=(3, 2)), shoal.Prefixes(keep=(1,))], ids=str)
@pytest.mark.parametrize("require", [shoal.KMap(k=4), shoal.DeltaPresence(low=0, high=0.9)], ids=str)
def test_rules_over_an_order_place_all_of_its_categories(rule, require):
    order, rng = [f"{tens}{ones}" for tens in "ab" for ones in range(6)], np.random.default_rng(1)
    schema = shoal.Schema(quasi={"step": shoal.Ordinal(order, rule)})
    frame, everybody = (pl.DataFrame({"step": rng.choice(order, n)}) for n in (60, 300))
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[require], population=everybody)
    assert not release.verify(population=everybody, schema=schema).unchecked


@pytest.mark.parametrize("kind", [shoal.Numeric(shoal.Quantiles(parts=(4, 2))), shoal.Nominal(shoal.Grouping((2,)))])
@pytest.mark.parametrize("require", [shoal.KMap(k=4), shoal.DeltaPresence(low=0, high=0.9)], ids=str)
def test_a_hierarchy_of_the_values_of_the_table_has_no_place_for_a_population(kind, require):
    cells = list(range(40)) if isinstance(kind, shoal.Numeric) else [f"c{place}" for place in range(40)]
    frame, schema = pl.DataFrame({"step": cells}), shoal.Schema(quasi={"step": kind})
    with pytest.raises(shoal.ParameterError, match="column 'step': its hierarchy is built of the values of the table"):
        shoal.anonymize(frame, schema, shoal.Mondrian(k=2), require=[require], population=frame)


def test_the_number_of_threads_changes_nothing(n_threads):
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"a": rng.integers(0, 50, 400), "b": rng.choice(list(CATEGORIES), 400)})
    schema = shoal.Schema(quasi={"a": shoal.Numeric(), "b": shoal.Nominal()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5, strict=False), publish=shoal.Generalize(sets=True))
    found = []
    for threads in (1, 2):
        n_threads(threads)
        found.append(matches_of(release, frame)[0])
    assert (found[0].per_class == found[1].per_class).all()
    assert (found[0].chance == found[1].chance).all()
