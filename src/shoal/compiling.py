"""Every kernel compiled ahead: for containers, classrooms, and whoever does not want to wait at the first call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from shoal import sample
from shoal.check.slices import SlicesRead
from shoal.cluster.box_tree import for_few_rows
from shoal.enforce.refine import Refine, near_rows_alone
from shoal.engines.blocks import Blocks
from shoal.engines.on_disk import publish_in_blocks
from shoal.errors import ShoalError
from shoal.kernels import sharing
from shoal.kernels.jit import stop_telling
from shoal.machine.processes import n_cores, processes
from shoal.measure.ncp_bound import bound_of
from shoal.measure.sampled import Sampling
from shoal.methods import METHODS
from shoal.methods.base import Method
from shoal.pipeline import anonymize
from shoal.privacy import MODELS
from shoal.privacy.base import Requirement
from shoal.privacy.l_diversity import LDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.progress import SILENT, Progress
from shoal.publish import PUBLISHERS
from shoal.published.release import read_release
from shoal.recipe.recipe import Recipe
from shoal.release.manifest import FORMATS, Layout
from shoal.series import republish
from shoal.spec import OneOf, Real, YesNo
from shoal.table.numbering import distinct_views
from shoal.table.prepare import prepare
from shoal.table.schema import Numeric, Schema
from shoal.table.sources import Source, read

K = 3
N_ROWS = 40 * K + 1
"""One is left over, for what places such rows."""
SENSITIVE = "disease"
CLOSE: list[Requirement] = [TCloseness(column=SENSITIVE, t=0.4)]
DIVERSE: list[Requirement] = [LDiversity(column=SENSITIVE, l=3)]
RARE: list[Requirement] = [LDiversity(column=SENSITIVE, l=3, variant="entropy")]
"""It has kernels of its own."""
MOST = 4
"""Processes beyond which more of them compile the same kernels at the same time."""


def compile_all(progress: Progress = SILENT, *, workers: int | None = None) -> int:
    """Compile every kernel that publishing, checking or measuring a table may need, and count what was tried.

    What is compiled stays on disk, where `shoal.kernels.machine_code` says. What is there already is not compiled anew.

    Parameters
    ----------
    progress
        Is told how far the work is.
    workers
        Number of processes; by default one for each core, up to four.
    """
    sizes = [len(jobs) for jobs in _by_topic().values()]
    progress.stage("compiling", sum(sizes))
    with processes(workers or min(n_cores(), MOST), cores=n_cores()) as pool:  # with those that only several cores need
        pool.each(_compile, [(topic,) for topic in _by_topic()], lambda place: progress.advance(sizes[place]))
    return sum(sizes)


def _compile(topic: str) -> None:
    """Do the jobs of one topic."""
    stop_telling()  # that it takes its time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for job in _by_topic()[topic]:
            with suppress(ShoalError):  # a combination that this little table cannot give; others need the same kernels
                job()


def _by_topic() -> dict[str, list[Callable[[], Any]]]:
    """What is done in turn, since it needs the same kernels: what takes longest first, then each method."""
    by_method = {name: [*_formed(METHODS[name])] for name in METHODS.own if name != "m-invariance"}  # see `_again`
    return {"refine": [*_refined()], "other": [*_other()], **by_method}


def _formed(kind: type[Method]) -> Iterator[Callable[[], Any]]:
    """A method with each of its choices, alone and with something required; then on all cores, and with trees."""
    for method in _choices(kind):
        yield _publishing(method)
        for require in (CLOSE, DIVERSE, RARE, [*CLOSE, *RARE]):
            yield _publishing(method, require=require, suppress=0.1)
        yield _publishing(method, shared=True)
        yield _publishing(method, trees=True)
        yield _publishing(method, trees=True, require=[*CLOSE, *RARE], suppress=0.1)


def _refined() -> Iterator[Callable[[], Any]]:
    """Groups that are refined, for either loss, of columns of all kinds and of numbers alone."""
    for loss, require, numbers in product(("ncp", "sse"), ([], CLOSE), (False, True)):
        asked: dict[str, Any] = {"refine": Refine(rounds=1, loss=loss), "suppress": 0.1, "numbers": numbers}
        refined = partial(_publishing, METHODS["mondrian"](k=K), **asked)
        yield refined(require=require)
        yield refined(require=require, trees=True)
        yield refined(require=require, shared=True)


def _other() -> Iterator[Callable[[], Any]]:
    """What no method alone needs."""
    yield _among_people
    yield _again
    for form in FORMATS:
        yield partial(_from_files, form)
    yield _in_blocks
    yield _refuted
    yield partial(_measured, "mondrian")
    yield partial(_measured, "anatomy")
    yield partial(_attacked, "generalize")
    yield partial(_attacked, "aggregate")
    yield _bounded
    yield partial(distinct_views, pl.Series(["a"] * N_ROWS))  # of many rows


def _among_people() -> None:
    """What is required of a population."""
    frame, schema = with_schema(METHODS["mondrian"](k=K))
    known = {"k": 2 * K, "low": 0.0, "high": 0.9}
    models = [MODELS[name] for name in MODELS.own if MODELS[name].needs == "population"]
    require = [model(**{one.name: known[one.name] for one in model.parameters() if one.required}) for model in models]
    everybody = sample.people(3 * N_ROWS, seed=1)
    anonymize(
        frame,
        schema,
        METHODS["mondrian"](k=K),
        require=require,
        population=everybody,
        suppress=0.5,
        seed=1,
        progress=False,
    )


def _again() -> None:
    """A table that is published twice, with other people in between."""
    frame = sample.people(2 * N_ROWS, seed=1).select("age", "sex", SENSITIVE).with_row_index("name")
    quasi = {name: sample.schema().quasi[name] for name in ("age", "sex")}
    schema = Schema(identifying=["name"], quasi=quasi, sensitive=[SENSITIVE])
    method: Any = METHODS["m-invariance"](m=2, id="name", column=SENSITIVE)
    before = republish(frame.head(N_ROWS), schema, method, seed=1)
    republish(frame.tail(N_ROWS + K), schema, method, previous=before.release, state=before.state, seed=1)


def _from_files(form: str) -> None:
    """A table that is read from a file, and a release that is written and read back."""
    with TemporaryDirectory() as folder:
        data = Path(folder) / "people.csv"
        frame, schema = with_schema(METHODS["mondrian"](k=K))
        frame.write_csv(data)
        release = anonymize(read(Source(path=str(data))), schema, METHODS["mondrian"](k=K), seed=1, progress=False)
        read_release(release.write(Path(folder) / "release", format=form)).membership(frame, schema=schema)


def _in_blocks() -> None:
    """A table that is cut into blocks, each with groups of its own: at hand, and in a file."""
    method = METHODS["mondrian"](k=K)
    frame, schema = with_schema(method)
    blocks = Blocks(rows=N_ROWS // 2, workers=1)
    given: dict[str, Any] = {"require": (*CLOSE, *DIVERSE), "seed": 1}
    anonymize(frame, schema, method, engine=blocks, progress=False, **given)
    with TemporaryDirectory() as folder:
        data = Path(folder) / "people.parquet"
        frame.write_parquet(data)
        recipe = Recipe(schema, method, source=Source(path=str(data)), **given)
        publish_in_blocks(recipe, Path(folder) / "release", blocks, SILENT)


def _attacked(publisher: str) -> None:
    """People linked with cells that cover them, and with averages."""
    frame, schema = with_schema(METHODS["mondrian"](k=K))
    release = anonymize(
        frame, schema, METHODS["mondrian"](k=K), publish=PUBLISHERS[publisher](), seed=1, progress=False
    )
    release.attack(frame, "linking", schema=schema)


def _bounded() -> None:
    """The least that a release can lose, and who stands out."""
    frame, schema = with_schema(METHODS["mondrian"](k=K))
    release = anonymize(frame, schema, METHODS["mondrian"](k=K), seed=1, progress=False)
    for name in ("sse_bound", "ncp_bound", "suda"):
        release.measure(name, original=frame, schema=schema)
    some = Sampling(above=0, first=2, draws=2)  # as of a large table
    bound_of(prepare(frame, schema), release.manifest.layout.quasi, K, sampling=some)


def _measured(name: str) -> None:
    """Random counts of rows side by side, and of buckets."""
    method = plain(name)
    frame, schema = with_schema(method)
    anonymize(frame, schema, method, seed=1, progress=False).measure("query_error", original=frame, schema=schema)


def _refuted() -> None:
    """Slices of which the checker cannot say at once whether they keep their promise."""
    table = pl.DataFrame({"bucket": [0] * 4, "age": [1, 1, 2, 3], "sex": list("mfmf"), SENSITIVE: list("aabc")})
    parts = [table.select("age", SENSITIVE), table.select("sex")]
    quasi = [{"name": name, "kind": kind, "form": "raw", "columns": [name], "has_missing": False}
             for name, kind in (("age", "numeric"), ("sex", "nominal"))]  # fmt: skip
    layout = Layout.model_validate(
        {"shape": "slices", "quasi": quasi, "passed": [{"name": SENSITIVE, "role": "sensitive", "kind": "nominal"}]}
    )
    buckets = table["bucket"].cast(pl.Int64)
    numbers, times = buckets.to_numpy(), np.ones(table.height)
    slices = SlicesRead(layout, tuple(parts), (numbers, numbers), (times, times), buckets)
    slices.chances_of_all({SENSITIVE: 0.5})
    slices.refuted({SENSITIVE: 0.5})
    slices.chances(table)


def _choices(method: type[Method]) -> Iterator[Method]:
    """A method as it is without further words, then with each other word of each of its choices, and with a label."""
    given = _given(method)
    yield method(**given)
    for one in method.parameters():
        words = one.bound.words if isinstance(one.bound, OneOf) else (True, False)
        for word in words if isinstance(one.bound, OneOf | YesNo) else ():
            if word != one.default:
                yield method(**{**given, one.name: word})
        if one.name == "label":
            yield method(**given, label=SENSITIVE)


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


def _publishing(
    method: Method, *, shared: bool = False, trees: bool = False, numbers: bool = False, **asked: Any
) -> Callable[[], Any]:
    def run() -> None:
        frame, schema = with_schema(method)
        if numbers:
            quasi = {name: kind for name, kind in schema.quasi.items() if isinstance(kind, Numeric)}
            schema = Schema(identifying=schema.identifying, quasi=quasi, sensitive=schema.sensitive, rest="drop")
        with ExitStack() as stack:
            for context in [sharing.at_once, near_rows_alone] * shared + [for_few_rows] * trees:
                stack.enter_context(context())
            anonymize(frame, schema, method, seed=1, progress=False, **asked)

    return run
