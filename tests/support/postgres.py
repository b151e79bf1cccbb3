"""A throw-away PostgreSQL server on the loopback interface, for tests."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

USER = "shoal_tests"


@contextmanager
def server() -> Iterator[str]:
    """Start a server with an empty database and give its uri; skips where PostgreSQL is not installed."""
    programs = _programs()
    if programs is None:
        _missing("PostgreSQL (initdb, pg_ctl) is not installed: run `make system`")
    # A short path: the name of a unix socket has at most some 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        as_user = _as_user(folder)
        data = folder / "data"
        _run([*as_user, programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"], folder)
        port = _start([*as_user, programs / "pg_ctl", "-D", data], folder)
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            _run([*as_user, programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def databases() -> Iterator[Callable[[], str]]:
    """Start a server, and give a way to new databases in it, each by its uri."""
    from pg8000.dbapi import connect

    with server() as url:
        place, numbers = urlsplit(url), itertools.count(1)

        def new() -> str:
            name = f"shoal_{next(numbers)}"
            connection = connect(USER, host=place.hostname, port=place.port, database="postgres")
            connection.autocommit = True
            connection.cursor().execute(f"CREATE DATABASE {name}")
            connection.close()
            return url.removesuffix("postgres") + name

        yield new


def _programs() -> Path | None:
    """Folder of the server programs, of the newest version."""
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    folders = sorted(versions, key=lambda folder: float(folder.parent.name), reverse=True)
    found = shutil.which("initdb")
    if found:
        folders.append(Path(found).resolve().parent)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


def _as_user(folder: Path) -> list[str]:
    """How to run the programs: the server refuses to run as root."""
    if os.geteuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        _missing("running as root, and there is no user `postgres` to run a PostgreSQL server")
    if not shutil.which("runuser"):
        _missing("running as root, and there is no `runuser` to run a PostgreSQL server")
    shutil.chown(folder, "postgres")
    return ["runuser", "-u", "postgres", "--"]


def _start(control: list[str | Path], folder: Path) -> int:
    """Start on a free port; another process may take it in between, so try again."""
    for _ in range(5):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -F"
        try:
            _run([*control, "-l", folder / "log", "-o", options, "-w", "-t", "60", "start"], folder)
        except subprocess.CalledProcessError:
            continue
        return port
    pytest.fail((folder / "log").read_text() if (folder / "log").exists() else "PostgreSQL does not start")


def _run(command: list[str | Path], folder: Path) -> None:
    # The server inherits the output of pg_ctl, so a pipe would never end.
    subprocess.run(command, cwd=folder, check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _missing(why: str) -> None:
    if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)
