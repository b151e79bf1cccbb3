"""The programming interface: who gets an answer, and what is said to everybody else."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import shoal
from shoal.errors import Problem
from shoal.vault import people
from shoal.vault.app import create
from shoal.vault.limiting import Limits
from support.vaults import Made, aliases, made, meaning, release, rule_for, served, stands_in


def ask() -> dict[str, object]:
    """A rule to interpret."""
    return {"release": "clinic", "rules": [str(rule_for(aliases()[0]))]}


def ask_for_values() -> dict[str, object]:
    """A cell to look up."""
    return {"release": "clinic", "column": "disease", "cells": aliases()[:1]}


ROUTES = {
    ("GET", "/v1/health"): (None, "everybody"),
    ("POST", "/v1/session"): ({"name": "ada", "password": "correct horse battery"}, "everybody"),
    ("GET", "/v1/me"): (None, "both"),
    ("POST", "/v1/interpret"): (ask, "researcher"),
    ("POST", "/v1/values"): (ask_for_values, "researcher"),
    ("GET", "/v1/status"): (None, "steward"),
    ("GET", "/v1/releases"): (None, "steward"),
    ("GET", "/v1/people"): (None, "steward"),
    ("POST", "/v1/people"): ({"name": "new"}, "steward"),
    ("POST", "/v1/people/remove"): ({"name": "gone"}, "steward"),
    ("GET", "/v1/grants"): (None, "steward"),
    ("POST", "/v1/grants"): (
        {"name": "eva", "release": "clinic", "column": "disease", "budget": 2, "days": 3},
        "steward",
    ),
    ("POST", "/v1/grants/revoke"): ({"name": "eva", "release": "clinic"}, "steward"),
    ("GET", "/v1/audit"): (None, "steward"),
    ("GET", "/v1/audit/verify"): (None, "steward"),
    ("GET", "/v1/metrics"): (None, "steward"),
    ("POST", "/v1/unseal"): ({"key": "A" * 43 + "="}, "steward"),
    ("POST", "/v1/seal"): ({}, "steward"),
    ("DELETE", "/v1/session"): (None, "both"),
}
"""What each route is asked, or a way to say it, and who may."""


@pytest.fixture(scope="module")
def vault(tmp_path_factory) -> Made:
    found = made(tmp_path_factory.mktemp("vault"))
    found.grant("ada", budget=3)
    found.grant("ada", budget=3, operation="values")
    found.add("eva")  # a researcher without a grant for this release
    found.add("late")
    found.grant("late", days=1e-9)
    found.add("gone")
    found.grant("gone")
    with found.service.changing() as ledger:
        people.remove_person(ledger, "sue", "gone")
    found.tokens |= {"nobody": None, "wrong": "shoal_" + "x" * 43, "empty": "", "odd": "shoal_ü\u0000"[:6]}
    return found


@pytest.fixture(scope="module")
def site(vault):
    with served(vault.service) as found:
        yield found


def test_every_route_of_the_interface_is_in_the_matrix(vault):
    app = create(vault.service)._app
    paths = app.openapi()["paths"]
    listed = {(method.upper(), path) for path, one in paths.items() for method in one if path.startswith("/v1")}
    assert listed == set(ROUTES)


ROLES = {
    "nobody": (), "wrong": (), "empty": (), "odd": (), "gone": (), "late": ("both",), "eva": ("both",),
    "ada": ("both", "researcher"), "sue": ("both", "steward"),
}  # fmt: skip


@pytest.mark.parametrize("who", ROLES)
@pytest.mark.parametrize(("method", "path"), [one for one in ROUTES if one not in {("POST", "/v1/seal")}])
def test_nobody_gets_an_answer_that_is_not_hers(vault, site, who, method, path):
    body, whose = ROUTES[method, path]
    answer = site.ask(method, path, vault.tokens[who], body() if callable(body) else body)
    if whose == "everybody":
        assert answer.status in (200, 401)  # ada has no password: 401 for all
    elif whose in ROLES[who]:
        assert answer.status not in (401, 403) or path == "/v1/unseal"
    else:
        assert answer.status == (401 if not ROLES[who] else 403)
        assert set(answer.json) == {"error", "problems"}
    assert not any(meaning(word) in answer.text.split('"') for word in aliases()) or who == "ada"
    assert not any(
        token and token in answer.text for name, token in vault.tokens.items() if name in ("sue", "ada", "eva")
    )


def test_only_a_steward_seals_it(vault, site):
    for who in ("nobody", "wrong", "gone", "eva", "ada"):
        assert site.ask("POST", "/v1/seal", vault.tokens[who], {}).status in (401, 403)
    key = (vault.folder / "vault.key").read_text().strip()
    assert site.ask("POST", "/v1/seal", vault.tokens["sue"], {}).json == {"status": "sealed"}
    assert site.ask("GET", "/v1/health").json == {"status": "sealed"}
    sealed = site.ask("POST", "/v1/interpret", vault.tokens["ada"], ask())
    assert (sealed.status, sealed.json["error"]) == (503, "SealedError")
    wrong = site.ask("POST", "/v1/unseal", vault.tokens["sue"], {"key": "A" * 43 + "="})
    assert (wrong.status, key in wrong.text) == (403, False)
    assert site.ask("POST", "/v1/unseal", vault.tokens["sue"], {"key": key}).json == {"status": "ok"}
    assert site.ask("POST", "/v1/interpret", vault.tokens["ada"], ask()).status == 200


def test_a_password_gives_a_session_that_ends(vault, site):
    vault.add("pia", password="correct horse battery")
    asked = {"name": "pia", "password": "correct horse battery"}
    session = site.ask("POST", "/v1/session", None, asked).json["session"]
    assert site.ask("GET", "/v1/me", session).json["name"] == "pia"
    assert site.ask("POST", "/v1/session", None, {**asked, "password": "wrong"}).status == 401
    assert site.ask("DELETE", "/v1/session", session).status == 204
    assert site.ask("GET", "/v1/me", session).status == 401


def test_an_answer_has_the_rule_as_it_is_meant(vault, site):
    told = site.ask("POST", "/v1/interpret", vault.tokens["ada"], ask()).json
    assert told["answers"][0]["meant"]["then"] == {"disease": meaning(aliases()[0])}
    assert set(told["left"]) == {"disease"}


BAD = [
    {}, [], "x", None, {"release": "clinic"}, {"release": "clinic", "rules": []}, {"release": "clinic", "rules": [1]},
    {"release": "clinic", "rules": ["secretword"]}, {"release": "clinic", "rules": [{"if": 1}]},
    {"release": "clinic", "rules": [{"if": {}, "then": {"disease": {"<=": "secretword"}}}]},
    {"release": "clinic", "rules": ["town = Ada -> disease = secretword"]}, {"release": ["secretword"], "rules": ["a"]},
    {"release": "clinic", "rules": ["a = 1 -> b = 2"], "secretword": 1}, {"release": "x" * 300, "rules": ["a"]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "headers"), [(b"secretword", {"content-type": "text/plain"}), (b'["secretword"]', None)]
)
def test_a_body_that_is_no_object_is_answered_with_what_to_send(vault, site, body, headers):
    answer = site.ask("POST", "/v1/interpret", vault.tokens["ada"], body, headers)
    fix = "send one, with the header content-type: application/json"
    assert (answer.status, answer.json["problems"]) == (
        422, [{"where": "body", "what": "is no JSON object", "fix": fix}],
    )  # fmt: skip


GRANT = {"name": "ada", "release": "clinic", "column": "disease", "budget": 1, "days": 1}
WORDED = [
    ("/v1/interpret", {"release": 7}, ["body.release: needs a text, got a number", "body.rules: is missing; give it"]),
    ("/v1/interpret", {"release": "clinic", "rules": [None, ["x"]]}, [
        "body.rules.0: needs an object or a text, got nothing", "body.rules.1: needs an object or a text, got a list"]),
    ("/v1/interpret", {"release": "", "rules": []}, [
        "body.release: needs a text that is not empty, got an empty one",
        "body.rules: needs a list that is not empty, got an empty one"]),
    ("/v1/interpret", {"release": "x" * 201, "rules": "secretword", "secretword": 1}, [
        "body.release: needs a text of at most 200 characters, got a longer one",
        "body.rules: needs a list, got a text", "body: has a key that is not known; known: release, rules"]),
    ("/v1/interpret", {"release": "a\0", "rules": ["x"] * 1001}, [
        "body.release: needs a text without the character NUL, got one with it",
        "body.rules: needs a list of at most 1,000 entries, got a longer one"]),
    ("/v1/interpret", b'{"release": secretword}', ["body: is no JSON from character 13 on; write it as JSON"]),
    ("/v1/values", {"release": "clinic", "column": "disease", "cells": [True, {}, "x" * 1001]}, [
        "body.cells.1: needs a text or a number, got an object",
        "body.cells.2: needs a text of at most 1,000 characters or a number, got a longer one"]),
    ("/v1/people", {"name": "bo", "role": "secretword"}, [
        "body.role: needs 'researcher' or 'steward', got something else"]),
    ("/v1/grants", GRANT | {"budget": "secretword", "days": 0}, [
        "body.budget: needs a whole number, got a text", "body.days: needs a number from 1 on, got a smaller one"]),
    ("/v1/grants", GRANT | {"budget": 1.5, "days": 9999}, [
        "body.budget: needs a whole number, got a fraction",
        "body.days: needs a number up to 3,650, got a larger one"]),
    ("/v1/grants", GRANT | {"budget": {}, "days": None}, [
        "body.budget: needs a whole number, got an object", "body.days: needs a whole number, got nothing"]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "said"), WORDED)
def test_what_is_wrong_with_a_body_is_said_in_plain_words(vault, site, path, body, said):
    who = "ada" if path in ("/v1/interpret", "/v1/values") else "sue"
    answer = site.ask("POST", path, vault.tokens[who], body)
    assert answer.status == 422
    assert [str(Problem(**one)) for one in answer.json["problems"]] == said
    assert "secretword" not in answer.text


def test_so_is_what_is_wrong_with_an_address(vault, site):
    answer = site.ask("GET", "/v1/audit?before=secretword", vault.tokens["sue"])
    assert answer.json["problems"] == [{"where": "query.before", "what": "needs a whole number, got a text", "fix": ""}]


@pytest.mark.parametrize("body", BAD, ids=str)
def test_what_cannot_be_read_is_refused_without_being_repeated(vault, site, body):
    answer = site.ask("POST", "/v1/interpret", vault.tokens["ada"], json.dumps(body).encode())
    assert answer.status == 422
    assert answer.json["problems"]
    assert "secretword" not in answer.text


@pytest.mark.parametrize(
    "text", ["' OR 1=1 --", "<script>alert(1)</script>", "{{7*7}}", "../../etc/passwd", "\u202eabc", "%00"]
)
def test_signs_of_sql_and_html_are_only_signs(vault, site, text):
    for path, body in (
        ("/v1/interpret", {"release": text, "rules": [f'"{text}" = "{text}" -> disease = x']}),
        ("/v1/interpret", {"release": "clinic", "rules": [{"if": {"town": text}, "then": {text: text}}]}),
        ("/v1/values", {"release": "clinic", "column": text, "cells": [text]}),
    ):
        assert site.ask("POST", path, vault.tokens["ada"], body).status in (403, 422)
    assert site.ask("POST", "/v1/grants", vault.tokens["sue"], {
        "name": text, "release": text, "column": text, "budget": 1, "days": 1}).status == 422  # fmt: skip
    from urllib.parse import quote

    assert site.ask("GET", f"/v1/audit?search={quote(text)}", vault.tokens["sue"]).status == 200
    assert vault.service.verify_audit().whole


def test_large_requests_are_refused(vault, site):
    host = site.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.putrequest("POST", "/v1/interpret")
    connection.putheader("content-length", "10000000")
    connection.endheaders()
    assert connection.getresponse().status == 413  # though nothing of it came
    connection.close()
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.putrequest("POST", "/v1/interpret")
    connection.putheader("transfer-encoding", "chunked")
    connection.endheaders()
    part = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    for _ in range(200):  # 13 MB, without saying so before: all of it is let in, so that the answer can be read
        connection.send(part)
    connection.send(b"0\r\n\r\n")
    assert connection.getresponse().status == 413
    connection.close()
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.putrequest("POST", "/v1/interpret")
    connection.putheader("content-length", str(10**12))
    connection.endheaders()
    with pytest.raises((ConnectionError, TimeoutError)):  # not without end
        connection.send(itertools.repeat(b"x" * 0x10000, 2_000))
    connection.close()


def test_every_answer_has_headers_that_protect(vault, site):
    for path in ("/v1/health", "/v1/me", "/nowhere"):
        headers = {name.lower(): value for name, value in site.ask("GET", path).headers.items()}
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
        assert "strict-transport-security" not in headers  # it is served without TLS here


@pytest.mark.parametrize("path", ["/v1/interpret/", "/v1/session/", "/interpret/", "/sign-in/"])
def test_no_answer_leads_to_a_host_that_a_request_names(site, path):
    """By the status 307 a token or a password would be sent there once more, and without TLS."""
    told = site.ask("POST", path, body={"name": "ada"}, headers={"host": "elsewhere.example"})
    assert told.status == 404
    assert "location" not in told.headers


def test_guessing_tokens_is_slowed_down_logged_and_counted(tmp_path, caplog):
    vault = made(tmp_path)
    with served(vault.service, Limits(failures_by_address=5)) as site:
        statuses = [site.ask("GET", "/v1/me", f"shoal_{number}").status for number in range(8)]
        assert statuses == [401] * 5 + [429] * 3
        locked = site.ask("GET", "/v1/me", vault.tokens["ada"])
        assert locked.status == 429
        assert int(locked.headers["retry-after"]) > 0
    with vault.service.reading() as connection:
        from sqlalchemy import text

        rows = connection.execute(text("SELECT outcome FROM audit WHERE action = 'sign-in'")).all()
    assert [row[0] for row in rows] == ["locked"]


def test_guessing_a_password_locks_the_name(tmp_path):
    vault = made(tmp_path)
    vault.add("pia", password="correct horse battery")
    with served(vault.service, Limits(failures=3, failures_by_address=100)) as site:
        for guess in ("a", "b", "c"):
            assert site.ask("POST", "/v1/session", None, {"name": "pia", "password": guess}).status == 401
        right = {"name": "pia", "password": "correct horse battery"}
        assert site.ask("POST", "/v1/session", None, right).status == 429
        assert site.ask("GET", "/v1/me", vault.tokens["ada"]).status == 200  # others go on


def test_many_requests_of_one_person_are_slowed_down(tmp_path):
    vault = made(tmp_path)
    with served(vault.service, Limits(requests=5)) as site:
        statuses = [site.ask("GET", "/v1/me", vault.tokens["ada"]).status for _ in range(7)]
        assert statuses == [200] * 5 + [429] * 2
        assert site.ask("GET", "/v1/me", vault.tokens["sue"]).status == 200


def test_logs_and_metrics_tell_nothing_of_what_was_asked(tmp_path, capfd):
    vault = made(tmp_path)
    vault.grant()
    with served(vault.service) as site:
        site.ask("POST", "/v1/interpret", vault.tokens["ada"], ask())
        site.ask("POST", "/v1/interpret", vault.tokens["ada"], {"release": "clinic", "rules": ["town = Ada -> a = b"]})
        site.ask("GET", "/v1/me", "shoal_wrongtoken")
        metrics = site.ask("GET", "/v1/metrics", vault.tokens["sue"]).text
    logged = capfd.readouterr().err
    lines = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    assert any(line["event"] == "request" and line.get("who") == "ada" for line in lines)
    assert any(line["event"] == "sign-in failed" for line in lines)
    assert 'shoal_vault_rules_total{outcome="answered"} 1.0' in metrics
    assert "shoal_vault_requests_total" in metrics
    for secret in (*aliases(), *vault.tokens.values(), "wrongtoken", "Ada", *(meaning(word) for word in aliases())):
        assert not stands_in((logged + metrics).encode(), secret)


def test_the_client_asks_and_tells(vault, site):
    client = shoal.Vault(site.url, vault.tokens["ada"])
    (found,) = client.interpret("clinic", rule_for(aliases()[0]))
    assert found.meant.then[0].value == meaning(aliases()[0])
    assert found.refused is None
    assert client.values("clinic", "disease", aliases()[:1]) == {aliases()[0]: meaning(aliases()[0])}
    assert client.values("clinic", "disease", aliases()[0]) == {aliases()[0]: meaning(aliases()[0])}
    with pytest.raises(shoal.ParameterError, match=r"^url: must begin with https:// or http://$"):
        shoal.Vault(None, "token")
    assert {one["operation"] for one in client.grants()} == {"rules", "values"}
    with pytest.raises(shoal.ParameterError, match="not allowed"):
        client.interpret("nowhere", "a = 1 -> b = 2")
    with pytest.raises(shoal.ParameterError, match=r"(?s)2 problems:.*rule 1: needs.*rule 3: has a condition"):
        client.interpret("clinic", ["a = 1", "a = 1 -> b = 2", "a <=> 1 -> b = 2"])
    with pytest.raises(shoal.SourceError, match="does not answer"):
        shoal.Vault("http://127.0.0.1:9", "x").grants()
    with pytest.raises(shoal.ParameterError, match="https"):
        shoal.Vault("vault.example.org", "x")
    assert vault.tokens["ada"] not in repr(client)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_client_takes_its_token_to_no_other_host(status):
    """Python goes where an answer leads, and takes the token along."""
    seen = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            self.send_response(status)
            self.send_header("location", f"http://localhost:{self.server.server_port}/elsewhere")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with listening(Elsewhere) as url:
        client = shoal.Vault(url, "shoal_token")
        for ask in (client.grants, lambda: client.interpret("clinic", "a = 1 -> b = 2")):
            with pytest.raises(shoal.SourceError, match=f"vault: answered with status {status}; check its address"):
                ask()
    assert seen == ["/v1/me", "/v1/interpret"]


@pytest.mark.parametrize("answer", [b"[]", b'{"grants": 1}', b"null"])
def test_the_client_says_that_something_else_than_a_vault_answers(answer):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with listening(Other) as url, pytest.raises(shoal.SourceError, match=r"^vault: answers as no vault does"):
        shoal.Vault(url, "shoal_token").grants()


@pytest.mark.parametrize("token", ["shoal_secretword\n", "a secretword", "shoal_secretwörd", None, b"shoal_secret"])
def test_a_token_with_the_end_of_its_line_is_refused_without_being_repeated(token):
    """It was said that the vault does not answer."""
    with pytest.raises(shoal.ParameterError, match=r"^token: must be a text without blanks or line ends") as caught:
        shoal.Vault("http://127.0.0.1:9", token)
    assert "secret" not in str(caught.value)


@contextmanager
def listening(handler):
    """A server on loopback that is no vault; its address."""
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_rules_that_are_mined_are_interpreted_in_one_call(vault, site):
    client = shoal.Vault(site.url, vault.tokens["ada"])
    rules = shoal.mine(
        release().table.select("town", "disease"), target="disease", min_support=0.02, min_confidence=0.2,
        vault=client, name="clinic",
    )  # fmt: skip
    shown = str(rules)
    assert any(meaning(word) in shown for word in aliases())


def test_requests_that_have_begun_are_answered_before_it_ends(tmp_path):
    vault = made(tmp_path)
    with served(vault.service) as site:
        begun = time.monotonic()
        assert site.ask("GET", "/v1/health").status == 200
    assert time.monotonic() - begun < 20
