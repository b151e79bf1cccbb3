"""`shoal verify`: re-derive the promise of a release from its files alone, or see what any published table keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.place import Named
from shoal.cli.run import PassphraseFile
from shoal.errors import counted

if TYPE_CHECKING:
    from shoal.check.release import Verdict
    from shoal.check.table import TableVerdict
    from shoal.release.manifest import Manifest
    from shoal.release.target import Target


def verify(
    target: Annotated[str, typer.Argument(metavar="RELEASE", help="The release directory, or a published table.")],
    schema: Annotated[
        Path | None, typer.Option(help="A recipe that describes the columns of the table and what it must satisfy.")
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(
            help="How classes of a table are found: cells (equal cells) or matching (cells that contain each other)."
        ),
    ] = None,
    suppressed: Annotated[
        str | None, typer.Option(help="Comma-separated texts of a table that mean 'any value'.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="A table of the population, for promises that need one (k-map, delta-presence).")
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            help="The recipe that the release was made with, for promises that can only be checked with the input."
        ),
    ] = None,
    receipt: Annotated[
        Path | None,
        typer.Option(help="For the data holder: the receipt, to check that it belongs to this release."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="For the data holder: the key file, for promises about columns with aliases or grades."),
    ] = None,
    passphrase_file: PassphraseFile = None,
    release: Named = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check a release from its files alone, or any published table with --schema; exit status 1 if it does not hold."""
    from shoal.cli.holder import opened_key
    from shoal.cli.place import place_of

    _check_options(target, schema, reading, suppressed, population, original, receipt, key, release)
    if schema is not None and population is None:
        _verify_table(target, schema, reading or "cells", suppressed, json=json)
        return
    _verify_release(
        place_of(target, release), schema, population, original, receipt, opened_key(key, passphrase_file), json=json
    )


def _check_options(
    target: str,
    schema: Path | None,
    reading: str | None,
    suppressed: str | None,
    population: str | None,
    original: Path | None,
    receipt: Path | None,
    key: Path | None,
    release: str | None,
) -> None:
    """Refuse options that do not fit what is to be checked, all at once."""
    from shoal.cli.place import note_database
    from shoal.errors import ParameterError, Problems

    problems, folder = Problems(), Path(target).is_dir() and release is None
    if release is not None:
        note_database(target, release, problems)
        if key is not None:
            what = "is for a release directory: releases with aliases or grades are not written into databases"
            problems.add("--key", what, "leave it out")
    elif Path(target).is_file() and schema is None:
        fix = "give --schema recipe.toml to describe its columns, or give a release directory"
        problems.add(target, "is a file, not a release directory", fix)
    elif "://" in target and not folder and schema is None:
        fix = "give --release NAME for a release in the database, or --schema recipe.toml to describe a table"
        problems.add(target, "is the address of a database, not a release directory", fix)
    whole = folder or release is not None
    if whole and schema is not None and population is None:
        what = f"is not needed for a release{' directory' if folder else ''}: its manifest describes the columns"
        problems.add(target if folder else "--schema", what, "leave --schema out, or add --population")
    for flag, given in (
        ("--population", population), ("--original", original), ("--receipt", receipt), ("--key", key),
    ):  # fmt: skip
        if given is not None and not whole:
            problems.add(flag, "is for a release directory", "leave it out")
    if original is not None and schema is not None:
        problems.add("--schema", "is in the recipe of --original already", "leave it out")
    for flag, value in (("--reading", reading), ("--suppressed", suppressed)):
        if value is not None and (whole or schema is None):
            problems.add(flag, "is for a table with --schema; it does not apply to a release")
    problems.raise_if_any(ParameterError)


# -- releases ------------------------------------------------------------------------------------------------------


def _verify_release(
    place: Path | Target,
    schema: Path | None,
    population: str | None,
    original: Path | None,
    receipt: Path | None,
    key: Any,
    *,
    json: bool,
) -> None:
    """Check a release in a directory or in a database, and the input and the receipt if they are given."""
    from shoal.cli import show
    from shoal.cli.holder import check_read_input, made_with
    from shoal.cli.place import called, checked_in, receipt_of, stated_in
    from shoal.engines.inputs import check_input_in_pieces
    from shoal.published.compared import ComparedWith
    from shoal.recipe.recipe import Promise
    from shoal.release.receipt import Receipt, check_receipt
    from shoal.table.sources import read

    stated = stated_in(place)
    known = None if schema is None else Promise.load(schema).schema
    people = None if population is None else read(population)
    recipe = None if original is None else made_with(original)
    source = None if recipe is None else recipe.require_source()
    receipt = receipt_of(place, for_input=True) if receipt is None and recipe is not None else receipt
    held = None if receipt is None else Receipt.read(receipt)
    belongs = held is not None and held.belongs_to(stated)  # one of another release says nothing of the rows of this
    frame = None if source is None or stated.in_parts else read(source)
    if held is not None and belongs and recipe is not None and frame is not None:
        check_read_input(held, frame, recipe)  # first: another table would be told row by row
    compared = ComparedWith(
        population=people, schema=known if recipe is None or stated.in_parts else recipe.schema,
        original=frame, missing_values=() if source is None else source.missing_values, key=key,
        places=held.place_of if held is not None and belongs else None,
    )  # fmt: skip
    verdict, manifest = checked_in(place, compared)
    if held is not None:
        check_receipt(held, manifest, str(receipt))
        if recipe is not None and manifest.in_parts:
            check_input_in_pieces(held, recipe)
    if json:
        has_receipt, has_input = held is not None, held is not None and recipe is not None
        bound = {"receipt": has_receipt or None, "input": has_input or None} if has_receipt or recipe else {}
        show.as_json(_release_entries(verdict, manifest) | bound)
        return
    _tell(verdict, manifest, called(place))
    if held is not None:
        checked = "and so does the input" if recipe is not None else "compare the input with --original RECIPE"
        show.console().print(f"  receipt   belongs to this release; {checked}")
    elif recipe is not None:
        show.console().print("  input     is taken for that of the release; only a receipt tells: give it by --receipt")
    show.console().print(_figures({"reached": verdict.surveyed}))


