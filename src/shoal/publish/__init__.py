"""Publishers: one file per way of showing equivalence classes, buckets or slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.declared import PUBLISHER_CLASSES

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.publish.base import Publisher

PUBLISHERS = PUBLISHER_CLASSES
"""All publishers by name."""

_NAMES = {PUBLISHERS.home(name).rpartition(":")[2]: name for name in PUBLISHERS.own}


def default_publisher(method: Method) -> Publisher:
    """The publisher that fits a method."""
    made: Publisher = PUBLISHERS[method.publisher]()
    return made


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return PUBLISHERS[_NAMES[name]]
