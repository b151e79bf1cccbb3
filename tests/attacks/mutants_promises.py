"""Methods, publishers and promises tampered with, recipe and promise together as an insider would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from attacks.mutants import Entries, Mutant, edited, forged
from attacks.mutants_json import SECRET
from attacks.victims import Files, Victim
from shoal.methods.m_invariance import MInvariance
from shoal.privacy import MODELS, OF_METHODS
from shoal.publish import PUBLISHERS as SHOWN
from shoal.published.release import Release
from shoal.registry.declared import METHODS, PUBLISHERS
from shoal.spec import Spec
from support.forging import mended, with_entries
from support.registered import METHODS as MADE

WEAKER = "a weaker promise, and a true one"
ASKED = "what was asked for, and the tables could be the same: a method is named, not run again"
OUTSIDE = "rests on knowledge from outside, and is listed as unchecked without it"
Entry = dict[str, Any]


def asking(release: Release, *, method: Mapping[str, Any] | None = None, require: Any = None, **asked: Any) -> Release:
    """The release with another request, and the promise that follows from it."""
    asked |= {} if method is None else {"method": dict(method)}
    asked |= {} if require is None else {"require": tuple(require)}
    request = release.manifest.recipe.model_copy(update=asked)
    given = {key: value for key, value in request.method.items() if key != "name"}
    own = METHODS[str(request.method["name"])].promised(given, release.manifest.layout.sensitive)
    return mended(with_entries(release, recipe=request, promise=(*own, *request.require)))


def recipe_with(victim: Victim, part: str, entry: Entry | None) -> Callable[[], Files]:
    """A manifest whose recipe has another part, the promise as it was."""
    return edited(victim, lambda entries: entries["recipe"].update({part: entry}))


# -- methods and publishers ------------------------------------------------------------------------------------------


def method_mutants(victim: Victim) -> Iterator[Mutant]:
    """The method, the publisher or the search afterwards another one, or told something else."""
    request = victim.release.manifest.recipe
    own, publish, known = request.method, request.publish, METHODS[str(request.method["name"])]
    for name, declared in METHODS.items():
        like = (declared.promises, declared.protects, declared.shape) == (known.promises, known.protects, known.shape)
        fits = declared.goes_with(publish["name"], PUBLISHERS[str(publish["name"])])
        true = ASKED if like and fits else ""
        if name != own["name"]:
            entry = full(name, own)
            yield Mutant(f"method is {name}", forged(victim, partial(asking, method=entry)), true)
            yield Mutant(f"method is {name}, promise stays", recipe_with(victim, "method", entry), true)
    for name, declared in PUBLISHERS.items():
        for shape in declared.shapes:
            entry = {"name": name, **SHOWN[name](**({} if shape is None else {"shape": shape})).to_mapping()}
            if (name, shape) != (publish["name"], publish.get("shape")):
                yield Mutant(f"publisher is {name} {shape or ''}", recipe_with(victim, "publish", entry))
    for part, entry in (("method", own), ("publish", publish)):
        for name in ("mystery", "", SECRET, "MDAV", "mondrian ", None, 5):
            yield Mutant(f"{part} has the name {name!r}", recipe_with(victim, part, {**entry, "name": name}))
        for key in ("seed", "note", "", "id", "start", "seeds", "labels"):
            yield Mutant(f"{part} has a parameter {key!r}", recipe_with(victim, part, {**entry, key: 1}))
        for key in entry:
            rest = {name: value for name, value in entry.items() if name != key}
            if key not in ("columns", "groups", "column"):  # those may be left to the method
                yield Mutant(f"{part} without {key}", recipe_with(victim, part, rest))
    fits = known.protects == "cells" and victim.shape != "invariant"
    for entry in ({"rounds": 3}, {"loss": "sse", "rounds": 0}):
        yield Mutant(f"refine {entry}", recipe_with(victim, "refine", entry), ASKED if fits else "")
    for entry in (
        {}, {"rounds": -1}, {"rounds": 3, "loss": "sse"}, {"rounds": 3, "note": SECRET}, {"loss": SECRET, "rounds": 3},
        {"name": "refine", "rounds": 3}, {"rounds": 2.0}, {"loss": "sse"}, {"": 1, "rounds": 3},
    ):  # fmt: skip
        yield Mutant(f"refine {entry}", recipe_with(victim, "refine", entry))


def full(name: str, own: Mapping[str, Any]) -> Entry:
    """A method as a manifest writes it, told what the own method was told as far as it can be."""
    spec: type[Spec] = MInvariance if name == "m-invariance" else MADE[name]
    letters = [letter for letter in ("k", "l", "m") if letter in METHODS[name].parameters]
    letters = {"k-member": ["k"], "slicing": ["l"]}.get(name, letters)
    given = {letter: next(own[key] for key in (letter, "k", "l", "m") if key in own) for letter in letters}
    given |= {"delta": 5.0} if name == "threshold-greedy" else {}
    given |= {"id": "name", "column": "disease"} if name == "m-invariance" else {}
    made = spec(**given).to_mapping()
    return {"name": name, **{key: made[key] for key in METHODS[name].parameters if key in made}}


# -- promises --------------------------------------------------------------------------------------------------------


def promise_mutants(victim: Victim) -> Iterator[Mutant]:
    """Promises that are lacking, weaker, stronger, replaced, or written in another way."""
    said = [dict(one) for one in victim.release.manifest.promise]
    for place, one in enumerate(said):
        for word, others in _instead(one):
            promise = [*said[:place], *others, *said[place + 1 :]]
            yield Mutant(f"promise {place} {word}", edited(victim, partial(Entries.update, promise=promise)))  # type: ignore[misc]
    for word, promise in (("none", []), ("empty", [{}]), ("of a text", [{"model": SECRET}]), ("backwards", said[::-1])):
        if promise != said:
            yield Mutant(
                f"promise {word}", edited(victim, lambda entries, promise=promise: entries.update(promise=promise))
            )
    yield from _asked_otherwise(victim)
    yield from _asked_for_more(victim)


def _instead(one: Entry) -> Iterator[tuple[str, list[Entry]]]:
    """What could be promised instead of one promise."""
    yield from (("is gone", []), ("comes twice", [one, one]), ("has a note", [one | {"note": SECRET}]))
    yield "has another order", [dict(reversed(one.items()))]
    for key, value in one.items():
        if isinstance(value, (int, float)):
            retyped = float(value) if isinstance(value, int) else str(value)
            for other in (value + 1, value - 1, value * 2, value / 2, retyped, 0, None):
                yield f"{key} {other!r}", [one | {key: other}]
    for model in {**MODELS, **OF_METHODS}:
        if model != one["model"]:
            yield f"is {model}", [{**one, "model": model}]


def _asked_otherwise(victim: Victim) -> Iterator[Mutant]:
    """Method and promise together ask for more, for less, or for nothing that can be."""
    method = victim.release.manifest.recipe.method
    letter = next(key for key in ("k", "l", "m") if key in method)
    for value in (method[letter] + 1, method[letter] + 3, 100, 2**53):
        change = partial(asking, method={**method, letter: value})
        yield Mutant(f"promise and method ask for {letter} = {value}", forged(victim, change))
    for value in (1, 0, -3, 2.0, "2", None, True, SECRET):
        yield Mutant(f"promise and method ask for {letter} = {value!r}", edited(victim, partial(_badly, letter, value)))
    if method[letter] > 2:
        less = partial(asking, method={**method, letter: 2})
        yield Mutant("promise and method ask for less", forged(victim, less), WEAKER)


def _badly(letter: str, value: Any, entries: Entry) -> None:
    """Recipe and promise with a value that no method takes."""
    entries["recipe"]["method"][letter] = value
    for one in entries["promise"]:
        one |= {letter: value} if letter in one else {}
        if "alpha" in one and isinstance(value, (int, float)) and value:
            one["alpha"] = 1 / value


def _asked_for_more(victim: Victim) -> Iterator[Mutant]:
    """Promises that are asked for besides: those that cannot be, and those that the files do not decide."""
    require = victim.release.manifest.recipe.require
    for one in (
        {"model": "bucket-size", "k": 2}, {"model": "slice-diversity", "column": "disease", "l": 2},
        {"model": "m-uniqueness", "column": "disease", "m": 2}, {"model": "k-anonymity", "k": 2.0},
        {"k": 2, "model": "k-anonymity"}, {"model": "k-anonymity", "k": 2, "note": SECRET}, {"model": SECRET}, {},
        {"model": "l-diversity", "column": "name", "l": 2}, {"model": "l-diversity", "column": "age", "l": 2},
        {"model": "alpha-k", "column": "disease", "alpha": 0.9, "values": (SECRET, "flu")},
    ):  # fmt: skip
        yield Mutant(f"require {one}", forged(victim, partial(asking, require=(*require, one))))
    if victim.shape == "invariant":
        return
    for one in ({"model": "k-map", "k": 2}, {"model": "delta-presence", "low": 0.0, "high": 0.9}):
        assert one["model"] in MODELS
        yield Mutant(f"require {one}", forged(victim, partial(asking, require=(*require, one))), OUTSIDE)
