"""What classes that were read back reach: of every promised model, and of every model there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shoal.errors import Problems
from shoal.privacy import MODELS
from shoal.privacy.base import Classes, ColumnRequirement, Requirement
from shoal.privacy.bucket_size import BucketSize
from shoal.privacy.m_uniqueness import MUniqueness
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.spec import find

KNOWN: dict[str, type[Requirement]] = {
    **MODELS,
    **{model.name: model for model in (MUniqueness, BucketSize, SliceDiversity)},
}
"""What a release may promise: what any method can be asked for, and what repeated releases and slices alone keep."""
LACKING = {
    "population": "needs the population",
    "choices": "needs the choices of the people",
    "original": "needs the original table",
}
"""What is said of a promise that rests on knowledge from outside, when that knowledge is not given."""


@dataclass(frozen=True)
class Reached:
    """The value the weakest class reaches of each promise, by key; and why others could not be looked at, by key."""

    achieved: dict[str, float]
    unchecked: dict[str, str]
    covered: set[str] = field(default_factory=set)
    """Those of the unchecked that hold nevertheless, for something stronger does."""


def requirement_of(promise: Mapping[str, object]) -> Requirement:
    """A promise as a manifest writes it, as a requirement."""
    entries = dict(promise)
    model = find(KNOWN, entries.pop("model", None), "promise.model")
    return model.from_mapping(entries, "promise")


def reached(
    requirements: Iterable[Requirement], classes: Classes, problems: Problems, lacking: Mapping[str, str] = LACKING
) -> Reached:
    """Re-derive requirements, noting those that do not hold; `lacking` says why outside knowledge is not at hand."""
    found = Reached({}, {})
    for requirement in requirements:
        if misfit := _misfit(requirement, classes):
            problems.add(requirement.name, misfit)
        elif not _at_hand(requirement, classes):
            found.unchecked[requirement.key] = f"{requirement.name}: {lacking[str(requirement.needs)]}"
        else:
            value = found.achieved[requirement.key] = requirement.achieved(classes)
            if complaint := broken(requirement, value):
                problems.add(requirement.name, complaint)
    return found


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
    found = [probe for model in MODELS.values() for probe in model.probes(classes.columns)]
    return [probe for probe in found if _at_hand(probe, classes) and not _misfit(probe, classes)]


def _misfit(requirement: Requirement, classes: Classes) -> str | None:
    """Say why the sensitive columns cannot be looked at this way, or None."""
    if not isinstance(requirement, ColumnRequirement):
        return None
    if requirement.column not in classes.columns:
        return f"column {requirement.column!r} is not published as a sensitive one"
    misfit = requirement.misfit(classes.columns[requirement.column])
    return f"column {requirement.column!r} {misfit}" if misfit else None


def _at_hand(requirement: Requirement, classes: Classes) -> bool:
    """Whether the knowledge from outside that a requirement needs was given."""
    given = {
        None: True,
        "population": classes.matches is not None,
        "choices": classes.guards is not None,
        "original": classes.chances is not None,
    }
    return given[requirement.needs]
