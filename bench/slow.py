"""The slow twins of the tests on a prepared table, with what each needs to do the same as its kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.cluster.centroids import draw_seeds
from shoal.methods.base import Task
from shoal.table.prepare import Table
from twins.caat import caat
from twins.centroids import k_means, oka, sorted_scan
from twins.k_member import k_member
from twins.kaca import kaca, labels_of
from twins.mdav import mdav

SEED = 0


def twin_of(name: str, table: Table, method: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Two ways to the labels of a table: the twin, and the kernel."""
    spans = {"age": float(table.frame["age"].max() - table.frame["age"].min())}  # type: ignore[operator]
    columns = [("line", spans[name]) if name in spans else ("tree", table.hierarchy(name)) for name in table.quasi]
    rows = [list(row) for row in table.frame.select(list(table.quasi)).rows()]
    kinds, n_rows, k = list(table.quasi.values()), table.n_rows, method.k
    task = Task.of(table)

    def slow() -> Any:
        seeds, order = draw_seeds(None, n_rows, k, np.random.default_rng(SEED))
        chosen = seeds.tolist()
        match name.split(",")[0]:
            case "caat":
                return caat(rows, columns, k=k, start=method.start)
            case "kaca":
                return labels_of(kaca(rows, columns, k))
            case "k-member":
                return k_member(rows, columns, k, method.start, order=np.random.default_rng(SEED).random(n_rows))
            case "oka":
                return oka(rows, columns, k, chosen, method.centroid, sorted_scan(rows, columns), order)
            case "mdav":
                return mdav(rows, kinds, k)
            case _:
                return k_means(rows, columns, kinds, k, chosen, method.variant, order=order)[0]

    return slow, lambda: method.partition(task, np.random.default_rng(SEED)).labels.tolist()
