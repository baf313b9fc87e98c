"""Plays a scene in a real world and writes the pictures of README and docs.

``python -m tests.pictures [FOLDER]``; the folder is ``docs/pictures`` if none is given.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, FloatRect, Page, ViewportSize, expect, sync_playwright

from keepsake.paths import PRIVATE_UMASK, REPOSITORY
from tests.empty_tables import new_tables
from tests.pictures.cast import cast
from tests.pictures.scene import Scene, played
from tests.slow.e2e.players import PASSWORD

MOST = 180_000
"""The most bytes of a picture: README must load quickly."""
SIZE = (1120, 720)
"""The size of a picture in pixels; on a page of a repository it is shown a little smaller."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 90_000
TRIES = 20
"""How often a page is looked at until an agent has written about a person: for over a minute."""


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("There is no Chromium on PATH: apt install chromium")
    os.umask(PRIVATE_UMASK)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pictures") as scratch:
        here = Path(scratch)
        with played(here, new_tables(here / "tables")) as scene, sync_playwright() as playwright:
            expect.set_options(timeout=PATIENCE)
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=found, args=arguments)
            _photograph(browser, scene, folder)
            browser.close()
            title = "Two cups: a talk with Mira at the inn, on a terminal"
            (folder / "two-cups.svg").write_text(cast(scene.transcript, title), encoding="utf-8")
    for made in sorted(folder.iterdir()):
        made.chmod(0o644)
        size = made.stat().st_size
        print(f"{made.name}: {size:,} bytes")
        if size > MOST:
            sys.exit(f"{made} has more than {MOST:,} bytes: show less of the page")


def _photograph(browser: Browser, scene: Scene, folder: Path) -> None:
    address = f"http://127.0.0.1:{scene.copy.here.ports.web}"
    size = ViewportSize(width=SIZE[0], height=SIZE[1])
    with browser.new_context(base_url=address, viewport=size) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        _play(page, scene)
        _keep(page, folder, "village")
    with browser.new_context(base_url=address, viewport=size) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto("/auth/login/?next=/agents/")
        page.get_by_label("Name").fill("admin")
        page.get_by_label("Password").fill(scene.copy.here.admin_password.read_text().strip())
        page.get_by_role("button", name="Log in").click()
        page.goto("/agents/fact?q=Liesbet")
        expect(page.locator("#knowers > li").nth(1)).to_be_visible()
        _keep(page, folder, "fact")
        _await_pages_about_people(page)
        _keep(page, folder, "person", high=560)
        page.goto("/agents/live")
        expect(page.locator(".talk li").first).to_be_visible()
        _keep(page, folder, "live")
        page.goto("/agents/")
        page.locator("#agents").get_by_role("link", name="Mira").click()
        page.locator("#sections").get_by_role("link", name="Compactions").click()
        page.locator(".compactions summary").last.click()
        expect(page.locator(".change .memory").first).to_be_visible()
        page.locator(".compactions > li").last.evaluate("(row) => row.scrollIntoView()")
        _keep(page, folder, "compaction")
        page.locator("#sections").get_by_role("link", name="Memory").click()
        expect(page.locator(".memory").first).to_be_visible()
        _keep(page, folder, "memory")


def _await_pages_about_people(page: Page) -> None:
    """Open what all know of Anneke, once it has her whisper: agents write once a minute."""
    private = page.locator(".known").first.get_by_text("Told Mira in private")
    for _ in range(TRIES):
        page.goto("/agents/person?name=Anneke")
        expect(page.locator(".known").nth(1)).to_be_visible()
        if private.count():
            return
        page.wait_for_timeout(5000)
    sys.exit("No page about Anneke has what she whispered")


def _play(page: Page, scene: Scene) -> None:
    """Show the web client to Anneke, as she looks around and asks once more."""
    scene.anneke.leave()
    page.goto("/webclient/")
    line = page.locator("#line")
    story = page.locator("#story")
    for typed, wanted in (
        (f"connect Anneke {PASSWORD}", "The Kettle"),
        ("look", "Mira"),
        ("talk mira what did I tell you about my sister?", r"still\s+set\s+out\s+two\s+cups"),
    ):
        line.fill(typed)
        line.press("Enter")
        expect(story).to_contain_text(re.compile(wanted))


def _keep(page: Page, folder: Path, name: str, high: int = SIZE[1]) -> None:
    """Write a picture of a page, or of its upper part."""
    page.wait_for_timeout(600)  # faces glide to their rooms
    clip = FloatRect(x=0, y=0, width=SIZE[0], height=high)
    page.screenshot(path=folder / f"{name}.png", clip=clip)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "docs" / "pictures")
