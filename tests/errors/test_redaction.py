"""No password in any text: whatever form an address has, wherever it stands, whichever command it is given to."""

from __future__ import annotations

import json
import os
import stat
import warnings
from pathlib import Path
from typing import get_args, get_type_hints
from urllib.parse import quote

import pytest
import typer.main
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.cli.app import app
from shoal.cli.init import _for_its_owner
from shoal.errors import Problem, ShoalWarning, SourceError
from shoal.errors.redaction import HIDDEN, all_redacted, redacted, with_variables
from shoal.table.sources import Source
from shoal.table.sources.source import PASSWORD

CANARY = "Kestrel7"
schemes = st.sampled_from(
    ["postgresql", "postgres", "POSTGRESQL", "PostgreSQL+psycopg", "postgresql+asyncpg", "mysql", "https", "s3",
     "jdbc:postgresql", "mongodb+srv", "redis", "oracle+cx_oracle"]
)  # fmt: skip
users = st.sampled_from(["", "app", "a.b-c_d", "a%40b", "app@server", "ü", "DOMAIN\\user"])
odd = st.text(st.sampled_from("abc019%:;,.!$&'()*+=~_-#?\"\\<>{}[]|^`ü§@/"), max_size=8)
hosts = st.sampled_from(["db", "db:5432", "127.0.0.1", "[::1]:5432", "h1:1,h2:2", ""])
ends = st.sampled_from(["", "/clinic", "/clinic?sslmode=require", "/a/b?x=1&y=2", "?user=app", "/db#f"])
around = st.sampled_from(
    ["{}", "cannot reach {}", "'{}' is no recipe", '("{}")', "{}: there is no such file; looked in /tmp", "<{}>",
     "a\n{}\nb", "--out={}", "/srv/{}/x", "x={}"]
)  # fmt: skip


@st.composite
def secrets(draw) -> str:
    """A password as people type it, or percent-encoded; it holds the canary."""
    raw = draw(odd) + CANARY + draw(odd)
    return quote(raw, safe="") if draw(st.booleans()) else raw


@given(schemes, users, secrets(), hosts, ends, around)
@example("postgresql", "app", f"my {CANARY}", "db", "/clinic", "cannot reach {}")
@example("postgresql", "app", f"{CANARY} at once", "db:5432", "", "{}")
def test_the_password_of_an_address(scheme, user, secret, host, end, text):
    for place in (f"{scheme}://{user}:{secret}@{host}{end}", f"{scheme}:/{user}:{secret}@{host}{end}"):
        shown = redacted(text.format(place))
        assert CANARY not in shown
        assert HIDDEN in shown
        assert redacted(shown) == shown


@pytest.mark.parametrize("address", ["postgresql:app:{}@db", "Postgres:{}@db", "postgresql+psycopg:a:{}@x@db"])
def test_an_address_without_slashes(address):
    shown = redacted(f"'{address.format(CANARY)}': does not exist")
    assert CANARY not in shown
    assert shown.endswith(f":{HIDDEN}@db': does not exist")
    assert redacted("postgresql:${PASSWORD}@db and me@example.org") == "postgresql:${PASSWORD}@db and me@example.org"


@given(schemes, users, hosts, ends, around)
@example("postgresql", "", "db:5432", "", "{}: there is no such file; looked in /tmp")
@example("postgresql", "app@server", "db:5432", "", "<{}>")
def test_what_has_no_password_stays(scheme, user, host, end, text):
    place = f"{scheme}://{user}@{host}{end}" if user else f"{scheme}://{host}{end}"
    assert redacted(text.format(place)) == text.format(place)
    known = f"{scheme}://{user}:${{DB_PASSWORD}}@{host}{end}"
    assert "${DB_PASSWORD}" in redacted(known)


named = st.sampled_from(["password", "PASSWORD", "sslpassword", "Pwd", "passwd", "DB_PASSWORD", "passphrase"])


@given(named, st.text(st.sampled_from("abc019%:;,.!$*+=~_-#?/@"), max_size=8), ends, around)
def test_passwords_by_name(name, more, end, text):
    forms = [
        f"postgresql://db/clinic?user=app&{name}={CANARY}{more}&x=1", f"host=db {name}={CANARY}{more} user=app",
        f"host=db {name} = '{CANARY} {more}'", f"Driver=x;{name}={CANARY}{more};Server=db",
        f'host=db {name}="{CANARY} {more}"', f'{{"{name}": "{CANARY}{more}"}}', f"{{'{name}': '{CANARY}'}}",
    ]  # fmt: skip
    for form in forms:
        assert CANARY not in redacted(text.format(form + end))


@pytest.mark.parametrize("cut", range(len("postgresql://app:"), len(f"postgresql://app:{CANARY}@db/x")))
def test_addresses_that_were_cut_short(cut):
    place = f"postgresql://app:{CANARY}@db/x"[:cut]
    assert CANARY[:3] not in redacted(f"got '{place}'")


@pytest.mark.parametrize(
    "text",
    [
        "mssql+pyodbc:///?odbc_connect=UID%3Da%3BPWD%3D{}%3B", "https://h/t.parquet?sv=1&sig={}", "https://h/x?api_key={}",
        "duckdb:///md:x?motherduck_token={}", "password='it''s {}'", 'password="a""{}"',
    ],
)  # fmt: skip
def test_other_forms_of_secrets(text):
    assert CANARY not in redacted(text.format(CANARY))
    assert HIDDEN in redacted(text.format(CANARY))


