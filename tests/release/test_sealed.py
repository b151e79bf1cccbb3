"""Encrypted files of the holder: what docs/publish.md and docs/republish.md say of them, one after the other."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.release import sealed
from shoal.release.sealed import HEADER, HIGHEST_COST, KEY, STATE
from support.failing_moves import failing_moves

PASSPHRASE = "several unrelated words"
CHEAP = (4, 8, 1)
FRAME = pl.DataFrame({"age": [31, 32, 33, 34], "disease": ["flu", "flu", "ulcer", "ulcer"]})
SCHEMA = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])


@pytest.fixture(autouse=True)
def cheap_keys(monkeypatch):
    monkeypatch.setattr(sealed, "COST", CHEAP)


@pytest.fixture
def release():
    aliases = shoal.Aliases("disease", default=2)
    return shoal.anonymize(FRAME, SCHEMA, shoal.Mdav(k=2), publish=aliases, seed=1 << 70)


def written(path: Path, content: bytes = b"what aliases stand for") -> Path:
    KEY.write(path, content, PASSPHRASE)
    return path


# -- secret and whole --------------------------------------------------------------------------------------------------


def test_the_content_is_aes_256_gcm_under_a_key_of_scrypt(tmp_path):
    """As anybody would open it who has the passphrase, and the docs."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    data = written(tmp_path / "one.key").read_bytes()
    magic, version, log_n, r, p, salt, nonce = HEADER.unpack_from(data)
    assert (magic, version, (log_n, r, p)) == (b"SHOALKEY\0\0", 1, CHEAP)
    key = Scrypt(salt=salt, length=32, n=2**log_n, r=r, p=p).derive(PASSPHRASE.encode())
    assert AESGCM(key).decrypt(nonce, data[HEADER.size :], data[: HEADER.size]) == b"what aliases stand for"


def test_a_guess_costs_128_mib(monkeypatch):
    monkeypatch.undo()
    log_n, r, _ = sealed.COST
    assert 128 * r * 2**log_n == 128 * 2**20


def test_nothing_of_a_file_can_be_changed(tmp_path):
    good = written(tmp_path / "one.key").read_bytes()
    for place in range(len(good)):
        (tmp_path / "other.key").write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(shoal.SourceError, match=r"was changed|not a key file|has format"):
            KEY.opened(tmp_path / "other.key", PASSPHRASE)
    for shorter in range(len(good)):
        (tmp_path / "other.key").write_bytes(good[:shorter])
        with pytest.raises(shoal.SourceError, match=r"was changed|not a key file"):
            KEY.opened(tmp_path / "other.key", PASSPHRASE)
    assert KEY.opened(tmp_path / "one.key", PASSPHRASE) == b"what aliases stand for"


def test_a_header_cannot_ask_for_more_than_a_machine_has(tmp_path, monkeypatch):
    log_n, r, _ = HIGHEST_COST
    assert 128 * r * 2**log_n == 512 * 2**20
    good = written(tmp_path / "one.key").read_bytes()
    monkeypatch.setattr(sealed, "_key", lambda *_: pytest.fail("a key was derived"))
    for place, most in enumerate(HIGHEST_COST, 11):
        for wrong in (0, most + 1, 255):
            (tmp_path / "one.key").write_bytes(good[:place] + bytes([wrong]) + good[place + 1 :])
            with pytest.raises(shoal.SourceError, match="the passphrase is wrong, or the file was changed"):
                KEY.opened(tmp_path / "one.key", PASSPHRASE)


def test_two_files_of_the_same_have_nothing_in_common_but_their_length(tmp_path):
    one, other = (written(tmp_path / name).read_bytes() for name in ("one.key", "other.key"))
    same = sum(a == b for a, b in zip(one[14:], other[14:], strict=True))  # after what it is, version and cost
    assert len(one) == len(other) == HEADER.size + len(b"what aliases stand for") + 16
    assert same < 8


