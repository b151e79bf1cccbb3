"""Every kernel compiled ahead: for containers, classrooms, and whoever does not want to wait at the first call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from itertools import product
from typing import Any

import polars as pl

from shoal import sample
from shoal.enforce.refine import Refine
from shoal.errors import ShoalError
from shoal.kernels import sharing
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy.base import Requirement
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.progress import SILENT, Progress
from shoal.spec import OneOf, Real, YesNo
from shoal.table.schema import Schema

K = 3
N_ROWS = 40 * K + 1
"""One is left over, for what places such rows."""
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
    close: list[Requirement] = [TCloseness(column=SENSITIVE, t=0.4)]
    diverse: list[Requirement] = [LDiversity(column=SENSITIVE, l=3)]
    rare: list[Requirement] = [LDiversity(column=SENSITIVE, l=3, variant="entropy")]  # kernels of their own
    for name in METHODS.own:
        if name == "m-invariance":  # it goes from release to release
            continue
        for method in _choices(METHODS[name]):
            yield _publishing(method)
            for require in (close, diverse, rare, [*close, *rare]):
                yield _publishing(method, require=require, suppress=0.1)
            yield _publishing(method, shared=True)
    for loss, require in product(("ncp", "sse"), ([], close)):
        yield _publishing(METHODS["mondrian"](k=K), refine=Refine(rounds=1, loss=loss), require=require, suppress=0.1)


def _choices(method: type[Method]) -> Iterator[Method]:
    """A method as it is without further words, then with each other word of each of its choices."""
    given = _given(method)
    yield method(**given)
    for one in method.parameters():
        words = one.bound.words if isinstance(one.bound, OneOf) else (True, False)
        for word in words if isinstance(one.bound, OneOf | YesNo) else ():
            if word != one.default:
                yield method(**{**given, one.name: word})


def _given(method: type[Method]) -> dict[str, Any]:
    """What a method cannot do without."""
    known: dict[str, Any] = {"k": K, "l": 2, "column": SENSITIVE}
    return {
        one.name: known.get(one.name, 1.0 if isinstance(one.bound, Real) else 1)
        for one in method.parameters()
        if one.required
    }


def plain(name: str) -> Method:
    """A method by its name, without further words."""
    found: Method = METHODS[name](**_given(METHODS[name]))
    return found


def with_schema(method: Method, n_rows: int = N_ROWS) -> tuple[pl.DataFrame, Schema]:
    """A table of the sample that a method can treat, and its schema."""
    schema = sample.schema()
    if method.name == "optimal-univariate":
        quasi = {"age": schema.quasi["age"]}
        schema = Schema(identifying=schema.identifying, quasi=quasi, sensitive=schema.sensitive, rest="drop")
    if method.protects == "links":  # one sensitive column, whose values are frequent enough for buckets
        quasi = {name: schema.quasi[name] for name in ("age", "sex")}
        schema = Schema(identifying=schema.identifying, quasi=quasi, sensitive=[SENSITIVE], rest="drop")
    return sample.people(n_rows, seed=1), schema


def _publishing(method: Method, *, shared: bool = False, **asked: Any) -> Callable[[], Any]:
    def run() -> None:
        frame, schema = with_schema(method)
        with sharing.at_once() if shared else nullcontext():
            anonymize(frame, schema, method, seed=1, **asked)

    return run
