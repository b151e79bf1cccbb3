"""Every kernel compiled ahead: for containers, classrooms, and whoever does not want to wait at the first call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from typing import Any

from shoal import sample
from shoal.cluster import sharing
from shoal.enforce.refine import Refine
from shoal.errors import ShoalError
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.t_closeness import TCloseness
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Real, YesNo
from shoal.table.schema import Schema

N_ROWS = 120
K = 3
SENSITIVE = "disease"


def compile_all(progress: Progress = SILENT) -> int:
    """Compile every kernel that publishing, checking or measuring a table may need, and count what was tried.

    What is compiled stays on disk, where `shoal.kernels.machine_code` says. What is there already is not compiled anew.
    """
    jobs = [*_jobs()]
    progress.stage("compiling", len(jobs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for job in jobs:
            with suppress(ShoalError):  # a combination that this little table cannot give; others need the same kernels
                job()
            progress.advance(1)
    return len(jobs)


def _jobs() -> Iterator[Callable[[], Any]]:
    """Every method with each of its choices, alone and with something required; then on all cores, and refined."""
    close = [TCloseness(column=SENSITIVE, t=0.4)]
    for name in METHODS.own:
        if name == "m-invariance":  # it goes from release to release
            continue
        for method in _choices(METHODS[name]):
            yield _publishing(method)
            yield _publishing(method, require=close, suppress=0.1)
            yield _publishing(method, shared=True)
    for loss in ("ncp", "sse"):
        yield _publishing(METHODS["mondrian"](k=K), refine=Refine(rounds=1, loss=loss), require=close, suppress=0.1)


def _choices(method: type[Method]) -> Iterator[Method]:
    """A method as it is without further words, then with each other word of each of its choices."""
    own = {one.name: one for one in method.parameters()}
    given: dict[str, Any] = {name: value for name, value in (("k", K), ("l", 2)) if name in own and own[name].required}
    for name, one in own.items():
        if one.required and name not in given:
            given[name] = SENSITIVE if name == "column" else 1.0 if isinstance(one.bound, Real) else 1
    yield method(**given)
    for name, one in own.items():
        words = one.bound.words if isinstance(one.bound, OneOf) else (True, False)
        for word in words if isinstance(one.bound, OneOf | YesNo) else ():
            if word != one.default:
                yield method(**{**given, name: word})


def _publishing(method: Method, *, shared: bool = False, **asked: Any) -> Callable[[], Any]:
    def run() -> None:
        schema = sample.schema()
        if method.name == "optimal-univariate":
            schema = Schema(identifying=schema.identifying, quasi={"age": schema.quasi["age"]}, rest="drop")
        with sharing.at_once() if shared else nullcontext():
            anonymize(sample.people(N_ROWS, seed=1), schema, method, seed=1, **asked)

    return run
