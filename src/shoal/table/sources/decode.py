"""From the bytes of a text file to UTF-8, whatever encoding it has."""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from contextlib import suppress
from pathlib import Path

from shoal.errors import Problem, SourceError

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_GIVE_ENCODING = "give encoding=, or save the file as UTF-8"


def load(path: Path) -> bytes:
    """All bytes of a file, unpacked when it is a .gz."""
    try:
        packed = path.read_bytes()
    except OSError:
        raise SourceError(Problem(str(path), "cannot be read", "check its rights and the disk")) from None
    if path.suffix.lower() != ".gz":
        return packed
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        raise SourceError(Problem(str(path), "is not a gzip file, or is damaged", "compress it again")) from None


def to_utf8(data: bytes, encoding: str | None, where: str) -> tuple[bytes, str]:
    """Text as UTF-8 without a byte order mark, and the encoding it was in.

    Parameters
    ----------
    data
        The file.
    encoding
        Its encoding; when None, that of a byte order mark, else UTF-8 when every byte fits, else cp1252 when that
        gives a text without control characters.
    where
        The file, for errors.
    """
    name = encoding or next((name for mark, name in MARKS if data.startswith(mark)), None)
    decoded, name = _detected(data, where) if name is None else (_decoded(data, name), name)
    if isinstance(decoded, int):
        what = f"is not in the encoding {name!r}: line {decoded} has bytes that do not fit it"
        fix = "leave encoding= out to have it detected" if encoding else _GIVE_ENCODING
        raise SourceError(Problem(where, what, fix))
    try:
        text = decoded.removeprefix("\ufeff").encode()
    except UnicodeEncodeError:
        raise SourceError(
            Problem(where, f"has incomplete characters in the encoding {name!r}", _GIVE_ENCODING)
        ) from None
    check_no_nul(text, where)
    return text, name


def check_no_nul(text: bytes, where: str, n_before: int = 0) -> None:
    """Refuse a text, or a piece of one behind so many lines, that has NUL bytes."""
    if b"\0" in text:
        line = n_before + text[: text.index(b"\0")].count(b"\n") + 1
        fix = "a text file is needed; for UTF-16 without a byte order mark give encoding="
        raise SourceError(Problem(where, f"has NUL bytes, the first in line {line}", fix))


def _detected(data: bytes, where: str) -> tuple[str, str]:
    """Decode a file without a byte order mark, and name its encoding."""
    utf8 = _decoded(data, "utf-8")
    if isinstance(utf8, str):
        return utf8, "utf-8"
    cp1252 = _decoded(data, "cp1252")
    if isinstance(cp1252, int) or _CONTROL.search(data):
        what = f"is neither UTF-8 text (line {utf8} is the first that is not) nor cp1252 text"
        raise SourceError(Problem(where, what, _GIVE_ENCODING))
    return cp1252, "cp1252"


def _decoded(data: bytes, encoding: str) -> str | int:
    """Decode a file, or give the line of the first byte that does not fit the encoding, counted from 1."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        with suppress(UnicodeError):  # some know of nothing to ignore
            return bytes(error.object[: error.start]).decode(encoding, "ignore").count("\n") + 1
    except UnicodeError:
        pass
    return 1
