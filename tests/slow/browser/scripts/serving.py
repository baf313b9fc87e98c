"""What the tests of the scripts share: an act, answers of the API, sections and events."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from playwright.sync_api import Locator, Page

from keepsake.web.fact_shapes import FactView
from keepsake.web.pasts.who import who_knows

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


_AGENTS = 7
"""How many agents the world of these tests has."""
_OTHERS = 9001
"""The first number of those of them who have no part in a served fact."""
_NO_STRAND = {"written": False, "refused": False}


def serve_fact(page: Page, found: dict[str, Any], also: Mapping[int, str] | None = None) -> None:
    """Let the API answer where a fact went, with the short answer that the server makes of it.

    ``also``: The names of agents, by number, that do not know it.
    """
    strands = [{**_NO_STRAND, "happenings": (), **each} for each in found.get("strands", ())]
    view = FactView.model_validate({"outsiders": (), **found, "strands": strands})
    names = {each.id: each.agent for each in (*view.knowers, *view.noted, *view.echoes)}
    names |= also or {}
    names |= {_OTHERS + each: "Somebody" for each in range(_AGENTS - len(names))}
    who = who_knows(view, names, now=datetime.now(UTC))
    serve(page, "fact?*", {**found, "who": who.model_dump(mode="json")})


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
