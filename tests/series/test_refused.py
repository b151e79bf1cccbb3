"""What is refused around repeated releases: bad input, another past, forged counts, state files that are not."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import polars as pl
import pytest

import shoal
from shoal.disk import change as changes
from shoal.release import sealed
from shoal.release.manifest import Manifest
from shoal.release.receipt import check_receipt
from support.failing_moves import failing_moves
from support.forging import arranged, fingerprinted, mended, rewritten, with_entries
from support.series_example import FIRST, SCHEMA, TWO, table

PASSPHRASE = "correct horse battery"
CANARY = "Zyx9Canary"


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    """A key in a millisecond: what it costs is tried once."""
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))


@pytest.fixture
def one():
    return shoal.republish(FIRST, SCHEMA, TWO, seed=3)


@pytest.fixture
def two(one):
    second = table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"))
    return shoal.republish(second, SCHEMA, TWO, previous=one.release, state=one.state, seed=4)


# -- bad input --------------------------------------------------------------------------------------------------


def refuse(error, match, frame=FIRST, schema=SCHEMA, method=TWO, **options):
    with pytest.raises(error, match=match) as caught:
        shoal.republish(frame, schema, method, **options)
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_arguments_of_the_wrong_sort_are_refused_together():
    text = refuse(
        shoal.ParameterError, "6 problems", schema="schema", method=shoal.Mondrian(k=2), previous=1, state="s.state",
        publish=shoal.Aggregate(), seed=-1,
    )  # fmt: skip
    for name in ("schema=", "method=", "previous=", "state=", "publish=", "seed="):
        assert name in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((None, 5, "a long passphrase"), r"^2 problems:\n.*write\(folder=\): needs something like 'summer'"),
        (("summer", None, "a long passphrase"), r"write\(state=\): needs something like 'holder.state', got NoneType"),
        (("summer", "holder.state"), r"write\(passphrase=\): missing; give something like"),
    ],
    ids=["neither place", "no state", "no passphrase"],
)
def test_places_of_the_wrong_sort_are_refused(one, given, said, tmp_path, monkeypatch):
    """They ended in an error of Python's."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(shoal.ParameterError, match=said):
        one.write(*given)
    with pytest.raises(shoal.ParameterError, match=r"write\(overwrite=\): needs something like True, got str"):
        one.write("summer", "holder.state", "a long passphrase", overwrite="no")
    with pytest.raises(shoal.ParameterError, match=r"write\(overwrite=\): needs something like True, got str"):
        one.release.write("summer", overwrite="no")
    for call in (one.state.write, shoal.SeriesState.read, shoal.Key.read):
        with pytest.raises(shoal.ParameterError, match=r"\(path=\): needs something like 'holder.key', got int"):
            call(5, "a long passphrase")
    assert not list(tmp_path.iterdir())


def test_another_shape_than_by_class_is_refused():
    refuse(shoal.ParameterError, "m-invariance lays rows out by class", publish=shoal.Generalize(shape="typed"))


@pytest.mark.parametrize("method", [{"m": 1}, {"m": 2.5}, {"id": ""}, {"column": 3}])
def test_parameters_out_of_bounds_are_refused(method):
    with pytest.raises(shoal.ParameterError, match=r"MInvariance\((m|id|column)=\)"):
        shoal.MInvariance(**{"m": 2, "id": "name", "column": "disease"} | method)


def test_m_beyond_what_the_first_table_has_names_the_nearest():
    method = shoal.MInvariance(m=3, id="name", column="disease")
    text = refuse(shoal.InfeasibleError, r"MInvariance\(m=\): column 'disease': a value in 2 of 4 rows", method=method)
    assert text.endswith("is too frequent for m = 3; use an m of at most 2")
    refuse(shoal.InfeasibleError, "no m of two or more", frame=table(a=(1, CANARY), b=(2, CANARY)))


