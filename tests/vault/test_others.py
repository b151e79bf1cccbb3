"""Clients that are slow, or ask for much: others are answered all the same."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest

from shoal.mining.rules import Rule
from shoal.vault.limiting import Limits
from support.vaults import Made, aliases, made, served

HEAD = b"GET /static/vault.css HTTP/1.1\r\nhost: x\r\n"
SLOW = {
    "says nothing": b"",
    "sends half a head": HEAD,
    "sends half a body": b"POST /v1/interpret HTTP/1.1\r\nhost: x\r\ncontent-length: 10000\r\n\r\n{",
    "sends half a chunk": b"POST /v1/interpret HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n{",
    "asks once and stays": HEAD + b"\r\n",
    "asks once and begins again": HEAD + b"\r\n" + HEAD,
    "asks on and on and reads nothing": (HEAD + b"\r\n") * 3000,
}
"""What a client sends that then waits, or drips."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory) -> Made:
    found = made(tmp_path_factory.mktemp("vault"))
    found.grant()
    found.add("eva")
    yield found
    found.service.database.close()


@pytest.fixture(scope="module")
def site(vault):
    with served(vault.service) as found:
        yield found


def connected(site, sent: bytes = b"", host: str = "127.0.0.1") -> socket.socket:
    """A connection that reads little, and has sent something."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.bind((host, 0))
    found.settimeout(60)
    found.connect(("127.0.0.1", int(site.url.rpartition(":")[2])))
    with suppress(OSError):  # it may be full, or closed already
        found.sendall(sent)
    return found


@pytest.mark.parametrize("drips", [False, True], ids=["and waits", "and drips"])
@pytest.mark.parametrize("sent", SLOW.values(), ids=SLOW)
def test_slow_connections_end(vault, sent, drips):
    """It has the one place that there is; when its time is over, others have theirs."""
    with served(vault.service, slowest=0.3, connections=2) as site, connected(site, sent) as slow:
        time.sleep(0.1)
        end = time.monotonic() + 60
        while site.ask("GET", "/v1/health").status != 200:
            assert time.monotonic() < end, "others are shut out"
            time.sleep(0.05)
            with suppress(OSError):
                slow.send(b"x" if drips else b"")


def test_what_arrives_too_late_is_told_so(vault):
    with served(vault.service, slowest=0.2) as site, connected(site, SLOW["sends half a body"]) as slow:
        assert b" 408 " in slow.recv(1000)


def test_one_address_does_not_take_all_places(vault):
    with served(vault.service, connections=8, connections_of_one=4) as site, ExitStack() as stack:
        try:
            stack.enter_context(connected(site, host="127.0.0.2"))
        except OSError:
            pytest.skip("this machine has one address of its own only")
        for _ in range(30):
            stack.enter_context(connected(site))
        other = http.client.HTTPConnection(
            site.url.removeprefix("http://"), source_address=("127.0.0.2", 0), timeout=20
        )
        other.request("GET", "/v1/health")
        assert other.getresponse().status == 200
        other.close()


def test_behind_a_proxy_all_connections_are_of_one_address(vault):
    with served(vault.service, tls=True, connections=100, connections_of_one=1) as site, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(connected(site))
        assert site.ask("GET", "/v1/health").status == 200


# -- long rules -------------------------------------------------------------------------------------------------------

LONG = {
    "a text": lambda alias: "a = b and " * 90_000 + f"a = b -> disease = {alias}",
    "parts that cannot be read": lambda _: "a a and " * 110_000 + "a = b -> disease = x",
    "a list in a text": lambda alias: "town in (" + "x, " * 300_000 + f"x) -> disease = {alias}",
    "a list": lambda alias: {"if": {"town": ["x"] * 190_000}, "then": {"disease": alias}},
    "many columns": lambda alias: {"if": {f"c{at}": 1 for at in range(60_000)}, "then": {"disease": alias}},
    "many columns that cannot be read": lambda alias: {
        "if": {f"c{at}": [] for at in range(60_000)},
        "then": {"disease": alias},
    },
    "many comparisons": lambda alias: {
        "if": {"town": {f"c{at}": 1 for at in range(60_000)}},
        "then": {"disease": alias},
    },
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
def test_a_rule_that_is_too_long_is_not_even_read(vault, site, long, monkeypatch):
    rule, read = long(aliases()[0]), []
    monkeypatch.setattr(Rule, "from_text", lambda *given: read.append(given))
    monkeypatch.setattr(Rule, "from_mapping", lambda *given: read.append(given))
    told = site.ask("POST", "/v1/interpret", vault.tokens["ada"], {"release": "clinic", "rules": [rule]})
    assert told.status == 422
    assert told.json["problems"] == [
        {"where": "rule 1", "what": "is too long", "fix": "name at most 1,000 cells, in 50,000 letters"}
    ]
    assert not read


MANY = {
    "rules that cannot be read": ["x"] * 1000,
    "conditions that cannot be read": ["a a and " * 6_000 + "a = b -> disease = x"] * 5,
    "cells that are not there": [{"if": {"town": "Ada"}, "then": {"disease": ["x"] * 9}}] * 900,
    "columns that are not there": [{"if": {f"c{at}": 1 for at in range(10)}, "then": {"x": "y"}}] * 900,
    "no rules at all": [1] * 1000,
}


@pytest.mark.parametrize("rules", MANY.values(), ids=MANY)
def test_many_problems_are_told_in_a_short_answer(vault, site, rules):
    told = site.ask("POST", "/v1/interpret", vault.tokens["ada"], {"release": "clinic", "rules": rules})
    assert told.status == 422
    assert len(told.text) < 20_000
    if len(rules) == 5:  # of a rule, the same problem is said once
        assert [one["where"] for one in told.json["problems"]] == [f"rule {number}" for number in range(1, 6)]
        return
    assert len(told.json["problems"]) == 101
    assert told.json["problems"][-1]["what"].endswith("more problems")


@pytest.mark.parametrize(
    "rules", [["a -> b"] * 1001, [1] * 300_000, [{"if": {}}] * 1001], ids=["texts", "ones", "empty"]
)
def test_more_rules_than_a_request_may_hold(vault, site, rules):
    told = site.ask("POST", "/v1/interpret", vault.tokens["ada"], {"release": "clinic", "rules": rules})
    assert told.status == 422
    assert len(told.text) < 20_000


def test_what_is_nested_without_end_is_refused(vault, site):
    for sign in ("[", '{"if":'):
        body = b'{"release": "clinic", "rules": [' + sign.encode() * 100_000
        assert site.ask("POST", "/v1/interpret", vault.tokens["ada"], body).status in (400, 422)
    assert site.ask("GET", "/v1/health").status == 200


def test_one_who_asks_for_much_at_once_leaves_room_for_others(vault, monkeypatch):
    """A server answers some forty requests at a time: one person has a few of them."""
    going_on, statuses = threading.Event(), []
    real = vault.service.interpret

    def slowly(*given):
        assert going_on.wait(60)
        return real(*given)

    monkeypatch.setattr(vault.service, "interpret", slowly)
    body = json.dumps({"release": "clinic", "rules": [f"town = Ada -> disease = {aliases()[0]}"]}).encode()
    with served(vault.service, Limits(requests=1000, at_once=4)) as site:

        def ask() -> None:
            statuses.append(site.ask("POST", "/v1/interpret", vault.tokens["ada"], body).status)

        threads = [threading.Thread(target=ask) for _ in range(60)]
        for thread in threads:
            thread.start()
        try:
            assert site.ask("GET", "/v1/me", vault.tokens["eva"]).json["name"] == "eva"
        finally:
            going_on.set()
            for thread in threads:
                thread.join()
        assert set(statuses) == {200, 429}
        assert statuses.count(200) >= 4
        assert site.ask("POST", "/v1/interpret", vault.tokens["ada"], body).status == 200  # places are given back
