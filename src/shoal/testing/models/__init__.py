"""Every privacy model once more, straight from its definition: one file each, in plain Python.

A file has `kept(one, shown)`, whether a release keeps the requirement, and `drawn(draw, case)`, a requirement that fits
a table of `sensitive_tables`. They share no code with `shoal.privacy`. Values are compared with a little room for
rounding, on the side of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from shoal.errors import ParameterError, Problem
from shoal.privacy import MODELS, OF_METHODS
from shoal.privacy.base import Requirement
from shoal.testing.shown import Shown
from shoal.testing.tables import Case

Kept = Callable[[Any, Shown], bool]
"""Whether a release keeps a requirement."""


def kept(one: Requirement, shown: Shown, rederive: Mapping[str, Kept] | None = None) -> bool:
    """Whether a release keeps a requirement, re-derived here.

    Parameters
    ----------
    one, shown
        The requirement, and the release in plain lists.
    rederive
        For models of other packages: a function for each, by the name of the model.

    Raises
    ------
    ParameterError
        For a model that neither Shoal nor `rederive` knows how to re-derive.
    """
    if rederive is not None and one.name in rederive:
        return rederive[one.name](one, shown)
    if one.name not in MODELS.own and one.name not in OF_METHODS.own:
        what = f"nobody says how {one.name!r} is re-derived"
        raise ParameterError(Problem("rederive=", what, f"give {{{one.name!r}: a function of requirement and Shown}}"))
    found: bool = _module(one.name).kept(one, shown)
    return found


@st.composite
def requirements(draw: st.DrawFn, model: str, case: Case) -> Requirement:
    """Requirements of a model, by its name, that fit a table of `sensitive_tables`; it may not be able to keep them.

    Parameters are fractions of small numbers, so that values hit their bounds.
    """
    drawn: Requirement = _module(model).drawn(draw, case)
    return drawn


def _module(model: str) -> Any:
    return import_module(f"{__name__}.{model.replace('-', '_')}")
