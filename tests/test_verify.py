"""A tampered release is refused, whatever was tampered with and however well the traces are covered."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import shoal
import shoal.manifest
import shoal.pipeline
from shoal.release import check_directory
from shoal.table.content import content_sha256
from shoal.verify import verify, verify_directory
from test_contract import MIXED, mixed_frame

SHAPES = ["text", "typed", "classes"]


@pytest.fixture(params=SHAPES)
def release(request):
    return shoal.anonymize(
        mixed_frame(200), MIXED, shoal.Mondrian(k=5), publish=shoal.Generalize(shape=request.param), seed=1
    )


def tampered(release, table, name="table", *, cover_up=True):
    """The release with another table; the manifest's fingerprints and row counts are made to fit."""
    manifest = release.manifest
    if cover_up:
        tables = tuple(
            entry.model_copy(update={"rows": table.height, "content_sha256": content_sha256(table)})
            if entry.name == name
            else entry
            for entry in manifest.tables
        )
        manifest = manifest.model_copy(update={"tables": tables})
    return replace(release, frames={**release.frames, name: table}, manifest=manifest)


def quasi_columns(release):
    if release.manifest.layout.shape == "classes":
        return ["class"]
    return [name for column in release.manifest.layout.quasi for name in column.columns]


def smallest_class(release) -> pl.Series:
    """Whether a row is in a class of the promised size exactly."""
    table = release.tables["table"]
    columns = quasi_columns(release)
    sizes = table.select(columns).with_row_index("#").group_by(columns).agg(pl.col("#"))
    rows = min(sizes["#"].to_list(), key=len)
    assert len(rows) == 5
    return pl.Series([row in rows for row in range(table.height)])


def test_untampered_holds(release):
    assert release.verify().k >= 5
    assert tampered(release, release.tables["table"]).verify() == release.verify()


@pytest.mark.parametrize("column", ["disease", None])
def test_a_changed_cell_is_noticed(release, column):
    table = release.tables["table"]
    column = column or quasi_columns(release)[0]
    other = table[column].filter(table[column].ne_missing(table[column][0]))[0]
    changed = table.with_columns(table[column].scatter(0, other))
    with pytest.raises(shoal.GuaranteeError, match="was changed since it was released"):
        tampered(release, changed, cover_up=False).verify()


def test_a_removed_row_is_noticed(release):
    with pytest.raises(shoal.GuaranteeError, match="has 199 rows, the manifest says 200"):
        tampered(release, release.tables["table"][1:], cover_up=False).verify()
    with pytest.raises(shoal.GuaranteeError, match="199 are published, the manifest says 200"):
        tampered(release, release.tables["table"][1:]).verify()


def test_a_doubled_row_is_noticed(release):
    table = release.tables["table"]
    with pytest.raises(shoal.GuaranteeError, match="201 are published, the manifest says 200"):
        tampered(release, pl.concat([table, table[:1]])).verify()


def test_rows_that_do_not_add_up_are_noticed(release):
    thinned = tampered(release, release.tables["table"][1:])
    rows = thinned.manifest.rows.model_copy(update={"published": 199})
    with pytest.raises(shoal.GuaranteeError, match="199 are accounted for, 200 came in"):
        replace(thinned, manifest=thinned.manifest.model_copy(update={"rows": rows})).verify()


def test_a_thinned_class_is_refused_even_when_every_trace_is_covered(release):
    """One row of a smallest class is swapped for a copy of another row; counts and fingerprints are made to fit."""
    table, small = release.tables["table"], smallest_class(release)
    inside, outside = table.filter(small), table.filter(~small)
    thinned = pl.concat([inside[1:], outside, outside[:1]])
    forged = tampered(release, thinned)
    if release.manifest.layout.shape == "classes":
        counts = thinned.group_by("class").agg(pl.len().cast(pl.Int64).alias("size"))
        classes = release.tables["classes"].drop("size").join(counts, on="class", maintain_order="left")
        forged = tampered(forged, classes.select(release.tables["classes"].columns), "classes")
    with pytest.raises(shoal.GuaranteeError, match="k = 5 was promised, the weakest class reaches 4"):
        forged.verify()


