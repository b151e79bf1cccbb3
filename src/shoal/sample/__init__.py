"""The built-in sample: invented people, their hierarchies and their schema.

Everything here is made up for Shoal: no row, name list or rate comes from a real table.
"""

from shoal.sample.files import write
from shoal.sample.population import people
from shoal.sample.trees import hierarchies, schema

__all__ = ["hierarchies", "people", "schema", "write"]
