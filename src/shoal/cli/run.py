"""`shoal run`: the one path, from a recipe to a release directory."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.show import tell_warnings

ANY_FLAG = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Every parameter of the recipe's method and publisher is a flag too; they are checked against the recipe."""

Out = Annotated[Path, typer.Option("--out", "-o", help="Directory to make for the release.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier release in that place.")]
Threads = Annotated[int | None, typer.Option("--threads", help="How many cores to use; the result is the same.")]
Memory = Annotated[
    str | None,
    typer.Option("--memory", help="How much memory may be taken, such as 2GB; refused if that is too little."),
]
BlockRows = Annotated[
    int | None,
    typer.Option(
        "--block-rows", help="Read and publish the table in blocks of so many rows, on disk: for large tables."
    ),
]
PartRows = Annotated[
    int | None,
    typer.Option("--part-rows", help="With --block-rows or --engine spark: rows of a file of the release, on average."),
]
Master = Annotated[
    str | None,
    typer.Option("--master", help="With --engine spark: the cluster, such as spark://host:7077, yarn or local[4]."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")]
NoReport = Annotated[bool, typer.Option("--no-report", help="Write no report beside the release.")]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        help='A further requirement, such as "l-diversity column=disease l=3"; may be repeated.',
        autocompletion=completing.models,
    ),
]
PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file", help="File with the passphrase of the key; else SHOAL_PASSPHRASE, or you are asked."
    ),
]
Population = Annotated[
    str | None,
    typer.Option("--population", help="A table of the population, for models that need one (k-map, delta-presence)."),
]


