"""What a steward relies on: grants for one operation, counts of what there is, examples that can be used."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
import typer
import yaml

from shoal.cli.vault import DATABASE, KEY_FILE
from shoal.cli.vault import vault as commands
from shoal.mining.rules import Rule
from shoal.vault import people
from shoal.vault.database import PASSWORD_FILE, address
from shoal.vault.refusals import NotAllowedError
from support.vaults import PATIENTS, STEWARD, made, town_rule


def test_a_grant_for_another_operation_is_refused_and_noted(tmp_path):
    vault = made(tmp_path, name=PATIENTS)
    vault.grant(budget=1, operation="values")
    before = vault.entries()
    with pytest.raises(NotAllowedError, match="is not allowed"):
        vault.service.interpret(vault.person(), PATIENTS, [Rule.from_text(town_rule(0))])
    assert vault.entries() == before + 1
    vault.service.database.close()


def test_people_who_were_removed_and_grants_that_were_revoked_are_not_counted(tmp_path):
    vault = made(tmp_path, name=PATIENTS)
    vault.add("eva")
    for name in ("ada", "eva"):
        vault.grant(name, budget=2)
    counted = ("releases", "people", "grants", "suspended_grants")
    assert [vault.service.status()[name] for name in counted] == [1, 3, 2, 0]
    with vault.service.changing() as ledger:
        people.remove_person(ledger, STEWARD, "eva")
    assert [vault.service.status()[name] for name in counted] == [1, 2, 1, 0]
    with vault.service.changing() as ledger:
        people.renew_token(ledger, STEWARD, "eva")  # she is back, her grant is not
    assert [vault.service.status()[name] for name in counted] == [1, 3, 1, 0]
    vault.service.database.close()


# -- examples ---------------------------------------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / "examples" / "vault"
VARIABLES = {DATABASE, KEY_FILE, PASSWORD_FILE}
SECRET = re.compile(r"(?i)(password|passwd|secret|token|key)[^:=]*[:=]\s*[\"']?(?!/|\s|$)[^\s\"'/{\[]")


def check_command(words: list[str]) -> None:
    """See that a command is one of ours, with flags that it has."""
    known = typer.main.get_command(commands).commands[words[0]]
    flags = {flag for one in known.params for flag in one.opts}
    assert {word for word in words if word.startswith("--")} <= flags


def unit() -> ConfigParser:
    found = ConfigParser(interpolation=None, strict=False, delimiters=("=",))
    found.optionxform = str
    text = (EXAMPLES / "shoal-vault.service").read_text(encoding="utf-8")
    numbers = iter(range(100))  # a key may be there several times
    found.read_string(re.sub(r"(?m)^Environment=", lambda _: f"Environment{next(numbers)}=", text))
    return found


def test_the_unit_of_systemd_runs_a_command_of_ours_and_keeps_the_rest_of_the_machine_out():
    service = unit()["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert (Path(program).name, words[0]) == ("shoal", "vault")
    check_command(words[1:])
    given = {value.partition("=")[0] for name, value in service.items() if name.startswith("Environment")}
    assert given <= VARIABLES
    for name, value in {
        "NoNewPrivileges": "true", "ProtectSystem": "strict", "CapabilityBoundingSet": "", "UMask": "0077",
        "StateDirectoryMode": "0700", "LimitCORE": "0", "ProtectClock": "true",
    }.items():  # fmt: skip
        assert service[name] == value, name
    assert service["User"] != "root"


@pytest.mark.parametrize("there", [True, False], ids=["installed", "not installed"])
def test_systemd_takes_the_unit(tmp_path, there):
    """Where its tool is at hand; it may miss the program of the unit, and nothing else."""
    tool = shutil.which("systemd-analyze")
    if tool is None:
        return
    text = (EXAMPLES / "shoal-vault.service").read_text(encoding="utf-8")
    (tmp_path / "shoal-vault.service").write_text(text.replace("/opt/shoal/bin/shoal", "/bin/true") if there else text)
    line = [tool, "verify", "--man=no", str(tmp_path / "shoal-vault.service")]
    found = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    said = [one for one in (found.stdout + found.stderr).splitlines() if "shoal-vault" in one]
    missing = "Command /opt/shoal/bin/shoal is not executable"
    assert [one for one in said if missing not in one] == []
    assert found.returncode == 0 or not there


def test_the_compose_file_has_all_that_a_vault_needs_and_no_secret():
    text = (EXAMPLES / "compose.yaml").read_text(encoding="utf-8")
    made = yaml.safe_load(text)
    assert set(made) == {"services", "secrets", "volumes"}
    assert set(made["services"]) == {"database", "vault"}
    for service in made["services"].values():
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
        assert set(service["secrets"]) <= set(made["secrets"])
        volumes = {one.partition(":")[0] for one in service["volumes"]}
        assert volumes <= set(made["volumes"])
        assert service["restart"] == "unless-stopped"
    data, keys = (made["services"][name]["volumes"] for name in ("database", "vault"))
    assert data != keys, "the master key must not lie beside the database"
    assert all(set(one) == {"file"} for one in made["secrets"].values())
    assert not [line for line in text.splitlines() if not line.startswith("#") and SECRET.search(line)]


def test_the_secret_finder_finds_secrets():
    for line in ("POSTGRES_PASSWORD: hunter2", "  token: 'shoal_x'", "SHOAL_VAULT_KEY: AAAA=", "password=x"):
        assert SECRET.search(line), line


def test_the_container_of_the_vault_is_closed_and_runs_commands_of_ours():
    service = yaml.safe_load((EXAMPLES / "compose.yaml").read_text(encoding="utf-8"))["services"]["vault"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert set(service["environment"]) <= VARIABLES
    assert service["depends_on"]["database"]["condition"] == "service_healthy"
    assert address(service["environment"][DATABASE]).password is None
    ast.parse(service["healthcheck"]["test"][-1])
    docker = (EXAMPLES / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"(?m)^USER (?!root)", docker)
    check_command(ast.literal_eval(re.search(r"(?m)^CMD (.*)$", docker)[1]))
    secrets = {f"/run/secrets/{one}" for one in service["secrets"]}
    assert set(re.findall(r"/run/secrets/\w+", docker)) <= secrets
    assert str(Path(service["environment"][KEY_FILE]).parent) in {one.partition(":")[2] for one in service["volumes"]}
