"""Checked parameters: what each may be (`bounds`), the frozen descriptions that have them (`spec`), calls (`calls`)."""

from __future__ import annotations

from shoal.spec.bounds import (
    AnyText,
    Bound,
    ByColumn,
    ByName,
    ColumnName,
    Maybe,
    OneOf,
    Ranges,
    Real,
    Several,
    Share,
    Weights,
    Whole,
    YesNo,
    shown,
)  # fmt: skip
from shoal.spec.calls import OfType, OneOrMore, checked_call, checked_class
from shoal.spec.spec import Parameter, Spec, as_kept, find, param

__all__ = [
    "AnyText", "Bound", "ByColumn", "ByName", "ColumnName", "Maybe", "OfType", "OneOf", "OneOrMore", "Parameter",
    "Ranges", "Real", "Several", "Share", "Spec", "Weights", "Whole", "YesNo", "as_kept", "checked_call",
    "checked_class", "find", "param", "shown",
]  # fmt: skip
