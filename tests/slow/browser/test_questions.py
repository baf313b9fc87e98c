"""The panel "What do you want to know?": from the start page to each answer, as a stranger goes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.slow.browser.conftest import PATIENCE
from tests.slow.browser.looking import open_mira
from tests.slow.browser.test_axe import faults
from tests.slow.browser.watched import FACT, WatchedWorld

LARGEST = 400_000
"""The most bytes of a page."""
SIZES = ((1400, 900), (390, 844))
"""A desk and a phone, in pixels."""


def choose_mira(form: Locator) -> None:
    """Choose Mira in a question, whatever stands beside her name."""
    option = form.locator("option", has_text="Mira")
    form.get_by_label("Agent").select_option(option.get_attribute("value"))


@pytest.fixture
def start(page: Page, world: WatchedWorld) -> Page:
    """The start page."""
    page.goto("/agents/")
    return page


def question(page: Page, name: str, **given: str) -> None:
    """Ask a question of the start page about Mira; ``given``: the other fields, by name."""
    form = page.get_by_role("form", name=name)
    if form.get_by_label("Agent").count():
        choose_mira(form)
    for field, value in given.items():
        form.locator(f"[name={field}]").fill(value)
    form.get_by_role("button", name="Show").click()


def test_her_last_words_to_somebody_are_two_clicks_away(start: Page) -> None:
    question(start, "Why an agent said something", words="Tamsin")
    line = start.locator(".said li").first
    expect(line).to_contain_text("to Tamsin")
    expect(line.locator(".because")).to_contain_text("Set off by")  # without another click
    expect(line.locator(".because dd").first).to_contain_text("Tamsin says")
    words = line.locator("[data-opens]").inner_text().strip("“”")
    line.locator("[data-opens]").click()
    expect(start.locator(".chain > li").first).to_contain_text(words)
    expect(start.locator(".chain > li").nth(1)).to_contain_text("Tamsin")


def test_what_she_knows_of_somebody(start: Page) -> None:
    question(start, "What an agent knows of somebody or something", of="tamsin")
    expect(start).to_have_title("What Mira knows of Tamsin")
    expect(start.locator(".known")).to_have_count(1)
    expect(start.locator(".known")).to_contain_text(FACT)
    start.get_by_role("link", name="What Mira said to Tamsin").click()
    expect(start.get_by_role("heading", name="To Tamsin")).to_be_visible()


def test_what_she_knows_of_a_thing(start: Page) -> None:
    question(start, "What an agent knows of somebody or something", of="the salt house")
    expect(start.locator("#hits li").filter(has_text=FACT).first).to_contain_text("Mira")
    expect(start.get_by_label("in the memory of").locator("option:checked")).to_have_text("Mira")
    expect(start.locator("#hits li", has_text="Nell, memory")).to_have_count(0)
    known = start.locator(".knows")  # the answer stands before what is near in meaning
    expect(known).to_contain_text("Mira has these words")
    expect(known).to_contain_text("from Tamsin")
    expect(known.locator("q").first).to_contain_text(FACT)


def test_what_she_has_never_heard_of(start: Page, world: WatchedWorld) -> None:
    name = "What an agent knows of somebody or something"
    question(start, name, of="xylophones")
    expect(start).to_have_title("What Mira knows of xylophones")
    known = start.locator(".knows")
    expect(known).to_contain_text("Mira has never heard of xylophones.")
    expect(known).to_contain_text("No agent has heard it.")
    expect(start.locator(".hits li:visible")).to_have_count(0)
    world.say("A plum is on the sill")
    start.goto("/agents/")
    question(start, name, of="plum xylophones")
    expect(known).to_contain_text("Nothing that Mira remembers or wrote has all of these words")
    expect(known).not_to_contain_text("never heard")
    expect(start.locator("#hits li", has_text="A plum is on the sill").first).to_be_visible()
    start.get_by_role("button", name="Search").click()
    expect(start).to_have_title("Search")


def test_what_her_last_compaction_lost(start: Page) -> None:
    question(start, "What the last compaction lost")
    expect(start.get_by_role("heading", name="What it lost")).to_be_visible()
    standing = start.locator(".compactions > li:not(.undone)").first
    expect(standing.locator("details").first).to_have_attribute("open", "")
    expect(standing).to_contain_text(re.compile(r"\d memor(y is|ies are) .*lost"))


def test_what_was_lost_and_what_is_next_are_one_click_away_for_each_agent(start: Page) -> None:
    row = start.locator("#agents tr", has=start.get_by_role("link", name="Mira", exact=True))
    row.get_by_role("link", name="lost?").click()
    expect(start.locator(".change").first).to_contain_text(re.compile("memor(y is|ies are) .*lost"))
    start.go_back()
    row.get_by_role("link", name="what next?").click()
    expect(start.locator("#panel-plans .agenda")).to_contain_text("Tomorrow")


def test_on_a_phone_an_agents_card_leads_to_the_agent_and_its_links_elsewhere(start: Page) -> None:
    start.set_viewport_size({"width": 390, "height": 844})
    card = start.locator("#agents tr", has=start.get_by_role("link", name="Mira", exact=True))
    for link, leads_to in (("Mira", "/$"), ("what next.", "#plans"), ("lost.", "#compactions")):
        card.get_by_role("link", name=re.compile(f"^{link}$")).click()
        expect(start).to_have_url(re.compile(leads_to))
        start.go_back()


def test_who_knows_of_something_and_from_whom(start: Page) -> None:
    question(start, "Who knows of something, and from whom", q="Edwin")
    expect(start.locator("#knowers > li").first).to_contain_text("Tamsin")


def test_what_she_remembered_at_a_time(start: Page) -> None:
    form = start.get_by_role("form", name="What an agent remembered at a time")
    expect(form).to_contain_text("There is memory from")
    question(start, "What an agent remembered at a time", at="today")
    expect(start.get_by_role("heading", name=re.compile("^The memory on"))).to_be_visible()
    expect(start.locator("#panel-memory")).to_contain_text("It meant to")
    start.get_by_label("As it was at").fill("the cup")
    start.get_by_label("As it was at").press("Enter")
    expect(start.get_by_role("alert")).to_contain_text("'the cup' is no time in the past")


def test_of_what_she_remembered_then_as_much_is_seen_as_is_read_at_a_glance(start: Page) -> None:
    line = {"part": "", "whole": "", "aside": "", "private": "", "number": 0}
    secret = f"It begins. {20 * 'word '}It ends."
    brief = {"text": "It ends.", "whole": secret, "part": "It ends."}
    lines = [
        {**line, "label": "Meant to", "text": f"plan 1 {15 * 'word '}"},
        {**line, "label": "Meant to", "text": f"plan 2 {15 * 'word '}"},
        {**line, "label": "Keeps secret", "text": f"hush {25 * 'word '}"},
        {**line, "label": "Heard last", **brief},
    ]
    found = {"asked": "then", "agent": "Mira", "about": "today", "lines": lines}

    def answer(route: Route) -> None:
        number = int(re.findall(r"agents/(\d+)/answer", route.request.url)[0])
        route.fulfill(json={**found, "id": number})

    start.route("**/answer?*", answer)
    question(start, "What an agent remembered at a time", at="today")
    lead = start.locator(".lead")
    for seen in ("plan 1", "hush", "It ends."):
        expect(lead.get_by_text(seen)).to_be_visible()
    expect(lead).not_to_contain_text("It begins.")
    expect(lead.get_by_text("plan 2")).to_be_hidden()
    lead.get_by_text("1 more line").click()
    expect(lead.get_by_text("plan 2")).to_be_visible()


def test_what_she_will_do(start: Page) -> None:
    question(start, "What an agent will do")
    panel = start.locator("#panel-plans")
    expect(panel.locator(".agenda")).to_contain_text("Tomorrow")
    expect(panel).not_to_contain_text("nothing in particular")


def test_why_of_the_last_words_of_each_agent_is_one_click_away(start: Page) -> None:
    row = start.locator("#agents tr", has=start.get_by_role("link", name="Mira", exact=True))
    words = row.locator(".act").last.inner_text()
    row.get_by_role("link", name="why?").last.click()
    expect(start.locator(".chain > li").first).to_contain_text(words.strip("…")[:20])


def test_after_an_agent_is_chosen_by_the_mouse_the_words_can_be_typed(start: Page) -> None:
    form = start.get_by_role("form", name="Why an agent said something")
    choose_mira(form)
    expect(form.locator("[name=words]")).to_be_focused()


def test_an_agent_is_chosen_once_for_all_questions(start: Page) -> None:
    first = start.get_by_role("form", name="Why an agent said something")
    choose_mira(first)
    chosen = start.locator(".questions select option:checked")
    for nth in range(chosen.count()):
        expect(chosen.nth(nth)).to_contain_text("Mira")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_all_questions_are_on_the_first_screen(start: Page, width: int, height: int) -> None:
    start.set_viewport_size({"width": width, "height": height})
    for form in start.locator(".questions form").all():
        box = form.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
        assert box["x"] + box["width"] <= width


def test_on_a_phone_the_time_of_a_compaction_is_not_cut(start: Page) -> None:
    start.set_viewport_size({"width": 390, "height": 844})
    start.locator(".questions summary", has_text="compaction").click()
    picker = start.get_by_role("form", name="What the last compaction lost").get_by_label("Agent")
    room = picker.evaluate("""(picker) => {
        const words = document.createElement("span");
        words.textContent = picker.querySelector("option:nth-child(3)").textContent;
        words.style.font = getComputedStyle(picker).font;
        picker.after(words);
        const room = picker.clientWidth - words.getBoundingClientRect().width;
        words.remove();
        return room;
    }""")
    assert room >= 20  # for the arrow


def test_her_own_page_asks_about_her(page: Page, world: WatchedWorld) -> None:
    open_mira(page)
    panel = page.locator("#questions")
    expect(panel.get_by_role("form")).to_have_count(6)
    panel.get_by_role("form", name="What an agent will do").get_by_role("button").click()
    expect(page.locator("#panel-plans")).to_be_visible()
    expect(panel.get_by_role("form").first).to_be_hidden()  # the answer has the first screen


def test_the_questions_need_no_javascript(browser: Browser, world: WatchedWorld, signed_in: Any):
    with browser.new_context(
        base_url=world.address, storage_state=signed_in, java_script_enabled=False
    ) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto("/agents/")
        question(page, "Why an agent said something", words="Tamsin")
        expect(page.locator(".said li").first).to_contain_text("to Tamsin")
        assert re.search(r"#why/m\d+$", page.locator(".said a").first.get_attribute("href") or "")


def test_what_she_said_has_no_grave_fault_and_is_small(start: Page) -> None:
    assert len(start.content().encode()) < LARGEST
    question(start, "Why an agent said something")
    expect(start.locator(".said li").first).to_be_visible()
    assert faults(start) == []
    assert len(start.content().encode()) < LARGEST


def test_an_unknown_agent_has_no_grave_fault(page: Page, world: WatchedWorld) -> None:
    page.goto("/agents/ask/said?agent=0")
    expect(page.get_by_role("alert")).to_contain_text("There is no agent")
    assert faults(page) == []
