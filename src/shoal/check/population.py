"""How a population fits a release: how many of its people the cells of each class cover.

Only cells that generalise cover people: intervals, runs, nodes and sets. The cells were checked before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.check.containment import Containers
from shoal.check.placing import axis_with_values
from shoal.check.value_ranges import Axis, Ints, boxes_of, distinct_cells
from shoal.errors import ParameterError, Problem, Problems, SchemaError, some
from shoal.privacy.base import Classes, Matches
from shoal.release.manifest import Layout
from shoal.table.clean import clean
from shoal.table.schema import Column, Nominal, Numeric, Schema


def population_matches(
    cells: pl.DataFrame,
    labels: Ints,
    layout: Layout,
    population: pl.DataFrame,
    schema: Schema | None = None,
    whose: Ints | None = None,
) -> Matches | str:
    """Count the people that each class covers, or say why that cannot be known.

    Parameters
    ----------
    cells, labels
        The published cells row by row, and the class of each row.
    layout
        How the cells are to be read.
    population
        One row per person, with the quasi-identifiers as they were before publishing.
    schema
        The hierarchies whole: without it, a value that the release does not show has no known place in a tree.
    whose
        Whose row each one is, where people may have several.
    """
    if not layout.laid_out.compares_population:
        return "only a release that generalises can be compared with a population"
    people = _people(layout, population)
    sizes, heads = Classes(labels, {}, people=whose).sizes, np.unique(labels, return_index=True)[1]
    axes, class_codes, person_codes = [], [], []
    for column in layout.quasi:
        shown, class_code = distinct_cells(cells[heads].select(column.columns))
        values, person_code = distinct_cells(people.select(column.name))
        axis = axis_with_values(column, shown, [row[0] for row in values], schema)
        if isinstance(axis, str):
            return f"of the population, {axis}"
        axes.append(axis)
        class_codes.append(class_code)
        person_codes.append(person_code + len(shown))
    return _matches(axes, np.stack(class_codes, axis=1), np.stack(person_codes, axis=1), sizes)


def _people(layout: Layout, population: pl.DataFrame) -> pl.DataFrame:
    """The quasi-identifiers of the population in their canonical types, or one error with all problems."""
    lacking = [column.name for column in layout.quasi if column.name not in population.columns]
    if lacking:
        fix = "give a table with the quasi-identifiers of every person"
        raise ParameterError(Problem("population", f"has no column {some(lacking, 50)}", fix))
    problems, found = Problems(), []
    for column in layout.quasi:
        kind = Numeric() if column.kind == "numeric" else Nominal()
        found.append(clean(population[column.name], Column(column.name, "quasi", kind), (), problems))
    problems.raise_if_any(SchemaError)
    return pl.DataFrame(found)


def _matches(axes: Sequence[Axis], classes: Ints, persons: Ints, sizes: Ints) -> Matches:
    """Count over distinct people: first who is covered by which class, then how likely each is inside."""
    names = [str(place) for place in range(len(axes))]
    distinct, number = distinct_cells(pl.DataFrame(persons, schema=names, orient="row"))
    weight = np.bincount(number, minlength=len(distinct)).astype(np.int64)
    queries = boxes_of(axes, np.array(distinct, dtype=np.int64).reshape(-1, len(axes)))
    containers = Containers.of(boxes_of(axes, classes))
    per_class = containers.weigh(queries, weight)
    chance = containers.add_up(queries, sizes / np.maximum(per_class, 1))
    return Matches(per_class, chance[number])
