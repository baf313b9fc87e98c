"""The dashboard in a real browser beside a real world: who may look, all agents, the search.

The tests share one world, in which Mira's memory has a few compactions and Tamsin, a player, is
with her.
"""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import BrowserContext, Page, expect

from keepsake.web.kinds import SECTIONS
from tests.slow.browser.looking import api, open_mira
from tests.slow.browser.test_axe import faults
from tests.slow.browser.watched import WatchedWorld
from tests.slow.e2e.players import PASSWORD

# -- who may look


def test_a_stranger_and_a_player_learn_nothing(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page = stranger.new_page()
    page.goto("/agents/1/")
    assert "Mira" not in page.content()
    expect(page.locator("main")).not_to_contain_text("not a builder")
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Name").fill("Tamsin")
    page.get_by_label("Password").fill("not her password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("correct username and password")
    page.get_by_label("Password").fill(PASSWORD)
    with page.expect_response(lambda answer: answer.url == f"{world.address}/agents/") as led_on:
        page.get_by_role("button", name="Log in").click()
    assert led_on.value.status == 403
    expect(page.get_by_role("heading", name="For staff")).to_be_visible()
    expect(page.locator("main")).to_contain_text("logged in as Tamsin, who is not a builder")
    page.get_by_role("link", name="Keepsake").click()
    expect(page.get_by_role("link", name="look into the agents")).to_be_visible()


# -- all agents


def test_the_list_of_all_agents_says_whether_their_model_keeps_secrets(page: Page) -> None:
    page.goto("/agents/")
    expect(page.locator("#model")).to_contain_text("The agents' model: ")
    expect(page.locator("#keeps-secrets")).to_contain_text(
        re.compile(r"^It keeps secrets: (yes|no|not known) \(|: not asked: ")
    )


def test_a_village_is_watched_room_by_room(page: Page, world: WatchedWorld) -> None:
    page.goto("/agents/live")
    expect(page.locator("#live")).to_have_text("live")
    inn = page.get_by_role("region", name="The Kettle")
    expect(inn.locator(".people")).to_contain_text("Tamsin")
    line = world.say("The eels are late")
    said = inn.locator(".talk li", has_text=line)
    expect(said).to_have_count(1)
    expect(said.locator("b")).to_have_text("Tamsin")
    expect(said.get_by_role("link", name="Mira perceived it")).to_be_visible()
    answer = inn.locator(".talk li", has_text="The ferry leaves").last
    expect(answer.locator("b")).to_have_text("Mira")
    expect(answer).to_contain_text("to Tamsin")
    world.tamsin.type("whisper Mira = The key is under the stone.", "key")
    expect(inn.locator(".talk li.whisper").first).to_contain_text("whispered")
    expect(page.locator("#due")).to_contain_text("plan")


def test_whispers_are_marked_among_what_an_agent_knows_of_somebody(
    page: Page, world: WatchedWorld
) -> None:
    words = "The silver spoon lies in the well"
    world.tamsin.type(f"whisper Mira = {words}.", "silver")
    open_mira(page, "memory")
    expect(page.locator(".memory.whisper", has_text=words)).to_be_visible()

    def noted() -> bool:
        pages = api(page, "book?of=people")
        return any(words in each["text"] and each["private"] for each in pages)

    while not noted():  # its pages of people are written once a minute
        page.wait_for_timeout(1000)
    page.locator("#sections").get_by_role("link", name="People").click()
    line = page.locator("#panel-people .prose li", has_text=words)
    expect(line).to_contain_text("keeps it private")
    assert faults(page) == []


def test_rooms_begin_with_what_was_said_last_and_the_page_ends_with_them(
    page: Page, world: WatchedWorld
) -> None:
    world.say("The lamp is lit")
    page.set_viewport_size({"width": 1400, "height": 900})
    page.route("**/api/events*", lambda route: route.abort())  # all of it happened long ago
    page.goto("/agents/live")
    inn = page.get_by_role("region", name="The Kettle")
    expect(inn.locator(".talk li").first).to_be_visible()
    expect(page.locator("#rooms h3").first).to_have_text("The Kettle")  # where somebody plays
    holes = page.evaluate(
        """[...document.querySelectorAll("#rooms .column")].map((column) =>
             Math.max(0, ...[...column.children].slice(1).map((room, i) =>
               room.getBoundingClientRect().top
               - column.children[i].getBoundingClientRect().bottom)))"""
    )
    assert len(holes) == 3
    assert max(holes) < 20
    cut = page.evaluate(
        """[...document.querySelectorAll(".talk")].flatMap((talk) => [...talk.children]
             .map((line) => line.offsetTop - talk.scrollTop)
             .filter((top, i) => top < -1 && top + talk.children[i].offsetHeight > 4))"""
    )
    assert cut == []
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator("#rooms .column")).to_have_count(1)
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(inn.locator(".talk")).to_contain_text("The ferry leaves")
    page.unroute("**/api/events*")
    page.goto("/agents/live")
    expect(inn.get_by_role("link", name="Mira perceived it").nth(10)).to_be_attached()
    below = page.evaluate(
        """document.documentElement.scrollHeight
           - Math.max(innerHeight, document.querySelector("main").getBoundingClientRect().bottom)"""
    )
    assert below <= 1


def test_all_agents_stand_in_the_table_and_the_keyboard_finds_one(page: Page) -> None:
    page.goto("/agents/")
    rows = page.locator("#agents tr")
    expect(rows).to_have_count(7)
    page.keyboard.press("/")
    page.keyboard.type("kettle")
    expect(rows.filter(has_text="Mira")).to_be_visible()
    page.get_by_label("Filter the agents").fill("nobody is called so")
    expect(rows).to_have_count(0)
    expect(page.locator("#none")).to_contain_text("No agent matches")
    page.get_by_label("Filter the agents").fill("")
    page.get_by_role("columnheader", name="Agent").get_by_role("button").click()
    expect(rows.first).to_contain_text("Bram")
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Joss")).to_be_visible()


def test_every_section_of_an_agent_and_the_map_of_the_world_are_shown(page: Page) -> None:
    open_mira(page)
    for section in SECTIONS:
        page.locator("#sections").get_by_role("link", name=section.capitalize()).click()
        wanted = "canvas" if section == "charts" else "[data-row], form"
        expect(page.locator(f"#panel-{section}").locator(wanted).first).to_be_visible()
    page.goto("/agents/")
    page.get_by_role("link", name="World").click()
    place = page.locator("#where dt", has_text=re.compile("^The Kettle$"))
    inn = place.locator("xpath=following-sibling::dd[1]")
    expect(inn).to_contain_text("Tamsin")
    expect(inn.get_by_role("link", name="Mira")).to_be_visible()


# -- live


def test_on_a_phone_menus_unfold_and_pages_begin_with_their_content(page: Page) -> None:
    open_mira(page, "memory")
    address = page.url
    high = 844
    page.set_viewport_size({"width": 390, "height": high})
    page.goto("/agents/world/")
    expect(page.locator("#map .face").first).to_be_visible()
    holder = page.locator(".map-holder")
    assert holder.evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    expect(page.get_by_role("link", name="Live")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("link", name="Live")).to_be_visible()
    page.goto(address)
    chosen = page.locator("#section")
    expect(chosen).to_have_text("Memory")
    chosen.click()
    page.locator("#sections").get_by_role("link", name="Plans").click()
    expect(page.locator("#sections")).to_be_hidden()
    expect(chosen).to_have_text("Plans")
    box = page.locator("#panel-plans").bounding_box()
    assert box is not None
    assert box["y"] < 0.35 * high


def test_all_times_are_by_the_clock_of_the_world(page: Page) -> None:
    open_mira(page, "memory")
    zone = page.locator("html").get_attribute("data-zone")
    expect(page.locator(".zone")).to_have_text(re.compile(rf"^\w{{3}} \d\d:\d\d {zone}$"))
    shown = page.locator(".memory time").first
    then = datetime.fromisoformat(shown.get_attribute("datetime") or "")
    expect(shown).to_contain_text(f"{then.astimezone(ZoneInfo(zone or '')):%H:%M}")


def test_what_happens_is_seen_without_a_reload(page: Page, world: WatchedWorld) -> None:
    page.goto("/agents/")
    expect(page.locator("#live")).to_have_text("live")
    line = world.say("Snow is coming")
    heard = page.locator(".event", has_text=f'Tamsin says, "{line}"')
    expect(heard).to_have_count(1)
    expect(heard.locator("b")).to_have_text("Tamsin")
    expect(heard).to_contain_text("perceived by Mira")
    inn = page.locator(".group", has=page.get_by_role("heading", name="The Kettle"))
    expect(inn.locator(".event", has_text=line).first).to_be_visible()
    expect(page.locator("#agents tr", has_text="Mira")).to_contain_text(
        'says to Tamsin, "The ferry leaves'
    )
    thought = page.locator("#feed .event.thought").first
    expect(thought).to_be_hidden()
    page.get_by_label("also thoughts").check()
    expect(thought).to_be_visible()


# -- search


def test_a_search_finds_the_newest_words_and_leads_to_the_memory(
    page: Page, world: WatchedWorld
) -> None:
    line = world.say("Herons nest by the weir")
    page.goto("/agents/")
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Words", exact=True).fill(line)
    page.keyboard.press("Enter")
    expect(page.locator("#hits li").first).to_contain_text("Mira")
    page.locator("#hits a").first.click()
    expect(page.locator(".memory.marked")).to_contain_text(line)
    page.goto("/agents/search/?q=ferry+leaves&by=words&kind=act")
    found = page.locator("#hits li").first
    words = found.locator(".what").inner_text()
    found.get_by_role("link", name="why?").click()
    expect(page.locator("#panel-why .chain li").first).to_contain_text(words)
    page.goto("/agents/search/")
    page.locator("#filters summary").click()
    page.get_by_label("Person").fill("Mira")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("person=Mira"))
    expect(page.locator("#hits li").first).to_contain_text("Mira")


def test_a_search_by_meaning_and_words_has_filters(page: Page, world: WatchedWorld) -> None:
    world.say("A sailor drowned beyond the bar")
    page.goto("/agents/search/?q=drowning+sailors")
    expect(page.locator("#hits li").first).to_contain_text("A sailor drowned")
    page.locator("#filters summary").click()
    page.get_by_label("Person").fill("tam")
    page.get_by_label("only private").check()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#summary")).to_be_visible()
    expect(page.locator("#hits li", has_text="A sailor drowned")).to_have_count(0)
    page.get_by_label("only private").uncheck()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#hits li").first).to_contain_text("A sailor drowned")
    page.get_by_label("Place").fill("the moon")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#summary")).to_contain_text("No memory was found")
    page.reload()
    expect(page.get_by_label("Place")).to_have_value("the moon")
