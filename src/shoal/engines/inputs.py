"""The input of a release in parts, read again piece by piece and compared with what the receipt notes of it."""

from __future__ import annotations

import hashlib

from shoal.engines.steps import Reading, followed_rows
from shoal.errors import GuaranteeError, ParameterError, Problem, Problems, SchemaError, some
from shoal.recipe.recipe import Recipe
from shoal.release.receipt import Receipt
from shoal.table.fingerprint import content_sha256
from shoal.table.frames import check_names
from shoal.table.names import Names
from shoal.table.sources.stream import ROWS, stream

ANOTHER = "is not the input of the release: its content differs from what the receipt notes"


def check_input_in_pieces(receipt: Receipt, recipe: Recipe) -> None:
    """Refuse an input that is not the one a receipt was written for; one piece of it is in memory at a time."""
    if receipt.input.by_block:
        what = "was read on a cluster, in an order that nobody knows, and cannot be compared with its receipt"
        raise ParameterError(Problem("--original", what, "leave it out"))
    if receipt.input.piece_rows != ROWS:
        raise GuaranteeError(Problem("original", ANOTHER))
    digests: list[str] = []
    n_rows = n_kept = 0
    reading, problems = None, Problems()
    for piece in stream(recipe.require_source()):
        if reading is None:
            check_names(piece.columns)
            _check_roles(receipt, recipe, piece.columns)
            settled = recipe.schema.fit(Names.of(piece, recipe.schema.roles), problems)
            problems.raise_if_any(SchemaError)
            reading = Reading(settled, recipe.missing, recipe.require_source().missing_values)
        kept, cleaned = followed_rows(piece, reading, problems)
        digests.append(content_sha256(cleaned))
        n_rows, n_kept = n_rows + piece.height, n_kept + kept.height
    digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    if len(problems) or (n_rows, digest) != (receipt.input.rows, receipt.input.sha256):
        raise GuaranteeError(Problem("original", ANOTHER))
    if n_rows - n_kept != sum(receipt.rows.dropped.values()):
        raise GuaranteeError(Problem("receipt", "counts other dropped rows than the input has"))


def _check_roles(receipt: Receipt, recipe: Recipe, names: list[str]) -> None:
    """Refuse a recipe that gives columns other roles than the release was made with."""
    roles = {column.name: column.role for column in receipt.columns}
    given = recipe.schema.roles
    if other := [name for name in names if roles.get(name) != given.get(name, "drop")]:
        what = f"gives another role to {some(other)} than the release was made with"
        raise GuaranteeError(Problem("schema", what, "give the recipe that the release was made with"))
