"""10,000 interpret requests from 8 clients, on SQLite, and on two servers over one PostgreSQL.

    python bench/vault_load.py [REQUESTS]

PostgreSQL must be installed (`make system`). Bars: no request lost, the 99th percentile under 50 times the median.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from shoal.vault.database import Database
from shoal.vault.keys import MasterKeys
from shoal.vault.service import Service
from support.postgres import server
from support.vaults import Made, aliases, made, rule_for, served

CLIENTS = 8
BUDGET = 3
TIMES = 50.0


def asked(site, token: str, requests: int, seconds: list[float], told: list[str]) -> None:
    """Ask for one alias after the other."""
    words = aliases()
    for number in range(requests):
        word = words[number % len(words)]
        body = {"release": "clinic", "rules": [str(rule_for(word))]}
        begun = time.perf_counter()
        answer = site.ask("POST", "/v1/interpret", token, body)
        seconds.append(time.perf_counter() - begun)
        if answer.status != 200 or answer.json["answers"][0]["meant"] is not None:
            told.append(word if answer.status == 200 else f"status {answer.status}")


def tried(what: str, vault: Made, services: list[Service], requests: int) -> bool:
    """Let all clients ask at once; whether nothing is wrong."""
    vault.grant(budget=BUDGET)
    before = vault.entries()
    seconds: list[list[float]] = [[] for _ in range(CLIENTS)]
    told: list[list[str]] = [[] for _ in range(CLIENTS)]
    with ExitStack() as stack:
        sites = [stack.enter_context(served(service)) for service in services]
        threads = [
            threading.Thread(
                target=asked,
                args=(sites[at % len(sites)], vault.tokens["ada"], requests // CLIENTS, seconds[at], told[at]),
            )
            for at in range(CLIENTS)
        ]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = time.perf_counter() - begun
    times = np.concatenate([np.array(one) for one in seconds])
    meant = {one for many in told for one in many}
    lost = requests - vault.entries() + before
    ratio = float(np.percentile(times, 99) / np.median(times))
    whole = vault.service.verify_audit().whole
    fine = lost == 0 and len(meant) == BUDGET and ratio < TIMES and whole
    print(
        f"{what}: {len(times):,} answers in {total:.1f} s, median {1000 * np.median(times):.1f} ms, "
        f"99 % {ratio:.1f} times that (wanted: < {TIMES:g}), slowest {1000 * times.max():.0f} ms; "
        f"lost {lost}, learnt {len(meant)} of a budget of {BUDGET}, log {'whole' if whole else 'BROKEN'}"
    )
    return fine


def main() -> int:
    """Try both; 1 where something is wrong."""
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        vault = made(Path(folder))
        fine = tried("SQLite, one server", vault, [vault.service], requests)
        vault.service.database.close()
    with tempfile.TemporaryDirectory() as folder, server() as url:
        vault = made(Path(folder), url)
        key_file = Path(folder) / "vault.key"
        other = Service(Database(url), MasterKeys.from_file(key_file), key_file)
        fine &= tried("PostgreSQL, two servers", vault, [vault.service, other], requests)
        vault.service.database.close()
        other.database.close()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
