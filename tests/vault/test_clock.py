"""Clocks that are wrong: nothing that is to end goes on for longer, and the steward is told."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.errors import ParameterError
from shoal.vault import audit, callers, grants, people
from shoal.vault.limiting import Counting, Limits
from shoal.vault.refusals import ClockError, NotAllowedError, TooManyError
from support.vaults import DAY, STEWARD, aliases, made, rule_for, served

YEARS = 10 * 365 * DAY
MINUTE = 60_000_000


@pytest.fixture
def clock(monkeypatch):
    """A way to set the clock, ahead of what it is or behind."""
    begun = audit.clock()

    def turn(by: float) -> None:
        monkeypatch.setattr(audit, "clock", lambda: begun + int(by))

    return turn


@pytest.fixture
def vault(tmp_path):
    found = made(tmp_path)
    yield found
    found.service.database.close()


@pytest.fixture
def was_ahead(vault, clock):
    """A vault whose clock was ten years ahead when something was granted, and is right again."""
    clock(YEARS)
    vault.grant(days=10)
    clock(MINUTE)
    return vault


def ask(vault):
    return vault.service.interpret(vault.person(), "clinic", [rule_for(aliases()[0])])


def test_a_clock_that_is_set_back_changes_no_order_and_revives_no_grant(vault, clock):
    vault.grant(days=10)
    clock(11 * DAY)
    with pytest.raises(NotAllowedError):
        ask(vault)
    clock(0)
    with pytest.raises(ClockError, match=r"950,4\d\d seconds behind the audit log"):
        ask(vault)
    clock(11 * DAY)
    with pytest.raises(NotAllowedError):
        ask(vault)
    found = vault.service.verify_audit()
    assert (found.whole, found.ahead) == (True, 0)


def test_clocks_of_several_servers_may_differ_a_little(vault, clock):
    clock(9 * MINUTE)
    vault.grant(days=1)
    clock(0)
    assert ask(vault).answers[0].meant is not None
    assert vault.service.status()["clock_behind"] == 0
    clock(DAY + 10 * MINUTE)
    with pytest.raises(NotAllowedError):
        ask(vault)


def test_what_was_granted_while_the_clock_was_ahead_does_not_last_for_years(was_ahead):
    """Time would stand still in the log until the clock has caught up."""
    before = was_ahead.entries()
    with pytest.raises(ClockError):
        ask(was_ahead)
    assert was_ahead.entries() == before + 1  # the refusal is noted
    with pytest.raises(ClockError):
        was_ahead.service.allowances(was_ahead.person())
    with pytest.raises(ClockError):
        was_ahead.grant()


def test_sessions_do_not_last_for_years(vault, clock):
    clock(YEARS)
    session = vault.session("ada")
    assert callers.known(vault.service, session) is not None
    clock(0)
    with pytest.raises(ClockError):
        callers.known(vault.service, session)
    with pytest.raises(ClockError):
        vault.session("ada")
    vault.service.trust_clock(STEWARD)
    assert callers.known(vault.service, session) is None


def test_what_takes_something_away_works_with_any_clock(was_ahead):
    with was_ahead.service.changing() as ledger:
        assert grants.revoke(ledger, STEWARD, "ada", "clinic", None, None) == 1
        people.remove_person(ledger, STEWARD, "ada")


def test_a_steward_goes_on_by_the_clock_and_grants_again(was_ahead, clock):
    assert was_ahead.service.trust_clock(STEWARD) == 1
    trusted = was_ahead.entries()
    assert was_ahead.service.status()["suspended_grants"] == 1
    with pytest.raises(NotAllowedError):
        ask(was_ahead)
    was_ahead.grant(days=10)
    assert ask(was_ahead).answers[0].meant is not None
    clock(10 * DAY + 2 * MINUTE)
    with pytest.raises(NotAllowedError):
        ask(was_ahead)
    found = was_ahead.service.verify_audit()
    assert (found.whole, found.ahead, found.trusted) == (True, 1, (trusted,))


def test_no_clock_is_trusted_that_needs_no_trust(vault):
    before = vault.entries()
    with pytest.raises(ParameterError, match="is not behind the audit log"):
        vault.service.trust_clock(STEWARD)
    assert vault.entries() == before


def test_no_other_entry_is_earlier_than_the_one_before(vault):
    with vault.service.changing() as ledger:
        ledger.time -= DAY
        ledger.add(STEWARD, "grant", "ada", "done")
    assert not vault.service.verify_audit().whole


def test_nobody_stays_locked_for_years(vault, clock, monkeypatch):
    counting, real = Counting(vault.service.database, Limits(failures_by_address=1)), audit.clock()
    monkeypatch.setattr("shoal.vault.limiting.time.time", lambda: (real + YEARS) / 1e6)
    clock(YEARS)
    assert counting.failed("10.0.0.1")
    vault.grant()
    monkeypatch.setattr("shoal.vault.limiting.time.time", lambda: real / 1e6)
    clock(0)
    with pytest.raises(TooManyError):
        counting.check("10.0.0.1")
    vault.service.trust_clock(STEWARD)
    counting.check("10.0.0.1")


def test_servers_say_so(was_ahead):
    rules = {"release": "clinic", "rules": [str(rule_for(aliases()[0]))]}
    sue, ada = was_ahead.tokens[STEWARD], was_ahead.tokens["ada"]
    with served(was_ahead.service) as site:
        assert site.ask("GET", "/v1/health").json == {"status": "clock behind"}
        refused = site.ask("POST", "/v1/interpret", ada, rules)
        assert (refused.status, refused.json["error"]) == (503, "ClockError")
        assert "trust-clock" in refused.json["problems"][0]["fix"]
        assert site.ask("GET", "/v1/status", sue).json["clock_behind"] > 9 * 365 * 86_400
        checked = site.ask("GET", "/v1/audit/verify", sue).json
        assert (checked["whole"], checked["ahead"], checked["trusted"]) == (True, 2, [])
        figure = "shoal_vault_clock_behind_seconds 3.15"
        assert figure in site.ask("GET", "/v1/metrics", sue).text
        page = site.page("/health", headers={"cookie": "shoal-session=x"})
        assert page.status == 503
        assert "shoal vault trust-clock" in page.text
        was_ahead.service.trust_clock(STEWARD)
        assert site.ask("GET", "/v1/health").json == {"status": "ok"}
        cookie = {"cookie": f"shoal-session={was_ahead.session(STEWARD)}"}
        assert "2 entries are later than it is now; a steward went on" in site.page("/audit", headers=cookie).text


def test_commands_say_so(was_ahead, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        return CliRunner().invoke(app, ["vault", *arguments], catch_exceptions=False).stdout

    assert "shoal vault trust-clock" in run("status")
    assert "1 entry is later than it is now" in run("audit", "--verify")
    assert "1 grant is suspended" in run("trust-clock")
    assert "trust-clock" not in run("status")
    assert '"trusted": [' in run("audit", "--verify", "--json")
