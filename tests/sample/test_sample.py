"""The built-in sample: stable bytes, people whose columns hang together, hierarchies that cover them."""

import csv
import hashlib
from datetime import date

import polars as pl
import pytest

from shoal import sample
from shoal.errors import InputError, ParameterError
from shoal.sample import draws, health, life, names, work
from shoal.sample.trees import DISEASE, EDUCATION_ORDER
from shoal.table.hierarchy.builders import Rule
from shoal.table.hierarchy.tree import Hierarchy
from shoal.table.prepare import prepare

COLUMNS = {
    "name": pl.String,
    "birth_date": pl.String,
    "age": pl.Int64,
    "sex": pl.String,
    "postcode": pl.String,
    "education": pl.String,
    "occupation": pl.String,
    "marital_status": pl.String,
    "income": pl.Int64,
    "disease": pl.String,
    "choice": pl.Int64,
}
# Changes only when the sample is meant to change; every published example of it changes with it.
SHA256 = "ddef4237ae98d7531bc42a22fa24afa67bc8d334012a2bc4a0f96eb4be943163"


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return sample.people()


def sha256(frame: pl.DataFrame) -> str:
    return hashlib.sha256(frame.write_csv().encode()).hexdigest()


def rate(frame: pl.DataFrame, within: pl.Expr, of: pl.Expr) -> float:
    """Share of the people `within` for whom `of` holds."""
    return float(frame.filter(within).select(of.mean()).item())


# -- shape and bytes ------------------------------------------------------------------------------------------------


def test_columns_and_types(people):
    assert dict(people.schema) == COLUMNS
    assert people.height == 5000


@pytest.mark.parametrize("n", [1, 10, 20_000])
def test_as_many_as_asked_for(n):
    assert sample.people(n).shape == (n, len(COLUMNS))


def test_same_seed_same_bytes():
    assert sha256(sample.people(300, seed=4)) == sha256(sample.people(300, seed=4))
    assert sha256(sample.people(300, seed=4)) != sha256(sample.people(300, seed=5))


def test_bytes_are_those_on_record():
    assert sha256(sample.people(200, seed=1)) == SHA256


def test_fewer_people_are_the_first_of_more():
    assert sample.people(50, seed=3).equals(sample.people(400, seed=3).head(50))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"n": 0}, r"people\(n=\): needs a whole number of at least 1, got 0"),
        ({"n": 2.5}, r"people\(n=\): needs a whole number"),
        ({"seed": -1}, r"people\(seed=\): needs a whole number of at least 0, got -1"),
        ({"n": "many", "seed": None}, "2 problems"),
    ],
)
def test_bad_arguments_are_refused(arguments, what):
    with pytest.raises(ParameterError, match=what):
        sample.people(**arguments)


# -- cells ----------------------------------------------------------------------------------------------------------


def test_no_column_is_constant(people):
    assert [name for name in people.columns if people[name].n_unique() < 2] == []


def test_missing_cells_only_where_meant(people):
    missing = {name: people[name].null_count() / people.height for name in people.columns}
    assert {name for name, share in missing.items() if share} == {"postcode", "education", "occupation"}
    assert all(0.005 < missing[name] < 0.03 for name in ("postcode", "education", "occupation"))


def test_ages_follow_from_the_days_of_birth():
    people = sample.people(20_000)
    born = [date.fromisoformat(text) for text in people["birth_date"]]
    # On 1 January nobody but those born on a 1 January has had this year's birthday.
    assert people["age"].to_list() == [2026 - day.year - ((day.month, day.day) > (1, 1)) for day in born]
    assert people["age"].min() == 18
    assert 90 < people["age"].max() <= 96
    assert any((day.month, day.day) == (1, 1) for day in born)
    assert any((day.month, day.day) == (2, 29) for day in born)


def test_postcodes_are_codes_and_not_numbers(people):
    codes = people["postcode"].drop_nulls()
    assert codes.str.contains(r"^\d{5}$").all()
    assert 0.05 < codes.str.starts_with("0").mean() < 0.25


def test_postcodes_are_distinct():
    assert len(set(life.POSTCODES)) == len(life.POSTCODES)


def test_regions_differ_in_size(people):
    sizes = people["postcode"].drop_nulls().str.slice(0, 2).value_counts(sort=True)["count"]
    assert len(sizes) == 15
    assert sizes[0] > 6 * sizes[-1]


def test_name_lists_are_of_one_length():
    """Places on the flat lists are computed, so a list of nine would shift all names after it."""
    for origin in names._ORIGINS.values():
        assert [len(words.split()) for words in origin[1:]] == [10, 10, 10]


