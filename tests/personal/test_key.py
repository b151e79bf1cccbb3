"""The key of aliases and grades: where it goes, what it proves, and what is refused without it or with another."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.release import sealed
from support.forging import mended, with_entries

PASSPHRASE = "correct horse battery"
FRAME = pl.DataFrame(
    {
        "age": list(range(20, 44)),
        "disease": ["flu", "cold", "gout", "ache"] * 6,
        "income": [1000 + 10 * (i * 7 % 24) for i in range(24)],
        "show": [1, 2, 3] * 8,
    }
)
SCHEMA = shoal.Schema(
    quasi={"age": shoal.Numeric()},
    sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()},
    choice="show",
)
HIDING = [shoal.Aliases("disease"), shoal.Grades("income", quantiles=2)]
METHODS = {
    "generalised": (shoal.Mondrian(k=4), [shoal.LDiversity("disease", l=2)], []),
    "classes": (shoal.Mondrian(k=4), [shoal.LDiversity("disease", l=2)], [shoal.Generalize(shape="classes")]),
    "averages": (shoal.Mdav(k=4), [shoal.TCloseness("income", t=0.5, distance="ordered")], []),
    "centres": (shoal.RGather(k=4), [], []),
    "buckets": (shoal.Anatomy(l=2, column="disease"), [], []),
    "slices": (shoal.Slicing(l=2, k=4, sensitive_apart=True), [], []),
    "slices in files": (shoal.Slicing(l=2, k=4, sensitive_apart=True), [], [shoal.Slices(shape="files")]),
    "records": (shoal.Personal(), [], []),
}


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))


def released(name: str) -> shoal.Release:
    method, require, publish = METHODS[name]
    return shoal.anonymize(FRAME, SCHEMA, method, require=require, publish=[*publish, *HIDING], seed=12345678901)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_on_top_of_every_way_to_publish(name, form, tmp_path):
    """Without the key nothing that is promised of hidden columns is claimed; with it, all of it is checked."""
    release = released(name)
    folder = release.write(tmp_path / "out", format=form, passphrase=PASSPHRASE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.key", "out.receipt.json"]
    assert (tmp_path / "out.key").stat().st_mode & 0o777 == 0o600
    key = shoal.Key.read(tmp_path / "out.key", PASSPHRASE)
    assert key == release.key
    back = shoal.read_release(folder)
    hidden = [one for one in release.manifest.promise if one.get("column") in ("disease", "income")]
    assert len(back.verify().unchecked) == len(hidden)
    opened = back.verify(key=key, original=FRAME.drop("show"))
    assert not opened.unchecked
    assert not set(opened.outside) & set(back.manifest.achieved)


@pytest.mark.parametrize("name", METHODS)
def test_nothing_of_the_key_is_in_the_release_or_the_receipt(name, tmp_path):
    release = released(name)
    release.write(tmp_path / "out", passphrase=PASSPHRASE)
    key = json.loads(release.key.to_bytes())
    texts = [path.read_text() for path in (tmp_path / "out").iterdir()]
    assert not any(str(key["seed"]) in text for text in [*texts, (tmp_path / "out.receipt.json").read_text()])
    manifest = (tmp_path / "out" / "manifest.json").read_text()
    for column in key["columns"]:
        for one in column["meanings"]:
            assert f'"{one["cell"]}"' not in manifest
    assert release.receipt.seed is None


def test_a_key_is_not_lost_in_silence(tmp_path):
    with pytest.raises(shoal.ParameterError, match="the key of the aliases and grades would be lost"):
        released("generalised").write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_aliases_of_one_value_are_no_diversity():
    """Three symbols, one disease: what is required is judged as if every alias were known."""
    frame = pl.DataFrame({"age": [1, 2, 3], "disease": ["flu"] * 3, "show": [1, 2, 3]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")
    with pytest.raises(shoal.InfeasibleError, match="all rows as one class reach only l = 1"):
        shoal.anonymize(
            frame, schema, shoal.Mondrian(k=3), require=[shoal.LDiversity("disease", l=2)],
            publish=shoal.Aliases("disease"),
        )  # fmt: skip


def test_a_promise_that_breaks_once_aliases_are_known_is_refused_with_the_key():
    """Aliases of one value gathered in a class: to who has no key they are as many values."""
    release = released("generalised")
    key = release.key.by_name["disease"]
    same = next(cell for cell, values in key.values.items() if values == ("flu",))
    table = release.frames["table"]
    first = table["age"][0]
    forged = table.with_columns(disease=pl.when(pl.col("age") == first).then(pl.lit(same)).otherwise(pl.col("disease")))
    bad = mended(replace(release, key=None), table=forged)
    left = {cell: values for cell, values in key.values.items() if cell in set(forged["disease"])}
    column = key.model_copy(update={"meanings": tuple(one for one in key.meanings if one.cell in left)})
    others = [one for one in release.key.columns if one.name != "disease"]
    known = release.key.model_copy(update={"columns": (column, *others), "release": bad.manifest.fingerprint()})
    bad.verify()
    with pytest.raises(shoal.GuaranteeError, match="l-diversity"):
        bad.verify(key=known)


def test_the_key_of_another_release_is_refused(tmp_path):
    one, other = released("generalised"), released("records")
    one.write(tmp_path / "one", passphrase=PASSPHRASE)
    with pytest.raises(shoal.GuaranteeError, match="key"):
        shoal.read_release(tmp_path / "one").verify(key=other.key)
    with pytest.raises(shoal.SourceError, match="the passphrase is wrong"):
        shoal.Key.read(tmp_path / "one.key", "wrong horse battery")


def test_what_no_hidden_column_can_be_is_refused():
    release = released("records")
    layout = release.manifest.layout
    bare = tuple(one.model_copy(update={"form": "raw", "clear": ()}) for one in layout.passed)
    with pytest.raises(shoal.GuaranteeError, match="hides other columns than the recipe asks for"):
        mended(replace(release, key=None), layout={"passed": bare}).verify()
    recipe = release.manifest.recipe.model_copy(update={"sensitive": ()})
    naked = with_entries(replace(release, key=None), recipe=recipe)
    with pytest.raises(shoal.GuaranteeError, match="as they are"):
        mended(naked, layout={"passed": bare}).verify()
    word = release.frames["table"].with_columns(disease=pl.lit("secret"))
    with pytest.raises(shoal.GuaranteeError, match="neither aliases nor listed"):
        mended(replace(release, key=None), table=word).verify()
    number = release.frames["table"].with_columns(income=pl.lit(0.5))
    with pytest.raises(shoal.GuaranteeError, match="no grades"):
        mended(replace(release, key=None), table=number).verify()


def test_every_sensitive_column_of_records_is_hidden():
    with pytest.raises(shoal.ShoalError, match="column 'income': records would publish it as it is"):
        shoal.anonymize(FRAME, SCHEMA, shoal.Personal(), publish=HIDING[0])


def test_what_cannot_be_judged_is_not_promised():
    tree = shoal.Hierarchy([[name, "ill", "*"] for name in ("flu", "cold", "gout", "ache")])
    schema = replace(SCHEMA, sensitive={"disease": shoal.Nominal(tree), "income": shoal.Numeric()})
    vague = [shoal.Aliases("disease", choice2="generalise"), HIDING[1]]
    with pytest.raises(shoal.ParameterError, match="l-diversity cannot be judged where choice 2 generalises"):
        shoal.anonymize(FRAME, schema, shoal.Mondrian(k=4), require=[shoal.LDiversity("disease", l=2)], publish=vague)
    release = shoal.anonymize(FRAME, schema, shoal.Mondrian(k=4), publish=vague, seed=1)
    assert release.verify().k >= 4


def test_recipes_say_it_in_a_list_of_tables(tmp_path):
    FRAME.write_csv(tmp_path / "people.csv")
    text = """
    seed = 7
    source = {path = "people.csv"}
    [columns]
    age = {role = "quasi", kind = "numeric"}
    disease = {role = "sensitive", kind = "nominal"}
    income = {role = "sensitive", kind = "numeric"}
    show = {role = "choice"}
    [method]
    name = "mondrian"
    k = 4
    [[publish]]
    name = "generalize"
    shape = "classes"
    [[publish]]
    name = "aliases"
    column = "disease"
    flatten = 2
    rule = {flu = 3}
    [[publish]]
    name = "grades"
    column = "income"
    categories = [[1000, 1100], [1100, 1300]]
    """
    recipe = shoal.Recipe.from_toml(text, folder=tmp_path)
    assert [one.name for one in recipe.sensitive] == ["aliases", "grades"]
    assert shoal.Recipe.from_toml(recipe.to_toml()) == recipe
    release = shoal.run(recipe)
    assert release.manifest.recipe.publish["shape"] == "classes"
    assert "categories" not in str(release.manifest.recipe.sensitive)
    assert release.key.by_name["income"].categories == ((1000, 1100), (1100, 1300))


def forged(release: shoal.Release, name: str, **changed) -> shoal.Key:
    """The key with another column in it, as it would be read from a file."""
    columns = [column.model_copy(update=changed) if column.name == name else column for column in release.key.columns]
    return shoal.Key.model_validate_json(release.key.model_copy(update={"columns": tuple(columns)}).to_bytes())


def exchanged(meanings, one, other):
    """Meanings with the values of two cells exchanged."""
    found = list(meanings)
    found[one] = meanings[one].model_copy(update={"values": meanings[other].values})
    found[other] = meanings[other].model_copy(update={"values": meanings[one].values})
    return tuple(found)


@pytest.mark.parametrize("name", METHODS)
def test_two_aliases_whose_meanings_are_exchanged_are_refused(name):
    """They are as frequent as each other, so no count tells; but the seed gives other aliases for these values."""
    release = released(name)
    meanings = release.key.by_name["disease"].meanings
    other = next(place for place, one in enumerate(meanings) if one.values != meanings[0].values)
    wrong = forged(release, "disease", meanings=exchanged(meanings, 0, other))
    with pytest.raises(shoal.GuaranteeError, match="column 'disease': its seed gives other aliases"):
        release.verify(key=wrong)


@pytest.mark.parametrize("changed", [{"seed": 12345678902}, {"table": "0" * 64}])
def test_a_seed_that_gave_other_aliases_is_refused(changed):
    release = released("generalised")
    with pytest.raises(shoal.GuaranteeError, match="column 'disease': its seed gives other aliases"):
        release.verify(key=release.key.model_copy(update=changed))


def test_a_seed_that_gave_other_grades_is_refused():
    hiding = shoal.Grades("income", quantiles=2, variant="random")
    schema = replace(SCHEMA, sensitive={"income": shoal.Numeric()}, rest="drop")
    release = shoal.anonymize(FRAME, schema, shoal.Mondrian(k=4), publish=hiding, seed=1 << 70)
    release.verify(key=release.key)
    with pytest.raises(shoal.GuaranteeError, match="column 'income': its seed gives other grades"):
        release.verify(key=release.key.model_copy(update={"seed": (1 << 70) + 1}))


@pytest.mark.parametrize("options", [{}, {"flatten": 1.5}, {"choice2": "generalise"}, {"default": 3, "min_support": 9}])
def test_aliases_of_all_sorts_are_drawn_again(options):
    tree = shoal.Hierarchy([["flu", "lung", "*"], ["cold", "lung", "*"], ["gout", "foot", "*"], ["ache", "head", "*"]])
    schema = replace(SCHEMA, sensitive={"disease": shoal.Nominal(tree)}, rest="drop")
    frame = FRAME.with_columns(disease=pl.Series([None, *FRAME["disease"][1:]]))
    aliases = shoal.Aliases("disease", **options)
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=4), publish=aliases, seed=5)
    release.verify(key=release.key, original=frame, schema=schema)
    with pytest.raises(shoal.GuaranteeError, match="its seed gives other aliases"):
        release.verify(key=release.key.model_copy(update={"seed": 6}))


def test_a_key_of_which_nothing_can_be_read_is_refused():
    release = released("generalised")
    disease, income = (release.key.by_name[name] for name in ("disease", "income"))
    none = tuple(one.model_copy(update={"values": ()}) for one in disease.meanings)
    two = tuple(one.model_copy(update={"values": ("flu", "cold")}) for one in disease.meanings)
    number = tuple(one.model_copy(update={"values": (7,)}) for one in disease.meanings)
    text = tuple(one.model_copy(update={"values": ("much",)}) for one in income.meanings)
    missing = tuple(one.model_copy(update={"values": (None,)}) for one in income.meanings)
    for name, changed, reason in (
        ("disease", {"meanings": none}, "a cell that stands for nothing"),
        ("disease", {"meanings": two}, "an alias for more than one value"),
        ("disease", {"meanings": number}, "aliases that stand for no category"),
        ("disease", {"kind": "numeric"}, "aliases that stand for no category"),
        ("disease", {"meanings": disease.meanings[1:]}, "meanings for other cells"),
        ("income", {"meanings": text}, "grades that stand for no number"),
        ("income", {"meanings": missing}, "grades that stand for no number"),
        ("income", {"kind": "nominal"}, "grades that stand for no number"),
    ):
        with pytest.raises(shoal.GuaranteeError, match=reason):
            release.verify(key=forged(release, name, **changed))


def test_grades_that_are_not_those_of_their_values_are_refused():
    release = released("generalised")
    column = release.key.by_name["income"]
    turned = tuple(
        one.model_copy(update={"values": other.values})
        for one, other in zip(column.meanings, reversed(column.meanings), strict=True)
    )
    with pytest.raises(shoal.GuaranteeError, match="do not rise with the values"):
        release.verify(key=forged(release, "income", meanings=turned))
    moved = tuple((low - 500, high + 500) for low, high in column.categories)
    with pytest.raises(shoal.GuaranteeError, match="not those of the values they stand for"):
        release.verify(key=forged(release, "income", categories=moved))
    with pytest.raises(shoal.GuaranteeError, match="outside the categories of the key"):
        release.verify(key=forged(release, "income", categories=column.categories[:1]))


def test_whole_numbers_that_floats_cannot_tell_apart_have_one_grade():
    frame = pl.DataFrame({"age": list(range(20, 30)), "income": [2**53 + row for row in range(10)]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), publish=shoal.Grades("income", quantiles=2))
    meant = shoal.Key.model_validate_json(release.key.to_bytes()).by_name["income"].values.values()
    assert sorted(value for values in meant for value in values) == frame["income"].to_list()
