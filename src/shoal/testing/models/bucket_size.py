"""The size of buckets, from its definition."""

from __future__ import annotations

from hypothesis import strategies as st

from shoal.privacy.bucket_size import BucketSize
from shoal.testing.shown import Shown
from shoal.testing.tables import Case


def kept(one: BucketSize, shown: Shown) -> bool:
    """Whether every slice of every bucket has at least k lines."""
    return all(len(lines) >= one.k for bucket in shown.buckets for lines in bucket)


def drawn(draw: st.DrawFn, case: Case) -> BucketSize:  # noqa: ARG001
    """Any small k."""
    return BucketSize(k=draw(st.integers(2, 9)))
