"""Every exception Shoal raises on purpose, and how a problem is worded.

::

    ShoalError
    ├── InputError                  something given to Shoal is wrong; nothing was done, nothing was written
    │   ├── SourceError             a file or a database table cannot be read as a table
    │   ├── SchemaError             columns, roles, kinds, hierarchies do not fit the table
    │   ├── ParameterError          a parameter is out of its bounds (also a ValueError)
    │   ├── RecipeError             a recipe file has unknown, misspelt or impossible entries
    │   └── InfeasibleError         the request is well formed, but this table cannot fulfil it
    ├── GuaranteeError              a release does not keep what it promises
    └── InternalError               a mistake of ours: please report it

One error has *all* problems that were found, each saying what, where, got what and what to do.
No message ever holds a cell value of the table: column names, parameters, counts and row positions at most
(values of a hierarchy or a recipe are the steward's own configuration and may be named). No problem and no warning
holds a password: what a user gives may be the address of a database wherever it stands.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from shoal.errors.redaction import redacted

OTHER_FIRST_LETTER = 0.7
"""From here on a word that begins otherwise is as near as one that was mistyped."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where it is, what it is, what to do about it.

    `values` holds values of a hierarchy: those it lacks, or those that are wrong in it. They are shown to the steward,
    long ones cut short, and kept apart so that whoever answers somebody else (a server) can leave them out.

    No problem holds a password, or the hidden name that something has until it is whole and moved to its place. Each is
    one line, also where the name of a column has several.
    """

    where: str
    what: str
    fix: str = ""
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("where", "what", "fix"):
            text = redacted(_UNFINISHED.sub(r"\g<name>", getattr(self, part)))
            object.__setattr__(self, part, text.replace("\r", "\\r").replace("\n", "\\n"))
        object.__setattr__(self, "values", tuple(redacted(_short(value)) for value in self.values))

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.values:
            text += f": {some(self.values)}"
        return f"{text}; {self.fix}" if self.fix else text


_UNFINISHED = re.compile(r"(?<![^/\s'\"])\.(?P<name>[^/\s]{1,255})\.(?:partial|old)-[0-9a-f]{8,64}(?![0-9a-f])")
"""What a file or folder is called until it is whole, or while another takes its place."""
LONGEST = 60
"""Letters of a value that are shown."""


def _short(value: str) -> str:
    """The beginning of a value, in letters that can be printed."""
    shown = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in value[:LONGEST])
    return shown if len(value) <= LONGEST else f"{shown}... ({len(value):,} letters)"


class ShoalError(Exception):
    """Root of all errors Shoal raises on purpose.

    Parameters
    ----------
    problems
        What went wrong: one text, one `Problem`, or several.
    """

    def __init__(self, problems: str | Problem | Iterable[Problem]) -> None:
        if isinstance(problems, str):
            problems = [Problem("shoal", problems)]
        elif isinstance(problems, Problem):
            problems = [problems]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = "".join(f"\n  {number}. {problem}" for number, problem in enumerate(self.problems, 1))
        return f"{len(self.problems)} problems:{lines}"

    def __reduce__(self) -> tuple[type[ShoalError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class InputError(ShoalError):
    """Something given to Shoal is wrong; nothing was done."""


class SourceError(InputError):
    """A file or a database table cannot be read as a table."""


class SchemaError(InputError):
    """Columns, roles, kinds or hierarchies do not fit the table."""


class ParameterError(InputError, ValueError):
    """A parameter is out of its bounds."""


class RecipeError(InputError):
    """A recipe has unknown, misspelt or impossible entries."""


class InfeasibleError(InputError):
    """The request is well formed, but this table cannot fulfil it."""


class GuaranteeError(ShoalError):
    """A release does not keep what it promises."""


class InternalError(ShoalError):
    """A mistake of ours: please report it."""


class ShoalWarning(UserWarning):
    """A request that can be fulfilled, though with something its sender should know."""

    def __init__(self, *said: object) -> None:
        super().__init__(*(redacted(one) if isinstance(one, str) else one for one in said))


class Problems:
    """Collects problems, so that a user sees all of them at once.

    Examples
    --------
    >>> found = Problems()
    >>> found.add("column 'agee'", "not in the table", did_you_mean("agee", ["age", "sex"]))
    >>> found.raise_if_any(SchemaError)
    Traceback (most recent call last):
    shoal.errors.SchemaError: column 'agee': not in the table; did you mean 'age'?
    """

    def __init__(self) -> None:
        self._found: list[tuple[type[ShoalError] | None, Problem]] = []

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return (problem for _, problem in self._found)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Note problems that somebody else found."""
        self._found.extend((None, problem) for problem in problems)

    def join(self, others: Problems) -> None:
        """Note the problems of another collection, each with its class."""
        self._found.extend(others._found)

    def add(
        self,
        where: str,
        what: str,
        fix: str = "",
        *,
        values: Iterable[str] = (),
        error: type[ShoalError] | None = None,
    ) -> None:
        """Note one problem; `error` is the exception class it would be raised as on its own."""
        self._found.append((error, Problem(where, what, fix, tuple(values))))

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note every problem that the block raises, and go on after it."""
        try:
            yield
        except ShoalError as error:
            self.take(error)

    def take(self, error: ShoalError) -> None:
        """Note every problem of an error that was caught."""
        self._found.extend((type(error), problem) for problem in error.problems)

    def raise_if_any(self, default: type[ShoalError]) -> None:
        """Raise one error with all problems, each said once; its class is that of the first problem."""
        if self._found:
            first = self._found[0][0] or default
            raise first(list(dict.fromkeys(self)))


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Suggest the nearest known word, or list the known ones when there are few.

    Who mistypes a word seldom misses its first letter: a word with another must be nearer, or have the same letters.

    >>> did_you_mean("engine", ["refine", "suppress"]), did_you_mean("gae", ["age", "sex"])
    ('known: refine, suppress', "did you mean 'age'?")
    """
    words = sorted(set(known))
    near = [one for one in difflib.get_close_matches(word, words, cutoff=0.6) if _may_be_meant(word, one)]
    if not near:
        by_lower = {known_word.lower(): known_word for known_word in words}
        near = [by_lower[word.lower()]] if word.lower() in by_lower else []
    if near:
        return f"did you mean {near[0]!r}?"
    if otherwise:
        return otherwise
    return f"known: {', '.join(words)}" if 0 < len(words) <= 20 else ""


