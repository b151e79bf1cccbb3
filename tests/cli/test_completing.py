"""What the Tab key offers."""

from __future__ import annotations

import pytest

from shoal.cli import app
from shoal.registry.declared import METHOD_CLASSES
from support.small_recipe import CANARY, RECIPE, TABLE


@pytest.fixture
def offered(tmp_path, monkeypatch, call):
    """What is offered for the last word of a line, as a shell asks for it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "torn.toml").write_text("[columns")

    def ask(line: str) -> list[str]:
        with monkeypatch.context() as shell:
            shell.setenv("_SHOAL_COMPLETE", "complete_bash")
            shell.setenv("COMP_WORDS", line)
            shell.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
            status, out, err = call()
        assert (status, err) == (0, "")
        assert CANARY not in out
        return out.split()

    return ask


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("shoal do", ["doctor"]),
        ("shoal methods mo", ["mondrian"]),
        ("shoal publishers al", ["aliases"]),
        ("shoal run recipe.toml --publish agg", ["aggregate"]),
        ("shoal run recipe.toml --k 5 --require l-", ["l-diversity"]),
        ("shoal compare recipe.toml --method mdav,mo", ["mdav,mondrian"]),
        ("shoal compare recipe.toml --target dis", ["disease"]),
        ("shoal run people.csv --quasi age,to", ["age,town"]),
        ("shoal run torn.toml --quasi a", []),
    ],
)
def test_names(offered, line, names):
    assert offered(line) == names


def test_all_methods(offered):
    assert offered("shoal methods ") == list(METHOD_CLASSES)


def test_the_script_for_a_shell(call, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    monkeypatch.setattr(app, "_commands", app._commands.__wrapped__)  # typer reads it where commands are put together
    status, out, _ = call("--show-completion", "bash")
    assert status == 0
    assert "_SHOAL_COMPLETE=complete_bash" in out
