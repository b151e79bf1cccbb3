"""The structures inside a Parquet file, read byte by byte: Thrift's compact protocol, in its one shortest form.

A reader of the usual kind passes over fields it does not know and takes numbers written with more bytes than they need.
Either could carry a message. Here a field has to be known, in its place, of its type, and as short as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shoal.errors import GuaranteeError, Problem, Problems


@dataclass(frozen=True)
class WholeField:
    """A whole number of so many bits."""

    code: int
    bits: int


@dataclass(frozen=True)
class Flag:
    """A truth value; it is in the code of its field."""


@dataclass(frozen=True)
class TextField:
    """Bytes after their number."""

    code: int = 8


@dataclass(frozen=True)
class Many:
    """A list of one kind."""

    of: WholeField | TextField | Shape
    code: int = 9


@dataclass(frozen=True)
class Shape:
    """A structure: its fields by number, and what is said of others.

    Parameters
    ----------
    name
        What complaints call it.
    fields
        Number to name and kind.
    varying
        Fields that some structures of this shape have and others lack; whoever asks for the structure knows which.
    habits
        Fields that some versions of a writer write and others do not: in all structures of a file, or in none.
    refused
        Numbers of fields that the format knows and no release has, and what they hold.
    """

    name: str
    fields: dict[int, tuple[str, WholeField | Flag | TextField | Many | Shape]]
    varying: frozenset[str] = frozenset()
    habits: frozenset[str] = frozenset()
    refused: dict[int, str] = field(default_factory=dict)
    code: int = 12

    @cached_property
    def needed(self) -> frozenset[str]:
        """Fields that every structure of this shape has."""
        return frozenset(name for name, _ in self.fields.values()) - self.varying - self.habits


Kind = WholeField | Flag | TextField | Many | Shape
Habits = dict[str, frozenset[str]]
"""By name of a shape, what its first structure had of what only some writers write."""

I16 = WholeField(4, 16)
I32 = WholeField(5, 32)
I64 = WholeField(6, 64)
FLAG = Flag()
TEXT = TextField()
EMPTY = Shape("mark", {})

_DEEPEST = 12
_TRUE, _FALSE = 1, 2


class Reader:
    """Reads structures from one place of a file, and remembers where it is.

    Parameters
    ----------
    data
        The whole file.
    at
        Where to begin.
    end
        The first byte that is not to be read.
    where
        What complaints call this place.
    habits
        What the structures read before have of what only some writers write; it is filled here.
    """

    def __init__(self, data: bytes, at: int, end: int, where: str, habits: Habits) -> None:
        self.data, self.at, self.end, self.where = data, at, end, where
        self._habits = habits
        self._notes: dict[str, None] = {}

    def read(self, shape: Shape) -> dict[str, Any]:
        """Read one structure, and refuse it for all that is wrong with its fields."""
        found = self._struct(shape)
        problems = Problems()
        for note in self._notes:
            problems.add(self.where, note)
        problems.raise_if_any(GuaranteeError)
        return found

    def _struct(self, shape: Shape) -> dict[str, Any]:
        found: dict[str, Any] = {}
        number = 0
        while header := self._byte():
            number += self._step(header)
            name, kind = shape.fields.get(number, ("", None))
            if kind is None:
                self._note(f"holds {shape.refused.get(number, f'a field that no {shape.name} has')}")
                self._skip(header & 15, 0)
            else:
                found[name] = self._value(kind, header & 15)
        self._check_names(shape, found)
        return found

    def _check_names(self, shape: Shape, found: dict[str, Any]) -> None:
        if not shape.needed <= found.keys():
            self._note(f"lacks a field that every {shape.name} has")
        habits = shape.habits & found.keys()
        if self._habits.setdefault(shape.name, habits) != habits:
            self._note(f"has fields in one {shape.name} that are not in another")

    def _value(self, kind: Kind, code: int) -> Any:
        if isinstance(kind, Flag):
            if code not in (_TRUE, _FALSE):
                raise self._refusal("has a field of another type than expected")
            return code == _TRUE
        if code != kind.code:
            raise self._refusal("has a field of another type than expected")
        if isinstance(kind, WholeField):
            return self._whole(kind.bits)
        if isinstance(kind, TextField):
            return self._text()
        if isinstance(kind, Many):
            return self._list(kind)
        return self._struct(kind)

    def _list(self, kind: Many) -> list[Any]:
        n, code = self._list_header()
        if code != kind.of.code:
            raise self._refusal("has a list of another type than expected")
        return [self._value(kind.of, code) for _ in range(n)]

    def _list_header(self) -> tuple[int, int]:
        header = self._byte()
        n = header >> 4
        if n == 15:
            n = self._varint()
            if n < 15:
                raise self._refusal("has a number that is longer than it needs to be")
        if n > self.end - self.at:
            raise self._refusal("is cut short")
        return n, header & 15

    def _skip(self, code: int, depth: int) -> None:
        """Pass over a value that is refused already, so that what comes after can be complained about too."""
        if depth > _DEEPEST or code not in (_TRUE, _FALSE, 3, 4, 5, 6, 8, 9, 12):
            raise self._refusal("holds a field that is not known")
        if code == 3:
            self._byte()
        elif code in (4, 5, 6):
            self._varint()
        elif code == TEXT.code:
            self._text()
        elif code == 9:
            n, inner = self._list_header()
            if inner in (_TRUE, _FALSE):  # not in any field that the format knows
                raise self._refusal("holds a field that is not known")
            for _ in range(n):
                self._skip(inner, depth + 1)
        elif code == EMPTY.code:
            while header := self._byte():
                self._skip(header & 15, depth + 1)

    def _step(self, header: int) -> int:
        """How far the number of a field is from the one before; zero would announce a number of its own."""
        if not header >> 4:
            raise self._refusal("holds a field that is not known")
        return header >> 4

    def _whole(self, bits: int) -> int:
        value = self._varint()
        if value >> bits:
            raise self._refusal("has a number out of its range")
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            if shift > 63:
                raise self._refusal("has a number out of its range")
        if not byte and shift > 7:
            raise self._refusal("has a number that is longer than it needs to be")
        return value

    def _text(self) -> bytes:
        n = self._varint()
        if n > self.end - self.at:
            raise self._refusal("is cut short")
        self.at += n
        return self.data[self.at - n : self.at]

    def _byte(self) -> int:
        if self.at >= self.end:
            raise self._refusal("is cut short")
        self.at += 1
        return self.data[self.at - 1]

    def _note(self, what: str) -> None:
        """Note what is wrong without stopping here; once is enough."""
        self._notes[what] = None

    def _refusal(self, what: str) -> GuaranteeError:
        return GuaranteeError(Problem(self.where, what))


def differing(shape: Shape, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Names of the fields that are not as expected; one that only some writers write may be absent."""
    names = (expected.keys() | found.keys()) - (shape.habits - found.keys())
    return sorted(name for name in names if name not in found or found[name] != expected.get(name))
