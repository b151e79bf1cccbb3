"""All that is required of a release, taken together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shoal.errors import InfeasibleError, ParameterError, Problems, counted, some
from shoal.privacy.base import ColumnRequirement, Requirement
from shoal.table.prepare import Table
from shoal.table.shown import only_rows


def in_one_spelling(require: Sequence[Requirement], table: Table) -> tuple[Requirement, ...]:
    """What is required, written in one way; nothing is asked for twice."""
    found, problems = tuple(one.spelt(table.sensitive) for one in require), Problems()
    keys = [one.key for one in found]
    if repeated := [one.name for place, one in enumerate(found) if one.key in keys[:place]]:
        problems.add("require=", f"requires the same more than once: {some(repeated)}", "keep the strictest")
    problems.raise_if_any(ParameterError)
    return found


def check_shown(require: Sequence[Requirement], table: Table, shown: npt.NDArray[np.bool_]) -> None:
    """Refuse what the rows that are shown cannot promise any more, though all rows could."""
    if shown.all():
        return
    problems, left = Problems(), only_rows(table, shown)
    for one in require:
        if isinstance(one, ColumnRequirement) and (misfit := one.misfit(left.sensitive[one.column])):
            what = (
                f"once {counted(int((~shown).sum()), 'row is', 'rows are')} suppressed, column {one.column!r} {misfit}"
            )
            problems.add(f"require {one.name}", what, "suppress less, or require less", error=InfeasibleError)
    problems.raise_if_any(InfeasibleError)
