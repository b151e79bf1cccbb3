"""Manifests tampered with, entry by entry and letter by letter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from attacks.mutants import Mutant, entries_of, json_bytes, replaced
from attacks.victims import Files, Victim
from shoal.release.manifest import FILE

SECRET = "Alice has HIV"
Path = tuple[Any, ...]


def named(path: Path) -> str:
    """A place in a manifest as text."""
    return ".".join(map(str, path)) or "root"


def places(entry: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place of a manifest and what stands there."""
    yield path, entry
    parts = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


# -- entry by entry --------------------------------------------------------------------------------------------------


def other_values(entry: Any) -> Iterator[tuple[str, Any]]:
    """What could be written instead of an entry, each with a word for it."""
    if isinstance(entry, bool):
        yield from (("flipped", not entry), ("number", int(entry)), ("text", str(entry).lower()))
    elif isinstance(entry, (int, float)):
        yield from (("more", entry + 1), ("less", entry - 1), ("text", str(entry)), ("negative", -entry - 1))
        yield "retyped", float(entry) if isinstance(entry, int) else int(entry) if entry == int(entry) else entry / 2
        yield "huge", 10**400
        yield "minus zero", -0.0
    elif isinstance(entry, str):
        yield from (("secret", SECRET), ("longer", f"{entry} "), ("empty", ""), ("number", 5), ("upper", entry.upper()))
        yield "invisible", f"{entry}\u200b"
    elif isinstance(entry, list):
        yield from (("with a secret", [*entry, SECRET]), ("with nothing", [*entry, None]), ("mapped", {"": entry}))
        if entry:
            yield from (("shorter", entry[:-1]), ("doubled", [*entry, entry[-1]]), ("none", []))
            yield "reversed", entry[::-1]
            yield "rotated", [*entry[1:], entry[0]]
    elif isinstance(entry, dict):
        yield from (("with a secret", {**entry, "note": SECRET}), ("with no name", {**entry, "": ""}))
        yield from (("with the name", {**entry, "name": SECRET}), ("listed", [entry]), ("none", {}))
        yield "reversed", dict(reversed(entry.items()))
        for key in entry:
            yield f"without {key}", {name: part for name, part in entry.items() if name != key}
    else:
        yield from (("false", False), ("zero", 0), ("secret", SECRET), ("list", []), ("mapped", {}))
    if entry is not None:
        yield "null", None


def entry_mutants(victim: Victim) -> Iterator[Mutant]:
    """Every place of the manifest with everything that could be written there instead."""
    entries = entries_of(victim.files)
    for path, entry in places(entries):
        for word, other in other_values(entry):
            if json.dumps(other) == json.dumps(entry):
                continue
            yield Mutant(f"entry {named(path)} {word}", partial(_with_entry, victim, path, other))


def _with_entry(victim: Victim, path: Path, other: Any) -> Files:
    entries = replaced(entries_of(victim.files), path, other) if path else other
    return {**victim.files, FILE: json_bytes(entries)}


# -- letter by letter ------------------------------------------------------------------------------------------------

Rewrite = Callable[[str], str]


def first(pattern: str, new: str) -> Rewrite:
    """A text with the first match of a pattern replaced."""
    return lambda text: re.sub(pattern, new, text, count=1)


def last(old: str, new: str) -> Rewrite:
    """A text with the last occurrence of something replaced."""
    return lambda text: new.join(text.rsplit(old, 1))


