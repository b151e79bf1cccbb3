"""Names: none of a person or a release is taken for another."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import ParameterError, Problems
from shoal.vault import people
from shoal.vault.names import check_name, is_like
from support.vaults import STEWARD, made, patients, release, served

NAME = "José Öl 10"
ALIKE = {
    "case": "JOSÉ ÖL 10",
    "blanks": "José  Öl 10",
    "two letters for one": "José Öl lO",
    "another alphabet": "José Öl 1О",
}
WRONG = {
    "nothing": "", "a blank before": " ada", "a blank after": "ada ", "a blank that does not break": "ada\u00a0b",
    "a line": "ada\nb", "a control": "ada\x07", "NUL": "ada\x00", "a tab": "ada\tb",
    "right to left": "ada\u202eb", "an isolate": "\u2066ada\u2069", "a mark of direction": "ada\u200f",
    "no width": "a\u200bda", "a joiner": "a\u200dda", "a soft hyphen": "a\u00adda", "a byte order mark": "\ufeffada",
    "a filler": "ada\u3164", "a half filler": "ada\uffa0", "a selector": "ada\ufe0f", "a grapheme joiner": "a\u034fda",
    "no letter of braille": "ada\u2800", "a tag": "ada\U000e0061", "half a pair": "ada\ud800",
    "not assigned": "ada\u0378",
    "accents apart": "Jose\u0301", "wide letters": "ａｄａ", "letters of mathematics": "𝐚𝐝𝐚", "a ligature": "ﬁnn",
    "two alphabets": "аda", "three": "adaΑа", "too many": "a" * 101,
}  # fmt: skip
PLAIN = (
    "ada", "Ada Lovelace", "O’Neill-Smith, J.", "José", "Žofie", "Łukasz", "Ада", "Μαρία", "李小龍", "たなか さん",
    "علي", "Ada Ада", "x" * 100, "<b>&amp;</b>", "ß", "İpek Işıl",
)  # fmt: skip


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    found = made(tmp_path_factory.mktemp("vault"))
    yield found
    found.service.database.close()


@pytest.mark.parametrize("name", WRONG.values(), ids=WRONG)
def test_names_that_cannot_be_read_are_refused(vault, name):
    before = vault.entries()
    for adding in (_add, _add_release):
        with pytest.raises(ParameterError, match=r"can be seen|stand for others"):
            adding(vault, name)
    assert vault.entries() == before


def _add(vault, name):
    with vault.service.changing() as ledger:
        people.add_person(ledger, STEWARD, name, "researcher", None)


def _add_release(vault, name):
    given = patients()
    vault.service.add_release(STEWARD, name, given, given.key, min_support=0.1, min_confidence=0.5)


@pytest.mark.parametrize("name", PLAIN)
def test_names_of_many_languages_are_taken(name):
    problems = Problems()
    check_name(name, "name", problems)
    problems.raise_if_any(ParameterError)
    assert not is_like(name, [one for one in PLAIN if one != name])


@pytest.mark.parametrize("name", ["Shoal", "ＳＨＯＡＬ", "sh0al", "UNKNOWN", "unkn0wn", "Command Line: root", "ѕhоаl"])
def test_names_of_the_log_itself_are_refused(vault, name):
    with pytest.raises(ParameterError, match="the audit log uses"):
        _add(vault, name)


def test_names_that_look_alike_are_refused_even_if_the_first_was_removed(vault):
    vault.add(NAME)
    for removed in (False, True):
        if removed:
            with vault.service.changing() as ledger:
                people.remove_person(ledger, STEWARD, NAME)
        before = vault.entries()
        for name in ALIKE.values():
            with pytest.raises(ParameterError, match="looks like the name of somebody who is there, or was"):
                _add(vault, name)
        with pytest.raises(ParameterError, match="somebody has this name already"):
            _add(vault, NAME)
        assert vault.entries() == before
    vault.add("José Öl 11")


PAIRS = (
    ("Straße", "STRASSE"), ("ΟΔΟΣ", "οδος"), ("Сара", "Capa"), ("Iris", "lris"), ("Ӏrene", "Irene"), ("ﬁ", "FI"),
    ("Ann 0", "Ann O"), ("Ann Lee", "ann\u00a0lee"), ("Jose\u0301", "José"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_looks_alike(one, other):
    assert is_like(one, [other])
    assert is_like(other, ["nobody", one])
    assert not is_like(one, ["nobody"])


def test_releases_that_look_alike_are_refused(vault):
    for name in ("Clinic", "CLINIC", "c1inic", "cIinic"):
        with pytest.raises(ParameterError, match="looks like the name of another release"):
            _add_release(vault, name)
    with pytest.raises(shoal.ParameterError, match="has this release, or one of that name"):
        vault.service.add_release(STEWARD, "other", release(), release().key, min_support=0.1, min_confidence=0.5)


def test_a_server_refuses_them_too(vault):
    with served(vault.service) as site:
        told = site.ask("POST", "/v1/people", vault.tokens[STEWARD], {"name": "ADA"})
        assert told.status == 422
        assert told.json["problems"][0]["where"] == "name"
        assert "looks like the name of somebody" in told.json["problems"][0]["what"]
