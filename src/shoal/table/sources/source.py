"""`Source`: where a table is and how to read it, checked before anything is opened."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from shoal.errors import Problems, SourceError, did_you_mean, some
from shoal.errors.redaction import redacted, with_variables
from shoal.spec import Maybe, Spec, param, shown
from shoal.table import markers
from shoal.table.markers import Markers

ENDINGS: dict[str, tuple[str, ...]] = {
    "csv": (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"),
    "parquet": (".parquet",),
    "excel": (".xlsx", ".xls", ".ods"),
    "sqlite": (".sqlite", ".sqlite3", ".db"),
}
"""Endings of the files of each kind, in small letters."""
SCHEMES = {"sqlite:///": "sqlite", "postgresql://": "postgresql", "postgres://": "postgresql"}
"""How the uri of each kind begins."""
PASSWORD = "SHOAL_DB_PASSWORD"  # noqa: S105
"""The environment variable that stands for a password in addresses that are written down."""
DELIMITERS = (",", ";", "\t", "|")
"""What may be detected to part the fields of a CSV file, the likelier first."""
_ONLY_FOR = {
    "delimiter": ("csv",),
    "encoding": ("csv",),
    "sheet": ("excel",),
    "table": ("sqlite", "postgresql"),
    "query": ("sqlite", "postgresql"),
}


@dataclass(frozen=True)
class Text:
    """A text that is not empty; what was given is never shown, since it may hold a password."""

    what: str

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if isinstance(value, str) and value.strip() else f"needs {self.what}"

    def describe(self) -> str:
        """Say what is allowed, in a few words."""
        return self.what

    def parse(self, text: str) -> object:
        """Take the text as it is."""
        return text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", " ", 1, None]


@dataclass(frozen=True)
class FilePath(Text):
    """A path, as a text or a `Path`; the empty `Path()` is the current folder and is found out later."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return None if isinstance(value, Path) else super().complaint(value)


@dataclass(frozen=True)
class Query(Text):
    """A query that reads: SQLite's ATTACH would make a file even where the database is opened for reading only."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if isinstance(value, str) and value.lstrip(" \t\r\n(").lower().startswith(("select", "with", "values")):
            return None
        return f"needs {self.what}"

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["DROP TABLE people", *super().bad_values()]


@dataclass(frozen=True)
class Delimiter(Text):
    """One ASCII character that is no quote and no line end."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        fits = isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\r\n\0'
        return None if fits else f"needs {self.what}, got {shown(value)}"

    def parse(self, text: str) -> object:
        r"""Read a character; a command line may spell the tab ``\t``."""
        return "\t" if text in ("\\t", "tab") else text

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", ",,", '"', "\n", "§", 1]


@dataclass(frozen=True)
class Encoding(Text):
    """A text encoding Python knows."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        if not isinstance(value, str):
            return f"needs {self.what}"
        try:
            b"a".decode(value, "ignore")
        except UnicodeError:
            return None  # known, only one byte is no text in it
        except (LookupError, ValueError):
            return f"unknown encoding {redacted(value)[:40]!r}, needs {self.what}"
        return None

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["utf-9", "hex", "", 1]


@dataclass(frozen=True)
class MissingTexts(Text):
    """A list of texts, possibly empty, or such lists by column."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        return markers.complaint(value, empty=False)

    def parse(self, text: str) -> object:
        """Read a comma-separated list."""
        return tuple(text.split(","))

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["NA", [""], [1], None, {"age": "NA"}, {"age": [999]}, {"": ["NA"]}]


