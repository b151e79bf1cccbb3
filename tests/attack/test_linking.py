"""The linking attack: the voters' list of the paper, tables as they are, and what k-anonymity leaves of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from attacks.chance import LEVEL, at_least
from shoal import Background, sample
from shoal.testing import tables
from support.by_hand import PATIENT_SCHEMA, PATIENTS, TABLES, release_of, unchanged
from support.pairwise import examples
from support.registered import K_METHODS
from support.slicing_example import ROWS, SCHEMA
from twins.attacks import linked_groups, linked_rows

VOTERS = pl.concat(
    [
        PATIENTS.select("Name", "Age", "Sex", "Zip"),
        pl.DataFrame({"Name": ["Hari", "Indu"], "Age": [24, 45], "Sex": ["M", "F"], "Zip": [600007, 600030]}),
    ]
)
"""The voters' list: everybody of the patients' table, and two people who were never ill."""


def linking(release, original, **given):
    return release.attack(original, "linking", **given)["linking"]


# -- the voters' list of Poovammal and Ponnavaikko ---------------------------------------------------------------------


@pytest.mark.parametrize(("table", "chances"), [
    ("I", [1, 1, 1, 1, 1, 1, 1]),
    ("III", [1 / 4, 1 / 4, 1 / 3, 1 / 4, 1 / 3, 1 / 4, 1 / 3]),
    ("IV", [1 / 3, 1 / 4, 1 / 4, 1 / 3, 1 / 4, 1 / 3, 1 / 4]),
])  # fmt: skip
def test_the_voters_list_against_the_tables_of_the_paper(table, chances):
    """Everybody is found in Table I; in Tables III and IV among three or four: 2 / 7 on average."""
    release = release_of(PATIENTS, PATIENT_SCHEMA, TABLES[table], k=3)
    found = linking(release, PATIENTS, outside=VOTERS, schema=PATIENT_SCHEMA)
    assert found.people["chance"].to_list() == pytest.approx([*chances, 0, 0])
    assert (found.n, found.success) == (9, pytest.approx(sum(chances) / 9))
    assert found.baseline == pytest.approx(7 / 9 / 7)
    at_best = [place for place, chance in enumerate(chances) if chance == max(chances)]
    assert list(found.at_risk[: len(at_best)]) == at_best
    patients = linking(release, PATIENTS)
    assert patients.success == pytest.approx(1.0 if table == "I" else 2 / 7)
    assert patients.figures["unique_right"] == (1.0 if table == "I" else 0.0)


def test_somebody_who_is_not_a_patient_fits_all_the_same():
    """Hari is 24, of the next street: the cells of Table IV cover him, those of Table III do not; Indu fits nothing."""
    rows = {}
    for table in ("III", "IV"):
        release = release_of(PATIENTS, PATIENT_SCHEMA, TABLES[table], k=3)
        rows[table] = linking(release, PATIENTS, outside=VOTERS, schema=PATIENT_SCHEMA).people["rows"].to_list()[-2:]
    assert rows == {"III": [0, 0], "IV": [4, 0]}


def test_what_the_paper_says_of_girija():
    """Table III gives her disease away (homogeneity); Table IV leaves 3 / 4 for it and for about her income."""
    girija = VOTERS.filter(pl.col("Name") == "Girija")
    schema = replace(PATIENT_SCHEMA, sensitive={"Income": shoal.Numeric(), "Disease": shoal.Nominal()})
    wanted = {"III": (1.0, 1.0, 1.0), "IV": (0.0, 3 / 4, 3 / 4)}
    for table, (certain, belief, near) in wanted.items():
        release = release_of(PATIENTS, schema, TABLES[table], k=3)
        given = {"outside": girija, "schema": schema}
        found = release.attack(PATIENTS, **given)
        assert found["homogeneity:Disease"].success == certain
        assert found["skewness:Disease"].success == belief
        assert release.attack(PATIENTS, "proximity", epsilon=30, **given)["proximity:Income"].success == near


# -- tables as they are, and what k leaves -----------------------------------------------------------------------------


@settings(max_examples=examples(20), deadline=None)
@given(tables("mixed", min_rows=2, max_rows=20))
def test_every_unique_row_of_an_unchanged_table_is_found(case):
    names = list(case.schema.quasi)
    found = linking(unchanged(case.frame, case.schema), case.frame, schema=case.schema)
    alike = case.frame.select(pl.struct(names).is_duplicated()).to_series().to_list()
    for chance, doubled in zip(found.people["chance"], alike, strict=True):
        assert chance <= 0.5 if doubled else chance == 1.0


@pytest.mark.parametrize("name", K_METHODS)
def test_nobody_is_found_with_a_larger_chance_than_one_in_k(name):
    frame, k = sample.people(60, seed=4), 4
    quasi = {
        name: sample.schema().quasi[name] for name in (["age"] if name == "optimal-univariate" else ["age", "sex"])
    }
    schema = shoal.Schema(quasi=quasi, sensitive=["disease"], rest="drop")
    known = {one.name: {"k": k}.get(one.name, 1.0) for one in K_METHODS[name].parameters() if one.required}
    release = shoal.anonymize(frame, schema, K_METHODS[name](**known), publish=shoal.Generalize(), seed=5)
    found = linking(release, frame, schema=schema)
    assert found.people["chance"].max() <= 1 / k + 1e-12
    assert found.success <= found.high
    assert found.success <= 1 / k


def pointed_at(frame, labels, names, rng):
    """Really point at a published row that fits everybody, drawn; whether it is the person's own.

    Whose a row is, the position says: rows that show the same are in no other order than those of the table.
    """
    rows, kinds = frame.select(names).rows(), [shoal.Numeric()] * len(names)
    hits = []
    for place, person in enumerate(rows):
        candidates = linked_rows(labels, linked_groups(rows, labels, kinds, person))
        hits.append(rng.choice(candidates) == place)
    return hits


@pytest.mark.parametrize("k", [4, 10])
def test_a_binomial_test_accepts_one_in_k_and_refuses_twice_that(k):
    """Guesses are right no more often than 1 / k allows; with groups of k / 2, the same test finds that out."""
    frame, rng = pl.DataFrame({"x": range(400), "s": ["a", "b"] * 200}), np.random.default_rng(7)
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    for size, holds in ((k, True), (k // 2, False)):
        labels = [place // size for place in range(400)]
        release = release_of(frame, schema, labels, k=size)
        found, hits = linking(release, frame), pointed_at(frame, labels, ["x"], rng)
        assert found.success == pytest.approx(1 / size)
        assert at_least(sum(hits), found.people["chance"].to_list()) >= LEVEL
        assert at_least(len(hits) - sum(hits), (1 - found.people["chance"]).to_list()) >= LEVEL
        assert (at_least(sum(hits), [1 / k] * len(hits)) >= LEVEL) == holds


def test_pointing_at_rows_of_a_release_of_mondrian():
    rng = np.random.default_rng(3)
    frame = pl.DataFrame({"x": rng.normal(size=300), "y": rng.normal(size=300), "s": ["a", "b"] * 150})
    schema = shoal.Schema(quasi={"x": shoal.Numeric(), "y": shoal.Numeric()}, sensitive=["s"])
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), seed=1)
    found, hits = linking(release, frame), pointed_at(frame, release.labels.tolist(), ["x", "y"], rng)
    assert at_least(sum(hits), [1 / 5] * 300) >= LEVEL
    assert found.low <= np.mean(hits) <= found.high


# -- what is known -----------------------------------------------------------------------------------------------------


def test_less_knowledge_finds_fewer():
    frame, schema = sample.people(300, seed=3), sample.schema()
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1)
    backgrounds = [
        Background(), Background(tolerance={"age": 5}), Background(known=["age", "sex", "postcode"]),
        Background(known=["age", "sex", "postcode"], level={"postcode": 4}), Background(known=["age"]),
        Background(known=["age"], tolerance={"age": 200}),
    ]  # fmt: skip
    exact, about, three, coarse, one, none = (
        linking(release, frame, schema=schema, background=one).success for one in backgrounds
    )
    assert exact > about
    assert exact > three > coarse > one > none
    assert none == pytest.approx(1 / 300)


def test_so_many_people_are_drawn_by_the_seed():
    frame, schema = sample.people(100, seed=3), sample.schema()
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), seed=1)
    few = Background(people=10)
    one, same, other = (linking(release, frame, schema=schema, background=few, seed=s) for s in (1, 1, 2))
    assert one.n == other.n == 10
    assert one.people.equals(same.people)
    assert set(one.people["position"]) != set(other.people["position"])
    everybody = linking(release, frame, schema=schema, background=Background(people=1000))
    assert everybody.n == 100


def test_sensitive_columns_can_be_known_too():
    release = release_of(PATIENTS, PATIENT_SCHEMA, TABLES["III"], k=3)
    knows = Background(known=["Sex", "Disease"])
    found = linking(release, PATIENTS, schema=PATIENT_SCHEMA, background=knows)
    assert found.people["rows"].to_list() == [2, 1, 3, 1, 3, 2, 3]


def test_an_outside_table_that_is_wrong():
    """An age that was written down wrong: the row is not among those that fit, or fits only by chance."""
    release = release_of(PATIENTS, PATIENT_SCHEMA, TABLES["IV"], k=3)
    wrong = VOTERS.head(3).with_columns(Age=pl.Series([25, 28, None]))
    found = linking(release, PATIENTS, outside=wrong, schema=PATIENT_SCHEMA)
    assert found.people["rows"].to_list() == [0, 4, 4]  # Anand fits nothing, Barbie and Charles their own group
    assert found.people["chance"].to_list() == [0, 1 / 4, 1 / 4]


# -- rows left out, people with several rows ---------------------------------------------------------------------------


def test_rows_left_out_are_found_by_nobody():
    frame = pl.DataFrame({"age": [21, 22, 41, 42, 43], "disease": list("abcde")})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = release_of(frame, schema, [0, 0, 1, -1, 1])
    assert linking(release, frame).people["chance"].to_list() == [0.5, 0.5, 0.5, 0.0, 0.5]
    read = shoal.Release(release.frames, release.manifest)  # without labels: whoever fits is taken to be there
    assert linking(read, frame).people["chance"].to_list() == [0.5, 0.5, 0.5, 0.5, 0.5]


def test_people_are_counted_not_rows():
    frame = pl.DataFrame({"id": list("aabcd"), "age": [21, 21, 21, 41, 42], "disease": list("abcde")})
    schema = shoal.Schema(identifying=["id"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = release_of(frame, schema, [0, 0, 0, 1, 1])
    rows, people = linking(release, frame), linking(release, frame, person="id")
    assert (rows.n, rows.success) == (5, pytest.approx(2 / 5))
    assert people.people["chance"].to_list() == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 2, 1 / 2])
    assert (people.n, people.success) == (4, pytest.approx((2 / 3 + 1 / 3 + 1) / 4))
    voters = pl.DataFrame({"id": list("abz"), "age": [21, 21, 41]})
    outside = linking(release, frame, outside=voters, schema=schema, person="id")
    assert (outside.n, outside.success) == (3, pytest.approx((2 / 3 + 1 / 3) / 3))


def test_any_row_of_a_person_is_right_in_whichever_class_it_is():
    """Two classes overlap, and 30 fits both: of the five rows that fit, two are the person's."""
    frame = pl.DataFrame({"id": list("abacd"), "age": [20, 40, 30, 28, 50], "disease": list("abcde")})
    schema = shoal.Schema(identifying=["id"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    release = release_of(frame, schema, [0, 0, 1, 1, 1])  # [20, 40] and [28, 50]
    found = linking(release, frame, person="id")
    assert found.people["chance"].to_list() == pytest.approx([1 / 2, 1 / 5, 2 / 5, 1 / 5, 1 / 3])
    both = shoal.Background(known=["age", "disease"])
    assert linking(release, frame, person="id", background=both).people["chance"].to_list() == [1.0] * 5


@settings(max_examples=examples(25), deadline=None)
@given(st.data())
def test_people_with_several_rows_against_every_row(data):
    case = data.draw(tables("mixed", min_rows=2, max_rows=14))
    n_rows, names = case.frame.height, list(case.schema.quasi)
    labels = data.draw(
        st.lists(st.integers(-1, 3), min_size=n_rows, max_size=n_rows).filter(lambda some: max(some) >= 0)
    )
    labels = [sorted({*labels} - {-1}).index(label) if label >= 0 else -1 for label in labels]
    whose = data.draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))
    known = names[: data.draw(st.integers(1, len(names)))]
    original = case.frame.with_columns(pl.Series("whose", whose))
    schema = replace(case.schema, identifying=[*case.schema.identifying, "whose"])
    background, release = shoal.Background(known=known), release_of(original, schema, labels)
    found = linking(release, original, schema=schema, person="whose", background=background)
    shown = [row for row in range(n_rows) if labels[row] >= 0]
    rows, kinds = original.select(known).rows(), [schema.quasi[name] for name in known]
    inside = [rows[row] for row in shown], [labels[row] for row in shown]
    for place, person in enumerate(rows):
        fit = [shown[one] for one in linked_rows(inside[1], linked_groups(*inside, kinds, person))]
        theirs = sum(whose[row] == whose[place] for row in fit)
        assert found.people["chance"][place] == pytest.approx(theirs / len(fit) if fit else 0.0)


