"""The people that an attack is tried on: those of the original, of an outside table, or of a control group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from shoal.attack.index import Floats, Ints
from shoal.errors import Problems, SchemaError, cells_are, did_you_mean, rows_at, some
from shoal.release.manifest import Manifest
from shoal.table.cells import are_cells, type_name
from shoal.table.clean import clean
from shoal.table.markers import Markers
from shoal.table.schema import Column, Kind, Nominal, Numeric


@dataclass(frozen=True, repr=False, eq=False)
class Group:
    """Some people, one line each; or several lines each, where `person` says whose they are."""

    what: str
    """What they are called in messages: `original`, `outside` or `control`."""
    frame: pl.DataFrame
    """What is said of them, column by column, in canonical types."""
    positions: Ints
    """Where each line stands in the table that they come from."""
    rows: Ints
    """Where each line stands in the original; -1 for somebody who is not there."""
    person: Ints | None = None
    """Number of the person of each line; None where every line is a person."""
    open_missing: bool = False
    """Whether a missing cell says that the value is not known."""

    def __len__(self) -> int:
        return self.frame.height

    def take(self, lines: Ints) -> Group:
        """Some of the lines."""
        return replace(
            self, frame=self.frame[lines], positions=self.positions[lines], rows=self.rows[lines],
            person=None if self.person is None else self.person[lines],
        )  # fmt: skip

    def drawn(self, n_people: int | None, seed: int) -> Group:
        """So many people, drawn, in their order; all of them, if there are no more."""
        person = np.arange(len(self)) if self.person is None else self.person
        everyone = np.unique(person)
        if n_people is None or n_people >= len(everyone):
            return self
        chosen = np.random.default_rng([seed, 11]).choice(everyone, size=n_people, replace=False)
        return self.take(np.flatnonzero(np.isin(person, chosen)))

    @cached_property
    def numbers(self) -> Ints:
        """The people numbered from 0."""
        assert self.person is not None  # noqa: S101  asked for where there are any
        return np.unique(self.person, return_inverse=True)[1].astype(np.int64)

    @property
    def n_people(self) -> int:
        """How many people they are."""
        return len(self) if self.person is None else int(self.numbers.max(initial=-1)) + 1

    def per_person(self, chance: Floats) -> Floats:
        """One chance for each person: the best of the person's lines, for an attacker may use any of them."""
        if self.person is None:
            return chance
        best = np.zeros(self.n_people)
        np.maximum.at(best, self.numbers, chance)
        return best


def kind_of(manifest: Manifest, name: str) -> Kind | None:
    """What kind of values a published column has, as far as reading them needs that."""
    kind = manifest.layout.kinds[name]
    return None if kind is None else Numeric() if kind == "numeric" else Nominal()


def read_group(
    what: str,
    frame: pl.DataFrame,
    original: pl.DataFrame | None,
    manifest: Manifest,
    missing_values: Markers,
    problems: Problems,
) -> pl.DataFrame:
    """The columns of a table that a release shows, in canonical types; notes a table that shares none.

    A column without a kind has numbers where the original, if it could be read, has numbers.
    """
    shared = [name for name in manifest.layout.kinds if name in frame.columns]
    if not shared:
        columns = some([repr(name) for name in manifest.layout.kinds])
        problems.add(what, "shares no column with the release", f"name its columns as the release does: {columns}")
    if not frame.height:
        problems.add(what, "has no rows", "give at least one person")
    found, noted = [], Problems()
    for name in shared:
        column = Column(name, "quasi", kind_of(manifest, name))
        cells = clean(frame[name], column, missing_values, noted)
        numeric = original is not None and name in original.columns and original[name].dtype.is_numeric()
        found.append(_as_numbers(cells, noted) if numeric and cells.dtype == pl.String else cells)
    try:
        noted.raise_if_any(SchemaError)
    except SchemaError as error:
        problems.take(SchemaError([replace(one, where=f"{what}, {one.where}") for one in error.problems]))
    return pl.DataFrame(found)


def _as_numbers(texts: pl.Series, problems: Problems) -> pl.Series:
    """Texts as the numbers that they are; notes those that are none."""
    numbers = texts.str.strip_chars().cast(pl.Float64, strict=False)
    bad = np.flatnonzero((texts.is_not_null() & numbers.is_null()).to_numpy())
    if len(bad):
        what = f"the original has numbers, but {cells_are(len(bad))} not numbers, at {rows_at(bad.tolist())}"
        problems.add(f"column {texts.name!r}", what, "correct the cells, or name their marker in missing_values")
    return clean(numbers, None, (), Problems())


def identities(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Who each line is of, as one text; missing where a column is."""
    return frame.select(pl.concat_str(pl.col(columns).cast(pl.String), separator="\0").alias("who"))["who"]


def paired(outside: pl.DataFrame, original: pl.DataFrame, columns: Sequence[str]) -> tuple[Ints, Ints]:
    """Lines of an outside table beside the rows of the original that are of the same person, -1 for none.

    A person with several rows has several pairs.
    """
    theirs, ours = (
        pl.DataFrame({"who": identities(frame, columns)}).with_row_index(name)
        for name, frame in (("line", outside), ("row", original))
    )
    pairs = theirs.join(ours, on="who", how="left", maintain_order="left_right")
    return pairs["line"].to_numpy().astype(np.int64), pairs["row"].cast(pl.Int64).fill_null(-1).to_numpy()


def numbered_people(original: pl.DataFrame, columns: Sequence[str]) -> Ints:
    """A number for each person of the original; a row that does not say whose it is, is of a person of its own."""
    who = identities(original, columns)
    number = who.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().copy()
    alone = np.flatnonzero(number == 0)
    number[alone] = number.max(initial=0) + 1 + np.arange(len(alone))
    return number.astype(np.int64)


def check_person(columns: Sequence[str], frames: dict[str, pl.DataFrame], problems: Problems) -> bool:
    """Note columns that say who is who and are not there, or hold no cells; say whether all can be read."""
    before = len(problems)
    for what, frame in frames.items():
        for name in columns:
            if name not in frame.columns:
                problems.add("person=", f"the {what} has no column {name!r}", did_you_mean(name, frame.columns))
            elif not are_cells(frame[name].dtype):
                held = (
                    f"column {name!r} of the {what} holds {type_name(frame[name].dtype)}, which cannot be a table cell"
                )
                problems.add("person=", held, "convert it to text")
    return len(problems) == before


__all__ = [
    "Group", "check_person", "kind_of", "numbered_people", "paired", "read_group",
]  # fmt: skip
