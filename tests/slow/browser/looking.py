"""How tests find the page of an agent, and what the API says of it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect


def open_mira(page: Page, section: str = "live") -> None:
    """Her page, from the table, as anybody would find it."""
    page.goto("/agents/")
    page.locator("#agents").get_by_role("link", name="Mira").click()
    expect(page.locator("#state .badge").first).to_be_visible()
    page.locator("#sections").get_by_role("link", name=section.capitalize(), exact=True).click()
    expect(page.locator(f"#panel-{section}")).to_be_visible()


def api(page: Page, what: str) -> Any:
    """What the API answers about the agent of the page."""
    number = page.locator("body").get_attribute("data-agent")
    return page.request.get(f"/agents/api/agents/{number}/{what}").json()
