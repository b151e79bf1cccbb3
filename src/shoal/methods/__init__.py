"""Who hides with whom: one file per algorithm."""

from shoal.methods.base import Method, Task
from shoal.methods.caat import Caat
from shoal.methods.groups import Groups
from shoal.methods.k_member import KMember
from shoal.methods.kaca import Kaca
from shoal.methods.mondrian import Mondrian

METHODS: dict[str, type[Method]] = {method.name: method for method in (Caat, Kaca, KMember, Mondrian)}

__all__ = ["METHODS", "Caat", "Groups", "KMember", "Kaca", "Method", "Mondrian", "Task"]
