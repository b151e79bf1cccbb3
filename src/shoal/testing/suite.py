"""The contract as tests: for Shoal's own methods, and for those of other packages."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numba
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError, InputError, Problems
from shoal.measure.base import Measure
from shoal.methods.base import Method
from shoal.methods.mondrian import Mondrian
from shoal.pipeline import anonymize
from shoal.privacy.base import Requirement
from shoal.publish import PUBLISHERS, default_publisher
from shoal.publish.base import Publisher
from shoal.published.release import Release, read_release
from shoal.recipe.recipe import Recipe
from shoal.release.manifest import FORMATS
from shoal.spec import Bound, OneOf, Parameter, Real, Spec, Whole, YesNo
from shoal.table.prepare import prepare
from shoal.table.schema import Kind, Nominal, Numeric, Schema
from shoal.testing.checks import check_contract
from shoal.testing.models import Kept
from shoal.testing.tables import KIND_MIXES, Case, sensitive_tables

SpecT = TypeVar("SpecT", bound=Spec)
N_CORNERS = 7
"""How many tables at the edge there are."""
FEW = 5
"""Up to how many whole numbers a parameter may have for each of them to be tried."""


# -- which parameters to try ------------------------------------------------------------------------------------------


def options_to_try(spec: type[Spec], given: Sequence[str] = ("k", "l")) -> list[dict[str, object]]:
    """Parameters that show every choice of a spec at least once; those that are given otherwise are left out.

    The first are the defaults. Then every choice takes its next word, all at once, until each has had all its words,
    and numbers take another value within their bounds. What is optional is left to the spec.
    """
    parameters = [one for one in spec.parameters() if one.name not in given]
    tried = {one.name: values for one in parameters if (values := _values(one))}
    rounds = max((len(values) for values in tried.values()), default=1)
    first = {one.name: tried[one.name][0] for one in parameters if one.required and one.name in tried}
    others = [{name: values[turn % len(values)] for name, values in tried.items()} for turn in range(1, rounds)]
    return [first, *others]


def variants(spec: type[SpecT], **given: Any) -> list[SpecT]:
    """Instances of a spec that show every choice at least once, with some parameters the same in all of them."""
    return [spec(**{**options, **given}) for options in options_to_try(spec, list(given))]


def _values(parameter: Parameter) -> list[object]:
    """Values to try, the default first; none where only its author knows some."""
    found = [value for value in _within(parameter.bound) if value != parameter.default]
    if isinstance(parameter.bound, Real | Whole) and not _is_choice(parameter.bound):
        found = found[:1]
    return found if parameter.required or not found else [parameter.default, *found]


def _within(bound: Bound) -> Sequence[object]:
    """Values that a bound allows: all choices, or some numbers."""
    if isinstance(bound, OneOf):
        return list(bound.words)
    if isinstance(bound, YesNo):
        return [False, True]
    if isinstance(bound, Whole) and bound.minimum is not None:
        return [bound.minimum + step for step in range(FEW + 1)][: _n_values(bound)]
    if isinstance(bound, Real) and bound.minimum > -math.inf:
        low, high = bound.minimum, bound.maximum
        numbers = [low + 1.0, low + 2.0] if high == math.inf else [(low + high) / 2, high]
        return [int(number) if float(number).is_integer() else number for number in numbers]
    return []


def _n_values(bound: Whole) -> int | None:
    return None if bound.minimum is None or bound.maximum is None else bound.maximum - bound.minimum + 1


def _is_choice(bound: Bound) -> bool:
    """Whether a number has so few values that each of them is a choice."""
    return isinstance(bound, Whole) and (_n_values(bound) or FEW + 1) <= FEW


# -- the tests --------------------------------------------------------------------------------------------------------


def contract(
    *methods: Method,
    publish: Sequence[Publisher] = (),
    require: Sequence[Requirement] = (),
    measure: Sequence[Measure] = (),
    rederive: Mapping[str, Kept] | None = None,
    examples: int = 25,
) -> type:
    """Tests that every method, publisher, model and measure passes, as a class for pytest.

    Parameters
    ----------
    methods
        Methods to test, such as ``Mine(k=3)`` or ``*variants(Mine, k=3)``; they may protect cells or links. Mondrian
        when only publishers, models or measures are to be tested.
    publish
        Publishers to test; when not given, all that can show the groups of the methods.
    require
        Requirements to test, of the columns of `sensitive_tables`: ``disease`` and ``illness`` (a tree) are nominal,
        ``stage`` is ordinal, ``income`` numeric.
    measure
        Measures to test, of all shapes that the publishers show.
    rederive
        For models of your own: whether a release keeps a requirement, by the name of the model; see `check_contract`.
    examples
        How many tables hypothesis draws.

    Examples
    --------
    In a test file: ``TestMine = contract(*variants(Mine, k=3))``.
    """
    pairs = [(one, shown) for one in methods or [Mondrian(k=3)] for shown in _publishers(one, publish)]
    asked = st.sampled_from([(), *((one,) for one in require)])
    quick = settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])

    class TestContract:
        @quick
        @given(data=st.data())
        def test_any_table(self, data: st.DataObject) -> None:
            method, shown = data.draw(st.sampled_from(pairs), "method and publisher")
            require = data.draw(asked, "require")
            mix = data.draw(st.sampled_from(list(KIND_MIXES)), "mix")
            case = data.draw(sensitive_tables(mix, min_rows=2 * method.min_group_size, max_rows=30), "table")
            suppress = data.draw(st.sampled_from([0.0, 0.2]), "suppress") if require else 0.0
            _check(case, method, shown, require, rederive, suppress=suppress)

        def test_corners(self) -> None:
            for turn in range(max(len(pairs), N_CORNERS)):
                method, shown = pairs[turn % len(pairs)]
                _check(_corners(method.min_group_size)[turn % N_CORNERS], method, shown, (), rederive, again=False)

        def test_same_bytes_from_any_frame_and_any_number_of_threads(self) -> None:
            for method, shown in {method: (method, shown) for method, shown in pairs}.values():
                _check_bytes(method, shown)

        def test_files_and_recipe(self) -> None:
            for turn, (method, shown) in enumerate(pairs):
                _check_files(method, shown, FORMATS[turn % len(FORMATS)], measure)
                _check_recipe(method, shown, require)

    return TestContract


def _publishers(method: Method, publish: Sequence[Publisher]) -> list[Publisher]:
    """Those that can show the groups of a method, of some or of all there are."""
    offered = publish or [one for kind in PUBLISHERS.own for one in variants(PUBLISHERS[kind])]
    declared = method.declaration()
    found = [one for one in offered if declared.goes_with(one.name, one.declaration())]
    return found or [default_publisher(method)]


def _check(
    case: Case,
    method: Method,
    publish: Publisher,
    require: Sequence[Requirement],
    rederive: Mapping[str, Kept] | None,
    *,
    suppress: float = 0.0,
    again: bool = True,
) -> None:
    """Check the contract; what is refused must have been noted before the work, or be named as what cannot be kept."""
    noted = _refused(case, method, publish, require, unsuppressed=not int(suppress * case.frame.height))
    try:
        check_contract(case, method, publish, require=require, rederive=rederive, suppress=suppress, again=again)
    except InputError as error:
        if not (noted or _may_fail(error, method, require, suppress)):
            raise AssertionError("refused, and nobody noted it before the work") from error
    else:
        assert not noted, "what was noted before the work was published all the same"


def _may_fail(error: InputError, method: Method, require: Sequence[Requirement], suppress: float) -> bool:
    """Whether groups may be refused once they are formed: all left out, or no way found to keep what is required.

    Where joining groups makes no requirement worse and no row is left out, all rows as one group are always a way.
    """
    leaves_out = method.declaration().leaves_out is not None
    stuck = leaves_out or suppress > 0 or not all(one.monotone for one in require)
    blamed = all(problem.where.startswith("require ") for problem in error.problems)
    return isinstance(error, InfeasibleError) and (stuck if require and blamed else leaves_out)


def _refused(
    case: Case, method: Method, publish: Publisher, require: Sequence[Requirement] = (), *, unsuppressed: bool = True
) -> bool:
    """Whether method, publisher or models note that they cannot treat a table."""
    problems, table = Problems(), prepare(case.frame, case.schema)
    method.check(table, problems)
    publish.check(table, problems)
    for one in require:
        one.check(table, problems)
    if not len(problems) and unsuppressed:
        for one in require:
            one.check_unsuppressed(table, problems)
    return len(problems) > 0


def _corners(k: int) -> list[Case]:
    """Tables at the edge: too few rows, just enough, all alike, all missing, many columns, names in any script."""
    n = 2 * k
    turns = [("flu", "ulcer", "cold", "cough")[row % 4] for row in range(n)]
    number, name = Numeric(), Nominal()

    def case(quasi: Mapping[str, Any], **columns: Any) -> Case:
        rows = len(next(iter(columns.values())))
        frame = pl.DataFrame({**columns, "disease": turns[:rows]})
        return Case(frame, Schema(quasi=quasi, sensitive={"disease": Nominal()}))

    many = {f"n{place}": [(row * place) % 7 for row in range(n)] for place in range(20)}
    return [
        case({"a": number}, a=list(range(k - 1))),
        case({"a": number}, a=list(range(k))),
        case({"a": number}, a=list(range(n - 1))),
        case({"a": number, "b": name}, a=[7] * n, b=["x"] * n),
        case({"a": number, "b": name}, a=list(range(n)), b=pl.Series([None] * n, dtype=pl.String)),
        case(dict.fromkeys(many, number), **many),
        case({"größe": number, "名前": name}, größe=[row / 2 for row in range(n)], 名前=["é", "🐟"] * k),
    ]


def _example(n_rows: int = 48) -> Case:
    """A table that every method can treat: two numbers, a name, a sensitive column with values in turn."""
    frame = pl.DataFrame(
        {
            "age": [20 + (7 * row) % 60 for row in range(n_rows)],
            "height": [150 + (11 * row) % 40 for row in range(n_rows)],
            "town": [("Ålesund", "Bo", "Cà Mau")[row % 3] for row in range(n_rows)],
            "disease": [("flu", "ulcer", "cold", "cough", "colic")[row % 5] for row in range(n_rows)],
        }
    )
    quasi: dict[str, Kind] = {"age": Numeric(), "height": Numeric(), "town": Nominal()}
    return Case(frame, Schema(quasi=quasi, sensitive={"disease": Nominal()}))


def _written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _check_bytes(method: Method, publish: Publisher) -> None:
    """The bytes of a release depend neither on the sort of frame nor on the number of threads."""
    case, cores = _example(), int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if _refused(case, method, publish):
        return
    given_frames = (
        (case.frame, 1),
        (case.frame.lazy(), min(2, cores)),
        (case.frame.to_arrow(), None),
    )
    with tempfile.TemporaryDirectory() as folder:
        found = [
            _written(anonymize(frame, case.schema, method, publish=publish, seed=5, threads=threads, progress=False)
                     .write(Path(folder) / str(place)))
            for place, (frame, threads) in enumerate(given_frames)
        ]  # fmt: skip
    assert all(one == found[0] for one in found), "the same table and seed gave other bytes"


def _check_files(method: Method, publish: Publisher, written: str, measures: Sequence[Measure]) -> None:
    """A release that is read back from its files is what was written, verifies, and measures the same."""
    case = _example()
    if _refused(case, method, publish):
        return
    release = anonymize(case.frame, case.schema, method, publish=publish, seed=0, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        back = read_release(release.write(Path(folder) / "out", format=written))
        assert back.verify().achieved == release.manifest.achieved
        for name, table in release.frames.items():
            texts = [frame.select(pl.all().cast(pl.String)) for frame in (table, back.frames[name])]
            assert texts[0].equals(texts[1]), "what was read back is not what was written"
        for one in measures:
            if release.manifest.layout.shape in one.shapes:
                _check_figures(one, release, back, case)


def _check_figures(one: Measure, release: Release, back: Release, case: Case) -> None:
    """A measure gives figures under its own name, within its range, the same whenever they are asked for."""
    given: dict[str, Any] = {"original": case.frame, "schema": case.schema, **one.to_mapping()}
    figures, again = release.measure(one.name, **given), back.measure(one.name, **given)
    low, high = one.range
    assert figures == again, "a release that was read back measures something else"
    assert all(key.partition(":")[0].startswith(one.name) for key in figures), "a figure has another name"
    assert all(low <= value <= high for value in figures.values()), "a figure is out of its range"


def _check_recipe(method: Method, publish: Publisher, require: Sequence[Requirement]) -> None:
    """A recipe that is written and read back is the same."""
    recipe = Recipe(_example().schema, method, require=tuple(require), publish=publish)
    assert Recipe.from_toml(recipe.to_toml()) == recipe, "a recipe that is read back is another one"


__all__ = ["contract", "options_to_try", "variants"]
