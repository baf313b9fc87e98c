"""A real Chromium in front of a real world."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests.slow.browser.watched import WatchedWorld, watched

PATIENCE = 90_000
"""Milliseconds until what is looked for counts as missing; a busy machine may be slow."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

expect.set_options(timeout=PATIENCE)


def _chromium() -> str:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip("there is no Chromium on PATH: apt install chromium, or put one there")
    return found


# Not longer than a module: while Playwright runs, Django takes the thread for an event loop's.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        found = _chromium()
        try:
            launched = playwright.chromium.launch(executable_path=found, args=arguments)
        except PlaywrightError as error:  # a stub that wants a package to be installed, say
            pytest.skip(
                f"{found} does not start ({str(error).splitlines()[0]}): apt install chromium"
            )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def world(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, tables: Path
) -> Iterator[WatchedWorld]:
    """One world for all that is looked at; no world where nothing can look."""
    with watched(tmp_path_factory.mktemp("watched"), tables) as made:
        yield made


@contextmanager
def visiting(browser: Browser, world: WatchedWorld, kept: Any = None) -> Iterator[BrowserContext]:
    """Somebody's browser, with what it has kept of earlier visits."""
    context = browser.new_context(base_url=world.address, storage_state=kept)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, world: WatchedWorld) -> Any:
    """What a browser keeps once the admin has logged in, through the page that a stranger gets."""
    with visiting(browser, world) as context:
        page = context.new_page()
        page.goto("/agents/")
        page.get_by_role("link", name="Log in").click()
        page.get_by_label("Name").fill("admin")
        page.get_by_label("Password").fill(world.copy.here.admin_password.read_text().strip())
        page.get_by_role("button", name="Log in").click()
        expect(page).to_have_url(f"{world.address}/agents/")
        return context.storage_state()


@pytest.fixture
def stranger(browser: Browser, world: WatchedWorld) -> Iterator[BrowserContext]:
    """Somebody who has not logged in."""
    with visiting(browser, world) as context:
        yield context


@pytest.fixture
def page(browser: Browser, world: WatchedWorld, signed_in: Any) -> Iterator[Page]:
    """An empty page of the admin's; no script of it may fail or be refused."""
    with visiting(browser, world, signed_in) as context:
        yield from _watched_over(context.new_page())


def _watched_over(opened: Page) -> Iterator[Page]:
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "console",
        lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None,
    )
    yield opened
    opened.unroute_all(behavior="ignoreErrors")  # a route may still wait for its answer
    assert faults == []
