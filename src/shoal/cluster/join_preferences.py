"""What else than the loss decides who joins a group: its class labels, and the values of a sensitive column."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError, ParameterError, Problems, counted, did_you_mean
from shoal.kernels.cluster.k_member import JoinPreferences
from shoal.methods.base import Task
from shoal.table.encode import Ints
from shoal.table.numbering import value_codes
from shoal.table.prepare import Table


def preferences_of(
    task: Task, label: str | None, weight: float, diverse: str | None, wanted: int | None
) -> JoinPreferences | None:
    """The preferences of an empty group, if any; their columns stand behind those of the trees, labels first."""
    if label is None and diverse is None:
        return None
    n_trees = len(task.encoded.trees)
    label_at = n_trees if label is not None else -1
    diverse_at = n_trees + (label is not None) if diverse is not None else -1
    n_labels, n_values = (0 if name is None else task.table.frame[name].n_unique() + 1 for name in (label, diverse))
    return JoinPreferences(
        label_at, float(weight), np.zeros(n_labels, dtype=np.int64), np.full(1, -1, dtype=np.int64),
        diverse_at, np.zeros(n_values, dtype=bool), wanted or 0,
    )  # fmt: skip


def keys_of(table: Table, *names: str | None) -> list[Ints]:
    """The columns that the preferences look at, as numbers."""
    named = [name for name in names if name is not None]
    codes = value_codes(table.frame.select(pl.col(*dict.fromkeys(named)).cast(pl.String))) if named else {}
    return [codes[name] for name in named]


def check_preferences(
    method: str, table: Table, label: str | None, diverse: str | None, wanted: int | None, problems: Problems
) -> None:
    """Note columns that are not what they are named for, and more different values than there are."""
    if label is not None and label not in table.passed:
        _complain(
            f"{method}(label=)", table, label, table.passed, "published unchanged (sensitive or neutral)", problems
        )
    if diverse is None:
        return
    if diverse not in table.sensitive:
        _complain(f"{method}(diverse=)", table, diverse, list(table.sensitive), "sensitive", problems)
        return
    n_values = table.frame[diverse].n_unique()
    if wanted is not None and wanted > n_values:
        what = f"l = {wanted}, but column {diverse!r} has {counted(n_values, 'different value')}"
        problems.add(f"{method}(l=)", what, f"use an l of at most {n_values}", error=InfeasibleError)


def _complain(where: str, table: Table, name: str, fitting: list[str], needed: str, problems: Problems) -> None:
    role = table.schema.roles.get(name, "not named in the schema")
    if name not in table.frame.columns:
        what, fix = f"the table has no column {name!r}", did_you_mean(name, fitting)
    elif role == "quasi":
        what, fix = f"column {name!r} is a quasi-identifier", f"name a column that is {needed}"
    else:
        what, fix = f"column {name!r} is {role}", f"name a column that is {needed}"
    problems.add(where, what, fix, error=ParameterError)
