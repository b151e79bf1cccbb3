"""Records: every row as it is, but for what publishers of sensitive columns make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.errors import Problems
from shoal.methods.groups import Groups
from shoal.publish.base import Published, Publisher, passed_columns, raw_columns
from shoal.registry.declarations import Protects
from shoal.release.manifest import Layout
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Records(Publisher):
    """Show every row with its quasi-identifiers unchanged.

    Guarantee
    ---------
    **Pseudonymisation, no k-anonymity.** Whoever knows the quasi-identifiers of a person finds the row. All that stands
    between the row and the person's sensitive values is how `Aliases` and `Grades` show them; each sensitive column
    needs one of the two.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [23, 27], "disease": ["flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> aliases = shoal.Aliases("disease", default=3)
    >>> release = shoal.anonymize(frame, schema, shoal.Personal(), publish=[Records(), aliases])
    >>> sorted(release.table["age"]), release.manifest.promise
    ([23, 27], ())
    """

    name: ClassVar[str] = "records"
    title: ClassVar[str] = "pseudonymisation, no k-anonymity: exact quasi-identifiers beside aliases and grades"
    loses: ClassVar[str] = "ncp"
    protects: ClassVar[Protects] = "values"

    def check(self, table: Table, problems: Problems) -> None:
        """Nothing can be wrong: no column is added."""

    def show(self, table: Table, groups: Groups) -> Published:  # noqa: ARG002
        """Show the rows of a table, in their order."""
        layout = Layout(shape="records", quasi=raw_columns(table), passed=passed_columns(table, table.frame))
        shown = [name for name in table.frame.columns if name in layout.contents["table"]]
        return Published({"table": table.frame.select(shown)}, layout)
