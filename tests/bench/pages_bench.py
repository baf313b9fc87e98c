"""The dashboard with fifty agents and 100,000 memories in one: bytes, seconds, faults of each page.

A real Chromium opens each page at a desk's and a phone's width, in light and dark colours.
``PAGES_AGENTS`` and ``PAGES_MEMORIES`` set other sizes; ``PAGES_SHOTS`` a folder for pictures.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from keepsake.paths import PRIVATE_UMASK
from keepsake.web.kinds import SECTIONS
from tests.bench.figures import Figure
from tests.bench.pages_world import AGENTS, FACTS, LONG, MEMORIES, many_agents
from tests.empty_tables import new_tables
from tests.slow.cli.conftest import Copy

MOST_BYTES = 400_000
MOST_SECONDS = 1.5
MOST_STEP = 100.0
"""What a page may be and take, and the milliseconds of a step of a scrubber."""
SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = (
    (1400, "light"),
    (1400, "dark"),
    (390, "light"),
    (390, "dark"),
)
"""Widths in pixels, and colours."""
_AXE = Path(__file__).parents[1] / "slow" / "browser" / "axe" / "axe.min.js"
_GRAVE = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => violations
  .filter(({impact}) => ["serious", "critical"].includes(impact))
  .flatMap(({id, nodes}) => nodes.map(({html}) => `${id}: ${html.slice(0, 120)}`)))"""
_STEPS = """async (steps) => {
  const range = document.querySelector("input[type=range]");
  const most = [];
  for (let step = 0; step < steps; step++) {
    range.value = String(Math.round(((step * 7919) % 1000) / 1000 * Number(range.max)));
    const began = performance.now();
    range.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect(); // with the layout
    most.push(performance.now() - began);
  }
  most.sort((a, b) => a - b);
  return [most[Math.floor(most.length / 2)], most.at(-1)];
}"""
"""Moves a scrubber to many places; returns the milliseconds of the middle step and the longest."""
_INDEXED = 900_000
"""Milliseconds until the words of all memories are indexed."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ANSWER = ".answered dd, .lead dd, #answer dd"
"""An answer among others, and on a page of its own, where words lead that mean one question."""
_ADDRESSES = {
    "overview": ("/agents/", "#agents tr"),
    "ask": (f"/agents/ask/?q={LONG}+Anneke", _ANSWER),
    "ask for a time": (f"/agents/ask/?q={LONG}+yesterday", _ANSWER),
    "live": ("/agents/live", "#rooms .room"),
    "world": ("/agents/world/", "#map .face"),
    "where did it go": ("/agents/fact", "#map .face"),
    "a fact": (f"/agents/fact?q={FACTS[1]}", "#tellings li"),
    "people": ("/agents/person", "#list li"),
    "a person": ("/agents/person?name=Anneke", "#list .known"),
    "two agents": (f"/agents/compare?q={FACTS[1]}", "#memory .known"),
    "search": ("/agents/search/?q=silver+spoons", "#hits li"),
    "search by words": ("/agents/search/?q=silver&by=words", "#hits li"),
    "plans": ("/agents/plans", "#lists p, #lists tr"),
    "tokens": ("/agents/tokens", "#tokens li"),
}


@dataclass
class _Visit:
    """What a page cost, and its faults.

    Attributes:
        bytes: Of all answers, as they were sent.
        seconds: Until what the page is for was shown.
        step: Milliseconds of a step of its scrubber, of the middle one and of the longest, which
            other work of the machine may have held up; None if it has none.
    """

    bytes: int = 0
    seconds: float = 0.0
    step: tuple[float, float] | None = None
    faults: list[str] = field(default_factory=list)


def measure() -> Iterator[Figure]:
    """Open every page, and return bytes, seconds, scrubber steps and faults of each."""
    chromium = next(filter(None, map(shutil.which, _NAMES)), None)
    if chromium is None:
        raise SystemExit("There is no Chromium on PATH: apt install chromium")
    os.umask(PRIVATE_UMASK)
    with tempfile.TemporaryDirectory(prefix="pages") as scratch:
        here = Path(scratch)
        tables = new_tables(here / "tables")
        with many_agents(here, tables) as copy, sync_playwright() as playwright:
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
            yield from _walk(browser, copy)
            browser.close()


def _walk(browser: Browser, copy: Copy) -> Iterator[Figure]:
    address = f"http://127.0.0.1:{copy.here.ports.web}"
    for width, scheme in SCREENS:
        with browser.new_context(
            base_url=address,
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            bypass_csp=True,  # axe is put into the page
        ) as context:
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.goto("/auth/login/?next=/agents/")
            page.get_by_label("Name").fill("admin")
            page.get_by_label("Password").fill(copy.here.admin_password.read_text().strip())
            page.get_by_role("button", name="Log in").click()
            # After the first start the index of words is still being made.
            page.request.get("/agents/api/search?q=spoons", timeout=_INDEXED)
            link = page.locator("#agents").get_by_role("link", name=LONG, exact=True)
            long = link.get_attribute("href") or ""
            pages = dict(_ADDRESSES)
            for section in SECTIONS:
                wanted = (
                    f"#panel-{section} [data-row], #panel-{section} form, #panel-{section} canvas"
                )
                wanted += f", #panel-{section} .empty"
                pages[f"{LONG}: {section}"] = (f"{long}#{section}", wanted)
            for name, (path, wanted) in pages.items():
                visit = _visit(page, path, wanted, f"{name}-{width}-{scheme}")
                yield from _figures(f"{name}, {width} px, {scheme}", visit)


def _visit(page: Page, path: str, wanted: str, shot: str) -> _Visit:
    visit = _Visit()
    streams: set[str] = set()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def asked(told: dict[str, Any]) -> None:
        if "/api/events" in told["request"]["url"]:  # it goes on as long as the page is open
            streams.add(told["requestId"])

    def answered(told: dict[str, Any]) -> None:
        if told["requestId"] not in streams:
            visit.bytes += int(told["encodedDataLength"])

    def failed(error: object) -> None:
        visit.faults.append(f"script: {error}")

    page.goto("about:blank")
    network.on("Network.requestWillBeSent", asked)
    network.on("Network.loadingFinished", answered)
    page.on("pageerror", failed)
    began = time.perf_counter()
    page.goto(path, wait_until="commit")
    page.locator(wanted).locator("visible=true").first.wait_for()
    visit.seconds = time.perf_counter() - began
    page.wait_for_timeout(500)
    network.detach()
    if page.locator("input[type=range]").count():
        middle, longest = page.evaluate(_STEPS, 40)
        visit.step = (middle, longest)
    sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if sideways > 0:
        visit.faults.append(f"{sideways} px sideways")
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    visit.faults += page.evaluate(_GRAVE)
    if shots := os.environ.get("PAGES_SHOTS"):
        page.screenshot(path=f"{shots}/{shot.replace(' ', '_').replace(':', '')}.png")
    page.remove_listener("pageerror", failed)
    return visit


def _figures(name: str, visit: _Visit) -> Iterator[Figure]:
    told = "; ".join(visit.faults)
    yield Figure(f"page {name}: size", MEMORIES, visit.bytes / 1000, "kB", f"{AGENTS} agents")
    yield Figure(f"page {name}: shown after", MEMORIES, visit.seconds, "s", "")
    if visit.step is not None:
        middle, longest = visit.step
        told_step = f"the longest {longest:.0f}"
        yield Figure(f"page {name}: scrubber", MEMORIES, middle, "ms a step", told_step)
    yield Figure(f"page {name}: faults", MEMORIES, len(visit.faults), "", told)