def run(
    context: typer.Context,
    recipe: Annotated[
        str, typer.Argument(help="The recipe, a TOML file; or a table, with --quasi and other roles of its columns.")
    ],
    out: Out = Path("release"),
    method: Annotated[
        str | None,
        typer.Option(
            help="The method, instead of that of the recipe.",
            autocompletion=completing.methods,
        ),
    ] = None,
    publish: Annotated[
        str | None,
        typer.Option(
            help="The publisher, instead of that of the recipe.",
            autocompletion=completing.publishers,
        ),
    ] = None,
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            help="For a table: columns that an attacker may know, such as age,zip.", autocompletion=completing.columns
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            help="For a table: columns to protect.",
            autocompletion=completing.columns,
        ),
    ] = None,
    identifying: Annotated[
        list[str] | None,
        typer.Option(
            help="For a table: columns that name a person; never published.", autocompletion=completing.columns
        ),
    ] = None,
    neutral: Annotated[
        list[str] | None,
        typer.Option(
            help="For a table: columns published as they are.",
            autocompletion=completing.columns,
        ),
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="For a table: the column that says whose row each one is; people are counted.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="For a table: the column of survey weights.")] = None,
    rest: Annotated[
        str | None, typer.Option(help="For a table: what columns named nowhere are, drop or neutral; else an error.")
    ] = None,
    require: Require = None,
    population: Population = None,
    passphrase_file: PassphraseFile = None,
    overwrite: Overwrite = False,
    no_report: NoReport = False,
    threads: Threads = None,
    memory: Memory = None,
    block_rows: BlockRows = None,
    part_rows: PartRows = None,
    master: Master = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Follow a recipe: read, group, publish, verify, measure, write. Or publish a table by flags alone.

    Any parameter of the recipe can be changed by a flag of its name, for example `--k 10`, `--method mondrian`,
    `--publish aggregate`, `--refine`, `--shape typed`, `--seed 3`, `--suppress 0.01`, `--missing drop`,
    `--format parquet`. `shoal methods` lists those of methods, `shoal models` what can be required.

    With `--quasi` the argument is a table: `shoal run people.csv --quasi age,zip --sensitive disease --rest drop`.
    The kinds of its columns are those that `shoal init` proposes; the method follows from the size of the table, with
    k = 5, unless flags say otherwise.

    Nothing is written unless the release keeps its promise. At the end stands what to look at, though it is kept; with
    `--strict`, a release that has something to look at is refused.
    """
    from shoal.cli import direct, show
    from shoal.cli.flags import apply_flags
    from shoal.cli.report import page_path
    from shoal.disk.stopping import ends_here
    from shoal.recipe.recipe import Recipe
    from shoal.recipe.text import read_entries
    from shoal.release.key import key_path
    from shoal.release.manifest import Manifest
    from shoal.release.receipt import receipt_path

    arguments = [*context.args, *_as_flags(method=method, publish=publish)]
    roles = {"quasi": quasi, "sensitive": sensitive, "identifying": identifying, "neutral": neutral}
    roles |= {"person": [person] if person else None, "weight": [weight] if weight else None}
    given = {role: columns for role, columns in roles.items() if columns}
    strict = take_strict(arguments)
    by_flags = _by_flags(recipe, [*given, *(["rest"] if rest else [])])
    if by_flags:
        described, others, why = direct.recipe_entries(recipe, given, rest, arguments)
    else:
        described, others, why = read_entries(recipe), arguments, ""
    entries = apply_flags(described, others, require=require or (), population=population)
    read = Recipe.from_entries(entries, None if by_flags else Path(recipe).parent)
    if by_flags and not (quiet or json):
        direct.tell(entries, recipe, why)
    with ends_here():
        release, concerns = follow(
            read, out, overwrite=overwrite, threads=threads, memory=memory, quiet=quiet or json,
            passphrase_file=passphrase_file, report=not no_report, strict=strict, block_rows=block_rows,
            part_rows=part_rows, master=master,
        )  # fmt: skip
    place = out if read.target is None else read.target.describe()
    if json:
        written = release.manifest if read.target is not None else Manifest.read(out)
        held: dict[str, Any] = {"receipt": str(receipt_path(out))}
        held |= {} if release.key is None else {"key": str(key_path(out))}
        held |= {} if no_report else {"report": str(page_path(out))}
        held |= {"columns": entries["columns"]} if by_flags else {}
        held |= {} if concerns is None else {"concerns": [show.concern_entry(one) for one in concerns]}
        show.as_json({"release": str(place), **held, "manifest": written.model_dump(mode="json")})
    else:
        show.console().print(show.release_table(release, f"Release in {place}"))
        if concerns is None:
            show.console().print("A release in parts is checked, but not looked through for concerns.")
        else:
            show.tell_concerns(concerns)
        page = None if no_report else page_path(out)
        show.tell_receipt(out, key=release.key is not None, report=page, place=str(place))


def take_strict(arguments: list[str]) -> bool:
    """Whether `--strict` is among the arguments, without a value; it is taken out of them.

    With a value, as in `--strict false`, it is the parameter of Mondrian.
    """
    for place, one in enumerate(arguments):
        if one == "--strict" and arguments[place + 1 : place + 2] not in (["true"], ["false"]):
            del arguments[place]
            return True
    return False


def _as_flags(**given: str | None) -> list[str]:
    """Options that go over the recipe with all other flags."""
    return [f"--{name}={text}" for name, text in given.items() if text is not None]


def _by_flags(place: str, roles: list[str]) -> bool:
    """Whether flags describe a table; they are refused beside a recipe."""
    from shoal.cli.direct import is_table
    from shoal.errors import ParameterError, Problems

    if not roles or is_table(place):
        return bool(roles)
    problems = Problems()
    for role in roles:
        fix = "leave it out, or name a table such as people.csv"
        problems.add(f"--{role}", "is for a table; a recipe says itself what its columns are", fix)
    problems.raise_if_any(ParameterError)
    return False


def follow(
    recipe: Any,
    out: Path,
    *,
    overwrite: bool = False,
    threads: int | None = None,
    memory: str | None = None,
    quiet: bool = False,
    source_name: str | None = None,
    passphrase_file: Path | None = None,
    report: bool = True,
    strict: bool = False,
    compare: bool = True,
    block_rows: int | None = None,
    part_rows: int | None = None,
    master: str | None = None,
) -> tuple[Any, tuple[Any, ...] | None]:
    """Run a recipe and write its release and report, with progress where somebody is looking.

    Gives the release and what to look at in it; None for a release in parts, which nobody looked through. With
    `compare`, other methods are tried on some rows of the table.
    """
    from shoal.cli.blocks import blocks_of, follow_in_blocks
    from shoal.disk.recovery import settle

    settle(out)
    engine = blocks_of(recipe.engine, block_rows, part_rows, threads)
    on_cluster = recipe.engine == "spark" or master is not None
    asked = passphrase_file is not None
    _check_before(recipe, out, overwrite=overwrite, report=report, on_cluster=on_cluster, passphrase_file=asked)
    if on_cluster:
        from shoal.cli.spark import follow_on_spark

        return follow_on_spark(
            recipe, out, master, blocks=engine, overwrite=overwrite, quiet=quiet, source_name=source_name,
            report=report, strict=strict,
        )  # fmt: skip
    if engine is not None:
        written = follow_in_blocks(
            recipe, out, engine, overwrite=overwrite, memory=memory, quiet=quiet, source_name=source_name,
            report=report, strict=strict,
        )  # fmt: skip
        if written is not None:
            return written, None
    options = {"source_name": source_name, "threads": threads, "memory": memory, "engine": engine}
    return _follow_in_memory(
        recipe, out, options, passphrase_file, overwrite=overwrite, quiet=quiet, report=report, strict=strict,
        compare=compare,
    )  # fmt: skip


def _check_before(
    recipe: Any, out: Path, *, overwrite: bool, report: bool, on_cluster: bool, passphrase_file: bool
) -> None:
    """Refuse what would go wrong at the end, before anything is read."""
    from shoal.cli import report as reports
    from shoal.cli.target import check_target
    from shoal.errors import Problems, SourceError
    from shoal.published.writing import check_places
    from shoal.release.sealed import KEY
    from shoal.report.page import check_place
    from shoal.table.sources import check_installed, check_there

    problems = Problems()
    with problems.noting():
        if recipe.target is None:
            check_places(out, overwrite=overwrite, key=bool(recipe.sensitive))
        else:
            check_target(recipe, out, overwrite=overwrite)
    if report:
        with problems.noting(), suppress(OSError):  # no name that a file can have, which the release's check said
            check_place(reports.page_path(out), overwrite=overwrite)
    for source in (recipe.source, recipe.population):
        with problems.noting():
            if source is not None:
                (check_installed if on_cluster else check_there)(source)  # a cluster may find files that we do not
    if recipe.sensitive:
        with problems.noting():
            KEY.check_package()
    elif passphrase_file:
        what = "is for the key of a release with aliases or grades, and the recipe asks for neither"
        problems.add("--passphrase-file", what, "leave it out", error=SourceError)
    problems.raise_if_any(SourceError)


def _follow_in_memory(
    recipe: Any, out: Path, options: dict[str, Any], passphrase_file: Path | None, *, overwrite: bool, quiet: bool,
    report: bool, strict: bool, compare: bool,
) -> tuple[Any, tuple[Any, ...]]:  # fmt: skip
    """Run a recipe over a table that is in memory; the release, and what to look at in it."""
    from shoal.cli import show
    from shoal.cli.passphrase import passphrase
    from shoal.concerns.base import refuse
    from shoal.concerns.trials.costly_promise import costly_promise, promises_of
    from shoal.concerns.trials.other_method import other_method, others_of
    from shoal.concerns.trials.trial import loss_of, some_rows
    from shoal.errors import ShoalWarning
    from shoal.pipeline import run as run_recipe
    from shoal.table.sources import read

    secret = passphrase(passphrase_file, new=True, what="key") if recipe.sensitive else None
    noted: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always", ShoalWarning)
            with show.ShownProgress(quiet=quiet) as progress:
                release = run_recipe(recipe, progress=progress, **options)
                progress.stage("looking")
                concerns = release.concerns
                if compare and (promises_of(recipe) or others_of(recipe, release.manifest.rows.published)):
                    frame = read(recipe.require_source())
                    lost = loss_of(recipe, some_rows(frame))
                    found = (other_method(recipe, frame, lost), costly_promise(recipe, frame, lost))
                    concerns += tuple(one for one in found if one is not None)
                if strict:
                    refuse(concerns)
                _write(recipe, release, out, secret, progress, overwrite=overwrite, report=report)
    finally:
        tell_warnings(noted)  # also before an error, which they may explain
    return release, concerns


def _write(recipe: Any, release: Any, out: Path, secret: Any, progress: Any, *, overwrite: bool, report: bool) -> None:
    """Put a release, its receipt and its report where they belong: all of them, or nothing."""
    from functools import partial

    from shoal.cli import report as reports
    from shoal.disk.change import changing
    from shoal.release.receipt import receipt_path, warn_of_reuse
    from shoal.report.page import check_place

    progress.stage("writing")
    page = reports.page_path(out)
    with changing(out) as change:
        if recipe.target is None:
            files = release.stage(change, out, recipe.format, overwrite=overwrite, passphrase=secret)
        elif release.receipt is not None:
            files = None
            change.file(receipt_path(out), release.receipt.to_json().encode())
        if report:
            progress.stage("reporting")
            content = reports.public_page(release, files, out)
            change.file(page, content, private=False, look=partial(check_place, page, overwrite=overwrite))
        if recipe.target is not None:  # the last step that can fail but for moving two files
            release.write_database(recipe.target.uri, recipe.target.release, overwrite=overwrite)
    if release.receipt is not None:
        warn_of_reuse(release.receipt, out)