def test_names_are_mixed_and_may_repeat(people):
    words = {word for name in people["name"] for word in name.split(" ")}
    assert {"Zoë", "Łukasz", "Øyvind", "Nguyễn", "José"} <= words
    assert people["name"].str.contains(r"^\S+ \S+$").all()
    assert 1000 < people["name"].n_unique() < people.height


def test_given_names_go_with_the_sex(people):
    women = set(names.GIVEN[:80]).difference(names.GIVEN[80:])
    given = people["name"].str.split(" ").list.first()
    assert set(people.filter(given.is_in(women))["sex"]) == {"female"}


def test_every_category_occurs(people):
    assert set(people["sex"]) == set(life.SEXES)
    assert set(people["education"].drop_nulls()) == set(EDUCATION_ORDER)
    assert set(people["occupation"].drop_nulls()) == set(work.OCCUPATIONS)
    assert set(people["marital_status"]) == set(life.MARITAL_STATUSES)
    assert set(people["disease"]) == set(health.DISEASES)
    assert set(people["choice"]) == {1, 2, 3}


# -- what hangs on what ---------------------------------------------------------------------------------------------


def test_the_old_are_fewer_and_mostly_women(people):
    age = pl.col("age")
    assert people.filter(age >= 80).height < 0.4 * people.filter(age.is_between(40, 55)).height
    women = pl.col("sex") == "female"
    assert rate(people, age >= 80, women) > rate(people, age < 50, women) + 0.05


def test_younger_cohorts_studied_more(people):
    higher = pl.col("education").is_in(["Bachelor", "Master", "Doctorate"])
    young, middle, old = (
        rate(people, pl.col("age").is_between(*years), higher) for years in ((30, 44), (50, 64), (72, 96))
    )
    assert young > middle + 0.08 > old + 0.12
    assert people.filter(pl.col("education") == "Doctorate")["age"].min() >= 26


def test_income_rises_with_education(people):
    at_work = people.filter(pl.col("age").is_between(28, 62), pl.col("occupation").is_in(work.OCCUPATIONS[:13]))
    medians = dict(at_work.group_by("education").agg(pl.median("income")).drop_nulls().iter_rows())
    ordered = [medians[level] for level in EDUCATION_ORDER]
    assert ordered == sorted(ordered)
    assert ordered[-1] > 2.5 * ordered[0]


def test_income_depends_on_occupation_age_and_region(people):
    def median(*only: pl.Expr) -> float:
        return float(people.filter(*only)["income"].median())

    job = pl.col("occupation")
    assert median(job == "Physician") > 2 * median(job == "Nurse") > 2 * 1.5 * median(job == "Cleaner")
    clerk = job == "Clerk"
    assert median(clerk, pl.col("age") > 45) > 1.15 * median(clerk, pl.col("age") < 27)
    capital = pl.col("postcode").str.starts_with("10")
    assert median(capital) > 1.05 * median(~capital)


def test_incomes_have_a_long_right_tail(people):
    income = people.filter(pl.col("occupation").is_in(["Clerk", "Cook", "Driver"]))["income"]
    assert income.mean() > 1.02 * income.median()
    assert abs(income.log().skew()) < 0.5 * income.skew()
    assert people["income"].min() > 0


def test_work_depends_on_age_education_and_sex(people):
    job, age, woman = pl.col("occupation"), pl.col("age"), pl.col("sex") == "female"
    assert rate(people, age >= 76, job == "Retired") > 0.99
    assert rate(people, age < 55, job == "Retired") < 0.01
    assert rate(people, age < 22, job == "Student") > 0.4
    assert set(people.filter(job == "Physician")["education"].drop_nulls()) == {"Master", "Doctorate"}
    assert 0.55 < rate(people, job == "Nurse", woman) < 0.9
    assert 0.1 < rate(people, job == "Electrician", woman) < 0.45


def test_marital_status_depends_on_age_and_sex(people):
    mean_age = dict(people.group_by("marital_status").agg(pl.mean("age")).iter_rows())
    assert mean_age["Single"] + 10 < mean_age["Married"] < mean_age["Widowed"] - 10
    assert rate(people, pl.col("marital_status") == "Widowed", pl.col("sex") == "female") > 0.65


@pytest.mark.parametrize("disease", ["Hypertension", "Heart failure", "Diabetes", "Arthritis", "Lung cancer"])
def test_diseases_of_the_old(people, disease):
    ill = pl.col("disease") == disease
    assert rate(people, pl.col("age") >= 65, ill) > 2 * rate(people, pl.col("age") < 45, ill)


