"""Who was let in and has to wait for her turn: she may be removed meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shoal.vault import people
from shoal.vault.audit import Ledger
from support.vaults import STEWARD, Answered, Made, Site, aliases, made, rule_for, served

PASSWORD = "several unrelated words"


@pytest.fixture
def vault(tmp_path) -> Iterator[Made]:
    vault = made(tmp_path)
    vault.grant()
    vault.add("max", role="steward", password=PASSWORD)
    yield vault
    vault.service.database.close()


def while_waiting(vault: Made, ask: Callable[[], Answered], change: Callable[[Ledger], Any], monkeypatch) -> Answered:
    """What comes of a request that was let in, and whose turn comes after a change."""
    waits, changing, came = threading.Event(), vault.service.changing, list[Answered]()

    def waiting(*given):
        waits.set()
        return changing(*given)

    with changing() as ledger:
        monkeypatch.setattr(vault.service, "changing", waiting)
        thread = threading.Thread(target=lambda: came.append(ask()))
        thread.start()
        assert waits.wait(30)
        change(ledger)
    thread.join(60)
    return came[0]


def removed(name: str) -> Callable[[Ledger], Any]:
    return lambda ledger: people.remove_person(ledger, STEWARD, name)


def renewed(name: str) -> Callable[[Ledger], Any]:
    return lambda ledger: people.renew_token(ledger, STEWARD, name)


REQUESTS = {
    "people": {"name": "eve", "role": "steward"}, "people/remove": {"name": "ada"},
    "grants": {"name": "ada", "release": "clinic", "column": "disease", "budget": 2, "days": 9},
    "grants/revoke": {"name": "ada", "release": "clinic"}, "seal": None,
}  # fmt: skip


@pytest.mark.parametrize("path", REQUESTS)
def test_a_steward_who_was_removed_changes_nothing_any_more(vault, path, monkeypatch):
    with served(vault.service) as site:
        asked = lambda: site.ask("POST", f"/v1/{path}", vault.tokens["max"], REQUESTS[path])  # noqa: E731
        answer = while_waiting(vault, asked, removed("max"), monkeypatch)
    assert answer.status == 401
    assert answer.json["problems"] == [
        {"where": "sign-in", "what": "is over", "fix": "sign in again, or ask the steward"}
    ]
    assert not vault.service.is_sealed
    with vault.service.reading() as connection:
        assert [one["name"] for one in people.listed(connection) if one["active"]] == ["ada", STEWARD]


def asking(vault: Made, site: Site, secret: str) -> Callable[[], Answered]:
    rules = {"release": "clinic", "rules": [str(rule_for(aliases()[0]))]}
    return lambda: site.ask("POST", "/v1/interpret", secret, rules)


@pytest.mark.parametrize("by", ["token", "session"])
def test_a_token_that_was_replaced_is_told_nothing_any_more(vault, by, monkeypatch):
    secret = vault.tokens["ada"] if by == "token" else vault.session("ada")
    with served(vault.service) as site:
        answer = while_waiting(vault, asking(vault, site, secret), renewed("ada"), monkeypatch)
    assert answer.status == 401
    assert vault.service.allowances(vault.person())[0]["learnt"] == 0


@pytest.mark.parametrize("change", [removed, renewed])
def test_a_session_does_not_begin_with_what_opens_nothing_any_more(vault, change, monkeypatch):
    """Of a name and a password, a new token alone takes nothing away."""
    with served(vault.service) as site:
        signs_in = lambda: site.ask("POST", "/v1/session", None, {"name": "max", "password": PASSWORD})  # noqa: E731
        answer = while_waiting(vault, signs_in, change("max"), monkeypatch)
    assert answer.status == (401 if change is removed else 200)


def test_who_is_let_in_as_before_is_answered(vault, monkeypatch):
    with served(vault.service) as site:
        answer = while_waiting(vault, asking(vault, site, vault.tokens["ada"]), removed("max"), monkeypatch)
    assert answer.json["answers"][0]["meant"] is not None


def test_the_pages_of_one_who_was_removed_end_at_the_door(vault, monkeypatch):
    with served(vault.service) as site:
        cookie = {"cookie": f"shoal-session={vault.session('max')}"}
        form = {"csrf": site.page("/people", headers=cookie).mark, "name": "eve", "role": "steward"}
        answer = while_waiting(vault, lambda: site.page("/people", form, cookie), removed("max"), monkeypatch)
    assert answer.status == 401
    assert "Sign in" in answer.text
    assert "ada" not in answer.text