def test_an_id_column_that_names_nobody_is_refused():
    def by(column):
        return shoal.MInvariance(m=2, id=column, column="disease")

    refuse(shoal.ParameterError, "column 'age' is quasi, but the id must be an identifying column", method=by("age"))
    refuse(shoal.ParameterError, "column 'passport' is not in the table", method=by("passport"))


def test_ids_that_are_missing_or_occur_twice_are_refused_with_their_rows():
    frame = FIRST.with_columns(pl.Series("name", [CANARY, CANARY, None, "d"]))
    text = refuse(shoal.SchemaError, "2 problems", frame=frame)
    assert "1 row without an id, at row 3" in text
    assert "2 rows with an id that occurs twice, at rows 1, 2" in text


def test_a_column_that_is_not_sensitive_is_refused():
    method = shoal.MInvariance(m=2, id="name", column="age")
    refuse(shoal.ParameterError, "column 'age' is quasi, not sensitive", method=method)
    method = shoal.MInvariance(m=2, id="name", column="diseas")
    refuse(shoal.ParameterError, "no column 'diseas'; did you mean 'disease'", method=method)


def test_columns_a_counterfeit_has_no_value_for_are_refused():
    frame = FIRST.with_columns(note=pl.lit("x"), income=pl.lit(1))
    schema = shoal.Schema(
        identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive=["disease", "income"], rest="neutral"
    )
    refuse(shoal.SchemaError, r"not note, income; counterfeits cannot have values there", frame=frame, schema=schema)


def test_names_that_the_table_of_classes_needs_are_refused():
    frame = FIRST.rename({"age": "counterfeits"})
    schema = shoal.Schema(identifying=["name"], quasi={"counterfeits": shoal.Numeric()}, sensitive=["disease"])
    refuse(
        shoal.SchemaError, "'counterfeits'.*clashes with a column that m-invariance adds", frame=frame, schema=schema
    )


def test_a_value_outside_the_signature_is_refused_with_a_count(one):
    frame = table(a=(20, CANARY), c=(40, "flu"))
    refuse(
        shoal.InfeasibleError, "1 person now has a value outside the set .* at row 1; leave them out",
        frame=frame, previous=one.release, state=one.state,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ({"x": (30, CANARY)}, "^column 'disease': 1 new person has a value that was never published before, and"),
        ({"x": (30, CANARY), "y": (31, CANARY)}, "^column 'disease': 2 new people have values that were never pub"),
    ],
    ids=["one", "two"],
)
def test_values_that_would_stand_out_are_refused_with_a_count(one, new, said):
    frame = table(a=(20, "flu"), **new)
    refuse(shoal.InfeasibleError, said, frame=frame, previous=one.release, state=one.state)


def test_a_category_that_lost_its_place_is_refused():
    def schema(*order):
        return shoal.Schema(
            identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Ordinal(order)}
        )

    one = shoal.republish(table(a=(1, "flu"), b=(2, "ulcer")), schema("flu", "ulcer"), TWO)
    refuse(
        shoal.SchemaError, "1 value of earlier releases is no longer in", frame=table(a=(1, "flu")),
        schema=schema("flu"), previous=one.release, state=one.state,
    )  # fmt: skip


def test_one_release_alone_cannot_be_asked_of_anonymize():
    with pytest.raises(shoal.ParameterError, match=r"m-invariance is for repeated releases.*shoal republish"):
        shoal.anonymize(FIRST, SCHEMA, TWO)


# -- another past -----------------------------------------------------------------------------------------------


def test_previous_and_state_belong_together(one, two):
    refuse(shoal.ParameterError, "previous: is not given, but the state has 1 release", state=one.state)
    refuse(shoal.ParameterError, "state: is not given, but there is a previous release", previous=one.release)
    refuse(
        shoal.ParameterError,
        "last release of the state, which is number 2; this one is number 1",
        previous=one.release,
        state=two.state,
    )
    other = shoal.republish(FIRST.head(2), SCHEMA, TWO)
    refuse(shoal.ParameterError, "not the last release of the state", previous=other.release, state=one.state)
    plain = shoal.anonymize(FIRST, SCHEMA, shoal.Mondrian(k=2))
    refuse(shoal.ParameterError, "this one is not of a series", previous=plain, state=one.state)


