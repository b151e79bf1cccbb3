"""Slices that share an attribute: what the method thinks they tell, before it publishes them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.slicing.overlap import Overlapping
from shoal.table.prepare import prepare


def test_lines_that_share_a_value_belong_together_as_often_as_there_are_ways():
    """Of w and v, three in four have p: 2 * 3 / 4 rows against 1 * 2 / 4; one slice alone says two in three."""
    frame = pl.DataFrame({"a": list("wwxxwxxx"), "b": list("uvvvuuvv"), "s": list("ppppqqqq")})
    schema = shoal.Schema(quasi={"a": shoal.Nominal(), "b": shoal.Nominal()}, sensitive={"s": shoal.Nominal()})
    slices = Overlapping(prepare(frame, schema), (("a", "s"), ("b", "s")), ("s",))
    assert slices.worst(np.zeros(8, dtype=np.int64)) == pytest.approx(3 / 4, rel=1e-14)
