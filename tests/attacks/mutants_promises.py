"""Promises, requests, counts and figures tampered with, recipe and promise together as an insider would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from attacks.mutants import Mutant, edited, forged
from attacks.mutants_json import SECRET
from attacks.mutants_rows import ANOTHER, Rows
from attacks.victims import Victim
from forging import mended, with_entries
from shoal.declared import METHODS, PUBLISHERS
from shoal.manifest import Place
from shoal.methods import METHODS as MADE
from shoal.methods.m_invariance import MInvariance
from shoal.privacy import MODELS
from shoal.promises import probes
from shoal.release import Release
from shoal.spec import Spec

WEAKER = "a weaker promise, and a true one"
STRONGER = "a promise that holds, though nobody had asked for it"
ASKED = "what was asked for, and the tables could be the same: a method is named, not re-run"
Entry = dict[str, Any]


def asking(release: Release, *, method: Mapping[str, Any] | None = None, require: Any = None, **asked: Any) -> Release:
    """The release with another request, and the promise that follows from it."""
    request = release.manifest.recipe
    asked |= {} if method is None else {"method": dict(method)}
    asked |= {} if require is None else {"require": tuple(require)}
    request = request.model_copy(update=asked)
    declared, given = METHODS[str(request.method["name"])], {key: value for key, value in request.method.items() if key != "name"}
    promise = [*declared.promised(given, release.manifest.layout.sensitive), *request.require]
    return mended(with_entries(release, recipe=request, promise=tuple(promise)))


# -- methods and publishers ------------------------------------------------------------------------------------------


def method_mutants(victim: Victim) -> Iterator[Mutant]:
    """The method, the publisher, or what they were told, another one."""
    own, publish = victim.release.manifest.recipe.method, victim.release.manifest.recipe.publish
    for name, declared in METHODS.items():
        if name == own["name"]:
            continue
        entry = _full(name, own)
        known = METHODS[str(own["name"])]
        like = (declared.promises, declared.protects, declared.shape) == (known.promises, known.protects, known.shape)
        fits = like and publish["name"] in declared.publishers
        yield Mutant(f"method is {name}", forged(victim, lambda release, entry=entry: asking(release, method=entry)), ASKED if fits else "")
        yield Mutant(f"method is {name}, promise stays", edited(victim, lambda entries, entry=entry: entries["recipe"].update(method=entry)), ASKED if fits else "")
    for name in ("mystery", "", SECRET, "MDAV", "mondrian "):
        yield Mutant(f"method has the name {name!r}", edited(victim, lambda entries, name=name: entries["recipe"]["method"].update(name=name)))
        yield Mutant(f"publisher has the name {name!r}", edited(victim, lambda entries, name=name: entries["recipe"]["publish"].update(name=name)))
    for name, declared in PUBLISHERS.items():
        for shape in declared.shapes:
            entry = _published(name, shape)
            if (name, shape) != (publish["name"], publish.get("shape")):
                yield Mutant(f"publisher is {name} {shape or ''}", edited(victim, lambda entries, entry=entry: entries["recipe"].update(publish=entry)))
    for where in ("method", "publish"):
        for key in ("seed", "note", "", "id", "start", "seeds", "labels"):
            yield Mutant(f"{where} has a parameter {key!r}", edited(victim, lambda entries, where=where, key=key: entries["recipe"][where].update({key: 1})))
    fits = METHODS[str(own["name"])].protects == "cells" and victim.shape != "invariant"
    for entry in ({"rounds": 3}, {"loss": "sse", "rounds": 0}):
        yield Mutant(f"refine {entry}", edited(victim, lambda entries, entry=entry: entries["recipe"].update(refine=entry)), ASKED if fits else "")
    for entry in ({}, {"rounds": -1}, {"rounds": 3, "loss": "sse"}, {"rounds": 3, "note": SECRET}, {"loss": SECRET, "rounds": 3}, {"name": "refine", "rounds": 3}):
        yield Mutant(f"refine {entry}", edited(victim, lambda entries, entry=entry: entries["recipe"].update(refine=entry)))


def _full(name: str, own: Mapping[str, Any]) -> Entry:
    """A method as a manifest writes it, told what the own method was told as far as it can be."""
    spec: type[Spec] = MInvariance if name == "m-invariance" else MADE[name]
    given = {key: own.get(key, own.get("k", own.get("l", 2))) for key in ("k", "l", "m") if key in METHODS[name].parameters}
    if name == "k-member":
        given.pop("l")
    if name == "slicing":
        given.pop("k")
    given |= {"delta": 5.0} if name == "threshold-greedy" else {}
    given |= {"id": "name", "column": "disease"} if name == "m-invariance" else {}
    made = spec(**given).to_mapping()
    return {"name": name, **{key: made[key] for key in METHODS[name].parameters if key in made}}


def _published(name: str, shape: str | None) -> Entry:
    from shoal.publish import PUBLISHERS as KNOWN

    made = KNOWN[name](**({} if shape is None else {"shape": shape}))
    return {"name": name, **made.to_mapping()}


# -- promises --------------------------------------------------------------------------------------------------------


def promise_mutants(victim: Victim) -> Iterator[Mutant]:
    """Promises that are lacking, weaker, stronger, replaced, or written in another way."""
    said = [dict(one) for one in victim.release.manifest.promise]
    method = victim.release.manifest.recipe.method

    def promising(name: str, *promise: Entry) -> Mutant:
        return Mutant(f"promise {name}", edited(victim, lambda entries: entries.update(promise=list(promise))))

    for place, one in enumerate(said):
        rest = said[:place] + said[place + 1 :]
        yield promising(f"{place} is gone", *rest)
        yield promising(f"{place} comes twice", *said, one)
        yield promising(f"{place} has a note", *rest, one | {"note": SECRET})
        yield promising(f"{place} has another order", *said[:place], dict(reversed(one.items())), *said[place + 1 :])
        for key, value in one.items():
            if isinstance(value, (int, float)):
                for other in (value + 1, value - 1, value * 2, value / 2, float(value) if isinstance(value, int) else str(value)):
                    yield promising(f"{place} {key} {other!r}", *said[:place], one | {key: other}, *said[place + 1 :])
        for model in MODELS:
            if model != one["model"]:
                yield promising(f"{place} is {model}", *said[:place], {**one, "model": model}, *said[place + 1 :])
    yield promising("none")
    yield promising("empty", {})
    yield promising("of a text", {"model": SECRET})
    letter = next(key for key in ("k", "l", "m") if key in method)
    for value in (method[letter] + 1, method[letter] + 3, 100):
        yield Mutant(f"promise and method ask for {letter} = {value}", forged(victim, lambda release, value=value: asking(release, method={**method, letter: value})))
    for value in (1, 0, -3, 2.0, "2", None, True, SECRET):
        yield Mutant(f"promise and method ask for {letter} = {value!r}", lambda value=value: _asked_badly(victim, letter, value))
    if method[letter] > 2:
        yield Mutant("promise and method ask for less", forged(victim, lambda release: asking(release, method={**method, letter: 2})), WEAKER)


def _asked_badly(victim: Victim, letter: str, value: Any) -> dict[str, bytes]:
    """Recipe and promise with a value that no method takes."""

    def change(entries: Entry) -> None:
        entries["recipe"]["method"][letter] = value
        for one in entries["promise"]:
            one.update({key: value for key in one if key == letter})
            if "alpha" in one and isinstance(value, (int, float)) and value:
                one["alpha"] = 1 / value

    return edited(victim, change)()


# -- models of sensitive values --------------------------------------------------------------------------------------

LETTERS = ("k", "l", "t", "alpha", "delta", "beta", "m")


def model_mutants(victim: Victim) -> Iterator[Mutant]:
    """What is reached of every model promised as well, then a stronger promise, then cells that break it."""
    if victim.shape in ("buckets", "slices", "files", "invariant"):
        return
    verdict = victim.release.verify()
    for probe in probes(verdict.classes):
        reached = verdict.surveyed[probe.key]
        letter = next(name for name in LETTERS if hasattr(probe, name) and name != "k" or name == probe.key)
        for word, true, value in _near(probe, letter, reached):
            try:
                one = {"model": probe.name, **type(probe)(**{**probe.to_mapping(), letter: value}).to_mapping()}
            except ValueError:
                continue
            name = f"model {probe.key} {word}"
            yield Mutant(name, forged(victim, lambda release, one=one: asking(release, require=[one])), true)
            if true and probe.key != "k":
                yield Mutant(f"{name}, then broken", forged(victim, lambda release, one=one, column=probe.column: asking(_alike(release, column), require=[one])))


def _near(probe: Any, letter: str, reached: float) -> Iterator[tuple[str, str, Any]]:
    whole = isinstance(getattr(probe, letter), int) and letter in ("k",)
    if reached == float("inf"):
        return
    if whole:
        yield from (("reached", STRONGER, int(reached)), ("beyond", "", int(reached) + 1))
    elif probe.rising:
        yield from (("reached", STRONGER, reached * (1 - 1e-9)), ("beyond", "", reached * 1.01 + 0.01))
    else:
        yield from (("reached", STRONGER, reached * (1 + 1e-9)), ("beyond", "", reached * 0.99 - 0.001))


def _alike(release: Release, column: str) -> Release:
    """All rows of a smallest class with the same sensitive value, a rare one."""
    rows = Rows(release)
    table, small = rows.table, rows.classes[0]
    counts = table[column].value_counts().sort("count", column)
    cells = table[column].to_list()
    for row in small:
        cells[row] = counts[column][0]
    return mended(release, table=table.with_columns(pl.Series(column, cells, dtype=table.schema[column])))


# -- counts, series, figures -----------------------------------------------------------------------------------------


def count_mutants(victim: Victim) -> Iterator[Mutant]:
    """Rows that are not there, rows that were left out though none may be, places in a series."""
    rows = victim.release.manifest.rows

    def saying(name: str, **entries: Any) -> Mutant:
        other = rows.model_copy(update=entries)
        return Mutant(f"count {name}", forged(victim, lambda release: mended(with_entries(release, rows=other))))

    for count in (1, 2, rows.published, 10**9):
        yield saying(f"{count} left out", left_out=count)
    yield saying("left out hidden", left_out=None)
    for count in (rows.counterfeits + 1, 10**9):
        yield saying(f"{count} counterfeits", counterfeits=count)
    for step in (1, -1, 10**9):
        yield Mutant(f"count published {step} more", edited(victim, lambda entries, step=step: entries["rows"].update(published=rows.published + step)))
        yield Mutant(f"count of a table {step} more", edited(victim, lambda entries, step=step: entries["tables"][0].update(rows=rows.shown + step)))
    hidden = rows.model_copy(update={"left_out": None})
    private = "the number of rows left out was asked to be private"
    yield Mutant("count left out asked to be private", forged(victim, lambda release: asking(with_entries(release, rows=hidden), left_out="private")), private)
    yield Mutant("count left out private and said", forged(victim, lambda release: asking(release, left_out="private")))
    some = rows.model_copy(update={"left_out": 3})
    budget = "rows may be left out, and how many were, nobody can see in the files"
    yield Mutant("count left out within suppress", forged(victim, lambda release: asking(with_entries(release, rows=some), suppress=0.5)), budget)
    yield Mutant("count left out beyond suppress", forged(victim, lambda release: asking(with_entries(release, rows=some), suppress=0.01)))
    yield Mutant("count left out for missing cells", forged(victim, lambda release: asking(with_entries(release, rows=some), missing="drop")), budget)
    yield from _series(victim)


def _series(victim: Victim) -> Iterator[Mutant]:
    own = victim.release.manifest.series
    digest = "0123456789abcdef" * 4
    undecided = "which release came before, only that release can tell"
    for number, previous in ((1, None), (2, digest), (7, digest), (1, digest), (2, None), (2, SECRET), (2, digest.upper()), (2, digest[:-1]), (0, None), (2, "")):
        place = Place.model_construct(number=number, previous=previous)
        right = own is not None and (number, previous) in ((1, None), (2, digest), (7, digest))
        yield Mutant(f"series {number} after {str(previous)[:9]!r}", forged(victim, lambda release, place=place: mended(with_entries(release, series=place))), undecided if right else "")
    if own is not None:
        yield Mutant("series gone", forged(victim, lambda release: mended(with_entries(release, series=None))))


def figure_mutants(victim: Victim) -> Iterator[Mutant]:
    """Figures that are not those of the tables, or more of them."""
    for where in ("achieved", "measures"):
        own = getattr(victim.release.manifest, where)
        for key, value in own.items():
            for word, other in (("more", value + 1), ("slightly more", value * (1 + 1e-9) + 1e-12), ("zero", 0), ("negative", -value - 1)):
                if other != value:
                    yield Mutant(f"figure {key} of {where} {word}", edited(victim, lambda entries, where=where, key=key, other=other: entries[where].update({key: other})))
            yield Mutant(f"figure {key} of {where} gone", edited(victim, lambda entries, where=where, key=key: entries[where].pop(key)))
        yield Mutant(f"figure all of {where} gone", edited(victim, lambda entries, where=where: entries[where].clear()))
        for key in ("note", "", SECRET, "l:disease", "k", "ncp:name"):
            if key not in own:
                yield Mutant(f"figure {key!r} added to {where}", edited(victim, lambda entries, where=where, key=key: entries[where].update({key: 2})))


__all__ = ["ANOTHER", "asking", "count_mutants", "figure_mutants", "method_mutants", "model_mutants", "promise_mutants"]