def test_a_quasi_identifier_made_finer_is_refused(release):
    """Moving one row from a smallest class into another existing class leaves four behind."""
    table, small = release.tables["table"], smallest_class(release)
    donor, columns = table.filter(~small)[:1], quasi_columns(release)
    moved = table.filter(small)[:1].with_columns(donor.select(columns))
    forged = tampered(release, pl.concat([moved, table.filter(small)[1:], table.filter(~small)]))
    message = "its sizes are not those of the rows" if columns == ["class"] else "the weakest class reaches 4"
    with pytest.raises(shoal.GuaranteeError, match=message):
        forged.verify()


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("age", "[99, 100]", "outside the range of the column"),
        ("age", "[60, 20]", "ends are swapped"),
        ("age", "[20, 30.5]", "a broken number"),
        ("age", "young", "neither a number nor an interval"),
        ("grade", "[low, huge]", "a category outside the order"),
        ("grade", "[high, low]", "ends are swapped"),
        ("grade", "*", "though no value of the column was missing"),
        ("grade", None, "though no value of the column was"),
        ("code", "9**", "a node outside the hierarchy"),
        ("weight", "[0, 7[", "a node outside the hierarchy"),
    ],
)
def test_cells_that_cannot_be_are_refused(column, cell, message):
    release = shoal.anonymize(mixed_frame(200), MIXED, shoal.Mondrian(k=5), seed=1)
    table = release.tables["table"].with_columns(pl.lit(cell, dtype=pl.String).alias(column))
    with pytest.raises(shoal.GuaranteeError, match=message) as caught:
        tampered(release, table).verify()
    assert f"column '{column}': 200 cells" in str(caught.value)


def test_a_foreign_column_is_refused(release):
    table = release.tables["table"].with_columns(pl.lit(1).alias("extra"))
    with pytest.raises(shoal.GuaranteeError, match="has other columns than the manifest says"):
        tampered(release, table).verify()


def test_an_identifying_column_is_refused_even_if_the_manifest_lists_it():
    schema = shoal.Schema(identifying=["name"], quasi={"a": shoal.Numeric()})
    frame = pl.DataFrame({"name": ["x", "y", "z"], "a": [1, 2, 3]})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3))
    manifest = release.manifest
    layout = manifest.layout.model_copy(
        update={"passed": (shoal.manifest.PassedColumn(name="name", role="neutral", kind=None),)}
    )
    table = release.tables["table"].with_columns(pl.Series("name", ["x", "y", "z"]))
    entry = manifest.tables[0].model_copy(
        update={"columns": tuple(table.columns), "content_sha256": content_sha256(table)}
    )
    forged = manifest.model_copy(update={"layout": layout, "tables": (entry,)})
    with pytest.raises(shoal.GuaranteeError, match="column 'name': is published, though its role is identifying"):
        verify({"table": table}, forged)


def test_a_promise_without_k_is_refused(release):
    with pytest.raises(
        shoal.GuaranteeError, match="does not hold what the recipe asks for: model = k-anonymity, k = 5"
    ):
        replace(release, manifest=release.manifest.model_copy(update={"promise": ()})).verify()
    request = release.manifest.recipe.model_copy(update={"method": {"name": "mystery"}})
    with pytest.raises(shoal.GuaranteeError, match="says nothing about the size of classes"):
        replace(release, manifest=release.manifest.model_copy(update={"promise": (), "recipe": request})).verify()


def test_a_weaker_promise_cannot_be_read_as_a_stronger_one(release):
    said = release.manifest.promise
    stronger = release.manifest.model_copy(update={"promise": (*said, {"model": "k-anonymity", "k": 60})})
    with pytest.raises(shoal.GuaranteeError, match="k = 60 was promised, the weakest class reaches"):
        replace(release, manifest=stronger).verify()
    nonsense = release.manifest.model_copy(update={"promise": (*said, {"model": "k-anonimity", "k": 5})})
    with pytest.raises(shoal.GuaranteeError, match="did you mean 'k-anonymity'"):
        replace(release, manifest=nonsense).verify()


def test_a_manifest_that_contradicts_itself_is_refused(release):
    """A quasi-identifier declared neutral would leave the classes without it."""
    manifest, first = release.manifest, release.manifest.layout.quasi[0]
    passed = shoal.manifest.PassedColumn(name=first.name, role="neutral", kind=first.kind)
    layout = manifest.layout
    layout = layout.model_copy(update={"quasi": layout.quasi[1:], "passed": (passed, *layout.passed)})
    with pytest.raises(shoal.GuaranteeError, match="column 'age': is not published as its role and kind demand"):
        replace(release, manifest=manifest.model_copy(update={"layout": layout})).verify()
    columns = manifest.columns[1:]
    with pytest.raises(shoal.GuaranteeError, match="column 'age': is published, though the input has no such column"):
        replace(release, manifest=manifest.model_copy(update={"columns": columns})).verify()
    with pytest.raises(shoal.GuaranteeError, match="claims other values than the release reaches"):
        replace(release, manifest=manifest.model_copy(update={"achieved": {"k": 500}})).verify()


