"""`shoal republish` and `shoal verify-series`: a table that is published over and over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.run import Out, Overwrite, Quiet, Threads

PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", help="File with the passphrase; else SHOAL_PASSPHRASE, or you are asked."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def republish(
    context: typer.Context,
    recipe: Annotated[Path, typer.Argument(help="The recipe, a TOML file whose method is m-invariance.")],
    state: Annotated[Path, typer.Option("--state", help="Encrypted state file of the data holder. Never publish it.")],
    previous: Annotated[
        Path | None, typer.Option("--previous", help="Directory of the previous release; leave it out for the first.")
    ] = None,
    out: Out = Path("release"),
    passphrase_file: PassphraseFile = None,
    overwrite: Overwrite = False,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Publish a table again, so that its releases tell nothing when they are compared.

    The first release makes the state file, every later one needs it and replaces it. The release and the state are
    written together, or neither is.
    """
    from shoal.cli import show
    from shoal.disk.recovery import settle
    from shoal.disk.stopping import ends_here
    from shoal.release.manifest import Manifest
    from shoal.release.receipt import receipt_path
    from shoal.series import republish_recipe
    from shoal.series.checks import check_not_of_series
    from shoal.table.sources import check_installed

    read = _read(recipe, context.args)
    for place in (out, state):
        settle(place)
    _check_places(state, previous, out, overwrite=overwrite)
    check_installed(read.source)
    secret, before = _unlocked(state, passphrase_file, new=previous is None)
    if before is not None:
        check_not_of_series(out, before.fingerprints())
    with show.ShownProgress(quiet=quiet or json) as progress:
        made = republish_recipe(read, previous=previous, state=before, threads=threads, progress=progress)
        progress.stage("writing")
        with ends_here():
            made.write(out, state, secret, format=read.format, overwrite=overwrite)
    if json:
        manifest = Manifest.read(out).model_dump(mode="json")
        held = {"state": str(state), "receipt": str(receipt_path(out))}
        show.as_json({"release": str(out), **held, "manifest": manifest})
    else:
        number = len(made.state.releases)
        show.console().print(show.release_table(made.release, f"Release {number} of its series in {out}"))


def _read(recipe: Path, flags: list[str]) -> Any:
    """The recipe with its flags; one for another method is refused before its flags, and before anything is asked."""
    from shoal.cli.flags import apply_flags
    from shoal.recipe.recipe import Recipe
    from shoal.recipe.text import read_entries
    from shoal.series.next_release import checked_method

    entries = read_entries(recipe)
    named = entries.get("method", {}).get("name") if isinstance(entries.get("method"), dict) else None
    if named != "m-invariance" and not any(flag.startswith("--method") for flag in flags):
        checked_method(Recipe.from_entries(entries, recipe.parent))
    read = Recipe.from_entries(apply_flags(entries, flags), recipe.parent)
    checked_method(read)
    return read


def _check_places(state: Path, previous: Path | None, out: Path, *, overwrite: bool) -> None:
    """Refuse places that are taken or missing, before anything is read or asked."""
    from shoal.errors import ParameterError, Problems
    from shoal.published.writing import check_places
    from shoal.release.sealed import STATE

    STATE.check_place(state, out)  # first: a folder is no state that exists already
    problems = Problems()
    if previous is None and state.exists():
        fix = "give --previous DIR to continue its series, or another file to begin a new one"
        problems.add(str(state), "the state exists already, so this is not a first release", fix)
    if previous is not None and not state.is_file():
        fix = "give the file that was written with the previous release; without it nothing can follow"
        problems.add(str(state), "there is no state file", fix)
    if previous is not None and previous.resolve() == out.resolve():
        problems.add(str(out), "is the previous release, which is not replaced", "choose another directory")
    problems.raise_if_any(ParameterError)
    check_places(out, overwrite=overwrite)


def _unlocked(state: Path, passphrase_file: Path | None, *, new: bool) -> tuple[str, Any]:
    """The passphrase, and the state it opens; None where the series only begins."""
    from shoal.cli.passphrase import passphrase
    from shoal.series import SeriesState

    secret = passphrase(passphrase_file, new=new)
    return secret, None if new else SeriesState.read(state, secret)


def verify_series(
    releases: Annotated[list[Path], typer.Argument(help="The release directories, from the first on.")],
    state: Annotated[
        Path | None, typer.Option("--state", help="For the data holder: the state after the last release.")
    ] = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Check repeated releases together; exit status 1, with every reason, when they do not hold."""
    from shoal.check.series import verify_series as check
    from shoal.cli import show
    from shoal.errors import ParameterError, Problem, counted

    held = None if state is None else _unlocked(state, passphrase_file, new=False)[1]
    if held is not None and len(held.releases) != len(releases):
        what = f"is the state after release {len(held.releases)}, but {counted(len(releases), 'is', 'are')} given"
        fix = "give all releases, from the first on, and the state that was written with the last of them"
        raise ParameterError(Problem(str(state), what, fix))
    verdict = check(releases) if held is None else check(releases, held.memberships(), held.fingerprints())
    if json:
        show.as_json(
            {
                "holds": True,
                "releases": verdict.n_releases,
                "m": verdict.m,
                "counterfeits": verdict.counterfeits,
                "people": verdict.n_people,
            }
        )
        return
    out = show.console()
    kept = "1 release keeps its" if verdict.n_releases == 1 else f"{verdict.n_releases} releases keep their"
    out.print(f"{kept} promise.", style="bold")
    out.print(f"  every class has at least {verdict.m} different sensitive values, each exactly once")
    out.print(f"  counterfeits  {', '.join(f'{count:,}' for count in verdict.counterfeits)}")
    if verdict.n_people is None:
        out.print("  people were not followed; the data holder can use --state FILE")
    else:
        out.print(f"  {verdict.n_people:,} people keep the same set of sensitive values in all their releases")
