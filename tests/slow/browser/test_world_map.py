"""The page of the world, in a browser: its map, and who is where."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.slow.browser.watched import WatchedWorld


def test_the_world_is_a_map(page: Page, world: WatchedWorld):
    page.goto("/agents/world/")
    expect(page.locator("#map .face.agent")).to_have_count(7)
    expect(page.locator("#map .face.player")).to_have_count(1)
    quay = page.locator("#rooms li", has=page.get_by_role("link", name="The Quay", exact=True))
    expect(quay).to_contain_text("west to The Salt Pans")
    page.locator("#map .face", has_text=re.compile("^Mi")).click()
    expect(page).to_have_url(re.compile(r"/agents/\d+/$"))


def test_a_room_of_the_map_leads_to_what_happened_there(page: Page, world: WatchedWorld):
    line = world.say("The lamp on the counter smokes")
    page.goto("/agents/world/")
    page.locator("#map a.room", has_text="The Kettle").first.click()
    expect(page).to_have_url(re.compile(r"/agents/search/\?.*place=The%20Kettle"))
    expect(page.locator("#hits li", has_text=line).first).to_be_visible()
    page.go_back()
    page.locator("#map a.room", has_text="The Kettle").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Search")


def test_on_a_phone_the_map_can_be_folded(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/agents/fact?q=Edwin", "/agents/world/"):
        page.goto(address)
        face = page.locator("#map .face").first
        expect(face).to_be_visible()
        page.locator(".map-fold > summary").click()
        expect(face).to_be_hidden()


def test_on_a_phone_a_wide_map_scrolls_in_itself(page: Page, world: WatchedWorld):
    def wide(route: Route) -> None:
        answer = route.fetch().json()
        far = [{**answer["rooms"][0], "id": -x, "name": f"Far {x}", "x": x} for x in range(4, 10)]
        empty = {"agents": [], "players": [], "exits": []}
        answer["rooms"] += [{**each, **empty} for each in far]
        route.fulfill(json=answer)

    page.set_viewport_size({"width": 390, "height": 844})
    page.route("**/api/map", wide)
    for address in ("/agents/fact?q=Edwin", "/agents/world/"):
        page.goto(address)
        expect(page.locator("#map")).to_contain_text("Far 9")
        sizes = page.evaluate(
            """[document.documentElement, document.querySelector(".map-holder")]
               .map((each) => each.scrollWidth - each.clientWidth)"""
        )
        assert sizes[0] == 0
        assert sizes[1] > 0


def test_on_a_phone_the_menu_opens_below_its_button(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/agents/world/")
    button = page.get_by_role("button", name="Menu")
    button.click()
    pages = page.locator("#pages")
    expect(pages.get_by_role("link", name="Plans")).to_be_visible()
    above = button.bounding_box()
    below = pages.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]


def test_the_world_begins_with_who_is_where_and_what_comes_next(page: Page, world: WatchedWorld):
    page.goto("/agents/world/")
    kettle = page.locator("#where dt", has_text=re.compile("^The Kettle$")).locator("+ dd")
    expect(kettle).to_contain_text("Mira")
    expect(kettle).to_contain_text("Tamsin player")
    expect(page.locator("#where")).to_be_in_viewport(ratio=1)
