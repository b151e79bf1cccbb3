"""The grid of a comparison: methods, sizes, requirements and publishers, each combination a recipe of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from shoal.engines.description import Asked
from shoal.errors import ParameterError, Problems, ShoalError
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.privacy.base import Requirement
from shoal.publish import PUBLISHERS
from shoal.publish.base import Publisher
from shoal.recipe.recipe import Recipe
from shoal.spec import find


@dataclass(frozen=True)
class Variant:
    """One recipe of a comparison, and what it is called."""

    name: str
    recipe: Recipe

    def key(self, *more: object) -> str:
        """A hash of all that its figures depend on, with what else they depend on."""
        entries = {key: value for key, value in self.recipe.to_mapping().items() if key not in ("source", "format")}
        text = json.dumps([entries, *more], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Grid:
    """Combinations that can be tried, and those that cannot, each with the reason."""

    variants: tuple[Variant, ...]
    left_out: tuple[tuple[str, str], ...] = ()


def listed(given: Any) -> list[Any]:
    """What is to be tried, one after the other: a single one is a list of it.

    >>> listed(5), listed("mondrian"), listed([3, 5])
    ([5], ['mondrian'], [3, 5])
    """
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def grid(
    base: Recipe,
    methods: str | Method | Sequence[str | Method] | None = None,
    *,
    k: int | Sequence[int] = (),
    l: int | Sequence[int] = (),  # noqa: E741
    require: Sequence[Sequence[Requirement]] = (),
    publish: str | Publisher | Sequence[str | Publisher] = (),
) -> Grid:
    """Every combination of methods, sizes, requirements and publishers.

    Parameters
    ----------
    base
        Schema, settings and requirements that every combination has.
    methods
        Names, or methods with their parameters; all that there are when not given.
    k
        Sizes of classes; that of the method or recipe when not given.
    l
        Numbers of values in a bucket, for methods that have such a parameter and no k of their own.
    require
        Further requirements: one alternative each.
    publish
        Publishers, by name or with their parameters; the default of each method when none is given.
    """
    problems = Problems()
    found = _methods(base, None if methods is None else listed(methods), problems)
    shown = [_publisher(one, problems) for one in listed(publish)] or [None]
    if not all(isinstance(one, Iterable) and not isinstance(one, str) for one in listed(require)):
        fix = "write [[shoal.LDiversity('disease', l=2)]], with more lists for more alternatives"
        problems.add("require=", "needs a list of requirements for each alternative", fix)
    problems.raise_if_any(ParameterError)
    alternatives = [tuple(one) for one in require] or [()]
    asked_k, asked_l = listed(k), listed(l)
    sizes = {
        "k": asked_k or [base.method.min_group_size], "l": asked_l or [getattr(base.method, "l", None) or 2],
        "asked k": asked_k, "asked l": asked_l,
    }  # fmt: skip
    variants: dict[str, Variant] = {}
    left_out: dict[str, str] = {}
    for method, more, how in product(_sized(found, sizes, left_out), alternatives, shown):
        recipe = replace(base, method=method, require=(*base.require, *more), publish=how, source=None)
        name = _named(recipe, base)
        if reason := _impossible(recipe):
            left_out[name] = reason
        else:
            variants[name] = Variant(name, recipe)
    return Grid(tuple(variants.values()), tuple(left_out.items()))


def _methods(base: Recipe, given: Sequence[str | Method] | None, problems: Problems) -> list[type[Method] | Method]:
    names: Iterable[str | Method] = [name for name, _ in METHODS.loadable()] if given is None else given
    found: list[type[Method] | Method] = []
    for one in names:
        try:
            method = one if isinstance(one, Method) else find(METHODS, one, "method")
        except ShoalError as error:
            problems.take(error)
            continue
        own = isinstance(method, type) and isinstance(base.method, method)
        found.append(base.method if own else method)
    return found


def _publisher(given: str | Publisher, problems: Problems) -> Publisher | None:
    if isinstance(given, Publisher):
        return given
    try:
        made: Publisher = find(PUBLISHERS, given, "publish")()
    except ShoalError as error:
        problems.take(error)
        return None
    return made


def _sized(
    methods: Iterable[type[Method] | Method], sizes: Mapping[str, Sequence[int]], left_out: dict[str, str]
) -> list[Method]:
    """Every method with every size: of its classes, or of its buckets where it cuts links."""
    found: dict[Method, None] = {}
    for method in methods:
        kind = method if isinstance(method, type) else type(method)
        by = "l" if method.protects == "links" else "k"
        given = {} if isinstance(method, type) else method.to_mapping()
        has = by in {one.name for one in kind.parameters()}
        for size in sizes[by] if has and (by not in given or sizes[f"asked {by}"]) else [None]:
            entries = given if size is None else {**given, by: size}
            try:
                found[kind.from_mapping(entries, method.name)] = None
            except ShoalError as error:
                name = method.name if size is None else f"{method.name} {by}={size}"
                left_out[name] = "; ".join(f"{one.where}: {one.what}" for one in error.problems)
    return list(found)


def _named(recipe: Recipe, base: Recipe) -> str:
    """What a combination is called: its method and all that differs from what comes by itself."""
    method = recipe.method
    words = [method.name, *_said(method)]
    words += [_model(one) for one in recipe.require if one not in base.require]
    publish = recipe.publish
    assert publish is not None  # noqa: S101  settled when the recipe was made
    if publish.name != method.publisher or _said(publish):
        words += [publish.name, *_said(publish)]
    return " ".join(words)


def _said(spec: Any) -> list[str]:
    """Parameters that differ from their defaults."""
    values = spec.to_mapping()
    plain = {one.name: one.default for one in spec.parameters()}
    return [f"{name}={value}" for name, value in values.items() if value != plain[name]]


def _model(one: Requirement) -> str:
    return f"{one.name}({', '.join(f'{name}={value}' for name, value in one.to_mapping().items())})"


def _impossible(recipe: Recipe) -> str | None:
    """Why the parts of a recipe do not go together, or None."""
    assert recipe.publish is not None  # noqa: S101  settled when the recipe was made
    try:
        Asked(recipe.method, recipe.publish, recipe.require, recipe.refine).check_parts()
    except ShoalError as error:
        return "; ".join(str(one) for one in error.problems)
    return None
