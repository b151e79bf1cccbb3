"""`shoal init`: look at a table and propose a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def init(
    data: Annotated[str, typer.Argument(help="A file (CSV, Parquet, Excel, SQLite) or the uri of a database.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The recipe to write.")] = Path("recipe.toml"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a recipe in that place.")] = False,
    table: Annotated[str | None, typer.Option("--table", help="Table of a database.")] = None,
    query: Annotated[str | None, typer.Option("--query", help="SQL query that returns the table.")] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="Sheet of a workbook.")] = None,
    delimiter: Annotated[
        str | None, typer.Option("--delimiter", help="Delimiter between the fields of a CSV file.")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="Text encoding of a CSV file.")] = None,
    missing_values: Annotated[
        str | None, typer.Option("--missing-values", help="Comma-separated texts that mean a missing cell.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the profile as JSON.")] = False,
) -> None:
    """Profile the columns of a table, propose roles, kinds and hierarchies with reasons, and write a recipe.

    The proposal is careful: in doubt a column counts as known to an attacker. Read it before you run it.
    """
    from shoal.cli import show
    from shoal.errors import Problem, SourceError
    from shoal.table.profile.profile import profile
    from shoal.table.sources import Source, detect, read

    given = {"table": table, "query": query, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    options: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    if missing_values is not None:
        options["missing_values"] = tuple(missing_values.split(","))
    if out.exists() and not overwrite:
        raise SourceError(Problem(str(out), "exists already", "choose another name with --out, or add --overwrite"))
    if not out.parent.is_dir():
        raise SourceError(
            Problem(str(out), "its folder does not exist", "make the folder, or choose another with --out")
        )
    source = Source.from_options(data, options, "init")
    if source.kind == "csv":
        found = detect(source)
        source = Source.from_options(source, {"encoding": found.encoding, "delimiter": found.delimiter}, "init")
    described = profile(read(source), source.missing_values)
    text = recipe_text(described, source, out)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(Problem(str(out), f"cannot be written ({error.strerror})", "choose another place")) from None
    if json:
        show.as_json({"recipe": str(out), "profile": _as_mapping(described)})
    else:
        _show(described, out)


def _as_mapping(described: Any) -> dict[str, Any]:
    from dataclasses import asdict

    entries = asdict(described)
    for entry, column in zip(entries["columns"], described.columns, strict=True):
        rule = column.hierarchy
        entry["hierarchy"] = None if rule is None else {"name": rule.name, **rule.to_mapping()}
    return entries


def recipe_text(described: Any, source: Any, out: Path) -> str:
    """The proposed recipe, with the reason for each column as a comment."""
    import os

    from shoal.methods.mondrian import Mondrian
    from shoal.recipe.recipe import Recipe
    from shoal.recipe.text import write_toml

    entries = Recipe(described.to_schema(), Mondrian(k=5), source).to_mapping()
    if "path" in entries["source"]:
        entries["source"]["path"] = os.path.relpath(entries["source"]["path"], out.parent)
    entries["method"] = {"name": "mondrian", "k": 5}
    entries["publish"] = {"name": "generalize"}
    comments = {column.name: column.reason for column in described.columns}
    comments[""] = "A proposal: read every role and its reason, and change what does not fit."
    return write_toml(entries, comments)


def _show(described: Any, out: Path) -> None:
    from rich.padding import Padding

    from shoal.cli import show

    shown = show.table(f"{described.n_rows:,} rows", "column", "role", "kind", "distinct", "missing", "unique")
    for column in described.columns:
        share = f"{100 * column.unique_share:.1f} %"
        counts = (f"{column.n_distinct:,}", f"{column.n_missing:,}", share)
        shown.add_row(column.name, column.role, column.kind or "", *counts)
    console = show.console()
    console.print(shown)
    console.print("Why", style="bold")
    for column in described.columns:
        console.print(Padding(f"{column.name} ({column.role}): {column.reason}", (0, 0, 0, 2)))
    console.print()
    if described.pairs:
        pairs = show.table("Rows that are unique in two columns", "columns", "unique")
        for pair in described.pairs[:5]:
            pairs.add_row(" + ".join(pair.columns), f"{100 * pair.unique_share:.1f} %")
        console.print(pairs)
    share = 100 * described.all_quasi_unique_share
    console.print(f"{share:.1f} % of the rows are unique in all proposed quasi-identifiers together.")
    for name, markers in described.suspected_missing.items():
        found = ", ".join(f"{marker!r} ({count:,})" for marker, count in markers.items())
        wanted = ", ".join(f'"{marker}"' for marker in markers)
        console.print(
            f"Column {name!r} may use {found} for missing; if so, add under [source]: missing_values = [{wanted}]"
        )
    console.print(f"Wrote {out}. Read it, then: shoal run {out}", style="bold")
