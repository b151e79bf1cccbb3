"""`Target`: a database that a release is written to, and what it is called there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import Problem, SourceError
from shoal.errors.redaction import with_variables
from shoal.spec import Spec, param
from shoal.table.sources.source import PASSWORD, SCHEMES, Text, kind_of_uri

LONGEST = 40
"""Letters of a name at most."""


@dataclass(frozen=True)
class ReleaseName(Text):
    """A name that both databases take as it is, and that no table of another release begins with."""

    def complaint(self, value: object) -> str | None:
        """Say what is wrong with a value, or None."""
        fits = isinstance(value, str) and len(value) <= LONGEST and re.fullmatch(r"[a-z](_?[a-z0-9])*", value)
        return None if fits else f"needs {self.what}"

    def bad_values(self) -> list[object]:
        """Values that must be refused."""
        return ["", "People", "1st", "a-b", "a__b", "a_", "a" * (LONGEST + 1), 'x"; DROP TABLE y', 1]


@dataclass(frozen=True, repr=False)
class Target(Spec):
    """A database, and what a release is called in it.

    ``${NAME}`` in the uri stands for an environment variable, so that no password needs to be written down.

    Examples
    --------
    >>> Target(uri="sqlite:///releases.db", release="people").kind
    'sqlite'
    """

    name: ClassVar[str] = "target"
    uri: str = param(
        Text("a uri"), "database to write to, `sqlite:///...` or `postgresql://...`; `${NAME}` from the environment"
    )
    release: str = param(
        ReleaseName("a name of small letters, digits and single _ between them, at most 40"),
        "what the release is called there: a schema of PostgreSQL, the beginning of table names in SQLite",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in ("sqlite", "postgresql"):
            fix = f"begin it with one of {', '.join(SCHEMES)}"
            raise SourceError(Problem("Target(uri=)", "unknown kind of database", fix))

    def __repr__(self) -> str:
        """Leave the uri out: it may hold a password."""
        return f"Target(uri='...', release={self.release!r})"

    @property
    def kind(self) -> str:
        """``"sqlite"`` or ``"postgresql"``."""
        return str(kind_of_uri(str(self.uri)))

    def describe(self) -> str:
        """The place in one line, without what may hold a password."""
        scheme, _, rest = self.uri.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}, release {self.release}"

    def without_password(self) -> Target:
        """The same, to be written down: with environment variables for its passwords."""
        return Target(with_variables(self.uri, PASSWORD)[0], self.release)
