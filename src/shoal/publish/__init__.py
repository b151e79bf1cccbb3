"""Publishers: one file per way of showing equivalence classes, buckets or slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shoal.registry.declared import PUBLISHER_CLASSES

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.publish.base import Publisher

PUBLISHERS = PUBLISHER_CLASSES
"""All publishers by name."""


def default_publisher(method: Method) -> Publisher:
    """The publisher that fits a method."""
    made: Publisher = PUBLISHERS[method.publisher]()
    return made


def listed(publish: Any) -> list[Any]:
    """What is given to publish by, as a list: nothing, one publisher, or several."""
    if publish is None:
        return []
    return list(publish) if isinstance(publish, Sequence) and not isinstance(publish, str) else [publish]
