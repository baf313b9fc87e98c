"""Open pages while the world is reloaded or stopped, and the page in which players play.

The tests share one world. The last of them takes it away for a while.
"""

from __future__ import annotations

import os
import re

from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.watched import WatchedWorld


def open_client(stranger: BrowserContext) -> tuple[Page, Locator, Locator]:
    """Open the web client; return its page, what it shows, and where one types."""
    page = stranger.new_page()
    page.goto("/webclient/")
    story = page.locator("#story")
    expect(story).to_contain_text("to leave.")
    return page, story, page.get_by_label("What you do")


def type_lines(line: Locator, *typed: str) -> None:
    """Type lines, each with the Enter key."""
    for each in typed:
        line.fill(each)
        line.press("Enter")


def test_after_a_reload_of_the_world_the_page_goes_on(page: Page, world: WatchedWorld) -> None:
    told: list[Response] = []
    page.on("response", lambda each: told.append(each) if "/api/events?" in each.url else None)
    open_mira(page)
    expect(page.locator("#live-sign")).to_have_text("live")
    before = world.say("Before the reload")
    rows = page.locator("#feed .event")
    expect(rows.filter(has_text=f'Tamsin says, "{before}"')).to_have_count(1)
    assert world.copy.keepsake("reload").returncode == 0
    expect(page.locator("#live-sign")).to_have_text("live")
    after = world.say("After the reload")
    expect(rows.filter(has_text=f'Tamsin says, "{after}"')).to_have_count(1)
    expect(rows.filter(has_text=f'Tamsin says, "{before}"')).to_have_count(1)
    whole = [each.json() for each in told[-20:] if each.ok]
    assert whole
    assert not any(each["gap"] for each in whole), "no event is missing"


def test_words_to_a_player_stand_out_and_lines_below_are_counted(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page, story, line = open_client(stranger)
    expect(line).to_have_attribute("placeholder", re.compile("^create <name> <password>"))
    type_lines(line, "create Hanne willow-harbour-lantern")
    expect(page.get_by_role("navigation", name="Ways out")).to_be_visible()
    expect(line).to_have_attribute("placeholder", re.compile("^help, look"))
    world.tamsin.type("talk Hanne Have you seen my cup?", "You say")
    expect(story.locator(".to-you").last).to_contain_text("Have you seen my cup?")
    world.tamsin.type("say It was blue.", "You say")
    heard = story.locator("> div", has_text="It was blue.").last
    expect(heard).not_to_have_class(re.compile("to-you"))
    type_lines(line, *["help"] * 6)
    expect(story.locator(".mine")).to_have_count(7)
    line.press("PageUp")
    line.press("PageUp")
    world.tamsin.type("talk Hanne Are you there?", "You say")
    unread = page.locator("#unread")
    expect(unread).to_contain_text("new line")
    unread.click()
    expect(unread).to_be_hidden()
    expect(story.locator("> div").last).to_be_in_viewport()
    page.get_by_role("button", name="settings").click()
    page.get_by_label("Colours").select_option("light")
    page.get_by_label("Size").select_option("large")
    page.get_by_role("button", name="Close").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.locator("html")).to_have_attribute("data-size", "large")
    if shots := os.environ.get("KEEPSAKE_SHOTS"):
        page.screenshot(path=f"{shots}/client.png")


def test_the_web_client_tells_the_world_and_builders_answers_apart(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page, story, line = open_client(stranger)
    password = world.copy.here.admin_password.read_text().strip()
    type_lines(
        line, f"connect admin {password}", "@llm-status", "@why mira", "@agent nobody", "time"
    )
    answers = story.locator(".builder")
    expect(answers.filter(has_text="The agents' model:")).to_have_count(1)
    expect(answers.filter(has_text="Mira's last act")).to_have_count(1)
    expect(answers.filter(has_text="That did not work:")).to_have_count(1)
    expect(story.locator(".world")).to_have_count(1)
    type_lines(line, "who")
    table = story.locator(".laid-out", has_text="Living here")
    page.get_by_role("button", name="settings").click()
    page.get_by_label("Font").select_option("serif")
    page.get_by_role("button", name="Close").click()
    family = "(line) => getComputedStyle(line).fontFamily"
    assert "monospace" in table.evaluate(family)
    assert "serif" in story.locator(".world").evaluate(family)
    type_lines(line, "say Good night.")
    expect(story.locator(".own", has_text="Good night.")).to_have_count(1)
    type_lines(line, "quit")
    expect(story.get_by_role("link", name="Connect again")).to_be_visible()


def test_a_player_walks_by_clicks_and_is_back_there_after_a_restart_of_the_world(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page, story, line = open_client(stranger)
    expect(page.locator("#map")).to_be_hidden()
    ways = page.get_by_role("navigation", name="Ways out")
    type_lines(line, "help", "look", "create Griet willow-harbour-lantern")
    expect(story.locator("> div").last).to_be_in_viewport()
    picture = page.locator("#drawn")
    expect(picture.locator(".here")).to_contain_text("The Kettle")
    expect(picture.locator(".beside").filter(has_text="Pump Square")).to_have_count(1)
    ways.get_by_title("The Quay").click()
    expect(ways.get_by_title("The Salt Pans")).to_be_visible()
    expect(picture.locator(".here")).to_contain_text("The Quay")
    picture.locator(".beside", has_text="The Kettle").click()
    expect(picture.locator(".here")).to_contain_text("The Kettle")
    ways.get_by_title("The Quay").click()
    expect(ways.get_by_title("The Salt Pans")).to_be_visible()
    page.locator("#story").get_by_role("link", name="north").last.click()
    expect(ways.get_by_title("Pump Square")).to_be_visible()
    ways.get_by_title("The Quay").click()
    expect(ways.get_by_title("The Salt Pans")).to_be_visible()
    assert world.copy.keepsake("stop").returncode == 0
    expect(story).to_contain_text("The connection is lost; trying again")
    type_lines(line, "look")
    expect(story).to_contain_text("Not connected yet; that was not sent.")
    page.evaluate("document.getElementById('story').replaceChildren()")
    assert world.copy.keepsake("start").returncode == 0
    expect(ways.get_by_title("The Salt Pans")).to_be_visible()
    expect(story).to_contain_text("Granite steps go down into water")
    ways.get_by_title("The Kettle").click()
    expect(ways.get_by_title("Pump Square")).to_be_visible()
    page.reload()
    expect(story).to_contain_text("before the page was loaded again")
    expect(story).to_contain_text("Granite steps go down into water")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(ways.get_by_text("Pump Square")).to_be_visible()
    type_lines(line, "say Good day, all.")
    expect(story).to_contain_text("You say,")
    expect(story.get_by_text("Good day, all.")).to_have_count(1)
    # typed before the first answer has come
    type_lines(line, "look", "say Once more.", "look")
    expect(story.locator(".own", has_text="Once more.")).to_have_count(1)
    expect(story.locator(".mine", has_text="Once more.")).to_have_count(0)
    page.get_by_role("button", name="map").click()
    page.set_viewport_size({"width": 390, "height": 420})  # the keyboard is up
    expect(page.locator("#map")).to_be_hidden()
    box = story.bounding_box()
    assert box is not None
    assert box["height"] > 200
    type_lines(line, "quit")
    expect(story.get_by_role("link", name="Connect again")).to_be_visible()
    expect(line).to_be_hidden()
