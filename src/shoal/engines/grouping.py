"""Equivalence classes of a table, or of a block of one: formed, brought to keep what is required, and refined."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.enforce.enforcer import Enforcer
from shoal.engines.description import Asked
from shoal.errors import ParameterError, Problem
from shoal.methods.base import Task
from shoal.methods.groups import Groups
from shoal.privacy.alpha_k import AlphaK
from shoal.privacy.base import Requirement
from shoal.privacy.slice_diversity import SliceDiversity
from shoal.progress import Progress
from shoal.publish.base import shown_classes
from shoal.table.prepare import Table


def grouped(
    table: Table,
    asked: Asked,
    seed: int,
    told: Progress,
    *,
    block: int | None = None,
    people: pl.DataFrame | None = None,
) -> Groups:
    """The classes of a table or a block: who shares one.

    Parameters
    ----------
    table
        A whole table, or a block of one.
    asked
        Method, requirements, publisher and refinement.
    seed
        Of all that is drawn.
    told
        Who is told how far the work is.
    block
        Which block it is: each draws its own random numbers; None for a whole table.
    people
        The quasi-identifiers of a population.
    """
    method, publish, refine = asked.method, asked.publish, asked.refine
    own = () if block is None else (block + 1,)
    task = Task.of(asked.judged(table), (*asked.own(table), *asked.require), people)
    sets = bool(getattr(publish, "sets", False))
    groups = method.partition(task, np.random.default_rng([seed, 0, *own]), told)
    if not isinstance(groups, Groups):
        fix = "return Groups(labels), which has a whole number for every row"
        raise ParameterError(Problem(f"method {method.name}", f"its partition returned {type(groups).__name__}", fix))
    groups.check(table.n_rows, method.min_group_size)
    enforcer = Enforcer(
        task, method.min_group_size, publish.loses, sets, int(asked.suppress * table.n_rows),
        lambda found: shown_classes(publish.publish(table, found)),
    )  # fmt: skip
    groups = enforcer.enforce(groups, told)
    if refine is not None:
        rng = np.random.default_rng([seed, 2, *own])
        groups = refine.improve(task, groups, method.min_group_size, refine.loss or publish.loses, sets, rng, told)
        groups.check(table.n_rows, method.min_group_size)
        groups = enforcer.enforce(groups, told)
    return groups


def required(table: Table, asked: Asked) -> tuple[Requirement, ...]:
    """What a block as one class must keep, so that there is a grouping of it that does.

    Of slices, only what is lacking otherwise: a value that is too frequent in a block is too likely in its slices.
    """
    own = asked.own(table)
    if asked.method.protects == "links" and not own:
        promises = asked.method.promises(table.schema)
        shares = [AlphaK(column=one.column, alpha=1 / one.l) for one in promises if isinstance(one, SliceDiversity)]
        own = (*(one for one in promises if one.needs is None), *shares)
    return (*own, *asked.require)
