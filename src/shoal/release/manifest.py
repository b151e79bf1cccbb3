"""The manifest: what a release says about itself, so that anybody can check it without the input.

A release says nothing but its tables: everything here is a function of the published tables and of what was asked for.
What needs the input (its hash, the seed, counts by reason, figures against it) stands in the holder's receipt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shoal.errors import GuaranteeError, Problem, SourceError
from shoal.release.shapes import SHAPES, Shape

FILE = "manifest.json"
FORMAT = 2
READERS = {1: "0.1"}
"""Versions of Shoal that read older formats."""
FORMATS = ("csv", "parquet")
"""File formats of the tables beside it."""
LEFT_OUT = ("public", "private")
"""Whether the number of rows left out is published."""
VERSION = r"^(0|[1-9][0-9]?)(\.(0|[1-9][0-9]?)){2}((a|b|rc|\.dev)(0|[1-9][0-9]?))?$"
"""A version of Shoal, written in the one way."""
MOST = 2**53
"""Largest whole number: beyond, a number has room for a message, and programs round it."""
Int = Annotated[int, Field(ge=-MOST, le=MOST)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Scalar = Int | float | str | bool | None
Setting = Scalar | tuple[Scalar, ...] | dict[str, Scalar]
"""A parameter: one value, a list of them, or values by column name."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(_Part):
    """One node of a hierarchy: the root, one that the tables show, or one where the ways from two of those meet."""

    name: str | None = Field(description="null for a node that no cell shows")
    parent: Count | None = Field(description="position of the parent in this list; null for the root")
    height: Count = Field(description="edges to the deepest leaf below")
    leaves: Positive = Field(description="number of leaves below")


class QuasiColumn(_Part):
    """How one quasi-identifier is published."""

    name: str
    kind: Literal["numeric", "ordinal", "nominal"]
    form: Literal["interval", "order", "node", "set", "value", "raw"] = Field(
        description="raw: the values of the input, as they are"
    )
    columns: tuple[str, ...] = Field(description="the published columns that carry it")
    has_missing: bool = Field(description="whether a cell is missing, or '*' because a value is")
    whole: bool = Field(default=False, description="form interval: all numbers are whole")
    low: float | None = Field(default=None, description="form interval: smallest published number")
    high: float | None = Field(default=None, description="form interval: largest published number")
    order: tuple[str, ...] = Field(default=(), description="form order: the categories that cells name, lowest first")
    ranks: tuple[Count, ...] = Field(
        default=(),
        description="form order: place of each of them in the whole order; of days of a calendar, after the first one",
    )
    n_values: Count = Field(
        default=0,
        description="form set: number of categories that cells name; form order: of the whole order; of a calendar: of "
        "days from the first to the last that cells name",
    )
    nodes: tuple[Node, ...] = Field(default=(), description="form node: published nodes, and where they meet")


class PassedColumn(_Part):
    """A column published row by row: as it is, or as a publisher of sensitive columns shows it."""

    name: str
    role: Literal["sensitive", "neutral", "weight"]
    kind: Literal["numeric", "ordinal", "nominal"] | None
    form: Literal["raw", "aliases", "grades"] = Field(
        default="raw",
        exclude_if=lambda form: form == "raw",
        description="raw: the values of the input, as they are; left out then",
    )
    clear: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda clear: not clear,
        description="form aliases: what its cells show that is no alias, sorted; left out where there is none",
    )
    order: tuple[str, ...] = Field(default=(), description="ordinal: the published categories, lowest first")
    nodes: tuple[Node, ...] = Field(default=(), description="nominal with a hierarchy: values, and where they meet")


class Slice(_Part):
    """Attributes that are published side by side; between slices of a bucket, nothing says which cells belong."""

    attributes: tuple[str, ...]
    columns: tuple[str, ...] = Field(description="the published column of each attribute")


