"""How well classes keep the values of a column apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import ParameterError, Problem, did_you_mean
from shoal.measure.base import Given, Measure
from shoal.measure.group_errors import n_leading
from shoal.spec import ColumnName, Maybe, param
from shoal.table.numbering import value_codes


@dataclass(frozen=True)
class ClassificationMetric(Measure):
    """Rows that differ from most of their class, for sensitive categories and for one further column."""

    name: ClassVar[str] = "cm"
    title: ClassVar[str] = "classification metric (CM)"
    formula: ClassVar[str] = (
        "share of rows that are left out or do not carry the most frequent value of their class (the mean; some "
        "authors report the sum)"
    )
    reference: ClassVar[str] = "Iyengar, Transforming data to satisfy privacy constraints, KDD 2002"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    suffixes: ClassVar[tuple[str, ...]] = (":<column>",)

    label: str | None = param(Maybe(ColumnName()), "a further column that is published as it is", default=None)

    def entries(self, given: Given) -> dict[str, float]:
        """The share of rows for each column; a missing value is a value of its own."""
        passed = {column.name: column for column in given.manifest.layout.passed}
        if self.label is not None and self.label not in passed:
            fix = did_you_mean(self.label, passed, "name a sensitive or neutral column")
            raise ParameterError(Problem("label=", f"{self.label!r} is not a column published as it is", fix))
        sensitive = [name for name, column in passed.items() if column.role == "sensitive" and column.kind != "numeric"]
        names = dict.fromkeys([*sensitive, *([] if self.label is None else [self.label])])
        return {f"{self.name}:{name}": _share(given, name) for name in names}


def _share(given: Given, name: str) -> float:
    """Share of rows whose value is not the most frequent one of their class."""
    leading = given.leading.get(name)
    if leading is None:
        leading = n_leading(given.row_classes, value_codes(given.rows.select(name))[name])
    return float(given.n_rows - leading) / max(given.n_rows, 1)
