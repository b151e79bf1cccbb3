"""Methods: one file per algorithm. What is known of each without loading it is in `shoal.registry.declared`."""

from __future__ import annotations

from shoal.registry.declared import METHOD_CLASSES

METHODS = METHOD_CLASSES
"""All methods by name."""