def test_a_series_keeps_its_parameters_and_columns(one):
    schema = shoal.Schema(identifying=["name"], quasi={"age": shoal.Nominal()}, sensitive=["disease"])
    method = shoal.MInvariance(m=3, id="nam", column="diseas")
    text = refuse(
        shoal.ParameterError, "4 problems", schema=schema, method=method, previous=one.release, state=one.state
    )
    assert "method.m: is 3, but the series began with 2" in text
    assert "schema: has other columns, roles or kinds than the series began with: 'age' is quasi, nominal" in text
    assert "and was quasi, numeric" in text


@pytest.mark.parametrize(
    ("identifying", "quasi", "said"),
    [
        (["name"], ["age", "town"], "'town' is published anew"),
        (["name"], ["town"], "'town' is published anew, 'age' is published no more"),
        (["name", "town"], ["age"], "those that are not published"),
    ],
)
def test_columns_that_differ_are_named(one, identifying, quasi, said):
    schema = shoal.Schema(identifying=identifying, quasi=dict.fromkeys(quasi, shoal.Numeric()), sensitive=["disease"])
    frame = FIRST.with_columns(town=pl.lit(1))
    what = f"schema: has other columns, roles or kinds than the series began with: {said}"
    refuse(shoal.ParameterError, what, frame=frame, schema=schema, previous=one.release, state=one.state)


def test_a_hierarchy_may_change_between_releases(one):
    schemas = [
        shoal.Schema(
            identifying=["name"], quasi={"age": shoal.Numeric(rule)}, sensitive=["disease"]
        )
        for rule in (None, shoal.Intervals(width=(10, 50)))
    ]  # fmt: skip
    shoal.republish(FIRST, schemas[1], TWO, previous=one.release, state=one.state)


def test_a_previous_directory_must_be_there_and_be_the_one_released(one, tmp_path):
    refuse(shoal.SourceError, "does not exist", previous=tmp_path / "nowhere", state=one.state)
    for form in ("csv", "parquet"):
        folder = one.release.write(tmp_path / form, format=form)
        shoal.republish(FIRST, SCHEMA, TWO, previous=folder, state=one.state)


def test_a_previous_release_that_was_changed_is_refused(one, tmp_path):
    folder = one.release.write(tmp_path / "one")
    text = (folder / "table.csv").read_text()
    (folder / "table.csv").write_text(text + "1,flu\n")
    refuse(shoal.GuaranteeError, "its SHA-256 differs", previous=folder, state=one.state)

    forged = text.replace("gastritis", "asthma")
    (folder / "table.csv").write_text(forged)
    manifest = Manifest.read(folder)
    own, others = manifest.tables[0], manifest.tables[1:]
    own = own.model_copy(update={"sha256": hashlib.sha256(forged.encode()).hexdigest()})
    (folder / "manifest.json").write_text(manifest.model_copy(update={"tables": (own, *others)}).to_json())
    changed = "table 'table': was changed since it was released: its content differs"
    refuse(shoal.GuaranteeError, changed, previous=folder, state=one.state)
    with pytest.raises(shoal.GuaranteeError, match=f"release 1, {changed}"):
        shoal.verify_series([folder])

    # Every hash made to fit: nobody but the holder can tell that this is another release.
    rewritten(folder, lambda release: mended(release, **asthma(release)))
    assert shoal.verify_series([folder]).m == 2
    refuse(shoal.ParameterError, "is not the last release of the state", previous=folder, state=one.state)
    with pytest.raises(shoal.GuaranteeError, match="release 1: is not the release that the state has recorded"):
        shoal.verify_series([folder], one.state.memberships(), one.state.fingerprints())


def asthma(release):
    return {"table": release.frames["table"].with_columns(pl.col("disease").replace("gastritis", "asthma"))}


def test_a_previous_release_in_memory_that_was_changed_is_refused(one):
    changed = replace(one.release, frames={**one.release.frames, **asthma(one.release)})
    refuse(shoal.GuaranteeError, "the content of a table differs", previous=changed, state=one.state)


