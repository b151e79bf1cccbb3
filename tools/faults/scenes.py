"""What is tried: commands that write, each from a place that is prepared for it, and how to tell that it wrote all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PEOPLE = "name,age,town,disease\n" + "".join(
    f"person {row},{20 + row},{'Ao' if row % 2 else 'Bo'},{('flu', 'gout', 'ulcer')[row % 3]}\n" for row in range(12)
)
RECIPE = """
[source]
path = "people.csv"
delimiter = ","
encoding = "utf-8"
[columns.name]
role = "identifying"
[columns.age]
role = "quasi"
kind = "numeric"
[columns.town]
role = "quasi"
kind = "nominal"
hierarchy = "town.csv"
[columns.disease]
role = "sensitive"
[method]
name = "mondrian"
k = 3
"""
SERIES = RECIPE.replace('name = "mondrian"\nk = 3', 'name = "m-invariance"\nm = 2\nid = "name"\ncolumn = "disease"')
ALIASES = RECIPE + '\n[[publish]]\nname = "aliases"\ncolumn = "disease"\ndefault = 2\n'
RUN = ("run", "recipe.toml", "--quiet")
REPUBLISH = ("republish", "series.toml", "--state", "secret/s.state", "--quiet")
FIRST = (*REPUBLISH, "--out", "one")
SECOND = (*REPUBLISH, "--previous", "one", "--out", "two")


@dataclass(frozen=True)
class Scene:
    """A command, what comes before it, and what its places are."""

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    """Commands that prepare the place."""
    places: tuple[str, ...] = ("release",)
    """What somebody reads or writes next, who then puts it in order."""
    whole: Callable[[Path], Any] = Path.exists
    """Raises where what was written does not belong together."""
    again: tuple[str, ...] | None = ("--overwrite",)
    """What is added to do it once more when it was done; None where that cannot be."""
    early: bool = False
    """Whether some of its files are whole and good for themselves before the work is done."""
    counts: Callable[[Path], int] | None = None
    """How much there is, where files say nothing (a database): more than before is new."""


def prepare(folder: Path) -> None:
    """The files that commands read."""
    texts = {"people.csv": PEOPLE, "town.csv": "Ao;north;*\nBo;south;*\n", "recipe.toml": RECIPE}
    texts |= {"series.toml": SERIES, "aliases.toml": ALIASES}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "secret").mkdir()


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError("it does not belong together")


def _release(name: str) -> Callable[[Path], Any]:
    """A release that keeps its promise, with the receipt that belongs to it."""

    def whole(folder: Path) -> None:
        from shoal import read_release

        read_release(folder / name, folder / f"{name}.receipt.json")

    return whole


def _series(name: str) -> Callable[[Path], Any]:
    """A release whose fingerprint is the last one in the state."""

    def whole(folder: Path) -> None:
        import os

        from shoal import SeriesState, read_release

        release = read_release(folder / name, folder / f"{name}.receipt.json")
        state = SeriesState.read(folder / "secret" / "s.state", os.environ["SHOAL_PASSPHRASE"])
        _check(state.fingerprints()[-1] == release.manifest.fingerprint())

    return whole


def _recipe(folder: Path) -> None:
    """A recipe whose hierarchies are there."""
    from shoal.recipe.recipe import Recipe

    Recipe.load(folder / "mine.toml")


def _page(folder: Path) -> None:
    _check("</html>" in (folder / "release.report.html").read_text())


def _key(folder: Path) -> None:
    """A key file that opens what is in the vault."""
    from shoal.vault.database import Database
    from shoal.vault.keys import MasterKeys
    from shoal.vault.service import Service

    database = Database(str(folder / "vault.db"))
    service = Service(database, MasterKeys.from_file(folder / "vault.key"), folder / "vault.key")
    with service.changing() as ledger:
        _check(bool(service._current(ledger.connection).keys))
    database.close()


def _vault_entries(folder: Path) -> int:
    """How many entries the audit log has."""
    from sqlalchemy import func, select

    from shoal.vault.database import Database
    from shoal.vault.tables import audit

    database = Database(str(folder / "vault.db"))
    with database.reading() as connection:
        found = connection.execute(select(func.count()).select_from(audit)).scalar_one()
    database.close()
    return int(found)


def _figures(folder: Path) -> None:
    json.loads((folder / "figures" / "comparison.json").read_text())


_MADE = (*RUN, "--no-report")
SCENES = (
    Scene("run", RUN, whole=_release("release")),
    Scene("run --overwrite", (*RUN, "--overwrite"), (RUN,), whole=_release("release"), again=()),
    Scene("run --format parquet", (*_MADE, "--format", "parquet"), whole=_release("release")),
    Scene(
        "run --overwrite, parquet by csv", (*_MADE, "--overwrite"), ((*_MADE, "--format", "parquet"),),
        whole=_release("release"), again=(),
    ),
    Scene("run, new folders", (*_MADE, "--out", "a/b/new"), places=("a/b/new",), whole=_release("a/b/new")),
    Scene("run with aliases", ("run", "aliases.toml", "--quiet", "--no-report"), whole=_release("release")),
    Scene("init", ("init", "people.csv", "--out", "mine.toml"), places=("mine.toml",), whole=_recipe),
    Scene(
        "init --overwrite", ("init", "people.csv", "--out", "mine.toml", "--overwrite", "--missing-values", "gout"),
        (("init", "people.csv", "--out", "mine.toml"),), ("mine.toml",), _recipe, (),
    ),
    Scene(
        "report --overwrite", ("report", "four", "--out", "release.report.html", "--overwrite"),
        (RUN, (*_MADE, "--k", "4", "--out", "four")), ("release.report.html",), _page, (),
    ),
    Scene("republish, first", FIRST, places=("one", "secret/s.state"), whole=_series("one"), again=None),
    Scene("republish, second", SECOND, (FIRST,), ("two", "secret/s.state"), _series("two"), None),
    Scene(
        "republish --overwrite", (*SECOND, "--overwrite"), (FIRST, (*_MADE, "--out", "two")),
        ("two", "secret/s.state"), _series("two"), None,
    ),
    Scene(
        "measure --by-person", ("measure", "release", "--by-person", "risks.csv", "--original", "recipe.toml"),
        (_MADE,), ("risks.csv",), again=None,
    ),
    Scene(
        "compare --out",
        ("compare", "recipe.toml", "--k", "3", "--method", "mondrian", "--out", "figures", "--jobs", "1", "--quiet"),
        places=("figures/comparison.json",), whole=_figures, again=(), early=True,
    ),
    Scene("demo", ("demo", "--rows", "40", "--k", "3", "--quiet"), places=("shoal-demo",),
          whole=_release("shoal-demo/release")),
    Scene("vault init", ("vault", "init"), places=("vault.db", "vault.key"), whole=_key, again=None),
    Scene("vault backup", ("vault", "backup", "copy.gz"), (("vault", "init"),), ("copy.gz",), again=None),
    Scene(
        "vault add-researcher", ("vault", "add-researcher", "ada"), (("vault", "init"),), ("vault.db",), _key, None,
        counts=_vault_entries,
    ),
    Scene(
        "vault rotate-key", ("vault", "rotate-key"), (("vault", "init"),), ("vault.key",), _key, (),
        counts=_vault_entries,
    ),
)  # fmt: skip
