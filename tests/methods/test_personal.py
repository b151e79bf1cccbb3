"""Personal: nobody is hidden, everything says so, and only what each person allowed is shown."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from support.pairwise import examples

LABEL = "pseudonymisation, no k-anonymity"


def table(values, choices, ages=None):
    ages = ages or [20 + row for row in range(len(values))]
    frame = pl.DataFrame({"age": ages, "disease": values, "show": choices})
    return frame, shoal.Schema(quasi={"age": shoal.Numeric()}, sensitive=["disease"], choice="show")


def test_it_is_labelled_everywhere(tmp_path):
    frame, schema = table(["flu", "flu", "ulcer", "ulcer"], [1, 2, 3, 2])
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=[shoal.Records(), shoal.Aliases("disease")])
    assert LABEL in shoal.Personal.title
    assert LABEL in release.verify().reading
    assert release.manifest.promise == ()
    with pytest.raises(shoal.ShoalError):
        _ = release.verify().k
    assert release.measure()["prosecutor_max"] == 1.0


@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_each_row_shows_what_its_person_chose(data):
    """The twin: the value for choice 1, else a word of its own for each value and choice, the same every time."""
    n_rows = data.draw(st.integers(1, 12))
    values = data.draw(st.lists(st.sampled_from(["flu", "ulcer", "gout"]), min_size=n_rows, max_size=n_rows))
    choices = data.draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows))
    frame, schema = table(values, choices)
    release = shoal.anonymize(frame, schema, shoal.Personal(), publish=[shoal.Records(), shoal.Aliases("disease")])
    shown = dict(release.table.select("age", "disease").iter_rows())
    words: dict[tuple[str, int], str] = {}
    for age, value, choice in frame.iter_rows():
        if choice == 1:
            assert shown[age] == value
        else:
            assert words.setdefault((value, choice), shown[age]) == shown[age]
    assert len(set(words.values())) == len(words)
    assert not set(words.values()) & {"flu", "ulcer", "gout"}
    assert {word: (value,) for (value, _), word in words.items()} == release.key.by_name["disease"].values


def test_no_promise_can_be_added():
    frame, schema = table(["flu", "flu", "ulcer", "ulcer"], [1, 2, 3, 2])
    with pytest.raises(shoal.ShoalError, match="personal"):
        shoal.anonymize(
            frame,
            schema,
            shoal.Personal(),
            publish=[shoal.Aliases("disease")],
            require=[shoal.LDiversity("disease", l=2)],
        )


def test_a_sensitive_column_without_a_publisher_is_refused():
    frame, schema = table(["flu", "ulcer"], [1, 2])
    with pytest.raises(shoal.ShoalError, match="disease"):
        shoal.anonymize(frame, schema, shoal.Personal())


def test_neither_a_table_without_rows_nor_one_without_secrets():
    frame, schema = table(["flu", "ulcer"], [1, 2])
    with pytest.raises(shoal.ShoalError, match="no rows"):
        shoal.anonymize(frame.clear(), schema, shoal.Personal(), publish=[shoal.Aliases("disease")])
    bare = shoal.Schema(quasi={"age": shoal.Numeric()}, rest="drop")
    with pytest.raises(shoal.ShoalError, match="sensitive"):
        shoal.anonymize(frame, bare, shoal.Personal())
