"""The dashboard in a real browser beside a real world.

The tests share one world, in which Mira's memory has a few compactions and Tamsin, a player, is
with her.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from playwright.sync_api import BrowserContext, Page, Response, Route, expect

from tests.slow.browser.watched import FACT, HOSTILE, WatchedWorld
from tests.slow.e2e.players import PASSWORD

SECTIONS = (
    "live",
    "prompt",
    "memory",
    "recall",
    "compactions",
    "charts",
    "why",
    "journal",
    "people",
    "notes",
    "nights",
)


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


# -- who may look


def test_a_stranger_and_a_player_learn_nothing(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page = stranger.new_page()
    page.goto("/agents/1/")
    assert "Mira" not in page.content()
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
    page.get_by_role("link", name="Keepsake").click()
    expect(page.get_by_role("link", name="look into the agents")).to_be_visible()


# -- all agents


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
    expect(inn.locator(".talk li.whisper").first).to_contain_text("in private")
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
    expect(line).to_contain_text("in private")


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
    inn = page.locator("#rooms li", has=page.locator("b", has_text=re.compile("^The Kettle$")))
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
    expect(page.locator(".zone")).to_have_text(f"times of the world, {zone}")
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


# -- an agent


def test_a_long_wait_for_a_server_that_is_well_is_no_problem(page: Page) -> None:
    def waits(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "waiting": 9.0})

    page.route(re.compile(r"/api/agents/\d+$"), waits)
    with page.expect_response(lambda answer: answer.url.endswith("/api/agents")):
        open_mira(page)
    expect(page.locator("#state")).to_contain_text("waits for 9.0 s")
    page.wait_for_timeout(500)
    expect(page.locator("#servers-problem")).to_be_hidden()


def test_what_players_write_stays_words(page: Page) -> None:
    def quoted(route: Route) -> None:  # whatever a model leaves out of its summaries
        answer = route.fetch()
        said = answer.json()
        said["longterm"]["text"] = HOSTILE
        route.fulfill(response=answer, json=said)

    page.route("**/tiers", quoted)
    open_mira(page, "memory")
    page.get_by_role("button", name=re.compile("^long-term summary:")).click()
    said = page.locator(".memory", has_text=HOSTILE).locator(".what")
    expect(said).to_be_visible()
    # Signs that turn writing round end with the words that they stand in.
    assert said.evaluate("(node) => getComputedStyle(node).unicodeBidi") == "isolate"
    expect(page.locator(".summary .prose").first).to_contain_text("<img")
    assert page.title() == "Mira: memory"
    links = "- in memory [3](#memory/3), not [here](javascript:alert(1))"
    text = f"## Heard\n\n- **so**: {HOSTILE}\n{links}"
    written = {"text": text, "title": "Tom", "file": "", "facts": {}, "private": []}
    page.route("**/book?*", lambda route: route.fulfill(json=[{**written, "at": None}]))
    page.locator("#sections").get_by_role("link", name="People").click()
    expect(page.get_by_role("heading", name="Heard")).to_be_visible()
    expect(page.locator("#panel-people .prose li", has_text="<img").locator("b")).to_have_text("so")
    assert page.locator("main img, main script").count() == 0
    expect(page.locator("#panel-people .prose a")).to_have_attribute("href", "#memory/3")


def test_a_click_on_the_timeline_shows_the_memory_as_it_was_and_one_leads_back(page: Page) -> None:
    open_mira(page, "memory")
    strip = page.locator(".memory-line .strip")
    expect(strip.locator(".made").first).to_be_attached()
    expect(page.locator(".dates span").first).to_be_visible()
    expect(page.get_by_role("button", name="Show the new memories")).to_be_hidden()
    slider = page.get_by_role("slider", name="Memory")
    total = int(slider.get_attribute("max") or "") + 1
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] * 0.4, "y": box["height"] / 2})
    marked = page.locator(".memory.marked .number")
    expect(marked).to_be_visible()
    assert abs(int(marked.inner_text()) - 0.4 * total) <= 0.02 * total
    head = page.locator("#then")
    expect(head).to_contain_text(f"memory {marked.inner_text()} of {total} was the newest")
    zone = ZoneInfo(page.locator("html").get_attribute("data-zone") or "")
    came = page.locator(".memory.marked time").get_attribute("datetime")
    at = datetime.fromisoformat(came or "").astimezone(zone)
    expect(head.locator("time")).to_contain_text(f"{at:%H:%M}")
    expect(page.locator(".memories .memory").last).to_have_class(re.compile("marked"))
    slider.press("Home")
    expect(page.locator(".memory.marked")).to_have_id("memory-1")
    expect(slider).to_be_focused()
    expect(head).to_contain_text(f"memory 1 of {total} was the newest")
    expect(page.locator("#panel-memory .legend")).to_have_text("window, word for word: 1–1")
    page.locator("#sections").get_by_role("link", name="Live").click()
    expect(head).to_be_hidden()
    page.locator("#sections").get_by_role("link", name="Memory").click()
    expect(head).to_be_hidden()
    slider.press("Home")
    page.get_by_role("button", name="Back to now").click()
    expect(head).to_be_hidden()
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^memory {total},"))
    expect(page.locator(".memories .memory .number").last).to_have_text(str(total))


def test_the_timeline_opens_what_is_under_a_summary(page: Page) -> None:
    open_mira(page, "memory")
    tiers = page.locator(".tier")
    expect(tiers).to_have_count(3)
    tiers.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".memory", has_text=FACT)).to_be_visible()
    page.get_by_label("Go to memory").fill("3")
    page.keyboard.press("Enter")
    expect(page.locator(".memory.marked")).to_have_id("memory-3")
    expect(page.locator("#memory-3")).to_be_focused()


def test_the_prompt_stands_there_by_section(page: Page) -> None:
    with page.expect_response(re.compile(r"/prompt$")) as answer:
        open_mira(page, "prompt")
    sections = page.locator("#panel-prompt .sections > li")
    expect(sections.first).to_be_visible()
    window = sections.filter(has=page.locator("b", has_text=re.compile("^window$")))
    expect(window.locator("pre")).to_be_hidden()
    window.locator("summary").click()
    expect(window.locator("pre")).to_contain_text("Tamsin says")
    page.get_by_label("as it was sent").check()
    stretches = page.locator(".sent > li")
    expect(stretches.first).to_be_visible()
    shown = "\n".join(stretches.locator("pre").all_text_contents())
    assert shown == "\n".join(each["text"] for each in answer.value.json()["sent"])


def test_recall_by_hand_shows_scores_and_leads_to_the_memory(page: Page) -> None:
    open_mira(page, "recall")
    page.get_by_label("Question").fill("Where does Edwin mend nets?")
    page.keyboard.press("Enter")
    best = page.locator(".hits li").first
    expect(best).to_contain_text(FACT)
    expect(best.locator("small")).to_contain_text("edwin")
    number = best.locator("a").first.inner_text().removeprefix("memory ")
    best.locator("a").first.click()
    expect(page.locator(f"#memory-{number}")).to_be_focused()


def test_a_compaction_shows_what_changed(page: Page) -> None:
    page.route("**/compactions?*", lambda route: route.fulfill(json=[]))
    open_mira(page, "compactions")
    expect(page.locator("#panel-compactions")).to_contain_text("None yet")
    for name in ("Undo the last", "Show older ones"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    page.unroute("**/compactions?*")
    made = next(
        each
        for each in api(page, "compactions")
        if each["before"]["longterm"]
        and each["before"]["longterm"]["text"] != each["after"]["longterm"]["text"]
    )
    page.reload()
    words = "r => import('/static/keepsake/watch/event_words.js').then(m => m.describe(...r))"
    vain = {"number": 1, "tokens_before": 1500, "tokens_after": 1501}
    assert page.evaluate(words, ["compaction", vain])["tone"] == "trouble"
    refused = page.evaluate(words, ["memory", {"op": "undo", "problem": "one is under way"}])
    assert refused["what"] == "failed: a compaction is undone"
    title = page.get_by_text(f"Compaction {made['number']}", exact=True)
    shown = page.locator(".compactions > li").filter(has=title)
    shown.locator("summary").first.click()
    shown.get_by_text("change by change").click()
    expect(shown.locator("ins").first).to_be_visible()
    (first, last) = made["covered"]
    shown.get_by_text(f"Memories {first}–{last}, word for word").click()
    expect(shown.locator(".under .memory")).to_have_count(min(last - first + 1, 50))


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


def test_a_search_by_meaning_and_words_has_filters(page: Page, world: WatchedWorld) -> None:
    world.say("A sailor drowned beyond the bar")
    page.goto("/agents/search/?q=drowning+sailors")
    expect(page.locator("#hits li").first).to_contain_text("A sailor drowned")
    page.locator("#filters summary").click()
    page.get_by_label("Person").fill("tam")
    page.get_by_label("only in private").check()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#summary")).to_be_visible()
    expect(page.locator("#hits li", has_text="A sailor drowned")).to_have_count(0)
    page.get_by_label("only in private").uncheck()
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#hits li").first).to_contain_text("A sailor drowned")
    page.get_by_label("Place").fill("the moon")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#summary")).to_contain_text("No memory was found")
    page.reload()
    expect(page.get_by_label("Place")).to_have_value("the moon")


def test_an_agent_is_asked_again_without_a_memory(page: Page, world: WatchedWorld) -> None:
    world.say("What time is it?")
    open_mira(page, "why")
    total = api(page, "tiers")["total"]
    again = page.locator(".ask-again")
    again.locator("summary").click()
    again.get_by_label("Question").fill("When does the ferry leave?")
    again.get_by_role("button", name="Ask").click()
    answers = again.locator("figure blockquote")
    expect(answers).to_have_count(3)
    expect(answers.last).to_contain_text("The ferry leaves at")
    expect(again.locator("figcaption").last).to_contain_text("without memory")
    newer = api(page, f"memories?first={total + 1}&last={total + 50}")
    assert not any("When does the ferry leave" in each["text"] for each in newer)


def test_why_leads_from_an_act_down_to_the_raw_memories(page: Page, world: WatchedWorld) -> None:
    line = world.say("When does the ferry leave?")
    open_mira(page)
    page.get_by_label("also thoughts").check()
    answered = page.locator("#feed .event.thought", has_text="Tamsin")
    expect(answered.last).to_be_visible()
    expect(page.locator("#feed .event", has_text=f'"{line}"')).to_be_visible()
    page.locator("#sections").get_by_role("link", name="Why").click()
    chain = page.locator(".chain")
    expect(chain).to_contain_text('says to Tamsin, "The ferry leaves at')
    expect(chain).to_contain_text("Long-term summary of memories 1–")
    expect(chain).to_contain_text("comma answered after")
    chain.get_by_role("link", name="its prompt").click()
    expect(page.locator("#panel-prompt .sent pre").first).to_contain_text(line)


# -- buttons


def test_buttons_act_and_say_what_came_of_it(page: Page) -> None:
    open_mira(page)
    page.locator("#acts").get_by_role("button", name="Pause").click()
    expect(page.locator("#state .badge")).to_have_text("paused")
    expect(page.locator("#outcome")).to_contain_text("Mira")
    page.locator("#acts").get_by_role("button", name="Resume").click()
    expect(page.locator("#state .badge")).not_to_have_text("paused")
    page.locator("#acts").get_by_role("button", name="Compact").click()
    expect(page.locator("#outcome")).to_contain_text(re.compile("ompact"))


def test_builders_pin_note_and_undo_from_the_page(page: Page) -> None:
    open_mira(page, "notes")
    for label, fields, done in (
        ("Write a note", {"Title": "weir", "Text": "Herons nest there."}, "Written to"),
        ("Pin a line", {"Line": "Tamsin counts herons."}, "Pinned:"),
    ):
        fold = page.locator("#panel-notes details", has_text=label).first
        fold.locator("summary").click()
        for name, words in fields.items():
            fold.get_by_label(name).fill(words)
        fold.get_by_role("button", name=label).click()
        expect(page.locator("#outcome")).to_contain_text(done)  # not what came of the one before
    expect(page.locator(".book")).to_contain_text("Herons nest there.")
    expect(page.locator("#panel-notes").get_by_text("Tamsin counts herons.")).to_have_count(1)
    expect(page.locator("#panel-notes .empty")).to_have_count(0)
    pinned = page.locator(".pins li", has_text="Tamsin counts herons.").get_by_role("button")
    page.on("dialog", lambda dialog: dialog.accept())
    pinned.click()
    expect(page.locator("#outcome")).to_contain_text("Unpinned")
    page.locator("#sections").get_by_role("link", name="Compactions").click()
    undo = page.get_by_role("button", name="Undo the last")
    undo.click()
    expect(page.locator("#outcome")).to_contain_text("Undid compaction")
    expect(page.locator(".compactions > li", has_text="undone").first).to_be_visible()


def test_a_builder_edits_a_summary_and_a_profile(page: Page) -> None:
    open_mira(page, "memory")
    page.get_by_role("button", name=re.compile("^long-term summary:")).click()
    summary = page.locator(".summary").first
    fold = summary.locator("details", has_text="Edit this summary")
    fold.locator("summary").click()
    fold.get_by_label("Text").fill("- Tamsin counts herons at the weir.")
    fold.get_by_role("button", name="Edit this summary").click()
    expect(page.locator("#outcome")).to_contain_text("edited by hand")
    expect(page.locator(".summary .prose").first).to_contain_text("counts herons")
    expect(page.locator(".memory-line .made.edit")).to_be_attached()
    stale = {"tier": "longterm", "text": "- Nothing.", "was": "- What it was."}
    token = next(each for each in page.context.cookies() if each["name"] == "csrftoken")["value"]
    number = page.locator("body").get_attribute("data-agent")
    refused = page.request.post(
        f"/agents/api/agents/{number}/edit-summary", data=stale, headers={"X-CSRFToken": token}
    )
    assert "changed meanwhile" in refused.json()["said"]
    page.locator("#sections").get_by_role("link", name="Notes").click()
    before = page.locator(".profile").inner_text()
    fold = page.locator("#panel-notes details", has_text="Edit the profile")
    fold.locator("summary").click()
    fold.get_by_label("Profile").fill(f"{before} You whistle.")
    fold.get_by_role("button", name="Edit the profile").click()
    expect(page.locator(".profile")).to_contain_text("You whistle.")
    page.get_by_text("Former profiles (1)").click()
    expect(page.locator("#panel-notes details ol")).to_contain_text(before[:40])


# -- last, for it takes an agent, and then the world, away


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
    page = stranger.new_page()
    page.goto("/webclient/")
    story = page.locator("#story")
    line = page.get_by_label("What you do")
    expect(story).to_contain_text("to leave.")
    line.fill("create Hanne willow-harbour-lantern")
    line.press("Enter")
    expect(page.get_by_role("navigation", name="Ways out")).to_be_visible()
    world.tamsin.type("talk Hanne Have you seen my cup?", "You say")
    expect(story.locator(".to-you").last).to_contain_text("Have you seen my cup?")
    world.tamsin.type("say It was blue.", "You say")
    heard = story.locator("> div", has_text="It was blue.").last
    expect(heard).not_to_have_class(re.compile("to-you"))
    for _ in range(6):
        line.fill("help")
        line.press("Enter")
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


def test_a_player_walks_by_clicks_and_is_back_there_after_a_restart_of_the_world(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page = stranger.new_page()
    page.goto("/webclient/")
    story = page.locator("#story")
    expect(story).to_contain_text("to leave.")
    expect(page.locator("#map")).to_be_hidden()
    line = page.get_by_label("What you do")
    ways = page.get_by_role("navigation", name="Ways out")
    for typed in ("help", "look", "create Griet willow-harbour-lantern"):
        line.fill(typed)
        line.press("Enter")
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
    line.fill("look")
    line.press("Enter")
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
    line.fill("say Good day, all.")
    line.press("Enter")
    expect(story).to_contain_text("You say,")
    expect(story.get_by_text("Good day, all.")).to_have_count(1)
    for typed in ("look", "say Once more.", "look"):  # typed before the first answer has come
        line.fill(typed)
        line.press("Enter")
    expect(story.locator(".own", has_text="Once more.")).to_have_count(1)
    expect(story.locator(".mine", has_text="Once more.")).to_have_count(0)
    page.get_by_role("button", name="map").click()
    page.set_viewport_size({"width": 390, "height": 420})  # the keyboard is up
    expect(page.locator("#map")).to_be_hidden()
    box = story.bounding_box()
    assert box is not None
    assert box["height"] > 200
    line.fill("quit")
    line.press("Enter")
    expect(story.get_by_role("link", name="Connect again")).to_be_visible()
    expect(line).to_be_hidden()
