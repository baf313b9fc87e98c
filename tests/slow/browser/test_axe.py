"""Every page is checked by axe-core for what keeps people with a keyboard or a screen reader out.

axe-core (``axe/``, from npm, MPL-2.0) runs in the page. It is used by this test alone and is not
part of the package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from keepsake.web.kinds import SECTIONS
from tests.slow.browser.looking import open_mira
from tests.slow.browser.watched import WatchedWorld

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
_RUN = """axe.run(document, {resultTypes: ["violations"]}).then(({violations}) =>
  violations.flatMap(({id, impact, nodes}) => nodes.map(({html, any, all, none}) => [impact, id,
    `${html.slice(0, 200)}: ${[...any, ...all, ...none].map(({message}) => message).join("; ")}`])))
"""
_OWN = """() => [
  ...[...document.querySelectorAll("summary")]
    .filter((each) => {
      const {display, listStyleType} = getComputedStyle(each);
      const native = display === "list-item" && listStyleType !== "none";
      return native && getComputedStyle(each, "::before").content !== "none";
    })
    .map((each) => `two marks of one fold: ${each.outerHTML.slice(0, 200)}`),
  ...[...document.querySelectorAll("input:is([type=datetime-local], [type=time])")]
    .map((each) => `a field that shows AM and PM to many readers: ${each.outerHTML}`),
]"""
"""What axe does not look for: faults that people saw."""
GRAVE = frozenset({"serious", "critical"})
ALSO = frozenset(
    {"heading-order", "duplicate-id", "page-has-heading-one", "region", "empty-heading"}
)
"""Rules of lesser weight that the pages keep too: whoever reads by headings depends on them."""
PAGES = {
    "/": "h1",
    "/agents/": "#agents tr",
    "/agents/live": "#rooms .talk li",
    "/agents/world/": "#map .face",
    "/agents/fact": "#map .face",
    "/agents/fact?q=Edwin": "#sources li",
    "/agents/search/?q=Edwin": "#hits li",
    "/agents/person": "#list li",
    "/agents/plans": "#lists p, #lists tr",
    "/agents/person?name=Tamsin": "#list .known",
    "/agents/compare": "#memory .known",
    "/agents/mine/": ".mine li",
    "/agents/tokens": "#tokens li",
    "/agents/nothing/here": "main",
    "/webclient/": "#line",
}
"""Every page, and what it shows when it has loaded."""
_SCREENS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1400, "light"), (390, "dark"))
"""A desk in light colours, and a phone in dark ones: widths in pixels."""


def faults(page: Page) -> list[str]:
    """Return what axe finds at a desk in light colours, and on a phone in dark ones."""
    found = []
    page.evaluate(AXE)
    for width, scheme in _SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        for impact, rule, where in page.evaluate(_RUN):
            if impact in GRAVE or rule in ALSO:
                found.append(f"{width} {scheme} {rule} ({impact}): {where}")
        found += page.evaluate(_OWN)
    return found


@pytest.mark.parametrize("address", PAGES)
def test_a_page_has_no_grave_fault(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(PAGES[address]).first).to_be_visible()
    assert faults(page) == []


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_of_an_agents_page_has_no_grave_fault(page: Page, section: str) -> None:
    open_mira(page, section)
    wanted = "canvas" if section == "charts" else "[data-row], form"
    expect(page.locator(f"#panel-{section}").locator(wanted).first).to_be_visible()
    assert faults(page) == []


@pytest.mark.parametrize("address", ["/auth/login/", "/auth/register", "/agents/"])
def test_what_a_stranger_sees_has_no_grave_fault(stranger: BrowserContext, address: str) -> None:
    page = stranger.new_page()
    page.goto(address)
    assert faults(page) == []


def test_the_client_of_who_plays_has_no_grave_fault(browser: Browser, world: WatchedWorld) -> None:
    # The client's own policy would refuse axe as a script of the page.
    with browser.new_context(base_url=world.address, bypass_csp=True) as context:
        page = context.new_page()
        page.goto("/webclient/")
        line = page.get_by_label("What you do")
        for typed in ("create Berend willow-harbour-lantern", "look", "who", "help", "deeds"):
            line.fill(typed)
            line.press("Enter")
        world.tamsin.type("whisper Berend = The key is under the mat.", "You whisper")
        world.tamsin.type("talk Berend Good evening.", "You say")
        expect(page.locator("#story .to-you.whisper")).to_be_visible()
        expect(page.locator("#story .to-you").last).to_contain_text("Good evening.")
        expect(page.locator("#story")).to_contain_text("The World")
        assert faults(page) == []
        page.set_viewport_size({"width": 1400, "height": 900})
        page.get_by_role("button", name="settings").click()
        page.get_by_label("Colours").select_option("dark")
        assert faults(page) == []
        page.get_by_role("button", name="Close").click()
        assert faults(page) == []
        line.fill("quit")
        line.press("Enter")
        expect(page.get_by_role("link", name="Connect again")).to_be_visible()


def test_axe_finds_a_fault(page: Page, world: WatchedWorld) -> None:
    page.goto("/agents/")
    page.evaluate("() => { document.querySelector('h1').innerHTML = '<img src=/static/x.png>'; }")
    found: Any = faults(page)
    assert any("image-alt" in each for each in found)