# -- other shapes ------------------------------------------------------------------------------------------------------


def test_buckets_show_everybody():
    """Quasi-identifiers are published as they are: whose are unique is found, though not the sensitive value."""
    release = shoal.anonymize(ROWS, SCHEMA, shoal.Anatomy(l=2), seed=3)
    found = linking(release, ROWS, schema=SCHEMA)
    assert found.people["chance"].to_list() == [1.0] * 8
    some = linking(release, ROWS, schema=SCHEMA, background=Background(known=["Zip"]))
    assert some.people["chance"].to_list() == [0.5] * 8
    belief = release.attack(ROWS, "skewness", schema=SCHEMA)["skewness:Disease"]
    assert belief.people["chance"].max() <= 0.5


def test_slices_leave_open_which_row_it_is():
    release = shoal.anonymize(ROWS, SCHEMA, shoal.Slicing(l=2, groups={"Age": 1, "Sex": 1, "Zip": 2, "Disease": 2}))
    found = linking(release, ROWS, schema=SCHEMA)
    assert 1 / 8 < found.success <= 1
    assert found.people["chance"].max() <= 1


def test_averages_lead_to_the_nearest():
    frame = pl.DataFrame({"x": [0.0, 1.0, 10.0, 11.0, 5.4], "s": list("abcde")})
    schema = shoal.Schema(quasi={"x": shoal.Numeric()}, sensitive=["s"])
    release = release_of(frame, schema, [0, 0, 1, 1, 1], publish=shoal.Aggregate())
    found = linking(release, frame, schema=schema)  # averages 0.5 and 8.8; the last is nearer to its own
    assert found.people["chance"].to_list() == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    release = release_of(frame, schema, [0, 0, 1, 1, 0], publish=shoal.Aggregate())
    found = linking(release, frame, schema=schema)  # averages 2.13 and 10.5: 5.4 is of the first, and nearer to it
    assert found.people["chance"].to_list() == pytest.approx([1 / 3, 1 / 3, 1 / 2, 1 / 2, 1 / 3])
    release = release_of(frame, schema, [0, 1, 1, 1, 0], publish=shoal.Aggregate())
    found = linking(release, frame, schema=schema)  # averages 2.7 and 7.33: 1 is nearer to the other
    assert found.people["chance"].to_list() == pytest.approx([1 / 2, 0, 1 / 3, 1 / 3, 0])


