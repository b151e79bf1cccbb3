"""Recipes: written and read back without a change, and every wrong entry named by its key, all at once."""

from __future__ import annotations

import os
import tomllib
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import (
    Caat,
    Dates,
    Days,
    Flat,
    Generalize,
    Grouping,
    Hierarchy,
    InputError,
    Intervals,
    KAnonymity,
    Mondrian,
    Nominal,
    Numeric,
    Ordinal,
    Prefixes,
    Quantiles,
    Recipe,
    RecipeError,
    Schema,
    ShoalError,
    Source,
)
from shoal.publish import PUBLISHERS
from shoal.recipe.text import write_toml
from shoal.settings import SEED_BITS
from shoal.table.days import UNPADDED
from shoal.table.hierarchy.builders import RULES
from shoal.table.hierarchy.day_forms import FORMS
from shoal.testing import hierarchies
from support.pairwise import examples
from support.registered import METHODS

GOOD = """
seed = 7
missing = "drop"
rest = "neutral"
format = "parquet"
suppress = 0.01

[source]
path = "people.csv"
delimiter = ";"
missing_values = ["?", "NA"]

[population]
path = "town.parquet"

[columns.age]
role = "quasi"
kind = "numeric"
hierarchy = { name = "intervals", width = [5, 10] }

[columns."home.zip"]
role = "quasi"
kind = "nominal"
hierarchy = { name = "tree", paths = [["6000", "60**", "*"], ["6001", "60**", "*"]] }

[columns.grade]
role = "sensitive"
kind = "ordinal"
order = ["low", "high"]

[columns.name]
role = "identifying"

[columns.wish]
role = "choice"

[method]
name = "caat"
k = 3

[[require]]
model = "k-anonymity"
k = 4

[publish]
name = "generalize"
sets = true
"""


def test_choices_by_column_and_refinement_go_both_ways():
    recipe = Recipe(
        Schema(quasi={"age": Numeric()}),
        shoal.WeightedCMeans(k=2, weights={"age": 2.0}),
        publish=shoal.Aggregate(average={"age": "median"}),
        refine=shoal.Refine(rounds=3),
    )
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert 'average = {age = "median"}' in recipe.to_toml()


RECIPE = Recipe(
    schema=Schema(
        identifying=["name"],
        quasi={
            "age": Numeric(Intervals(width=(5, 10))),
            "home.zip": Nominal(Hierarchy([("6000", "60**", "*"), ("6001", "60**", "*")])),
        },
        sensitive={"grade": Ordinal(["low", "high"])},
        choice="wish",
        rest="neutral",
    ),
    method=Caat(k=3),
    source=Source(path="people.csv", delimiter=";", missing_values=("?", "NA")),
    require=(KAnonymity(k=4),),
    publish=Generalize(sets=True),
    seed=7,
    missing="drop",
    format="parquet",
    suppress=0.01,
    population=Source(path="town.parquet"),
)


def test_a_recipe_says_what_python_says():
    assert Recipe.from_toml(GOOD) == RECIPE


def test_what_is_left_out_has_its_default():
    recipe = Recipe.from_toml('[columns.a]\nrole="quasi"\nkind="nominal"\n[method]\nname="mondrian"\nk=2\n')
    assert recipe == Recipe(Schema(quasi={"a": Nominal()}), Mondrian(k=2))
    assert (recipe.seed, recipe.normalise, recipe.left_out) == (None, False, "public")
    assert not {"seed", "normalise", "left_out"} & set(recipe.to_mapping())
    with pytest.raises(RecipeError, match=r"recipe: has no \[source\]; say where the table is"):
        recipe.require_source()


