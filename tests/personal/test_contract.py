"""What every release with aliases and grades keeps, on top of any method and alone."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.release import sealed
from shoal.testing import sensitive_tables
from support.pairwise import examples

METHODS = {
    "mondrian": shoal.Mondrian(k=2), "mdav": shoal.Mdav(k=2), "k-member": shoal.KMember(k=2), "caat": shoal.Caat(k=2),
    "anatomy": shoal.Anatomy(l=2, column="stage"), "slicing": shoal.Slicing(l=2, sensitive_apart=True),
    "personal": shoal.Personal(),
}  # fmt: skip
SENSITIVE = ("disease", "illness", "stage", "income")
PASSPHRASE = "several unrelated words"


def hiding(data):
    """A publisher for each sensitive column, with some of its options."""
    options = st.fixed_dictionaries(
        {"default": st.integers(1, 3), "min_support": st.integers(1, 3), "flatten": st.sampled_from([None, 1.0, 2.0])}
    )
    aliases = [shoal.Aliases(name, **data.draw(options, name)) for name in SENSITIVE[:-1]]
    grades = shoal.Grades(
        "income", quantiles=data.draw(st.integers(1, 3), "quantiles"),
        variant=data.draw(st.sampled_from(["linear", "random"]), "variant"),
    )  # fmt: skip
    return [*aliases, grades]


def counted(frame, name):
    return Counter(frame[name].cast(pl.Float64 if name == "income" else pl.String).to_list())


def shown_values(release, name):
    """The values of a column, with the key: how often each is published."""
    values = release.key.by_name[name].values
    table = next(frame for frame in release.frames.values() if name in frame.columns)
    times = table["count"] if "count" in table.columns else pl.Series([1] * table.height)
    found: Counter = Counter()
    for cell, n in zip(table[name].to_list(), times.to_list(), strict=True):
        meant = values.get(cell, (cell,))
        if len(meant) == 1:
            found[float(meant[0]) if name == "income" and meant[0] is not None else meant[0]] += n
        else:
            return None  # grades that tie: no reader can tell them apart
    return found


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_what_every_such_release_keeps(name, data):
    case = data.draw(sensitive_tables(min_rows=6, max_rows=24), "table")
    schema = replace(case.schema, choice=None, rest="drop", neutral={})
    publishers = hiding(data)

    def publish():
        return shoal.anonymize(case.frame, schema, METHODS[name], publish=publishers, seed=3)

    try:
        release = publish()
    except (shoal.InfeasibleError, shoal.ParameterError, shoal.SchemaError):
        return
    assert publish().manifest.to_json() == release.manifest.to_json()
    verdict = release.verify(key=release.key)
    assert not verdict.unchecked or name == "slicing"
    for column in SENSITIVE:
        found = shown_values(release, column)
        assert found is None or found == counted(case.frame, column)
    for column in SENSITIVE[:-1]:
        words = set(release.key.by_name[column].values)
        assert not words & {str(value) for one in case.frame for value in one.to_list()}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(sealed, "COST", (4, 8, 1))
        written = release.write(Path(folder) / "out", passphrase=PASSPHRASE)
        back = shoal.read_release(written)
        key = shoal.Key.read(Path(folder) / "out.key", PASSPHRASE)
        assert key == release.key
        assert back.verify(key=key).achieved == verdict.achieved
        assert not any(path.suffix == ".key" for path in written.iterdir())
