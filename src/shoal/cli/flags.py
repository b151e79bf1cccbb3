"""Flags that go over a recipe: every parameter of its method and publisher is one, and promises can be added."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors.redaction import redacted

EXAMPLE = '"l-diversity column=disease l=3"'
FURTHER = ("method", "publish", "refine", "require", "population", "out", "overwrite", "threads", "memory")
"""Flags that are no parameter, to be named when a misspelt one resembles them."""


def apply_flags(
    entries: dict[str, Any], arguments: list[str], *, require: Sequence[str] = (), population: str | None = None
) -> dict[str, Any]:
    """Put flags such as `--k 10` or `--shape=typed` over the entries of a recipe.

    `require` holds promises to be added to those of the recipe, such as ``"l-diversity column=disease l=3"``;
    `population` is where the table of people is.
    """
    from shoal.errors import ParameterError, Problems, ShoalError

    problems = Problems()
    flags = _pairs(arguments, problems)
    added = [promise(text, problems) for text in require]
    if population is not None:
        entries = entries | {"population": _place(population)}
    if added and isinstance(entries.get("require", []), list):
        entries = entries | {"require": [*entries.get("require", []), *added]}
    # Where a table of the recipe is none, the reader of recipes says so.
    listed = entries.get("publish", {})
    tables = listed if isinstance(listed, list) else [listed]
    if all(isinstance(one, dict) for one in (*tables, *(entries.get(key, {}) for key in ("method", "refine")))):
        try:
            entries = _with_parameters(entries, flags, problems)
        except ShoalError as error:
            problems.take(error)
    problems.raise_if_any(ParameterError)
    return entries


def source_options(arguments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The flags that say how a table is read, such as `--sheet people`, and all other arguments."""
    from shoal.errors import ParameterError, Problems
    from shoal.table.sources import Source

    problems = Problems()
    bounds = {one.name: one.bound for one in Source.parameters() if one.name not in ("path", "uri")}
    options: dict[str, Any] = {}
    others: list[str] = []
    for name, text in _pairs(arguments, problems).items():
        if name not in bounds:
            others += [f"--{name}"] if text is None else [f"--{name}={text}"]
        elif text is None:
            problems.add(f"--{name.replace('_', '-')}", "has no value", f"write --{name.replace('_', '-')} VALUE")
        else:
            options[name] = bounds[name].parse(text)
    problems.raise_if_any(ParameterError)
    return options, others


MEASURING = (
    "measure", "label", "membership", "original", "plot", "receipt", "key", "passphrase-file", "population", "json",
)  # fmt: skip
"""Flags of `shoal measure` that are no parameter of a measure."""


ATTACKING = (
    "attack", "original", "known", "tolerance", "level", "people", "other", "outside", "control", "person", "receipt",
    "key", "passphrase-file", "seed", "json",
)  # fmt: skip
"""Flags of `shoal attack` that are no parameter of an attack."""


def measure_parameters(name: str | None, arguments: list[str]) -> dict[str, Any]:
    """The parameters of a measure that flags such as `--epsilon 30` give; the measure checks their values."""
    from shoal.measure import MEASURES

    return _parameters(MEASURES, None if name == "all" else name, "measure", arguments, MEASURING)


def attack_parameters(name: str | None, arguments: list[str]) -> dict[str, Any]:
    """The parameters of an attack that flags such as `--epsilon 30` give; the attack checks their values."""
    from shoal.attack import ATTACKS

    return _parameters(ATTACKS, name, "attack", arguments, ATTACKING)


def _parameters(
    registry: Any, name: str | None, what: str, arguments: list[str], others: Sequence[str]
) -> dict[str, Any]:  # fmt: skip
    """The parameters of the one that is named, read as their bounds say; flags that are none are noted."""
    from shoal.errors import ParameterError, Problems, did_you_mean
    from shoal.spec import YesNo, find

    problems = Problems()
    found: dict[str, Any] = {}
    bounds = {} if name is None else {one.name: one.bound for one in find(registry, name, what).parameters()}
    for flag, text in _pairs(arguments, problems).items():
        shown = f"--{flag.replace('_', '-')}"
        if flag not in bounds:
            has = f"{name} has {', '.join(bounds) or 'no parameters'}" if name else f"parameters go with --{what}"
            near = did_you_mean(flag, (*bounds, *others), has)
            problems.add(shown, "unknown flag", near.replace("mean '", "mean '--"))
        elif text is None and not isinstance(bounds[flag], YesNo):
            problems.add(shown, "has no value", f"write {shown} VALUE")
        else:
            found[flag] = True if text is None else bounds[flag].parse(text)
    problems.raise_if_any(ParameterError)
    return found


