"""Directories tampered with: what lies there, and what the manifest says lies there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attacks.mutants import Mutant, edited, entries_of, json_bytes, with_file
from attacks.mutants_json import SECRET
from attacks.victims import Files, Victim, victim
from shoal.release.manifest import FILE
from shoal.release.receipt import SUFFIX

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(32)


# -- the directory ---------------------------------------------------------------------------------------------------


def directory_mutants(victim: Victim) -> Iterator[Mutant]:
    """Files and directories that no release has, and releases that lack some."""
    files, suffix = victim.files, f".{victim.form}"
    for name in (
        "originals.csv", "names.parquet", ".hidden", ".DS_Store", "manifest.json.bak", "README.md", "columns.png",
        f"release{SUFFIX}", "table", "table.csv.gz", "Table.csv", " ", "\u200b", "table.csv\n", "Alice has HIV", "CON",
    ):  # fmt: skip
        if name not in files:
            yield Mutant(f"directory with {name!r}", lambda name=name: {**files, name: b"name\nAlice\n"})
    other = "csv" if victim.form == "parquet" else "parquet"
    for name in files:
        if name != FILE:
            yield from _one_file(victim, name, Path(name).stem, other)
    yield Mutant(
        "directory with the receipt", lambda: {**files, f"out{SUFFIX}": victim.release.receipt.to_json().encode()}
    )
    yield Mutant("directory with a directory", lambda: {**files, "empty": None})
    yield Mutant("directory with a full directory", lambda: {**files, "more/originals.csv": b"name\n"})
    yield Mutant("directory with a hidden directory", lambda: {**files, ".git": None})
    yield Mutant("directory with a link", lambda: {**files, "link": Path("/etc/hostname")})
    yield Mutant("directory with a broken link", lambda: {**files, "link": Path("nowhere")})
    for word, entry in (
        ("a picture", {"pictures": [{"file": "columns.png", "sha256": "0" * 64}]}),
        ("originals", {"originals": "originals.csv"}),
    ):
        yield Mutant(
            f"directory with {word} listed",
            lambda entry=entry: {**files, FILE: json_bytes({**entries_of(files), **entry}), "columns.png": PICTURE},
        )
    listed = {
        "name": "originals",
        "rows": 1,
        "columns": ["name"],
        "content_sha256": "0" * 64,
        "file": f"originals{suffix}",
        "sha256": "0" * 64,
    }
    yield Mutant(
        "directory with another table listed",
        lambda: {**_listing(victim, listed), f"originals{suffix}": b"name\nAlice\n"},
    )
    for wrong in (
        "../table.csv",
        "/etc/hostname",
        "table.txt",
        "",
        None,
        SECRET,
        "TABLE.CSV",
        "./table.csv",
        "table.csv\0",
        f"sub/table{suffix}",
    ):
        yield Mutant(
            f"directory file called {wrong!r}",
            edited(victim, lambda entries, wrong=wrong: entries["tables"][0].update(file=wrong)),
        )
    for wrong in ("", None, "0" * 64, "F" * 64, SECRET):
        for key in ("sha256", "content_sha256"):
            yield Mutant(
                f"directory {key} {str(wrong)[:9]!r}",
                edited(victim, lambda entries, key=key, wrong=wrong: entries["tables"][0].update({key: wrong})),
            )
    yield Mutant(
        "directory hash in capitals",
        edited(victim, lambda entries: entries["tables"][0].update(sha256=entries["tables"][0]["sha256"].upper())),
    )


def _listing(victim: Victim, entry: dict[str, Any]) -> Files:
    entries = entries_of(victim.files)
    entries["tables"].append(entry)
    return {**victim.files, FILE: json_bytes(entries)}


def _one_file(victim: Victim, name: str, stem: str, other: str) -> Iterator[Mutant]:
    files, own = victim.files, victim.files[name]
    rest = {key: value for key, value in files.items() if key != name}
    yield Mutant(f"directory without {name}", lambda: rest)
    yield Mutant(f"directory with {name} empty", lambda: with_file(files, name, b""))
    yield Mutant(f"directory with {name} half", lambda: with_file(files, name, own[: len(own) // 2]))
    yield Mutant(f"directory with {name} a link", lambda: {**rest, name: Path("/etc/hostname")})
    yield Mutant(f"directory with {name} a directory", lambda: {**rest, name: None})
    yield Mutant(f"directory with {name} renamed", lambda: {**rest, f"other.{victim.form}": own})
    yield Mutant(
        f"directory with {name} renamed and listed", lambda: with_file(files, f"other.{victim.form}", own, name)
    )
    yield Mutant(
        f"directory with {name} and its other format",
        lambda: {**files, f"{stem}.{other}": _otherwise(victim, stem, other)},
    )
    yield Mutant(f"directory with {name} under the other name", lambda: with_file(files, f"{stem}.{other}", own, name))
    if len(files) > 2:
        yield Mutant(
            f"directory with {name} in the other format",
            lambda: with_file(files, f"{stem}.{other}", _otherwise(victim, stem, other), name),
        )


def _otherwise(one: Victim, stem: str, form: str) -> bytes:
    return victim(one.shape, form).files[f"{stem}.{form}"]
