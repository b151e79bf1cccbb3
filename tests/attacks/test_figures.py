"""Figures and hashes that need the input: whoever finds one in a release tries out inputs until it fits.

Squared errors against the input, and a hash of it, were in the manifest once: they told counterfeits from people, the
income of a suppressed person to the unit, and who had which value in a bucket. They are in the receipt now.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from attacks.chance import Attack, assert_chance, assert_success
from shoal.measure import input_figures
from shoal.methods.groups import Groups
from shoal.release.files import read_directory
from shoal.release.manifest import FILE
from shoal.table.fingerprint import content_sha256
from shoal.table.prepare import prepare

Public = dict[str, bytes]
"""All that is public of a release: its files by name."""
Leak = Callable[[shoal.Release], Any]
"""What a weakened copy of the path publishes besides."""


def nothing(release: shoal.Release) -> None:
    """The path as it is."""


def squared_errors(release: shoal.Release) -> dict[str, float]:
    """As it was: squared errors against the input."""
    return {one.measure: one.value for one in release.receipt.against_input if one.measure.startswith("square_error")}


def input_hash(release: shoal.Release) -> str:
    """As it was: the hash of the input."""
    return release.receipt.input.sha256


def public(release: shoal.Release, folder: Path, leak: Leak) -> Public:
    """Write a release, where that was not done yet, and read all that is public of it, and what is leaked."""
    if not folder.exists():
        release.write(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return files if leak is nothing else {**files, "leak.json": json.dumps(leak(release)).encode()}


def numbers_in(files: Public) -> np.ndarray:
    """Every number of the manifest, and of what is leaked."""

    def walk(entry: Any) -> list[float]:
        if isinstance(entry, dict):
            entry = list(entry.values())
        if isinstance(entry, list):
            return [number for one in entry for number in walk(one)]
        return [float(entry)] if isinstance(entry, (int, float)) and not isinstance(entry, bool) else []

    texts = [text for name, text in files.items() if name.endswith(".json")]
    return np.unique([number for text in texts for number in walk(json.loads(text))])


Candidates = list[tuple[Any, float]]
"""Inputs that may have been, each with what its two squared errors differ by.

That comes from sensitive values alone, so that quasi-identifiers need not be known.
"""


def difference(frame: pl.DataFrame, labels: Sequence[int], schema: shoal.Schema) -> float:
    """What the two squared errors of an input differ by."""
    errors = input_figures(prepare(frame, schema), np.asarray(labels, dtype=np.int64))
    value = {one.measure: one.value for one in errors}
    return value["square_error_all"] - value["square_error"]


def fitting(files: Public, candidates: Candidates) -> Any:
    """Which of some inputs the numbers that are public fit best; the first where they fit none."""
    known = numbers_in(files)
    apart = np.abs(known[:, None] - known[None, :])
    best, found = np.inf, candidates[0][0]
    for name, wanted in candidates:
        gap = float(np.abs(apart - wanted).min())
        if gap < best - 1e-9:
            best, found = gap, name
    return found


# -- counterfeits ----------------------------------------------------------------------------------------------------

SERIES = shoal.Schema(identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
TWO = shoal.MInvariance(m=2, id="name", column="income")


@cache
def second_release(draw: int) -> tuple[shoal.Release, pl.DataFrame]:
    """A table of which some people have left: counterfeits stand in for them."""
    rng = np.random.default_rng([draw, 3])
    ages, incomes = rng.permutation(60)[:12] + 20, rng.permutation(60)[:12] * 7
    frame = pl.DataFrame({"name": [f"p{row}" for row in range(12)], "age": ages, "income": incomes})
    one = shoal.republish(frame, SERIES, TWO, seed=draw)
    stay = frame[np.sort(rng.choice(12, 7, replace=False))]
    return shoal.republish(stay, SERIES, TWO, previous=one.release, state=one.state, seed=draw).release, stay


@cache
def people_there_may_be(draw: int) -> Candidates:
    """The incomes of the one person in every class that has a counterfeit too."""
    release = second_release(draw)[0]
    incomes: dict[int, list[float]] = defaultdict(list)
    for number, income in sorted(release.frames["table"].select("class", "income").rows()):
        incomes[number].append(income)
    mixed = release.frames["classes"].filter(pl.col("counterfeits") == 1)["class"].to_list()
    candidates = []
    for way in itertools.product(*(incomes[number] for number in mixed)):
        held = {**incomes, **{number: [income] for number, income in zip(mixed, way, strict=True)}}
        rows = [(str(number), 30, income, number - 1) for number in sorted(held) for income in held[number]]
        frame = pl.DataFrame(rows, schema=["name", "age", "income", "class"], orient="row")
        told = difference(frame.drop("class"), frame["class"].to_list(), SERIES)
        candidates.append((dict(zip(mixed, way, strict=True)), told))
    return candidates


def attack_counterfeits(folder: Path, leak: Leak) -> Attack:
    """Tell people from counterfeits, in classes of one of each."""
    hits = []
    for draw in range(40):
        release, stay = second_release(draw)
        files = public(release, folder / str(draw), leak)
        guess = fitting(files, people_there_may_be(draw))
        truth = {int(label) + 1: income for label, income in zip(release.labels, stay["income"], strict=True)}
        hits += [truth[number] == income for number, income in guess.items()]
    return Attack("m-invariance, m = 2", "all files of the release, and every number in them", hits, [0.5] * len(hits))


def test_counterfeits_are_not_told_from_people(tmp_path):
    """Promise: nothing tells a counterfeit. Chance: one over the size of a class with one counterfeit, here 1/2.

    The attack can succeed: as it was, with two squared errors in the manifest.
    """
    attack = attack_counterfeits(tmp_path, nothing)
    assert len(attack.hits) >= 100
    assert_chance(attack)
    assert_success(attack_counterfeits(tmp_path, squared_errors))


# -- suppressed people -----------------------------------------------------------------------------------------------

EARNING = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"income": shoal.Numeric()})
ONE_OUT = shoal.RGather(k=3, epsilon=0.09)
INCOMES = tuple(range(5, 100, 10))


def with_an_outlier(draw: int, income: int | None = None) -> pl.DataFrame:
    """Twelve people of whom the last is suppressed."""
    rng = np.random.default_rng([draw, 4])
    ages, incomes = [*(rng.permutation(40)[:11] + 20), 300], rng.integers(0, 100, 11).tolist()
    return pl.DataFrame({"age": ages, "income": [*incomes, int(rng.choice(INCOMES)) if income is None else income]})


@cache
def without_the_outlier(draw: int) -> shoal.Release:
    """The release of them."""
    release = shoal.anonymize(with_an_outlier(draw), EARNING, ONE_OUT, publish=shoal.Generalize(), seed=draw)
    assert release.labels[-1] == -1
    assert release.manifest.rows.left_out == 1
    return release


@cache
def incomes_there_may_be(draw: int) -> Candidates:
    """The incomes that who was suppressed may have: everybody else's is published."""
    release = without_the_outlier(draw)
    rows = release.frames["table"].select("age", "income").rows()
    classes = {cell: place for place, cell in enumerate(sorted({cell for cell, _ in rows}))}
    labels = [*(classes[cell] for cell, _ in rows), -1]
    known, ages = [income for _, income in rows], [30] * len(labels)
    return [(one, difference(pl.DataFrame({"age": ages, "income": [*known, one]}), labels, EARNING)) for one in INCOMES]


