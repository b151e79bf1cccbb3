"""People linked with releases of every shape, against programs that compare everybody with everything."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Nominal, Numeric, Ordinal
from shoal.attack.knowledge import Known, Precision
from shoal.attack.matching import link
from shoal.attack.published import Published
from shoal.table.prepare import prepare
from shoal.testing import tables
from support.by_hand import release_of
from support.pairwise import examples
from support.slicing_example import ROWS, SCHEMA
from twins.attacks import UNKNOWN, gower, joint_chances, linked_groups, linked_rows

SHAPES = {
    "text": shoal.Generalize(),
    "sets": shoal.Generalize(sets=True),
    "typed": shoal.Generalize(shape="typed"),
    "classes": shoal.Generalize(shape="classes"),
}


def published(release):
    return Published.of(release.frames, release.manifest)


def rows_linked(release, names, frame, schema, given=None, **options):
    """How many published rows everybody is linked with."""
    known = Known(frame.select(names), schema=schema, given=given, **options)
    links = link(published(release), names, known)
    return links.rows[links.query]


@st.composite
def grouped(draw):
    """A table, groups of its rows, some of them suppressed, and what is known of whom how precisely."""
    case = draw(tables("mixed", min_rows=2, max_rows=20))
    n_rows = case.frame.height
    labels = draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    labels = [sorted(set(labels)).index(label) for label in labels]
    quasi = case.schema.quasi
    names = draw(st.lists(st.sampled_from(list(quasi)), min_size=1, unique=True))
    shuffled = {name: draw(st.permutations(case.frame[name].to_list())) for name in names}
    people = pl.DataFrame(shuffled, schema={name: case.frame.schema[name] for name in names})
    return case, labels, names, people


@st.composite
def precisions(draw, quasi, names):
    """Tolerances of numbers and ranks, levels of trees, by the name of the column."""
    found = {}
    for name in names:
        kind = quasi[name]
        if isinstance(kind, (Numeric, Ordinal)):
            found[name] = Precision(tolerance=draw(st.integers(0, 3)))
        elif kind.hierarchy is not None:
            found[name] = Precision(level=draw(st.integers(0, 3)))
    return found


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_generalised_cells(shape, data):
    case, labels, names, people = data.draw(grouped())
    quasi = case.schema.quasi
    precision = data.draw(precisions(quasi, names))
    openly = data.draw(st.booleans())
    release = release_of(case.frame, case.schema, labels, publish=SHAPES[shape])
    schema = prepare(case.frame, case.schema).schema
    found = rows_linked(
        release, names, people, schema, given=case.schema, precision=precision, open_missing=openly
    )  # fmt: skip
    rows, kinds = case.frame.select(names).rows(), [quasi[name] for name in names]
    asked = {
        "tolerance": {place: precision[name].tolerance for place, name in enumerate(names) if name in precision},
        "level": {place: precision[name].level for place, name in enumerate(names) if name in precision},
        "sets": shape == "sets",
    }
    for person, n_rows in zip(people.rows(), found, strict=True):
        told = [UNKNOWN if value is None and openly else value for value in person]
        groups = linked_groups(rows, labels, kinds, told, **asked)
        assert n_rows == len(linked_rows(labels, groups)), person


def test_somebody_from_elsewhere_fits_what_says_nothing_only():
    tree = shoal.Hierarchy([["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"], ["d", "C", "*"]])
    frame = pl.DataFrame({"x": ["a", "b", "a", "c"], "s": list("uvwx")})
    schema = shoal.Schema(quasi={"x": Nominal(tree)}, sensitive=["s"])
    release = release_of(frame, schema, [0, 0, 1, 1])
    people = pl.DataFrame({"x": ["a", "d", "nowhere"]})
    assert rows_linked(release, ["x"], people, schema).tolist() == [4, 2, 2]
    with pytest.raises(shoal.ParameterError, match="give the schema with the whole of it"):
        rows_linked(release, ["x"], people, None)


def test_a_rule_places_values_that_the_input_did_not_have():
    frame = pl.DataFrame({"zip": ["10115", "10117", "20095", "20097"]})
    schema = shoal.Schema(quasi={"zip": Nominal(shoal.Prefixes(keep=(2,)))})
    release = release_of(frame, schema, [0, 0, 1, 1])
    people = pl.DataFrame({"zip": ["10999", "20095", "30000"]})
    grown = prepare(frame, schema).schema
    assert rows_linked(release, ["zip"], people, grown, given=schema).tolist() == [2, 2, 0]


# -- parts that stand apart --------------------------------------------------------------------------------------------


def parts_of(release):
    """The parts of a release as pairs of a bucket and a row."""
    layout = release.manifest.layout
    return [
        list(zip(bucket.cast(pl.Int64).to_list(), rows.to_dicts(), strict=True))
        for rows, bucket in layout.laid_out.parts(release.frames, layout)
    ]


LINKED = {
    "anatomy": (shoal.Anatomy(l=2), None),
    "slicing": (shoal.Slicing(l=2, groups={"Age": 1, "Sex": 1, "Zip": 2, "Disease": 2}), None),
    "files": (shoal.Slicing(l=2, groups={"Age": 1, "Sex": 2, "Zip": 3, "Disease": 3}), shoal.Slices(shape="files")),
}


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("known", [["Age", "Sex", "Zip"], ["Zip"], ["Sex", "Age"], ["Age"]], ids="+".join)
def test_buckets_and_slices(name, known):
    method, publish = LINKED[name]
    release = shoal.anonymize(ROWS, SCHEMA, method, publish=publish, seed=3)
    read = published(release)
    people = pl.concat([ROWS, ROWS.with_columns(pl.col("Age") + 30)]).select(known)
    at = read.home("Disease")
    links = link(read, known, Known(people), at)
    parts, values = parts_of(release), sorted(set(ROWS["Disease"]))
    shown = read.parts[at].frame["Disease"].to_list()
    for person, query in zip(people.to_dicts(), links.query, strict=True):
        wanted = joint_chances(parts, person, "Disease")
        found = links.find(np.array([query]))
        mass = dict.fromkeys(values, 0.0)
        for unit, weight in zip(found.unit, found.weight, strict=True):
            for row in np.flatnonzero(links.units.label == unit):
                mass[shown[row]] += weight
        total = sum(mass.values())
        assert (total > 0) == bool(wanted)
        for value in values:
            assert mass[value] / (total or 1) == pytest.approx(float(wanted.get(value, 0)))


# -- averages ----------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_averages(data):
    case, labels, names, people = data.draw(grouped())
    release = release_of(case.frame, case.schema, labels, publish=shoal.Aggregate())
    read = published(release)
    links = link(read, names, Known(people, schema=case.schema))
    shown = read.parts[0].frame.select(names).rows()
    kinds = [case.schema.quasi[name] for name in names]

    def told(row):
        return [
            None if value == "*" else kind.order.index(value) if isinstance(kind, Ordinal) and value else value
            for value, kind in zip(row, kinds, strict=True)
        ]

    lines, asked = [told(row) for row in shown], [told(row) for row in people.rows()]
    ranges = []
    for place, kind in enumerate(kinds):
        there = [line[place] for line in (*lines, *asked) if line[place] is not None]
        ranges.append(None if isinstance(kind, Nominal) else (max(there) - min(there) if there else 0.0))
    for person, n_rows in zip(asked, links.rows[links.query], strict=True):
        far = [gower(person, line, ranges) for line in lines]
        assert n_rows == sum(one <= min(far) + 1e-9 for one in far)


def test_a_midnight_that_nobody_had_is_linked_with_its_day():
    frame = pl.DataFrame({"seen": [f"2024-01-01 0{hour}:00:00" for hour in range(1, 5)]})
    schema = shoal.Schema(quasi={"seen": Nominal(shoal.Dates(levels=("day", "month")))})
    release = release_of(frame, schema, [0, 0, 1, 1])
    people = pl.DataFrame({"seen": ["2024-01-01", "2024-01-02"]})
    assert rows_linked(release, ["seen"], people, prepare(frame, schema).schema, given=schema).tolist() == [4, 0]
