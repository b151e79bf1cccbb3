"""Generalisation, bucketization and slicing side by side on Adult, as `docs/side-by-side.md`: `make three-ways`."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean

import polars as pl

import shoal
from data import ROOT, SEVEN, occupation_schema, whole_adult
from shoal.report.membership import picture

PAGE = ROOT / "docs" / "side-by-side.md"
IMAGES = ROOT / "docs" / "images"
L = 5
WAYS = {
    "generalisation": (shoal.Mondrian(k=L), [shoal.AlphaK("occupation", alpha=1 / L)]),
    "bucketization": (shoal.Anatomy(l=L), []),
    "slicing": (shoal.Slicing(l=L, sensitive_apart=True), []),
    "slicing, as published": (shoal.Slicing(l=L, sensitive_apart=True, cuts="widest"), []),
    "slicing, generalised columns": (shoal.Slicing(l=L, p=L), []),
}
DRAWN = ("generalisation", "bucketization", "slicing")
INTRODUCTION = f"""# Generalisation, bucketization and slicing side by side

Written by `make three-ways`: Adult, the {{rows:,}} complete rows, occupation sensitive, with 7 attributes and with all
15. Each release promises that no occupation of a person has a probability above 1/{L}:

- **generalisation**: `Mondrian(k={L})` with `AlphaK("occupation", alpha=1/{L})`;
- **bucketization**: `Anatomy(l={L})`;
- **slicing**: `Slicing(l={L}, sensitive_apart=True)`, the occupation in a column of its own; *as published* with
  `cuts="widest"`; *generalised columns* with `p={L}` and the occupation wherever it belongs.

| attributes | way | classes | NCP | pairs | pairs with occupation | fakes per row | chance | time |
|---|---|---|---|---|---|---|---|---|
"""
READING = """
- **NCP**: what the cells leave open. Bucketization and slicing publish values unchanged.
- **pairs**: how much of the relation between two attributes is lost, on average over all pairs
  (`Release.pair_errors`: total variation over categories, 0 for nothing, 1 for all); then over the pairs with the
  occupation only.
- **fakes per row**: tuples that match the release but are not in the input, for every different row of the input;
  **chance**: the probability that a matching tuple is in the input (`Release.membership`). "About" marks an estimate.
- **time**: the whole path on a busy machine with two cores; use it for comparison only.

## What it says

- Generalisation hides membership among hundreds of fakes for every row, and with more attributes among more than can be
  counted. It loses most of the relations between attributes.
- Bucketization keeps these relations, except those of the occupation. Everybody's quasi-identifiers are published: if a
  person matches, the person is certainly in the table. The fakes differ from real rows only in the occupation.
- Slicing has as many fakes as generalisation with 7 attributes, and keeps nearly all relations between attributes,
  those of the occupation included: more of them than bucketization. As published, a bucket whose widest attribute
  cannot be cut is never cut again, which leaves few buckets.

## How many classes originals and fakes match

"""


def main() -> None:
    """Write the page and its pictures."""
    frame = whole_adult()
    lines, pictures = [], []
    for names in (SEVEN, tuple(frame.columns)):
        known = occupation_schema(names, trees=True)
        for way, (method, require) in WAYS.items():
            shoal.anonymize(frame.head(2000), known, method, require=require, seed=0)  # compiled before the clock runs
            begun = time.perf_counter()
            release = shoal.anonymize(frame, known, method, require=require, seed=0)
            seconds = time.perf_counter() - begun
            lines.append(line(len(names), way, release, frame, known, seconds))
            print(lines[-1], flush=True)
            if way in DRAWN:
                name = f"membership-{way}-{len(names)}"
                content = picture(release.membership(frame, schema=known), name)[f"{name}.svg"]
                (IMAGES / f"{name}.svg").write_bytes(content)
                pictures.append(f"{len(names)} attributes, {way}:\n\n![{way}](images/{name}.svg)\n")
    text = INTRODUCTION.format(rows=frame.height) + "\n".join(lines) + "\n" + READING + "\n".join(pictures)
    Path(PAGE).write_text(text, encoding="utf-8")


def line(
    n_attributes: int, way: str, release: shoal.Release, frame: pl.DataFrame, known: shoal.Schema, seconds: float
) -> str:
    """One line of the table."""
    pairs = release.pair_errors(frame, schema=known)
    own = [value for pair, value in pairs.items() if "occupation" in pair]
    figures = release.manifest.measures
    try:
        found = release.membership(frame, schema=known)
        about = "" if found.exact else "about "
        fakes, chance = f"{about}{found.ratio:,.3g}", f"{about}{found.chance:.2g}"
    except shoal.ParameterError:  # more combinations than can be written out
        fakes = chance = "not counted"
    return (
        f"| {n_attributes} | {way} | {figures['classes']:,} | {figures['ncp']:.1%} | {mean(pairs.values()):.3f} | "
        f"{mean(own):.3f} | {fakes} | {chance} | {seconds:.1f} s |"
    )


if __name__ == "__main__":
    main()