def test_an_address_within_an_address():
    inner = quote(f"postgresql://app:{CANARY}@db/clinic", safe="")
    assert redacted(f"http://studio/?source={inner}&x=1").endswith("%3A***%40db%2Fclinic&x=1")


@pytest.mark.parametrize(
    "text",
    [
        "read(password=): unknown", "check server, port, user and password of the uri", "age: 3 cells at rows 1, 2",
        "http://127.0.0.1:8443/x", "http://[::1]:80/x", "a:/b", "C:/data/people.csv", "me@example.org", "12:30 @ home",
        "--passphrase-file=secret.txt", "postgresql://db:5432/clinic and me@example.org", "column 'a:b@c'",
    ],
)  # fmt: skip
def test_other_texts_stay(text):
    assert redacted(text) == text


def test_errors_and_warnings_and_what_programs_read():
    place = f"postgresql://app:{CANARY}@db/clinic"
    error = SourceError(Problem(place, f"is {place}", f"write {place}", (place,)))
    assert CANARY not in str(error) + repr(error.problems)
    assert CANARY not in str(SourceError(place))
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        warnings.warn(f"{place} is slow", ShoalWarning, stacklevel=1)
    assert str(noted[0].message) == "postgresql://app:***@db/clinic is slow"
    assert CANARY not in json.dumps(all_redacted({place: [place, {"x": (place, 3, None)}]}))


@given(users.filter(lambda one: "@" not in one), secrets().filter(lambda one: "@" not in one), hosts, ends)
def test_an_address_to_be_written_down(user, secret, host, end):
    """It has variables for its passwords; with these set, it is the address again."""
    place = f"postgresql://{user}:{secret}@{host}{end}"
    kept, names = with_variables(place, "DB")
    assert CANARY not in kept
    assert names == ["DB"]
    assert kept.replace("${DB}", secret) == place
    assert with_variables(kept, "DB") == (kept, [])
    assert redacted(kept) == kept


def test_every_password_has_its_variable():
    place = f"postgresql://app:{CANARY}@db/clinic?sslpassword={CANARY}2&x=1"
    kept, names = Source(uri=place).without_password()
    assert names == [PASSWORD, f"{PASSWORD}_2"]
    assert kept.uri == f"postgresql://app:${{{PASSWORD}}}@db/clinic?sslpassword=${{{PASSWORD}_2}}&x=1"
    assert Source(path="a.csv").without_password() == (Source(path="a.csv"), [])


def test_files_with_a_secret_are_their_owners(tmp_path):
    for secret, mode in ((True, 0o600), (False, 0o644)):
        with _for_its_owner(secret=secret):
            (tmp_path / "recipe.toml").write_text("x")
        assert stat.S_IMODE((tmp_path / "recipe.toml").stat().st_mode) == mode & ~_umask()
        (tmp_path / "recipe.toml").unlink()


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


# -- every command ---------------------------------------------------------------------------------------------------


def _commands() -> dict[str, object]:
    top = typer.main.get_command(app)
    found = {}
    for name, command in top.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {key}": one for key, one in inner.items()} if inner else {name: command}
    return found


COMMANDS = _commands()
PLACE = f"postgresql://app:{CANARY}@127.0.0.1:9/clinic"
SKIPPED = {"compile", "demo", "vault serve"}  # long, or never ending; they are tried with a flag too many


def _tried(name: str) -> list[list[str]]:
    """A command with the address at places that take a text, and where none belongs; all paths of it at once."""
    arguments = [one for one in COMMANDS[name].params if one.param_type_name == "argument"]
    options = [one for one in COMMANDS[name].params if one.param_type_name == "option" and not one.is_flag]
    kinds = get_type_hints(COMMANDS[name].callback)
    of = {one.opts[0]: {kinds[one.name], *get_args(kinds[one.name])} for one in options}
    plain, paths = ["x"] * len(arguments), [flag for flag, kind in of.items() if Path in kind]
    lines = [[*plain, PLACE, f"--nonsense={PLACE}"], [*plain, "--nonsense", PLACE]]
    if name not in SKIPPED:
        lines += [[*plain[:place], PLACE, *plain[place + 1 :]] for place in range(len(plain))]
        lines += [[*plain, *(text for path in paths for text in (path, PLACE))]] if paths else []
        lines += [
            [*([PLACE] * len(plain)), flag, PLACE] for flag, kind in of.items() if str in kind and "vault" not in name
        ]
    return lines


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_command_says_a_password_that_it_was_given(name, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")  # lines are broken within addresses
    for line in _tried(name):
        status, out, err = call(*name.split(), *line)
        said = (out + err).replace("\n", "").replace("│", "").replace(" ", "")
        assert CANARY not in said, line
        assert status in (0, 2), (line, out, err)
    for one in Path().rglob("*"):
        assert CANARY not in str(one)
        kept = one.name.startswith("vault.db")  # where the name that the steward was given stands
        assert one.is_dir() or kept or CANARY not in one.read_text(errors="replace")


def test_unknown_commands(call):
    for line in ([PLACE], ["vault", PLACE], [f"--{PLACE}"], ["run", f"--k={PLACE}", PLACE]):
        status, out, err = call(*line)
        assert status == 2
        assert CANARY not in (out + err).replace("\n", "")
