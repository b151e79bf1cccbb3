"""How well a release can be learnt from: models trained on it, tested on rows that it does not hold, and on itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.check.original import input_rows, rows_like_input
from shoal.errors import ParameterError, Problem, Problems, SchemaError, counted, did_you_mean, rows_at, some
from shoal.learning.accuracy import meanings_of
from shoal.learning.c45 import present
from shoal.learning.released.cells import as_learnt_from, plausible_rows, values_as_learnt_from
from shoal.learning.released.mapping import Covered, mapped
from shoal.learning.scores import Meanings, Score
from shoal.learning.trials import Results, Setting, against, mean_of, within
from shoal.measure.base import grown_schema, prepared
from shoal.release.key import Key
from shoal.release.manifest import Manifest
from shoal.table.markers import Markers
from shoal.table.numbering import combined, numbered
from shoal.table.schema import Schema

ORIGINAL, RELEASE, HELD_OUT = "original", "release", "held-out"
"""What models are trained and tested on."""
MOSTLY = 0.5
"""From this share of different rows on, a row that is found in another table is the row of the same person."""
UNKNOWN_PEOPLE = (
    "whether people of the held-out rows have rows in the release was not looked at: "
    "give original, schema, and a holdout that says whose rows it has"
)
"""The note where people count and are not told."""

Pair = tuple[pl.DataFrame, pl.DataFrame]


@dataclass(frozen=True)
class Utility:
    """How well a column is predicted by what was learnt from a release, beside what is learnt from its input."""

    target: str
    scores: tuple[Score, ...]
    covered: Covered | None = None
    """How held-out rows were mapped; None without any."""
    notes: tuple[str, ...] = ()
    """What was done that figures alone do not show."""

    def to_frame(self) -> pl.DataFrame:
        """One row per learner and test: what it was trained and tested on, its figures with their intervals.

        An area that there is none of, where all rows that are tested are of one class, is missing.
        """
        rows = [
            {
                "learner": one.learner, "trained_on": one.trained_on, "tested_on": one.tested_on,
                "accuracy": one.accuracy, "low": one.interval[0], "high": one.interval[1],
                "auc": one.auc, "auc_low": one.auc_interval[0], "auc_high": one.auc_interval[1],
                "baseline": one.baseline, "rows": one.n_rows,
            }
            for one in self.scores
        ]  # fmt: skip
        return pl.DataFrame(rows).fill_nan(None)

    def score(self, learner: str, trained_on: str = RELEASE, tested_on: str = HELD_OUT) -> Score:
        """The figures of one learner and one test."""
        for one in self.scores:
            if (one.learner, one.trained_on, one.tested_on) == (learner, trained_on, tested_on):
                return one
        known = [f"{one.learner}, {one.trained_on} -> {one.tested_on}" for one in self.scores]
        what = f"{learner}, {trained_on} -> {tested_on} was not measured"
        raise ParameterError(Problem("score", what, f"there are: {some(known, 20)}"))

    def __str__(self) -> str:
        return "\n".join([f"utility for {self.target!r}", *(f"  {score}" for score in self.scores), *self.notes])


@dataclass(frozen=True, eq=False)
class Published:
    """A release to learn one column from."""

    tables: Mapping[str, pl.DataFrame]
    manifest: Manifest
    setting: Setting
    key: Key | None = None

    def __post_init__(self) -> None:
        layout, target = self.manifest.layout, self.setting.target
        if target not in layout.kinds:
            near = did_you_mean(target, layout.kinds)
            raise SchemaError(Problem(f"target {target!r}", "is not a column of the release", near))
        if any(column.name == target and column.form != "raw" for column in layout.quasi):
            what = "is a quasi-identifier whose values are not published as they are"
            raise ParameterError(Problem(f"target {target!r}", what, "name a sensitive or neutral column"))

    @property
    def is_drawn(self) -> bool:
        """Whether the release leaves open which cells belong together."""
        return self.manifest.layout.laid_out.protects == "links"

    @property
    def unknown(self) -> list[str]:
        """Columns of aliases and grades, but for the target: without the key nobody can show another row like them."""
        return [name for name in self.manifest.layout.hidden if name != self.setting.target]

    @cached_property
    def drawn(self) -> list[Pair]:
        """Published rows, and the same as they are learnt from: once, or several times where they are drawn."""
        layout, found = self.manifest.layout, []
        for draw in range(self.setting.draws if self.is_drawn else 1):
            rows = plausible_rows(self.tables, layout, self.setting.seed + draw)
            found.append((rows, self._with_classes(as_learnt_from(rows, layout, numbers=self.setting.numbers))))
        return found

    def values(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of the input, or like it, as they are learnt from: nothing generalised."""
        like = self.drawn[0][1].schema
        return self._with_classes(values_as_learnt_from(rows, self.manifest.layout, like, numbers=self.setting.numbers))

    def inside(self) -> Results:
        """Cross-validation on the release."""
        return mean_of([within(table, self.setting) for _, table in self.drawn])

    def meaning(self) -> Meanings | None:
        """What cells of the target stand for, where they are not its values: held-out rows have these alone."""
        target = self.setting.target
        if target not in self.manifest.layout.hidden:
            return None
        if self.manifest.layout.hidden[target].form == "grades" or self.key is None:
            what = "is published by aliases or grades, which held-out rows do not have"
            fix = "give the key of its aliases, key=, or leave held-out rows out"
            raise ParameterError(Problem(f"target {target!r}", what, fix))
        return meanings_of(self.key)[target]

    def mapped(self, rows: pl.DataFrame, schema: Schema | None) -> tuple[list[Pair], Covered]:
        """For each draw what is learnt from, and rows as the release would show them; and how many were covered."""
        pairs, counts = [], Covered()
        for published, table in self.drawn:
            shown, counts = mapped(
                published, self.manifest.layout, rows, table.schema, schema=schema, numbers=self.setting.numbers
            )
            pairs.append((table.drop(self.unknown), self._with_classes(shown.drop(self.unknown))))
        return pairs, counts

    def notes(self, *, held_out: bool) -> tuple[str, ...]:
        """What figures alone do not show."""
        said = []
        if self.is_drawn:
            n_draws = self.setting.draws
            said.append(f"cells of a row are published apart: figures are means over {n_draws} tables that were drawn")
        if held_out and self.unknown:
            said.append(f"not learnt from for held-out rows, being aliases or grades: {', '.join(self.unknown)}")
        return tuple(said)

    def _with_classes(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows that have a target, which becomes a text: classes are compared by how they are written."""
        target = self.setting.target
        series = table[target]
        if series.dtype.is_float():
            if not (series.drop_nulls() == series.drop_nulls().floor()).all():
                what, fix = "has numbers that are not whole", "make it categories, such as ranges of numbers"
                raise SchemaError(Problem(f"target {target!r}", what, fix))
            series = series.cast(pl.Int64)
        table = table.with_columns(series.cast(pl.String))
        return table.filter(present(table, target))


def utility_of(
    published: Published,
    *,
    original: pl.DataFrame | None = None,
    holdout: pl.DataFrame | None = None,
    schema: Schema | None = None,
    missing_values: Markers = (),
) -> Utility:
    """Measure a release that is finished; see `Release.utility`."""
    manifest, setting = published.manifest, published.setting
    rows = None if original is None else input_rows(manifest, original, missing_values)
    if original is not None and schema is not None:
        table = prepared(manifest, original, schema, missing_values)
        schema = grown_schema(table, manifest, original, missing_values)
    results: dict[tuple[str, str], Results] = {}
    counts = None
    if holdout is not None:
        held = held_out_rows(published, holdout, original, missing_values)
        refuse_people_of(original, holdout, schema)
        meaning = published.meaning()
        if rows is not None:
            results[ORIGINAL, HELD_OUT] = against(published.values(rows), published.values(held), setting)
        pairs, counts = published.mapped(held, schema)
        results[RELEASE, HELD_OUT] = mean_of([against(*pair, setting, meaning) for pair in pairs])
    elif rows is not None:
        results[ORIGINAL, ORIGINAL] = within(published.values(rows), setting)
    results[RELEASE, RELEASE] = published.inside()
    notes = published.notes(held_out=holdout is not None)
    if holdout is not None and manifest.recipe.counts == "people" and not _tells_people(original, holdout, schema):
        notes += (UNKNOWN_PEOPLE,)
    return as_utility(setting, results, counts, notes)


def as_utility(
    setting: Setting, results: Mapping[tuple[str, str], Results], counts: Covered | None, notes: tuple[str, ...]
) -> Utility:
    """All figures of one target, learner by learner."""
    scores = [
        found[name].score(name, trained_on, tested_on)
        for name in setting.learners
        for (trained_on, tested_on), found in results.items()
    ]
    return Utility(setting.target, tuple(scores), counts, notes)


def held_out_rows(
    published: Published, holdout: pl.DataFrame, original: pl.DataFrame | None, missing_values: Markers
) -> pl.DataFrame:
    """The rows to be tested on, in the types of the input; refuses those that the release was made of."""
    fix = "give rows with the columns of the input"
    rows = rows_like_input(published.manifest, holdout, missing_values, "holdout", fix, Problems())
    if not rows.height or rows[published.setting.target].null_count() == rows.height:
        raise ParameterError(Problem("holdout", "has no row with a target", "give rows to be tested on"))
    if (original is not None and _holds_all(original, holdout)) or _holds_all(_as_they_were(published), rows):
        what = "has the rows that the release was made of: a test on them would flatter it"
        fix = "make the release of other rows, or let shoal.utility() cut the table"
        raise ParameterError(Problem("holdout", what, fix))
    return rows


def refuse_people_of(original: pl.DataFrame | None, holdout: pl.DataFrame, schema: Schema | None) -> None:
    """Refuse held-out rows of people who have rows in the input, where both tables say whose rows they have."""
    if not _tells_people(original, holdout, schema):
        return
    assert original is not None and schema is not None and schema.person is not None  # noqa: S101, PT018  seen to
    names = [table[schema.person].cast(pl.String).str.strip_chars() for table in (holdout, original)]
    known = np.flatnonzero(names[0].is_in(names[1].drop_nulls().implode()).fill_null(False).to_numpy())
    if len(known):
        what = f"has {counted(len(known), 'row')} of people who have rows in the input, at {rows_at(known.tolist())}"
        fix = "leave these rows out, or let shoal.utility() cut the table"
        raise ParameterError(Problem("holdout", what, fix))


def _tells_people(original: pl.DataFrame | None, holdout: pl.DataFrame, schema: Schema | None) -> bool:
    """Whether held-out rows and the input say whose they are."""
    person = None if schema is None else schema.person
    return original is not None and person is not None and person in original.columns and person in holdout.columns


def _as_they_were(published: Published) -> pl.DataFrame:
    """The columns of published rows that are as in the input and belong together."""
    layout = published.manifest.layout
    apart = layout.sensitive if published.is_drawn else []
    raw = {column.name for column in layout.quasi if column.form == "raw"}
    raw |= {column.name for column in layout.passed if column.form == "raw"} - set(apart)
    rows = published.drawn[0][0]
    return rows.select([name for name in rows.columns if name in raw])


def _holds_all(table: pl.DataFrame, rows: pl.DataFrame) -> bool:
    """Whether every one of some rows is a row of a table, in columns of both, and rows of the table mostly differ."""
    names = [name for name in table.columns if name in rows.columns]
    if not names:
        return False
    codes = combined([np.concatenate(numbered([table[name], rows[name]])) for name in names])
    known, asked = codes[: table.height], codes[table.height :]
    return len(np.unique(known)) > MOSTLY * len(known) and bool(np.isin(asked, known).all())
