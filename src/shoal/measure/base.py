"""What every measure is: a declared figure of a release, and what it is given to work it out."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.check.cells import ReadColumn, read_column
from shoal.check.original import input_rows
from shoal.check.whose import whose_rows
from shoal.errors import ParameterError, Problem, Problems, counted
from shoal.privacy.base import Classes
from shoal.registry.declared import MEASURE_CLASSES
from shoal.registry.registry import Registry
from shoal.release.key import Key
from shoal.release.manifest import Manifest
from shoal.release.shapes import SHAPES
from shoal.spec import Spec
from shoal.table.markers import Markers
from shoal.table.numbering import class_labels
from shoal.table.prepare import Table, prepare
from shoal.table.schema import Schema

if TYPE_CHECKING:
    from shoal.check.release import Verdict

Sizes = npt.NDArray[np.int64]
T = TypeVar("T")

EVERY_SHAPE = tuple(SHAPES)
COVERING_SHAPES = tuple(name for name, shape in SHAPES.items() if shape.covers_values)
"""Shapes whose cells say which values their rows may have had."""
GROUPED_SHAPES = tuple(name for name, shape in SHAPES.items() if shape.protects == "cells")
"""Shapes whose rows are grouped so that they share their cells."""
MATCHING_SHAPES = (*GROUPED_SHAPES, "buckets", "records")
"""Shapes that show the quasi-identifiers of a row side by side, so that a person can be matched with rows."""


@dataclass(frozen=True, repr=False, eq=False)
class Given:
    """A release to be measured, and what is at hand of its input."""

    tables: Mapping[str, pl.DataFrame]
    """The published tables by name."""
    manifest: Manifest
    """What the release says about itself."""
    original: pl.DataFrame | None = None
    """The input of the release, whole."""
    schema: Schema | None = None
    """The schema that the release was made with: it knows where values belong that are not published."""
    missing_values: Markers = ()
    """Texts that stand for a missing cell of the input, besides the empty text."""
    labels: npt.NDArray[np.int64] | None = None
    """The group of each row of the input, -1 where it is not published."""
    key: Key | None = None
    """What aliases and grades stand for."""
    places: npt.NDArray[np.int64] | None = None
    """The row of the published table that shows each row of the input, -1 where none does; known of a fresh release."""
    input_sha256: str | None = None
    """Fingerprint of the input, where the receipt says it: another table is refused."""
    population: pl.DataFrame | None = None
    """The quasi-identifiers of everybody who may be in the release."""
    people: npt.NDArray[np.int64] | None = None
    """Whose row each published one is, where that was found before."""
    seen: Given | None = None
    """The same tables as they were read back before: what is known of them is not worked out again."""
    _worked_out: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def checked(cls, tables: Mapping[str, pl.DataFrame], manifest: Manifest, verdict: Verdict) -> Given:
        """A release that was checked: what was read back for that is not read again."""
        given, layout = cls(tables, manifest), manifest.layout
        if verdict.classes is not None and layout.laid_out.protects == "cells" and not layout.class_table:
            vars(given).update(columns=list(verdict.read), row_classes=verdict.classes.labels)
        return given

    def once(self, make: Callable[..., T], *asked: Any) -> T:
        """What several measures need of it, such as `Expected.of`, worked out when the first asks."""
        if (make, asked) not in self._worked_out:
            self._worked_out[make, asked] = make(self, *asked)
        return cast("T", self._worked_out[make, asked])

    def _known(self, name: str) -> Any:
        """What was read back of the tables before, if it was."""
        return None if self.seen is None else vars(self.seen).get(name)

    @property
    def charged(self) -> int:
        """Rows left out, as far as their number is public: they are charged as if they said nothing."""
        return self.manifest.rows.charged

    @property
    def n_rows(self) -> int:
        """Rows that figures are averaged over: those shown, and those left out that are charged."""
        return self.manifest.rows.shown + self.charged

    @cached_property
    def rows(self) -> pl.DataFrame:
        """What is published as it is, row by row, beside what says the class."""
        layout = self.manifest.layout
        return layout.laid_out.rows(self.tables, layout, Problems())

    @cached_property
    def cells(self) -> pl.DataFrame:
        """The cells of the quasi-identifiers, one line per class where they have a table of their own, else per row."""
        layout = self.manifest.layout
        if layout.class_table:
            return self.tables[layout.class_table]
        if set(layout.cell_columns) <= set(self.rows.columns):
            return self.rows
        return layout.laid_out.cells(self.tables, layout, Problems())

    @cached_property
    def columns(self) -> list[ReadColumn]:
        """The quasi-identifiers read back: their distinct cells, and how many rows show each."""
        if (known := self._known("columns")) is not None:
            return cast("list[ReadColumn]", known)
        weight = "size" if self.manifest.layout.class_table else None
        return [read_column(column, self.cells, weight=weight) for column in self.manifest.layout.quasi]

    @cached_property
    def whose(self) -> npt.NDArray[np.int64] | None:
        """Whose row each of `alike` is; None where promises count rows, or it cannot be known."""
        if self.manifest.recipe.counts == "rows" or self.people is not None:
            return self.people
        if self.original is None or self.schema is None or self.places is None:
            return None
        found = whose_rows(self.tables, self.manifest, self.original, self.places, self.schema, self.missing_values)
        return found.cells

    @property
    def tells_people(self) -> bool:
        """Whether it is known how many people share a class: not from rows alone, where people have several."""
        return self.manifest.recipe.counts == "rows" or self.whose is not None

    @cached_property
    def class_sizes(self) -> Sizes:
        """Number of rows of each class, smallest first; of each bucket, where there are buckets."""
        return np.sort(np.bincount(self.row_classes)).astype(np.int64)

    @cached_property
    def row_classes(self) -> Sizes:
        """The class, or bucket, of each of `rows`, numbered from 0."""
        if (known := self._known("row_classes")) is not None:
            return cast("Sizes", known)
        return class_labels(self.rows.select(self.manifest.layout.class_columns))

    @cached_property
    def leading(self) -> dict[str, int]:
        """How many rows have the most frequent value of their class, of columns for which that was counted before."""
        return {}

    @cached_property
    def squares(self) -> dict[str, tuple[Sizes, Sizes]]:
        """Sizes of buckets, and sums of the squares of how often values are in them, where that was counted before."""
        return {}

    @cached_property
    def alike(self) -> tuple[pl.DataFrame, Sizes]:
        """The published rows, and a number of each that those share whose quasi-identifiers look the same.

        Rows of a bucket have their own, which stand apart from the sensitive values.
        """
        layout = self.manifest.layout
        if layout.laid_out.protects != "links" or not layout.cell_columns:
            return self.rows, self.row_classes
        return self.cells, class_labels(self.cells.select(layout.cell_columns))

    @cached_property
    def matching_sizes(self) -> Sizes:
        """How many people have the same quasi-identifiers as shown, fewest first; counterfeits are no people.

        As many as rows have them where people may have several and it is not known whose they are.
        """
        layout = self.manifest.layout
        if self.whose is not None:
            return np.sort(Classes(self.alike[1], {}, people=self.whose).sizes)
        if layout.laid_out.has_counterfeits:
            people = self.cells["size"].cast(pl.Int64) - self.cells["counterfeits"].cast(pl.Int64)
            return np.sort(people.to_numpy()).astype(np.int64)
        by_class = layout.class_table or (self.cells is self.rows and layout.cell_columns == layout.class_columns)
        return self.class_sizes if by_class else _sizes(self.cells, layout.cell_columns)

    @cached_property
    def grown_schema(self) -> Schema | None:
        """The schema, if given, whose trees know every value of the input; another table than the input is refused."""
        if self.schema is None or self.original is None:
            return None
        return grown_schema(self.table, self.manifest, self.original, self.missing_values)

    @cached_property
    def table(self) -> Table:
        """The input as the release was made of it; both it and the schema must be given."""
        problems = Problems()
        if self.original is None:
            problems.add("original=", "is needed to compare with, and none is given", "give the input of the release")
        if self.schema is None:
            problems.add("schema=", "is needed to read the input, and none is given", "give that of the release")
        problems.raise_if_any(ParameterError)
        assert self.original is not None and self.schema is not None  # noqa: S101, PT018  checked above
        if self.labels is not None and len(self.labels) != self.original.height:
            raise another_input(
                f"has {counted(self.original.height, 'row')}, the release was made of {len(self.labels):,}"
            )
        found = prepared(self.manifest, self.original, self.schema, self.missing_values)
        if self.input_sha256 is not None and found.sha256 != self.input_sha256:
            raise another_input("has other cells than the input that the receipt of the release was made of")
        return found

    @cached_property
    def input(self) -> pl.DataFrame:
        """The published columns of the input, every row of it, in their canonical types."""
        if self.original is None:
            what = "is needed to compare with, and none is given"
            raise ParameterError(Problem("original=", what, "give the input of the release"))
        if self.schema is not None and self.input_sha256 is not None:
            _ = self.table  # refuses another table
        return input_rows(self.manifest, self.original, self.missing_values)

    @property
    def n_left_out(self) -> int:
        """Rows of the input that are not published, whether or not that number is public."""
        return self.input.height - self.manifest.rows.published


def smallest_classes(given: Given) -> Sizes:
    """For each person who may have several rows, how many people the smallest class has that one of them is in."""
    assert given.whose is not None  # noqa: S101  asked before
    labels = given.alike[1]
    sizes = Classes(labels, {}, people=given.whose).sizes
    fewest = np.full(int(given.whose.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(fewest, given.whose, sizes[labels])
    return fewest[np.unique(given.whose)]


def another_input(what: str) -> ParameterError:
    """What is raised where a table is not the one that a release was made of."""
    return ParameterError(Problem("original", what, "give the input of the release"))


def _sizes(rows: pl.DataFrame, columns: Sequence[str]) -> Sizes:
    """How many rows have equal cells in some columns, fewest first."""
    counts = rows.select(pl.struct(pl.col(columns).cast(pl.String)).unique_counts())
    return np.sort(counts.to_series().to_numpy()).astype(np.int64)


def prepared(manifest: Manifest, original: pl.DataFrame, schema: Schema, missing_values: Markers) -> Table:
    """The input of a release as it was made of it: rules of hierarchies grow into the trees they were."""
    asked = manifest.recipe
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to warn of was said when the release was made
        return prepare(
            original, schema, missing=asked.missing, missing_values=missing_values, normalise=asked.normalise
        )


def grown_schema(table: Table, manifest: Manifest, original: pl.DataFrame, missing_values: Markers) -> Schema:
    """The schema of an input whose trees know all its values, those of rows too that a missing cell kept out."""
    if not table.dropped:
        return table.schema
    everybody = manifest.model_copy(update={"recipe": manifest.recipe.model_copy(update={"missing": "keep"})})
    return prepared(everybody, original, table.given, missing_values).schema


class Measure(Spec, ABC):
    """A figure of a release, or several of one formula, and its parameters.

    Everything but the computation is declared as data: listings and the documentation are made of it.
    """

    registry: ClassVar[Registry[Any]] = MEASURE_CLASSES
    texts: ClassVar[tuple[str, ...]] = ("title", "formula", "reference")

    name: ClassVar[str]
    """What it is asked for by, and what its figures are called; lower case, without a colon."""
    title: ClassVar[str]
    formula: ClassVar[str]
    """In plain text: n rows, s of them left out, d quasi-identifiers, classes E with |E| rows."""
    reference: ClassVar[str]
    """The paper that it comes from."""
    needs: ClassVar[Literal["release", "original"]] = "release"
    """What it is worked out from: the release alone, or the release and its input."""
    range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    """Its least and its largest value."""
    direction: ClassVar[Literal["lower", "higher", "neither"]] = "lower"
    """Which values are the better ones."""
    shapes: ClassVar[tuple[str, ...]] = EVERY_SHAPE
    """The shapes of releases that it speaks of."""
    suffixes: ClassVar[tuple[str, ...]] = ("",)
    """What stands behind the name in the keys of its figures, such as ``":<column>"``."""
    fits_model: ClassVar[bool] = False
    """Whether a model is fitted for it, which takes long and needs the extra ``shoal[learning]``."""

    counts_people: ClassVar[bool] = False
    """Whether it says how many people there are, whom rows alone do not tell where people have several."""

    @classmethod
    def figure_names(cls) -> tuple[str, ...]:
        """What its figures are called."""
        return tuple(f"{cls.name}{suffix}" for suffix in cls.suffixes)

    @classmethod
    def range_text(cls) -> str:
        """Its range in words."""
        low, high = cls.range
        return f"{low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"

    @abstractmethod
    def entries(self, given: Given) -> dict[str, float]:
        """Its figures by their keys, for a release of one of its shapes; the input is there if it needs it."""

    def figures(self, given: Given) -> dict[str, float]:
        """Its figures by their keys, or an error that says why there are none."""
        problems = Problems()
        self.check(given, problems)
        problems.raise_if_any(ParameterError)
        return self.entries(given)

    def check(self, given: Given, problems: Problems) -> None:
        """Note why it cannot be worked out of what is given."""
        shape = given.manifest.layout.shape
        if shape not in self.shapes:
            what = f"says nothing of a release of the shape {shape!r}"
            problems.add(f"measure {self.name}", what, f"it is for the shapes {', '.join(self.shapes)}")
        if self.counts_people and not given.tells_people:
            what = "counts people, who have several rows here, and the files alone show rows"
            fix = "give original=, schema= and the receipt (--original RECIPE, with the receipt beside the release)"
            problems.add(f"measure {self.name}", what, fix)
        if self.needs == "original" and given.original is None:
            what = "compares a release with its input, and none is given"
            problems.add(f"measure {self.name}", what, "give the input of the release, original= or --original")
