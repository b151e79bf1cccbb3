"""The tutorial is true: every step of it, one after the other, gives what stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str, str]]:
    """What is done: the kind of a block, the code or the command line, and what it is said to print."""
    found = []
    for kind, text in FENCE.findall(TUTORIAL.read_text(encoding="utf-8")):
        if kind != "console":
            found.append((kind, text, ""))
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            found.append((kind, line, output))
    return found


def printed(line: str, call) -> str:
    command, *arguments = shlex.split(line)
    if command != "shoal":
        return subprocess.run([command, *arguments], capture_output=True, text=True, check=True).stdout
    status, out, err = call(*arguments)
    assert (status, err) == (0, ""), line
    return out


def test_every_step_gives_what_is_said(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    recipe = tmp_path / "recipe.toml"
    for kind, code, wanted in steps():
        if kind == "python":
            exec(compile(code, str(TUTORIAL), "exec", dont_inherit=True), {"__name__": "example"})
        elif kind == "toml":
            recipe.write_text(f"{recipe.read_text(encoding='utf-8')}\n{code}", encoding="utf-8")
        elif kind == "text":
            assert code in recipe.read_text(encoding="utf-8")
        else:
            got = printed(code, call)
            same = OutputChecker().check_output(wanted, got, ELLIPSIS | NORMALIZE_WHITESPACE)
            assert same, f"{code} prints now:\n{got}"
    written = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("release", "release-python")]
    assert written[0] == written[1] == ["manifest.json", "table.csv"]
    assert "alpha" in (tmp_path / "release" / "manifest.json").read_text(encoding="utf-8")


def test_every_kind_of_step_is_there():
    assert {kind for kind, _, _ in steps()} == {"python", "console", "toml", "text"}
    told = [code.split()[1] for kind, code, _ in steps() if kind == "console" and code.startswith("shoal")]
    assert told == ["init", "run", "verify", "measure", "report"]
