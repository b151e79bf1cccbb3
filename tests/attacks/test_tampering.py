"""A release that was tampered with is refused, whoever did it and however well the traces are covered.

Every mutant has its hashes, counts, facts, order and figures made to fit, as far as they are not what was changed. What
is accepted says nothing that is wrong: such mutants carry their reason, and the receipt tells that they are another
release. Of the many thousand mutants, a sample runs; `SHOAL_MUTANTS=all` runs all of them.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from attacks import (
    mutants_bytes,
    mutants_cells,
    mutants_columns,
    mutants_figures,
    mutants_files,
    mutants_json,
    mutants_layout,
    mutants_order,
    mutants_promises,
    mutants_random,
    mutants_rows,
)
from attacks.mutants import ACCEPTED, REFUSED, Family, Mutant, edited, entries_of, judged, put
from attacks.victims import FORMS, SHAPES, Victim, victim
from shoal.published.reading import check_directory
from shoal.release import files as release_files
from shoal.release.manifest import FILE
from shoal.release.receipt import check_receipt

FAMILIES: dict[str, Family] = {
    "entries of the manifest": mutants_json.entry_mutants,
    "letters of the manifest": mutants_json.spelling_mutants,
    "rows": mutants_rows.row_mutants,
    "cells of other classes": mutants_rows.cell_mutants,
    "tables of classes": mutants_rows.class_mutants,
    "buckets": mutants_rows.bucket_mutants,
    "slices": mutants_rows.slice_mutants,
    "methods": mutants_promises.method_mutants,
    "promises": mutants_promises.promise_mutants,
    "models": mutants_figures.model_mutants,
    "counts": mutants_figures.count_mutants,
    "figures": mutants_figures.figure_mutants,
    "facts": mutants_layout.fact_mutants,
    "passed columns": mutants_columns.passed_mutants,
    "order of columns": mutants_columns.column_order_mutants,
    "missing cells": mutants_columns.missing_mutants,
    "names": mutants_columns.name_mutants,
    "directories": mutants_files.directory_mutants,
    "dialects of CSV": mutants_bytes.dialect_mutants,
    "ways of Parquet": mutants_bytes.parquet_mutants,
    "spellings of cells": mutants_cells.spelling_mutants,
    "types": mutants_cells.type_mutants,
    "order of rows": mutants_order.order_mutants,
}
EVERY = os.environ.get("SHOAL_MUTANTS") == "all"
MOST = {
    "entries of the manifest": 26,
    "letters of the manifest": 18,
    "directories": 12,
    "dialects of CSV": 16,
    **dict.fromkeys(("buckets", "ways of Parquet", "spellings of cells", "types"), 8),
}
"""How many mutants of a family are tried of one release, 6 of others; a third where all others are repetitions."""
AT_LEAST = {"entries of the manifest": 500, "letters of the manifest": 120, "directories": 150, "dialects of CSV": 100}
"""How many mutants of a family must be tried of all releases, 8 of others: a thousand in all."""
CASES = [pytest.param(shape, form, id=f"{shape}-{form}") for shape in SHAPES for form in FORMS]

ASKED = "asked for, and the tables could be the same"
SCHEMA = "another schema that leads to the same tables: kinds and trees are what was asked for"
COLUMNS = "columns stand in the order of the input, which is no secret"
ALLOWED: dict[str, tuple[str, str]] = {
    r"shoal": ("", "the version that made it: nothing in the tables tells"),
    r"recipe\.suppress": ("more", "asked for: how many rows might be suppressed, not how many were"),
    r"recipe\.normalise": ("flipped", "asked for: which spellings were merged does not show in what they became"),
    r"recipe\.method": ("without groups", "asked for: slicing finds groups by itself, and might find these"),
    r"recipe\.method\.(strict|bins|groups\.\w+)": ("flipped|more|less", ASKED),
    r"recipe\.publish\.(sets|restore_variance|standardize)": ("flipped", ASKED),
    r"series\.(number|previous)": ("more", "which release came before, only that release can tell"),
    r"layout\.(quasi|passed)": ("reversed|rotated", COLUMNS),
    r"layout\.passed\.\d+\.kind": ("null", SCHEMA),
    r"layout\.passed\.\d+\.nodes": ("none", SCHEMA),
    r"layout\.(quasi|passed)\.\d+\.nodes\.\d+\.(height|leaves)": ("more|less", SCHEMA),
    r"layout\.quasi\.\d+\.(ranks\.\d+|n_values)": ("more|less", SCHEMA),
}
"""Entries of a manifest that can say something else, in which way, and why nobody is deceived."""


def is_allowed(path: str, word: str | None = None) -> bool:
    """Whether an entry can say something else; the way does not matter where none is given."""
    ways = [words for pattern, (words, _) in ALLOWED.items() if re.fullmatch(pattern, path)]
    return any(word is None or re.fullmatch(words, word) for words in ways)


def is_allowed_entry(name: str) -> bool:
    """The same for the name of a mutant."""
    parts = name.split(" ", 2)
    return parts[0] == "entry" and is_allowed(*parts[1:])


def chosen(family: str) -> dict[tuple[str, str], list[Mutant]]:
    """The mutants of a family that are tried of each release, the same every time.

    Those come first whose like was tried least of the releases before: few of each are many different ones of all.
    None is repeated in the other format of a shape before all others of it were tried.
    """
    tried: Counter[str] = Counter()
    found = {}
    for shape, form in (case.values for case in CASES):
        every = tuple(FAMILIES[family](victim(shape, form)))
        assert len({mutant.name for mutant in every}) == len(every), "mutants of one name"
        most = MOST.get(family, 6)
        rng = np.random.default_rng(zlib.crc32(f"{family} {shape} {form}".encode()))
        before = Counter(map(like, found.get((shape, FORMS[0]), ())))
        likes = [like(mutant) for mutant in every]
        seen = [(before[word], tried[word]) for word in likes]
        places = sorted(rng.permutation(len(every)).tolist(), key=seen.__getitem__)
        again = places[: most // 3]
        new = [place for place in places if not tried[likes[place]] and place not in again]
        places = places if EVERY else [*again, *new[: most - len(again)]]
        found[shape, form] = [every[place] for place in sorted(places)]
        tried.update(map(like, found[shape, form]))
    return found


def like(mutant: Mutant) -> str:
    """What a mutant does, whichever row, node or column of one kind it does it to."""
    name = re.sub(r"\b(age|weight)\b", "number", re.sub(r"\d+", "0", mutant.name))
    return re.sub(r"\b(zip|town)\b", "name", name)


def unwanted(mutant: Mutant, one: Victim, folder: Path) -> str | None:
    """What happened to a mutant that should not have, or None."""
    files = mutant.make()
    verdict = judged(files, folder)
    if mutant.true and verdict != ACCEPTED:
        return f"{mutant.name}: was to be accepted, {mutant.true}; {verdict}"
    if verdict not in (ACCEPTED, REFUSED) and not re.match(r"entry format (more|less|negative|huge)", mutant.name):
        return f"{mutant.name}: {verdict}"
    if verdict == ACCEPTED and not (mutant.true or is_allowed_entry(mutant.name)):
        return f"{mutant.name}: accepted"
    if verdict == ACCEPTED and mutant.bound and not _is_told(one, folder):
        return f"{mutant.name}: taken for the release by its receipt"
    return None


def _is_told(one: Victim, folder: Path) -> bool:
    """Whether who holds the receipt sees that it is another release."""
    try:
        check_receipt(one.release.receipt, check_directory(folder)[1])
    except shoal.GuaranteeError:
        return True
    return False


@pytest.fixture(autouse=True)
def unchanged_files_are_read_once(monkeypatch):
    """Whatever is read from the same bytes is not read again: most mutants leave all files but one as they were."""
    read = release_files._read_table

    def once(folder, table, problems, *, compared):
        if not compared:
            return read(folder, table, problems, compared=False)
        key, before = (table.file, (folder / table.file).read_bytes()), len(problems)
        frame = READ[key] if key in READ else read(folder, table, problems, compared=True)
        if len(problems) == before:
            READ[key] = frame
        return frame

    monkeypatch.setattr(release_files, "_read_table", once)


READ: dict[tuple[str, bytes], pl.DataFrame | None] = {}
"""Tables by the name and the bytes of their file, where nothing was wrong with these."""


# -- mutants that are thought of -------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_mutants_are_refused(family, tmp_path):
    tried = chosen(family)
    assert sum(map(len, tried.values())) >= AT_LEAST.get(family, 8), "too few mutants"
    wrong = [
        f"{shape}, {form}: {found}"
        for (shape, form), mutants in tried.items()
        for mutant in mutants
        if (found := unwanted(mutant, victim(shape, form), tmp_path / "release"))
    ]
    assert not wrong, f"{len(wrong)} mutants of {family}:\n" + "\n".join(wrong)


@pytest.mark.parametrize(("shape", "form"), CASES)
def test_what_is_not_tampered_with_is_accepted(shape, form, tmp_path):
    one = victim(shape, form)
    assert judged(one.files, tmp_path / "release") == ACCEPTED
    check_receipt(one.release.receipt, check_directory(tmp_path / "release")[1])


@pytest.mark.parametrize(("number", "maker"), [(1, r"Shoal 0\.1"), (3, "a newer version of Shoal")])
@pytest.mark.parametrize("shape", SHAPES)
def test_other_formats_of_manifests_are_no_input(shape, number, maker, tmp_path):
    make = edited(victim(shape, "csv"), lambda entries: entries.update(format=number))
    with pytest.raises(
        shoal.SourceError, match=f"has format {number}, but this version reads format 2; check it with {maker}"
    ):
        check_directory(put(make(), tmp_path / "release"))


# -- mutants that nobody thought of ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "form"), CASES)
def test_random_changes_are_refused_or_say_the_same(shape, form, tmp_path):
    one, wrong = victim(shape, form), []
    for mutant in mutants_random.random_mutants(one, 2_000 if EVERY else 72):
        files = mutant.make()
        verdict = judged(files, tmp_path / "release")
        if verdict == ACCEPTED:
            other = differences(entries_of(one.files), entries_of(files))
            fine = mutants_random.says_the_same(one.files, files) and all(is_allowed(path) for path in other)
            wrong += [] if fine else [f"{mutant.name}: accepted, {other}"]
        elif verdict != REFUSED and not (FILE in mutant.name and "has format" in verdict):
            wrong.append(f"{mutant.name}: {verdict}")
    assert not wrong, "\n".join(wrong)


def differences(one: object, other: object) -> list[str]:
    """Places in which two manifests differ, but for hashes of files."""
    found = [
        {mutants_json.named(path): part for path, part in mutants_json.places(entries)} for entries in (one, other)
    ]
    leaves = [{path: part for path, part in places.items() if not isinstance(part, (dict, list))} for places in found]
    paths = leaves[0].keys() | leaves[1].keys()
    return sorted(path for path in paths if leaves[0].get(path) != leaves[1].get(path) and not path.endswith(".sha256"))
