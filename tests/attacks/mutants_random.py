"""Bytes of files changed at random places; the hash of the file is made to fit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import partial

import numpy as np

from attacks.mutants import Mutant, with_file
from attacks.victims import Files, Victim
from shoal.release.manifest import FILE

WRITER = re.compile(rb"(?<=parquet-cpp-arrow version )[1-9][0-9]\.[0-9]\.[0-9]")


def random_mutants(victim: Victim, count: int = 100) -> Iterator[Mutant]:
    """Some bytes flipped, gone, doubled, added or swapped, in every file."""
    for name, content in victim.files.items():
        rng = np.random.default_rng(zlib.crc32(f"{victim.where} {name}".encode()))
        for turn in range(count // len(victim.files)):
            word, other = changed(content, rng)
            if other != content:
                yield Mutant(f"random {turn} of {name}: {word}", partial(_instead, victim.files, name, other))


def _instead(files: Files, name: str, content: bytes) -> Files:
    return {**files, name: content} if name == FILE else with_file(files, name, content)


def changed(content: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """One change of some bytes, and a word for it."""
    at, other = int(rng.integers(len(content))), bytes([int(rng.integers(256))])
    near = bytes([content[at] ^ (1 << int(rng.integers(8)))])
    to = min(at + 1 + int(rng.integers(4)), len(content))
    changes = {
        "a bit": content[:at] + near + content[at + 1 :],
        "a byte": content[:at] + other + content[at + 1 :],
        "a digit": content[:at] + b"%d" % rng.integers(10) + content[at + 1 :],
        "gone": content[:at] + content[to:],
        "doubled": content[:to] + content[at:],
        "added": content[:at] + other + content[at:],
        "swapped": content[:at] + content[at : at + 2][::-1] + content[at + 2 :],
    }
    word = sorted(changes)[int(rng.integers(len(changes)))]
    return f"{word} at {at}", changes[word]


def says_the_same(one: Files, other: Files) -> bool:
    """Whether table files differ in nothing but the version of pyarrow that they name."""
    tables = [
        {name: WRITER.sub(b"", content) for name, content in files.items() if name != FILE} for files in (one, other)
    ]
    return tables[0] == tables[1]
