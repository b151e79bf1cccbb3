"""Parts whose bytes were changed: nothing but their hash is read of them, and one message says so."""

from __future__ import annotations

import shutil

import polars as pl
import pytest

from shoal.errors import GuaranteeError
from shoal.published import parts
from shoal.published.reading import check_directory
from shoal.release.manifest import Manifest
from support.in_parts import BLOCKS, people, recipe_for


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    from shoal.engines.on_disk import publish_in_blocks
    from shoal.progress import SILENT

    folder = tmp_path_factory.mktemp("made")
    people(1000).write_parquet(folder / "people.parquet")
    assert publish_in_blocks(recipe_for(folder / "people.parquet"), folder / "out", BLOCKS, SILENT) is not None
    return folder / "out"


@pytest.fixture
def release(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def said_of(folder) -> str:
    with pytest.raises(GuaranteeError) as refusal:
        check_directory(folder)
    return str(refusal.value)


def test_a_file_that_was_changed_is_not_given_to_a_library(release, monkeypatch):
    file = release / "table-00002.parquet"
    whole = file.read_bytes()
    for damaged in (whole[:100], whole[:-200] + b"\xff" * 192 + whole[-8:], b""):
        file.write_bytes(damaged)
        assert said_of(release) == "table-00002.parquet: was changed since it was released: its SHA-256 differs"
    file.unlink()
    assert said_of(release) == "table-00002.parquet: is not in the directory"


def test_a_library_that_panics_is_no_panic_of_ours(release, monkeypatch):
    """A file may be as its manifest says and still be none that a library can read; its words may hold cells."""

    def panic(*_, **__):
        raise pl.exceptions.PanicException("Influenza")

    monkeypatch.setattr(parts.pl, "read_parquet", panic)
    assert len(Manifest.read(release).tables[0].parts) > 1
    assert said_of(release) == "table-00001.parquet: cannot be read as a table"