# -- forged counts ----------------------------------------------------------------------------------------------


def changed(release, *, classes=None, table=None, rows=None, series=None, promise=None):
    """A release with other tables, in their order, its manifest saying so."""
    frames = {} if classes is None else {"classes": classes(release.frames["classes"])}
    frames |= {} if table is None else {"table": table(release.frames["table"])}
    manifest = release.manifest
    entries = {"achieved": {}}
    entries |= {} if rows is None else {"rows": manifest.rows.model_copy(update=rows)}
    entries |= {} if series is None else {"series": manifest.series.model_copy(update=series)}
    entries |= {} if promise is None else {"promise": promise}
    forged = arranged(replace(release, frames={**release.frames, **frames}))
    return with_entries(fingerprinted(forged), **entries)


def counts(*numbers):
    return lambda classes: classes.with_columns(pl.Series("counterfeits", numbers, dtype=pl.Int64))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"classes": counts(0, 0)}, "counts 0 counterfeits, the manifest says 1"),
        ({"rows": {"counterfeits": 0}}, "4 are published, the manifest says 3"),
        (
            {"classes": counts(0, 0), "rows": {"counterfeits": 0, "published": 2}},
            "4 are published, the manifest says 2",
        ),
        ({"classes": counts(2, -1)}, "with counterfeits only"),
        ({"classes": counts(2, 0), "rows": {"counterfeits": 2, "published": 2}}, "with counterfeits only"),
        ({"classes": counts(None, 0)}, "without a number of counterfeits"),
        (
            {"table": lambda rows: rows.with_columns(disease=pl.lit("flu"))},
            "m = 2 was promised, the weakest class reaches 1",
        ),
        ({"promise": ()}, "does not contain what the recipe requires: model = m-uniqueness"),
        ({"series": {"previous": None}}, "only the first release may be without a previous one, and it must be"),
    ],
)
def test_forged_releases_are_refused(two, change, match):
    assert changed(two.release).verify().achieved == {"m:disease": 2, "k": 1}
    with pytest.raises(shoal.GuaranteeError, match=match):
        changed(two.release, **change).verify()


@pytest.mark.parametrize(
    ("counted", "published", "wrong"),
    [((0, 1), 3, "2 classes"), ((0, 0), 4, "1 class")],
    ids=["moved to another class", "kept quiet"],
)
def test_counterfeits_that_were_changed_are_seen_by_the_holder(one, two, counted, published, wrong):
    """Nobody else can: the counts are possible."""
    own = two.release.frames["classes"]["counterfeits"].to_list()
    assert own == [1, 0]
    rows = {"counterfeits": sum(counted), "published": published}
    forged = changed(two.release, classes=counts(*counted), rows=rows)
    assert shoal.verify_series([one.release, forged]).counterfeits == (0, sum(counted))
    with pytest.raises(shoal.GuaranteeError, match=f"in {wrong}, people and counterfeits do not add up"):
        shoal.verify_series([one.release, forged], two.state.memberships())
    with pytest.raises(shoal.GuaranteeError, match="release 2: is not the release that the state has recorded"):
        shoal.verify_series([one.release, forged], fingerprints=two.state.fingerprints())
    with pytest.raises(shoal.GuaranteeError, match="receipt: belongs to another release, or the release was changed"):
        check_receipt(two.release.receipt, forged.manifest)
    check_receipt(two.release.receipt, two.release.manifest)


