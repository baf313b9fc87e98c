"""What the tests of the scripts share: an act, answers of the API, sections and events."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

ACT = {
    "number": 9,
    "kind": "act",
    "text": "pose sweeps.",
    "what": {"kind": "pose", "gesture": "sweeps."},
    "time": "2026-05-01T12:00:00+00:00",
}


def serve(page: Page, what: str, answer: Any) -> None:
    """Let the API answer so to addresses that end with ``what``."""
    page.route(f"**/agents/api/{what}", lambda route: route.fulfill(json=answer))


def show(page: Page, module: str, section: str, at: str = "") -> None:
    """Show a section of an agent's page in the page."""
    page.evaluate(
        """async ([module, section, at]) => {
            const parts = await import(`/${module}.js`);
            const made = new parts[section](document.querySelector("main"), 1, section);
            await (at ? made.show(at) : made.load());
        }""",
        [module, section, at],
    )


def feed(page: Page, events: list[list[Any]], *, named: bool) -> Locator:
    """Give the events to a new feed; return its headings and what happened."""
    page.evaluate(
        """async ([events, named]) => {
            const { Feed } = await import("/feed.js");
            const feed = new Feed(document.querySelector("main"), { named });
            for (const event of events) feed.add(...event);
        }""",
        [events, named],
    )
    return page.locator(".feed h3, .feed .what")
