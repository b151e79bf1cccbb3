"""How a group is shown: one file per way."""

from shoal.publish.base import Published, Publisher
from shoal.publish.generalize import Generalize

PUBLISHERS: dict[str, type[Publisher]] = {publisher.name: publisher for publisher in (Generalize,)}

__all__ = ["PUBLISHERS", "Generalize", "Published", "Publisher"]