def test_series_that_are_none_are_refused(one, two):
    for releases, match in (
        ([two.release], "release 1: says that it is number 2"),
        ([one.release, one.release], "release 2: says that it is number 1"),
        (
            [one.release, changed(two.release, series={"previous": "0" * 64})],
            "release 2: names another previous release",
        ),
        (
            [shoal.anonymize(FIRST, SCHEMA, shoal.Mondrian(k=2))],
            "release 1, manifest: is not that of a repeated release",
        ),
    ):
        with pytest.raises(shoal.GuaranteeError, match=match):
            shoal.verify_series(releases)
    with pytest.raises(shoal.GuaranteeError) as swapped:
        shoal.verify_series([two.release, one.release], two.state.memberships(), two.state.fingerprints())
    assert [problem.what for problem in swapped.value.problems] == [f"says that it is number {n}" for n in (2, 1)]
    for bad in ([], "release", None):
        with pytest.raises(shoal.ParameterError, match="at least one release"):
            shoal.verify_series(bad)
    with pytest.raises(shoal.ParameterError, match="has the people of 1 release, but 2 are given"):
        shoal.verify_series([one.release, two.release], one.state.memberships())
    with pytest.raises(shoal.ParameterError, match="fingerprints: 1 fingerprint is given for 2 releases"):
        shoal.verify_series([one.release, two.release], fingerprints=one.state.fingerprints())
    lost = [one.state.memberships()[0], {b"somebody": 99}]
    with pytest.raises(shoal.GuaranteeError, match="1 person is recorded in classes that it does not have"):
        shoal.verify_series([one.release, two.release], lost)


def first_and_second(frame, schema, method):
    """Two releases of the same people."""
    one = shoal.republish(frame, schema, method, seed=1)
    return one, shoal.republish(frame, schema, method, previous=one.release, state=one.state, seed=2)


@pytest.mark.parametrize(
    ("columns", "sensitive", "newcomers", "match"),
    [
        (["age", "zip"], None, "mix", "has other columns, roles or kinds than the first release"),
        (["zip"], None, "mix", "has other columns, roles or kinds than the first release"),
        (["age"], shoal.Nominal(), "mix", "has other columns, roles or kinds than the first release"),
        (["age as text"], None, "mix", "has other columns, roles or kinds than the first release"),
        (["age"], None, "apart", "was made with another newcomers than the first release"),
    ],
    ids=["a column more", "another column", "another kind", "another kind of a quasi-identifier", "a parameter"],
)
def test_a_release_of_another_series_is_refused(one, columns, sensitive, newcomers, match):
    """It has the right number and names the release before it, and its values are those of the series."""
    kinds = {"age": shoal.Numeric(), "age as text": shoal.Nominal(), "zip": shoal.Nominal()}
    quasi = {name.removesuffix(" as text"): kinds[name] for name in columns}
    frame = FIRST.with_columns(zip=pl.Series(["A", "B", "C", "D"])).select("name", *quasi, "disease")
    schema = shoal.Schema(identifying=["name"], quasi=quasi, sensitive={"disease": sensitive})
    other = first_and_second(frame, schema, replace(TWO, newcomers=newcomers))[1].release
    forged = changed(other, series={"previous": one.release.manifest.fingerprint()})
    forged.verify()
    with pytest.raises(shoal.GuaranteeError, match=f"release 2: {match}"):
        shoal.verify_series([one.release, forged])


def test_what_the_holder_knows_is_asked_for_in_its_types(one):
    for people, fingerprints, match in (
        ([{"a": [1]}], None, "people: needs a whole number for the class of everybody"),
        ([{"a": None}], None, "people: needs a whole number for the class of everybody"),
        (None, 7, r"fingerprints: needs a list of texts; give SeriesState.fingerprints\(\)"),
        (None, "a", "fingerprints: needs a list of texts"),
    ):
        with pytest.raises(shoal.ParameterError, match=match):
            shoal.verify_series([one.release], people, fingerprints)


def test_a_plain_release_cannot_claim_counterfeits():
    plain = shoal.anonymize(FIRST, SCHEMA, shoal.Mondrian(k=2))
    rows = plain.manifest.rows.model_copy(update={"published": 3, "counterfeits": 1})
    forged = shoal.Release(plain.frames, plain.manifest.model_copy(update={"rows": rows}), plain.labels)
    with pytest.raises(shoal.GuaranteeError, match="counterfeits, but releases of this shape have none"):
        forged.verify()


# -- the state file ---------------------------------------------------------------------------------------------


