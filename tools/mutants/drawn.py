"""Which changes there are of a file, and which of them are drawn."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).parents[2]
ROOMS = ("check", "privacy", "enforce")
OPERATORS = re.compile(
    r"core/(NumberReplacer|AddNot|ZeroIterationForLoop|RemoveDecorator|ExceptionReplacer|ReplaceTrueWithFalse"
    r"|ReplaceFalseWithTrue|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceBreakWithContinue|ReplaceContinueWithBreak"
    r"|ReplaceComparisonOperator_(Is_IsNot|IsNot_Is|Eq_NotEq|NotEq_Eq|Lt_LtE|Lt_GtE|Gt_GtE|Gt_LtE|LtE_Lt|LtE_Gt"
    r"|GtE_Gt|GtE_Lt)"
    r"|ReplaceUnaryOperator_Delete_[A-Za-z]+"
    r"|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Mul_Add|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul|LShift_RShift"
    r"|RShift_LShift|BitOr_BitAnd|BitAnd_BitOr|BitXor_BitOr))"
)
"""Mistakes that somebody could make. That `<<` stands for `+` is found by any test, and would only flatter them."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    file: str
    function: str
    operator: str
    occurrence: int
    start: tuple[int, int]
    end: tuple[int, int]

    @cached_property
    def code(self) -> str:
        """The changed file."""
        changed = mutate_code(source(self.file), get_operator(self.operator)(), self.occurrence)
        assert changed is not None, self  # noqa: S101
        return str(changed)

    @cached_property
    def change(self) -> tuple[str, str]:
        """The changed lines, before and after."""
        before, after = source(self.file).splitlines(), self.code.splitlines()
        same = next(at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
        until = next(at for at, pair in enumerate(zip(before[::-1], after[::-1], strict=False)) if len(set(pair)) > 1)
        gone = before[same : max(len(before) - until, same)], after[same : max(len(after) - until, same)]
        before_after = [" ".join(" ".join(lines).split()) or "nothing" for lines in gone]
        return before_after[0], before_after[1]

    @property
    def digest(self) -> str:
        """What tells it from all others, as long as the file stays the same."""
        return hashlib.sha256(f"{self.file}\n{self.code}".encode()).hexdigest()[:16]

    @property
    def room(self) -> str:
        """The room that the file is in."""
        return Path(self.file).parts[2]

    @property
    def place(self) -> tuple[str, tuple[int, int], tuple[int, int]]:
        """What is changed, whatever becomes of it."""
        return self.file, self.start, self.end

    def draw(self, *more: object) -> str:
        """Its place in a draw, which changes elsewhere leave as it is."""
        line = source(self.file).splitlines()[self.start[0] - 1]
        return hashlib.sha256(repr((self.file, self.function, line, self.start[1], *more)).encode()).hexdigest()


@cache
def source(file: str) -> str:
    """The text of a file."""
    return (ROOT / file).read_text(encoding="utf-8")


@cache
def tree(file: str) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(source(file))


def mutants(files: Sequence[str]) -> Iterator[Mutant]:
    """All mutants of some files whose code runs and decides something."""
    for file in files:
        left_out = list(spans(file))
        for item in _all_work_items([ROOT / file], {}):
            (one,) = item.mutations
            inside = any(start <= tuple(one.start_pos) and tuple(one.end_pos) <= end for start, end in left_out)
            if OPERATORS.fullmatch(one.operator_name) and not inside:
                yield Mutant(
                    file, str(one.definition_name or "the file"), one.operator_name, one.occurrence,
                    tuple(one.start_pos), tuple(one.end_pos),
                )  # fmt: skip


def spans(file: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Where code is not for running, or only says something to a human."""
    for node in ast.walk(tree(file)):
        for part in not_run(node):
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)
        if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs:  # the star that names stand behind
            first = node.args.kwonlyargs[0]
            yield (node.lineno, node.col_offset), (first.lineno, first.col_offset)


def not_run(node: ast.AST) -> Iterator[Any]:
    """Parts of a node that are left alone: annotations, texts of errors, what bears on speed or on our own mistakes."""
    match node:
        case ast.arg(annotation=annotation) if annotation is not None:
            yield annotation
        case ast.FunctionDef(returns=returns, decorator_list=decorators):
            yield from filter(None, [returns])
            yield from (one for one in decorators if ast.unparse(one) in ("cache", "abstractmethod", "override"))
        case ast.AnnAssign(annotation=annotation):
            yield node if "ClassVar[str" in ast.unparse(annotation) else annotation
        case ast.Raise(exc=exc) if exc is not None:
            yield exc
        case ast.Call(func=func, args=args, keywords=keywords):
            name = ast.unparse(func)
            if name.endswith((".add", "Problem")):
                yield from args[-2:]
            # zip(strict=) and dataclass(frozen=) fail where we made a mistake.
            yield from (one for one in keywords if one.arg in ("strict", "frozen"))


def sample(found: Iterable[Mutant], n: int) -> list[Mutant]:
    """One mutant each of n places, drawn by lot but always the same ones."""
    places: dict[Any, list[Mutant]] = defaultdict(list)
    for mutant in found:
        places[mutant.place].append(mutant)
    drawn = sorted(places.values(), key=lambda ones: ones[0].draw())[:n]
    chosen = (min(ones, key=lambda one: one.draw(one.operator, one.occurrence % 2)) for ones in drawn)
    return sorted(chosen, key=lambda one: one.place)
