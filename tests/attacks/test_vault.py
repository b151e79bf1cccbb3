"""Attacks on a trusted server: what overlapping rules give away, and what a budget leaves of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import lcm
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.mining.rules import Condition, Rule
from shoal.vault.content import Content
from support import published_server
from support.vaults import STEWARD, aliases, made, meaning, release, rule_for, served

Teller = Callable[[frozenset[str]], frozenset[str] | None]
"""Told the aliases of a rule, says the set of values that they stand for, in no order; None for a refusal."""


def differences(ask: Teller, words: Iterable[str]) -> dict[str, set[str]]:
    """Ask for pairs of aliases, and find by what the answers share which values each alias may have."""
    possible: dict[str, set[str]] = {}
    for pair in combinations(sorted(words), 2):
        told = ask(frozenset(pair))
        if told is not None:
            for word in pair:
                possible[word] = possible.get(word, set(told)) & told
    changed = True
    while changed:
        changed = False
        for one, other in combinations(sorted(possible), 2):
            told = ask(frozenset((one, other)))
            if told is not None and len(told) == 2:
                for word, known in ((one, other), (other, one)):
                    if len(possible[known]) == 1 and len(possible[word]) > 1:
                        possible[word] -= possible[known]
                        changed = True
    return possible


def sure(possible: dict[str, set[str]]) -> dict[str, str]:
    return {word: next(iter(values)) for word, values in possible.items() if len(values) == 1}


# -- over HTTP: the server of S3, and a vault --------------------------------------------------------------------------

SICKNESSES = ("flu", "cold", "gout", "ache", "asthma", "ulcer", "measles", "lupus")
TOWNS = ("Ada", "Bo", "Cy", "Di")
FEW = 5


@cache
def ward() -> shoal.Release:
    """Four hundred people; a disease of each town, some others, and a few people who chose the second alias."""
    rows = [
        {
            "age": 20 + row // 8, "town": TOWNS[row % 4],
            "disease": SICKNESSES[row % 4 if row % 5 else 4 + row // 5 % 4], "show": 2 if row % 37 else 3,
        }
        for row in range(400)
    ]  # fmt: skip
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric(), "town": shoal.Nominal()}, sensitive={"disease": shoal.Nominal()}, choice="show"
    )
    hiding = [shoal.Generalize(sets=True), shoal.Aliases("disease")]
    return shoal.anonymize(pl.DataFrame(rows), schema, shoal.Mondrian(k=5), publish=hiding, seed=3)


class Attacker:
    """Somebody who has the published table and a token, and asks for rules that overlap."""

    def __init__(self, client: shoal.Vault) -> None:
        self._client, self._answers = client, {}
        self.rows, self._there = Counter(ward().table["disease"]), Counter(ward().table["town", "disease"].iter_rows())
        self.known: dict[str, str] = {}

    def ask(self, words: frozenset[str]) -> frozenset[str] | None:
        """The values of some aliases as one set, if a server tells them."""
        return self.ask_all([words])[0]

    def ask_all(self, several: Sequence[frozenset[str]]) -> list[frozenset[str] | None]:
        """The values of several sets of aliases in one request, by the rules that are most likely to be told."""
        new = [words for words in several if words not in self._answers]
        rules = [
            (words, Rule((Condition("town", "=", town),), (Condition("disease", "in", tuple(sorted(words))),)))
            for words in new
            for town in self._towns(words)
        ]
        self._answers |= dict.fromkeys(new)
        answers = self._client.interpret("ward", [rule for _, rule in rules])
        for (words, _), one in zip(rules, answers, strict=True):
            if one.meant:
                self._answers[words] = frozenset(map(str, one.meant.then[0].cells))
        return [self._answers[words] for words in several]

    def _towns(self, words: frozenset[str]) -> list[str]:
        """The town where most people have one of some aliases, and that where most have each of them."""
        wanted = (sum, min)
        return list({max(TOWNS, key=lambda town: how(self._there[town, one] for one in words)) for how in wanted})

    def attack(self, order: Iterable[str]) -> None:
        """Ask for each alias alone, then beside each that is known; then see what all pairs have in common."""
        order = list(order)
        for word, told in zip(order, self.ask_all([frozenset({word}) for word in order]), strict=True):
            self._conclude(word, told)
        self.ask_all([frozenset(pair) for pair in combinations(order, 2)])
        for word in order:
            for other in sorted(self.known, key=lambda one: -self.rows[one]):
                if word not in self.known:
                    told = self.ask(frozenset({word, other}))
                    self._conclude(word, told and (told - {self.known[other]} or told))
        for word, value in sure(differences(self.ask, order)).items():
            self.known.setdefault(word, value)

    def _conclude(self, word: str, told: frozenset[str] | None) -> None:
        if told is not None and len(told) == 1:
            self.known[word] = next(iter(told))

    def figures(self) -> tuple[int, int, int]:
        """Aliases that are known for sure, those of them that fewer than five people have, and people who have any."""
        few = [word for word in self.known if self.rows[word] < FEW]
        return len(self.known), len(few), sum(self.rows[word] for word in self.known)


@contextmanager
def trusted(tmp_path: Path, support: float, confidence: float, budget: int | None) -> Iterator[shoal.Vault]:
    """Somebody's way to a served vault; None for the largest budget that a steward can grant."""
    vault = made(tmp_path)
    vault.service.add_release(
        STEWARD, "ward", ward(), ward().key, min_support=support, min_confidence=confidence
    )  # fmt: skip
    most = vault.service.released()[-1]["columns"][0]["most"]
    vault.grant(release="ward", budget=budget or most)
    with served(vault.service) as site:
        yield shoal.Vault(site.url, vault.tokens["ada"])
    vault.service.database.close()