def test_one_sort_of_file_is_not_taken_for_another(tmp_path):
    with pytest.raises(shoal.SourceError, match="is not a state file of Shoal"):
        STATE.opened(written(tmp_path / "one.key"), PASSPHRASE)


def test_nothing_of_the_content_is_in_the_file(tmp_path, release):
    release.write(tmp_path / "out", passphrase=PASSPHRASE)
    data = (tmp_path / "out.key").read_bytes()
    words = [*release.key.by_name["disease"].values, "flu", "ulcer", "disease", str(release.key.seed), PASSPHRASE]
    assert not [word for word in words if word.encode() in data]


# -- passphrases -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["", "1234567", None, 12345678, b"several words", "tab\tin it", "half \ud800 letter"])
def test_a_passphrase_is_a_text_of_at_least_8_letters(tmp_path, bad):
    path = written(tmp_path / "one.key")
    with pytest.raises(shoal.ParameterError, match="needs a text of at least 8 letters"):
        KEY.opened(path, bad)
    with pytest.raises(shoal.ParameterError, match="needs a text of at least 8 letters"):
        KEY.write(path, b"", bad)


def test_without_the_package_reading_says_which_extra(tmp_path, monkeypatch):
    path = written(tmp_path / "one.key")
    for name in ("cryptography.hazmat.primitives.ciphers.aead", "cryptography.hazmat.primitives.kdf.scrypt"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(shoal.SourceError, match=r"pip install -e '.*\[personal\]'"):
        KEY.opened(path, PASSPHRASE)
    with pytest.raises(shoal.SourceError, match=r"pip install -e '.*\[personal\]'"):
        written(tmp_path / "other.key")
    assert [one.name for one in tmp_path.iterdir()] == ["one.key"]


# -- where it stands ---------------------------------------------------------------------------------------------------


def test_it_is_readable_by_its_owner_alone(tmp_path):
    (tmp_path / "one.key").write_bytes(b"an old one, readable by all")
    (tmp_path / "one.key").chmod(0o644)
    assert written(tmp_path / "one.key").stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["one.key"]


def test_it_is_never_written_into_a_release(tmp_path, release):
    """Not even where the holder asks for it."""
    out = release.write(tmp_path / "out", passphrase=PASSPHRASE)
    with pytest.raises(shoal.SourceError, match="the key would lie inside a release"):
        release.key.write(out / "my.key", PASSPHRASE)
    with pytest.raises(shoal.SourceError, match="the key would lie inside a release"):
        release.key.write(out / "deeper" / "my.key", PASSPHRASE)
    assert sorted(path.name for path in out.iterdir()) == ["manifest.json", "table.csv"]
    assert release.key.write(tmp_path / "elsewhere" / "my.key", PASSPHRASE).is_file()


def test_a_release_whose_key_cannot_be_written_does_not_stay(tmp_path, release, monkeypatch):
    release.write(tmp_path / "out", passphrase=PASSPHRASE)
    before = {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    other = shoal.anonymize(
        FRAME, SCHEMA, shoal.Mdav(k=4), publish=shoal.Aliases("disease", default=3), seed=1 << 71
    )  # fmt: skip
    failing_moves(monkeypatch, "out.key", OSError(28, "No space left on device"))
    with pytest.raises(shoal.SourceError, match=r"out.key: cannot be written \(No space left"):
        other.write(tmp_path / "out", passphrase=PASSPHRASE, overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    failing_moves(monkeypatch, "new.key", OSError(28, "No space left on device"))
    with pytest.raises(shoal.SourceError, match=r"new.key: cannot be written .*; nothing was changed"):
        other.write(tmp_path / "new", passphrase=PASSPHRASE)
    assert not (tmp_path / "new").exists()


def test_the_key_of_another_release_is_not_replaced_by_chance(tmp_path, release):
    (tmp_path / "out.key").write_bytes(secrets.token_bytes(99))
    with pytest.raises(shoal.SourceError, match="already exists: the key of another release"):
        release.write(tmp_path / "out", passphrase=PASSPHRASE)
    assert [one.name for one in tmp_path.iterdir()] == ["out.key"]