@pytest.mark.parametrize("disease", ["Influenza", "Anxiety disorder", "Opioid dependence"])
def test_diseases_of_the_young(people, disease):
    ill = pl.col("disease") == disease
    assert rate(people, pl.col("age") < 45, ill) > 2 * rate(people, pl.col("age") >= 65, ill)


def test_diseases_depend_on_sex_and_work():
    people = sample.people(20_000)
    woman = pl.col("sex") == "female"
    assert rate(people, pl.col("disease") == "Breast cancer", woman) > 0.95
    assert rate(people, pl.col("disease") == "Alcohol dependence", woman) < 0.4
    ill = pl.col("disease") == "Back pain"
    carpenter = pl.col("occupation") == "Carpenter"
    at_work = pl.col("age").is_between(25, 60)
    assert rate(people, at_work & carpenter, ill) > 1.3 * rate(people, at_work & ~carpenter, ill)


def test_stigma_asks_for_protection(people):
    choice = dict(people.group_by("disease").agg(pl.mean("choice")).iter_rows())
    stigma = ["HIV infection", "Hepatitis C", "Alcohol dependence", "Opioid dependence"]
    plain = ["Influenza", "Hypertension", "Back pain", "Diabetes"]
    assert min(choice[disease] for disease in stigma) > 0.5 + max(choice[disease] for disease in plain)


# -- hierarchies and schema -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed"), [(5000, 1), (20_000, 8), (10, 2), (1, 1)])
def test_the_schema_fits_the_table(n, seed):
    people = sample.people(n, seed)
    table = prepare(people, sample.schema())
    assert table.n_rows == n
    assert table.schema.roles.keys() == set(people.columns)


def test_roles():
    roles = sample.schema().roles
    assert [name for name, role in roles.items() if role == "identifying"] == ["name", "birth_date"]
    assert [name for name, role in roles.items() if role == "sensitive"] == ["income", "disease"]
    assert roles["choice"] == "choice"


def test_every_hierarchy_covers_its_column(people):
    for column, hierarchy in sample.hierarchies().items():
        values = people[column].drop_nulls().unique().to_list()
        tree = Hierarchy.grow(hierarchy, values) if isinstance(hierarchy, Rule) else hierarchy
        assert set(values) <= set(tree.leaves), column
        assert tree.root == "*"


def test_trees_hold_what_the_people_can_have():
    trees = sample.hierarchies()
    assert set(trees["occupation"].leaves) == set(work.OCCUPATIONS)
    assert set(trees["marital_status"].leaves) == set(life.MARITAL_STATUSES)
    assert set(trees["disease"].leaves) == set(health.DISEASES)
    assert trees["education"].leaves == EDUCATION_ORDER
    assert trees["disease"].height == 3
    assert {len(trees["disease"].path(leaf)) for leaf in health.DISEASES} == {4}
    assert set(DISEASE) == {"Long-term illness", "Infection", "Mental illness"}


def test_weights_are_given_for_known_categories_only():
    """A misspelt key would silently do nothing."""
    assert set(life._EDUCATION) == set(EDUCATION_ORDER)
    assert set(health._WISHES) <= set(health.DISEASES)
    assert tuple(work._JOBS) == work.OCCUPATIONS[: len(work._JOBS)]
    with pytest.raises(ValueError, match="not in"):
        draws.factors({"Nurze": (1, 2)}, work.OCCUPATIONS)


# -- files ----------------------------------------------------------------------------------------------------------


def test_written_files_read_back(tmp_path):
    paths = sample.write(tmp_path / "new" / "folder", n=500, seed=2)
    frame = sample.people(500, seed=2)
    assert paths[0].name == "people.csv"
    texts = [name for name, kind in COLUMNS.items() if kind == pl.String]
    assert pl.read_csv(paths[0], schema_overrides=dict.fromkeys(texts, pl.String)).equals(frame)
    assert {path.stem for path in paths[1:]} == sample.hierarchies().keys()
    for path in paths[1:]:
        tree = Hierarchy.from_csv(path)
        assert set(frame[path.stem].drop_nulls()) <= set(tree.leaves)
        with path.open(encoding="utf-8") as file:
            assert {row[-1] for row in csv.reader(file, delimiter=";")} == {"*"}


def test_written_twice_is_the_same(tmp_path):
    first = [path.read_bytes() for path in sample.write(tmp_path, n=50)]
    assert [path.read_bytes() for path in sample.write(str(tmp_path), n=50)] == first


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match=r"the sample cannot be written \(Not a directory\)"):
        sample.write(tmp_path / "taken")
