"""`shoal vault`: the trusted server, and what its steward does."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.careful import CarefulGroup
from shoal.cli.opened_vault import (
    check_packages,
    database_at,
    database_there,
    default_key_file,
    password_in,
    service_of,
    shares,
    who_runs,
)
from shoal.cli.show import say
from shoal.errors import counted

vault = typer.Typer(
    name="vault",
    cls=CarefulGroup,
    help="Keep the keys of releases, and interpret results for researchers who may ask.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

DATABASE, KEY_FILE = "SHOAL_VAULT_DATABASE", "SHOAL_VAULT_KEY_FILE"
DatabaseOption = Annotated[
    str, typer.Option("--database", envvar=DATABASE, help="A file for SQLite, or postgresql://USER@HOST/NAME.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", envvar=KEY_FILE, help="File with the master key; else SHOAL_VAULT_KEY holds it."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Release = Annotated[str, typer.Option("--release", help="Name of the release in the vault.")]
PasswordFile = Annotated[
    Path | None, typer.Option("--password-file", help="File with a password to sign in with, besides the token.")
]


@vault.callback()
def _one_change(context: typer.Context) -> None:
    """Whatever a command changes in a vault is the end of its work; a server goes on."""
    from shoal.disk.stopping import ends_here

    if context.invoked_subcommand != "serve":
        context.with_resource(ends_here())


@vault.command("init")
def init(
    database: DatabaseOption = "vault.db",
    key_file: Annotated[Path, typer.Option("--key-file", envvar=KEY_FILE, help="New file for the master key.")] = Path(
        "vault.key"
    ),
    steward: Annotated[str, typer.Option("--steward", help="Name of the first steward.")] = "steward",
    password_file: PasswordFile = None,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Bring the tables of a vault to this version.")] = False,
    json: Json = False,
) -> None:
    """Make a new vault: its tables, its master key, its first steward."""
    from shoal.cli import show
    from shoal.errors import ParameterError, Problem

    check_packages()
    from shoal.vault.making import make_vault

    if upgrade:
        opened = database_there(database, "leave --upgrade out to make one")
        if not opened.has_vault():
            raise ParameterError(Problem(opened.shown, "is no vault", "leave --upgrade out to make one"))
        opened.migrate()
        say(f"{opened.shown}: has the tables of this version.")
        return
    place, token = make_vault(database, key_file, steward, password_in(password_file))
    if json:
        show.as_json({"database": place, "key_file": str(key_file), "steward": steward, "token": token})
        return
    say(f"Vault in {place}.")
    say(f"Master key in {key_file}: keep a copy elsewhere, apart from the database and its backups.")
    _show_token(steward, token)
    flags = "" if database in ("vault.db", os.environ.get(DATABASE)) else f" --database {shlex.quote(database)}"
    if str(key_file) not in ("vault.key", os.environ.get(KEY_FILE)):
        flags += f" --key-file {shlex.quote(str(key_file))}"
    say(f"Next, put a release with aliases or grades into it: shoal vault add-release RELEASE{flags}")


@vault.command("serve")
def serve(
    database: DatabaseOption = "vault.db",
    key_file: KeyFile = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen at.")] = 8443,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Key of the certificate, PEM.")] = None,
    behind_proxy: Annotated[bool, typer.Option("--behind-proxy", help="A proxy before it speaks TLS.")] = False,
    proxies: Annotated[str, typer.Option("--proxies", help="Addresses of such proxies.")] = "127.0.0.1",
    requests: Annotated[int, typer.Option("--requests", min=1, help="Requests of one person a minute.")] = 600,
    sealed: Annotated[bool, typer.Option("--sealed", help="Wait for a steward to give the master key.")] = False,
) -> None:
    """Serve a vault. Without a master key it stays sealed until a steward gives it."""
    from shoal.disk.stopping import Stopped
    from shoal.vault.limiting import Limits
    from shoal.vault.server import Serving
    from shoal.vault.server import serve as run

    service = service_of(database, key_file, sealed=sealed)
    try:
        run(service, Serving(host, port, tls_cert, tls_key, behind_proxy, proxies), Limits(requests=requests))
    except Stopped as stopped:  # it has answered all that it had begun
        typer.echo("stopped; the vault is closed", err=True)
        raise typer.Exit(stopped.status) from None


@vault.command("add-release")
def add_release(
    folder: Annotated[Path, typer.Argument(help="The release directory.")],
    key: Annotated[Path | None, typer.Option("--key", help="Its key file; else FOLDER.key beside it.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Its name in the vault; else that of the directory.")
    ] = None,
    min_support: Annotated[
        str,
        typer.Option("--min-support", metavar="SHARE", help="Share of rows that a rule needs, above 0 and up to 1."),
    ] = "0.01",
    min_confidence: Annotated[
        str, typer.Option("--min-confidence", metavar="SHARE", help="Confidence that a rule needs, such as 0.5.")
    ] = "0.5",
    passphrase_file: Annotated[
        Path | None, typer.Option("--passphrase-file", help="File with the passphrase of the key.")
    ] = None,
    database: DatabaseOption = "vault.db",
    key_file: KeyFile = None,
) -> None:
    """Put the rows and the key of a release into the vault."""
    from shoal.cli.passphrase import passphrase
    from shoal.errors import ParameterError, Problem
    from shoal.published.release import read_release
    from shoal.release.key import Key, key_path

    given_shares = shares({"min_support": min_support, "min_confidence": min_confidence})
    service = service_of(database, key_file)
    release = read_release(folder)
    if not release.manifest.layout.hidden:
        none = "hides no column, so there is nothing to interpret"
        raise ParameterError(Problem(str(folder), none, "give a release with aliases or grades"))
    held = Key.read(key or key_path(folder), passphrase(passphrase_file, new=False, what="key"))
    release.verify(key=held)
    given = name or folder.resolve().name
    service.add_release(who_runs(), given, release, held, **given_shares)
    say(f"Release {given!r} is in the vault. Its key file can now be kept offline.")


@vault.command("add-researcher")
def add_researcher(
    name: Annotated[str, typer.Argument(help="Name to know the person by.")],
    steward: Annotated[bool, typer.Option("--steward", help="A further steward instead.")] = False,
    password_file: PasswordFile = None,
    renew: Annotated[bool, typer.Option("--renew", help="A new token for somebody who is there already.")] = False,
    database: DatabaseOption = "vault.db",
    json: Json = False,
) -> None:
    """Add somebody who may ask; the token is shown once."""
    from shoal.cli import show
    from shoal.errors import ParameterError, Problem
    from shoal.vault.people import add_person, renew_token

    if renew and (steward or password_file is not None):
        other = "--steward" if steward else "--password-file"
        raise ParameterError(Problem("--renew", f"gives a new token and nothing else, so {other} does not go with it"))
    with service_of(database, None, sealed=True).changing() as ledger:
        if renew:
            token = renew_token(ledger, who_runs(), name)
        else:
            role = "steward" if steward else "researcher"
            token = add_person(ledger, who_runs(), name, role, password_in(password_file))
    if json:
        show.as_json({"name": name, "token": token})
        return
    _show_token(name, token)


@vault.command("grant")
def grant(
    name: Annotated[str, typer.Argument(help="The researcher.")],
    release: Release,
    column: Annotated[str, typer.Option("--column", help="The hidden column.")],
    budget: Annotated[int, typer.Option("--budget", help="How many of its cells she may know in all.")],
    operation: Annotated[str, typer.Option("--operation", help="rules, or values for single cells.")] = "rules",
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="For how long.")] = 90,
    database: DatabaseOption = "vault.db",
) -> None:
    """Allow a researcher to have a column interpreted; replaces what she was allowed before."""
    from shoal.vault import grants

    with service_of(database, None, sealed=True).changing() as ledger:
        expires = ledger.now + days * 86_400_000_000
        grants.grant(ledger, who_runs(), name, release, column, operation, budget, expires)
    say(f"{name} may know {counted(budget, 'cell')} of {column!r} in {release!r}, for {counted(days, 'day')}.")


@vault.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(help="The researcher.")],
    release: Annotated[
        str | None, typer.Option("--release", help="Of this release only; else she is let in no more.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="Of this column only.")] = None,
    operation: Annotated[str | None, typer.Option("--operation", help="Of this operation only.")] = None,
    database: DatabaseOption = "vault.db",
) -> None:
    """Take grants back, or let somebody in no more."""
    from shoal.errors import ParameterError, Problem
    from shoal.vault import grants, people

    if release is None and (column is not None or operation is not None):
        narrower = "--operation" if column is None else "--column"
        what = f"says which grant to take back, and needs --release: without it {name} would be let in no more"
        raise ParameterError(Problem(narrower, what, f"give --release, or leave {narrower} out"))
    with service_of(database, None, sealed=True).changing() as ledger:
        if release is None:
            people.remove_person(ledger, who_runs(), name)
            done = f"{name} is let in no more."
        else:
            n_grants = grants.revoke(ledger, who_runs(), name, release, column, operation)
            done = f"Revoked: {counted(n_grants, 'grant')} of {name}."
    say(done)


@vault.command("list")
def list_all(database: DatabaseOption = "vault.db", json: Json = False) -> None:
    """Show releases, people and grants."""
    from shoal.cli import show
    from shoal.vault import grants, people

    service = service_of(database, None, sealed=True)
    with service.reading() as connection:
        persons = people.listed(connection)
        given = grants.listed(connection)
    found = {"releases": service.released(), "people": persons, "grants": given}
    if json:
        show.as_json(found)
        return
    out = show.console()
    for one in found["releases"]:
        hidden = ", ".join(f"{column['name']} ({column['cells']:,} {column['form']})" for column in one["columns"])
        out.print(f"release  {one['name']}: {counted(one['rows'], 'row')}; hidden: {hidden}", markup=False)
    for one in persons:
        out.print(f"{one['role']:8} {one['name']}{'' if one['active'] else ' (no longer)'}", markup=False)
    for one in given:
        what = f"{counted(one['budget'], 'cell')} of {one['column']!r} in {one['release']!r} by {one['operation']}"
        out.print(f"grant    {one['name']}: {what}, until {_day(one['expires'])} ({one['state']})", markup=False)


@vault.command("audit")
def audit(
    verify: Annotated[bool, typer.Option("--verify", help="Follow the log from its first entry to its end.")] = False,
    kept: Annotated[
        str | None,
        typer.Option("--kept", help="Hash of an entry that you kept elsewhere; looks for it, as --verify does."),
    ] = None,
    search: Annotated[str | None, typer.Option("--search", help="Only entries with this word.")] = None,
    database: DatabaseOption = "vault.db",
    json: Json = False,
) -> None:
    """Show the last hundred entries of the audit log, or check all of it; exit status 1 if it is broken."""
    from shoal.cli import show
    from shoal.errors import GuaranteeError, Problems
    from shoal.vault.audit import entries

    service = service_of(database, None, sealed=True)
    if verify or kept is not None:
        found = service.verify_audit(None if kept is None else kept.strip().lower())
        problems, fix = Problems(), "restore a backup, and ask why"
        if found.broken:
            problems.add("audit log", f"is broken at entry {', '.join(map(str, found.broken[:10]))}", fix)
        if found.lacks_kept:
            what = "has no entry with the hash that you kept"
            problems.add("audit log", what, f"look for mistakes of typing; if it is right, entries are gone: {fix}")
        problems.raise_if_any(GuaranteeError)
        if json:
            told = {"ahead": found.ahead, "trusted": found.trusted}
            show.as_json({"whole": True, "entries": found.entries, "head": found.head, **told})
        else:
            if found.ahead:
                say(f"The clock was ahead: {counted(found.ahead, 'entry is', 'entries are')} later than it is now.")
            say(
                f"The audit log is whole: {counted(found.entries, 'entry', 'entries')}. Its last hash, "
                "to be kept elsewhere:"
            )
            say(found.head)
        return
    with service.reading() as connection:
        listed = entries(connection, search=search)
    if json:
        show.as_json(listed)
        return
    for one in reversed(listed):
        say(
            f"{one['seq']:>6}  {_day(one['time'])}  {one['actor']}  {one['action']}  {one['subject']}  {one['outcome']}"
        )


@vault.command("backup")
def backup(path: Annotated[Path, typer.Argument(help="File to write.")], database: DatabaseOption = "vault.db") -> None:
    """Write all of the vault but its master key into one file."""
    from shoal.vault.backup import back_up

    service = service_of(database, None, sealed=True)
    n_rows = back_up(service.database, path)
    say(f"{counted(n_rows, 'row')} in {path}. The master key is not in it.")


@vault.command("restore")
def restore(
    path: Annotated[Path, typer.Argument(help="The backup.")],
    database: DatabaseOption = "vault.db",
    key_file: KeyFile = None,
) -> None:
    """Fill an empty database from a backup. All grants are suspended until you grant them again."""
    from shoal.vault import backup as backups

    key_file = key_file or default_key_file()
    suspended = backups.restore(database_at(database), path, who_runs(), key_file)
    say(
        f"Restored. {counted(suspended, 'grant is', 'grants are')} suspended: grant again what "
        "researchers may still learn."
    )
    if key_file is not None:
        say(f"{key_file} serves this database from now on, and no other. To try a backup out, give a copy of it.")


@vault.command("rotate-key")
def rotate_key(
    database: DatabaseOption = "vault.db",
    key_file: Annotated[Path, typer.Option("--key-file", envvar=KEY_FILE, help="File with the master key.")] = Path(
        "vault.key"
    ),
) -> None:
    """Replace the master key, while the vault is served."""
    from shoal.vault.keys import MasterKeys

    service = service_of(database, key_file)
    done = service.rotate(who_runs(), MasterKeys.new())
    say(
        f"{counted(done, 'release has', 'releases have')} a new master key, in {key_file}. Servers "
        "read it when they need it."
    )
    say("Make a new backup: older ones open with the old key only, which is not kept.")


@vault.command("trust-clock")
def trust_clock(database: DatabaseOption = "vault.db") -> None:
    """Go on by the clock of this machine, though the audit log is ahead of it. All grants are suspended."""
    suspended = service_of(database, None, sealed=True).trust_clock(who_runs())
    say(
        f"The vault goes on by the clock. {counted(suspended, 'grant is', 'grants are')} suspended: "
        "grant again what is to go on."
    )
    say("All sessions are over. Restart the servers, which counted requests by the clock as it was.")


@vault.command("status")
def status(database: DatabaseOption = "vault.db", json: Json = False) -> None:
    """Show how the vault is."""
    from shoal.cli import show
    from shoal.vault.refusals import ClockError

    found = service_of(database, None, sealed=True).status()
    del found["sealed"]  # that is for a server to say
    if json:
        show.as_json(found)
        return
    for name, value in found.items():
        say(f"{name.replace('_', ' '):18} {value}")
    if found["clock_behind"]:
        say(f"Nothing is interpreted. {ClockError(found['clock_behind'])}")


def _show_token(name: str, token: str) -> None:
    say(f"Token of {name}, shown this once: {token}")


def _day(microseconds: int) -> Any:
    import datetime

    moment = datetime.datetime.fromtimestamp(microseconds / 1_000_000, datetime.UTC)
    return moment.strftime("%Y-%m-%d %H:%M")