def _with_parameters(entries: dict[str, Any], flags: dict[str, str | None], problems: Any) -> dict[str, Any]:
    from shoal.enforce.refine import Refine
    from shoal.methods import METHODS
    from shoal.publish import PUBLISHERS
    from shoal.settings import SETTINGS
    from shoal.spec import find

    method = dict(entries.get("method", {}))
    exchanged = "method" in flags
    if exchanged:
        method = _exchanged(method, find(METHODS, flags.pop("method"), "--method"))
    current = METHODS.get(str(method.get("name")))
    given, hiding = _publishers(entries.get("publish", {}))
    publish = {"name": current.publisher if current else "generalize", **given}
    shown = PUBLISHERS.get(str(publish["name"]))
    if exchanged and current and shown and shown.protects != current.protects:  # the recipe's was for its own method
        publish = _exchanged(publish, PUBLISHERS[current.publisher])
    if "publish" in flags:
        publish = _exchanged(publish, find(PUBLISHERS, flags.pop("publish"), "--publish"))
    homes: dict[str, list[tuple[dict[str, Any], Any]]] = {}
    for table, registry in ((method, METHODS), (publish, PUBLISHERS)):
        spec = registry.get(str(table.get("name")))
        _refuse_old_names(spec, flags, problems)
        for parameter in spec.parameters() if spec else ():  # what both have is meant for both
            homes.setdefault(parameter.name, []).append((table, parameter.bound))
    refine = dict(entries.get("refine", {}))
    search = {parameter.name: [(refine, parameter.bound)] for parameter in Refine.parameters()}
    refined = "refine" in entries or not {"refine", *search}.isdisjoint(flags)
    if flags.pop("refine", None) not in (None, "true"):
        problems.add("--refine", "takes no value", "write --refine, and --rounds N to search longer")
    homes |= search | {key: [(entries, bound)] for key, (bound, _) in SETTINGS.items()}
    _refuse_of_models(entries, homes, flags, problems)
    _fill(homes, flags, problems)
    shown_by = [publish, *hiding] if hiding else publish
    return entries | {"method": method, "publish": shown_by} | ({"refine": refine} if refined else {})


