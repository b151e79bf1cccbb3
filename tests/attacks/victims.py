"""Small releases of every shape in both formats, for others to tamper with."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

import shoal
from shoal.methods.base import Method
from shoal.publish.base import Publisher
from shoal.published.release import Release

Files = dict[str, bytes]
N = 26
PEOPLE = pl.DataFrame(
    {
        "name": [f"person {row}" for row in range(N)],
        "age": [None if row in (3, 4) else 20 + (7 * row) % 31 for row in range(N)],
        "weight": [(5 * row) % 17 / 2 - 3 for row in range(N)],
        "zip": [f"47{row % 3}0{row % 2}" for row in range(N)],
        "grade": [("low", "middle", "high")[row * 5 // 7 % 3] for row in range(N)],
        "town": [None if row in (6, 7) else ("Ada", "Bo", "Cy, the", "Dee")[row // 7] for row in range(N)],
        "disease": [("flu", "cold", "ulcer", "cough")[row * 3 // 2 % 4] for row in range(N)],
        "income": [10 + (11 * row) % 7 for row in range(N)],
        "note": [None if row == 9 else f"n{row % 5}" for row in range(N)],
    }
)
TOWNS = shoal.Hierarchy(
    [("Ada", "north", "all"), ("Bo", "north", "all"), ("Cy, the", "south", "all"), ("Dee", "south", "all")]
)
DISEASES = shoal.Hierarchy(
    [("flu", "lung", "any"), ("cold", "lung", "any"), ("cough", "lung", "any"), ("ulcer", "stomach", "any")]
)
QUASI = {
    "age": shoal.Numeric(),
    "weight": shoal.Numeric(),
    "zip": shoal.Nominal(shoal.Prefixes(keep=(3, 2))),
    "grade": shoal.Ordinal(["none", "low", "middle", "high", "highest"]),
    "town": shoal.Nominal(TOWNS),
}
SENSITIVE = {"disease": shoal.Nominal(DISEASES), "income": shoal.Numeric()}
SCHEMA = shoal.Schema(identifying=["name"], quasi=QUASI, sensitive=SENSITIVE, neutral=["note"])
SETS = shoal.Schema(
    identifying=["name"], quasi=QUASI | {"town": shoal.Nominal()}, sensitive=SENSITIVE, neutral=["note"]
)
ONE = shoal.Schema(identifying=["name"], quasi=QUASI, sensitive={"disease": shoal.Nominal(DISEASES)}, rest="drop")
LINKS = shoal.Schema(
    identifying=["name"], quasi=QUASI, sensitive={"disease": shoal.Nominal()}, neutral=["note"], rest="drop"
)
GROUPS = {"age": 1, "weight": 1, "zip": 2, "grade": 2, "town": 2, "note": 2, "disease": 3}
MONDRIAN, MDAV = shoal.Mondrian(k=3), shoal.Mdav(k=3)
L_DIVERSE = shoal.LDiversity(column="disease", l=2)
MADE: dict[str, tuple[shoal.Schema, Method, Publisher | None]] = {
    "text": (SCHEMA, MONDRIAN, shoal.Generalize()),
    "sets": (SETS, MONDRIAN, shoal.Generalize(sets=True)),
    "typed": (SCHEMA, MONDRIAN, shoal.Generalize("typed")),
    "classes": (SCHEMA, MONDRIAN, shoal.Generalize("classes")),
    "values": (SCHEMA, MDAV, shoal.Aggregate()),
    "centres": (SCHEMA, MDAV, shoal.Centres()),
    "buckets": (LINKS, shoal.Anatomy(l=2), shoal.Buckets()),
    "slices": (LINKS, shoal.Slicing(l=2, groups=GROUPS), shoal.Slices()),
    "files": (LINKS, shoal.Slicing(l=2, groups=GROUPS), shoal.Slices(shape="files")),
    "invariant": (ONE, shoal.MInvariance(m=2, id="name", column="disease"), None),
}
SHAPES = tuple(MADE)
FORMS = ("csv", "parquet")


@dataclass(frozen=True)
class Victim:
    """A release that is right, as its holder has it and as it is written."""

    shape: str
    form: str
    release: Release
    files: Files
    schema: shoal.Schema

    @property
    def where(self) -> str:
        """Shape and format."""
        return f"{self.shape}-{self.form}"


@cache
def released(shape: str) -> Release:
    """The release of a shape; the repeated one is the second of its series, and has counterfeits."""
    schema, method, publish = MADE[shape]
    if publish is not None:
        require = (L_DIVERSE,) if shape in ("text", "classes") else ()
        return shoal.anonymize(PEOPLE, schema, method, publish=publish, require=require, seed=1)
    first = shoal.republish(PEOPLE, schema, method, seed=1)
    fewer = PEOPLE.filter(~pl.col("name").is_in(["person 2", "person 5", "person 11", "person 17"]))
    return shoal.republish(fewer, schema, method, seed=1, previous=first.release, state=first.state).release


@cache
def victim(shape: str, form: str) -> Victim:
    """The release of a shape in a format."""
    release = released(shape)
    with tempfile.TemporaryDirectory() as place:
        folder = release.write(Path(place) / "release", format=form)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return Victim(shape, form, release, files, MADE[shape][0])
