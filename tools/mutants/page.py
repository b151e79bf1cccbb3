"""The page that lists the survivors, and the table that is printed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from mutants.drawn import ROOMS, ROOT, Mutant
from mutants.trying import say

PAGE = ROOT / "tests" / "mutants.md"
NO_REASON = "**No reason yet.**"
ENTRY = re.compile(r"^- `([^`]*)`: `([^`]*)` becomes `([^`]*)`\.\n  (.*(?:\n  .*)*)", re.MULTILINE)


def reasons() -> dict[tuple[str, str, str, str], str]:
    """The reasons that the page gives, by file, function and change."""
    found = {}
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    for section in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        file = section.split("`")[1]
        for function, before, after, reason in ENTRY.findall(section):
            found[file, function, before, after] = reason
    return found


def entry(mutant: Mutant) -> tuple[str, str, str, str]:
    """What the page calls a mutant."""
    return mutant.file, mutant.function, *mutant.change


def page(killers: dict[Mutant, str], known: dict[tuple[str, str, str, str], str], n_all: int) -> str:
    """The page: shares, and the survivors with their reasons."""
    rows = [row(room, [one for one in killers if one.room == room], killers) for room in ROOMS]
    lines = [
        "# Mutants", "",
        "`make mutants` writes this page. It changes one small thing in the code, such as `<` for `<=`, and runs the",
        "tests that reach it. A mutant is killed if one of them fails. Below are those that survived, and why they do",
        "no harm. A reason is written by hand, under its mutant; it is kept when the page is written anew.", "",
        f"{len(killers)} mutants were drawn by lot, always the same ones, out of {n_all} that Cosmic Ray has for these",
        "files. Annotations, texts for humans, `strict=` and `frozen=` are left out, and so are kernels: a change",
        "there has all of them compiled anew. Their twins in plain Python (`tests/twins/`) look after them.", "",
        "| room | mutants | killed | survived | share |", "|---|---|---|---|---|",
        *("| " + " | ".join(cells) + " |" for cells in [*rows, row("all", killers, killers)]), "",
        "## Survivors", "",
    ]  # fmt: skip
    by_file: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in sorted((one for one, found in killers.items() if not found), key=lambda one: one.place):
        by_file[mutant.file].append(mutant)
    for file, ones in by_file.items():
        lines += [f"### `{file}`", ""]
        for mutant in ones:
            _, function, before, after = entry(mutant)
            lines += [f"- `{function}`: `{before}` becomes `{after}`.", f"  {known.get(entry(mutant), NO_REASON)}"]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def row(name: str, ones: Iterable[Mutant], killers: dict[Mutant, str]) -> tuple[str, ...]:
    """How many mutants there are of a kind, and what became of them."""
    fates = [bool(killers[mutant]) for mutant in ones]
    share = f"{sum(fates) / len(fates):.1%}" if fates else "-"
    return name, str(len(fates)), str(sum(fates)), str(len(fates) - sum(fates)), share


def report(killers: dict[Mutant, str]) -> None:
    """Print a table: per file, per room and in all."""
    files = sorted({mutant.file for mutant in killers})
    rows = [row(file, [one for one in killers if one.file == file], killers) for file in files]
    rows += [row(room, [one for one in killers if one.room == room], killers) for room in ROOMS]
    for name, *cells in [("", "mutants", "killed", "survived", "share"), *rows, row("all", killers, killers)]:
        say(f"{name:<46}" + "".join(f"{cell:>10}" for cell in cells))
