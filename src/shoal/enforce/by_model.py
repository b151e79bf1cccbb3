"""Promises that no kernel knows: the models themselves are asked, group by group.

A model of another package is kept this way. It is slower than a kernel, since a model counts each group anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.enforce.constraints import is_laid_out
from shoal.enforce.population import BLAME
from shoal.methods.base import Task
from shoal.methods.groups import Labels
from shoal.privacy.base import Classes, Requirement
from shoal.table.encode import Floats


class AskedModels:
    """What is required and no kernel knows, of the rows that are shown.

    Parameters
    ----------
    task
        The table and what is required.
    shown
        Which rows are published: what is known of values, and how they are shared out, is of these.
    """

    def __init__(self, task: Task, shown: npt.NDArray[np.bool_]) -> None:
        asked = [one for one in task.require if not is_laid_out(one, task) and one.needs != "population"]
        self._require: Sequence[Requirement] = asked
        if asked:
            self._whole = classes_of(task, np.where(shown, 0, -1))
            self._place = np.cumsum(shown) - 1

    def __bool__(self) -> bool:
        return bool(self._require)

    def violation(self, labels: Labels) -> Floats:
        """How far each group is from what is required."""
        found = np.zeros(int(labels.max(initial=-1)) + 1)
        classes = replace(self._whole, labels=labels[labels >= 0])
        for one in self._require:
            lacking = one.violation(classes)
            if not lacking.any() and not one.holds(one.achieved(classes)):
                lacking = np.full(len(found), BLAME)
            found += lacking
        return found

    def violations_of(self, groups: Sequence[Labels]) -> Floats:
        """How far each of some groups would be from it; they may share rows."""
        if not groups:
            return np.zeros(0)
        places = self._place[np.concatenate(groups)]
        labels = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
        columns = {name: values.take(places) for name, values in self._whole.columns.items()}
        guards = None if self._whole.guards is None else self._whole.guards.gather(places)
        people = None if self._whole.people is None else self._whole.people[places]
        classes = Classes(labels, columns, guards, people=people)
        return sum((one.violation(classes) for one in self._require), np.zeros(len(groups)))


def classes_of(task: Task, labels: Labels) -> Classes:
    """The groups as the privacy models see them; suppressed rows are left out."""
    shown = labels >= 0
    table = task.table
    columns = {name: values if shown.all() else values.only(shown) for name, values in table.sensitive.items()}
    choice = table.schema.choice
    guards = None if choice is None else table.frame[choice].filter(pl.Series(shown))
    return Classes(labels[shown], columns, guards, people=None if table.people is None else table.people[shown])
