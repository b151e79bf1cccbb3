"""How a group is shown: one file per way."""

from shoal.methods.base import Method
from shoal.publish.aggregate import Aggregate
from shoal.publish.base import Published, Publisher
from shoal.publish.buckets import Buckets
from shoal.publish.centres import Centres
from shoal.publish.generalize import Generalize
from shoal.publish.slices import Slices

PUBLISHERS: dict[str, type[Publisher]] = {
    publisher.name: publisher for publisher in (Generalize, Aggregate, Centres, Buckets, Slices)
}


def default_publisher(method: Method) -> Publisher:
    """The way of showing groups that fits a method."""
    return PUBLISHERS[method.publisher]()


__all__ = [
    "PUBLISHERS",
    "Aggregate",
    "Buckets",
    "Centres",
    "Generalize",
    "Published",
    "Publisher",
    "Slices",
    "default_publisher",
]
