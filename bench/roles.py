"""How often `shoal init` proposes the right role, kind and hierarchy, on a labelled set of columns.

    python bench/roles.py            # the score; fails below the bounds
    python bench/roles.py --misses   # and every miss outside the third that is held out

A wrong role leaks where the column names a person, or says whose row it is: there 95 % must be right, elsewhere 85 %.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labels import Label, everything
from shoal.table.profile.described import ColumnProfile
from shoal.table.profile.profile import profile

LEAKS, ELSEWHERE = 0.95, 0.85
HIDDEN = frozenset({"identifying", "person"})


@dataclass(frozen=True)
class Scored:
    """One column, its right answers, and what is proposed for it."""

    label: Label
    proposed: ColumnProfile

    @property
    def leaks(self) -> bool:
        """Whether a wrong role of this column would publish who somebody is."""
        return self.label.role <= HIDDEN

    @property
    def role(self) -> bool:
        return self.proposed.role in self.label.role

    @property
    def as_days(self) -> bool:
        """Whether dates are shown as runs of days of a calendar, which is as right as a tree of dates."""
        return "dates" in self.label.hierarchy and self.proposed.days is not None

    @property
    def kind(self) -> bool | None:
        """Whether the kind is right; None where there is none to be had."""
        if self.label.kind <= {""}:
            return None
        return self.as_days or (self.proposed.kind or "") in self.label.kind

    @property
    def hierarchy(self) -> bool | None:
        if self.label.kind <= {""}:
            return None
        if not self.proposed.kind:
            return "" in self.label.kind
        rule = self.proposed.hierarchy
        return self.as_days or ("none" if rule is None else rule.name) in self.label.hierarchy


def scored() -> list[Scored]:
    """Every labelled column with what is proposed for it."""
    found = []
    for frame, labels in everything():
        proposed = {column.name: column for column in profile(frame).columns}
        found += [Scored(label, proposed[label.column]) for label in labels]
    return found


def share(answers: Iterable[bool | None]) -> tuple[int, int]:
    """How many of those that can be right are."""
    given = [answer for answer in answers if answer is not None]
    return sum(given), len(given)


def figures(columns: Sequence[Scored]) -> dict[str, tuple[int, int]]:
    """Right answers and answers, by what is asked."""
    return {
        "role, where a wrong one leaks": share(one.role for one in columns if one.leaks),
        "role, elsewhere": share(one.role for one in columns if not one.leaks),
        "kind": share(one.kind for one in columns),
        "hierarchy": share(one.hierarchy for one in columns),
    }


def misses(columns: Iterable[Scored]) -> Iterable[str]:
    """What went wrong, in one line each."""
    for one in columns:
        wrong = [word for word in ("role", "kind", "hierarchy") if getattr(one, word) is False]
        if wrong:
            rule = one.proposed.hierarchy
            got = f"{one.proposed.role} {one.proposed.kind} {rule.name if rule else 'none'}"
            want = " ".join("/".join(sorted(part)) for part in (one.label.role, one.label.kind, one.label.hierarchy))
            yield f"{','.join(wrong):22} {one.label.table}.{one.label.column}: {got}, not {want}: {one.proposed.reason}"


def main(arguments: list[str]) -> int:
    columns = scored()
    parts = {
        "looked at": [one for one in columns if not one.label.held_out],
        "held out": [one for one in columns if one.label.held_out],
        "codebooks, held out": [one for one in columns if one.label.held_out and one.label.codebook],
        "registers, held out": [one for one in columns if one.label.fresh],
        "all": columns,
    }
    if "--misses" in arguments:
        print("\n".join(misses(parts["looked at"])))
    print(f"{'proposals of init':34}" + "".join(f"{f'{name} ({len(part)})':>25}" for name, part in parts.items()))
    rows = {name: figures(part) for name, part in parts.items()}
    for asked in rows["all"]:
        cells = (f"{right}/{given} {right / given:.1%}" for right, given in (row[asked] for row in rows.values()))
        print(f"{asked:34}" + "".join(f"{cell:>25}" for cell in cells))
    leaked = [one for one in columns if one.leaks and one.proposed.role not in HIDDEN]
    dropped = [one for one in columns if not one.label.role & HIDDEN and one.proposed.role in HIDDEN]
    print(f"names a person, proposed for publication: {len(leaked)}; dropped, though it names nobody: {len(dropped)}")
    low = [
        asked
        for asked, bound in zip(rows["all"], (LEAKS, ELSEWHERE, ELSEWHERE, ELSEWHERE), strict=True)
        if rows["all"][asked][0] < bound * rows["all"][asked][1]
    ]
    for asked in low:
        print(f"below its bound: {asked}")
    return 1 if low else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
