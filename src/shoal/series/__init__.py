"""A table that is published over and over: the state between releases, and the path from one to the next."""

from shoal.series.next_release import Republished, republish, republish_recipe
from shoal.series.state import SeriesState

__all__ = ["Republished", "SeriesState", "republish", "republish_recipe"]