def _tell(verdict: Verdict, manifest: Manifest, place: str) -> None:
    """Say what a release keeps."""
    from shoal.cli import show

    out = show.console()
    kept = "what could be checked of its promise" if verdict.unchecked else "its promise"
    out.print(f"{place} keeps {kept}.", style="bold")
    for promise in manifest.promise:
        out.print(f"  promised  {show.described(promise, 'model')}")
    if verdict.achieved:
        out.print(f"  reached   {_listed(verdict.achieved)}")
    for text in verdict.unchecked:
        out.print(f"  unchecked {text}", style="yellow")
    out.print(f"  read      {counted(verdict.n_rows, 'row')} in {counted(verdict.n_classes, 'class', 'classes')}")
    out.print(f"  reading   {verdict.reading}")


def _release_entries(verdict: Verdict, manifest: Manifest) -> dict[str, Any]:
    return {
        "holds": True,
        "rows": verdict.n_rows,
        "classes": verdict.n_classes,
        "promise": [dict(promise) for promise in manifest.promise],
        "achieved": _plain(verdict.achieved),
        "unchecked": list(verdict.unchecked),
        "surveyed": _plain(verdict.surveyed),
        "reading": verdict.reading,
    }


# -- any table -----------------------------------------------------------------------------------------------------


def _verify_table(target: str, schema: Path, reading: str, suppressed: str | None, *, json: bool) -> None:
    from shoal.check.table import judge_table
    from shoal.cli import show
    from shoal.errors import GuaranteeError
    from shoal.recipe.recipe import Promise
    from shoal.table.sources import read

    promise = Promise.load(schema)
    verdict = judge_table(
        read(target), promise.schema, require=promise.require, reading=reading, missing_values=promise.missing_values,
        suppressed=() if suppressed is None else suppressed.split(","),
    )  # fmt: skip
    if json:
        show.as_json(_table_entries(verdict, promise.require))
        raise typer.Exit(1 if verdict.reasons else 0)
    _show_table(target, verdict, promise.require)
    if verdict.reasons:
        raise GuaranteeError(verdict.reasons)


def _show_table(target: str, verdict: TableVerdict, require: Sequence[Any]) -> None:
    from shoal.check.readings import READINGS
    from shoal.cli import show

    out, said = show.console(), "does not keep" if verdict.reasons else "keeps"
    what = "what could be checked of what is required" if verdict.unchecked else "what is required"
    out.print(f"{target} {said} {what}." if require else f"{target}: no requirement was given.", style="bold")
    for one in require:
        out.print(f"  required  {show.described({'model': one.name, **one.to_mapping()}, 'model')}")
    if verdict.achieved:
        out.print(f"  reached   {_listed(verdict.achieved)}")
    for text in verdict.unchecked:
        out.print(f"  unchecked {text}", style="yellow")
    for text in verdict.warnings:
        out.print(f"  warning   {text}", style="yellow")
    for name, count in verdict.unread.items():
        out.print(
            f"  unread    column {name!r}: {counted(count, 'cell')} could not be read; each counts as "
            "a value of its own",
            style="yellow",
        )
    out.print(f"  read      {counted(verdict.n_rows, 'row')}")
    for name, text in READINGS.items():
        classes = counted(verdict.readings[name].n_classes, "class", "classes")
        out.print(f"  {'decides ' if name == verdict.reading else 'also    '}  {name}: {text}; {classes}")
    out.print(_figures({name: read.surveyed for name, read in verdict.readings.items()}))


def _table_entries(verdict: TableVerdict, require: Sequence[Any]) -> dict[str, Any]:
    return {
        "holds": not verdict.reasons,
        "rows": verdict.n_rows,
        "required": [{"model": one.name, **one.to_mapping()} for one in require],
        "reading": verdict.reading,
        "readings": {
            name: {
                "classes": read.n_classes,
                "achieved": _plain(read.achieved),
                "surveyed": _plain(read.surveyed),
            }
            for name, read in verdict.readings.items()
        },
        "unread": verdict.unread,
        "unchecked": list(verdict.unchecked),
        "warnings": list(verdict.warnings),
        "reasons": [{"where": problem.where, "what": problem.what} for problem in verdict.reasons],
    }


def _figures(columns: Mapping[str, Mapping[str, float]]) -> Any:
    """What every model reaches, one row per model and sensitive column."""
    from shoal.cli import show

    shown = show.table("What the weakest class reaches", "model", "of column", *columns)
    for key in next(iter(columns.values())):
        letter, _, column = key.partition(":")
        shown.add_row(letter, column, *(f"{values[key]:.6g}" for values in columns.values()))
    return shown


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in values.items()) or "nothing that could be checked"


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers as JSON has them: null where a value is beyond all numbers."""
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
