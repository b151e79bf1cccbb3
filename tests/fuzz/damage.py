"""Ways to damage a file: its bytes, its text, its JSON, its cells; all drawn from one generator."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

HUGE = "9" * 5000
ODD_TEXTS = (
    "", " ", "*", "?", "\ufeff", "\x00", "\x1b[31m", "\u202egnp", "\u200b", "a\rb", '"', "'", ";", ",", "\\", "${HOME}",
    "nan", "NaN", "inf", "-inf", "1e999", "-0", "0x10", HUGE, "-1", "1.0", "true", "[1, 2]", "{1, 2}",
    "../../etc/passwd", "x" * 10_000, "é" * 300, "\U0001f41f", "\ud800",
    "postgresql://app:Qzpassword@127.0.0.1:9/x", "%s%n", "{0}", "null",
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, -(2**70), 10**400, 0.1, 1e308, -0.0, float("nan"), float("inf"), [], {}, [[]],
    [None], {"": ""}, *ODD_TEXTS,
)  # fmt: skip
TOML_VALUES = (
    "true", "-1", "0", "nan", "inf", "1e400", HUGE, '""', '"*"', "[]", "{}", '["a", 1]', "[[[[]]]]", "1979-05-27",
    "0x1f",
    '"\\u202e"', '"postgresql://app:Qzpassword@127.0.0.1:9/x"', '"../../../etc/passwd"', "[" * 2000 + "]" * 2000,
    '"people.db"', '"town.csv"', '"mdav"', '"anatomy"', '"slicing"', '"sensitive"', '"quasi"', '"ordinal"', '"k-map"',
    '{name = "prefixes", keep = [1]}', '{name = "intervals", width = 0}', '{name = "tree", paths = [["a", "*"]]}',
)  # fmt: skip


def bytes_damaged(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes lost, doubled, exchanged or put in between."""
    return rng.choice(BYTE_WAYS)(data, rng)


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))) if data else ():
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    begin, end = sorted((_place(data, rng), _place(data, rng)))
    return data[:begin] + data[min(end, begin + rng.choice((1, 4, 64, 10**6))) :]


def _put_in(data: bytes, rng: random.Random) -> bytes:
    at, text = _place(data, rng), rng.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
    return (
        data[:at]
        + rng.choice((text, b"\xff\xfe", b"\x80", b"\n" * 3, bytes(rng.randrange(256) for _ in range(9))))
        + data[at:]
    )


def _doubled(data: bytes, rng: random.Random) -> bytes:
    begin, end = sorted((_place(data, rng), _place(data, rng)))
    return data[:end] + data[begin:end] * rng.choice((1, 3)) + data[end:]


def _number(data: bytes, rng: random.Random) -> bytes:
    found = list(re.finditer(rb"\d+(?:\.\d+)?", data))
    if not found:
        return _flipped(data, rng)
    one = rng.choice(found)
    return (
        data[: one.start()]
        + rng.choice((b"-1", b"nan", b"1e999", HUGE.encode(), b"", b"0", b"1_0"))
        + data[one.end() :]
    )


def _line(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        del lines[a]
    return b"\n".join(lines)


BYTE_WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped, _cut, _put_in, _doubled, _number, _line, lambda data, rng: data[: _place(data, rng)],
    lambda data, rng: rng.choice((b"", b"\x00" * 100, b"\n", b"{}", b"[]", b"\xef\xbb\xbf" + data, data + b"\0")),
    lambda data, rng: data.decode("utf-8", "replace").encode(rng.choice(("utf-16", "cp1252", "utf-32")), "replace"),
)  # fmt: skip


