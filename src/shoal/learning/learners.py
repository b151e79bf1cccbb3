"""Learners by name."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import ParameterError, Problems, did_you_mean
from shoal.errors.redaction import redacted
from shoal.learning.c45 import C45
from shoal.learning.scikit import Boosting, Logistic, NaiveBayes, ScikitLearner
from shoal.learning.scores import Learner
from shoal.machine.extras import check_there

LEARNERS: dict[str, type[C45 | Logistic | Boosting | NaiveBayes]] = {
    "c45": C45, "logistic": Logistic, "boosting": Boosting, "bayes": NaiveBayes,
}  # fmt: skip
"""What can be asked for by name; all but the first need the extra ``shoal[learning]``."""


def named(learners: Sequence[str | Learner]) -> dict[str, Learner]:
    """Learners by what they are called in results: names, or objects with parameters of their own."""
    problems, found = Problems(), dict[str, Learner]()
    if isinstance(learners, str) or not isinstance(learners, Sequence) or not learners:
        problems.add("learners=", "needs a list of learners", f'such as ["{next(iter(LEARNERS))}"]')
        problems.raise_if_any(ParameterError)
    for one in learners:
        if isinstance(one, str) and one not in LEARNERS:
            problems.add("learners=", f"unknown learner {redacted(one)[:40]!r}", did_you_mean(one, LEARNERS))
            continue
        if not isinstance(one, str) and not hasattr(one, "fit"):
            problems.add(
                "learners=", f"needs names or learners, got {type(one).__name__}", f"names: {', '.join(LEARNERS)}"
            )
            continue
        name = one if isinstance(one, str) else str(getattr(one, "name", type(one).__name__))
        if name in found:
            problems.add("learners=", f"{name!r} is given twice", "give each once")
        found[name] = LEARNERS[one]() if isinstance(one, str) else one
        if isinstance(found[name], ScikitLearner):  # said now, not after groups were formed to learn from
            check_there("sklearn", problems, package="scikit-learn", extra="learning", what=f"learner {name!r}")
    problems.raise_if_any(ParameterError)
    return found
