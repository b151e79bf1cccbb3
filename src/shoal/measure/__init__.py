"""What was lost and what is at risk: figures of a release, from its tables and its manifest alone."""

from shoal.measure.measures import measure

__all__ = ["measure"]
