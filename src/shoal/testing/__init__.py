"""Tools to test methods, models and publishers, ours and yours: tables to try, and the contract every release keeps.

Needs hypothesis: ``pip install 'shoal[testing]'``. The author of another package writes

    TestMine = shoal.testing.contract(Mine(k=3))

and has the tests that Shoal's own methods pass. See the page on plug-ins.
"""

from shoal.testing.checks import check_contract, published_cells
from shoal.testing.models import kept, requirements
from shoal.testing.shown import Shown, ShownClass
from shoal.testing.suite import contract, options_to_try, variants
from shoal.testing.tables import CATEGORIES, KIND_MIXES, SENSITIVE, Case, hierarchies, sensitive_tables, tables

__all__ = [
    "CATEGORIES", "KIND_MIXES", "SENSITIVE", "Case", "Shown", "ShownClass", "check_contract", "contract", "hierarchies",
    "kept", "options_to_try", "published_cells", "requirements", "sensitive_tables", "tables", "variants",
]  # fmt: skip
