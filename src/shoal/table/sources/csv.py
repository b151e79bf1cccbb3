"""CSV files: every cell a text, every record whole, or one error that names the rows."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import InternalError, Problem, Problems, SourceError, counted, rows_at
from shoal.table.sources.decode import load, to_utf8
from shoal.table.sources.files import check_header, found_file
from shoal.table.sources.panics import without_panics
from shoal.table.sources.source import DELIMITERS, Source

_QUOTE = ord('"')
_N_SAMPLED = 100


@dataclass(frozen=True)
class Detected:
    """How a CSV file is written, as found or as given."""

    encoding: str
    delimiter: str


@dataclass(frozen=True)
class Scanned:
    """What the scan of a file found; see `shoal.kernels.table.csv_scan.scan`."""

    n_records: int
    header: slice
    n_columns: int
    header_broken: bool
    counts: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]


def detect_csv(source: Source) -> Detected:
    """Find out how a CSV file is written."""
    return _opened(source)[1]


def read_csv(source: Source) -> pl.DataFrame:
    """Read a CSV file: all columns are texts, and an empty cell, quoted or not, is missing."""
    data, detected, where = *_opened(source), str(source.path)
    scanned = _scan(data, detected.delimiter)
    _check(scanned, detected, where)
    names = _header(data[scanned.header], detected.delimiter)
    check_header(names, where, first_line=True)
    if not scanned.n_records:
        raise SourceError(Problem(where, "has a header but no rows", "nothing can be published of an empty table"))
    body = data[scanned.header.stop :]
    frame = _parse(body, names, scanned, detected.delimiter)
    if frame is None or frame.height != scanned.n_records:
        got = "no table" if frame is None else f"{counted(frame.height, 'row')}"
        raise InternalError(Problem(where, f"has {scanned.n_records} records, but reading it gave {got}"))
    return frame.with_columns(pl.all().replace("", None))


def parse_piece(
    data: bytes, source: Source, names: list[str] | None, detected: Detected | None, n_before: int
) -> tuple[pl.DataFrame, list[str], Detected]:
    """Records of a file that is read piece by piece; the first piece begins with the header, which the others lack.

    Parameters
    ----------
    data
        Whole records, as UTF-8.
    source
        The file.
    names, detected
        What the first piece told; None for that.
    n_before
        Records of earlier pieces.
    """
    where = str(source.path)
    if names is None:
        if not data.strip(b"\r\n"):
            raise SourceError(Problem(where, "is empty", "a header and at least one row are needed"))
        name = Path(where).name.lower().removesuffix(".gz")
        delimiter = source.delimiter or _delimiter(data, "\t" if name.endswith(".tsv") else DELIMITERS[0])
        detected = Detected("utf-8", delimiter)
        scanned = _scan(data, delimiter)
        names = _header(data[scanned.header], delimiter)
        check_header(names, where, first_line=True)
    else:
        assert detected is not None  # noqa: S101  told with the names
        line = io.StringIO()
        csv.writer(line, delimiter=detected.delimiter, lineterminator="\n").writerow(names)
        data = line.getvalue().encode() + data
        scanned = _scan(data, detected.delimiter)
    scanned.first[scanned.first >= 0] += n_before
    _check(scanned, detected, where)
    scanned.first[scanned.first >= 0] -= n_before
    frame = _parse(data[scanned.header.stop :], names, scanned, detected.delimiter) if scanned.n_records else None
    frame = pl.DataFrame(schema=dict.fromkeys(names, pl.String())) if not scanned.n_records else frame
    if frame is None or frame.height != scanned.n_records:
        raise InternalError(Problem(where, f"has {scanned.n_records} records that could not be read"))
    return frame.with_columns(pl.all().replace("", None)), names, detected


def _opened(source: Source) -> tuple[bytes, Detected]:
    path = found_file(source.path)
    data, encoding = to_utf8(load(path), source.encoding, str(path))
    if not data.strip(b"\r\n"):
        raise SourceError(Problem(str(path), "is empty", "a header and at least one row are needed"))
    name = path.name.lower().removesuffix(".gz")
    delimiter = source.delimiter or _delimiter(data, "\t" if name.endswith(".tsv") else DELIMITERS[0])
    return data, Detected(encoding, delimiter)


def _delimiter(data: bytes, likely: str) -> str:
    """Find the delimiter by which the first records have the most fields, the same number in all of them.

    When none gives that, the one by which most records agree with the header, so that the others can be named.
    """
    from shoal.kernels.table.csv_scan import widths  # numba takes its time to load

    array = np.frombuffer(data, dtype=np.uint8)
    best, chosen = (False, False, 0.0, 0), likely
    for delimiter in (likely, *(other for other in DELIMITERS if other != likely)):
        sample = np.zeros(_N_SAMPLED, dtype=np.int64)
        sample = sample[: widths(array, ord(delimiter), _QUOTE, sample)]
        agree = float(np.mean(sample == sample[0])) if sample[0] > 0 else 0.0
        # A file of one column agrees by every delimiter that it does not hold, so several fields count first,
        # even where the quotes of the header are broken by it.
        score = (bool(abs(sample[0]) > 1), agree == 1.0, agree, int(sample[0]))
        if score > best:
            best, chosen = score, delimiter
        if delimiter == "\t" == likely and score[:2] == (True, True):
            return delimiter
    return chosen


def _scan(data: bytes, delimiter: str) -> Scanned:
    from shoal.kernels.table.csv_scan import N_KINDS, N_SHOWN, scan  # numba takes its time to load

    header, counts = np.zeros(4, dtype=np.int64), np.zeros(N_KINDS, dtype=np.int64)
    first = np.full((N_KINDS, N_SHOWN), -1, dtype=np.int64)
    n_records = scan(np.frombuffer(data, dtype=np.uint8), ord(delimiter), _QUOTE, header, counts, first)
    start, end, n_columns, broken = header.tolist()
    return Scanned(int(n_records), slice(start, end), n_columns, bool(broken), counts, first)


def _check(scanned: Scanned, detected: Detected, where: str) -> None:
    """Refuse records that cannot be read in one way only."""
    from shoal.kernels.table.csv_scan import BROKEN, LONE_RETURN, RAGGED  # numba takes its time to load

    problems = Problems()
    if scanned.header_broken:
        ends = "end lines with \\n or \\r\\n (a CSV file for Macintosh has \\r alone: save it as CSV UTF-8)"
        problems.add(where, "the quotes or line ends of its header are broken", f"close its quotes; {ends}")
    width = f"{scanned.n_columns} field{'s' * (scanned.n_columns != 1)}"
    texts = {
        RAGGED: (
            f"another number of fields than the header, which has {width} with the delimiter {detected.delimiter!r}",
            "correct them, or give another delimiter=",
        ),
        BROKEN: ("broken quoting (text after a closing quote, or a quote never closed)", "correct the quotes"),
        LONE_RETURN: ("a carriage return within a line", "end lines with \\n or \\r\\n, or quote the cell"),
    }
    for kind, (what, fix) in texts.items():
        count = int(scanned.counts[kind])
        if count:
            at = rows_at(scanned.first[kind][:count].tolist())
            more = "first at" if count > scanned.first.shape[1] else "at"
            problems.add(where, f"{count} record{'s have' if count > 1 else ' has'} {what}, {more} {at}", fix)
    problems.raise_if_any(SourceError)


def _header(line: bytes, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(line.decode(), newline=""), delimiter=delimiter))


def _parse(body: bytes, names: list[str], scanned: Scanned, delimiter: str) -> pl.DataFrame | None:
    from shoal.kernels.table.csv_scan import BARE_QUOTE, BLANK  # numba takes its time to load

    # polars makes a row of a blank line and loses count of lines after a quote within a plain field.
    blank = bool(scanned.counts[BLANK]) and scanned.n_columns > 1
    if blank and scanned.first[BLANK][0] == scanned.n_records:  # all of them after the last record
        body, blank = body.rstrip(b"\r\n"), False
    if blank or scanned.counts[BARE_QUOTE]:
        return _parse_slowly(body, names, delimiter)
    schema = dict.fromkeys(names, pl.String())
    try:
        with without_panics():
            return pl.read_csv(
                io.BytesIO(body), has_header=False, separator=delimiter, schema=schema, infer_schema=False
            )
    except Exception:  # its messages hold cells
        return None


def _parse_slowly(body: bytes, names: list[str], delimiter: str) -> pl.DataFrame:
    limit = csv.field_size_limit(max(len(body), csv.field_size_limit()))
    try:
        rows = list(csv.reader(io.StringIO(body.decode(), newline=""), delimiter=delimiter))
    finally:
        csv.field_size_limit(limit)
    rows = [row or [""] for row in rows if row or len(names) == 1]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String()), orient="row")