def _publishers(entry: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How groups are shown, and how sensitive columns are, where a recipe lists both."""
    from shoal.personal import COLUMN_PUBLISHERS

    if isinstance(entry, dict):
        return entry, []
    hiding = [one for one in entry if one.get("name") in COLUMN_PUBLISHERS]
    return next((one for one in entry if one not in hiding), {}), hiding


def _refuse_old_names(spec: Any, flags: dict[str, str | None], problems: Any) -> None:
    """Note flags that have another name now, and take them out."""
    for name in [name for name in flags if spec and name in spec.renamed]:
        problems.add(f"--{name}", *spec.new_name(name, "--"))
        del flags[name]


def _refuse_of_models(entries: dict[str, Any], homes: Any, flags: dict[str, str | None], problems: Any) -> None:
    """Note flags that are parameters of privacy models, not of the method, and take them out: a promise is required."""
    from shoal.privacy import MODELS

    for name in [name for name in flags if name not in homes and name not in ("column", "k")]:
        fitting = [model for model in MODELS.own if name in {one.name for one in MODELS[model].parameters()}]
        if fitting:
            wanted = {one.name for one in MODELS[fitting[0]].parameters()}
            columns = entries.get("columns", {})
            roles = {key: one.get("role") for key, one in columns.items() if isinstance(one, dict)}
            column = next((key for key, role in roles.items() if role == "sensitive"), "COLUMN")
            of = f" column={shlex.quote(column)}" if "column" in wanted else ""
            others = f" ({', '.join(fitting[1:])} have it too)" if fitting[1:] else ""
            fix = f'write --require "{fitting[0]}{of} {name}={flags.pop(name) or "VALUE"}"{others}'
            problems.add(f"--{name}", "is a parameter of a privacy model, which is required beside the method", fix)


def _fill(homes: dict[str, list[tuple[dict[str, Any], Any]]], flags: dict[str, str | None], problems: Any) -> None:
    """Put the values of flags where they belong; the reader of recipes checks them."""
    from shoal.errors import did_you_mean, some
    from shoal.settings import SETTINGS
    from shoal.spec import YesNo
    from shoal.table.sources import Source

    reading = {one.name for one in Source.parameters()}
    taken = ", ".join(f"--{name.replace('_', '-')}" for name in homes if name not in SETTINGS)
    otherwise = f"method, publisher and --refine take {taken}; --help shows all others"
    for name, text in flags.items():
        if name not in homes:
            near = did_you_mean(name.removeprefix("no_"), (*homes, *FURTHER), otherwise).replace("mean '", "mean '--")
            if takers := _takers(name):
                near = f"it goes with {some(takers)}; {otherwise}"
            what, fix = ("is not a flag of this command", "leave it out") if name in FURTHER else ("unknown flag", near)
            if name in reading:
                what, fix = "says how a table is read, which the recipe does", f"write {name} = ... below its [source]"
            problems.add(f"--{name.replace('_', '-')}", what, fix)
            continue
        if text is None and not isinstance(homes[name][0][1], YesNo):
            problems.add(f"--{name}", "has no value", f"write --{name} VALUE")
            continue
        for table, bound in homes[name]:
            table[name] = True if text is None else bound.parse(text)


def _takers(flag: str) -> list[str]:
    """Methods and publishers of Shoal's own that have such a parameter."""
    from shoal.methods import METHODS
    from shoal.publish import PUBLISHERS

    return [
        name
        for registry in (METHODS, PUBLISHERS)
        for name in registry.own
        if flag in {one.name for one in registry[name].parameters()}
    ]


def _exchanged(table: dict[str, Any], chosen: Any) -> dict[str, Any]:
    """The table of another spec, with the parameters of the old one that both have."""
    bounds = {parameter.name: parameter.bound for parameter in chosen.parameters()}
    kept = {key: value for key, value in table.items() if key in bounds and not bounds[key].complaint(value)}
    return {"name": chosen.name, **kept}


def _pairs(arguments: list[str], problems: Any) -> dict[str, str | None]:
    """Flags and their values; None for a bare flag."""
    pairs: dict[str, str | None] = {}
    rest = list(arguments)
    while rest:
        flag = rest.pop(0)
        if not flag.startswith("--"):
            problems.add("command line", f"{redacted(flag)[:40]!r} is not a flag", "flags begin with --")
            continue
        name, equals, given = flag[2:].partition("=")
        value: str | None = given
        if not equals:
            value = None if not rest or rest[0].startswith("--") else rest.pop(0)
        pairs[name.replace("-", "_")] = value
    return pairs


def promise(text: str, problems: Any) -> dict[str, Any]:
    """One promise as a recipe holds it, read from `model key=value ...`; quotes keep a name with spaces together."""
    from shoal.errors import ShoalError
    from shoal.privacy import MODELS
    from shoal.spec import find

    try:
        name, *words = shlex.split(text)
    except ValueError:  # a quote that is not closed, or nothing at all
        problems.add(
            "--require", "needs a model and its parameters, with all quotes closed", f"write --require {EXAMPLE}"
        )
        return {}
    where = f"--require {redacted(name)[:40]}"
    values: dict[str, Any] = {}
    before = len(problems)
    try:
        model = find(MODELS, name, "--require")
        bounds = {parameter.name: parameter.bound for parameter in model.parameters()}
        for word in words:
            key, equals, given = word.partition("=")
            if not equals or key in values:
                what = "is given twice" if equals else "has no value"
                problems.add(f"{where}.{redacted(key)[:40]}", what, f"write --require {EXAMPLE}")
            values[key] = bounds[key].parse(given) if key in bounds else given
        if len(problems) == before:
            model.from_mapping(values, where)
    except ShoalError as error:
        problems.take(error)
    return {"model": name, **values}


def _place(text: str) -> dict[str, str]:
    """The source of a table: a file, from where the command is called, or the uri of a database."""
    return {"uri": text} if "://" in text else {"path": str(Path(text).absolute())}
