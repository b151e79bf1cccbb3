"""The built-in sample: invented people, their hierarchies and their schema.

Everything here is made up for Shoal: no row, name list or rate comes from a real table.
"""

from shoal.sample.files import write
from shoal.sample.hierarchies import hierarchies, schema
from shoal.sample.people import people

__all__ = ["hierarchies", "people", "schema", "write"]
