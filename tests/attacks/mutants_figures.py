"""Models of sensitive values, counts of rows, places in a series and figures tampered with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import polars as pl

from attacks.mutants import Mutant, edited, forged
from attacks.mutants_json import SECRET
from attacks.mutants_promises import asking
from attacks.mutants_rows import Rows
from attacks.victims import Files, Victim
from shoal.check.promises import probes
from shoal.published.release import Release
from shoal.release.manifest import Place
from support.forging import mended, with_entries

STRONGER = "a promise that holds, though nobody had asked for it"
LETTERS = ("k", "l", "t", "alpha", "delta", "beta", "m")
LAST_BITS = "the last bits of a sum differ between machines"


def model_mutants(victim: Victim) -> Iterator[Mutant]:
    """What is reached of every model promised as well, then a stronger promise, then cells that break it."""
    if victim.shape in ("buckets", "slices", "files", "invariant"):
        return
    verdict, require = victim.release.verify(), victim.release.manifest.recipe.require
    for probe in probes(verdict.classes):
        letter = next(name for name in LETTERS if name == probe.key or (name != "k" and hasattr(probe, name)))
        for word, true, value in _near(probe, verdict.surveyed[probe.key]):
            try:
                one = {"model": probe.name, **type(probe)(**{**probe.to_mapping(), letter: value}).to_mapping()}
            except ValueError:
                continue
            ask = partial(asking, require=(*require, one))
            yield Mutant(f"model {probe.key} {word}", forged(victim, ask), true)
            if true and probe.key != "k":
                broken = forged(victim, lambda release, ask=ask, column=probe.column: ask(_alike(release, column)))
                yield Mutant(f"model {probe.key} {word}, then broken", broken)


def _near(probe: Any, reached: float) -> Iterator[tuple[str, str, float]]:
    """What is reached, as far as numbers tell, and a little more."""
    if not math.isfinite(reached):
        return
    if probe.key == "k":
        yield from (("reached", STRONGER, int(reached)), ("beyond", "", int(reached) + 1))
    elif probe.rising:
        yield from (("reached", STRONGER, reached * (1 - 1e-6)), ("beyond", "", reached * 1.01 + 0.01))
    else:
        yield from (("reached", STRONGER, reached * (1 + 1e-6)), ("beyond", "", reached * 0.99 - 0.001))


def _alike(release: Release, column: str) -> Release:
    """A smallest class gets one value in all rows, by exchange with others: the rarest or farthest that can be."""
    rows = Rows(release)
    table, small = rows.table, rows.classes[0]
    cells = table[column].to_list()
    counts = sorted((cells.count(value), str(value), value) for value in set(cells))
    enough = [value for count, _, value in counts if count >= len(small)]
    value = enough[0]
    if table.schema[column].is_numeric():  # the farthest out: one in the middle may be as near to the table as before
        value = max(enough, key=lambda number: abs(number - table[column].median()))
    givers = [row for row in range(len(cells)) if cells[row] == value and row not in small]
    for row in small:
        if cells[row] != value:
            giver = givers.pop()
            cells[row], cells[giver] = cells[giver], cells[row]
    return mended(release, table=table.with_columns(pl.Series(column, cells, dtype=table.schema[column])))


# -- counts ----------------------------------------------------------------------------------------------------------


def count_mutants(victim: Victim) -> Iterator[Mutant]:
    """Rows that are not there, rows that were left out though none may be, places in a series."""
    rows = victim.release.manifest.rows

    def counting(asked: Callable[..., Release] = mended, **counts: Any) -> Callable[[], Files]:
        other = rows.model_copy(update=counts)
        return forged(victim, lambda release: asked(with_entries(release, rows=other)))

    for count in (1, 2, rows.published, 10**9):
        yield Mutant(f"count {count} left out", counting(left_out=count))
    yield Mutant("count left out hidden", counting(left_out=None))
    for count in (rows.counterfeits + 1, 10**9):
        yield Mutant(f"count {count} counterfeits", counting(counterfeits=count))
    for step in (1, -1, 10**9):
        wrong = {"published": rows.published + step}
        yield Mutant(
            f"count published {step} more", edited(victim, lambda entries, wrong=wrong: entries["rows"].update(wrong))
        )
        shown = {"rows": rows.shown + step}
        yield Mutant(
            f"count of a table {step} more",
            edited(victim, lambda entries, shown=shown: entries["tables"][0].update(shown)),
        )
    private, drop = partial(asking, left_out="private"), partial(asking, missing="drop")
    unseen = "rows may be left out, and how many were, nobody can see in the files"
    yield Mutant("count left out asked to be private", counting(private, left_out=None), "it was asked to be private")
    yield Mutant("count left out private and said", counting(private))
    within = "" if victim.shape == "invariant" else unseen
    yield Mutant("count left out within suppress", counting(partial(asking, suppress=0.5), left_out=3), within)
    yield Mutant("count left out beyond suppress", counting(partial(asking, suppress=0.01), left_out=3))
    yield Mutant("count left out for missing cells", counting(drop, left_out=3), unseen)
    yield from _series(victim)


def _series(victim: Victim) -> Iterator[Mutant]:
    own, digest = victim.release.manifest.series, "0123456789abcdef" * 4
    right = {(1, None), (2, digest), (7, digest)} if own is not None else set()
    before = "which release came before, only that release can tell"
    for pair in (
        (1, None), (2, digest), (7, digest), (1, digest), (2, None), (2, SECRET), (2, digest.upper()), (2, digest[:-1]),
        (0, None), (2, ""), (2, digest + "\n"), (2**60, digest),
    ):  # fmt: skip
        place = Place.model_construct(number=pair[0], previous=pair[1])
        change = forged(victim, lambda release, place=place: mended(with_entries(release, series=place)))
        yield Mutant(f"series {pair[0]} after {pair[1]!r}", change, before if pair in right else "")
    if own is not None:
        yield Mutant("series gone", forged(victim, lambda release: mended(with_entries(release, series=None))))


# -- figures ---------------------------------------------------------------------------------------------------------


def figure_mutants(victim: Victim) -> Iterator[Mutant]:
    """Figures that are not those of the tables, more of them, or fewer."""
    for where in ("achieved", "measures"):
        own: dict[str, float] = getattr(victim.release.manifest, where)

        def telling(figures: dict[str, Any], where: str = where) -> Callable[[], Files]:
            return edited(victim, lambda entries: entries.update({where: figures}))

        for key, value in own.items():
            others = {"more": value + 1, "slightly more": value * (1 + 1e-9) + 1e-12, "zero": 0, "less": -value - 1}
            others |= {"of the other type": int(value) if isinstance(value, float) else float(value)}
            for word, other in others.items():
                if (other, type(other)) != (value, type(value)):
                    yield Mutant(f"figure {key} of {where} {word}", telling({**own, key: other}))
            rest = {name: figure for name, figure in own.items() if name != key}
            yield Mutant(f"figure {key} of {where} gone", telling(rest))
            if isinstance(value, float) and value:
                true = LAST_BITS if where == "achieved" else ""
                yield Mutant(
                    f"figure {key} of {where} one bit more", telling({**own, key: math.nextafter(value, 9)}), true
                )
        yield Mutant(f"figure all of {where} gone", telling({}))
        if len(own) > 1:
            yield Mutant(f"figure all of {where} backwards", telling(dict(reversed(own.items()))))
        for key in {"note", "", SECRET, "l:disease", "k", "ncp:name", "t:income"} - set(own):
            yield Mutant(f"figure {key!r} added to {where}", telling({**own, key: 2}))
