"""The master key, and the data keys of releases that it wraps."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shoal.errors import Problem, SourceError
from shoal.release.private_files import write_outside

VARIABLE = "SHOAL_VAULT_KEY"
LENGTH = 32
NONCE = 12


class WrongKeyError(Exception):
    """A key does not open what it should."""


@dataclass(frozen=True, repr=False)
class MasterKeys:
    """The master key, and during a rotation the one before it."""

    keys: tuple[bytes, ...]

    @classmethod
    def new(cls) -> MasterKeys:
        """Draw one from the operating system."""
        return cls((secrets.token_bytes(LENGTH),))

    @classmethod
    def from_text(cls, text: str, where: str) -> MasterKeys:
        """Read keys in base 64, separated by commas or lines, the newest first."""
        words = text.replace(",", "\n").split()
        try:
            keys = tuple(base64.b64decode(word, altchars=b"-_", validate=True) for word in words)
        except ValueError:
            keys = ()
        if not keys or any(len(key) != LENGTH for key in keys):
            what = f"holds no master key: {LENGTH} bytes in base 64 are needed"
            raise SourceError(Problem(where, what, "give the file that `shoal vault init` wrote"))
        return cls(keys)

    @classmethod
    def from_file(cls, path: Path) -> MasterKeys:
        """Read them from a file that nobody else can read."""
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise SourceError(
                Problem(str(path), f"the master key cannot be read ({reason})", "check the path")
            ) from None
        if mode & 0o077:
            what = f"others may read the master key (mode {mode:o})"
            raise SourceError(Problem(str(path), what, "run: chmod 600, and rotate the key if somebody did"))
        return cls.from_text(text, str(path))

    @classmethod
    def given(cls, path: Path | None) -> MasterKeys | None:
        """Those of a file, else of the environment; None where neither has any."""
        if path is not None:
            return cls.from_file(path)
        text = os.environ.get(VARIABLE)
        return None if text is None else cls.from_text(text, VARIABLE)

    def write(self, path: Path) -> None:
        """Write them, in one step, into a file for the owner alone."""
        write_outside(path.resolve(), self.to_bytes(), "the master key")

    def to_bytes(self) -> bytes:
        """What is in their file: one in each line, the newest first."""
        return b"".join(base64.urlsafe_b64encode(key) + b"\n" for key in self.keys)

    @property
    def name(self) -> str:
        """A name for the newest, from which nothing of it can be told."""
        return _name(self.keys[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all of them."""
        return tuple(_name(key) for key in self.keys)

    def only(self, names: set[str]) -> MasterKeys:
        """Those with some names."""
        return MasterKeys(tuple(key for key in self.keys if _name(key) in names))

    def first(self, name: str) -> MasterKeys:
        """The same, with one of them as the newest."""
        return MasterKeys(tuple(sorted(self.keys, key=lambda key: _name(key) != name)))

    def wrapped(self, data_key: bytes, about: str) -> bytes:
        """A data key, encrypted by the newest, and bound to what it is about."""
        return encrypted(self.keys[0], data_key, about)

    def unwrapped(self, name: str, data: bytes, about: str) -> bytes:
        """A data key, by the key that wrapped it."""
        for key in self.keys:
            if _name(key) == name:
                return decrypted(key, data, about)
        raise WrongKeyError


def _name(key: bytes) -> str:
    return hashlib.sha256(b"shoal vault master key\0" + key).hexdigest()[:16]


def encrypted(key: bytes, data: bytes, about: str) -> bytes:
    """Data by AES-256-GCM, bound to what it is about."""
    nonce = secrets.token_bytes(NONCE)
    return nonce + AESGCM(key).encrypt(nonce, data, about.encode())


def decrypted(key: bytes, data: bytes, about: str) -> bytes:
    """The data, or an error where the key, or a byte, or what it is about is wrong."""
    try:
        return AESGCM(key).decrypt(data[:NONCE], data[NONCE:], about.encode())
    except InvalidTag:
        raise WrongKeyError from None


def digest(key: bytes, text: str) -> str:
    """A name for a text that only the owner of a key can form."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