# -- from the files alone ------------------------------------------------------------------------------------------


@pytest.fixture(params=["csv", "parquet"])
def folder(request, release, tmp_path):
    return release.write(tmp_path / "out", format=request.param)


def table_file(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.stem == "table")


def rewrite(folder: Path, change, *, cover_up: bool) -> None:
    path = table_file(folder)
    if path.suffix == ".csv":
        change(pl.read_csv(path, infer_schema=False)).write_csv(path)
    else:
        change(pl.read_parquet(path)).write_parquet(path)
    if cover_up:
        manifest = json.loads((folder / "manifest.json").read_text())
        for table in manifest["tables"]:
            if table["name"] == "table":
                table["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
                table["rows"] = (pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)).height
        (folder / "manifest.json").write_text(json.dumps(manifest))


def test_files_hold(folder, release):
    verdict, manifest = verify_directory(folder)
    assert verdict == release.verify()
    assert manifest.achieved == verdict.achieved
    assert shoal.read_release(folder).measure() == release.measure()
    assert manifest.measures.items() < release.measure().items()


@pytest.mark.parametrize(
    "change",
    [lambda t: t.reverse(), lambda t: t[1:], lambda t: pl.concat([t, t[:1]])],
    ids=["reordered", "removed", "doubled"],
)
def test_changed_files_are_refused(folder, change):
    rewrite(folder, change, cover_up=False)
    with pytest.raises(shoal.GuaranteeError, match="its SHA-256 differs"):
        verify_directory(folder)


def test_changed_files_are_refused_with_the_hash_made_to_fit(folder):
    rewrite(folder, lambda t: t[1:], cover_up=True)
    with pytest.raises(shoal.GuaranteeError, match="199 are published, the manifest says 200"):
        verify_directory(folder)


def test_broken_directories(folder, tmp_path):
    with pytest.raises(shoal.SourceError, match="does not exist"):
        verify_directory(tmp_path / "nowhere")
    with pytest.raises(shoal.SourceError, match="is not a release directory"):
        verify_directory(tmp_path)
    text = (folder / "manifest.json").read_text()
    for broken, message in (
        ("{", "manifest.json: entry"),
        (text.replace('"seed"', '"sead"'), "recipe.sead: Extra inputs"),
        (text.replace('"format": 1', '"format": 2'), "entry format"),
        (text.replace('"file": "table', '"file": "../../table'), "its file is not in the directory"),
    ):
        (folder / "manifest.json").write_text(broken)
        with pytest.raises(shoal.GuaranteeError, match=message):
            verify_directory(folder)
    (folder / "manifest.json").write_text(text)
    table_file(folder).unlink()
    with pytest.raises(shoal.GuaranteeError, match="its file is not in the directory"):
        verify_directory(folder)


def test_false_figures_and_foreign_files_are_refused(folder):
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(re.sub(r'"ncp": [0-9.]+', '"ncp": 0.001', text))
    with pytest.raises(shoal.GuaranteeError, match="claims other figures than the release has"):
        check_directory(folder)
    (folder / "manifest.json").write_text(text)
    (folder / "originals.csv").write_text("name\n")
    with pytest.raises(shoal.GuaranteeError, match=r"holds what the manifest does not name: originals\.csv"):
        check_directory(folder)


def test_nothing_is_written_that_does_not_hold(release, tmp_path):
    with pytest.raises(shoal.GuaranteeError, match="199 rows"):
        tampered(release, release.tables["table"][1:], cover_up=False).write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_nothing_half_written_stays(release, tmp_path, monkeypatch):
    def fail(self, path):
        Path(path).write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_csv", fail)
    with pytest.raises(shoal.SourceError, match="No space left on device"):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_overwriting_replaces_only_releases(release, tmp_path):
    target = release.write(tmp_path / "out")
    with pytest.raises(shoal.SourceError, match="exists already"):
        release.write(target)
    release.write(target, overwrite=True)
    assert verify_directory(target)
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    with pytest.raises(shoal.SourceError, match="is not replaced"):
        release.write(precious, overwrite=True)
    assert (precious / "thesis.txt").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "precious"]