@dataclass(frozen=True)
class ColumnNames(Text):
    """A list of names of columns, possibly empty."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        fits = isinstance(value, (list, tuple)) and all(isinstance(name, str) and name for name in value)
        return None if fits else f"needs {self.what}"

    def parse(self, text: str) -> object:
        """Read a comma-separated list."""
        return tuple(name.strip() for name in text.split(",") if name.strip())

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["age", [""], [1], None, {"age": ","}]


@dataclass(frozen=True, repr=False)
class Source(Spec):
    """Where a table is and how to read it.

    Exactly one of `path` and `uri` is given; the ending of the path or the beginning of the uri says the `kind`.
    ``${NAME}`` in a uri stands for an environment variable, so that no password needs to be written down; its value
    is put in as it is, so reserved characters of a password are percent-encoded there.

    Examples
    --------
    >>> Source(path="people.csv.gz", delimiter=";").kind
    'csv'
    >>> Source(uri="postgresql://app:${DB_PASSWORD}@db/clinic", table="public.people").kind
    'postgresql'
    >>> Source(path="people.csv", sheet="May", encoding="utf-9")
    Traceback (most recent call last):
    shoal.errors.SourceError: 2 problems:
      1. Source(encoding=): unknown encoding 'utf-9', needs the name of a text encoding, like "utf-8" or "cp1252"
      2. Source(sheet=): is only for excel, this source is csv; leave it out
    """

    name: ClassVar[str] = "source"
    path: str | Path | None = param(  # noqa: RUF009 - a Path cannot change
        Maybe(FilePath("the path of a file")), "file to read", default=None
    )
    uri: str | None = param(
        Maybe(Text("a uri")), "database to read, `sqlite:///...` or `postgresql://...`; `${NAME}` from the environment",
        default=None,
    )  # fmt: skip
    table: str | None = param(Maybe(Text("the name of a table")), "table of the database", default=None)
    query: str | None = param(
        Maybe(Query("a SELECT")), "SQL query that returns the table, instead of `table`", default=None
    )
    sheet: str | None = param(
        Maybe(Text("the name of a sheet")), "sheet of the workbook; the first when not given", default=None
    )
    delimiter: str | None = param(
        Maybe(Delimiter("one ASCII character")),
        "delimiter between the fields of a CSV file; detected when not given",
        default=None,
    )
    encoding: str | None = param(
        Maybe(Encoding('the name of a text encoding, like "utf-8" or "cp1252"')),
        "text encoding of a CSV file; detected when not given",
        default=None,
    )
    decimal_comma: Sequence[str] = param(
        ColumnNames("a list of names of columns"),
        "columns whose numbers have a decimal comma, such as `1.234,56` or `75,3 €`",
        default=(),
    )
    decimal_point: Sequence[str] = param(
        ColumnNames("a list of names of columns"),
        "columns whose numbers have a decimal point and marks of thousands or a currency, such as `$1,234.56`",
        default=(),
    )
    missing_values: Markers = dataclasses.field(
        default=(),
        hash=False,  # a dict has no hash; equal sources still hash alike
        metadata={
            "bound": MissingTexts(markers.ALLOWED),
            "text": "texts that mean a missing cell, besides the empty text; or by column name",
        },
    )

    def __post_init__(self) -> None:
        problems = Problems()
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        _check(values, lambda key: f"Source({key}=)", problems)
        problems.raise_if_any(SourceError)
        if self.path is not None:
            object.__setattr__(self, "path", str(self.path))
        for key in ("decimal_comma", "decimal_point"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        object.__setattr__(self, "missing_values", markers.kept(self.missing_values))

    def __repr__(self) -> str:
        """Leave the uri out: it may hold a password."""
        given = ((key, "..." if key == "uri" else value) for key, value in self.to_mapping().items())
        return f"Source({', '.join(f'{key}={value!r}' for key, value in given if value)})"

    @classmethod
    def from_mapping(cls, values: Mapping[str, object], where: str) -> Self:
        """Build from the keys of a recipe, with all unknown and wrong keys in one error."""
        return cls._built(values, lambda key: f"{where}.{key}")

    @classmethod
    def from_options(cls, source: Source | str | Path, options: Mapping[str, object], caller: str) -> Self:
        """Build from what a function was given: a source, a path or a uri, and options that go over it."""
        if isinstance(source, Source):
            known = source.to_mapping()
        elif isinstance(source, (str, Path)):
            known = {"uri" if "://" in str(source) else "path": source}
        else:
            raise SourceError(f"{caller} needs a path, a uri or a Source, got {type(source).__name__}")
        return cls._built({**known, **options}, lambda key: f"{caller}({key}=)")

    @classmethod
    def _built(cls, values: Mapping[str, object], where: Callable[[str], str]) -> Self:
        problems = Problems()
        known = {parameter.name: parameter.default for parameter in cls.parameters()}
        for key in values:
            if key not in known:
                problems.add(where(key), "unknown", did_you_mean(key, known))
        _check({key: values.get(key, default) for key, default in known.items()}, where, problems)
        problems.raise_if_any(SourceError)
        return cls(**values)  # type: ignore[arg-type]

    def describe(self) -> str:
        """The place in one line, for the holder's receipt, without what may hold a password."""
        if self.uri is None:
            return str(self.path)
        scheme, _, rest = self.uri.partition("://")
        place = rest.rpartition("@")[2].partition("?")[0]
        return f"{scheme}://{place}"

    def without_password(self) -> tuple[Source, list[str]]:
        """The same source, to be written down: with environment variables for its passwords, whose names are given."""
        if self.uri is None:
            return self, []
        uri, names = with_variables(self.uri, PASSWORD)
        return dataclasses.replace(self, uri=uri), names

    @property
    def kind(self) -> str:
        """What it is: ``"csv"``, ``"parquet"``, ``"excel"``, ``"sqlite"`` or ``"postgresql"``."""
        found = kind_of_uri(self.uri) if self.uri is not None else kind_of_path(str(self.path))
        return str(found)


