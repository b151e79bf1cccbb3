"""Publishers: one file per way of showing equivalence classes, buckets or slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.declared import PUBLISHER_CLASSES

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.publish.base import Publisher

PUBLISHERS = PUBLISHER_CLASSES
"""All publishers by name."""


def default_publisher(method: Method) -> Publisher:
    """The publisher that fits a method."""
    made: Publisher = PUBLISHERS[method.publisher]()
    return made
