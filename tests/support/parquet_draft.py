"""Parquet files built by hand, piece by piece, so that a test can hide something in one piece and keep the rest right.

`draft()` gives a file of three columns and eleven rows, the very bytes that pyarrow writes. Offsets and sizes are
worked out when the bytes are asked for, after all changes: whatever was hidden, the file is consistent around it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

TABLE = pl.DataFrame(
    {
        "town": ["Ulm", "Bonn", "Ulm", None, "Köln", "Bonn", "Ulm", "Bonn", "Köln", "Köln", "Ulm"],
        "age": [40] * 11,
        "flag": [True, None, False, True, True, False, False, True, True, True, None],
    }
)

I16, I32, I64, TEXT, LIST, STRUCT = 4, 5, 6, 8, 9, 12
TRUE, FALSE = (1, b""), (2, b"")
Value = tuple[int, bytes]
"""A type of Thrift's compact protocol, and the bytes of a value."""
Fields = dict[int, Value]


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else ~number << 1 | 1)


def i16(number: int) -> Value:
    return I16, zigzag(number)


def i32(number: int) -> Value:
    return I32, zigzag(number)


def i64(number: int) -> Value:
    return I64, zigzag(number)


def text(content: bytes) -> Value:
    return TEXT, varint(len(content)) + content


def struct(fields: Fields | None = None) -> Value:
    return STRUCT, encode(fields or {})


def many(code: int, items: list[Value]) -> Value:
    n = len(items)
    header = bytes([n << 4 | code]) if n < 15 else bytes([0xF0 | code]) + varint(n)
    return LIST, header + b"".join(content for _, content in items)


def encode(fields: Fields) -> bytes:
    """A structure, its fields in the order of their numbers."""
    out, last = b"", 0
    for number in sorted(fields):
        code, content = fields[number]
        step = number - last
        head = bytes([step << 4 | code]) if step < 16 else bytes([code]) + zigzag(number)
        out, last = out + head + content, number
    return out + b"\0"


@dataclass
class Page:
    """A page: its own header (field 5 or 7 of the header of all pages), further fields of the latter, and the body."""

    type: int
    own: Fields
    body: bytes
    header: Fields = field(default_factory=dict)

    def encode(self) -> bytes:
        sizes = {1: i32(self.type), 2: i32(len(self.body)), 3: i32(len(self.body))}
        return encode(sizes | {5 if self.type == 0 else 7: struct(self.own)} | self.header) + self.body


@dataclass
class Chunk:
    """A column of a row group; `gap` stands before its pages, `middle` between them."""

    name: str
    type: int
    pages: list[Page]
    encodings: list[int]
    sizes: Fields
    n_rows: int = 11
    gap: bytes = b""
    middle: bytes = b""
    meta: Fields = field(default_factory=dict)
    place: Fields = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)

    def encode(self, at: int) -> tuple[bytes, Value, int]:
        """The bytes of its pages, its part of the footer, and its size."""
        start = at + len(self.gap)
        pages = [page.encode() for page in self.pages]
        content = self.middle.join(pages)
        size = len(content)
        stats = [(0, 0)] if len(pages) == 1 else [(2, 0)] + [(0, 8)] * (len(pages) - 1)
        meta = {
            1: i32(self.type),
            2: many(I32, [i32(encoding) for encoding in self.encodings]),
            3: many(TEXT, [text(self.name.encode())]),
            4: i32(0),
            5: i64(self.n_rows),
            6: i64(size),
            7: i64(size),
            9: i64(start + size - len(pages[-1]) if pages else start),
            13: many(STRUCT, [struct({1: i32(page), 2: i32(kind), 3: i32(1)}) for page, kind in stats]),
            16: struct(self.sizes),
        }
        if len(pages) > 1:
            meta[11] = i64(start)
        meta = {number: value for number, value in (meta | self.meta).items() if number not in self.left_out}
        place = {2: i64(0), 3: struct(meta)} | self.place
        return self.gap + content, struct(place), size