def test_counterfeits_hide_people():
    frame = pl.DataFrame({"name": list("abcd"), "age": [20, 21, 40, 41], "disease": ["flu", "cold", "flu", "ulcer"]})
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    method = shoal.MInvariance(m=2, id="name", column="disease")
    first = shoal.republish(frame, schema, method, seed=1)
    second = shoal.republish(frame.head(3), schema, method, previous=first.release, state=first.state, seed=1)
    found = linking(second.release, frame.head(3), schema=schema)
    assert found.people["chance"].to_list() == [0.5, 0.5, 0.5]


def test_rows_of_a_person_are_counted_in_a_release_that_was_read_from_files(tmp_path):
    """Two of the five rows of a class are of one person, whose age differs; files do not say who is where."""
    frame = pl.DataFrame({"id": ["a", "a", "b", "c", "d"] * 2, "age": [30, 31, 32, 33, 34, 60, 61, 62, 63, 64]})
    frame = frame.with_columns(id=pl.when(pl.col("age") > 50).then(pl.col("id") + "2").otherwise("id"))
    release = shoal.anonymize(frame, shoal.Schema(person="id", quasi={"age": shoal.Numeric()}), shoal.Mondrian(k=4))
    release.write(tmp_path / "out")
    read = shoal.read_release(tmp_path / "out")
    chances = [linking(one, frame, person="id").people["chance"].to_list() for one in (release, read)]
    assert chances[0] == pytest.approx([2 / 5, 2 / 5, 1 / 5, 1 / 5, 1 / 5] * 2)
    assert chances[1] == pytest.approx(chances[0])


def test_the_baseline_counts_all_rows_of_a_person():
    frame = pl.DataFrame({"id": list("aabc"), "age": [21, 30, 21, 30], "disease": list("abcd")})
    schema = shoal.Schema(identifying=["id"], quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    found = linking(release_of(frame, schema, [0, 1, 0, 1]), frame, person="id")
    assert found.baseline == pytest.approx((2 / 4 + 1 / 4 + 1 / 4) / 3)
