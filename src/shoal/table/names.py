"""Names of columns in messages: as they are where they are names, by number where they may be cells.

The first line of a file that has no header passes for the names of its columns, and holds a person. So a name that the
user did not write in a schema is shown only if it looks like one, and if the table as a whole does not look headless.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import polars as pl

from shoal.errors import Problem, Problems, ShoalError, SourceError, counted, did_you_mean, some
from shoal.table.cells import are_cells

LONGEST = 64
"""Characters that a name may have to be shown."""
SAMPLE = 200
"""Rows whose shape is looked at."""
SEARCHED = 10_000
"""Rows that are searched for a cell like the name."""
CLOSE = 0.8
"""How like a name of the schema one of the table must be to be taken for it, misspelt."""
WRITE_NAMES = "write the names of the columns in the first line of the file"

_TELLING = re.compile(r"@|[0-9]{5}|[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}|([0-9][^0-9]*){7}")
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"[Aa_][Aa9\s_-]*")


def looks_like_name(name: str) -> bool:
    """Whether a text may be shown as the name of a column: no number, date, address or telephone number is one.

    >>> [looks_like_name(text) for text in ("age", "_x1", "sales 2019", "34", "a@b.org", "born 1987-03-21", "0171 555")]
    [True, True, True, False, False, False, False]
    """
    begins = name[:1].isalpha() or name[:1] == "_"
    return begins and len(name) <= LONGEST and name.isprintable() and _TELLING.search(name) is None


class Names:
    """The names of a table's columns, and how a message may speak of them."""

    def __init__(self, names: Iterable[str], frame: pl.DataFrame | None = None, written: Iterable[str] = ()) -> None:
        self.names = list(names)
        self.frame = frame
        self.written = frozenset(written)

    @classmethod
    def of(cls, frame: pl.DataFrame, written: Iterable[str] = ()) -> Names:
        """The names of a frame, whose cells say whether they are names, and the names that the user wrote himself."""
        return cls(frame.columns, frame, written)

    @cached_property
    def shown(self) -> frozenset[str]:
        """The names that may be shown."""
        if self.frame is not None and headless(self.frame):
            return self.written
        plain = (name for name in self.names if looks_like_name(name))
        return self.written.union(
            name for name in plain if self.frame is None or not _among_cells(name, self.frame[name])
        )

    def where(self, name: str) -> str:
        """Where a problem of a column is."""
        known = name in self.written or name in self.shown
        return f"column {name!r}" if known else f"column {self.names.index(name) + 1}"

    def listed(self, names: Iterable[str], limit: int = 50) -> str:
        """Several columns, by name or by number.

        >>> Names(["age", "34", "ward"]).listed(["34", "ward"])
        'column 2, ward'
        """
        return some([name if name in self.shown else self.where(name) for name in names], limit)

    def meet(self, wanted: Iterable[str]) -> bool:
        """Whether any of the names that a user wrote is here, or a misspelt one."""
        known = list(wanted)
        if not known or not set(known).isdisjoint(self.names):
            return True
        here = [name for name in self.names if name in self.shown]
        lower = {name.lower() for name in here}
        return any(name.lower() in lower or difflib.get_close_matches(name, here, n=1, cutoff=CLOSE) for name in known)

    def note_absent(
        self, roles: Mapping[str, str], problems: Problems, fix: str, *, error: type[ShoalError] | None = None
    ) -> None:
        """Note the columns of a schema that are not here; where none is, that is one problem."""
        if not self.meet(roles):
            what = f"none of its {counted(len(roles), 'column')} is among the "
            what += f"{counted(len(self.names), 'column')} of the table"
            fix = f"give the table that the schema describes; if it is a file without a header, {WRITE_NAMES}"
            problems.add("schema", what, fix, error=error)
            return
        absent = {name: role for name, role in roles.items() if name not in self.names}
        others = [name for name in self.names if name not in roles and name in self.shown] if absent else []
        for name, role in absent.items():
            near = did_you_mean(name, others, fix)
            problems.add(f"column {name!r}", f"{role} in the schema, but not in the table", near, error=error)


def require_header(frame: pl.DataFrame) -> None:
    """Refuse a table whose names look like a row of its cells, where all names would be shown."""
    if headless(frame):
        what = "its column names look like cells, as in a file without a header"
        fix = f"{WRITE_NAMES}; if these are the names, rename those that look like cells"
        raise SourceError(Problem("table", what, fix))


def headless(frame: pl.DataFrame) -> bool:
    """Whether at least half of the names look like cells of their columns.

    A name looks like a cell if it is one, or if it has the shape of most of them and is not made of words and numbers
    behind them. Numbers that count on from column to column, and years above what are no years, are names.

    >>> headless(pl.DataFrame({"Ann": ["Bob", "Cid"], "34": ["27", "51"], "f": ["m", "f"]}))
    True
    >>> headless(pl.DataFrame({"name": ["Ann", "Bob"], "2019": ["34", "27"], "2020": ["35", "29"]}))
    False
    """
    counted = _counting_on(frame.columns)
    looked_at, like_cells = 0, 0
    for series in frame:
        cells = _cells(series)
        looked_at += len(cells) > 0
        if len(cells) and series.name not in counted:
            like_cells += _among_cells(series.name, series) or _has_their_shape(series.name, cells)
    return like_cells > 0 and 2 * like_cells >= looked_at


def _cells(series: pl.Series) -> list[str]:
    """Some cells of a column, as text."""
    if not are_cells(series.dtype):
        return []
    return series.drop_nulls().head(SAMPLE).cast(pl.String).str.strip_chars().to_list()


def _among_cells(name: str, series: pl.Series) -> bool:
    """Whether a column holds its own name, among other values: where it holds nothing else, it ticks what it says."""
    if series.dtype not in (pl.String, pl.Categorical, pl.Enum) and not series.dtype.is_integer():
        return False
    found = series.head(SEARCHED).cast(pl.String).str.strip_chars().drop_nulls().unique()
    return len(found) > 1 and bool((found == name.strip()).any())


def _has_their_shape(name: str, cells: Sequence[str]) -> bool:
    shape = _shape(name)
    if _WORDS.fullmatch(shape):
        return False
    if _is_year(name) and 2 * sum(map(_is_year, cells)) < len(cells):
        return False
    return 2 * sum(_shape(cell) == shape for cell in cells) >= len(cells)


def _shape(text: str) -> str:
    """A text with a 9 for every number and an A, an a or both for every word.

    >>> _shape("Ann Lee"), _shape("13.5"), _shape("1987-03-21"), _shape("C50")
    ('Aa Aa', '9', '999', 'A9')
    """
    words = _LETTERS.sub(lambda word: "A" if word[0].isupper() else "a" if word[0].islower() else "Aa", text.strip())
    return _NUMBER.sub("9", words)


def _is_year(text: str) -> bool:
    return text.isdecimal() and len(text) == 4 and 1900 <= int(text) <= 2100


def _counting_on(names: Sequence[str]) -> set[str]:
    """Names that are whole numbers with the same small step from column to column, three of them or more."""
    found: set[str] = set()
    run: list[str] = []
    steps = [_step(one, other) for one, other in pairwise(names)]
    for place, step in enumerate(steps):
        going_on = len(run) > 0 and step == steps[place - 1]
        run = [] if step is None else [*run, names[place + 1]] if going_on else list(names[place : place + 2])
        found |= set(run) if len(run) > 2 else set()
    return found


def _step(one: str, other: str) -> int | None:
    both = one.isdecimal() and other.isdecimal() and max(len(one), len(other)) < 10
    step = int(other) - int(one) if both else 0
    return step if 1 <= step <= 10 else None
