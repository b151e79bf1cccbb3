"""What is interpreted and what is refused: grants, thresholds, budgets, and what follows from what is known."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ParameterError
from shoal.mining.rules import Condition, Rule
from shoal.vault.content import Content
from shoal.vault.refusals import NotAllowedError
from support import vaults
from support.pairwise import examples
from support.vaults import aliases, made, meaning, release, rule_for


@pytest.fixture
def vault(tmp_path):
    return made(tmp_path)


def refusals(found):
    return [one.refused for one in found.answers]


def test_a_rule_is_told_with_the_values_that_its_aliases_stand_for(vault):
    vault.grant(budget=2)
    alias = aliases()[0]
    found = vault.service.interpret(vault.person(), "clinic", [rule_for(alias)])
    (answer,) = found.answers
    assert answer.meant.then == (Condition("disease", "=", meaning(alias)),)
    assert answer.meant.when == answer.asked.when
    assert found.left == {"disease": 1}


def test_support_and_confidence_are_those_of_the_published_table(vault):
    vault.grant()
    rule = rule_for(aliases()[0])
    (answer,) = vault.service.interpret(vault.person(), "clinic", [rule]).answers
    rows = release().table.select(rule.when[0].column, "disease").rows()
    town, alias = rule.when[0].value, rule.then[0].value
    assert answer.evidence.both == rows.count((town, alias))
    assert answer.evidence.confidence == rows.count((town, alias)) / sum(row[0] == town for row in rows)


def test_the_reasons_to_refuse(vault):
    vault.grant(budget=3)
    one, other = aliases()[:2]
    rare = Rule((Condition("town", "=", "Ada"), Condition("age", "=", "[20, 22]")), rule_for(one).then)
    everybody = Rule((), rule_for(one).then)
    certain = Rule(rule_for(one).then, (Condition("town", "in", ("Ada", "Bo", "Cy", "Di")),))
    income = Rule(rule_for(other).when, (Condition("income", ">=", 1.0),))
    assert refusals(vault.service.interpret(vault.person(), "clinic", [rare, everybody, certain, income])) == [
        "support", "confidence", "lift", "lift",
    ]  # fmt: skip
    high = Rule(rule_for(other).then, (Condition("income", ">=", 3.0),))
    assert refusals(vault.service.interpret(vault.person(), "clinic", [high]))[0] in ("grant", "confidence", "lift")


def test_a_hidden_column_without_a_grant_is_refused(tmp_path):
    vault = made(tmp_path, variant="random")
    vault.grant("ada", "disease")
    rules = [
        Rule((Condition("income", ">=", 4.0),), (Condition("town", "=", town),)) for town in ("Ada", "Bo", "Cy", "Di")
    ]
    found = refusals(vault.service.interpret(vault.person(), "clinic", rules))
    assert "grant" in found
    assert None not in found


def test_the_budget_counts_distinct_cells_over_all_requests(vault):
    vault.grant(budget=2)
    ada, rules = vault.person(), [rule_for(alias) for alias in aliases()]
    assert refusals(vault.service.interpret(ada, "clinic", rules[:1])) == [None]
    assert refusals(vault.service.interpret(ada, "clinic", rules[:1])) == [None]  # known already
    assert refusals(vault.service.interpret(ada, "clinic", [rules[1], rules[2], rules[0]])) == [None, "budget", None]
    vault.grant(budget=2)  # granted anew: what is known stays known
    assert refusals(vault.service.interpret(ada, "clinic", [rules[2], rules[1]])) == ["budget", None]


def test_a_rule_over_several_aliases_is_charged_for_all_of_them_or_none(vault):
    vault.grant(budget=1)
    town = rule_for(aliases()[0]).when
    there = [alias for alias in aliases() if rule_for(alias).when == town]
    assert len(there) == 2
    pair = Rule(town, (Condition("disease", "in", tuple(there)),))
    assert refusals(vault.service.interpret(vault.person(), "clinic", [pair])) == ["budget"]
    vault.grant(budget=2)
    found = vault.service.interpret(vault.person(), "clinic", [pair])
    assert found.answers[0].meant.then == (Condition("disease", "=", meaning(there[0])),)
    assert found.left == {"disease": 0}


def test_a_rare_cell_is_not_told_in_the_company_of_a_frequent_one(vault):
    """The set has the support; the cell of few people has not."""
    vault.grant(budget=3)
    frequent = rule_for(aliases()[0])
    rare = next(alias for alias in aliases() if rule_for(alias).when != frequent.when)
    both = Rule(frequent.when, (Condition("disease", "in", (frequent.then[0].value, rare)),))
    assert refusals(vault.service.interpret(vault.person(), "clinic", [both])) == ["support"]


def test_nothing_of_linear_grades_is_interpreted(vault):
    """One known grade tells them all, so no budget is small enough."""
    column = Content.of(release(), release().key).columns["income"]
    assert column.closure({1.0}) == set(column.key.values)
    for operation in ("rules", "values"):
        with pytest.raises(shoal.ParameterError, match="would tell all of it"):
            vault.grant("ada", "income", budget=1, operation=operation)


def test_random_grades_tell_themselves_alone(tmp_path):
    vault = made(tmp_path, variant="random")
    vault.grant("ada", "income", budget=5, operation="values")
    column = Content.of(release("random"), release("random").key).columns["income"]
    inside = sorted(cell for cell in column.key.values if int(cell) == 1)
    found = vault.service.values(vault.person(), "clinic", "income", inside[:3])
    assert found.left == {"income": 2}


def test_a_comparison_of_grades_is_told_by_the_last_value_that_it_lets_in():
    column = Content.of(release("random"), release("random").key).columns["income"]
    values = {cell: meant[0] for cell, meant in column.key.values.items()}
    bound = sorted(values)[7] + 1e-6
    upto = max(value for cell, value in values.items() if cell <= bound)
    beyond = min(value for cell, value in values.items() if cell > bound)
    assert column.read(Condition("income", "<=", bound)) == Condition("income", "<=", upto)
    assert column.read(Condition("income", ">", bound)) == Condition("income", ">=", beyond)
    assert list(column.told_by(Condition("income", "<", -1.0))) == []


def test_no_budget_lets_the_rest_be_derived(vault):
    """Of aliases that all stand for one value, the last ones would follow."""
    with pytest.raises(shoal.ParameterError, match="budget"):
        vault.grant(budget=len(aliases()) - 2)
    vault.grant(budget=len(aliases()) - 3)


def beside_an_alias() -> Rule:
    """A rule of which a part alone cannot be read."""
    return Rule((Condition("town", "<", 3.0),), (Condition("disease", "in", tuple(aliases()[:1])),))


@pytest.mark.parametrize(
    "rule",
    [
        Rule((), (Condition("nothing", "=", "x"),)),
        Rule((), (Condition("disease", "=", "ZZZZZZZZ"),)),
        Rule((), (Condition("disease", ">=", 1.0),)),
        Rule((), (Condition("income", "=", 9.5),)),
        pytest.param(beside_an_alias, id="beside an alias"),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_one_error_and_nothing_is_learnt(vault, rule):
    vault.grant()
    rule = rule() if callable(rule) else rule
    before = vault.service.allowances(vault.person())
    with pytest.raises(shoal.ParameterError) as refused:
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0]), rule, rule])
    assert [str(one.where).split(":")[0] for one in refused.value.problems] == ["rule 2", "rule 3"]
    assert vault.service.allowances(vault.person()) == before
    said = str(refused.value)
    assert "ZZZZZZZZ" not in said
    assert not any(alias in said for alias in aliases())


def test_what_nobody_may_see_and_what_is_not_there_are_refused_alike(vault):
    told = []
    for name in ("clinic", "nowhere"):
        with pytest.raises(NotAllowedError) as refused:
            vault.service.interpret(vault.person(), name, [rule_for(aliases()[0])])
        told.append(str(refused.value))
    assert told[0] == told[1]


def test_expired_and_revoked_grants_end(vault):
    from shoal.vault import grants

    vault.grant(days=1e-9)
    with pytest.raises(NotAllowedError):
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])
    vault.grant()
    with vault.service.changing() as ledger:
        assert grants.revoke(ledger, "sue", "ada", "clinic", None, None) == 1
    with pytest.raises(NotAllowedError):
        vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])


@settings(max_examples=examples(25), deadline=None)
@given(
    asked=st.lists(
        st.lists(st.deferred(lambda: st.sampled_from(aliases())), min_size=1, max_size=3, unique=True), max_size=8
    ),
    budget=st.integers(1, 5),
)
def test_never_more_than_the_budget_is_told(tmp_path_factory, asked, budget):
    """The twin: a set of what was told."""
    vault = made(tmp_path_factory.mktemp("vault"))
    vault.grant(budget=budget)
    told: set[str] = set()
    for one in asked:
        rules = [rule_for(alias) for alias in one]
        for alias, answer in zip(one, vault.service.interpret(vault.person(), "clinic", rules).answers, strict=True):
            if answer.meant is not None:
                told.add(alias)
            else:
                assert answer.refused == "budget" and len(told | {alias}) > budget  # noqa: PT018
    assert len(told) <= budget
    assert vault.service.verify_audit().whole


def test_buckets_have_no_rows_to_interpret(tmp_path):
    vault = made(tmp_path)
    frame, schema = shoal.sample.people(60), shoal.sample.schema()
    hidden = shoal.anonymize(
        frame, schema, shoal.Anatomy(l=2, column="disease"), publish=shoal.Grades("income", quantiles=2)
    )
    with pytest.raises(shoal.ParameterError, match="shows no rows"):
        vault.service.add_release("sue", "buckets", hidden, hidden.key, min_support=0.1, min_confidence=0.5)


def test_the_key_of_another_release_is_refused(tmp_path):
    vault = made(tmp_path)
    with pytest.raises(shoal.GuaranteeError, match="another release"):
        vault.service.add_release("sue", "other", release("random"), release().key, min_support=0.1, min_confidence=0.5)


def test_nothing_of_the_key_stands_in_the_database_in_clear(vault, tmp_path):
    vault.grant()
    vault.service.interpret(vault.person(), "clinic", [rule_for(alias) for alias in aliases()])
    vault.service.database.close()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.name != "vault.key")
    for secret in (*aliases(), *vaults.DISEASES, "Ada", vault.tokens["ada"]):
        assert not vaults.stands_in(data, secret), "a cell or a token in clear"


def test_a_rule_that_names_too_many_cells_is_refused_at_once(vault):
    vault.grant()
    endless = Rule((Condition("town", "in", ("x",) * 1001),), rule_for(aliases()[0]).then)
    with pytest.raises(shoal.ParameterError, match="names more than 1,000 cells"):
        vault.service.interpret(vault.person(), "clinic", [endless])


def test_dense_whole_numbers_are_not_interpreted_even_if_their_grades_are_drawn(tmp_path):
    """Ages: from two that are known, all between can be counted."""
    vault = made(tmp_path)
    frame = pl.DataFrame({"town": ["Ada", "Bo"] * 300, "age": [18 + row % 60 for row in range(600)]})
    schema = shoal.Schema(quasi={"town": shoal.Nominal()}, sensitive={"age": shoal.Numeric()})
    graded = shoal.Grades("age", quantiles=2, variant="random")
    other = shoal.anonymize(frame, schema, shoal.Mondrian(k=5), publish=graded, seed=1)
    vault.service.add_release("sue", "ages", other, other.key, min_support=0.01, min_confidence=0.1)
    with pytest.raises(shoal.ParameterError, match="would tell all of it"):
        vault.grant("ada", "age", budget=2, release="ages")


def test_what_lies_between_two_known_grades_counts_as_known(tmp_path):
    vault = made(tmp_path, variant="random")
    vault.grant("ada", "income", budget=6, operation="values")
    cells = sorted(release("random").key.by_name["income"].values)
    found = vault.service.values(vault.person(), "clinic", "income", [cells[3], cells[7], cells[15]])
    assert [one.refused for one in found.answers] == [None, None, "budget"]
    assert found.left == {"income": 1}


@given(known=st.lists(st.integers(0, 19), max_size=4))
@settings(max_examples=examples(50), deadline=None)
def test_what_follows_from_grades_is_what_lies_between(known):
    """The twin looks at every grade."""
    column = Content.of(release("random"), release("random").key).columns["income"]
    cells = sorted(column.key.values)
    chosen = {cells[at % len(cells)] for at in known}
    slow = {cell for cell in cells if chosen and min(chosen) <= cell <= max(chosen)}
    assert column.closure(chosen) == slow


def hidden(k, seed, **more):
    """A release of always the same table."""
    diseases = [("flu", "cold", "gout", "ache")[row // 6 % 4] for row in range(96)]
    frame = pl.DataFrame(
        {"who": [row // 6 for row in range(96)], "age": [20 + row // 6 for row in range(96)], "disease": diseases}
    ).with_columns(income=1000 + 13 * pl.col("age") ** 2)
    schema = shoal.Schema(
        quasi={"age": shoal.Numeric()}, sensitive={"disease": shoal.Nominal(), "income": shoal.Numeric()}, **more
    )
    hiding = [shoal.Aliases("disease", default=2), shoal.Grades("income", quantiles=2, variant="random")]
    return shoal.anonymize(frame, schema, shoal.Mondrian(k=k), publish=[shoal.Generalize(), *hiding], seed=seed)


def test_two_releases_with_the_same_aliases_would_have_two_budgets(vault):
    """Half of the aliases asked of the one and half of the other were all of them."""
    one, same, other = (hidden(k, seed, identifying=["who"]) for k, seed in ((5, 1), (10, 1), (10, 2)))
    assert set(one.table["disease"]) == set(same.table["disease"])
    vault.service.add_release("sue", "one", one, one.key, min_support=0.05, min_confidence=0.2)
    before = vault.entries()
    with pytest.raises(ParameterError, match="has aliases or grades of a release that is there"):
        vault.service.add_release("sue", "same", same, same.key, min_support=0.05, min_confidence=0.2)
    assert vault.entries() == before
    vault.service.add_release("sue", "other", other, other.key, min_support=0.05, min_confidence=0.2)


def test_where_people_are_counted_the_promised_k_is_the_least_support(vault):
    """Nobody can tell from the tables which k such a release reaches, and five rows were enough."""
    release = hidden(8, 3, person="who")
    assert "k" not in release.manifest.achieved
    vault.service.add_release("sue", "visits", release, release.key, min_support=0.001, min_confidence=0.2)
    assert {one["name"]: one["min_support"] for one in vault.service.released()}["visits"] == 8
