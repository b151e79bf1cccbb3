"""Who hides with whom: one file per algorithm."""

from shoal.methods.base import Method, Task
from shoal.methods.caat import Caat
from shoal.methods.groups import Groups
from shoal.methods.mondrian import Mondrian

METHODS: dict[str, type[Method]] = {method.name: method for method in (Caat, Mondrian)}

__all__ = ["METHODS", "Caat", "Groups", "Method", "Mondrian", "Task"]
