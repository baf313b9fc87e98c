"""The box in which people type what they want to know: answers are offered while they type."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.test_axe import faults
from tests.slow.browser.watched import FACT


@pytest.fixture
def box(page: Page) -> Page:
    """The start page, with the box under the cursor."""
    page.goto("/agents/")
    page.get_by_role("combobox", name="What do you want to know?").click()
    return page


def test_a_name_and_a_persons_name_show_what_she_knows_without_another_click(box: Page) -> None:
    box.keyboard.type("Mira Tamsin")
    first = box.get_by_role("option").first
    expect(first).to_contain_text("What does Mira know of Tamsin?")
    expect(first.locator(".answer")).to_contain_text(re.compile(r"\w+: \S"))
    assert faults(box) == []
    first.click()
    expect(box).to_have_title("What Mira knows of Tamsin")
    expect(box.locator("#answer dd").first).not_to_be_empty()  # which lines, the world decides
    expect(box.locator("main")).to_contain_text(FACT)  # below, among all that she was told


def test_an_answer_is_chosen_by_keyboard(box: Page) -> None:
    field = box.get_by_role("combobox", name="What do you want to know?")
    expect(field).to_have_attribute("aria-expanded", "false")
    box.keyboard.type("Mira compaction")
    expect(box.get_by_role("option").first).to_contain_text("the last compaction of Mira")
    expect(field).to_have_attribute("aria-expanded", "true")
    box.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-activedescendant", "offer-0")
    expect(box.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    box.keyboard.press("Escape")
    expect(box.get_by_role("listbox")).to_be_hidden()
    box.keyboard.press("ArrowDown")
    box.keyboard.press("Enter")
    expect(box).to_have_url(re.compile("#compactions/last$"))
    expect(box.get_by_role("heading", name="What the last compaction lost")).to_be_visible()
    expect(box.locator(".lead").first).to_contain_text(
        re.compile(r"of (the )?\d+ things that others told or gave (is|are)")
    )


def test_enter_alone_leads_to_the_only_answer(box: Page) -> None:
    box.keyboard.type("Mira tomorrow")
    box.keyboard.press("Enter")
    expect(box).to_have_url(re.compile("#plans$"))
    expect(box.locator("#panel-plans .lead dt").first).to_have_text(re.compile("^(Next|Now|Due)"))


def test_enter_alone_shows_several_answers_on_a_page(box: Page) -> None:
    box.keyboard.type("Mira Tamsin")
    box.keyboard.press("Enter")
    expect(box).to_have_url(re.compile(r"/agents/ask/\?q=Mira\+Tamsin"))
    first = box.locator(".answered").first
    expect(first).to_contain_text("What does Mira know of Tamsin?")
    expect(first.locator("dd").first).not_to_be_empty()
    assert faults(box) == []
    first.get_by_role("link").first.click()
    expect(box).to_have_title("What Mira knows of Tamsin")


def test_where_somebody_is_stands_on_top_of_the_world(box: Page) -> None:
    box.keyboard.type("Where is Mira?")
    expect(box.get_by_role("option").first).to_contain_text("Where is Mira?")
    box.keyboard.press("Enter")
    expect(box).to_have_url(re.compile(r"/agents/world/\?who=Mira$"))
    expect(box.locator("#sought dt")).to_have_text("Mira")
    assert faults(box) == []


def test_who_knows_of_words_is_answered_while_one_types(box: Page) -> None:
    box.keyboard.type("bell")
    first = box.get_by_role("option").first
    expect(first).to_contain_text("Who knows of “bell”")
    expect(first.locator(".answer .line").first).to_be_visible()


def test_on_her_page_her_name_need_not_be_typed(page: Page) -> None:
    open_mira(page, "notes")
    page.keyboard.press("q")
    page.keyboard.type("Tamsin")
    expect(page.get_by_role("option").first).to_contain_text("What does Mira know of Tamsin?")


def test_her_page_answers_the_questions_in_place(page: Page) -> None:
    page.set_viewport_size({"width": 1400, "height": 900})
    open_mira(page)
    answers = page.locator("#questions .answer .line")
    expect(answers.first).to_be_visible()
    expect(page.locator("#questions .answer[data-of=next]")).to_contain_text(
        re.compile("Tomorrow|Today|Now|Said")
    )
    assert faults(page) == []


def test_on_a_phone_the_menu_leads_to_the_box(page: Page) -> None:
    open_mira(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("combobox", name="What do you want to know?").fill("Mira Tamsin")
    offers = page.get_by_role("listbox")
    expect(offers.get_by_role("option").first).to_contain_text("What does Mira know of Tamsin?")
    box = offers.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
