"""What editors are told of frames: checked by mypy with `src`, never run."""

from __future__ import annotations

from typing import Any, assert_type

import polars as pl

import shoal


class OtherFrame:
    """A frame of any other package, as pandas is one for those who have its types."""


def what_a_release_shows(
    eager: pl.DataFrame, lazy: pl.LazyFrame, other: OtherFrame, untyped: Any, schema: shoal.Schema
) -> None:
    """The frame that was given comes back; a lazy one is collected."""
    method = shoal.Mondrian(k=2)
    assert_type(shoal.anonymize(eager, schema, method).table, pl.DataFrame)
    assert_type(shoal.anonymize(lazy, schema, method, seed=1), shoal.Release[pl.DataFrame])
    assert_type(shoal.anonymize(other, schema, method, require=[shoal.KAnonymity(k=2)]), shoal.Release[OtherFrame])
    assert_type(shoal.anonymize(untyped, schema, method), shoal.Release[Any])


def what_is_made_of_it(release: shoal.Release[OtherFrame], bare: shoal.Release) -> None:
    """Whatever has the type of the frame given; a release of which nothing is said may show any."""
    assert_type(release.tables, dict[str, OtherFrame])
    assert_type(release.breaches(), OtherFrame)
    assert_type(release.public().expected_counts("age"), OtherFrame)
    assert_type(release.to_polars(), pl.DataFrame)
    assert_type(shoal.read_release("release").table, pl.DataFrame)
    assert_type(bare.table, Any)


def what_is_refused(eager: pl.DataFrame, schema: shoal.Schema) -> None:
    """A name that is no parameter is an error: mypy says so where it is not, since nothing is left to ignore."""
    shoal.anonymize(eager, schema, shoal.Mondrian(k=2), sed=7)  # type: ignore[call-overload]
