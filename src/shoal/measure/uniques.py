"""Estimates of how many people are alone in a population, from the sizes of the classes of a sample of it.

All three take the sample to be drawn at random, each person with the same chance, and the population to be n / fraction
people. They are shares of the population, which is also what is expected of the share of the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from shoal.measure.base import Sizes
from shoal.measure.neighbours import Floats, Ints

TOLERANCE = 1e-9
"""How near the logarithms of parameters must be to the best ones."""


class Frequencies(NamedTuple):
    """How many classes there are of each size."""

    size: Ints
    classes: Ints

    @classmethod
    def of(cls, sizes: Sizes) -> Frequencies:
        """Count classes by their size."""
        size, classes = np.unique(sizes, return_counts=True)
        return cls(size.astype(np.int64), classes.astype(np.int64))

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return int((self.size * self.classes).sum())

    @property
    def n_classes(self) -> int:
        """Classes of the sample."""
        return int(self.classes.sum())

    @property
    def alone(self) -> int:
        """Classes of one row."""
        return int(self.classes[self.size == 1].sum())


def zayatz(seen: Frequencies, fraction: float) -> float:
    """Zayatz' estimate: classes of the population have the sizes that those of the sample have.

    Of a class of F people, one is sampled with the chance h(F) = F C(N - F, n - 1) / C(N, n). With t(F) classes of F
    rows, a row that is alone is alone in the population with the chance t(1) h(1) / sum of t(F) h(F).
    """
    if not seen.alone:
        return 0.0
    n, people = seen.n_rows, max(round(seen.n_rows / fraction), seen.n_rows)
    chance = np.exp([_log_one_of(int(size), n, people) for size in seen.size])
    mixed = float((seen.classes * chance).sum())
    alone = seen.alone / n * seen.alone * float(chance[seen.size == 1][0]) / mixed if mixed else 0.0
    return min(alone, 1.0)


def _log_one_of(size: int, n: int, people: int) -> float:
    """Logarithm of the chance that of a class of so many people exactly one is among n of all people."""
    if people - size < n - 1:
        return -math.inf
    return math.log(size) + _log_choose(people - size, n - 1) - _log_choose(people, n)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def pitman(seen: Frequencies, fraction: float) -> float:
    """Pitman's sampling formula with parameters theta > 0 and 0 < alpha < 1, fitted by maximum likelihood.

    Of N people, N G(theta + 1) G(theta + alpha + N - 1) / (G(theta + alpha) G(theta + N)) are expected to be alone,
    where G is the gamma function (Hoshino, Applying Pitman's sampling formula to microdata disclosure risk assessment,
    Journal of Official Statistics 2001).
    """
    from scipy.special import gammaln  # takes long to load

    if not seen.alone:
        return 0.0
    n, u = seen.n_rows, seen.n_classes
    people = max(n / fraction, n)

    def surprise(logs: Floats) -> float:
        theta, alpha = math.exp(logs[0]), 1 / (1 + math.exp(-logs[1]))
        fits = (u - 1) * math.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
        fits -= gammaln(theta + n) - gammaln(theta + 1)
        return -float(fits + (seen.classes * (gammaln(seen.size - alpha) - gammaln(1 - alpha))).sum())

    logs = _best(surprise, (math.log(max(u, 1)), 0.0))
    theta, alpha = math.exp(logs[0]), 1 / (1 + math.exp(-logs[1]))
    share = gammaln(theta + 1) + gammaln(theta + alpha + people - 1) - gammaln(theta + alpha) - gammaln(theta + people)
    return min(math.exp(float(share)), 1.0)


def slide_negative_binomial(seen: Frequencies, fraction: float) -> float:
    """The slide negative binomial model: a class has 1 + Y people, Y a negative binomial of shape a and chance b.

    Of such a class, sampled person by person, B + Z are seen, B with the chance of the fraction and Z a negative
    binomial of shape a and chance c, where (1 - c)/c = fraction (1 - b)/b. Classes of which nobody is seen are not
    known, so a and c are fitted to those that are, by maximum likelihood; b^a of all classes have one person (Chen,
    Keller-McNulty, Estimation of identification disclosure risk in microdata, Journal of Official Statistics 1998).
    """
    from scipy.special import gammaln  # takes long to load

    if not seen.alone:
        return 0.0

    sizes = seen.size.astype(np.float64)

    def log_chance(count: Floats, shape: float, log_c: float, log_rest: float) -> Floats:
        found: Floats = gammaln(shape + count) - gammaln(shape) - gammaln(count + 1) + shape * log_c + count * log_rest
        return found

    def surprise(logs: Floats) -> float:
        shape, log_c, log_rest = math.exp(logs[0]), -math.log1p(math.exp(-logs[1])), -math.log1p(math.exp(logs[1]))
        one_fewer = np.log(fraction) + log_chance(sizes - 1, shape, log_c, log_rest)
        both = one_fewer
        if fraction < 1:
            both = np.logaddexp(one_fewer, np.log1p(-fraction) + log_chance(sizes, shape, log_c, log_rest))
        unseen = (1 - fraction) * math.exp(shape * log_c)
        return float(-(seen.classes * both).sum() + seen.n_classes * math.log1p(-min(unseen, 1 - 1e-12)))

    logs = _best(surprise, (0.0, 0.0))
    shape, odds = math.exp(logs[0]), math.exp(-logs[1])  # odds: (1 - c)/c
    log_c, log_b = -math.log1p(odds), -math.log1p(odds / fraction)
    classes = seen.n_classes / (1 - min((1 - fraction) * math.exp(shape * log_c), 1 - 1e-12))
    return min(classes * math.exp(shape * log_b) * fraction / seen.n_rows, 1.0)


def _best(surprise: Callable[[Floats], float], start: tuple[float, float]) -> Floats:
    """The logarithms of two parameters that fit best, within bounds that keep numbers finite."""
    from scipy.optimize import minimize  # takes long to load

    bounds = [(-18.0, 30.0), (-18.0, 18.0)]
    asked = {"xatol": TOLERANCE, "fatol": TOLERANCE, "maxiter": 2000, "maxfev": 4000}
    found = minimize(surprise, np.array(start), method="Nelder-Mead", bounds=bounds, options=asked)
    best: Floats = found.x
    return best
