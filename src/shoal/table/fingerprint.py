"""A fingerprint of what a table says, the same whatever file or frame it came in."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.machine.threads import side_by_side
from shoal.table.cells import are_cells, as_told
from shoal.table.numbering import are_few

T = TypeVar("T")
LARGE = 1 << 22
"""Bytes of a table that is looked at piece by piece, and of such a piece."""
COPIED = 1 << 26
"""Bytes of a column of texts that may be copied to have them side by side."""


def content_sha256(frame: pl.DataFrame) -> str:
    """SHA-256 over column names, missing cells and the text of all others, column by column.

    A cell counts by its text, so that a column of numbers and the same numbers read from a CSV file agree. What is no
    cell counts as `as_told` tells it.
    """
    return sha256_beside(frame, ())[0]


def sha256_beside(frame: pl.DataFrame, steps: Sequence[Callable[[], T]]) -> tuple[str, list[T]]:
    """The fingerprint of a table, and what some steps give: other cores do these while one hashes."""
    frame = frame.with_columns(as_told(series) for series in frame if not are_cells(series.dtype))
    digest = hashlib.sha256(f"shoal content 1\n{frame.width} {frame.height}\n".encode())
    if are_few(frame.height):
        for series in frame:
            _add_cells(digest, series)
    elif frame.estimated_size() > LARGE:
        return _large_beside(digest, frame, steps)
    else:
        _add_columns(digest, frame)
    return digest.hexdigest(), [step() for step in steps]


def _large_beside(digest: Any, frame: pl.DataFrame, steps: Sequence[Callable[[], T]]) -> tuple[str, list[T]]:
    """The same of a large table: steps are done in turns with columns, which are hashed in their order."""
    work: list[Any] = [one for both in zip_longest(frame, steps) for one in both if one is not None]

    def done(one: Any) -> tuple[bool, Any]:
        return (True, _facts_of(one)) if isinstance(one, pl.Series) else (False, one())

    found: list[T] = []
    for is_column, given in side_by_side(done, work, frame.height * len(work)):
        if is_column:
            for fact in given:
                digest.update(fact)
        else:
            found.append(given)
    return digest.hexdigest(), found


def _add_columns(digest: Any, frame: pl.DataFrame) -> None:
    """Add what all columns say, asked for in one query: queries are what small tables cost."""
    texts = frame.select(pl.all().cast(pl.String))
    filled = pl.all().fill_null("")
    facts = texts.select(
        pl.all().is_not_null().implode().name.prefix("there "),
        filled.str.len_bytes().cast(pl.Int64).implode().name.prefix("lengths "),
        filled.str.join("").name.prefix("joined "),
    )
    for name in frame.columns:
        digest.update(f"{len(name.encode())}\n".encode() + name.encode())
        digest.update(facts[f"there {name}"][0].to_numpy().tobytes())
        digest.update(np.ascontiguousarray(facts[f"lengths {name}"][0].to_numpy(), dtype="<i8").tobytes())
        digest.update(facts[f"joined {name}"][0].encode())


def _add_cells(digest: Any, series: pl.Series) -> None:
    """Add what a column of few rows says."""
    cells = series.cast(pl.String).to_list()
    texts = [b"" if cell is None else cell.encode() for cell in cells]
    digest.update(f"{len(series.name.encode())}\n".encode() + series.name.encode())
    digest.update(bytes(cell is not None for cell in cells))
    digest.update(np.array([len(text) for text in texts], dtype="<i8").tobytes())
    digest.update(b"".join(texts))


def _facts_of(series: pl.Series) -> Iterable[Any]:
    """What a column says, in bytes: all its texts, or in pieces, where a second copy of them would be large."""
    name = f"{len(series.name.encode())}\n".encode() + series.name.encode()
    there, texts = series.is_not_null().to_numpy(), series.cast(pl.String)
    if texts.estimated_size() <= COPIED:
        return name, there, *_lengths_and_letters(_texts(texts))
    rows = rows_of_a_piece(texts.estimated_size(), len(texts), LARGE)
    lengths = [_lengths_and_letters(_texts(piece))[0] for piece in _pieces(texts, rows)]
    letters = (_lengths_and_letters(_texts(piece))[1] for piece in _pieces(texts, rows))
    return chain((name, there, np.concatenate(lengths)), letters)


def _lengths_and_letters(texts: pl.Series) -> tuple[npt.NDArray[np.int64], memoryview]:
    """How long each of some texts is, in bytes, and all of them together."""
    kept = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, data = kept.buffers()
    places = np.frombuffer(ends, dtype=np.int64)[kept.offset : kept.offset + len(kept) + 1]
    return np.ascontiguousarray(np.diff(places), dtype="<i8"), memoryview(data or b"")[places[0] : places[-1]]


def _texts(series: pl.Series) -> pl.Series:
    return series.fill_null("") if series.null_count() else series


def _pieces(series: pl.Series, rows: int) -> Iterator[pl.Series]:
    return (series.slice(begin, rows) for begin in range(0, len(series), rows))


def rows_of_a_piece(size: float, n_rows: int, most: int) -> int:
    """How many rows at a time of something that takes `size` bytes, so that a piece takes at most `most` or so."""
    return max(1, int(most * n_rows / max(size, 1)))
