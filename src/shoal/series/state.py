"""What the holder must remember between releases: who was published among which sensitive values."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shoal.errors import Problem, SourceError
from shoal.methods.m_invariance import MInvariance
from shoal.release.sealed import STATE, of_a_file
from shoal.table.schema import Schema, kind_name

Ints = npt.NDArray[np.int64]
Value = str | None
"""A sensitive value as text; None for a missing one."""

FORMAT = 1
DIGEST = 16
"""Bytes of a person's keyed hash: among a billion people, two alike are not to be expected."""


@dataclass(frozen=True, repr=False)
class ReleaseMembers:
    """One release: its fingerprint, the people in it, by their place in the state, and the class of each."""

    fingerprint: str
    people: Ints
    classes: Ints


@dataclass(frozen=True, repr=False)
class SeriesState:
    """The secret of a series of releases; it belongs into an encrypted file of the holder, never beside a release.

    Whoever was published once keeps the signature for ever, also after having left: a person who comes back is put
    among the same values again. People are kept as keyed hashes of their ids.

    Attributes
    ----------
    method
        m, the id column and the sensitive column of the series.
    schema
        Fingerprint of the columns, their roles and kinds.
    key
        Key of the hashes.
    people
        Keyed hash of everybody who was ever published.
    signatures
        The sets of sensitive values that classes have had, each sorted, a missing value last.
    signature_of
        Place of each person's signature.
    releases
        Who was in which class of which release.
    """

    method: MInvariance
    schema: str
    key: bytes
    people: tuple[bytes, ...] = ()
    signatures: tuple[tuple[Value, ...], ...] = ()
    signature_of: tuple[int, ...] = ()
    releases: tuple[ReleaseMembers, ...] = ()

    @classmethod
    def begin(cls, method: MInvariance, schema: Schema) -> Self:
        """The state before the first release, with a key of its own."""
        return cls(method, schema_fingerprint(schema), secrets.token_bytes(32))

    def __repr__(self) -> str:
        return f"SeriesState(after release {len(self.releases)}, {len(self.people)} people, m={self.method.m})"

    def digests(self, ids: Sequence[str]) -> list[bytes]:
        """The keyed hash of each id."""
        return [hmac.digest(self.key, one.encode(), "sha256")[:DIGEST] for one in ids]

    def known(self) -> dict[bytes, int]:
        """Place of every person."""
        return {digest: place for place, digest in enumerate(self.people)}

    def values(self) -> list[str]:
        """All sensitive values that were ever published."""
        return sorted({value for signature in self.signatures for value in signature if value is not None})

    def memberships(self) -> list[dict[bytes, int]]:
        """For each release: the class of every person in it, for `shoal.verify_series`."""
        return [
            {self.people[person]: number for person, number in zip(one.people, one.classes, strict=True)}
            for one in self.releases
        ]

    def fingerprints(self) -> list[str]:
        """What each release was when it was made, for `shoal.verify_series`."""
        return [one.fingerprint for one in self.releases]

    def after(
        self, digests: Sequence[bytes], signatures: Sequence[tuple[Value, ...]], classes: Ints, fingerprint: str
    ) -> SeriesState:
        """The state after one more release: its people, the signature and the class of each."""
        known, people, signature_of = self.known(), list(self.people), list(self.signature_of)
        place_of = {signature: place for place, signature in enumerate(self.signatures)}
        for digest, signature in zip(digests, signatures, strict=True):
            if digest not in known:
                known[digest] = len(people)
                people.append(digest)
                signature_of.append(place_of.setdefault(signature, len(place_of)))
        places = np.array([known[digest] for digest in digests], dtype=np.int64)
        order = np.argsort(places)  # not in the order of the input
        release = ReleaseMembers(fingerprint, places[order], classes[order])
        return replace(
            self, people=tuple(people), signatures=tuple(place_of), signature_of=tuple(signature_of),
            releases=(*self.releases, release),
        )  # fmt: skip

    @of_a_file
    def write(self, path: str | Path, passphrase: str) -> Path:
        """Encrypt the state into a file, which is replaced in one step or not at all."""
        STATE.write(Path(path), self.to_bytes(), passphrase)
        return Path(path)

    @classmethod
    @of_a_file
    def read(cls, path: str | Path, passphrase: str) -> SeriesState:
        """Read a state file; a wrong passphrase, and a file that was changed or is none, give the same error."""
        return cls.from_bytes(STATE.opened(Path(path), passphrase), str(path))

    def to_bytes(self) -> bytes:
        """Everything, as compressed JSON."""
        entries = {
            "format": FORMAT,
            "method": self.method.to_mapping(),
            "schema": self.schema,
            "key": _text(self.key),
            "people": _text(b"".join(self.people)),
            "signatures": self.signatures,
            "signature_of": _text(np.array(self.signature_of, dtype="<i8").tobytes()),
            "releases": [
                {"fingerprint": one.fingerprint, "people": _text_of(one.people), "classes": _text_of(one.classes)}
                for one in self.releases
            ],
        }
        return zlib.compress(json.dumps(entries).encode())

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "state") -> SeriesState:
        """Read what `to_bytes` wrote."""
        try:
            return cls._from_entries(json.loads(zlib.decompress(content)))
        except (ValueError, KeyError, TypeError, zlib.error):
            what = "cannot be read by this version of Shoal"
            raise SourceError(Problem(where, what, "use the version that wrote it, or a newer one")) from None

    @classmethod
    def _from_entries(cls, entries: Mapping[str, Any]) -> SeriesState:
        if entries["format"] != FORMAT:
            raise ValueError
        people = _bytes(entries["people"])
        return cls(
            MInvariance(**entries["method"]),
            entries["schema"],
            _bytes(entries["key"]),
            tuple(people[place : place + DIGEST] for place in range(0, len(people), DIGEST)),
            tuple(tuple(signature) for signature in entries["signatures"]),
            tuple(_ints(entries["signature_of"]).tolist()),
            tuple(
                ReleaseMembers(one["fingerprint"], _ints(one["people"]), _ints(one["classes"]))
                for one in entries["releases"]
            ),
        )


def schema_fingerprint(schema: Schema) -> str:
    """SHA-256 of names, roles and kinds; a hierarchy may change, for it does not touch the equivalence classes."""
    columns = sorted((column.name, column.role, kind_name(column.kind) or "") for column in schema)
    return hashlib.sha256(json.dumps([columns, schema.rest]).encode()).hexdigest()


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _text_of(numbers: Ints) -> str:
    return _text(np.ascontiguousarray(numbers, dtype="<i8").tobytes())


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _ints(text: str) -> Ints:
    return np.frombuffer(_bytes(text), dtype="<i8").astype(np.int64)
