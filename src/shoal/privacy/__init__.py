"""Privacy models: one file per model. Which there are is in `shoal.registry.declared`."""

from __future__ import annotations

from collections.abc import Mapping

from shoal.privacy.base import Requirement
from shoal.registry.declared import METHOD_MODEL_CLASSES, MODEL_CLASSES
from shoal.registry.registry import Registry
from shoal.spec import find

MODELS: Registry[type[Requirement]] = MODEL_CLASSES
"""What any method can be asked for."""
OF_METHODS: Registry[type[Requirement]] = METHOD_MODEL_CLASSES
"""What repeated releases and slices alone promise."""


def promised_requirement(promise: Mapping[str, object]) -> Requirement:
    """A promise as a manifest writes it, as a requirement."""
    entries = dict(promise)
    name = entries.pop("model", None)
    model = find(OF_METHODS if name in OF_METHODS else MODELS, name, "promise.model")
    return model.from_mapping(entries, "promise")
