"""Chromium, driven by Playwright, for tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
    "--disable-quic",
)  # fmt: skip


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; skips where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        _missing("Chromium is not installed: run `make system`")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("Playwright is not installed: run `make test-setup`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


def expect(found: Any) -> Any:
    """What must come to be true of a part of a page, also on a machine that is busy."""
    from playwright.sync_api import expect as soon

    soon.set_options(timeout=30_000)
    return soon(found)


def follow(lead: Any) -> None:
    """Click a link or button that leads to another page, and wait for that page: a click alone does not."""
    with lead.page.expect_navigation(timeout=30_000):
        lead.click()


def _missing(why: str) -> None:
    if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
        pytest.fail(why)
    pytest.skip(why)