def test_a_state_comes_back_from_its_file(two, tmp_path):
    path = two.state.write(tmp_path / "holder" / "s.state", PASSPHRASE)
    assert path.stat().st_mode & 0o077 == 0
    back = shoal.SeriesState.read(path, PASSPHRASE)
    assert back.to_bytes() == two.state.to_bytes()
    assert back.memberships() == two.state.memberships()
    assert repr(back) == "SeriesState(after release 2, 5 people, m=2)"


def test_the_file_shows_nothing(tmp_path):
    frame = FIRST.with_columns(name=CANARY + pl.col("name"), disease=CANARY + pl.col("disease"))
    state = shoal.republish(frame, SCHEMA, TWO).state
    content = state.write(tmp_path / "s.state", PASSPHRASE).read_bytes()
    again = state.write(tmp_path / "t.state", PASSPHRASE).read_bytes()
    assert content[:14] == again[:14]
    assert content[14:] != again[14:]
    assert CANARY.encode() not in content
    assert CANARY not in repr(state)
    assert not any(CANARY.encode() in digest for digest in state.people)


def test_a_real_key_is_costly(one, tmp_path, monkeypatch):
    monkeypatch.undo()
    assert sealed.COST == (17, 8, 1)
    path = one.state.write(tmp_path / "s.state", PASSPHRASE)
    assert shoal.SeriesState.read(path, PASSPHRASE).to_bytes() == one.state.to_bytes()


def test_state_files_that_cannot_be_opened(one, tmp_path):
    path = one.state.write(tmp_path / "s.state", PASSPHRASE)
    good = path.read_bytes()

    def read(content, match, passphrase=PASSPHRASE):
        path.write_bytes(content)
        with pytest.raises(shoal.SourceError, match=match):
            shoal.SeriesState.read(path, passphrase)

    wrong = "the passphrase is wrong, or the file was changed"
    read(good, wrong, "another passphrase")
    read(good[:-1], wrong)
    read(good[:60], wrong)
    for place in (12, 20, 35, 50, len(good) - 1):  # cost, salt, nonce, content, tag
        read(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :], wrong)
    read(good[:11] + bytes([40]) + good[12:], wrong)  # a key that would fill the memory
    read(good[:10] + bytes([2]) + good[11:], "format 2, but this version of Shoal reads format 1")
    read(b"", "is not a state file")
    read(good[:30], "is not a state file of Shoal, or is incomplete")
    read(b"name,age\n" * 20, "is not a state file")
    with pytest.raises(shoal.SourceError, match=r"the state cannot be read \(No such file"):
        shoal.SeriesState.read(tmp_path / "nowhere", PASSPHRASE)
    with pytest.raises(shoal.SourceError, match="cannot be read by this version"):
        shoal.SeriesState.from_bytes(b"something else")


@pytest.mark.parametrize("bad", ["", "short", None, "\0" * 10, "caf\udce9 au lait", "\ufeffcorrect horse"])
def test_a_passphrase_that_is_guessed_at_once_is_refused(one, tmp_path, bad):
    with pytest.raises(shoal.ParameterError, match="at least 8 letters"):
        one.state.write(tmp_path / "s.state", bad)
    assert not list(tmp_path.iterdir())


# -- both or neither --------------------------------------------------------------------------------------------


def test_release_and_state_are_written_together(one, tmp_path):
    one.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE, format="parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.receipt.json", "s.state"]
    assert (tmp_path / "out.receipt.json").stat().st_mode & 0o777 == 0o600
    assert shoal.read_release(tmp_path / "out", tmp_path / "out.receipt.json").receipt == one.release.receipt
    assert shoal.SeriesState.read(tmp_path / "s.state", PASSPHRASE).releases[-1].fingerprint == (
        shoal.read_release(tmp_path / "out").manifest.fingerprint()
    )


def test_a_state_inside_the_release_is_refused(one, tmp_path):
    for place, match in ((tmp_path / "out" / "s.state", "inside the release"), (tmp_path, "is a directory")):
        with pytest.raises(shoal.ParameterError, match=match):
            one.write(tmp_path / "out", place, PASSPHRASE)
    assert not list(tmp_path.iterdir())