def json_damaged(data: bytes, rng: random.Random) -> bytes:
    """One value exchanged, lost, renamed, doubled or buried deep."""
    whole = json.loads(data)
    holder, key = rng.choice(_places(whole))
    way = rng.random()
    if way < 0.5:
        holder[key] = rng.choice(ODD_VALUES)
    elif way < 0.6:
        del holder[key]
    elif way < 0.7:
        other, place = rng.choice(_places(whole))
        holder[key] = json.loads(json.dumps(other[place]))
    elif way < 0.8 and isinstance(holder, dict):
        holder[rng.choice((*ODD_TEXTS, *holder))] = holder.pop(key)
    else:
        holder[key] = "\0nested"
    text = json.dumps(whole, indent=rng.choice((None, 2)), ensure_ascii=rng.random() < 0.5)
    deep = rng.choice((50, 1000, 100_000))
    text = text.replace('"\\u0000nested"', "[" * deep + "]" * deep)
    if rng.random() < 0.1:
        text = text.replace("{", '{"format": 2, "format": 1,', 1)
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Everything that stands in lists and tables, by what holds it."""
    found: list[tuple[Any, Any]] = []
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += _places(value[key])
    return found


def toml_damaged(data: bytes, rng: random.Random) -> bytes:
    """A value, a key or a heading exchanged, lost or doubled."""
    lines = data.decode().split("\n")
    at = rng.choice([place for place, line in enumerate(lines) if line.strip()])
    line, way = lines[at], rng.random()
    if " = " in line and way < 0.6:
        lines[at] = line.partition(" = ")[0] + " = " + rng.choice(TOML_VALUES)
    elif way < 0.7:
        lines[at] = rng.choice(lines)
    elif way < 0.8:
        del lines[at]
    elif way < 0.9:
        lines.insert(
            at, rng.choice((line, "[columns.name]", f"extra = {rng.choice(TOML_VALUES)}", "[publish]", "[refine]"))
        )
    else:
        lines[at] = line.replace(
            rng.choice(("name", "age", "=", "[", '"', "k")), rng.choice(("nmae", "", "[[", "é", "a.b"))
        )
    return "\n".join(lines).encode()


def cells_damaged(data: bytes, rng: random.Random) -> bytes:
    """Cells of a CSV file exchanged, its columns moved, doubled or lost; quotes where they are needed, mostly."""
    delimiter = b";" if data.count(b";") > data.count(b",") else b","
    rows = [line.split(delimiter) for line in data.rstrip(b"\n").split(b"\n")]
    for _ in range(rng.choice((1, 1, 5))):
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = _cell(rng)
    if rng.random() < 0.3:
        at, way = rng.randrange(len(rows[0])), rng.randrange(3)
        for row in rows:
            if at < len(row):
                row[at : at + 1] = [[row[at]] * 2, [], [b""]][way]
    return b"\n".join(delimiter.join(row) for row in rows) + rng.choice((b"\n", b"", b"\r\n", b"\n\n"))


def _cell(rng: random.Random) -> bytes:
    text = rng.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
    return b'"' + text.replace(b'"', b'""') + b'"' if rng.random() < 0.7 else text


def frame_damaged(frame: pl.DataFrame, rng: random.Random, *, nested: bool) -> pl.DataFrame:
    """Columns of other types, with odd cells, lost, renamed or doubled rows."""
    for name in rng.sample(frame.columns, rng.choice((1, 1, 2))):
        made = [_column(frame[name], rng, nested=nested)]
        frame = frame.with_columns(
            pl.Series(name, made[0], strict=False) if isinstance(made[0], list) else made[0].alias(name)
        )
    if rng.random() < 0.2:
        frame = frame.drop(rng.choice(frame.columns))
    if rng.random() < 0.2:
        old, new = rng.choice(frame.columns), rng.choice([text for text in ODD_TEXTS if "\ud800" not in text])
        frame = frame if new in frame.columns else frame.rename({old: new[:200]})
    if rng.random() < 0.1:
        frame = frame.head(rng.choice((0, 1, 2)))
    return frame


def _column(series: pl.Series, rng: random.Random, *, nested: bool) -> Any:
    n = len(series)
    rows, texts = range(n), [text for text in ODD_TEXTS if "\ud800" not in text]
    plain: list[Any] = [
        [rng.choice(texts) for _ in rows],
        [None] * n,
        [rng.choice((0, -1, 2**63 - 1, -(2**63))) for _ in rows],
        [rng.choice((0.5, -0.0, 1e308, float("nan"), float("inf"))) for _ in rows],
        [row % 2 == 0 for row in rows],
        [b"\xff\x00" if row % 2 else None for row in rows],
        [str(cell) if row % 2 else None for row, cell in enumerate(series)],
    ]
    if not nested:
        return rng.choice(plain)
    odd: list[Any] = [
        [date(1, 1, 1) + timedelta(days=row * 9999) for row in rows],
        [datetime(2020, 1, 1, 0, 0, 0, row) for row in rows],
        [timedelta(seconds=row) for row in rows],
        [[row, None] for row in rows],
        [{"a": row} for row in rows],
        [Decimal(row) / 3 for row in rows],
        pl.Series([2**64 - 1] * n, dtype=pl.UInt64),
        pl.Series(["a"] * n, dtype=pl.Categorical),
        pl.Series([None] * n, dtype=pl.Null),
        pl.Series([2**100] * n, dtype=pl.Int128),
        pl.Series([1] * n, dtype=pl.Int8),
        pl.Series([0.1] * n, dtype=pl.Float32),
    ]
    return rng.choice(plain + odd)
