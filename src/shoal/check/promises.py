"""What classes that were read back reach: of every promised model, and of every model there is."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shoal.errors import Problems, ShoalWarning
from shoal.privacy import MODELS
from shoal.privacy.base import Classes, ColumnRequirement, Requirement

LACKING = {
    "population": "needs the population",
    "choices": "needs the schema and the guarding nodes that people chose",
    "original": "needs the original table",
    "key": "needs the key of the aliases and grades",
    "people": "counts people, and the files alone show rows: needs the original table, its schema and the receipt",
}
"""What is said of a promise that rests on knowledge from outside, when that knowledge is not given."""


@dataclass(frozen=True)
class Reached:
    """The value the weakest class reaches of each promise, by key; and why others could not be looked at, by key."""

    achieved: dict[str, float]
    unchecked: dict[str, str]
    covered: set[str] = field(default_factory=set)
    """Those of the unchecked that hold nevertheless, for something stronger does."""
    needing: set[str] = field(default_factory=set)
    """Those of the achieved that rest on knowledge from outside."""

    @property
    def outside(self) -> frozenset[str]:
        """Those of the achieved that rest on knowledge from outside."""
        return frozenset(self.needing)

    @property
    def public(self) -> dict[str, float]:
        """What the tables alone show to be reached."""
        return {key: value for key, value in self.achieved.items() if key not in self.needing}


def named(requirement: Requirement) -> str:
    """A requirement, and the column that it is about, if it is about one."""
    column = getattr(requirement, "column", None)
    return requirement.name if column is None else f"{requirement.name} of {column!r}"


def reached(
    requirements: Iterable[Requirement],
    classes: Classes,
    problems: Problems,
    lacking: Mapping[str, str] = LACKING,
    *,
    people: bool = False,
) -> Reached:
    """Re-derive requirements, noting those that do not hold; `lacking` says why outside knowledge is not at hand.

    With `people`, they speak of people, whom the tables do not tell apart. No class has more people than rows, nor
    values than its rows show: what rows refute is refuted.
    """
    found = Reached({}, {})
    for requirement in requirements:
        if getattr(requirement, "column", None) in classes.sealed:
            found.unchecked[requirement.key] = f"{named(requirement)}: {LACKING['key']}"
        elif misfit := _misfit(requirement, classes) or _misnamed(requirement):
            problems.add(requirement.name, misfit)
        elif not _at_hand(requirement, classes):
            found.unchecked[requirement.key] = f"{named(requirement)}: {lacking[str(requirement.needs)]}"
        elif people and classes.people is None:
            found.unchecked[requirement.key] = f"{named(requirement)}: {LACKING['people']}"
            if _bounded_by_rows(requirement) and (complaint := broken(requirement, requirement.achieved(classes))):
                problems.add(requirement.name, complaint)
        else:
            value = requirement.achieved(classes)
            if found.achieved.setdefault(requirement.key, value) != value:
                problems.add(requirement.name, f"another promise reports what it reaches as {requirement.key!r} too")
            found.needing.update([] if requirement.needs is None and not people else [requirement.key])
            if complaint := broken(requirement, value):
                problems.add(requirement.name, complaint)
    return found


def _bounded_by_rows(requirement: Requirement) -> bool:
    """Whether people reach no more of a model than rows do."""
    bounded = {"k-anonymity": "k", "l-diversity": "l", "bucket-size": "bucket_size"}
    return bounded.get(requirement.name) == requirement.letter


def broken(requirement: Requirement, value: float) -> str | None:
    """Say that a promise does not hold, or None."""
    if requirement.holds(value):
        return None
    parameters = ", ".join(f"{key} = {entry}" for key, entry in requirement.to_mapping().items())
    return f"{parameters} was promised, the weakest class reaches {value:g}"


def survey(classes: Classes) -> list[tuple[Requirement, float]]:
    """What every model reaches that says something about these sensitive columns, promised or not."""
    return [(probe, probe.achieved(classes)) for probe in probes(classes)]


def probes(classes: Classes) -> list[Requirement]:
    """The instances of every model whose value is worth reporting of these sensitive columns."""
    found = [probe for name, model in MODELS.loadable() for probe in _probes_of(name, model, classes)]
    return [probe for probe in found if _at_hand(probe, classes) and not _misfit(probe, classes)]


def _probes_of(name: str, model: type[Requirement], classes: Classes) -> Sequence[Requirement]:
    """The instances of a model; one of another package that fails is passed over, with a warning."""
    try:
        return list(model.probes({name: one for name, one in classes.columns.items() if name not in classes.sealed}))
    except Exception as error:
        if name in MODELS.own:
            raise
        warnings.warn(
            f"model {name!r} is passed over: it fails with {type(error).__name__}", ShoalWarning, stacklevel=2
        )
        return []


def _misfit(requirement: Requirement, classes: Classes) -> str | None:
    """Say why the sensitive columns cannot be looked at this way, or None."""
    if not isinstance(requirement, ColumnRequirement):
        return None
    if requirement.column not in classes.columns:
        return f"column {requirement.column!r} is not published as a sensitive one"
    misfit = requirement.misfit(classes.columns[requirement.column])
    return f"column {requirement.column!r} {misfit}" if misfit else None


def _misnamed(requirement: Requirement) -> str | None:
    """Say that a model of another package reports what it reaches by a name that is not its own, or None."""
    if requirement.name in MODELS.own or requirement.key.startswith(requirement.measures):
        return None
    return f"reports what it reaches as {requirement.key!r}, and declares {requirement.measures!r}"


def _at_hand(requirement: Requirement, classes: Classes) -> bool:
    """Whether the knowledge from outside that a requirement needs was given."""
    given = {
        None: True,
        "population": classes.matches is not None,
        "choices": classes.guards is not None and _has_tree(requirement, classes),
        "original": classes.chances is not None,
    }
    return given[requirement.needs]


def _has_tree(requirement: Requirement, classes: Classes) -> bool:
    """Whether all nodes that people may choose are known: those that no cell shows are in the schema alone."""
    values = classes.columns.get(getattr(requirement, "column", ""))
    return values is None or values.tree is None or values.tree.complete