def test_neither_stays_when_the_release_cannot_be_written(one, two, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "diary.txt").write_text("mine")
    one.state.write(tmp_path / "s.state", PASSPHRASE)
    before = (tmp_path / "s.state").read_bytes()
    with pytest.raises(shoal.SourceError, match="exists already"):
        two.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE)
    assert (tmp_path / "s.state").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "s.state"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_neither_stays_when_the_state_cannot_be_moved(one, two, tmp_path, monkeypatch, error):
    one.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE)
    before = (tmp_path / "s.state").read_bytes()
    failing_moves(monkeypatch, "s.state", error)
    with pytest.raises((shoal.SourceError, KeyboardInterrupt), match=r"No space left|^$"):
        two.write(tmp_path / "out2", tmp_path / "s.state", PASSPHRASE)
    assert (tmp_path / "s.state").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.receipt.json", "s.state"]
    assert shoal.read_release(tmp_path / "out", tmp_path / "out.receipt.json").receipt == one.release.receipt


def test_a_receipt_that_is_there_stays_and_so_does_the_state(one, two, tmp_path):
    """The receipt of another release is not replaced unasked, and then nothing else is written either."""
    one.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    (tmp_path / "out").rename(tmp_path / "moved")
    with pytest.raises(shoal.SourceError, match=r"out.receipt.json: already exists: the receipt of another release"):
        two.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not (tmp_path / "out").exists()
    two.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE, overwrite=True)
    assert shoal.read_release(tmp_path / "out", tmp_path / "out.receipt.json").receipt == two.release.receipt


def test_neither_stays_when_the_state_cannot_be_encrypted(one, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography.exceptions", None)
    with pytest.raises(
        shoal.SourceError, match=r"needs the package cryptography; run: .*pip install -e '.*\[series\]'"
    ):
        one.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE)
    assert not list(tmp_path.iterdir())


def test_after_a_stop_between_the_two_moves_the_same_can_be_run_again(one, two, tmp_path):
    """The release is there, the state is still the one before: the same call gives the same bytes."""
    one.state.write(tmp_path / "s.state", PASSPHRASE)
    two.release.write(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    second = table(a=(20, "flu"), c=(40, "flu"), e=(60, "bronchitis"))
    state = shoal.SeriesState.read(tmp_path / "s.state", PASSPHRASE)
    again = shoal.republish(second, SCHEMA, TWO, previous=one.release, state=state, seed=4)
    again.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE, overwrite=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_who_checks_a_series_finishes_what_was_begun(one, two, tmp_path, monkeypatch):
    """A process died before the second release was moved to its place: its directory is not there yet."""
    state = tmp_path / "s.state"
    first = one.write(tmp_path / "one", state, PASSPHRASE)
    with monkeypatch.context() as patched:
        patched.setattr(changes, "remove", lambda _staging: None)
        patched.setattr(changes.Change, "_undo", lambda *_: None)
        patched.setattr(changes._Part, "move", died)
        with pytest.raises(KeyboardInterrupt):
            two.write(tmp_path / "two", state, PASSPHRASE)
    assert not (tmp_path / "two").exists()
    with pytest.warns(shoal.ShoalWarning, match="what it began was finished"):
        assert shoal.verify_series([first, tmp_path / "two"]).n_releases == 2
    assert shoal.SeriesState.read(state, PASSPHRASE).fingerprints() == two.state.fingerprints()


def died(_part):
    raise KeyboardInterrupt


def test_a_state_that_another_release_follows_already_is_not_followed_again(one, two, tmp_path):
    """Two releases of one state at the same time: who compares them would learn more than from either."""
    state = tmp_path / "s.state"
    one.write(tmp_path / "one", state, PASSPHRASE)
    two.write(tmp_path / "two", state, PASSPHRASE)
    after = state.read_bytes()
    other = table(a=(20, "flu"), c=(40, "flu"), f=(61, "gastritis"))
    late = shoal.republish(other, SCHEMA, TWO, previous=one.release, state=one.state, seed=5)
    with pytest.raises(shoal.SourceError, match="another release was written since it was read"):
        late.write(tmp_path / "late", state, PASSPHRASE)
    with pytest.raises(shoal.SourceError, match="is of another series"):
        shoal.republish(FIRST, SCHEMA, TWO, seed=3).write(tmp_path / "late", state, PASSPHRASE)
    assert state.read_bytes() == after
    assert not (tmp_path / "late").exists()


def test_two_processes_cannot_both_follow_one_state(one, tmp_path):
    """Each reads the state, then both write at the same time: one waits for the other, and is refused."""
    state = tmp_path / "s.state"
    one.write(tmp_path / "one", state, PASSPHRASE)
    made = [shoal.republish(FIRST.head(n), SCHEMA, TWO, previous=one.release, state=one.state, seed=5) for n in (3, 4)]

    def write(place: int) -> str:
        try:
            made[place].write(tmp_path / str(place), state, PASSPHRASE)
        except shoal.SourceError as error:
            return str(error)
        return "written"

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(write, range(2)))
    assert said[1] == "written"
    assert "another release was written" in said[0]


