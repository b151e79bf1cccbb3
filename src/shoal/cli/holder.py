"""What the holder of a release gives with it: its key, and the recipe that it was made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def opened_key(key: Path | None, passphrase_file: Path | None) -> Any:
    """The key of a release, from its encrypted file; none where none is given."""
    from shoal.cli.passphrase import passphrase
    from shoal.errors import ParameterError, Problem
    from shoal.release.key import Key

    if key is None and passphrase_file is not None:
        raise ParameterError(Problem("--passphrase-file", "is given without the key that it opens", "give --key, too"))
    return None if key is None else Key.read(key, passphrase(passphrase_file, new=False, what="key"))


def made_with(recipe: Path) -> Any:
    """The recipe that a release was made with; the table itself, given in its place, does not say how it is read."""
    from shoal.errors import Problem, RecipeError
    from shoal.recipe.recipe import Recipe
    from shoal.table.sources.source import kind_of_path

    try:
        return Recipe.load(recipe)
    except RecipeError:
        if kind_of_path(str(recipe)) is None or not recipe.is_file():
            raise
        fix = "give the recipe that the release was made with: it says where the table is, and what its columns are"
        problem = Problem(f"--original {recipe}", "is a table by its name, and no recipe", fix)
    raise RecipeError(problem)


def check_read_input(receipt: Any, frame: Any, recipe: Any) -> None:
    """Read the input as it was read when the release was made, and compare it with what the receipt notes."""
    import warnings

    from shoal.release.receipt import check_input
    from shoal.table.frames import to_polars
    from shoal.table.prepare import prepare

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of was said when the release was made
        table = prepare(
            to_polars(frame)[0], recipe.schema, missing=recipe.missing, normalise=recipe.normalise,
            missing_values=recipe.require_source().missing_values,
        )  # fmt: skip
    check_input(receipt, table)