def _may_be_meant(word: str, near: str) -> bool:
    if word[:1].lower() == near[:1].lower() or sorted(word) == sorted(near):
        return True
    return difflib.SequenceMatcher(a=near, b=word).ratio() >= OTHER_FIRST_LETTER


def some(items: Sequence[object], limit: int = 10) -> str:
    """Up to `limit` items and how many more there are.

    >>> some([1, 2, 3], limit=2)
    '1, 2 and 1 more'
    """
    shown = ", ".join(str(item) for item in items[:limit])
    more = len(items) - limit
    return f"{shown} and {more} more" if more > 0 else shown


def class_or_type(value: object) -> str:
    """What stands in the place of an object: a class that nobody made one of, or the type of something else.

    >>> class_or_type(int), class_or_type("5")
    ('the class int itself', 'str')
    """
    return f"the class {value.__name__} itself" if isinstance(value, type) else type(value).__name__


def counted(n: int, one: str, many: str = "") -> str:
    """So many of something, in the words for one or for many; without these it is one with an s.

    >>> counted(1, "row"), counted(1234, "row"), counted(1, "class is", "classes are")
    ('1 row', '1,234 rows', '1 class is')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def cells_are(n: int) -> str:
    """Begin to say what so many cells are.

    >>> cells_are(1), cells_are(1234)
    ('1 cell is', '1,234 cells are')
    """
    return counted(n, "cell is", "cells are")


def rows_at(positions: Sequence[int], limit: int = 10) -> str:
    """Name row positions the way every message does: counted from 1, the header not counted."""
    word = "row" if len(positions) == 1 else "rows"
    return f"{word} {some([position + 1 for position in positions], limit)}"
