"""What a release shows of itself in a notebook: what its manifest says, and nothing of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.display.cards import card
from shoal.errors import counted
from shoal.measure import MEASURES
from shoal.release.manifest import Manifest, Rows

MOST_CONCERNS = 3
LOSSES = ("ncp", "discernibility")
"""Measures that say in one figure what was lost; the first that a manifest has is shown."""


def release_card(manifest: Manifest, concerns: Sequence[str] = ()) -> str:
    """Promise, what is reached, rows, the headline of what was lost, and what to look at, as HTML.

    Figures of the receipt are left out: a notebook is often passed on with what it shows.
    """
    recipe, figures = manifest.recipe, manifest.measures
    rows = [("method", described(recipe.method)), ("published as", described(recipe.publish))]
    rows += [("", described(hiding)) for hiding in recipe.sensitive]
    rows += [("promised", described(promise, "model")) for promise in manifest.promise]
    reached = ", ".join(f"{name} = {value:g}" for name, value in manifest.achieved.items())
    if reached:
        rows.append(("reached", f"{reached} (re-derived from the published cells)"))
    if recipe.counts == "people":
        rows.append(("reached", "people: the published cells alone show rows, see release.receipt.achieved"))
    rows.append(("rows", _rows(manifest.rows)))
    lost = next((name for name in LOSSES if name in figures), None)
    shown = [name for name in (lost, "prosecutor_max") if name in figures]
    rows += [(MEASURES[name].title, figure(name, figures[name])) for name in shown if name is not None]
    rows += [("look at", text) for text in concerns[:MOST_CONCERNS]]
    return card("Release", rows, note=f"{manifest.layout.laid_out.reading}. All figures: release.measure()")


def figure(name: str, value: float) -> str:
    """One figure as people read it: shares and risks in percent, counts with separators."""
    measure = name.partition(":")[0]
    if measure.endswith("_percent"):
        return f"{value:.2f} %"
    if measure in MEASURES and MEASURES[measure].range == (0, 1):
        return f"{100 * value:.2f} %"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"


def described(entry: Mapping[str, Any], key: str = "name") -> str:
    """A method or model with its parameters."""
    parameters = ", ".join(f"{name} = {value}" for name, value in entry.items() if name != key)
    return f"{entry[key]} ({parameters})" if parameters else str(entry[key])


def _rows(rows: Rows) -> str:
    """Where rows went, as far as the manifest says it."""
    texts = [f"{rows.published:,} published"]
    texts += [f"{rows.left_out:,} left out"] if rows.left_out else []
    texts += [f"{counted(rows.counterfeits, 'counterfeit')} added"] if rows.counterfeits else []
    return ", ".join(texts)