# -- forgeries that a reviewer thought up: every hash and count is made to fit -----------------------------------------


def forged(release, *, layout=None, table=None, **entries):
    """The release with other entries in its manifest, and possibly another table."""
    frame = release.frames["table"] if table is None else table
    tables = (
        release.manifest.tables[0].model_copy(
            update={"columns": tuple(frame.columns), "rows": frame.height, "content_sha256": content_sha256(frame)}
        ),
        *release.manifest.tables[1:],
    )
    update = {"tables": tables, "achieved": {}, "measures": {}, **entries}
    if layout is not None:
        update["layout"] = release.manifest.layout.model_copy(update=layout)
    return replace(
        release, frames={**release.frames, "table": frame}, manifest=release.manifest.model_copy(update=update)
    )


@pytest.fixture
def plain():
    schema = shoal.Schema(
        identifying=["name"],
        quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(2,)))},
        sensitive=["disease"],
    )
    frame = pl.DataFrame(
        {
            "name": list("abcdefgh"),
            "age": [20.5, 21, 22, 23, 60, 61, 62, 63],
            "zip": ["1000", "1001", "1002", "1003", "2000", "2001", "2002", "2003"],
            "disease": ["flu"] * 8,
        }
    )
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=4))


def test_a_release_without_quasi_identifiers_is_refused(plain):
    passed = [shoal.manifest.PassedColumn(name=name, role="neutral", kind=None) for name in ("age", "zip")]
    layout = {"quasi": (), "passed": (*passed, *plain.manifest.layout.passed)}
    with pytest.raises(shoal.GuaranteeError, match="layout: names no quasi-identifier"):
        forged(plain, layout=layout).verify()


@pytest.mark.parametrize("extra", ["name", "zip"])
def test_a_quasi_identifier_with_a_foreign_carrier_is_refused(plain, extra):
    age, zip_code = plain.manifest.layout.quasi
    quasi = (age.model_copy(update={"columns": ("age", extra)}), zip_code)
    table = plain.frames["table"].with_columns(pl.lit("Alice or Bob").alias("name"))
    with pytest.raises(shoal.GuaranteeError, match="is not published in the columns that its shape has"):
        forged(plain, layout={"quasi": quasi}, table=table.select("age", "zip", "disease", "name")).verify()


def test_free_text_where_truth_values_belong_is_refused():
    frame = pl.DataFrame({"a": [1, 2, None, 4]})
    release = shoal.anonymize(
        frame, shoal.Schema(quasi={"a": shoal.Numeric()}), shoal.Mondrian(k=2), publish=shoal.Generalize(shape="typed")
    )
    table = release.frames["table"].with_columns(pl.col("a_missing").cast(pl.String).replace("false", "Bob"))
    with pytest.raises(shoal.GuaranteeError, match="neither true nor false"):
        forged(release, table=table).verify()


def test_what_looks_different_is_different():
    """0.0 and -0.0 are equal numbers, and tell two rows apart."""
    frame = pl.DataFrame({"a": [0.0, 0.5, 0.0, 0.5]})
    release = shoal.anonymize(
        frame, shoal.Schema(quasi={"a": shoal.Numeric()}), shoal.Mondrian(k=2), publish=shoal.Generalize(shape="typed")
    )
    table = release.frames["table"]
    place = table["a_low"].to_list().index(0.0)
    changed = table.with_columns(table["a_low"].scatter(place, -0.0))
    with pytest.raises(shoal.GuaranteeError, match="the weakest class reaches 1"):
        forged(release, table=changed).verify()


def test_entries_that_contradict_or_tell_too_much_are_refused(plain):
    manifest = plain.manifest
    zip_code = manifest.layout.quasi[1]
    spare = shoal.manifest.Node(name="Alice", parent=0, height=0, leaves=1)
    flat = tuple(node.model_copy(update={"height": 0}) for node in zip_code.nodes)
    stronger = manifest.recipe.model_copy(update={"require": ({"model": "k-anonymity", "k": 40},)})
    rows = manifest.rows.model_copy(update={"published": 7, "dropped": {"Alice was ill": 1}})
    for change, message in (
        ({"recipe": stronger}, "does not hold what the recipe asks for: model = k-anonymity, k = 40"),
        ({"columns": (*manifest.columns, manifest.columns[0])}, "columns: names something more than once"),
        ({"tables": (*manifest.tables, *manifest.tables)}, "tables: names something more than once"),
        ({"rows": rows}, "gives a reason for dropped rows that does not exist"),
        (
            {"layout": {"quasi": (manifest.layout.quasi[0], zip_code.model_copy(update={"nodes": flat}))}},
            "has a node as high as the one above it",
        ),
        (
            {
                "layout": {
                    "quasi": (manifest.layout.quasi[0], zip_code.model_copy(update={"nodes": (*zip_code.nodes, spare)}))
                }
            },
            "hierarchy has ",
        ),
    ):
        with pytest.raises(shoal.GuaranteeError, match=message):
            forged(plain, **change).verify()