# -- round trip ------------------------------------------------------------------------------------------------------

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8),
    st.sampled_from(
        ["a.b", "a b", '"q"', "'s'", "[x]", "a=b", "#c", "\\", "é", "e\u0301", "名前", "🐟", "\t", "a\nb", "true", "1"]
    ),
)
CATEGORIES = TEXTS.filter(lambda text: text != "*")
RULES_TRIED = st.one_of(
    st.builds(Flat, root=TEXTS),
    st.builds(Prefixes, keep=st.sampled_from([(4, 2), (3,)]), mask=st.sampled_from(["*", "#", "\\"])),
    st.builds(Intervals, width=st.sampled_from([(5,), (0.1, 0.3), (5, 10.0)]), start=st.sampled_from([0, -2.5, 3])),
    st.builds(Quantiles, parts=st.sampled_from([(4, 2), (3,)])),
    st.builds(Dates, levels=st.sampled_from([("month", "year", "decade"), ("year",)]), form=st.sampled_from(FORMS)),
    st.builds(Grouping, sizes=st.sampled_from([(2, 2), (3,)])),
)


@st.composite
def kinds(draw):
    hierarchy = draw(st.one_of(st.none(), RULES_TRIED, hierarchies(), nasty_trees()))
    word = draw(st.sampled_from(["numeric", "ordinal", "nominal"]))
    if word == "ordinal":
        days = st.builds(Days, st.just("1999-12-01"), st.just("2000-03-01"), st.sampled_from([*FORMS, *UNPADDED]))
        listed = st.lists(CATEGORIES, min_size=1, max_size=4, unique=True)
        return Ordinal(draw(listed | days), hierarchy)
    return (Numeric if word == "numeric" else Nominal)(hierarchy)


@st.composite
def nasty_trees(draw):
    names = draw(st.lists(CATEGORIES, min_size=3, max_size=6, unique=True))
    root, group, *leaves = names
    return Hierarchy([(leaf, group, root) if draw(st.booleans()) else (leaf, root) for leaf in leaves])


@st.composite
def sources(draw, *, marked=True):
    missing = tuple(draw(st.lists(TEXTS, max_size=2 * marked)))
    if draw(st.booleans()):
        where = draw(st.sampled_from([{"table": "public.people"}, {"query": 'SELECT * FROM "people"'}, {}]))
        return Source(uri="postgresql://app:${DB_PASSWORD}@db/clinic", missing_values=missing, **where)
    path = draw(st.sampled_from(["people.csv", "./data//people.csv", "/data/ünï/people.csv.gz", "../a b.csv"]))
    options = draw(st.sampled_from([{}, {"delimiter": "\t"}, {"encoding": "cp1252", "delimiter": ";"}]))
    return Source(path=path, missing_values=missing, **options)


@st.composite
def recipes(draw):
    names = draw(st.lists(TEXTS, min_size=1, max_size=6, unique=True))
    roles = [draw(st.sampled_from(["identifying", "quasi", "sensitive", "neutral", "choice"])) for _ in names]
    roles[0] = "quasi"
    by_role = {role: [name for name, given in zip(names, roles, strict=True) if given == role] for role in set(roles)}
    choice, *too_many = by_role.get("choice", [None])
    maybe_kinds = st.one_of(st.none(), kinds())
    schema = Schema(
        identifying=[*by_role.get("identifying", []), *too_many],
        quasi={name: draw(kinds()) for name in by_role["quasi"]},
        sensitive={name: draw(maybe_kinds) for name in by_role.get("sensitive", [])},
        neutral={name: draw(maybe_kinds) for name in by_role.get("neutral", [])} or (),
        choice=choice,
        rest=draw(st.sampled_from([None, "neutral", "drop"])),
    )
    return Recipe(
        schema=schema,
        method=draw(st.sampled_from([Caat(k=3, ties="all"), Mondrian(k=2, strict=False, nominal="order")])),
        source=draw(st.one_of(st.none(), sources())),
        require=tuple(KAnonymity(k=k) for k in draw(st.lists(st.integers(2, 9), max_size=2))),
        publish=draw(st.builds(Generalize, shape=st.sampled_from(["text", "typed", "classes"]), sets=st.booleans())),
        seed=draw(st.one_of(st.none(), st.integers(0, 2**40), st.integers(0, 2**SEED_BITS - 1))),
        missing=draw(st.sampled_from(["keep", "drop"])),
        format=draw(st.sampled_from(["csv", "parquet"])),
        suppress=draw(st.one_of(st.just(0.0), st.floats(0, 1))),
        population=draw(st.one_of(st.none(), sources(marked=False))),
        normalise=draw(st.booleans()),
        left_out=draw(st.sampled_from(["public", "private"])),
    )


