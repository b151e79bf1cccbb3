"""The source of a table, read piece by piece into the folder that it is worked on in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.engines.known import PieceFacts
from shoal.engines.running import Running
from shoal.engines.sizes import check_fits
from shoal.engines.steps import Reading, clean_piece, facts_of_piece
from shoal.engines.tables import check_free_names
from shoal.engines.work import RAW
from shoal.errors import Problems, SchemaError
from shoal.machine.processes import ended_told
from shoal.table.frames import check_names
from shoal.table.markers import note_unknown
from shoal.table.names import Names
from shoal.table.sources.stream import check_unchanged, stream


def spooled(run: Running, before: Sequence[Any]) -> tuple[Reading, list[PieceFacts]]:
    """The source as pieces in their canonical types, and what they say of it."""
    schema, source = run.recipe.schema, run.recipe.require_source()
    reading: Reading | None = None
    if (n_rows := run.work.noted("rows")) is not None:
        settled = schema.fit(Names(run.work.noted("columns")), Problems())
        reading = Reading(settled, run.asked.missing, source.missing_values)
        first = np.concatenate([[0], np.cumsum(n_rows)[:-1]]).tolist()
        arguments = [(run.work, place, reading, n_rows[place], first[place]) for place in range(len(n_rows))]
        return reading, run.each("reading", len(n_rows))(facts_of_piece, arguments)
    run.told.stage("reading")
    found = Problems()
    facts: list[PieceFacts] = []
    digests: list[str] = []
    rows: list[int] = []
    pending: list[Any] = []
    with ended_told():
        for number, piece in enumerate(stream(source)):
            if reading is None:
                check_names(piece.columns)
                names = Names.of(piece, schema.roles)
                check_free_names(piece.columns, found)
                note_unknown(source.missing_values, names, found)
                settled = schema.fit(names, found)
                found.raise_if_any(SchemaError)
                reading = Reading(settled, run.asked.missing, source.missing_values)
                run.work.note(columns=piece.columns)
                check_fits(run.memory, run.blocks, run.workers.workers, piece, schema)
            run.work.save(RAW, number, piece)
            pending.append(run.workers.executor.submit(clean_piece, run.work, number, sum(rows), reading))
            rows.append(piece.height)
            run.told.advance(piece.height)
            while len(pending) - len(facts) > 2 * run.workers.workers:
                _taken(pending[len(facts)], facts, digests, found)
        while len(facts) < len(pending):
            _taken(pending[len(facts)], facts, digests, found)
    check_unchanged(source, before)
    found.raise_if_any(SchemaError)
    assert reading is not None  # noqa: S101  a source has rows
    digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()
    run.work.note(rows=rows, sha256=digest)
    return reading, facts


def _taken(future: Any, facts: list[PieceFacts], digests: list[str], found: Problems) -> None:
    """What a process found in a piece."""
    piece, digest, problems = future.result()
    facts.append(piece)
    digests.append(digest)
    if len(found) < 100:
        found.extend(problems)