@dataclass
class Draft:
    """A whole file."""

    groups: list[list[Chunk]]
    elements: list[Fields]
    n_rows: int = 11
    rows_of_groups: list[int] = field(default_factory=lambda: [11])
    created_by: bytes = b"parquet-cpp-arrow version 26.0.1"
    group: Fields = field(default_factory=dict)
    footer: Fields = field(default_factory=dict)
    before_footer: bytes = b""
    in_footer: bytes = b""
    root: Fields = field(default_factory=dict)

    def encode(self) -> bytes:
        out, groups = b"PAR1", []
        for number, chunks in enumerate(self.groups):
            start, places, total = len(out) + len(chunks[0].gap), [], 0
            for chunk in chunks:
                content, place, size = chunk.encode(len(out))
                out, places, total = out + content, [*places, place], total + size
            found = {1: many(STRUCT, places), 2: i64(total), 3: i64(self.rows_of_groups[number])}
            groups.append(struct(found | {5: i64(start), 6: i64(total)} | self.group))
        out += self.before_footer
        footer = encode(self._footer(groups)) + self.in_footer
        return out + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    def _footer(self, groups: list[Value]) -> Fields:
        root = {3: i32(0), 4: text(b"schema"), 5: i32(len(self.elements))} | self.root
        fields = {
            1: i32(2),
            2: many(STRUCT, [struct(element) for element in [root, *self.elements]]),
            3: i64(self.n_rows),
            4: many(STRUCT, groups),
            6: text(self.created_by),
            7: many(STRUCT, [struct({1: struct()}) for _ in self.elements]),
        }
        return fields | self.footer


def dictionary(entries: int, body: bytes) -> Page:
    return Page(2, {1: i32(entries), 2: i32(0), 3: FALSE}, body)


def cells(encoding: int, body: bytes, n_rows: int = 11) -> Page:
    return Page(0, {1: i32(n_rows), 2: i32(encoding), 3: i32(3), 4: i32(3), 5: struct()}, body)


def levels(runs: bytes) -> bytes:
    return len(runs).to_bytes(4, "little") + runs


def texts(*entries: bytes) -> bytes:
    return b"".join(len(entry).to_bytes(4, "little") + entry for entry in entries)


TOWNS = texts(b"Ulm", b"Bonn", "Köln".encode())
# Ten towns are there, two groups of eight: 0 1 0 2 1 0 1 2 | 2 0, two bits each.
TOWN_LEVELS = bytes([2 << 1 | 1, 0b11110111, 0b00000111])
TOWN_RUNS = bytes([2, 2 << 1 | 1, 0b10_00_01_00, 0b10_01_00_01, 0b00_10, 0])
ALL_THERE = bytes([11 << 1, 1])
AGE_RUNS = bytes([1, 11 << 1, 0])
FLAG_LEVELS = bytes([2 << 1 | 1, 0b11111101, 0b00000011])
FLAGS = bytes([0b11001101, 0b1])


def draft() -> Draft:
    """The file of `TABLE`."""
    there = {2: many(I64, [])}
    town = Chunk(
        "town", 6, [dictionary(3, TOWNS), cells(8, levels(TOWN_LEVELS) + TOWN_RUNS)], [0, 3, 8],
        there | {1: i64(39), 3: many(I64, [i64(1), i64(10)])},
    )  # fmt: skip
    age = Chunk(
        "age", 2, [dictionary(1, (40).to_bytes(8, "little")), cells(8, levels(ALL_THERE) + AGE_RUNS)], [0, 3, 8],
        there | {3: many(I64, [i64(0), i64(11)])},
    )  # fmt: skip
    flag = Chunk("flag", 0, [cells(0, levels(FLAG_LEVELS) + FLAGS)], [3, 0], there | {3: many(I64, [i64(2), i64(9)])})
    string = {1: i32(6), 3: i32(1), 4: text(b"town"), 6: i32(0), 10: struct({1: struct()})}
    number = {1: i32(2), 3: i32(1), 4: text(b"age")}
    truth = {1: i32(0), 3: i32(1), 4: text(b"flag")}
    return Draft([[town, age, flag]], [string, number, truth])