def attack_suppressed(folder: Path, leak: Leak) -> Attack:
    """Find out what the one person who was suppressed earns."""
    hits = []
    for draw in range(32):
        files = public(without_the_outlier(draw), folder / str(draw), leak)
        hits.append(fitting(files, incomes_there_may_be(draw)) == with_an_outlier(draw)["income"][-1])
    chances = [1 / len(INCOMES)] * len(hits)
    return Attack("who is suppressed is not published", "all files, and every other income", hits, chances)


def test_the_income_of_who_is_suppressed_is_not_told(tmp_path):
    """Promise: of a suppressed row nothing is published. Chance: one in ten incomes.

    The attack can succeed: as it was, with two squared errors in the manifest, an equation with one unknown.
    """
    assert_chance(attack_suppressed(tmp_path, nothing))
    assert_success(attack_suppressed(tmp_path, squared_errors))


def test_a_release_is_the_same_whatever_a_suppressed_person_earns(tmp_path):
    """No byte tells incomes of a suppressed person apart; figures and hashes of the input would."""
    made: dict[Leak, set] = {nothing: set(), squared_errors: set(), input_hash: set()}
    for income in INCOMES[:4]:
        release = shoal.anonymize(with_an_outlier(0, income), EARNING, ONE_OUT, seed=1)
        for leak, found in made.items():
            found.add(tuple(sorted(public(release, tmp_path / str(income), leak).items())))
    assert [len(found) for found in made.values()] == [1, 4, 4]


# -- hashes ----------------------------------------------------------------------------------------------------------

LINKS = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()})
ILLS = ("cold", "cough", "flu", "gout")


def bucketed(draw: int) -> pl.DataFrame:
    """Eight people, for four buckets of two."""
    rng = np.random.default_rng([draw, 5])
    return pl.DataFrame({"age": range(30, 38), "disease": rng.permutation(np.repeat(ILLS, 2)).tolist()})


def all_links(release: shoal.Release) -> list[pl.DataFrame]:
    """Every input that fits the tables: within each bucket, people may have exchanged their values."""
    ages: dict[int, list[int]] = defaultdict(list)
    values: dict[int, list[str]] = defaultdict(list)
    for bucket, age in release.frames["table"].select("bucket", "age").rows():
        ages[bucket].append(age)
    for bucket, value, _ in release.frames["sensitive"].rows():
        values[bucket].append(value)
    ways = itertools.product(*(itertools.permutations(values[bucket]) for bucket in ages))
    people = [age for bucket in ages for age in ages[bucket]]
    return [
        pl.DataFrame({"age": people, "disease": [value for part in way for value in part]}).sort("age") for way in ways
    ]


