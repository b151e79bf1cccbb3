"""The interface asked by a program that reads its description and tries everything: no error of the server."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable

from shoal.vault.app import create
from support.pairwise import examples
from support.vaults import made, served

LEFT_OUT = "/v1/seal"
"""It ends the trial."""


@pytest.fixture(scope="module")
def requests(tmp_path_factory):
    """Requests for every operation, as it is described and otherwise; drawn once, and sent by everybody."""
    import schemathesis  # takes long to load, here and below

    vault = made(tmp_path_factory.mktemp("described"))
    described = schemathesis.openapi.from_dict(create(vault.service)._app.openapi())
    vault.service.database.close()
    operations = [one for one in (each.ok() for each in described.get_all_operations()) if one.path != LEFT_OUT]
    found = [case for one in operations for case in drawn(one, schemathesis.GenerationMode)]
    assert len(operations) > 15
    assert {one.label for one in operations} == {case.operation.label for case in found}
    return found


def drawn(operation, modes) -> list:
    """Some requests for an operation."""
    found = []
    for mode in modes:

        @seed(1)
        @settings(
            max_examples=examples(12) // 2, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode))
        def draw(case):
            found.append(case)

        with suppress(Unsatisfiable):  # nothing can be wrong where nothing is asked for
            draw()
    return found


@pytest.mark.parametrize("who", ["sue", "ada", None])
def test_no_request_makes_the_server_fail(tmp_path, who, requests):
    from requests import Session
    from schemathesis.checks import not_a_server_error

    vault = made(tmp_path)
    vault.grant()
    given = {} if who is None else {"Authorization": f"Bearer {vault.tokens[who]}"}
    with served(vault.service) as site, Session() as session:  # one connection for all requests
        for case in requests:
            answer = case.call(base_url=site.url, headers=given, session=session)
            case.validate_response(answer, checks=[not_a_server_error])
        assert site.ask("GET", "/v1/health").status == 200
    assert vault.service.verify_audit().whole
    if who != "ada":
        assert vault.service.allowances(vault.person())[0]["learnt"] == 0
    vault.service.database.close()