@settings(max_examples=examples(120), deadline=None)
@given(recipe=recipes())
def test_round_trip(recipe):
    text = recipe.to_toml()
    again = Recipe.from_toml(text)
    assert again == recipe
    assert again.to_toml() == text
    assert list(again.schema) == list(recipe.schema), "columns keep their order"


def test_every_rule_takes_part_in_the_round_trip():
    tried = {Flat, Prefixes, Intervals, Quantiles, Dates, Grouping}
    assert tried == set(RULES.values())


def test_comments_do_not_change_what_is_said():
    notes = {(): "made by hand\nand checked", ("columns", "age"): "numbers, 40 of them # all", ("require", "0"): "why"}
    text = write_toml(RECIPE.to_mapping(), notes)
    assert Recipe.from_toml(text) == RECIPE
    assert text.startswith("# made by hand\n# and checked\n")
    assert "[columns.age]\n# numbers, 40 of them # all\n" in text
    assert "[[require]]\n# why\n" in text


def test_a_comment_cannot_become_an_entry():
    text = write_toml(RECIPE.to_mapping(), {("columns", "age"): "a\rrole = 'neutral'\x0bx\u2028y", (): "word " * 60})
    assert Recipe.from_toml(text) == RECIPE
    assert max(map(len, text.split("[source]")[0].splitlines())) <= 120


def test_the_text_is_plain_toml():
    entries = tomllib.loads(RECIPE.to_toml())
    assert entries["columns"]["home.zip"]["hierarchy"]["paths"][0] == ["6000", "60**", "*"]
    assert entries["require"] == [{"model": "k-anonymity", "k": 4}]
    assert "encoding" not in entries["source"], "what is not set is not written"


def test_one_list_of_missing_values_for_both_tables():
    with pytest.raises(RecipeError, match=r"^population\.missing_values: belongs to \[source\]"):
        Recipe(RECIPE.schema, RECIPE.method, population=Source(path="town.csv", missing_values=("?",)))


# -- files -----------------------------------------------------------------------------------------------------------


class TestFiles:
    def test_paths_are_relative_to_the_recipe(self, tmp_path):
        (tmp_path / "trees").mkdir()
        (tmp_path / "trees" / "sex.csv").write_text("f;*\nm;*\n")
        text = (
            '[source]\npath = "data/people.csv"\n'
            '[columns.sex]\nrole = "quasi"\nkind = "nominal"\nhierarchy = "trees/sex.csv"\n'
            '[method]\nname = "mondrian"\nk = 2\n'
        )
        (tmp_path / "recipe.toml").write_text(text)
        recipe = Recipe.load(tmp_path / "recipe.toml")
        assert recipe.source == Source(path=str(tmp_path / "data" / "people.csv"))
        assert recipe.schema.quasi["sex"].hierarchy.leaves == ("f", "m")
        assert Recipe.load(os.path.relpath(tmp_path / "recipe.toml")).schema == recipe.schema
        assert Recipe.from_toml(text, folder=tmp_path) == recipe
        assert Recipe.from_toml(recipe.to_toml()) == recipe, "written down, it needs the file of the tree no more"
        whole = text.replace("data/people.csv", "/data/people.csv")
        assert Recipe.from_toml(whole, folder=tmp_path).source.path == "/data/people.csv"

    def test_a_hierarchy_file_that_is_not_there(self, tmp_path):
        text = GOOD.replace('{ name = "intervals", width = [5, 10] }', '"no.csv"')
        with pytest.raises(RecipeError, match=r"^columns\.age\.hierarchy: hierarchy file 'no.csv': cannot be read"):
            Recipe.from_toml(text, folder=tmp_path)

    def test_a_recipe_that_cannot_be_read(self, tmp_path):
        with pytest.raises(
            RecipeError, match=r"no\.toml: cannot be read \(No such file or directory\); check the path"
        ):
            Recipe.load(tmp_path / "no.toml")
        with pytest.raises(RecipeError, match="cannot be read"):
            Recipe.load(tmp_path)
        (tmp_path / "latin.toml").write_bytes("seed = 1 # Ålesund".encode("latin-1"))
        with pytest.raises(RecipeError, match=r"latin\.toml: is not UTF-8 text; save it as UTF-8"):
            Recipe.load(tmp_path / "latin.toml")
        (tmp_path / "not.toml").write_text("seed: 1")
        with pytest.raises(RecipeError, match=r"not\.toml: is not TOML: .*line 1"):
            Recipe.load(tmp_path / "not.toml")

    @pytest.mark.parametrize("text", ["seed = ", "seed = 1\nseed = 2", "seed = " + "9" * 5000, "x = " + "[" * 5000])
    def test_text_that_is_no_toml(self, text):
        with pytest.raises(RecipeError, match=r"^recipe: is not TOML: "):
            Recipe.from_toml(text)


