"""Serving a vault over HTTP, or HTTPS."""

from __future__ import annotations

import ipaddress
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ParameterError, Problems
from shoal.vault.app import create
from shoal.vault.connections import patient_protocol
from shoal.vault.guard import JsonLines
from shoal.vault.limiting import Limits
from shoal.vault.service import Service


@dataclass(frozen=True)
class Serving:
    """Where and how to serve."""

    host: str = "127.0.0.1"
    port: int = 8443
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    """Whether a proxy before it speaks TLS, and tells who asks."""
    proxies: str = "127.0.0.1"
    """Addresses of such proxies."""
    slowest: float = 20.0
    """Seconds until a request must have arrived, and in which an answer must be read on."""
    connections: int = 512
    """Connections at the same time."""
    connections_of_one: int = 64
    """Connections of one address, unless a proxy has them all."""

    @property
    def tls(self) -> bool:
        """Whether researchers speak TLS."""
        return self.tls_cert is not None or self.behind_proxy

    def check(self) -> None:
        """Refuse to send tokens over a network in clear, and half of a certificate."""
        problems = Problems()
        if (self.tls_cert is None) != (self.tls_key is None):
            problems.add(
                "tls", "needs a certificate and its key", "give --tls-cert and --tls-key", error=ParameterError
            )
        for path in (self.tls_cert, self.tls_key):
            if path is not None and not path.is_file():
                problems.add(str(path), "there is no such file", "check the path", error=ParameterError)
        if not self.tls and not _is_loopback(self.host):
            fix = "give --tls-cert and --tls-key, or --behind-proxy if a proxy speaks TLS"
            problems.add("host", "others could read tokens on the way", fix, error=ParameterError)
        problems.raise_if_any(ParameterError)


def serve(service: Service, serving: Serving, limits: Limits) -> None:
    """Serve until a signal ends it; requests that have begun are answered."""
    uvicorn_server(service, serving, limits).run()


def uvicorn_server(service: Service, serving: Serving, limits: Limits) -> Any:
    """The server, not yet running."""
    import uvicorn

    serving.check()
    log_as_json()
    return uvicorn.Server(
        uvicorn.Config(
            create(service, limits, tls=serving.tls, slowest=serving.slowest), host=serving.host, port=serving.port,
            log_config=None, access_log=False, server_header=False, date_header=True, ws="none",
            timeout_keep_alive=int(serving.slowest) + 1, limit_concurrency=serving.connections,
            timeout_graceful_shutdown=10, ssl_certfile=serving.tls_cert, ssl_keyfile=serving.tls_key,
            proxy_headers=serving.behind_proxy, forwarded_allow_ips=serving.proxies,
            h11_max_incomplete_event_size=16384,
            http=patient_protocol(serving.slowest, None if serving.behind_proxy else serving.connections_of_one),
        )
    )  # fmt: skip


def log_as_json() -> None:
    """Log one JSON object a line, on the error stream."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("shoal.vault", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
