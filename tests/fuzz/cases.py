"""Cases: one file damaged, one command called on it, and what must hold afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fuzz import damage
from fuzz.calling import Done, call
from fuzz.world import NAME, PASSPHRASE, PASSWORD, SECRET, build, people, write_database

Damage = Callable[[Path, random.Random], None]


@dataclass(frozen=True)
class Sort:
    """A sort of file: where it is, how it is damaged, and which commands read it."""

    files: tuple[str, ...]
    ways: tuple[Damage, ...]
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """What a case broke."""

    what: str
    sort: str
    number: int
    line: str
    done: Done


def _of_bytes(change: Callable[[bytes, random.Random], bytes]) -> Damage:
    def apply(file: Path, rng: random.Random) -> None:
        file.write_bytes(change(file.read_bytes(), rng))

    return apply


def _of_table(file: Path, rng: random.Random) -> None:
    """Another table in a file of the same sort; what its writer cannot write is left as it was."""
    frame = damage.frame_damaged(people(), rng, nested=file.suffix == ".parquet")
    kept = file.read_bytes()
    try:
        file.unlink()
        if file.suffix == ".parquet":
            frame.write_parquet(file)
        elif file.suffix == ".xlsx":
            frame.write_excel(file)
        else:
            write_database(file, frame)
    except Exception:
        file.write_bytes(kept)


def _of_released_table(file: Path, rng: random.Random) -> None:
    """A published table whose manifest has its hash, so that its cells are looked at."""
    damage_cells = damage.cells_damaged if file.suffix == ".csv" else damage.bytes_damaged
    file.write_bytes(damage_cells(file.read_bytes(), rng))
    manifest = file.parent / "manifest.json"
    entries = json.loads(manifest.read_bytes())
    for table in entries["tables"]:
        if table["file"] == file.name:
            old, table["sha256"] = table["sha256"], hashlib.sha256(file.read_bytes()).hexdigest()
            manifest.write_bytes(manifest.read_bytes().replace(old.encode(), table["sha256"].encode()))


def _of_sealed(file: Path, rng: random.Random) -> None:
    """What is inside an encrypted file, sealed again with its passphrase."""
    from shoal.release import sealed

    sort = sealed.STATE if file.suffix == ".state" else sealed.KEY
    inner = sort.opened(file, PASSPHRASE)
    try:
        inner = damage.json_damaged(inner, rng)
    except ValueError:
        inner = damage.bytes_damaged(inner, rng)
    file.write_bytes(sort.sealed(inner, PASSPHRASE))


BYTES, JSON, TOML, CELLS = (
    _of_bytes(one) for one in (damage.bytes_damaged, damage.json_damaged, damage.toml_damaged, damage.cells_damaged)
)
RUN, QUIETLY = "run {recipe} {quietly}", "--out out --quiet --no-report"
INIT = "init {file} --out out.toml"
ORIGINAL = "--original people.csv.toml"
READS = (
    "verify {folder}",
    f"verify {{folder}} {ORIGINAL}",
    "measure {folder} --json",
    "report {folder} --out out.html",
)
MANIFESTS = tuple(f"{name}/manifest.json" for name in ("plain", "packed", "buckets", "averages", "hidden", "first"))
TABLES = ("plain/table.csv", "packed/table.parquet", "averages/table.csv", "hidden/table.csv")
RECEIPT = "--receipt {file}"
SORTS = {
    "csv": Sort(("people.csv",), (BYTES, CELLS), (RUN, INIT, f"verify {{file}} --schema {ORIGINAL.split()[1]}")),
    "parquet": Sort(("people.parquet",), (BYTES, _of_table, _of_table), (RUN, INIT)),
    "xlsx": Sort(("people.xlsx",), (BYTES, _of_table, _of_table), (RUN, INIT)),
    "sqlite": Sort(("people.db",), (BYTES, _of_table, _of_table), (RUN, INIT)),
    "recipe": Sort(
        ("people.csv.toml", "address.toml", "hidden.toml"),
        (BYTES, TOML, TOML, TOML),
        ("run {file} {quietly}", "verify people.csv --schema {file}", "verify plain --original {file}"),
    ),
    "hierarchy": Sort(("town.csv", "disease.csv"), (BYTES, CELLS), ("run people.csv.toml {quietly}",)),
    "manifest": Sort(MANIFESTS, (BYTES, JSON, JSON, JSON), READS),
    "table": Sort(
        TABLES,
        (BYTES, _of_released_table, _of_released_table),
        (*READS, f"attack {{folder}} {ORIGINAL} --attack linkability"),
    ),
    "receipt": Sort(
        ("plain.receipt.json", "hidden.receipt.json"),
        (BYTES, JSON, JSON),
        (f"verify plain {RECEIPT}", f"measure plain {RECEIPT} --json", f"report plain {RECEIPT} --out out.html"),
    ),
    "key": Sort(
        ("hidden.key",), (BYTES, _of_sealed, _of_sealed), ("verify hidden --key {file} --original hidden.toml",)
    ),
    "state": Sort(
        ("s.state",),
        (BYTES, _of_sealed, _of_sealed),
        (
            "republish series.toml --state {file} --previous first --out out --quiet",
            "verify-series first --state {file}",
        ),
    ),
}
RECIPE = {"out.toml", "out.hierarchies"}
MADE = {*RECIPE, "out", "out.html", "out.receipt.json", "out.key", "out.report.html"}
"""What a command that succeeds may leave."""


class Fuzzer:
    """Cases in a folder; case n is the same for the same seed, whatever ran before it."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.seed = root, seed
        self.world, self.place, self.temporary = root / "world", root / "place", root / "tmp"
        self.temporary.mkdir()
        build(self.world)
        shutil.copytree(self.world, self.place)
        files = {name: self.world / name for name in _within(self.world)}
        self.whole = {name: file.read_bytes() if file.is_file() else None for name, file in files.items()}

    def cases(self, numbers: range) -> Iterator[tuple[str, list[Wrong]]]:
        """Each case that was tried: of which sort, and what it broke."""
        for number in numbers:
            yield self.case(number)

    def case(self, number: int) -> tuple[str, list[Wrong]]:
        """Damage one file and call one command."""
        rng = random.Random(f"{self.seed} {number}")
        name = list(SORTS)[number % len(SORTS)]
        sort = SORTS[name]
        file, line = rng.choice(sort.files), rng.choice(sort.lines)
        rng.choice(sort.ways)(self.place / file, rng)
        named = {"file": file, "folder": file.partition("/")[0], "recipe": f"{file}.toml", "quietly": QUIETLY}
        words = line.format(**named).split()
        before = self._there()
        with self._inside():
            try:
                done = call(words)
            except BaseException as error:  # nothing may come through
                done = Done(-1, f"raised {type(error).__name__}")
        found = [Wrong(what, name, number, " ".join(words), done) for what in self._broken(done, before)]
        self._restore()
        return name, found

    def _broken(self, done: Done, before: set[str]) -> Iterator[str]:
        if done.status not in (0, 1, 2):
            yield f"status {done.status}"
        if "Traceback" in done.said or "panicked" in done.said:
            yield "a traceback"
        # What is wrong within a hierarchy file is named: the file is the steward's own.
        said = [line for line in done.said.split("\n") if "hierarchy of '" not in line]
        plain = "".join(sign for line in said for sign in line if not sign.isspace() and sign != "│")
        yield from (f"{canary} is said" for canary in (NAME, SECRET, PASSWORD) if canary in plain)
        new = self._there() - before
        allowed = MADE | {"s.state"} if done.status == 0 else set()
        if done.status == 2 and "It cannot be run yet" in done.said:
            allowed = RECIPE  # which says what is to be done
        yield from (f"left behind: {one}" for one in sorted(new) if one.partition("/")[0] not in allowed)
        yield from (f"left behind: {one}" for one in sorted(new) if "/." in one or one.startswith("."))
        if lost := before - self._there():
            yield f"lost: {sorted(lost)}"
        if any(self.temporary.iterdir()):
            yield "left behind in the folder for temporary files"

    @contextmanager
    def _inside(self) -> Iterator[None]:
        import tempfile

        before, tempfile.tempdir = Path.cwd(), str(self.temporary)
        os.chdir(self.place)
        try:
            yield
        finally:
            os.chdir(before)
            tempfile.tempdir = None

    def _there(self) -> set[str]:
        return set(_within(self.place))

    def _restore(self) -> None:
        """The files as they were: only what changed is written again."""
        new = [self.place / name for name in _within(self.place) if name not in self.whole]
        for one in sorted([*new, *self.temporary.rglob("*")], reverse=True):
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()
        for name, content in self.whole.items():
            there = self.place / name
            if content is None:
                there.mkdir(exist_ok=True)
            elif not there.is_file() or there.read_bytes() != content:
                shutil.copy(self.world / name, there)


def _within(folder: Path) -> list[str]:
    """All files and folders in a folder, those above others first."""
    start = len(f"{folder}{os.sep}")
    return [
        f"{above}{os.sep}{name}"[start:]  # paths would take ten times as long
        for above, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]
