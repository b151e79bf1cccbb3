"""No secret in any text: what stands for a password, in an address or after ``password=``, is shown as ``***``.

Errors, warnings and everything the command line prints pass through here, because any text of a user may hold the
address of a database: in place of a path, as a flag, as a name. What is hidden may be too much (all up to the last
``@`` of a word), never too little. A variable of the environment such as ``${DB_PASSWORD}`` is no secret and stays.

Every step takes time in proportion to the text: a cell of a megabyte may come along.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "***"
_NAMES = r"(?:password|passwd|passphrase|pwd)"
_TOKENS = r"(?:token|secret|api_?key|access_?key|sig|signature)"
_QUOTED = r"'(?:[^'\\]|\\.|'')*'?|\"(?:[^\"\\]|\\.|\"\")*\"?"
_VARIABLES = re.compile(r"(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+")
_WORD = re.compile(r"\S+")
_ADDRESS = re.compile(r":/+[^\s/?#:]{0,256}:")
"""Of ``scheme://user:secret@host`` what comes before the secret; one slash is left where it was taken for a path. Some
servers want users with an ``@`` in their name."""
_SLASHLESS = re.compile(r"\bpostgres(?:ql)?[\w+]*:(?!/)", re.IGNORECASE)
"""The same where the slashes were left out."""
_SPACED = re.compile(rf"({_ADDRESS.pattern})([^/\r\n@]{{0,200}})@")
"""The same with spaces in the secret."""
_PORT = re.compile(r"\d{1,5}(?=:?$|[/?#'\"),;>\]])")
_ENCODED = re.compile(r"%3A(?:%2F)+(?:(?!%3A)[^\s&]){0,256}%3A", re.IGNORECASE)
"""The same as part of another address, percent-encoded."""
_NAMED = (
    # In the query of an address or among key=value pairs, with quotes or without.
    re.compile(rf"(?P<before>{_NAMES}\s{{0,9}}=\s{{0,9}})(?P<secret>{_QUOTED}|[^\s&)'\"][^\s&]*)", re.IGNORECASE),
    # The same percent-encoded, as in the address of an ODBC source.
    re.compile(rf"(?P<before>{_NAMES}%3D)(?P<secret>(?:(?!%3B)[^\s&])+)", re.IGNORECASE),
    # What else opens a door, in the query of an address.
    re.compile(rf"(?P<before>[?&][\w-]{{0,99}}{_TOKENS}=)(?P<secret>[^\s&#'\"]+)", re.IGNORECASE),
    # As JSON and Python write it.
    re.compile(rf"(?P<before>{_NAMES}[\"']\s{{0,9}}:\s{{0,9}})(?P<secret>{_QUOTED})", re.IGNORECASE),
)
_PASSWORDS = (
    re.compile(r"^(?P<before>[a-z][a-z0-9+.\-]*://[^:/?#@]*:)(?P<secret>[^@]+)(?P<after>@)", re.IGNORECASE),
    re.compile(rf"(?P<before>[?&]\w*(?:{_NAMES}|{_TOKENS})=)(?P<secret>[^&#]+)(?P<after>)", re.IGNORECASE),
)
"""Where passwords stand in an address that is known to be one."""


def redacted(text: str) -> str:
    """A text without its secrets.

    >>> redacted("cannot reach postgresql://app:s3cret@db/clinic?sslpassword=x")
    'cannot reach postgresql://app:***@db/clinic?sslpassword=***'
    >>> redacted("host=db user=app password='s3 cret'"), redacted("postgresql://app:${DB_PASSWORD}@db:5432/clinic")
    ('host=db user=app password=***', 'postgresql://app:${DB_PASSWORD}@db:5432/clinic')
    """
    if ":/" in text or ("@" in text and ":" in text):
        text = _WORD.sub(lambda word: _of_address(word[0]), _SPACED.sub(_spaced, text))
    if "%" in text:
        text = _WORD.sub(lambda word: _of_encoded(word[0]), text)
    if "=" in text or ":" in text or "%" in text:
        for pattern in _NAMED:
            text = pattern.sub(lambda found: f"{found['before']}{_or_hidden(found['secret'])}", text)
    return text


def _or_hidden(secret: str) -> str:
    return secret if not secret or _VARIABLES.fullmatch(secret) else HIDDEN


def _spaced(found: re.Match[str]) -> str:
    secret = found[2]
    return f"{found[1]}{_or_hidden(secret)}@" if " " in secret or "\t" in secret else found[0]


def _of_address(word: str) -> str:
    """A word without the secret of the address in it, which may hold ``@`` and slashes itself."""
    begun, end = _ADDRESS.search(word), word.rfind("@")
    if begun is None:
        return _without_slashes(word, end)
    if end >= begun.end():
        return f"{word[: begun.end()]}{_or_hidden(word[begun.end() : end])}{word[end:]}"
    if "://" not in begun[0] or "[" in begun[0] or _PORT.match(word, begun.end()):
        return word
    cut_short = re.split(r"[/?#]", word[begun.end() :], maxsplit=1)[0]  # before its @ came
    return f"{word[: begun.end()]}{_or_hidden(cut_short)}{word[begun.end() + len(cut_short) :]}"


def _without_slashes(word: str, end: int) -> str:
    """A word without the secret of an address of PostgreSQL whose slashes were left out."""
    begun = _SLASHLESS.search(word)
    if begun is None or end < begun.end():
        return word
    return f"{word[: begun.end()]}{_or_hidden(word[begun.end() : end])}{word[end:]}"


def _of_encoded(word: str) -> str:
    begun, end = _ENCODED.search(word), word.rfind("%40")
    if begun is None or end < begun.end():
        return word
    return f"{word[: begun.end()]}{HIDDEN}{word[end:]}"


def all_redacted(value: object) -> object:
    """The same for all texts of something that JSON can hold."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {redacted(str(key)): all_redacted(one) for key, one in value.items()}
    return [all_redacted(one) for one in value] if isinstance(value, list | tuple) else value


def with_variables(address: str, variable: str) -> tuple[str, list[str]]:
    """An address with variables of the environment in place of its passwords, and their names.

    >>> with_variables("postgresql://app:s3cret@db/clinic", "DB_PASSWORD")
    ('postgresql://app:${DB_PASSWORD}@db/clinic', ['DB_PASSWORD'])
    """
    names: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        if _VARIABLES.fullmatch(found["secret"]):
            return found[0]
        names.append(variable if not names else f"{variable}_{len(names) + 1}")
        return f"{found['before']}${{{names[-1]}}}{found['after']}"

    for pattern in _PASSWORDS:
        address = pattern.sub(replaced, address)
    return address, names
