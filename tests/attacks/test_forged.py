"""Releases that were changed so that they disclose, or carry what no release says; every trace covered.

The attacker is inside: somebody who may write the files that a receiver will verify. Chance allows nothing here: each
is refused with exit status 1. That nothing else is wrong with them is shown by the same files with an honest content,
which are accepted.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.measure import measure
from shoal.release import sealed
from shoal.release.manifest import FILE, Node, Slice
from support.forging import arranged, fingerprinted, mended, put, rewritten, with_entries

PASSPHRASE = "correct horse battery"
AGES = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})
PEOPLE = pl.DataFrame({"age": range(20, 44), "disease": ["flu", "cold", "gout", "ache"] * 6})


@pytest.fixture
def status(call):
    """Run a command in this process; its exit status, and what it says of errors."""

    def run(*arguments: object) -> tuple[int, str]:
        status, _, err = call(*map(str, arguments))
        return status, err

    return run


# -- values that are none --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_nodes_above_others_are_no_sensitive_values(form, tmp_path, status):
    """`lung` beside `flu` would be two values, and may be one."""
    tree = shoal.Hierarchy([("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "gut", "*"), ("gas", "gut", "*")])
    frame = pl.DataFrame({"age": range(4), "d": ["flu", "cold", "ulcer", "gas"]})
    schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"d": shoal.Nominal(tree)})
    asked = {"require": [shoal.LDiversity("d", l=2)], "seed": 1}
    release = shoal.anonymize(frame, schema, shoal.Mondrian(k=2), **asked)
    (column,) = release.manifest.layout.passed
    entries = [(None, None, 2, 4), ("lung", 0, 1, 2), ("flu", 1, 0, 1), ("gut", 0, 1, 2), ("ulcer", 3, 0, 1)]
    nodes = tuple(
        Node(name=name, parent=parent, height=height, leaves=leaves) for name, parent, height, leaves in entries
    )
    table = release.frames["table"].with_columns(pl.col("d").replace({"cold": "lung", "gas": "gut"}))
    forged = mended(release, layout={"passed": (column.model_copy(update={"nodes": nodes}),)}, table=table)
    for place, one in (("honest", release), ("forged", forged)):
        (tmp_path / place).mkdir()
        (tmp_path / place / f"table.{form}").touch()
        put(one, tmp_path / place)
    assert status("verify", tmp_path / "honest") == (0, "")
    code, err = status("verify", tmp_path / "forged")
    assert code == 1
    assert "column 'd': shows nodes of its hierarchy that have others below them" in err
    with pytest.raises(shoal.SchemaError):  # anonymize refuses such an input
        shoal.anonymize(frame.with_columns(pl.col("d").replace({"cold": "lung"})), schema, shoal.Mondrian(k=2), **asked)


# -- names that mean other columns -----------------------------------------------------------------------------------


def columns_called(quasi: str, neutral: str) -> shoal.Release:
    """Twenty people, one of them alone with a value of the quasi-identifier, and a neutral column beside it."""
    frame = pl.DataFrame({"q": ["a"] + ["b"] * 19, "n": ["a", "b"] * 10, "s": ["flu", "cold"] * 10})
    schema = shoal.Schema(quasi={"q": shoal.Ordinal(["a", "b"])}, neutral=["n"], sensitive=["s"])
    release = shoal.anonymize(frame.with_columns(q=pl.Series(["a", "b"] * 10)), schema, shoal.Mondrian(k=5), seed=1)
    table = frame.select("q", "n", "s").rename({"q": quasi, "n": neutral})
    layout = release.manifest.layout
    (column,), (other, *rest) = layout.quasi, layout.passed
    renamed = {
        "quasi": (column.model_copy(update={"name": quasi, "columns": (quasi,)}),),
        "passed": (other.model_copy(update={"name": neutral}), *rest),
    }
    return fingerprinted(with_entries(release, layout=renamed), table=table)


def test_names_that_are_patterns_do_not_show_the_checker_another_column():
    """Polars finds each by the other: the checker would count the neutral column."""
    with pytest.raises(shoal.GuaranteeError, match="layout: has a name that no column can have"):
        arranged(columns_called("^.Q.*$", r"^Q?\^\.Q.*$")).verify()


@pytest.mark.parametrize("name", ["", " ", "*", "^a$", "^[$", "\0row", "\0count", "\0group", "\ufeffz"])
@pytest.mark.parametrize("role", ["quasi", "neutral"])
def test_names_that_no_input_can_have_are_refused(role, name):
    named = {"quasi": "q", "neutral": "n"} | {role: name}
    with pytest.raises(shoal.GuaranteeError, match="layout: has a name that no column can have"):
        columns_called(**named).verify()


# -- slices that disclose openly -------------------------------------------------------------------------------------

SLICED = shoal.Slicing(l=2, k=4, groups={"age": 1, "disease": 2})


def sliced(folder: Path) -> Path:
    return shoal.anonymize(PEOPLE, AGES, SLICED).write(folder)


def one_disease_a_bucket(release: shoal.Release) -> shoal.Release:
    """Diseases sorted over the buckets: whoever is found in a bucket has its disease."""
    table = release.frames["table"].with_columns(pl.col("bucket").cast(pl.Int64)).sort("bucket")
    half = table.height // 2
    table = table.with_columns(disease=table["disease"].sort(), bucket=pl.Series([1] * half + [2] * half))
    bad = table.with_columns(disease=pl.Series(["flu"] * half + ["cold", "gout"] * (half // 2)))
    return mended(release, table=bad.with_columns(pl.col("bucket").cast(release.frames["table"].schema["bucket"])))


def raw_input(release: shoal.Release) -> shoal.Release:
    """One bucket and one slice: the input as it is."""
    dtype = release.frames["table"].schema["bucket"]
    table = PEOPLE.select(pl.lit(1).cast(dtype).alias("bucket"), pl.all().cast(pl.String))
    whole = (Slice(attributes=("age", "disease"), columns=("age", "disease")),)
    method = {**release.manifest.recipe.method, "groups": {"age": 1, "disease": 1}}
    release = with_entries(release, recipe=release.manifest.recipe.model_copy(update={"method": method}))
    return mended(release, layout={"slices": whole}, table=table)


@pytest.mark.parametrize("disclose", [one_disease_a_bucket, raw_input])
def test_slices_that_disclose_openly_are_refused(disclose, tmp_path, status):
    """Promise: 1/2 for everybody. Known: the files. The forger mends hashes, order, facts and figures."""
    assert status("verify", sliced(tmp_path / "honest")) == (0, "")
    code, said = status("verify", rewritten(sliced(tmp_path / "forged"), disclose))
    assert code == 1
    assert "slice-diversity" in said
    assert status("verify", rewritten(tmp_path / "honest", mended)) == (0, "")


# -- slices that are not those of the recipe -------------------------------------------------------------------------

FOUR = shoal.Schema(
    quasi={"age": shoal.Numeric(), "zip": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}, neutral=["note"]
)
PLACED = pl.DataFrame(
    {
        "age": [20 + i // 12 for i in range(48)],
        "zip": ["A", "B"] * 24,
        "disease": [["flu", "cold", "gout", "ache"][(i // 2) % 4] for i in range(48)],
        "note": [["x", "y", "z"][i % 3] for i in range(48)],
    }
)
TOGETHER = {"age": 1, "zip": 2, "disease": 2, "note": 1}
ORDER = ("name", "l", "columns", "k", "groups", "sensitive_apart", "p", "overlap", "cuts", "bins", "discretise")


def asking(**parameters: object) -> Callable[[shoal.Release], shoal.Release]:
    """The release with other parameters in its recipe, None for one that is taken away."""

    def change(release: shoal.Release) -> shoal.Release:
        method = release.manifest.recipe.method | parameters
        method = {name: method[name] for name in ORDER if method.get(name) is not None}
        return with_entries(release, recipe=release.manifest.recipe.model_copy(update={"method": method}))

    return change


@pytest.mark.parametrize(
    ("made", "claimed", "fault"),
    [
        ({"groups": TOGETHER}, {"groups": None, "sensitive_apart": True}, "last slice is not that of the sensitive"),
        ({"groups": TOGETHER}, {"groups": None, "columns": 4}, "another number of slices"),
        ({"groups": TOGETHER}, {"overlap": "age"}, "more often, or less often"),
        ({"groups": TOGETHER | {"disease": 3}, "overlap": "zip"}, {"groups": None, "overlap": None}, "more often, or"),
        ({"groups": TOGETHER}, {"p": 40}, "exactly with one"),
        ({"groups": TOGETHER, "p": 2}, {"p": None}, "without a p"),
        ({"groups": TOGETHER, "p": 2}, {"p": 40}, "p = 40 was promised, but a combination is in"),
        ({"groups": TOGETHER}, {"p": 40, "overlap": "age"}, "p together with overlap"),
    ],
)
def test_slices_are_those_that_the_recipe_asks_for(made, claimed, fault):
    release = shoal.anonymize(PLACED, FOUR, shoal.Slicing(l=2, k=4, **made), seed=1)
    mended(release).verify(original=PLACED)
    with pytest.raises(shoal.GuaranteeError, match=fault):
        mended(asking(**claimed)(release)).verify()


def test_with_p_no_value_is_likely_beside_a_combination():
    """Exchanged cells leave every count of a slice as it is but that of the values beside the combinations."""
    method = shoal.Slicing(l=2, k=4, p=4, groups={"age": 1, "disease": 1})
    release = shoal.anonymize(PEOPLE, AGES, method, seed=1)
    mended(release).verify()
    table = release.frames["table"]
    certain = table.sort("bucket", "age").with_columns(disease=table["disease"].sort())
    with pytest.raises(shoal.GuaranteeError, match=r"a value is in \d+.\d% of the rows of a combination"):
        mended(release, table=certain).verify()


@pytest.mark.parametrize("shape", ["table", "files"])
def test_slices_that_share_attributes_in_a_ring_are_refused(shape):
    """Each two slices say nothing, and the third, which shows nine of ten with one value, was taken for a filter."""
    frame = pl.DataFrame(
        {"age": [20, 21] * 10, "zip": ["A", "A", "B", "B"] * 5, "disease": ["flu"] * 10 + ["cold"] * 10}
    )
    schema = shoal.Schema(quasi={"age": shoal.Numeric(), "zip": shoal.Nominal()}, sensitive=["disease"])
    method = shoal.Slicing(l=2, k=20, groups={"age": 1, "zip": 2, "disease": 3})
    release = shoal.anonymize(frame, schema, method, publish=shoal.Slices(shape=shape), seed=1)
    shown = {
        ("age", "zip"): [("20", "A"), ("20", "B"), ("21", "A"), ("21", "B")] * 5,
        ("zip_2", "disease"): [("A", "flu"), ("A", "cold"), ("B", "flu"), ("B", "cold")] * 5,
        ("age_3", "disease_3"): [("20", "flu"), ("21", "cold")] * 9 + [("20", "cold"), ("21", "flu")],
    }
    parts = [pl.DataFrame(rows, schema=list(names), orient="row") for names, rows in shown.items()]
    bucket = pl.Series("bucket", ["1"] * 20)
    tables = {"table": pl.DataFrame([bucket, *(series for part in parts for series in part)])}
    if shape == "files":
        tables = {f"slice_{place}": pl.DataFrame([bucket, *part]) for place, part in enumerate(parts, 1)}
    slices = tuple(Slice(attributes=tuple(name.partition("_")[0] for name in names), columns=names) for names in shown)
    with pytest.raises(shoal.GuaranteeError, match="shows attributes more often"):
        mended(asking(groups=None)(release), layout={"slices": slices}, **tables).verify()


# -- series ----------------------------------------------------------------------------------------------------------

NAMED = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})
TWO = shoal.MInvariance(m=2, id="name", column="disease")


def exchanged(release: shoal.Release) -> shoal.Release:
    """Two classes of equal size exchange their cells: people are found among values that are not theirs."""
    classes = release.frames["classes"]
    cells = classes["age"].to_list()
    return mended(release, classes=classes.with_columns(age=pl.Series([*cells[1:], cells[0]])))


def test_a_series_whose_classes_exchanged_their_cells_is_refused(tmp_path, monkeypatch, status):
    """Promise: what the holder verifies is what was released. The forger mends all hashes; the state is not his."""
    monkeypatch.setattr(sealed, "COST", (4, 8, 1))
    monkeypatch.setenv("SHOAL_PASSPHRASE", PASSPHRASE)
    frame = PEOPLE.head(8).with_columns(name=pl.Series(list("abcdefgh")))
    made = shoal.republish(frame, NAMED, TWO, seed=1)
    folder, state = made.write(tmp_path / "one", tmp_path / "s.state", PASSPHRASE), tmp_path / "s.state"
    assert status("verify-series", folder, "--state", state) == (0, "")
    rewritten(folder, mended)
    assert status("verify-series", folder, "--state", state) == (0, "")
    rewritten(folder, exchanged)
    assert status("verify-series", folder)[0] == 0  # nobody else can tell
    code, said = status("verify-series", folder, "--state", state)
    assert code == 1
    assert "is not the release that the state has recorded" in said


# -- what a directory carries besides --------------------------------------------------------------------------------

MESSAGE = "Alice is row 7"


def turned_round(entries: dict, key: str) -> None:
    """The keys of an entry the other way round."""
    entries[key] = dict(reversed(entries[key].items()))


def in_manifest(change: Callable[[dict], object]) -> Callable[[Path], None]:
    """Change entries of the manifest, which is written as it should be."""

    def apply(folder: Path) -> None:
        entries = json.loads((folder / FILE).read_text())
        change(entries)
        (folder / FILE).write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")

    return apply


def in_table(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Change the bytes of the table, and the hash of the file with them."""

    def apply(folder: Path) -> None:
        path = next(path for path in folder.iterdir() if path.stem == "table")
        path.write_bytes(change(path.read_bytes()))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        in_manifest(lambda entries: entries["tables"][0].update(sha256=digest))(folder)

    return apply


