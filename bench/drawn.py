"""Ways to invent the cells of a column, all from one seed: what the invented tables of `invented.py` are made of."""

from __future__ import annotations

import zlib
from datetime import date, timedelta

import numpy as np

FIRST = [
    "Ana",
    "Luis",
    "Greta",
    "Jonas",
    "Amina",
    "Piotr",
    "Lena",
    "Hugo",
    "Mira",
    "Tom",
    "Ines",
    "Karl",
    "Zoe",
    "Omar",
    "Elif",
    "Nils",
    "Rosa",
    "Ivan",
    "Maya",
    "Paul",
    "Vera",
    "Finn",
    "Nora",
    "Sami",
    "Edda",
    "Yusuf",
    "Clara",
    "Bo",
    "Tilda",
    "Marco",
]
LAST = [
    "Moreno",
    "Weber",
    "Dubois",
    "Okafor",
    "Lindqvist",
    "Rossi",
    "Tanaka",
    "Novak",
    "Silva",
    "Haddad",
    "Kowalski",
    "Berg",
    "Costa",
    "Meyer",
    "Laurent",
    "Ozturk",
    "Petrov",
    "Nguyen",
    "Keller",
    "Almeida",
    "Fischer",
    "Santos",
    "Leroy",
    "Varga",
    "Jansen",
    "Duarte",
    "Brandt",
    "Mancini",
    "Horvat",
    "Ferrer",
    "Lund",
    "Baker",
]
STREETS = ["Mill", "Church", "Station", "Oak", "River", "Park", "Hill", "Garden", "School", "Market"]
COUNTRIES = [
    "Germany",
    "France",
    "Spain",
    "Italy",
    "Poland",
    "Turkey",
    "Morocco",
    "Romania",
    "Portugal",
    "Ukraine",
    "Brazil",
    "India",
    "China",
    "Nigeria",
    "Mexico",
    "Vietnam",
    "Greece",
    "Syria",
    "Austria",
    "Croatia",
]
NOTES = (
    "called back on monday", "asked for the daughter to be told", "moved here from the coast last year",
    "prefers letters to calls", "was seen by the night doctor", "wants a copy of the report", "no show twice",
    "speaks little english, brings a neighbour", "works night shifts at the mill", "new address since spring",
)  # fmt: skip


class Draw:
    """Random cells for the rows of one table; the same name gives the same cells."""

    def __init__(self, name: str, n: int) -> None:
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.n = n
        self.owner: np.ndarray | None = None

    def people(self, n: int, skew: float = 1.0) -> Draw:
        """From here on rows belong to `n` people, some with many rows; every one of them has at least one."""
        shares = self.rng.pareto(2.0, n) * skew + 0.2
        more = self.rng.choice(n, self.n - n, p=shares / shares.sum())
        self.owner = self.rng.permutation(np.concatenate([np.arange(n), more]))
        return self

    @property
    def rows(self) -> int:
        return self.n

    def of_people(self, values: list) -> list:
        """One value for each person, repeated on each of their rows."""
        assert self.owner is not None
        return [values[person] for person in self.owner]

    def each(self, make, *args, **options) -> list:
        """The same as `make` draws, but one value per person."""
        assert self.owner is not None
        rows, self.n = self.n, int(self.owner.max()) + 1
        values = make(*args, **options)
        self.n = rows
        return self.of_people(values)

    def pick(self, values, shares=None, skew: float = 0.0) -> list[str]:
        """Values with given shares, or with shares that fall off by rank."""
        values = values.split() if isinstance(values, str) else list(values)
        if shares is None:
            shares = np.arange(1, len(values) + 1, dtype=float) ** -skew
        chances = np.asarray(shares, dtype=float) / np.sum(shares)
        return [values[place] for place in self.rng.choice(len(values), self.n, p=chances)]

    def whole(self, low: int, high: int, step: int = 1) -> list[str]:
        return [str(value * step) for value in self.rng.integers(low // step, high // step + 1, self.n)]

    def counts(self, mean: float) -> list[str]:
        return [str(value) for value in self.rng.poisson(mean, self.n)]

    def bell(self, mean: float, spread: float, digits: int = 0, low: float = 0.0) -> list[str]:
        values = np.maximum(self.rng.normal(mean, spread, self.n), low)
        return [f"{value:.{digits}f}" for value in values]

    def money(
        self, middle: float, spread: float = 0.6, digits: int = 0, step: float = 0, zeros: float = 0
    ) -> list[str]:
        unit = step or 10.0**-digits
        values = np.round(np.exp(self.rng.normal(np.log(middle), spread, self.n)) / unit) * unit
        values[self.rng.random(self.n) < zeros] = 0
        return [f"{value:.{digits}f}" for value in values]

    def ages(self, low: int = 18, high: int = 95) -> list[str]:
        values = np.clip(self.rng.normal(48, 19, self.n), low, high)
        return [str(int(value)) for value in values]

    def serial(self, start: int = 1, text: str = "{}", step: int = 1) -> list[str]:
        return [text.format(start + row * step) for row in range(self.n)]

    def digits(self, shape: str) -> list[str]:
        """Each # a digit, each @ a capital letter, each & a hexadecimal digit."""
        sets = {"#": "0123456789", "@": "ABCDEFGHJKLMNPRSTUVWXYZ", "&": "0123456789abcdef"}
        return [
            "".join(sets[sign][self.rng.integers(len(sets[sign]))] if sign in sets else sign for sign in shape)
            for _ in range(self.n)
        ]

    def numbers(self, low: int, high: int) -> list[str]:
        """Numbers given out without an order, no two alike."""
        return [str(value) for value in self.rng.choice(np.arange(low, high), self.n, replace=False)]

    def days(self, first: str, last: str, form: str = "%Y-%m-%d") -> list[str]:
        start, end = date.fromisoformat(first), date.fromisoformat(last)
        spans = self.rng.integers(0, (end - start).days + 1, self.n)
        return [(start + timedelta(int(span))).strftime(form) for span in spans]

    def names(self, form: str = "{0} {1}") -> list[str]:
        firsts, lasts = self.pick(FIRST), self.pick(LAST)
        return [form.format(one, other) for one, other in zip(firsts, lasts, strict=True)]

    def mails(self) -> list[str]:
        found = self.rng.choice(9000, self.n)
        return [f"{one.lower()}{place}@example.org" for one, place in zip(self.pick(LAST), found, strict=True)]

    def notes(self) -> list[str]:
        left, right = self.pick(NOTES), self.pick(NOTES)
        return [f"{one}; {other}, on day {self.rng.integers(400)}" for one, other in zip(left, right, strict=True)]

    def streets(self) -> list[str]:
        return [f"{self.rng.integers(1, 220)} {street} Street" for street in self.pick(STREETS)]

    def pool(self, shape: str, n: int, skew: float = 0.8) -> list[str]:
        """Values out of a pool of `n` of one shape, some much more frequent than others."""
        rows, self.n = self.n, n
        values = sorted(set(self.digits(shape)))
        self.n = rows
        return self.pick([values[place] for place in self.rng.permutation(len(values))], skew=skew)

    def some(self, values: list, share: float, marker: str | None = None) -> list:
        """Leave out a share of the cells, or put a marker there."""
        out = self.rng.random(len(values)) < share
        return [marker if gone else value for value, gone in zip(values, out, strict=True)]
