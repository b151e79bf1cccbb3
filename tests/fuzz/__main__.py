"""`make fuzz`: thousands of damaged files; what breaks is printed with its number, to be tried again alone.

python -m fuzz --cases 10000 --seed 1
python -m fuzz --only 4711 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from fuzz.cases import Fuzzer

SHOWN = 40
"""Broken cases that are printed."""


def main() -> int:
    """Try the cases; exit status 1 if one broke something."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    numbers = range(asked.first, asked.first + asked.cases) if asked.only is None else range(asked.only, asked.only + 1)
    tried: Counter[str] = Counter()
    broken = []
    with tempfile.TemporaryDirectory() as root:
        for name, found in Fuzzer(Path(root), asked.seed).cases(numbers):
            tried[name] += 1
            broken += found
            for one in found:
                if len(broken) <= SHOWN:
                    print(
                        f"case {one.number} ({one.sort}): {one.what}\n  shoal {one.line}\n  {one.done.said[-600:]}",
                        flush=True,
                    )
            if asked.only is not None and not found:
                print("nothing is broken")
    counts = Counter(one.sort for one in broken)
    print(f"{'sort':12}{'cases':>8}{'broken':>8}")
    for name in tried:
        print(f"{name:12}{tried[name]:8}{counts[name]:8}")
    print(f"{'all':12}{tried.total():8}{counts.total():8}  (seed {asked.seed})")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