def test_metadata_of_a_file_is_looked_at(plain, tmp_path):
    folder = plain.write(tmp_path / "out", format="parquet")
    path = folder / "table.parquet"
    pl.read_parquet(path).write_parquet(path, metadata={"note": "Alice,33,HIV"})
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["tables"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(shoal.GuaranteeError, match="carries metadata that no release has"):
        verify_directory(folder)
    path.write_bytes(b"PAR1" + bytes(range(200)) + b"PAR1")
    manifest["tables"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(shoal.GuaranteeError, match="cannot be read as a table"):
        verify_directory(folder)


def test_a_manifest_without_figures_is_refused_on_disk(plain, tmp_path):
    folder = plain.write(tmp_path / "out")
    manifest = json.loads((folder / "manifest.json").read_text())
    for entry, message in (("achieved", "other values than"), ("measures", "other figures than")):
        (folder / "manifest.json").write_text(json.dumps(manifest | {entry: {}}))
        with pytest.raises(shoal.GuaranteeError, match=message):
            check_directory(folder)


def test_reading_a_release_verifies_it_first(plain, tmp_path):
    folder = plain.write(tmp_path / "out")
    rewrite(folder, lambda t: t.with_columns(pl.lit("[99, 1]").alias("age")), cover_up=True)
    with pytest.raises(shoal.GuaranteeError, match="ends are swapped"):
        shoal.read_release(folder)


def test_a_dropped_row_leaves_no_trace():
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "zip": shoal.Nominal(shoal.Prefixes(keep=(2,)))})
    said = []
    for secret in ("1009", "9000"):
        frame = pl.DataFrame({"age": [20, 21, 22, None], "zip": ["1000", "1001", "1002", secret]})
        release = shoal.anonymize(frame, schema, shoal.Mondrian(k=3), missing="drop")
        entries = release.manifest.model_dump(mode="json")
        del entries["input"]["sha256"]  # a fingerprint of the whole input, for its holder
        said.append(entries)
    assert said[0] == said[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "name", ["len", "counted", "value", "group", "row", 'a "quoted" name', "a,b", " padded ", "line\nbreak", "ä[kg]"]
)
def test_any_column_name_goes_through(tmp_path, name, form, shape):
    frame = pl.DataFrame({name: [1, 2, 3, None, None, 6]})
    schema = shoal.Schema(quasi={name: shoal.Numeric()})
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), publish=shoal.Generalize(shape=shape))
    folder = release.write(tmp_path / "out", format=form)
    back = shoal.read_release(folder)
    assert back.verify() == release.verify()
    assert back.frames["table"].equals(release.frames["table"])
    assert back.measure() == release.measure()


def test_missing_cells_alone_on_their_line_are_seen_by_other_readers(tmp_path):
    import pandas as pd

    release = shoal.anonymize(
        pl.DataFrame({"a": [1, 2, None, None]}), shoal.Schema(quasi={"a": shoal.Numeric()}), shoal.Mondrian(k=2)
    )
    folder = release.write(tmp_path / "out")
    assert pd.read_csv(folder / "table.csv")["a"].isna().sum() == 2
    assert verify_directory(folder)[0].n_rows == 4


def test_all_tables_come_in_the_type_that_was_given():
    import pandas as pd

    frame = pl.DataFrame({"a": [1, 2, 3, 4]}).to_pandas()
    release = shoal.anonymize(
        frame,
        shoal.Schema(quasi={"a": shoal.Numeric()}),
        shoal.Mondrian(k=2),
        publish=shoal.Generalize(shape="classes"),
    )
    assert {type(table) for table in release.tables.values()} == {pd.DataFrame}
    assert repr(release) == "Release(4 of 4 rows, mondrian, k=2)"


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_directory_whose_name_reads_as_a_pattern(plain, tmp_path, form):
    folder = plain.write(tmp_path / "out[1]*", format=form)
    assert verify_directory(folder)[0].k == 4