def hashes_in(files: Public) -> set[str]:
    """Everything that looks like a SHA-256."""
    return {found.decode() for text in files.values() for found in re.findall(rb"[0-9a-f]{64}", text)}


@cache
def linked(draw: int) -> tuple[shoal.Release, list[tuple[pl.DataFrame, set[str]]]]:
    """A release, and every input that fits its tables, with what may have been made of it."""
    release = shoal.anonymize(bucketed(draw), LINKS, shoal.Anatomy(l=2), seed=draw)
    return release, [(one, guessed_hashes(one)) for one in all_links(release)]


def attack_by_hashes(folder: Path, leak: Leak) -> Attack:
    """Link everybody in the table to a value: that input whose hash is public, the first where there is none."""
    hits, chances = [], []
    for draw in range(24):
        release, links = linked(draw)
        known = hashes_in(public(release, folder / str(draw), leak))
        told = [one for one, hashes in links if known & hashes]
        hits.append((told or [links[0][0]])[0].equals(bucketed(draw)))
        chances.append(1 / len(links))
    return Attack("anatomy, l = 2", "all files, the quasi-identifiers and their order", hits, chances)


def guessed_hashes(frame: pl.DataFrame) -> set[str]:
    """What may have been made of an input."""
    texts = (frame.write_csv(), frame.sort("age", descending=True).write_csv(), frame.select("disease").write_csv())
    frames = (frame, frame.select("disease"), frame.select("disease", "age"))
    return {*(hashlib.sha256(text.encode()).hexdigest() for text in texts), *(content_sha256(one) for one in frames)}


def test_no_hash_is_an_oracle(tmp_path):
    """Promise: 1/2 for everybody, so 1/16 for all links of four buckets. Chance: that.

    The attack can succeed: as it was, with the hash of the input in the manifest.
    """
    assert_chance(attack_by_hashes(tmp_path, nothing))
    assert_success(attack_by_hashes(tmp_path, input_hash))


def test_hypotheses_about_links_lead_to_one_release(tmp_path, monkeypatch):
    """With the draw held fixed, all inputs that fit the tables give equal bytes: no hash can tell them apart."""
    release = shoal.anonymize(bucketed(0), LINKS, shoal.Anatomy(l=2), seed=0)
    links = all_links(release)
    assert len(links) == 16
    monkeypatch.setattr(shoal.Anatomy, "partition", lambda *_: Groups(release.labels))
    made: dict[Leak, set] = {nothing: set(), input_hash: set()}
    for place, frame in enumerate(links):
        again = shoal.anonymize(frame, LINKS, shoal.Anatomy(l=2), seed=place)
        for leak, found in made.items():
            found.add(tuple(sorted(public(again, tmp_path / str(place), leak).items())))
    assert [len(found) for found in made.values()] == [1, 16]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_every_hash_of_a_release_follows_from_its_files(form, tmp_path):
    """Whoever has the files can work out all of them; in a series, from the files of the release before."""
    release = shoal.anonymize(bucketed(0), LINKS, shoal.Anatomy(l=2))
    assert hashes_in(manifest_of(release.write(tmp_path / "links", format=form))) == derived(tmp_path / "links")
    one = shoal.republish(bucketed_by_name(), SERIES_OF_LINKS, TWO_OF_LINKS)
    two = shoal.republish(
        bucketed_by_name().head(5), SERIES_OF_LINKS, TWO_OF_LINKS, previous=one.release, state=one.state
    )
    assert hashes_in(manifest_of(one.release.write(tmp_path / "one", format=form))) == derived(tmp_path / "one")
    before = shoal.release.manifest.Manifest.read(tmp_path / "one").fingerprint()
    found = hashes_in(manifest_of(two.release.write(tmp_path / "two", format=form)))
    assert found == derived(tmp_path / "two") | {before}


SERIES_OF_LINKS = shoal.Schema(
    identifying=["name"], quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal()}
)
TWO_OF_LINKS = shoal.MInvariance(m=2, id="name", column="disease")


def bucketed_by_name() -> pl.DataFrame:
    return bucketed(0).with_columns(name=pl.Series(list("abcdefgh")))


def manifest_of(folder: Path) -> Public:
    return {FILE: (folder / FILE).read_bytes()}


def derived(folder: Path) -> set[str]:
    """The hashes of the tables: of their bytes, and of their content."""
    manifest, tables = read_directory(folder)
    files: Mapping[str, pl.DataFrame] = shoal.read_release(folder).frames
    assert set(files) == set(tables)
    contents = {content_sha256(frame) for frame in files.values()}
    return contents | {hashlib.sha256((folder / one.file).read_bytes()).hexdigest() for one in manifest.tables}
