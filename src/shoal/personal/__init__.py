"""Sensitive values that are not shown as they are: aliases, grades, and the keys to them."""

from __future__ import annotations

from shoal.registry.declared import COLUMN_PUBLISHER_CLASSES

COLUMN_PUBLISHERS = COLUMN_PUBLISHER_CLASSES
"""All publishers of sensitive columns by name."""
