"""Sensitive columns of a table as their publishers show them, and the key to what they show."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from shoal._version import __version__
from shoal.errors import ShoalWarning
from shoal.personal.base import ColumnPublisher, Shown
from shoal.personal.secret import Secret
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.publish.base import Published, passed_columns
from shoal.release.key import ColumnKey, Key, Meaning
from shoal.release.manifest import Manifest
from shoal.table.prepare import Table
from shoal.table.schema import Kind, Schema

SMALLEST_SEED = 1 << 64
"""Seeds below it can be tried one after the other."""


def hidden_columns(table: Table, publishers: Sequence[ColumnPublisher], seed: int) -> dict[str, Shown]:
    """What the rows of a table show of each sensitive column that has a publisher; all of them are published.

    Aliases come from the seed and from the table: two tables with one seed share none.
    """
    if not publishers:
        return {}
    if seed < SMALLEST_SEED:
        what = f"the seed has fewer than {SMALLEST_SEED.bit_length() - 1} bits: who tries all of them finds the key"
        warnings.warn(f"{what}; leave the seed out, and it is drawn", ShoalWarning, stacklevel=2)
    return {one.column: one.show(table, _secret(one, seed, table.rows_sha256)) for one in publishers}


def _secret(publisher: ColumnPublisher, seed: int, content: str) -> Secret:
    """What a publisher draws from. Grades must depend on the order of values alone, and so not on the table."""
    purpose = (publisher.name, publisher.column)
    return Secret.of(seed, *purpose, content) if publisher.form == "aliases" else Secret.of(seed, *purpose)


def warn_of_split_aliases(
    publishers: Sequence[ColumnPublisher], promised: Sequence[Requirement], smallest: int
) -> None:
    """Warn where aliases that were split can be put together again: those of one value meet in no class, or in few.

    That is so where a class of the smallest size has no room for a value twice, or more than half of it must differ.
    """
    smallest = max([smallest, *(one.k for one in promised if isinstance(one, KAnonymity))])
    apart = {one.column for one in promised if isinstance(one, AlphaK) and one.alpha * smallest < 2}
    diverse = (one for one in promised if isinstance(one, LDiversity | SliceDiversity))
    apart |= {one.column for one in diverse if 2 * one.l > smallest}
    for one in publishers:
        if getattr(one, "flatten", None) is not None and one.column in apart:
            what = (
                f"{one.where}: flatten splits aliases, but those of one value hardly ever meet in classes this diverse"
            )
            fix = "whoever counts that puts them together again; use larger classes, or a smaller l"
            warnings.warn(f"{what}: {fix}", ShoalWarning, stacklevel=2)


def as_judged(table: Table, publishers: Sequence[ColumnPublisher], promised: Sequence[Requirement]) -> Table:
    """The table as promises about hidden columns are judged: as if it were known what every cell stands for."""
    asked = {one.column for one in promised if isinstance(one, ColumnRequirement)}
    columns = [one.judged(table) for one in publishers if one.column in asked]
    return replace(table, frame=table.frame.with_columns(columns)) if columns else table


def as_shown(table: Table, hidden: Mapping[str, Shown]) -> Table:
    """The table with cells as they are shown."""
    if not hidden:
        return table
    cells = [pl.Series(name, shown.cells) for name, shown in hidden.items()]
    kinds = {name: shown.kind for name, shown in hidden.items()}
    frame = table.frame.with_columns(cells)
    return replace(table, frame=frame, schema=_with_kinds(table.schema, kinds), given=_with_kinds(table.given, kinds))


def _with_kinds(schema: Schema, kinds: Mapping[str, Kind]) -> Schema:
    sensitive: Mapping[str, Kind | None] = schema.sensitive  # type: ignore[assignment]
    return replace(schema, sensitive={name: kinds.get(name, kind) for name, kind in sensitive.items()})


def marked(published: Published, publishers: Sequence[ColumnPublisher], hidden: Mapping[str, Shown]) -> Published:
    """What is published, with a layout that says which columns are not shown as they are."""
    forms = {one.column: one.form for one in publishers}
    passed = tuple(
        column.model_copy(update={"form": forms[column.name], "clear": hidden[column.name].clear})
        if column.name in forms
        else column
        for column in published.layout.passed
    )
    return replace(published, layout=published.layout.model_copy(update={"passed": passed}))


def key_of(
    manifest: Manifest, table: Table, publishers: Sequence[ColumnPublisher], hidden: Mapping[str, Shown], seed: int
) -> Key | None:
    """The key of a release; None where nothing is hidden. The table is that of the published rows, as they were."""
    if not hidden:
        return None
    known = {column.name: column for column in passed_columns(table, table.frame)}
    columns = tuple(
        ColumnKey(
            name=one.column,
            kind=known[one.column].kind,
            order=known[one.column].order,
            nodes=known[one.column].nodes,
            meanings=tuple(
                Meaning(cell=cell, values=values) for cell, values in sorted(hidden[one.column].stands_for.items())
            ),
            categories=hidden[one.column].categories,
            private=one.private(),
        )
        for one in publishers
    )
    return Key(shoal=__version__, release=manifest.fingerprint(), seed=seed, table=table.rows_sha256, columns=columns)
