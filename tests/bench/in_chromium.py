"""Chromium, logged in at a world that is measured."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, sync_playwright

from tests.bench.dashboard_world import Browser

PATIENCE = 120.0
"""Seconds."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def chromium(browser: Browser) -> Iterator[BrowserContext]:
    """Chromium without a window.

    Args:
        browser: Who is logged in.
    """
    address = str(browser.http.base_url)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=_chromium(), args=arguments)
        context = launched.new_context(base_url=address)
        context.set_default_timeout(PATIENCE * 1000)
        cookies = browser.http.cookies.jar
        context.add_cookies(
            [{"name": each.name, "value": each.value or "", "url": address} for each in cookies]
        )
        yield context
        launched.close()


def _chromium() -> str:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise RuntimeError("There is no Chromium on PATH: apt install chromium, or put one there")
    return found