@contextmanager
def as_published(_folder: Path, support: float, confidence: float, _budget: int | None) -> Iterator[shoal.Vault]:
    """A way to the server of S3."""
    with published_server.served(ward(), published_server.Thresholds(support, confidence)) as url:
        yield shoal.Vault(url, published_server.TOKEN)


SERVERS = {
    "S3": (as_published, 0.05, 0.5, None),
    "vault, the largest budget, no thresholds": (trusted, 1e-9, 1e-9, None),
    "vault, the largest budget": (trusted, 0.05, 0.5, None),
    "vault, a budget of 3": (trusted, 0.05, 0.5, 3),
    "vault, a budget of 1": (trusted, 0.05, 0.5, 1),
}
"""How each is set up: support, confidence, budget."""
FOUND = {
    "S3": (15, 7, 400),
    "vault, the largest budget, no thresholds": (8, 0, 389),
    "vault, the largest budget": (5, 0, 332),
    "vault, a budget of 3": (3, 0, 234),
    "vault, a budget of 1": (1, 0, 78),
}
"""What comes of it."""


@pytest.mark.parametrize(("name", "sign"), [*((name, 1) for name in SERVERS), ("vault, a budget of 3", -1)], ids=str)
def test_rules_that_overlap_tell_rare_aliases_at_the_published_server_and_none_at_a_vault(name, sign, tmp_path):
    """As published, thresholds are those of the whole rule: a rare alias is told in the company of a frequent one.

    Promise: a vault tells no alias that fewer than five people have, and no more of them than the budget.
    """
    way, *setting = SERVERS[name]
    with way(tmp_path, *setting) as client:
        attacker = Attacker(client)
        attacker.attack(sorted(attacker.rows, key=lambda one: (sign * attacker.rows[one], one)))  # rare ones first
    values = ward().key.by_name["disease"].values
    assert attacker.known == {word: values[word][0] for word in attacker.known}
    assert attacker.figures() == FOUND[name]


def test_figures_in_the_documentation_are_those():
    text = (Path(__file__).parents[2] / "docs" / "vault.md").read_text(encoding="utf-8")
    for name, figures in FOUND.items():
        assert f"| {name} | {' | '.join(map(str, figures))} |" in text


@pytest.mark.parametrize("budget", [1, 3, 5])
def test_with_a_budget_no_more_than_that_is_learnt_however_rules_overlap(budget, tmp_path):
    """Promise: at most `budget` aliases are known, and no other follows from them."""
    vault = made(tmp_path)
    vault.grant(budget=budget)

    with served(vault.service) as site:
        client = shoal.Vault(site.url, vault.tokens["ada"])

        def ask(pair: frozenset[str]) -> frozenset[str] | None:
            when = ("Ada", "Bo", "Cy", "Di")[: 2 + len(pair) // 2]
            rules = [rule_for(word) for word in sorted(pair)]
            rules.append(Rule((Condition("town", "in", when),), (Condition("disease", "in", tuple(sorted(pair))),)))
            answers = client.interpret("clinic", rules)
            told = {one.value for answer in answers if answer.meant for one in answer.meant.then}
            return frozenset(told) if all(answer.meant for answer in answers[:-1]) else None

        found = sure(differences(ask, aliases()))
        answers = client.interpret("clinic", [rule_for(word) for word in aliases()])
    told = {word for word, answer in zip(aliases(), answers, strict=True) if answer.meant}
    assert set(found) <= told
    assert len(told) <= budget
    left = [word for word in aliases() if word not in told]
    assert len({meaning(word) for word in left}) > 1, "the rest would follow by elimination"


def test_refusals_tell_nothing_about_the_key(tmp_path):
    """Whether something is refused follows from the published table: it is the same for every key that fits it."""
    vault = made(tmp_path)
    vault.grant(budget=3)
    order = aliases()
    asked = [rule_for(word) for word in order]
    refused = [answer.refused for answer in vault.service.interpret(vault.person(), "clinic", asked).answers]
    assert refused == [None] * 3 + ["budget"] * (len(order) - 3)  # by the order of asking alone


def test_one_interpreted_linear_grade_would_undo_them_all_so_none_is(tmp_path):
    """Whole numbers: the width of a category shows from its grades alone, so one known pair is enough."""
    column = Content.of(release(), release().key).columns["income"]
    inside = sorted(cell for cell in column.key.values if int(cell) == 1)[:-1]  # the last one ties at 0.999
    steps = [Fraction(cell - 1).limit_denominator(1000) for cell in inside]
    width = lcm(*(one.denominator for one in steps))
    tens = [int(one * width) for one in steps]  # everybody's place, in a unit that the numbers are multiples of
    unit = 10  # incomes are told in tens here
    first = column.key.values[inside[0]][0]  # what one answer would tell
    assert [first + unit * place for place in tens] == [column.key.values[cell][0] for cell in inside]
    vault = made(tmp_path)
    with pytest.raises(shoal.ParameterError, match="would tell all of it"):
        vault.grant("ada", "income", budget=1, operation="values")


def test_the_steward_cannot_grant_what_gives_the_rest_away(tmp_path):
    vault = made(tmp_path)
    with pytest.raises(shoal.ParameterError, match="would follow from what is known"):
        vault.grant(budget=len(aliases()) - 2)
