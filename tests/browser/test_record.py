"""A simulation in the window, without being started: every page, wide and narrow."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import PATIENCE
from tests.web.recorded import SHORT, lived, watching

SIZES = ({"width": 1400, "height": 900}, {"width": 390, "height": 844})
SECTIONS = (
    *("live", "prompt", "memory", "recall", "compactions", "charts", "why"),
    *("journal", "people", "notes", "nights"),
)


@pytest.fixture(scope="module")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where it is shown; nothing is lived where nothing can look."""
    places, _ = lived(tmp_path_factory.mktemp("record"))
    with watching(places, SHORT.name) as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """An empty page, far from the simulation's time zone; no script of it may complain."""
    context = browser.new_context(base_url=address, timezone_id="Pacific/Auckland")
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield opened
    context.close()
    assert faults == []


def open_agent(page: Page) -> None:
    page.goto("/agents/")
    page.locator("#agents").get_by_role("link").first.click()
    expect(page.locator("#state .badge").first).to_be_visible()


def fits(page: Page) -> bool:
    """Whether nothing stands out on the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_all_pages_fit(page: Page) -> None:
    for size in SIZES:
        page.set_viewport_size(size)
        page.goto("/agents/")
        expect(page.locator("#agents tr")).to_have_count(SHORT.agents)
        assert fits(page), size
        page.goto("/agents/world/")
        expect(page.locator("#ties .person").first).to_be_visible()
        assert fits(page), size
        page.goto("/agents/search/?q=good")
        expect(page.locator("#hits mark").first).to_be_visible()
        assert fits(page), size
        open_agent(page)
        for section in SECTIONS:
            page.locator("#sections").get_by_role("link", name=section.capitalize()).click()
            expect(page.locator(f"#panel-{section} > div > *").first).to_be_attached()
            expect(page.locator(f"#panel-{section} .failed:not(:empty)")).to_have_count(0)
            assert fits(page), (section, size)


def test_times_are_those_of_the_simulation(page: Page) -> None:
    page.goto("/agents/")
    expect(page.locator(".record")).to_have_text(f"record of {SHORT.name}")
    acts = page.locator("#agents td:nth-child(4) time")
    expect(acts.first).to_have_text(re.compile(r"^(just now|\d+(\.\d)? (s|min) ago)$"))
    expect(page.locator(".feed .event time").first).to_have_text(re.compile(r"^08:"))
    open_agent(page)
    expect(page.locator("#acts")).to_be_hidden()
    page.locator("#sections").get_by_role("link", name="Charts").click()
    expect(page.get_by_label(re.compile("^Memories: 4 May 08:"))).to_be_visible()


def test_the_slider_goes_back_through_the_day(page: Page) -> None:
    page.goto("/agents/world/")
    expect(page.locator("#at")).to_have_text(re.compile("^4 May 08:"))
    expect(page.locator(".room.full").first).to_be_visible()
    expect(page.locator(".lane")).to_have_count(SHORT.agents)
    expect(page.locator(".lane rect").first).to_be_visible()
    expect(page.locator(".pairs li").first).to_be_visible()
    slider = page.locator("#minute")
    slider.fill("10")
    expect(page.locator("#at")).to_have_text("4 May 00:10")
    expect(page.locator(".room.full")).to_have_count(0)
    expect(page.locator("#room")).to_contain_text("not known to be anywhere yet")
    expect(page.locator("#talk")).to_contain_text("Nobody has spoken")
    page.get_by_role("button", name="Now").click()
    room = page.locator(".room.full").first
    room.click()
    expect(page.locator("#room a").first).to_be_visible()
    page.locator(".person.agent").first.click()
    expect(page.locator("#ties .tip")).to_contain_text("knows")


def test_a_search_leads_to_the_memory(page: Page) -> None:
    page.goto("/agents/search/")
    page.get_by_label("Words").fill("good")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("memor")
    hit = page.locator("#hits a").first
    number = hit.inner_text().rpartition(" ")[2]
    hit.click()
    expect(page.locator(".memory.marked")).to_have_id(f"memory-{number}")


def test_an_earlier_prompt_can_be_read(page: Page) -> None:
    open_agent(page)
    page.locator("#sections").get_by_role("link", name="Prompt").click()
    page.get_by_text("Earlier prompts").click()
    rows = page.locator(".earlier button")
    expect(rows.nth(1)).to_be_visible()
    rows.nth(1).click()
    expect(rows.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".sent pre").first).to_be_visible()


def test_a_hundred_agents_are_a_page_with_an_end(page: Page) -> None:
    def crowd(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        (one, *_) = said["agents"]
        said["agents"] = [{**one, "id": n, "name": f"Agent {n}"} for n in range(100)]
        route.fulfill(response=answer, json=said)

    page.route("**/agents/api/agents", crowd)
    for size, most in zip(SIZES, (25, 10), strict=True):
        page.set_viewport_size(size)
        page.goto("/agents/")
        rows = page.locator("#agents tr")
        expect(rows).to_have_count(most)
        assert page.evaluate("document.documentElement.scrollHeight") < 4_000
        page.get_by_label("Filter the agents").fill("Agent 9")
        expect(rows).to_have_count(min(most, 11))
        page.get_by_label("Filter the agents").fill("")
        page.get_by_role("button", name="Show all 100").click()
        expect(rows).to_have_count(100)


def test_two_agents_stand_side_by_side(page: Page) -> None:
    for size in SIZES:
        page.set_viewport_size(size)
        page.goto("/agents/beside/")
        expect(page.locator(".beside figure")).to_have_count(10)
        assert fits(page), size
    left, right = (page.get_by_label(f"{side} agent") for side in ("Left", "Right"))
    assert left.input_value() != right.input_value()
    page.locator("#section").select_option("memory")
    expect(page.locator(".beside .memories")).to_have_count(2)
    right.select_option(left.input_value())
    expect(page).to_have_url(re.compile(r"left=(\d+)&right=\1&show=memory$"))
    page.reload()
    expect(page.locator(".beside .memories")).to_have_count(2)


def test_what_is_shown_can_be_taken_along(page: Page) -> None:
    page.goto("/agents/")
    expect(page.locator("#agents tr")).to_have_count(SHORT.agents)
    for form in ("JSON", "CSV"):
        with page.expect_download() as taken:
            page.get_by_role("button", name=form).click()
        text = taken.value.path().read_text("utf-8")
        names = (
            [each["name"] for each in json.loads(text)["agents"]]
            if form == "JSON"
            else [row["name"] for row in csv.DictReader(text.splitlines())]
        )
        assert len(names) == SHORT.agents, form
