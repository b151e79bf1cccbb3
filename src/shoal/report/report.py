"""The report of a release: what was promised, what was lost, what an attacker could do, and what it does not protect.

Two editions of one page. The public one is a function of the release alone; the holder's one needs the input or the
receipt, and never goes into a release directory.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.errors import counted
from shoal.report.facts import Facts
from shoal.report.page import Page
from shoal.report.sections.attacks import attacks
from shoal.report.sections.attention import attention
from shoal.report.sections.before_after import before_after
from shoal.report.sections.columns import columns
from shoal.report.sections.limits import limits
from shoal.report.sections.promised import promised
from shoal.report.sections.recipe import recipe
from shoal.report.sections.risk import risk
from shoal.report.sections.sizes import sizes

SECTIONS: tuple[Callable[[Facts], object], ...] = (
    promised, attention, columns, before_after, sizes, risk, attacks, limits, recipe,
)  # fmt: skip


def report(facts: Facts, name: str = "") -> Page:
    """The page of a release; `name` is what it is called."""
    found = [made for make in SECTIONS if (made := make(facts)) is not None]
    title = f"Report of the release {name}" if name else "Report of a release"
    return Page("public" if facts.is_public else "holder", title, _lead(facts), tuple(found))  # type: ignore[arg-type]


def _lead(facts: Facts) -> str:
    rows, layout = facts.manifest.rows, facts.manifest.layout
    of = "" if not rows.left_out else f" of {rows.published + rows.left_out:,}"
    said = f"{rows.published:,}{of} rows with {counted(len(layout.quasi), 'quasi-identifier')}"
    if facts.sensitive:
        said += f" and {len(facts.sensitive)} sensitive column{'s' if len(facts.sensitive) > 1 else ''}"
    reached = ", ".join(f"{key} = {value:g}" for key, value in facts.verdict.achieved.items())
    if layout.laid_out.protects == "values":
        return f"{said}. Pseudonymisation, no k-anonymity."
    return f"{said}. The checker found: {reached}." if reached else f"{said}."
