"""What a table looks like before anybody has said what its columns are: proposed roles, each with its reason.

A proposal is evidence for a steward who decides, so it errs on the careful side: what names a person is dropped, what
is in doubt is a quasi-identifier, and nothing but constants is proposed to be published as it is. No value of the table
is kept but the categories of ordered columns, and the years around days: a profile holds names, counts, shares and the
markers that look like missing cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.errors import ParameterError, Problem, SchemaError, counted
from shoal.spec import checked_call
from shoal.table.cells import are_cells
from shoal.table.clean import days_or_microseconds, without_markers
from shoal.table.days import years_around
from shoal.table.frames import check_names, declared_orders, to_polars
from shoal.table.hierarchy.builders import Dates
from shoal.table.markers import Markers
from shoal.table.names import require_header
from shoal.table.profile.bands import band
from shoal.table.profile.decimals import Decimals, decimals_of
from shoal.table.profile.described import ColumnProfile, PairProfile, Profile
from shoal.table.profile.evidence import MOSTLY, Evidence, distinct, gather
from shoal.table.profile.kinds import SHOWN_AS_NODES, kind_of, order_of
from shoal.table.profile.names import surnames_beside_given_names
from shoal.table.profile.number_codes import missing_codes
from shoal.table.profile.people import as_person, found_by_content, one_weight, person_of, repeated_people
from shoal.table.profile.roles import HIGH, LOW, TELLING, Proposal, role_of
from shoal.table.profile.singling import best_pairs, singled_out
from shoal.table.profile.unread import unread
from shoal.table.profile.words import AGE, BIRTH, says
from shoal.table.schema import Ordinal
from shoal.table.spelling import find_variants, spelling_warning

MAX_PAIR_COLUMNS = 20
MOST_CATEGORIES = 60
"""Categories up to which a column is tried for an order."""
COMPARED = 10_000
"""Categories whose spellings are compared."""
FEWEST_ROWS = 5
"""Rows that a text among bands must have to be listed with them."""
WITHOUT_KIND = ("identifying", "person", "choice", "neutral")
UNPUBLISHED = ("identifying", "person", "choice")

Codes = npt.NDArray[np.int64]


@checked_call(examples={"frame": "a polars, pandas or pyarrow frame"})
def profile(frame: Any, missing_values: Markers = (), roles: Mapping[str, str] | None = None) -> Profile:
    """Profile every column of a table and propose its role.

    Parameters
    ----------
    frame
        A polars, pandas or pyarrow frame, typed or all text. It is not changed.
    missing_values
        Texts that mean a missing cell, besides the empty text.
    roles
        The role of every column, where somebody has decided that; only kinds and hierarchies are proposed then.

    Examples
    --------
    >>> table = pl.DataFrame({"name": ["Ann", "Bob"], "age": ["31", "45"], "disease": ["flu", "cold"]})
    >>> [(column.name, column.role, column.kind) for column in profile(table).columns]
    [('name', 'identifying', None), ('age', 'quasi', 'numeric'), ('disease', 'sensitive', 'nominal')]
    """
    given, (frame, _) = frame, to_polars(frame)
    _check(frame, missing_values)
    cells = {series.name: _cells(series, missing_values) for series in frame}
    counts = {name: distinct(series) for name, series in cells.items()}
    evidence = [gather(series, counts[name]) for name, series in cells.items()]
    codes = {name: _codes(series, counts[name]) for name, series in cells.items() if are_cells(series.dtype)}
    keys = {name: np.where(cells[name].is_null().to_numpy(), -1, column) for name, column in codes.items()}
    proposals, warnings = _settled(evidence, keys) if roles is None else (_as_given(roles), ())
    written = decimals_of(frame, missing_values)
    declared = declared_orders(given)
    columns = tuple(
        _as_days(
            _in_order(_column(seen, proposals[seen.name], written), counts[seen.name], declared.get(seen.name, ())),
            counts[seen.name],
        )
        for seen in evidence
    )
    if roles is None:
        columns, without = _with_something_known(_without_birth_beside_age(columns))
        warnings += without
    warnings += _told_apart_by_weight(columns) + _spelt_in_several_ways(columns, counts)
    warnings += _with_codes_for_missing(columns, counts)
    quasi = {column.name: codes[column.name] for column in columns if column.role == "quasi"}
    together, because = singled_out(quasi)
    chosen, note = _pair_columns(columns)
    return Profile(
        columns=tuple(_with_others(column, because) for column in columns),
        pairs=_pairs(columns, chosen, codes, frame.height),
        n_rows=frame.height,
        all_quasi_unique_share=together / frame.height,
        suspected_missing={seen.name: seen.markers for seen in evidence if seen.markers},
        pair_columns=tuple(chosen),
        pairs_note=note,
        warnings=warnings,
    )


def _as_given(roles: Mapping[str, str]) -> dict[str, Proposal]:
    """Roles that somebody has decided, as if they were proposed."""
    return {name: Proposal(role, "Its role is given", HIGH) for name, role in roles.items()}


def _settled(evidence: list[Evidence], keys: Mapping[str, Codes]) -> tuple[dict[str, Proposal], tuple[str, ...]]:
    """Propose a role for every column, with one person and one weight at most, and warn of people who repeat."""
    proposals = {seen.name: role_of(seen) for seen in evidence}
    surnames_beside_given_names(evidence, proposals)
    found_by_content(evidence, proposals, keys)
    person = person_of(evidence, proposals, keys)
    one_weight(evidence, proposals)
    if person is None:
        repeated = repeated_people(evidence, proposals, keys)
        fix = 'give the column that says whose row it is role = "person", or promises count rows where they mean people'
        return proposals, (
            f"Rows seem to repeat people: {repeated}. No column is proposed: {fix}.",
        ) if repeated else ()
    if person.n_present < person.n_rows:
        gone = person.n_rows - person.n_present
        text = f"{person.name!r} seems to say whose row it is, but {gone:,} of its cells are missing"
        return proposals, (f'{text}. Fill them and give it role = "person", or promises count rows, not people.',)
    proposals[person.name] = as_person(person, proposals[person.name])
    one = f"All rows are of one person: {person.name!r} is the same in all of them. Nothing can hide one among others."
    return proposals, (one,) if person.n_distinct == 1 else ()


def _told_apart_by_weight(columns: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """Warn of a weight that is published as it is and singles out rows."""
    text = (
        "{:.0%} of the rows have a weight of their own in {!r}, which is published as it is: round the weights first."
    )
    return tuple(
        text.format(column.unique_share, column.name)
        for column in columns
        if column.role == "weight" and column.unique_share >= TELLING
    )


def _spelt_in_several_ways(columns: Sequence[ColumnProfile], counts: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    """Warn of quasi-identifiers whose cells are generalised for their spelling alone."""
    fix = "write each value in one way first, or cells say less than they could"
    several = {
        column.name: find_variants(counts[column.name]["text"].drop_nulls()).n_values
        for column in columns
        if column.role == "quasi" and column.kind in ("nominal", "ordinal") and column.n_distinct <= COMPARED
    }
    found = {name: n_values for name, n_values in several.items() if n_values}
    return (f"{spelling_warning(found, fix)}.",) if found else ()


def _with_codes_for_missing(columns: Sequence[ColumnProfile], counts: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    """Warn of numbers that seem to stand for missing cells: as numbers they stretch ranges and spoil averages."""
    told = []
    for column in columns:
        found = missing_codes(counts[column.name]) if column.role in ("quasi", "sensitive") else {}
        if found:
            many = ", ".join(f"{code} ({counted(n, 'row')})" for code, n in found.items())
            listed = ", ".join(f'"{code}"' for code in found)
            told.append(
                f"column {column.name!r} may use {many} for missing; if it does, give it missing_values = [{listed}]."
            )
    return tuple(told)


def _in_order(column: ColumnProfile, counts: pl.DataFrame, declared: Sequence[str]) -> ColumnProfile:
    """Make a column ordinal whose categories the table puts in order, or are words or bands of one known order."""
    known = column.kind == "ordinal"
    nominal = column.kind == "nominal" and column.hierarchy is None
    if not (known or nominal) or column.looks_numeric or column.n_distinct > MOST_CATEGORIES:
        return replace(column, kind="nominal") if known else column
    present = counts["text"].drop_nulls().to_list()
    if set(present) <= set(declared) and len(present) > 1 and _accepted(order := tuple(declared)):
        return replace(column, kind="ordinal", order=order, reason=f"{column.reason[:-1]}, in the order of the table.")
    order = order_of(present)
    if not order or not _accepted(order) or _rare_among_bands(counts):
        return replace(column, kind="nominal") if known else column
    reason = column.reason if known else f"{column.reason[:-1]}, which come in an order."
    return replace(column, kind="ordinal", order=order, reason=reason)


def _as_days(column: ColumnProfile, counts: pl.DataFrame) -> ColumnProfile:
    """Show the days of a quasi-identifier as runs of days, which lose less than months, years and decades."""
    if column.role != "quasi" or not isinstance(column.hierarchy, Dates):
        return column
    days = years_around(counts["text"].drop_nulls().to_list(), column.hierarchy.form)
    if days is None:
        return column
    reason = column.reason.replace(SHOWN_AS_NODES, "are shown as runs of days")
    reason = reason.replace(f"form {column.hierarchy.form} ", f"form {days.form} ")
    return replace(column, kind="ordinal", hierarchy=None, days=days, reason=reason)


def _rare_among_bands(counts: pl.DataFrame) -> bool:
    """Whether a text that is no band stands in few rows: it may be of one person, and an order would show it."""
    present = counts.drop_nulls("text")
    banded = [band(text) is not None for text in present["text"].to_list()]
    rare = (times < FEWEST_ROWS for times, inside in zip(present["n"].to_list(), banded, strict=True) if not inside)
    return any(banded) and any(rare)


def _accepted(order: tuple[str, ...]) -> bool:
    """Whether a schema takes this order: not if a category looks like a run of others."""
    try:
        Ordinal(order)
    except SchemaError:
        return False
    return True


def _without_birth_beside_age(columns: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """Drop a day of birth where the age is there too: the finer of the two would undo the hiding of the coarser."""
    age = next((one.name for one in columns if one.role == "quasi" and says(one.name, AGE)), None)
    reason = f"{age!r} has the same information, less exactly: the exact day would undo its generalisation."
    return tuple(
        replace(one, role="identifying", kind=None, hierarchy=None, days=None, reason=reason, unread="")
        if age is not None and one.role == "quasi" and one.pattern == "date" and says(one.name, BIRTH)
        else one
        for one in columns
    )


def _with_something_known(columns: tuple[ColumnProfile, ...]) -> tuple[tuple[ColumnProfile, ...], tuple[str, ...]]:
    """Where no quasi-identifier is found, make the sensitive columns some: whoever knows a person knows something."""
    if any(one.role == "quasi" for one in columns) or not any(one.role == "sensitive" for one in columns):
        return columns, ()
    text = "No other column can be known of a person, so that these must be hidden in groups"
    known = tuple(
        replace(one, role="quasi", confidence=LOW, reason=f"{one.reason} {text}.") if one.role == "sensitive" else one
        for one in columns
    )
    return known, (
        "No column looks like what others know of a person: sensitive columns are quasi-identifiers instead.",
    )


def _with_others(column: ColumnProfile, because: Mapping[str, int]) -> ColumnProfile:
    share = because[column.name] / column.n_rows if column.name in because else None
    return replace(column, unique_with_others=share)


def _check(frame: pl.DataFrame, missing_values: Markers) -> None:
    if isinstance(missing_values, str) or not all(isinstance(marker, str) for marker in missing_values):
        raise ParameterError(Problem("missing_values=", "needs a list of texts"))
    check_names(frame.columns)
    if not frame.height:
        raise SchemaError(Problem("table", "has no rows", "nothing can be proposed for an empty table"))
    require_header(frame)


def _cells(series: pl.Series, missing_values: Markers) -> pl.Series:
    """Make missing cells null, and midnights days, as preparing a table does; numbers written as text are stripped."""
    if series.dtype in (pl.Categorical, pl.Enum, pl.Null):
        series = series.cast(pl.String)
    stripped = without_markers(series, missing_values, strip=True)
    if series.dtype != pl.String:
        return days_or_microseconds(stripped)
    numbers = stripped.cast(pl.Float64, strict=False)
    if numbers.is_not_null().sum() == stripped.is_not_null().sum():
        return stripped
    return without_markers(series, missing_values, strip=False)


def _codes(series: pl.Series, counts: pl.DataFrame) -> Codes:
    """Give each row the number of its distinct value."""
    numbers = pl.Series(np.arange(counts.height))
    return series.replace_strict(counts["value"], numbers, return_dtype=pl.Int64).to_numpy()


def _column(seen: Evidence, proposal: Proposal, written: Decimals) -> ColumnProfile:
    """Write down the role of one column, and propose its kind and hierarchy."""
    kind, hierarchy, how = (None, None, "") if proposal.role in WITHOUT_KIND else kind_of(seen)
    n_missing = seen.n_rows - seen.n_present
    return ColumnProfile(
        name=seen.name,
        n_rows=seen.n_rows,
        n_missing=n_missing,
        n_distinct=seen.n_distinct,
        unique_share=(seen.n_once + (n_missing == 1)) / seen.n_rows,
        looks_numeric=seen.numeric,
        pattern=seen.pattern,
        role=proposal.role,
        kind=kind,
        hierarchy=hierarchy,
        reason=f"{proposal.why}; {how}." if how else f"{proposal.why}.",
        confidence=proposal.confidence,
        unread=unread(seen, written),
    )


def _pair_columns(columns: Sequence[ColumnProfile]) -> tuple[list[str], str]:
    """Choose the columns whose pairs are worth counting, in table order, and say what is left out."""
    published = [column for column in columns if column.role not in (*UNPUBLISHED, "neutral")]
    shared = [column for column in published if column.unique_share <= MOSTLY]
    # Columns of few values single out nobody in a wide table, so those of many come first.
    ranked = sorted(shared, key=lambda column: (column.role != "quasi", -column.n_distinct))
    chosen = {column.name for column in ranked[:MAX_PAIR_COLUMNS]}
    left_out = {
        "not published or constant": len(columns) - len(published),
        "mostly unique on their own": len(published) - len(shared),
        f"beyond {MAX_PAIR_COLUMNS} columns, quasi-identifiers and most distinct values first": len(shared)
        - len(chosen),
    }
    why = "; ".join(f"{n} left out, {text}" for text, n in left_out.items() if n)
    note = f"pairs among {len(chosen)} of {len(columns)} columns"
    return [column.name for column in columns if column.name in chosen], f"{note}; {why}" if why else note


def _pairs(
    columns: Sequence[ColumnProfile], chosen: Sequence[str], codes: Mapping[str, Codes], n_rows: int
) -> tuple[PairProfile, ...]:
    """Find the pairs that single out most rows; ties go to the columns that come first in the table."""
    sizes = {column.name: column.n_distinct + (column.n_missing > 0) for column in columns}
    ordered = list(combinations(chosen, 2))
    return tuple(PairProfile(ordered[place], rows / n_rows) for rows, place in best_pairs(chosen, sizes, codes))