def kind_of_path(path: str) -> str | None:
    """Kind of a file by its ending."""
    if os.path.isdir(path):  # noqa: PTH112 - a Path raises where a name is too long
        found = any(name.lower().endswith(ENDINGS["parquet"]) for name in os.listdir(path))  # noqa: PTH208
        return "parquet" if found else None
    return next((kind for kind, endings in ENDINGS.items() if path.lower().endswith(endings)), None)


def kind_of_uri(uri: str) -> str | None:
    """Kind of a database by its uri."""
    return next((kind for scheme, kind in SCHEMES.items() if uri.lower().startswith(scheme)), None)


def _check(values: Mapping[str, object], where: Callable[[str], str], problems: Problems) -> None:
    """Note everything that is wrong with the fields of a source, each on its own and together."""
    bad = set()
    for parameter in Source.parameters():
        complaint = parameter.bound.complaint(values[parameter.name])
        if complaint:
            bad.add(parameter.name)
            problems.add(where(parameter.name), complaint)
    path, uri = values["path"], values["uri"]
    if path is not None and uri is not None:
        problems.add(where("path"), "both path and uri are given", "keep one")
        return
    if path is None and uri is None:
        problems.add(where("path"), "neither path nor uri is given", "give one")
        return
    if not bad & {"decimal_comma", "decimal_point"}:
        for name in sorted({*values["decimal_comma"]} & {*values["decimal_point"]}):  # type: ignore[misc]
            problems.add(where("decimal_comma"), f"{name!r} is in decimal_point, too", "keep one")
    if values["table"] is not None and values["query"] is not None:
        problems.add(where("table"), "both table and query are given", "keep one")
    if not bad & {"path", "uri"}:
        _check_kind(values, where, problems)


def _check_kind(values: Mapping[str, object], where: Callable[[str], str], problems: Problems) -> None:
    """Note a place of no known kind, or options that another kind has."""
    if values["uri"] is not None:
        kind = kind_of_uri(str(values["uri"]))
        if kind is None:
            problems.add(where("uri"), "unknown kind of database", f"begin it with one of {', '.join(SCHEMES)}")
    else:
        path = str(values["path"])
        kind = kind_of_path(path)
        if kind is None and os.path.isdir(path):  # noqa: PTH112 - a Path raises where a name is too long
            problems.add(where("path"), f"{path} is a folder without Parquet files", "name a file")
        elif kind is None:
            known = some([ending for endings in ENDINGS.values() for ending in endings], 99)
            ending = Path(path).suffix
            problems.add(
                where("path"),
                f"{path} has {f'the unknown ending {ending!r}' if ending else 'no ending'}",
                f"known: {known}",
            )
    for key, kinds in _ONLY_FOR.items():
        if kind is not None and values[key] is not None and kind not in kinds:
            problems.add(where(key), f"is only for {' and '.join(kinds)}, this source is {kind}", "leave it out")