class Layout(_Part):
    """How the published tables are to be read."""

    shape: Literal["text", "typed", "classes", "values", "centres", "invariant", "buckets", "slices", "records"]
    quasi: tuple[QuasiColumn, ...]
    passed: tuple[PassedColumn, ...]
    slices: tuple[Slice, ...] = Field(default=(), description="shape slices: which attributes stay together")
    files: bool = Field(default=False, description="shape slices: every slice has a table of its own")

    @property
    def laid_out(self) -> Shape:
        """The shape, which knows how the tables are read."""
        return SHAPES[self.shape]

    @property
    def class_columns(self) -> list[str]:
        """The published columns whose equal cells make a class."""
        return self.laid_out.class_columns(self)

    @property
    def contents(self) -> dict[str, list[str]]:
        """The published tables and the columns of each, in no order."""
        return self.laid_out.contents(self)

    @property
    def slice_tables(self) -> dict[str, list[str]]:
        """The tables that carry slices, and the columns of the slices in each."""
        if self.files:
            return {f"slice_{place}": list(one.columns) for place, one in enumerate(self.slices, 1)}
        return {"table": [name for one in self.slices for name in one.columns]}

    @property
    def kinds(self) -> dict[str, str | None]:
        """The kind of every published attribute, by its name."""
        found: dict[str, str | None] = {column.name: column.kind for column in self.quasi}
        return found | {column.name: column.kind for column in self.passed}

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns."""
        return [column.name for column in self.passed if column.role == "sensitive"]

    @property
    def hidden(self) -> dict[str, PassedColumn]:
        """The sensitive columns that are not shown as they are."""
        return {column.name: column for column in self.passed if column.form != "raw"}

    @property
    def class_table(self) -> str | None:
        """The table that has one row per class, with the quasi-identifiers; None where every row carries them."""
        return self.laid_out.class_table

    @property
    def class_facts(self) -> list[str]:
        """What the table of classes says of each class before its cells."""
        return [*self.laid_out.class_facts]

    @property
    def cell_columns(self) -> list[str]:
        """The published columns that carry the quasi-identifiers."""
        return [name for column in self.quasi for name in column.columns]


class Request(_Part):
    """What was asked for, as far as it says nothing of the input."""

    method: dict[str, Setting]
    require: tuple[dict[str, Setting], ...]
    publish: dict[str, Setting]
    sensitive: tuple[dict[str, Setting], ...] = Field(
        default=(),
        exclude_if=lambda entries: not entries,
        description="publishers of sensitive columns, in the order of the table; left out where there are none",
    )
    refine: dict[str, Setting] | None = Field(default=None, description="the local search after the method, if any")
    suppress: float = Field(default=0.0, ge=0, le=1, description="share of rows that might be suppressed for a promise")
    missing: Literal["keep", "drop"]
    normalise: bool = Field(default=False, description="whether spellings of a sensitive value were merged")
    left_out: Literal["public", "private"] = Field(
        default="public", description="whether the number of rows left out is published"
    )
    counts: Literal["rows", "people"] = Field(
        default="rows",
        exclude_if=lambda counts: counts == "rows",
        description="people: a promise counts each person once, whose rows the tables do not tell apart; left out else",
    )
    part_rows: Positive | None = Field(
        default=None,
        exclude_if=lambda rows: rows is None,
        description="rows of a part on average, of a release that is written in parts; left out else",
    )


class Rows(_Part):
    """How many rows there are."""

    published: Count = Field(description="rows of the input that are published")
    left_out: Count | None = Field(description="rows of the input that are not, for any reason; null if private")
    counterfeits: Count = Field(default=0, description="rows that stand for nobody, added to the published ones")

    @property
    def shown(self) -> int:
        """Rows of the published table."""
        return self.published + self.counterfeits

    @property
    def charged(self) -> int:
        """Rows that measures charge besides the published ones: those left out, as far as that is public."""
        return self.left_out or 0


class Place(_Part):
    """Where a release stands among the releases of one table that grows and shrinks."""

    number: Positive = Field(description="1 for the first release")
    previous: str | None = Field(description="fingerprint of the release before it; null for the first")


def _is_empty(text: str) -> bool:
    return not text


class FilePart(_Part):
    """Some rows of a table that is written in parts: whole classes, each in the part that its cells decide."""

    file: str = Field(
        default="", exclude_if=_is_empty, description="file name beside the manifest; left out in a database"
    )
    rows: Count
    content_sha256: str
    sha256: str = Field(default="", exclude_if=_is_empty, description="SHA-256 of the file; left out in a database")

    def without_file(self) -> FilePart:
        """The same rows, wherever they are."""
        return self.model_copy(update={"file": "", "sha256": ""})


class PublishedTable(_Part):
    """One table of the release."""

    name: str
    rows: Count
    columns: tuple[str, ...]
    content_sha256: str
    file: str | None = Field(default=None, description="file name beside the manifest, once written")
    sha256: str | None = Field(default=None, description="SHA-256 of the file")
    parts: tuple[FilePart, ...] = Field(
        default=(),
        exclude_if=lambda parts: not parts,
        description="of a table in parts: its files, in place of one; content_sha256 is that of those of the parts",
    )


class Manifest(_Part):
    """What a release says about itself."""

    format: Literal[2] = 2
    shoal: str = Field(pattern=VERSION, description="version that made it")
    recipe: Request
    rows: Rows
    series: Place | None = Field(default=None, description="only where a table is published over and over")
    layout: Layout
    promise: tuple[dict[str, Setting], ...] = Field(description="what every class satisfies")
    achieved: dict[str, Int | float] = Field(
        default_factory=dict, description="what the weakest class reaches, as far as the tables alone tell"
    )
    measures: dict[str, Int | float] = Field(default_factory=dict)
    tables: tuple[PublishedTable, ...]

    @property
    def in_parts(self) -> bool:
        """Whether its table is written in parts."""
        return any(table.parts for table in self.tables)

    def to_json(self) -> str:
        """Write it: one text for one manifest."""
        return canonical_json(self)

    def fingerprint(self) -> str:
        """SHA-256 of all it says but for its files: the same whatever the format they are written in."""
        return hashlib.sha256(self.without_files().to_json().encode()).hexdigest()

    def without_files(self) -> Manifest:
        """The same release, wherever it is written."""
        bare = tuple(
            one.model_copy(
                update={"file": None, "sha256": None, "parts": tuple(part.without_file() for part in one.parts)}
            )
            for one in self.tables
        )
        return self.model_copy(update={"tables": bare})

    def names_files(self) -> bool:
        """Whether it says something of files."""
        return self != self.without_files()

    @classmethod
    def read(cls, folder: str | Path) -> Manifest:
        """Read the manifest of a release directory, refusing one that is not written as a manifest is."""
        check_is_release(Path(folder))
        try:
            text = (Path(folder) / FILE).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise GuaranteeError(Problem(FILE, "is not UTF-8 text")) from None
        return cls.parsed(text, Path(folder) / FILE)

    @classmethod
    def parsed(cls, text: str, where: str | Path) -> Manifest:
        """Read a manifest from its text, refusing one that is not written as a manifest is; `where` is for errors."""
        _check_format(text, where)
        try:
            manifest = cls.model_validate_json(text)
        except ValidationError as error:
            raise GuaranteeError([Problem(FILE, _entry(item["loc"], item["msg"])) for item in error.errors()]) from None
        if manifest.to_json() != text:
            raise GuaranteeError(
                Problem(FILE, "is not written as Shoal writes a manifest: spaces, order, keys or numbers differ")
            )
        return manifest


def check_is_release(folder: Path) -> None:
    """Refuse a directory that has no manifest, or is not there."""
    if not (folder / FILE).is_file():
        what = "is not a release directory" if folder.exists() else "does not exist"
        raise SourceError(Problem(str(folder), what, f"give the directory with {FILE}"))


def is_release(folder: Path) -> bool:
    """Whether a directory has a manifest of Shoal, of any format; others have files of that name, too."""
    return bool(files_of(folder))


def files_of(folder: Path) -> set[str]:
    """The names of the files of a release by its manifest, of any format; none where a directory is no release."""
    try:
        file = folder / FILE
        entries = json.loads(file.read_bytes()) if file.is_file() else None  # a pipe would wait for somebody
    except (OSError, ValueError, RecursionError):
        return set()
    if not (isinstance(entries, dict) and {"format", "shoal", "recipe"} <= set(entries)):
        return set()
    tables = entries.get("tables")
    known = [one for one in tables if isinstance(one, dict)] if isinstance(tables, list) else []
    parts = [part for one in known if isinstance(one.get("parts"), list) for part in one["parts"]]
    listed = [one.get("file") for one in (*known, *parts) if isinstance(one, dict)]
    return {FILE, *(name for name in listed if isinstance(name, str))}


def canonical_json(part: BaseModel) -> str:
    """Write a document in the one way that is accepted when it is read back."""
    return indented(part.model_dump(mode="json")) + "\n"


def indented(entry: Any, line: str = "\n") -> str:
    """Write what `json.dumps(entry, indent=2, ensure_ascii=False)` writes, in a fifth of its time.

    All zeros are alike: the sign of one could say something. `line` begins a line as deep as the entry is.
    """
    if isinstance(entry, str):
        return encode_basestring(entry)
    if entry is None:
        return "null"
    if type(entry) is int:
        return repr(entry)
    if isinstance(entry, dict) and entry:
        deeper = line + "  "
        inner = [f"{deeper}{encode_basestring(key)}: {indented(value, deeper)}" for key, value in entry.items()]
        return f"{{{','.join(inner)}{line}}}"
    if isinstance(entry, list) and entry:
        deeper = line + "  "
        return f"[{','.join([deeper + indented(value, deeper) for value in entry])}{line}]"
    return json.dumps(0.0 if isinstance(entry, float) and entry == 0 else entry)


def _check_format(text: str, where: str | Path) -> None:
    """Say which version reads a manifest of another format."""
    try:
        entries: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    number = entries.get("format") if isinstance(entries, dict) else None
    if type(number) is int and number != FORMAT:
        made = f"Shoal {READERS[number]}" if number in READERS else "a newer version of Shoal"
        what = f"has format {number}, but this version reads format {FORMAT}"
        raise SourceError(Problem(str(where), what, f"check it with {made}, or publish the table again"))


def _entry(place: Sequence[int | str], message: str) -> str:
    return f"entry {'.'.join(str(step) for step in place) or '(root)'}: {message}"
