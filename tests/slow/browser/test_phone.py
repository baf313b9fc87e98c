"""The pages on a phone, and their head at any width."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.test_axe import faults

PHONE = {"width": 390, "height": 844}
ROW = 64
"""The most pixels of a head that has one row."""


def head_of(page: Page) -> float:
    """Return the height of the head in pixels."""
    return float(page.locator("header.top").evaluate("each => each.offsetHeight"))


@pytest.mark.parametrize(
    "address", ["", "world/", "live", "plans", "fact?q=bell", "person?name=Tamsin", "search/"]
)
@pytest.mark.parametrize("width", [390, 1120, 1400])
def test_the_head_of_a_page_has_one_row(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"/agents/{address}")
    expect(page.locator("h1")).to_be_visible()
    assert head_of(page) <= ROW
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_title_with_two_names_leaves_the_head_one_row(page: Page) -> None:
    page.goto("/agents/ask/of?agent=" + _mira(page) + "&of=Tamsin")
    expect(page).to_have_title("What Mira knows of Tamsin")
    for width in (390, 1400):
        page.set_viewport_size({"width": width, "height": 844})
        assert head_of(page) <= ROW, width


def test_what_a_plan_waits_for_is_wrapped_on_a_phone(page: Page) -> None:
    waits = "when I have looked through the pigeonholes for 1979 and the letter M"
    plan = {"id": 1, "agent": "Mira", "number": 1, "what": "tell Tom", "at": None, "place": ""}
    plan |= {"waits_for": waits, "state": "open", "whom": "", "why": "", "private": ""}
    page.route(lambda url: "/api/plans?" in url, lambda route: route.fulfill(json=[plan]))
    page.set_viewport_size(PHONE)
    page.goto("/agents/plans")
    expect(page.locator("#lists td.waits")).to_have_text(waits)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_on_a_phone_each_question_is_a_row_that_opens_its_form(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/agents/")
    rows = page.locator(".question > summary")
    expect(rows).to_have_count(6)
    forms = page.locator(".question form")
    expect(forms.first).to_be_hidden()
    panel = page.locator(".questions").bounding_box()
    assert panel is not None
    assert panel["height"] < PHONE["height"] / 2
    assert faults(page) == []  # it ends on a phone, folded again
    rows.nth(5).click()
    expect(forms.nth(5)).to_be_visible()
    forms.nth(5).get_by_role("button", name="Show").click()
    expect(page.locator("#panel-plans")).to_be_visible()


def test_on_a_wide_screen_the_forms_are_open_also_after_it_was_narrow(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/agents/")
    form = page.locator(".question form").first
    expect(form).to_be_hidden()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(form).to_be_visible()
    expect(page.locator(".question > summary").first).to_be_hidden()


def _mira(page: Page) -> str:
    """Return the number of Mira."""
    open_mira(page)
    return page.locator("body").get_attribute("data-agent") or ""
