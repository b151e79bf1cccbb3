"""How many errors are expected of a leaf, and what is cut back."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from shoal.learning.c45 import C45
from shoal.learning.pruning import expected_errors
from twins import c45 as twin


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("total", [1, 2, 6, 9, 16, 168, 1000])
def test_without_an_error_the_bound_is_exact(total, confidence):
    share = expected_errors([total], [0], confidence)[0] / total
    assert share == pytest.approx(scipy.stats.beta.ppf(1 - confidence, 1, total))
    assert scipy.stats.binom.cdf(0, total, share) == pytest.approx(confidence)


@pytest.mark.parametrize(("total", "share"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_the_figures_of_the_book(total, share):
    """Quinlan 1993, section 4.2: U25%(0, 6) and its neighbours, in the tree of the congress."""
    assert expected_errors([total], [0], 0.25)[0] / total == pytest.approx(share, abs=5e-4)


@given(st.integers(2, 2000), st.floats(0, 1), st.sampled_from([0.05, 0.1, 0.25, 0.4]))
def test_with_errors_it_is_near_the_exact_bound(total, share, confidence):
    wrong = max(1, int(share * (total - 1)))
    exact = scipy.stats.beta.ppf(1 - confidence, wrong + 1, total - wrong)
    assert expected_errors([total], [wrong], confidence)[0] / total == pytest.approx(exact, abs=0.4 / total + 0.02)


@given(st.floats(0.1, 300), st.floats(0, 1), st.floats(0.01, 0.5))
def test_it_is_that_of_the_twin(total, share, confidence):
    wrong = share * total
    wanted = twin.expected_errors(total, wrong, confidence)
    assert expected_errors([total], [wrong], confidence)[0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(st.integers(1, 60), st.sampled_from([0.05, 0.25, 0.5]))
def test_more_errors_are_never_expected_to_be_fewer(total, confidence):
    found = expected_errors(np.full(total + 1, total), np.arange(total + 1), confidence)
    assert (np.diff(found) >= -1e-9).all()
    assert found[-1] == pytest.approx(total)
    assert (found >= np.arange(total + 1) - 1e-9).all()


def test_of_nothing_nothing_is_expected():
    assert expected_errors([0.0, 4.0], [0.0, 0.0], 0.25)[0] == 0.0


def noisy(seed: int, n_rows: int = 200) -> pl.DataFrame:
    """Only `x` and `n` together say the class, so the root asks about something else; some cells are missing."""
    rng = np.random.default_rng(seed)
    n, m, k = (rng.integers(0, size, n_rows) for size in (2, 3, 4))
    x = rng.integers(0, 20, n_rows)
    y = np.where(rng.random(n_rows) < 0.25, rng.integers(0, 2, n_rows), (x > 9) ^ (n == 1))
    names = {name: [f"{name}{value}" for value in cells] for name, cells in (("n", n), ("m", m), ("k", k), ("y", y))}
    known = [pl.Series(rng.random(n_rows) < 0.9) for _ in range(2)]
    frame = pl.DataFrame({"x": x, **names})
    return frame.with_columns(
        pl.when(there).then(name).alias(name) for name, there in zip(("x", "n"), known, strict=True)
    )


def test_less_confidence_prunes_more():
    sizes = [C45(confidence=value).fit(noisy(12), "y").size for value in (0.001, 0.05, 0.25, 0.5)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert C45(prune=False).fit(noisy(12), "y").size >= sizes[-1]


@pytest.mark.parametrize("seed", [0, 8, 12, 17])
def test_a_branch_takes_the_place_of_its_node(seed):
    frame = noisy(seed)
    raised, kept = (C45(raise_subtrees=choice).fit(frame, "y") for choice in (True, False))
    assert raised.size < kept.size
    slow = twin.Learning(frame, "y")
    told = np.array(sorted((round(leaf.rows, 6), leaf.wrong) for leaf in raised.rules()))
    assert told == pytest.approx(slow.told())
    wanted = [[float(share) for share in slow.distribution(row)] for row in frame.to_dicts()]
    assert raised.distribution(frame) == pytest.approx(np.array(wanted), abs=1e-9)


def test_a_deep_tree_needs_no_deep_stack():
    n = 3000
    frame = pl.DataFrame({"x": range(n), "y": [("p", "q", "r")[i % 3] for i in range(n)]})
    assert C45(min_rows=1).fit(frame, "y").size >= 1
