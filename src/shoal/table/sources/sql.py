"""What both databases have in common: which statement to run, names quoted safely, the environment in a uri."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from shoal.errors import Problem, SourceError, some
from shoal.errors.redaction import redacted
from shoal.table.sources.source import Source

_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'
_NAME = re.compile(rf"({_PART})(?:\.({_PART}))?")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def statement(source: Source, tables: Callable[[], list[str]], where: str) -> str:
    """Give the statement that gives the table of a source; `tables` lists the names a user could write."""
    if source.query is not None:
        return source.query.rstrip().rstrip(";")
    table = source.table
    if table is None:
        known = tables()
        if len(known) != 1:
            what = f"has {len(known)} tables, and none was chosen"
            how = "give table or query (shoal init and run: --table, --query; a recipe: below its [source])"
            fix = f"{how}, or a file with one table; tables: {some(known, 50)}" if known else "create a table first"
            raise SourceError(Problem(where, what, fix))
        table = known[0]
    return f"SELECT * FROM {quoted(table)}"  # noqa: S608 - quoted


def quoted(table: str) -> str:
    """Quote a table name, or schema.table; a name with a dot or a quote in it is given in double quotes.

    >>> quoted('public.people'), quoted('"a.b"'), quoted('x; DROP TABLE y')
    ('"public"."people"', '"a.b"', '"x; DROP TABLE y"')
    """
    parts = _NAME.fullmatch(table)
    if not parts:
        fix = 'write table or schema.table, with double quotes around a name that has a dot: "a.b"'
        raise SourceError(Problem("table", f"{redacted(table)[:80]!r} is not a valid table name", fix))
    return ".".join(part if part[0] == '"' else f'"{part}"' for part in parts.groups() if part)


def written(name: str) -> str:
    """Write a name so that `quoted` takes it for one name."""
    return '"' + name.replace('"', '""') + '"' if "." in name or '"' in name else name


def expanded(uri: str) -> str:
    """Fill the environment into a uri."""
    missing = [name for name in _VARIABLE.findall(uri) if name not in os.environ]
    if missing:
        names = some(list(dict.fromkeys(missing)))
        raise SourceError(Problem("uri", f"needs environment variables that are not set: {names}", "set them"))
    return _VARIABLE.sub(lambda match: os.environ[match[1]], uri)
