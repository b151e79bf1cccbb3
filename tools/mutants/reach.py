"""Which tests run which lines, and which of them to try first."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutants.drawn import Mutant, tree


@dataclass
class Reach:
    """Which tests run which lines of the rooms, and how long they take."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, set[str]]]

    @classmethod
    def read(cls, files: Iterable[Path]) -> Reach:
        """What was recorded of each test file; tests that do not pass are of no use."""
        seconds: dict[str, float] = {}
        lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for file in files:
            found = json.loads(file.read_text())
            failed = set(found["not_passed"])
            seconds |= {name: took for name, took in found["seconds"].items() if name not in failed}
            for name, by_line in found["lines"].items():
                for line, tests in by_line.items():
                    lines[name][int(line)] |= set(tests) - failed
        return cls(seconds, lines)

    def tests(self, mutant: Mutant) -> set[str]:
        """Tests that run the statement that is changed; for what runs on import, all of the file and of the room."""
        first, last = statement(mutant)
        lines = self.lines.get(mutant.file, {})
        found = set().union(*(lines.get(line, set()) for line in range(first, last + 1)))
        if "" in found:
            found = set().union(*lines.values(), (name for name in self.seconds if f"/{mutant.room}/" in name))
        shared = {name for name in found if name and "::" not in name}
        return {name for name in self.seconds if name in found or name.split("::")[0] in shared}

    def ordered(self, mutant: Mutant, tests: set[str], limit: float, *, near: bool) -> list[str]:
        """The quickest tests up to a time, if wanted those of the file and the room before others; file by file."""
        own, mirror = f"/{mutant.room}/", f"/test_{Path(mutant.file).name}"

        def distance(name: str) -> int:
            return 0 if not near or mirror in name else 1 if own in name else 2

        total, kept, took = 0.0, list[str](), defaultdict[str, float](float)
        for name in sorted(tests, key=lambda name: (distance(name), self.seconds[name], name)):
            total += self.seconds[name]
            if total <= limit or not kept:
                kept.append(name)
                took[name.split("::")[0]] += self.seconds[name]
        # A file at a time, or fixtures that tests share would be made again and again.
        return sorted(
            kept, key=lambda name: (distance(name), took[(file := name.split("::")[0])], file, self.seconds[name], name)
        )


def statement(mutant: Mutant) -> tuple[int, int]:
    """First and last line of the smallest statement that holds the change; of a compound one its head."""
    first, last = mutant.start[0], mutant.end[0]
    for node in ast.walk(tree(mutant.file)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if body else node.end_lineno
        begin = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        if begin <= mutant.start[0] <= max(end or begin, begin):
            first, last = begin, max(end or begin, begin)
    return first, last
