"""Records as they are but for their sensitive columns."""

from __future__ import annotations

from typing import ClassVar

from shoal.registry.declarations import Protects
from shoal.release.shapes.base import Shape


class RecordRows(Shape):
    """Quasi-identifiers as they are, beside sensitive columns that are not."""

    name: ClassVar[str] = "records"
    protects: ClassVar[Protects] = "values"
    forms: ClassVar[tuple[str, ...]] = ("raw",)
    reading: ClassVar[str] = "pseudonymisation, no k-anonymity: quasi-identifiers are published unchanged"