SPELLINGS: dict[str, Rewrite] = {
    "in one line": lambda text: json.dumps(json.loads(text)),
    "without line end": lambda text: text[:-1],
    "two line ends": lambda text: f"{text}\n",
    "a space at the end": lambda text: f"{text} ",
    "a space before": lambda text: f" {text}",
    "byte order mark": lambda text: f"\ufeff{text}",
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "one carriage return": lambda text: text.replace("\n", "\r\n", 1),
    "tabs": lambda text: text.replace("  ", "\t"),
    "indent of three": lambda text: json.dumps(json.loads(text), indent=3, ensure_ascii=False) + "\n",
    "one space more": first(": ", ":  "),
    "one space less": first(": ", ":"),
    "space before a comma": first(",\n", " ,\n"),
    "blank line": first("\n", "\n\n"),
    "keys sorted": lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True) + "\n",
    "escaped key of all letters": lambda text: text.replace(
        '"rows"', "".join(['"', *map("\\u{:04x}".format, b"rows"), '"'])
    ),
    "escaped letter": first('"name": "t', r'"name": "\\u0074'),
    "escaped key": first('"rows"', r'"\\u0072ows"'),
    "escaped slash": first('"shoal": "', r'"shoal": "\\/'),
    "lone surrogate": first('"shoal": "', r'"shoal": "\\ud800'),
    "zero byte": first('"shoal": "', r'"shoal": "\\u0000'),
    "number with a point": first(r'("published": \d+)', r"\1.0"),
    "number with a power": first(r'("published": \d+)', r"\1e0"),
    "number with a zero before": first(r'"published": ', '"published": 0'),
    "number with a plus": first(r'"published": ', '"published": +'),
    "number of an achieved value with a power": first(r'("achieved": \{\s+"[^"]+": [0-9.]+)', r"\1e0"),
    "number of an achieved value with a zero": first(r'("achieved": \{\s+"[^"]+": \d+)(?=[,\n])', r"\1.0"),
    "measure with a zero more": last(",\n", "0,\n"),
    "suppress without point": first('"suppress": 0.0', '"suppress": 0'),
    "suppress longer": first('"suppress": 0.0', '"suppress": 0.00'),
    "suppress with a power": first('"suppress": 0.0', '"suppress": 0e7'),
    "suppress negative": first('"suppress": 0.0', '"suppress": -0.0'),
    "suppress is no number": first('"suppress": 0.0', '"suppress": NaN'),
    "suppress beyond all": first('"suppress": 0.0', '"suppress": 1e999'),
    "key twice": first('"format": 2,', '"format": 2,\n  "format": 2,'),
    "key twice, the first another": first('"suppress": 0.0', '"suppress": 1.0,\n    "suppress": 0.0'),
    "key twice, the first a text": first('"missing": "', f'"missing": "{SECRET}",\n    "missing": "'),
    "nested key twice": first(r'("published": \d+)', r"\1,\n    \1"),
    "comment": first(r"\{", f"{{ // {SECRET}"),
    "trailing comma": last("\n}", ",\n}"),
    "single quotes": first('"format"', "'format'"),
    "second document": lambda text: text + text,
    "null document": lambda text: "null\n",
    "empty": lambda text: "",
    "list": lambda text: f"[{text}]",
    "deep": lambda text: "[" * 100_000,
    "deep entry": first('"refine": null', '"refine": ' + "[" * 5_000 + "]" * 5_000),
    "long number": first(r'"published": \d+', '"published": ' + "9" * 6_000),
    "long number of a method": first(r'("k"|"l"|"m"): \d+', r"\1: " + "9" * 6_000),
    "infinite measure": first(r'("measures": \{\s+"[^"]+": )[0-9.]+', r"\1Infinity"),
    "unicode digits": first(r'"shoal": "\d', '"shoal": "\u0663'),
    "version with zeros": first(r'"shoal": "', '"shoal": "000'),
    "version of four parts": first(r'"shoal": "([^"]*)"', r'"shoal": "\1.7"'),
    "version with a space": first(r'"shoal": "([^"]*)"', r'"shoal": "\1 "'),
    "version with a line end": first(r'"shoal": "([^"]*)"', r'"shoal": "\1\\n"'),
    "version with a text": first(r'"shoal": "([^"]*)"', rf'"shoal": "\1+{SECRET}"'),
}
RAW: dict[str, Callable[[bytes], bytes]] = {
    "bad UTF-8": lambda content: content.replace(b'"shoal"', b'"sho\xffl"', 1),
    "bytes after the end": lambda content: content + b"\0\0",
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "overlong letter": lambda content: content.replace(b'"rows"', b'"row\xc1\xb3"', 1),
}


def spelling_mutants(victim: Victim) -> Iterator[Mutant]:
    """The manifest that says the same in other letters, or is none."""
    text = victim.files[FILE].decode()
    for word, rewrite in SPELLINGS.items():
        if (other := rewrite(text)) != text:
            yield Mutant(f"spelling {word}", lambda other=other: _with_manifest(victim.files, other.encode()))
    for word, change in RAW.items():
        yield Mutant(f"spelling {word}", lambda change=change: _with_manifest(victim.files, change(text.encode())))


def _with_manifest(files: Files, content: bytes) -> Files:
    return {**files, FILE: content}
