"""A trusted server as S3 describes it: whoever has signed in gets any rule interpreted that the table bears out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import shoal
from shoal.mining.rules import Rule, evidence
from shoal.vault.content import Content

TOKEN = "shoal_researcher"


@dataclass(frozen=True)
class Thresholds:
    """What a rule needs, as a whole: that is all that S3 asks for."""

    min_support: float
    min_confidence: float

    def told(self, content: Content, rule: Rule) -> dict[str, Any]:
        shown = evidence(rule, content.frame)
        holds = shown.support >= self.min_support and shown.confidence >= self.min_confidence
        meant = content.interpreted(rule).to_mapping() if holds else None
        figures = {"support": shown.support, "confidence": shown.confidence, "lift": shown.lift}
        return {"meant": meant, "refused": None if holds else "support or confidence", **figures}


@contextmanager
def served(release: shoal.Release, thresholds: Thresholds) -> Iterator[str]:
    """Serve it on a free port, and end it; it speaks as a vault does, so that one client asks both."""
    content = Content.of(release, release.key)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            known = self.path == "/v1/interpret" and self.headers["authorization"] == f"Bearer {TOKEN}"
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            rules = [Rule.from_mapping(one) for one in asked["rules"]]
            answers = [thresholds.told(content, one) for one in rules] if known else []
            body = json.dumps({"answers": answers, "problems": []}).encode()
            self.send_response(200 if known else 401)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