# -- wrong entries ---------------------------------------------------------------------------------------------------


TREE = '[["6000", "60**", "*"], ["6001", "60**", "*"]]'
RULE = '{ name = "intervals", width = [5, 10] }'
ORDER = 'order = ["low", "high"]'
DAYS = "name = 'days', first = '"
SENSITIVE = 'role = "sensitive"\nkind = "ordinal"'


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed = 7", "sead = 7", r"sead: unknown key; did you mean 'seed'\?"),
        ("seed = 7", "seed = -1", "seed: needs a whole number of at least 0, got -1"),
        ("seed = 7", "seed = true", "seed: needs a whole number of at least 0, got True"),
        ("seed = 7", 'seed = "7"', "seed: needs a whole number of at least 0, got '7'"),
        ("seed = 7", "normalise = 1", "normalise: needs true or false, got 1"),
        ("seed = 7", "normalize = true", r"normalize: unknown key; did you mean 'normalise'\?"),
        ("seed = 7", 'left_out = "secret"', 'left_out: needs one of "public", "private", got \'secret\''),
        ("seed = 7", 'left_out = "privat"', r"left_out: needs one of .* \(did you mean 'private'\?\)"),
        ('missing = "drop"', 'missing = "dorp"', r"missing: needs one of .* \(did you mean 'drop'\?\)"),
        ('rest = "neutral"', 'rest = "keep"', 'rest: needs one of "neutral", "drop", got \'keep\''),
        ('format = "parquet"', "format = 3", 'format: needs one of "csv", "parquet", got 3'),
        ("suppress = 0.01", "suppress = 1.5", r"suppress: needs a number in \[0, 1\], got 1.5"),
        ("suppress = 0.01", 'suppress = "1 %"', r"suppress: needs a number in \[0, 1\], got '1 %'"),
        ("suppress = 0.01", "supress = 0.01", r"supress: unknown key; did you mean 'suppress'\?"),
        ('path = "town.parquet"', 'file = "town.parquet"', "population.file: unknown"),
        ('path = "town.parquet"', "", "population.path: neither path nor uri is given; give one"),
        (
            'path = "town.parquet"', 'path = "town.parquet"\nmissing_values = ["?"]',
            r"population.missing_values: belongs to \[source\]: it applies to both tables; move it",
        ),
        ("[population]", "[popolation]", r"popolation: unknown key; did you mean 'population'\?"),
        ('delimiter = ";"', 'delimeter = ";"', r"source.delimeter: unknown.*; did you mean 'delimiter'\?"),
        ('path = "people.csv"', "path = 3", "source.path: needs the path of a file"),
        ('path = "people.csv"', "", "source.path: neither path nor uri is given; give one"),
        ('[columns.name]\nrole = "identifying"', "[columns]\nname = 3", "columns.name: needs to be a table; write"),
        ('role = "choice"', 'rule = "choice"', r"columns.wish.rule: unknown key; did you mean 'role'\?"),
        ('role = "choice"', "", 'columns.wish.role: missing; give one of "identifying", '),
        (ORDER, f"order = {{{DAYS}2009-01-01', last = '2008-01-01'}}", r"columns.grade.order.last: is before"),
        (ORDER, f"order = {{{DAYS}1000-01-01', last = '2008-01-01'}}", r"columns.grade.order.last: makes 36"),
        ('role = "choice"', 'role = "quasy"', r"columns.wish.role: .*; did you mean 'quasi'\?$"),
        ('role = "identifying"', 'role = "choice"', "columns: 2 columns have the role choice; keep one"),
        (SENSITIVE, 'role = "sensitive"', "columns.grade.kind: missing, though the column"),
        (SENSITIVE, 'role = "quasi"', 'columns.grade.kind: missing; give one of "numeric"'),
        ('kind = "numeric"', 'kind = "number"', r"columns.age.kind: .*did you mean 'numeric'\?"),
        (ORDER, "", "columns.grade.order: missing; list the categories, lowest first; of days, name a calendar: "),
        (ORDER, 'order = "low"', "columns.grade.order: needs a list of texts or whole numbers, got 'low'; list"),
        (ORDER, "order = [[1], true]", "columns.grade.order: needs a list of texts or whole"),
        (ORDER, 'order = ["a", "a"]', "columns.grade.order: lists categories more than once: a"),
        ('kind = "ordinal"', 'kind = "nominal"', "columns.grade.order: is for ordinal columns, this one is nominal"),
        ("width = [5, 10]", "width = [5, 12]", "columns.age.hierarchy.width: needs each width to be a multiple"),
        ("width = [5, 10]", "widht = [5, 10]", r"columns.age.hierarchy.widht: unknown key; did you mean 'width'\?"),
        (", width = [5, 10]", "", "columns.age.hierarchy.width: missing; give a list"),
        ('name = "intervals"', 'name = "interval"', r"columns.age.hierarchy.name: .*did you mean 'intervals'\?"),
        ('name = "intervals", ', "", "columns.age.hierarchy.name: missing; known: "),
        (RULE, "[5]", "columns.age.hierarchy: needs the path of a file, or a table"),
        ('name = "tree"', 'name = "tree", root = "*"', "columns.home.zip.hierarchy: a tree needs paths and nothing"),
        (TREE, '["6000", "6001"]', "columns.home.zip.hierarchy: .*needs one list"),
        (TREE, '"6000"', "columns.home.zip.hierarchy: .*needs one list of"),
        ('["6001", "60**", "*"]', '["6000", "60**", "*"]', "columns.home.zip.hierarchy: .*more than once: 6000"),
        ('name = "caat"', 'name = "cat"', r"method.name: unknown name 'cat'; did you mean 'caat'\?"),
        ('name = "caat"', "", "method.name: missing; known: "),
        ('[method]\nname = "caat"\nk = 3', "", r"method: missing; add a table \[method\]"),
        ("k = 3", "k = 1", "method.k: needs a whole number of at least 2, got 1"),
        ("k = 3", "", "method.k: missing; give a whole number of at least 2"),
        ("k = 3", "k = 3\nt = 1", "method.t: unknown key"),
        ('model = "k-anonymity"', 'model = "k-anonimity"', r"require\[0\].model: .*did you mean 'k-anonymity'\?"),
        ("k = 4", 'k = "4"', r"require\[0\].k: needs a whole number of at least 2, got '4'"),
        ("[[require]]", "[require]", r"require: needs to be a list of tables; write \[\[require\]\]"),
        ("sets = true", "sets = 1", "publish.sets: needs true or false, got 1"),
        ('name = "generalize"', 'name = "generalise"', r"publish.name: .*did you mean 'generalize'\?"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_entry_is_named_by_its_key(old, new, message):
    with pytest.raises(InputError, match=f"(^|\n  [0-9]+. ){message}"):
        Recipe.from_toml(changed(old, new))


@pytest.mark.parametrize("key", ["source", "population", "columns", "method", "publish"])
def test_a_table_that_is_none(key):
    entries = {**tomllib.loads(GOOD), key: "text"}
    with pytest.raises(InputError, match=rf"{key}: needs to be a table; write \[{key}\]"):
        Recipe.from_entries(entries)


def test_all_problems_come_at_once():
    text = """
    sead = 1
    missing = "dorp"
    rest = 3
    [source]
    pat = "people.csv"
    [columns.age]
    role = "quasi"
    kind = "ordinal"
    hierarchy = { name = "prefixes", keep = [0] }
    [columns.b]
    [method]
    name = "caat"
    k = 1
    tie = "all"
    [[require]]
    model = "k-anonymity"
    [[require]]
    model = "l"
    [publish]
    shape = "txt"
    """
    with pytest.raises(RecipeError, match="13 problems") as caught:
        Recipe.from_toml(text)
    assert [problem.where for problem in caught.value.problems] == [
        "sead",
        "source.pat",
        "source.path",
        "columns.age.hierarchy.keep",
        "columns.age.order",
        "columns.b.role",
        "method.tie",
        "method.k",
        "publish.shape",
        "require[0].k",
        "require[1].model",
        "missing",
        "rest",
    ]


def test_what_the_columns_say_together_is_not_hidden_by_other_problems():
    text = '[columns.a]\nrole = "neutral"\n[method]\nname = "caat"\nk = 1\n'
    with pytest.raises(InputError, match=r"(?s)2 problems:.*schema: has no quasi-identifier.*method.k: needs"):
        Recipe.from_toml(text)


def test_known_names_are_those_of_the_registries():
    for name, method in METHODS.items():
        needed = "".join(f"\n{one.name} = 2" for one in method.parameters() if one.required)
        text = changed('name = "caat"\nk = 3', f'name = "{name}"{needed}')
        assert Recipe.from_toml(text).method.name == name
    for name in PUBLISHERS:
        assert Recipe.from_toml(changed('name = "generalize"\nsets = true', f'name = "{name}"')).publish.name == name


# -- fuzz ------------------------------------------------------------------------------------------------------------

JUNK = st.recursive(
    st.one_of(
        st.integers(),
        st.sampled_from([10**400, -1, 0, 2]),
        st.floats(),
        st.booleans(),
        st.text(max_size=6),
        st.sampled_from(["tree", "a\0b", "", "*", "caat", "flat", "intervals", "nominal", "quasi", "."]),
        st.just(date(2020, 1, 1)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(["name", "paths", "keep", "width", "role", "kind", "order", "k"]), st.text(max_size=4)
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)


def places(entries, above=()):
    """Every place in nested tables and lists."""
    found = []
    for key in entries if isinstance(entries, dict) else range(len(entries)):
        found.append((*above, key))
        if isinstance(entries[key], dict | list):
            found += places(entries[key], (*above, key))
    return found


@settings(max_examples=examples(250), deadline=None)
@given(data=st.data())
def test_entries_of_any_type_give_a_recipe_or_a_clear_error(data):
    entries = tomllib.loads(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        *above, last = data.draw(st.sampled_from(places(entries)))
        inside = entries
        for step in above:
            inside = inside[step]
        if isinstance(inside, dict) and data.draw(st.booleans()):
            last = data.draw(
                st.one_of(st.sampled_from(["name", "k", "role", "hierarchy", "order"]), st.text(max_size=4))
            )
        inside[last] = data.draw(JUNK)
    found = recipe_or_error(entries)
    if isinstance(found, Recipe):
        assert Recipe.from_toml(found.to_toml()) == found
    else:
        assert all(problem.what for problem in found.problems)


def recipe_or_error(entries) -> Recipe | ShoalError:
    """Anything but a `ShoalError` is a failure."""
    try:
        return Recipe.from_entries(entries)
    except ShoalError as error:
        return error


@settings(max_examples=examples(100), deadline=None)
@given(entries=st.dictionaries(st.sampled_from([*tomllib.loads(GOOD), "x"]), JUNK))
def test_junk_at_the_top_gives_a_clear_error(entries):
    found = recipe_or_error(entries)
    assert isinstance(found, Recipe) or found.problems


@settings(max_examples=examples(100), deadline=None)
@given(text=st.one_of(st.text(max_size=40), st.text('[]{}="\n.a1', max_size=30)))
def test_any_text_gives_a_clear_error(text):
    with pytest.raises(ShoalError, match=r"(columns: missing|is not TOML|problems)"):
        Recipe.from_toml(text)