def in_input_order(folder: Path) -> None:
    """Rows in an order of the forger's choice, every hash made to fit."""

    def reverse(text: bytes) -> bytes:
        head, *rows = text.splitlines(keepends=True)
        return b"".join([head, *reversed(rows)])

    in_table(reverse)(folder)
    frame = pl.read_csv(folder / "table.csv", infer_schema=False)
    from shoal.table.fingerprint import content_sha256

    in_manifest(lambda entries: entries["tables"][0].update(content_sha256=content_sha256(frame)))(folder)


def with_metadata(folder: Path) -> None:
    """Key-value metadata of a Parquet file."""
    path = folder / "table.parquet"
    pq.write_table(pq.read_table(path).replace_schema_metadata({"note": MESSAGE}), path)
    in_table(bytes)(folder)


CHANNELS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a file beside the tables": ("csv", lambda folder: (folder / "notes.txt").write_text(MESSAGE)),
    "a hidden folder": ("csv", lambda folder: (folder / f".{MESSAGE}").mkdir()),
    "a link": ("csv", lambda folder: (folder / "table2.csv").symlink_to(folder / "table.csv")),
    "a parameter of the method": (
        "csv", in_manifest(lambda entries: entries["recipe"]["method"].update(comment=MESSAGE)),
    ),
    "notes": ("csv", in_manifest(lambda entries: entries.update(notes={"note": MESSAGE}))),
    "the version": ("csv", in_manifest(lambda entries: entries.update(shoal=f"0.1+{MESSAGE}"))),
    "the order of parameters": (
        "csv",
        in_manifest(lambda entries: turned_round(entries["recipe"], "method")),
    ),
    "blanks in the manifest": (
        "csv", lambda folder: (folder / FILE).write_text((folder / FILE).read_text().replace(": ", ":  ", 1)),
    ),
    "quotes that are not needed": ("csv", in_table(lambda text: text.replace(b"flu", b'"flu"', 1))),
    "line ends": ("csv", in_table(lambda text: text.replace(b"\n", b"\r\n"))),
    "a mark before the text": ("csv", in_table(lambda text: b"\xef\xbb\xbf" + text)),
    "the order of rows": ("csv", in_input_order),
    "metadata of a Parquet file": ("parquet", with_metadata),
    "bytes within a Parquet file": ("parquet", in_table(lambda text: text[:4] + MESSAGE.encode() + text[4:])),
}  # fmt: skip


