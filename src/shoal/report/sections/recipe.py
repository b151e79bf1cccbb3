"""How the release was made, and how to be sure that it is this one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.report.blocks import Block, Grid, Section, Text
from shoal.report.facts import Facts


def recipe(facts: Facts) -> Section:
    """What was asked for, the hashes of all files, and, for the holder, where every row went."""
    manifest = facts.manifest
    asked = manifest.recipe
    rows = [("method", _described(asked.method)), ("published by", _described(asked.publish))]
    rows += [("sensitive column", _described(one)) for one in asked.sensitive]
    rows += [("required", _described(one, "model")) for one in asked.require]
    rows += [] if asked.refine is None else [("refined", _values(asked.refine))]
    rows += [("rows that may be suppressed", f"{asked.suppress:g}"), ("missing cells", asked.missing)]
    rows += [("made with", f"Shoal {manifest.shoal}")]
    hashes = [(f"{one.name}", one.sha256 or one.content_sha256) for one in manifest.tables]
    said = (
        "The fingerprint names this release; the hashes are those of its files."
        if any(one.sha256 for one in manifest.tables)
        else "The fingerprint names this release; the hashes are those of what its tables say."
    )
    blocks: list[Block | None] = [
        Grid("What was asked for", ("", ""), tuple(rows)), Text(said),
        Grid("Hashes (SHA-256)", ("", ""), (("fingerprint", manifest.fingerprint()), *hashes)),
        _rows(facts),
    ]  # fmt: skip
    return Section.of("recipe", "How it was made", blocks)


def _rows(facts: Facts) -> Grid | None:
    if facts.receipt is None:
        return None
    receipt = facts.receipt
    rows = [("rows of the input", f"{receipt.input.rows:,}"), ("published", f"{receipt.rows.published:,}")]
    rows += [("suppressed", f"{receipt.rows.suppressed:,}")]
    rows += [(f"dropped: {reason}", f"{count:,}") for reason, count in receipt.rows.dropped.items()]
    return Grid("Where every row went", ("", "rows"), tuple(rows), (1,))


def _described(entry: Mapping[str, Any], key: str = "name") -> str:
    rest = _values({name: value for name, value in entry.items() if name != key})
    return f"{entry[key]} ({rest})" if rest else str(entry[key])


def _values(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in entry.items())
