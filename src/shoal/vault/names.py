"""Names of people and releases: each can be printed, and none is taken for another.

Who grants something by a name must not grant it to somebody whose name merely looks the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from shoal.errors import ParameterError, Problems

RESERVED, COMMAND_LINE = ("shoal", "unknown"), "command line:"
"""Who acts in the audit log besides people."""
LONGEST = 100
ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
"""Alphabets whose letters look like those of another: a word has letters of one of them."""
INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10),
              0xFFA0, *range(0xE0100, 0xE01F0)))
)  # fmt: skip
"""Characters that are no controls and show nothing all the same."""
ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеорсухіјѕһԁԛԝӏӀ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαινορυ" "ı01|I",
    "ABESlJKMHOPCTXYaeopcyxijshdqwll" "ABEZHlKMNOPTYXaivopu" "iOlll",
)  # fmt: skip
"""Cyrillic and Greek letters, and digits, by the Latin letters that look the same."""


def check_name(name: str, where: str, problems: Problems) -> None:
    """Note a name that cannot be shown or told apart, or that the audit log uses for others."""
    if not name or len(name) > LONGEST or not name.isprintable() or name != name.strip() or INVISIBLE & set(name):
        what = f"needs 1 to {LONGEST} letters that can be seen, and no blank before or after them"
        problems.add(where, what, "choose another name", error=ParameterError)
    elif name != unicodedata.normalize("NFKC", name) or any(map(_is_mixed, name.split())):
        what = "has letters that stand for others, or a word with letters of two alphabets"
        problems.add(where, what, "write it with plain letters", error=ParameterError)
    shown = looks_of(name)
    if any(one in shown for one in RESERVED) or any(one.startswith(COMMAND_LINE) for one in shown):
        problems.add(where, "is a name that the audit log uses", "choose another name", error=ParameterError)


def is_like(name: str, others: Iterable[str]) -> bool:
    """Whether a name could be taken for one of others."""
    shown = looks_of(name)
    return any(shown & looks_of(other) for other in others)


def looks_of(name: str) -> frozenset[str]:
    """What a name is compared by: its letters whatever their case, and what they look like."""
    plain = " ".join(unicodedata.normalize("NFKC", name).split())
    return frozenset(unicodedata.normalize("NFKC", one.casefold()) for one in (plain, plain.translate(ALIKE)))


def _is_mixed(word: str) -> bool:
    """Whether a word has letters of two alphabets that look alike."""
    return len({unicodedata.name(letter, "").partition(" ")[0] for letter in word} & set(ALPHABETS)) > 1