@pytest.mark.parametrize(("form", "smuggle"), CHANNELS.values(), ids=CHANNELS)
def test_a_verified_directory_carries_nothing_besides(form, smuggle, tmp_path, status):
    """Promise: what verifies says nothing but its tables. One test for each sort of hiding place."""
    folder = shoal.anonymize(PEOPLE, AGES, shoal.Mondrian(k=3)).write(tmp_path / "release", format=form)
    in_table(bytes)(folder)  # what the forger does besides changes nothing
    assert status("verify", folder) == (0, "")
    smuggle(folder)
    assert status("verify", folder)[0] == 1


def test_the_command_of_a_shell_refuses_too(tmp_path):
    """As a receiver types it."""
    folder = shoal.anonymize(PEOPLE, AGES, shoal.Mondrian(k=3)).write(tmp_path / "release")
    CHANNELS["notes"][1](folder)
    done = subprocess.run(
        [sys.executable, "-m", "shoal", "verify", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "manifest.json" in done.stderr
    assert MESSAGE not in done.stdout + done.stderr


# -- promises that say less than they seem to ------------------------------------------------------------------------

ALIKE = pl.DataFrame({"age": range(20, 32), "disease": ["flu"] * 6 + ["cold", "gout"] * 3})
"""The younger half has one disease."""


def promised(release: shoal.Release, *entries: dict, **achieved: float) -> shoal.Release:
    """The release with further promises, as if they had been asked for, and what they reach."""
    manifest = release.manifest
    recipe = manifest.recipe.model_copy(update={"require": (*manifest.recipe.require, *entries)})
    return with_entries(
        release, recipe=recipe, promise=(*manifest.promise, *entries), achieved={**manifest.achieved, **achieved}
    )


def test_a_promise_about_values_that_nobody_has_is_refused(tmp_path, status):
    """Promise: no named value has a share above alpha. Of a value that the column lacks, anything would hold."""
    with pytest.raises(shoal.ShoalError, match="does not have 1 of the given values"):
        shoal.anonymize(
            ALIKE, AGES, shoal.Mondrian(k=3), require=[shoal.AlphaK("disease", alpha=0.1, values=("flux",))]
        )
    folder = shoal.anonymize(ALIKE, AGES, shoal.Mondrian(k=3)).write(tmp_path / "release")

    def entry(value: str, alpha: float) -> dict:
        return {"model": "alpha-k", "column": "disease", "alpha": alpha, "values": (value,)}

    def true(release: shoal.Release) -> shoal.Release:
        return promised(release, entry("flu", 1.0), **{"alpha(flu):disease": 1.0})

    def empty(release: shoal.Release) -> shoal.Release:
        return promised(release, entry("flux", 0.1), **{"alpha(flux):disease": 0.0})

    honest = shoal.anonymize(ALIKE, AGES, shoal.Mondrian(k=3)).write(tmp_path / "honest")
    assert status("verify", rewritten(honest, true))[0] == 0
    assert status("verify", rewritten(folder, empty))[0] == 1


def left_out(n_rows: int) -> Callable[[shoal.Release], shoal.Release]:
    """The manifest says that so many rows were left out, and its figures charge them."""

    def change(release: shoal.Release) -> shoal.Release:
        rows = release.manifest.rows.model_copy(update={"left_out": n_rows})
        release = with_entries(release, rows=rows)
        return with_entries(release, measures=measure(release.frames, release.manifest))

    return change


def test_rows_that_were_never_left_out_are_refused(tmp_path, status):
    """Promise: `rows.left_out` counts rows of the input. With missing = "keep" and suppress = 0 there can be none."""
    folder = shoal.anonymize(PEOPLE, AGES, shoal.Mondrian(k=3)).write(tmp_path / "release")
    assert status("verify", rewritten(folder, left_out(0)))[0] == 0
    code, said = status("verify", rewritten(folder, left_out(1234)))
    assert code == 1
    assert "1,234 rows are left out, but the recipe allows at most 0 of 1,258" in said


def renamed(method: dict, *promise: dict, **achieved: float) -> Callable[[shoal.Release], shoal.Release]:
    """Another method, with what it promises."""

    def change(release: shoal.Release) -> shoal.Release:
        recipe = release.manifest.recipe.model_copy(update={"method": method})
        return with_entries(release, recipe=recipe, promise=promise, achieved=achieved)

    return change


K_TWO = {"model": "k-anonymity", "k": 2}
RENAMED = {
    "no promise": (shoal.Anatomy(l=2), renamed({"name": "anatomy", "l": 2})),
    "a bucket as a class": (shoal.Anatomy(l=2), renamed({"name": "mondrian", "k": 2}, K_TWO, k=2)),
    "a size for diversity": (SLICED, renamed({"name": "k-member", "k": 2}, K_TWO, k=2)),
    "a name of its own": (shoal.Mondrian(k=3), renamed({"name": "mondrian2", "k": 2}, K_TWO, k=3)),
    "less than it says": (shoal.Mondrian(k=3), renamed({"name": "mondrian", "k": 3}, K_TWO, k=3)),
}


@pytest.mark.parametrize(("method", "change"), RENAMED.values(), ids=RENAMED)
def test_a_renamed_method_with_a_weaker_promise_is_refused(method, change, tmp_path, status):
    """Promise: what follows from the method that the recipe names, and nothing less."""
    folder = shoal.anonymize(PEOPLE, AGES, method).write(tmp_path / "release")
    assert status("verify", folder)[0] == 0
    assert status("verify", rewritten(folder, change))[0] == 1


# -- spellings -------------------------------------------------------------------------------------------------------

SPELT = pl.DataFrame(
    {"age": range(20, 44), "disease": ["flu", "flu ", " flu", "Flu"] * 3 + ["cold", "flu", "gout"] * 4}
)


def sure_of(release: shoal.Release) -> int:
    """How many people have one value only in their class, once spellings are one."""
    values: dict[str, set[str]] = defaultdict(set)
    rows = release.frames["table"].select("age", "disease").rows()
    for cell, value in rows:
        values[cell].add(" ".join(value.lower().split()))
    return sum(len(values[cell]) == 1 for cell, _ in rows)


def test_spellings_of_a_value_are_not_different_values():
    """Promise: two different values in every class. Chance: nobody whose class has one value in several spellings.

    The attack can succeed: where spellings are not merged, which is warned of.
    """
    require = [shoal.LDiversity("disease", l=2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merged = shoal.anonymize(SPELT, AGES, shoal.Mondrian(k=3), require=require, normalise=True)
    assert sure_of(merged) == 0
    with pytest.warns(shoal.errors.ShoalWarning, match="only in spaces, case or Unicode form"):
        apart = shoal.anonymize(SPELT, AGES, shoal.Mondrian(k=3), require=require)
    assert sure_of(apart) > 0
