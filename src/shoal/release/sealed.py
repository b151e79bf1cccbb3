"""Encrypted files of the holder: scrypt makes a key of a passphrase, AES-256-GCM keeps the content secret and whole.

The file begins with a header in clear: what it is, its version, the cost of the key, salt and nonce. The header is
authenticated with the content, so nothing of the file can be changed without being noticed.
"""

from __future__ import annotations

import secrets
import struct
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from shoal.disk.recovery import settle
from shoal.errors import ParameterError, Problem, SourceError
from shoal.machine.extras import load
from shoal.release.directories import check_outside
from shoal.release.manifest import is_release
from shoal.release.private_files import write_outside
from shoal.release.receipt import receipt_path
from shoal.spec import OfType, checked_call

VERSION = 1
HEADER = struct.Struct(">10sBBBB16s12s")
"""What it is; version; scrypt's log2 of n, r and p; salt; nonce."""
COST = (17, 8, 1)
"""Scrypt's log2 of n, r and p: 128 MiB and some tenths of a second for every guess."""
HIGHEST_COST = (19, 8, 4)
"""No file may ask for more, 512 MiB: a forged header shall not fill the memory."""
SHORTEST = 8
"""Letters of a passphrase, at least."""
of_a_file = checked_call(
    examples={"passphrase": '"several words of mine"'}, needs={"path": OfType((str, PathLike), "'holder.key'")}
)
"""For calls of users that read or write an encrypted file by its path."""


@dataclass(frozen=True)
class Sealing:
    """One sort of encrypted file."""

    magic: bytes
    """What it begins with, ten bytes."""
    what: str
    """What is in it, for errors."""
    extra: str
    """The extra of Shoal that brings what it needs."""

    def write(self, path: Path, content: bytes, passphrase: str) -> None:
        """Encrypt content into a file, whole or not at all; a place inside a release is refused."""
        write_outside(path, self.sealed(content, passphrase), f"the {self.what}")

    def opened(self, path: Path, passphrase: str) -> bytes:
        """The content of an encrypted file."""
        check_passphrase(passphrase)
        settle(path)
        try:
            data = path.read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SourceError(
                Problem(str(path), f"the {self.what} cannot be read ({reason})", "check the path")
            ) from None
        if len(data) < HEADER.size or not data.startswith(self.magic):
            what = f"is not a {self.what} file of Shoal, or is incomplete"
            raise SourceError(Problem(str(path), what, "check the path"))
        _, version, *cost, _, _ = HEADER.unpack_from(data)
        if version != VERSION:
            what = f"has format {version}, but this version of Shoal reads format {VERSION}"
            raise SourceError(Problem(str(path), what, "use the version that wrote it, or a newer one"))
        content = None
        if all(0 < given <= most for given, most in zip(cost, HIGHEST_COST, strict=True)):
            content = self._open(data[HEADER.size :], data[: HEADER.size], passphrase)
        if content is None:
            what = "the passphrase is wrong, or the file was changed"
            raise SourceError(Problem(str(path), what, "give the passphrase it was written with"))
        return content

    def check_place(self, path: Path, release: Path) -> None:
        """Refuse a file inside what is published, and a place that is no file."""
        check_outside(path, is_release, f"the {self.what}")
        place = path.resolve()
        inside = release.resolve() in (place, *place.parents)
        if inside or path.is_dir() or place == receipt_path(release).resolve():
            what = "is a directory" if path.is_dir() else "stands where the receipt of the release goes"
            what = "is inside the release, which is published" if inside else what
            fix = "choose a separate file that you do not publish"
            raise ParameterError(Problem(str(path), f"the {self.what} {what}", fix))

    def sealed(self, content: bytes, passphrase: str) -> bytes:
        """The content of an encrypted file, with its header."""
        check_passphrase(passphrase)
        cipher, _ = self._cryptography()
        salt, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
        header = HEADER.pack(self.magic, VERSION, *COST, salt, nonce)
        secret: bytes = cipher(_key(passphrase, COST, salt)).encrypt(nonce, content, header)
        return header + secret

    def _open(self, sealed: bytes, header: bytes, passphrase: str) -> bytes | None:
        """The content, or None where the passphrase or a byte is wrong: which of them, nobody can tell."""
        cipher, invalid = self._cryptography()
        _, _, *cost, salt, nonce = HEADER.unpack(header)
        try:
            content: bytes = cipher(_key(passphrase, (cost[0], cost[1], cost[2]), salt)).decrypt(nonce, sealed, header)
        except invalid:
            return None
        return content

    def check_package(self) -> None:
        """Refuse before anybody is asked for a passphrase, where what encrypts is not installed."""
        self._cryptography()

    def _cryptography(self) -> tuple[Any, type[Exception]]:
        what = f"the {self.what}"
        ciphers = load("cryptography.hazmat.primitives.ciphers.aead", extra=self.extra, what=what)
        return ciphers.AESGCM, load("cryptography.exceptions", extra=self.extra, what=what).InvalidTag


STATE = Sealing(b"SHOALSTATE", "state", "series")
"""What a series of releases must remember."""
KEY = Sealing(b"SHOALKEY\0\0", "key", "personal")
"""What aliases and grades stand for."""


def check_passphrase(passphrase: str) -> None:
    """Refuse a passphrase that is guessed at once."""
    if not isinstance(passphrase, str) or len(passphrase) < SHORTEST or not passphrase.isprintable():
        what = f"needs a text of at least {SHORTEST} letters, without control characters"
        raise ParameterError(Problem("passphrase", what, "use several unrelated words"))


def _key(passphrase: str, cost: tuple[int, int, int], salt: bytes) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    log_n, r, p = cost
    return Scrypt(salt=salt, length=32, n=2**log_n, r=r, p=p).derive(passphrase.encode())
