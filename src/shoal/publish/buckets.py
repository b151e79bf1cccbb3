"""Buckets: quasi-identifiers as they are in one table, sensitive values in another, joined by a bucket number alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.errors import Problems
from shoal.methods.groups import Groups, Labels
from shoal.publish.base import Published, Publisher, check_clashes, numbered_groups, passed_columns, raw_columns
from shoal.registry.declarations import Protects
from shoal.release.manifest import Layout
from shoal.table.prepare import Table


@dataclass(frozen=True)
class Buckets(Publisher):
    """Show groups as buckets: the people and the sensitive values of each, but not which value belongs to whom.

    The release has two tables. `table` has the unchanged quasi-identifiers and neutral columns of every row, with the
    number of its `bucket`; papers call it QIT. `sensitive` has the sensitive columns of each bucket, each combination
    once, with its `count`; papers call it ST.

    Guarantee
    ---------
    Nothing in the release says which row of a bucket has which sensitive values. Everything else is published
    unchanged: anyone who knows the quasi-identifiers of a person sees whether the person is in the table, and in which
    bucket.

    >>> import polars as pl, shoal
    >>> frame = pl.DataFrame({"age": [23, 27], "disease": ["flu", "ulcer"]})
    >>> schema = shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"])
    >>> release = shoal.anonymize(frame, schema, shoal.Anatomy(l=2), publish=Buckets())
    >>> sorted(release.table.rows()), release.tables["sensitive"].rows()
    ([(1, 23), (1, 27)], [(1, 'flu', 1), (1, 'ulcer', 1)])
    """

    name: ClassVar[str] = "buckets"
    title: ClassVar[str] = "exact quasi-identifiers, and the sensitive values of each bucket in a second table"
    loses: ClassVar[str] = "ncp"
    protects: ClassVar[Protects] = "links"

    def check(self, table: Table, problems: Problems) -> None:
        """Note published column names that would clash."""
        names = [*table.quasi, *table.passed]
        check_clashes(["bucket", "count", *names], "publishing buckets", problems)

    def show(self, table: Table, groups: Groups) -> Published:
        """Show the groups of a table, in the order of its rows."""
        frame, labels = table.frame, groups.labels
        layout = Layout(shape="buckets", quasi=raw_columns(table), passed=passed_columns(table, frame))
        seen = [name for name in frame.columns if name in layout.contents["table"]]
        return Published(bucket_tables(frame.select(seen), frame.select(layout.sensitive), labels), layout)


def bucket_tables(shown: pl.DataFrame, values: pl.DataFrame, labels: Labels, first: int = 1) -> dict[str, pl.DataFrame]:
    """Number buckets from `first` on by what is shown of them; the rows, and the sensitive values, each once."""
    number = numbered_groups([(labels, shown), (labels, values)]) + (first - 1)
    bucket, sensitive = pl.Series("bucket", number[labels]), values.columns
    apart = pl.DataFrame([bucket, *values])
    counted = apart.group_by(apart.columns).agg(pl.len().cast(pl.Int64).alias("count"))
    # By their text: the order of the rows says nothing but what they show.
    texts = [pl.col(name).cast(pl.String) for name in sensitive]
    return {
        "table": pl.DataFrame([bucket, *shown]),
        "sensitive": counted.sort("bucket", *texts, nulls_last=True),
    }
