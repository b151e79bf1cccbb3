"""`shoal init`: look at a table and propose a recipe."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import counted


def init(
    data: Annotated[str, typer.Argument(help="A file (CSV, Parquet, Excel, SQLite) or the uri of a database.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The recipe to write.")] = Path("recipe.toml"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a recipe, and its hierarchies, in that place.")
    ] = False,
    table: Annotated[str | None, typer.Option("--table", help="Table of a database.")] = None,
    query: Annotated[str | None, typer.Option("--query", help="SQL query that returns the table.")] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="Sheet of a workbook.")] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Delimiter between the fields of a CSV file.")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Text encoding of a CSV file.")] = None,
    decimal_comma: Annotated[
        str | None, typer.Option("--decimal-comma", help="Comma-separated columns of numbers such as 1.234,5.")
    ] = None,
    decimal_point: Annotated[
        str | None, typer.Option("--decimal-point", help="Comma-separated columns of numbers such as $1,234.5.")
    ] = None,
    missing_values: Annotated[
        str | None, typer.Option("--missing-values", help="Comma-separated texts that mean a missing cell.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the profile as JSON.")] = False,
) -> None:
    """Profile the columns of a table, propose roles, kinds, hierarchies and requirements with reasons, write a recipe.

    The proposal is careful: in doubt a column counts as known to an attacker. Read it before you run it. Hierarchies
    are CSV files in a folder beside the recipe: they hold the values of their columns, and are as secret as the table.
    Where a table lacks what every recipe needs, the recipe says what is to be done, and the exit status is 2.
    """
    from functools import partial

    from shoal.cli import show
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.errors import Problems, SourceError
    from shoal.errors.redaction import redacted
    from shoal.recipe.proposed import propose
    from shoal.recipe.text import write_recipe
    from shoal.table.profile.decimals import with_decimals
    from shoal.table.profile.profile import profile
    from shoal.table.sources import Source, check_there, detect, read

    given = {"table": table, "query": query, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    options: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    lists = {"decimal_comma": decimal_comma, "decimal_point": decimal_point, "missing_values": missing_values}
    options |= {key: tuple(text.split(",")) for key, text in lists.items() if text is not None}
    settle(out)
    problems = Problems()
    with problems.noting():
        _check_place(out, overwrite=overwrite)
    with problems.noting():
        source = Source.from_options(data, options, "init")
        check_there(source)
    problems.raise_if_any(SourceError)
    if source.kind == "csv":
        found = detect(source)
        source = Source.from_options(source, {"encoding": found.encoding, "delimiter": found.delimiter}, "init")
    source, frame, told = with_decimals(source, read(source))
    described = profile(frame, source.missing_values)
    kept, variables = source.without_password()
    proposed = propose(described, frame, kept, out, told)
    with _for_its_owner(secret=redacted(proposed.text) != proposed.text), ends_here():
        write_recipe(out, proposed.text, proposed.files, partial(_check_place, out, overwrite=overwrite))
    if json:
        require = [{"model": one.name, **one.to_mapping()} for one in proposed.require]
        to_do = [{"where": one.where, "what": one.what, "fix": one.fix} for one in proposed.to_do]
        shown = {"recipe": str(out), "hierarchies": list(proposed.files), "require": require, "variables": variables}
        show.as_json({**shown, "to_do": to_do, "profile": _as_mapping(described)})
    else:
        _show(described, proposed, out, told)
        for name in variables:
            show.say(
                f"The password is not written down. Set it before a run, as it stood in the address: export {name}=..."
            )
    if proposed.to_do:
        for problem in () if json else proposed.to_do:
            show.say(f"{out}: cannot be run yet. {problem}", err=True)
        raise typer.Exit(2)


@contextmanager
def _for_its_owner(*, secret: bool) -> Iterator[None]:
    """While a secret is written, new files are readable by their owner alone."""
    before = os.umask(0o077) if secret else None
    try:
        yield
    finally:
        if before is not None:
            os.umask(before)


def _check_place(out: Path, *, overwrite: bool) -> None:
    """Refuse a place that is taken, or that cannot be written to, before anything is read."""
    from shoal.errors import Problem, SourceError

    trees = out.parent / f"{out.stem}.hierarchies"
    for place in (out, trees):
        if place.exists() and not overwrite:
            raise SourceError(
                Problem(str(place), "exists already", "choose another name with --out, or add --overwrite")
            )
    if out.exists() and not _is_recipe(out):
        raise SourceError(Problem(str(out), "is no recipe, so it is not replaced", "choose another name with --out"))
    if not out.parent.is_dir():
        raise SourceError(
            Problem(str(out), "its folder does not exist", "make the folder, or choose another with --out")
        )


def _is_recipe(out: Path) -> bool:
    """Whether a file is a recipe, also one that was cut off or cannot be read as TOML; an empty one is free to take."""
    try:
        text = out.read_text(encoding="utf-8") if out.is_file() else "no file"
    except (OSError, UnicodeDecodeError):
        return False
    return (
        not text
        or re.search(r"^(\[(source|columns|method)\b|# A proposal by shoal init)", text, re.MULTILINE) is not None
    )


def _as_mapping(described: Any) -> dict[str, Any]:
    from dataclasses import asdict

    entries = asdict(described)
    for entry, column in zip(entries["columns"], described.columns, strict=True):
        del entry["order"]  # which lists categories of the table
        rule = column.hierarchy
        entry["hierarchy"] = None if rule is None else {"name": rule.name, **rule.to_mapping()}
    return entries


def _show(described: Any, proposed: Any, out: Path, told: Sequence[str]) -> None:
    from shoal.cli import show
    from shoal.cli.show import one_line

    console = show.console()
    columns = ("column", "role", "kind", "distinct", "missing", "alone", "added")
    shown = show.table(counted(described.n_rows, "row"), *columns)
    for place, part in enumerate(shown.columns):  # where all do not fit, names go on in a second line: no role is cut
        part.no_wrap, part.overflow = place > 0, "fold"
    for column in described.columns:
        others = "" if column.unique_with_others is None else f"{100 * column.unique_with_others:.1f} %"
        counts = (f"{column.n_distinct:,}", f"{column.n_missing:,}", f"{100 * column.unique_share:.1f} %", others)
        shown.add_row(column.name, column.role, column.kind or "", *counts)
    console.print(shown)
    console.print("alone: rows it singles out; added: rows it singles out beside the other quasi-identifiers")
    _show_reasons(described, console)
    _show_pairs(described, console)
    for warning in (*described.warnings, *described.unread):
        console.print(f"Warning: {warning}", style="bold")
    for one in proposed.require:
        console.print(f"Required: {_asked(one)}.")
    _show_markers(described.suspected_missing, console)
    for one in told:
        console.print(one_line(one))
    if proposed.files:
        folder = str(Path(next(iter(proposed.files))).parent)
        many = "1 hierarchy" if len(proposed.files) == 1 else f"{len(proposed.files)} hierarchies"
        console.print(f"Wrote {many} to edit into {out.parent / folder}.")
    then = "It cannot be run yet: its first lines say why" if proposed.to_do else f"Read it, then: shoal run {out}"
    console.print(f"Wrote {out}. {then}", style="bold", soft_wrap=True)  # the command is copied


def _show_markers(suspected: Mapping[str, Mapping[str, int]], console: Any) -> None:
    """Texts that look like missing cells, by column, and what to do about all of them at once."""
    import shlex

    from shoal.concerns.base import toml_text

    for name, markers in suspected.items():
        found = ", ".join(f"{marker!r} ({count:,})" for marker, count in markers.items())
        console.print(f"Column {name!r} may use {found} for missing.")
    every = sorted({marker for markers in suspected.values() for marker in markers})
    if every:
        anew = f"--missing-values {shlex.quote(','.join(every))} --overwrite"
        line = f"missing_values = [{', '.join(map(toml_text, every))}]"
        console.print("If so, have the recipe proposed anew with")
        console.print(f"  {anew}", soft_wrap=True)  # to be copied: a line break would be part of a marker
        console.print("or add under [source]:")
        console.print(f"  {line}", soft_wrap=True)


def _asked(one: Any) -> str:
    """A requirement, its column, and how much of it."""
    if one.name == "l-diversity":
        return f"{one.variant} l-diversity of {one.column!r}, l = {one.l:g}"
    return f"{one.name} of {one.column!r}, t = {one.t:g}"


def _show_reasons(described: Any, console: Any) -> None:
    from rich.padding import Padding

    from shoal.cli.show import one_line

    console.print("Why", style="bold")
    for column in described.columns:
        console.print(
            Padding(
                one_line(f"{column.name} ({column.role}, confidence {column.confidence}): {column.reason}"),
                (0, 0, 0, 2),
            )
        )
    console.print()


def _show_pairs(described: Any, console: Any) -> None:
    from shoal.cli import show

    singling = [pair for pair in described.pairs[:5] if pair.unique_share > 0]
    if singling:
        pairs = show.table("Rows that are unique in two columns", "columns", "unique")
        for place, part in enumerate(pairs.columns):  # names that do not fit go on in a second line: no share is cut
            part.no_wrap, part.overflow = place > 0, "fold"
        for pair in singling:
            pairs.add_row(" + ".join(pair.columns), f"{100 * pair.unique_share:.1f} %")
        console.print(pairs)
    share = 100 * described.all_quasi_unique_share
    console.print(f"{share:.1f} % of the rows are unique in all proposed quasi-identifiers together.")