def test_no_release_of_the_series_is_replaced(one, two, tmp_path):
    """Nobody could check the others any more; the last one may be written once more, in another format."""
    state = tmp_path / "s.state"
    one.write(tmp_path / "one", state, PASSPHRASE)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(shoal.ParameterError, match="one: is release 1 of this series, which is not replaced"):
        two.write(tmp_path / "one", state, PASSPHRASE, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    for form in ("csv", "parquet"):
        two.write(tmp_path / "two", state, PASSPHRASE, format=form, overwrite=True)
    assert shoal.verify_series([tmp_path / "one", tmp_path / "two"]).n_releases == 2


def test_the_earlier_release_comes_back_when_the_state_cannot_be_moved(one, two, tmp_path, monkeypatch):
    one.state.write(tmp_path / "s.state", PASSPHRASE)
    shoal.republish(FIRST.head(2), SCHEMA, TWO, seed=3).release.write(tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    failing_moves(monkeypatch, "s.state", OSError(28, "No space left on device"))
    with pytest.raises(shoal.SourceError, match=r"s.state: cannot be written \(No space left.*is there still"):
        two.write(tmp_path / "out", tmp_path / "s.state", PASSPHRASE, overwrite=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.receipt.json", "s.state"]


def test_a_link_to_the_state_stays_one(one, two, tmp_path):
    (tmp_path / "secure").mkdir()
    real, link = tmp_path / "secure" / "s.state", tmp_path / "link.state"
    link.symlink_to(real)
    one.write(tmp_path / "one", link, PASSPHRASE)
    two.write(tmp_path / "two", link, PASSPHRASE)
    assert link.is_symlink()
    assert shoal.SeriesState.read(real, PASSPHRASE).fingerprints() == two.state.fingerprints()


def test_the_place_of_the_receipt_is_not_that_of_the_state(one, tmp_path):
    with pytest.raises(shoal.ParameterError, match="stands where the receipt of the release goes"):
        one.write(tmp_path / "out", tmp_path / "out.receipt.json", PASSPHRASE)
    assert not list(tmp_path.iterdir())


def test_a_later_table_of_which_nothing_is_left_is_refused(one):
    gone = FIRST.with_columns(age=pl.lit(None, dtype=pl.Int64))
    refuse(
        shoal.SchemaError, "table: has no rows to publish", frame=gone, previous=one.release, state=one.state,
        missing="drop",
    )  # fmt: skip


def test_what_is_no_series_is_refused(one):
    for releases in ([None], [FIRST]):
        with pytest.raises(shoal.ParameterError, match="releases: needs releases"):
            shoal.verify_series(releases)
    for people in ([1], {"a": 1}, one.state):
        with pytest.raises(shoal.ParameterError, match="people: needs the class of everybody"):
            shoal.verify_series([one.release], people)
