"""The page of one agent in a real browser: its memory, its prompt, and the buttons.

The tests share one world, in which Mira's memory has a few compactions and Tamsin, a player, is
with her.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from playwright.sync_api import Page, Route, expect

from tests.slow.browser.looking import api, open_mira
from tests.slow.browser.test_axe import faults
from tests.slow.browser.watched import FACT, HOSTILE, WatchedWorld


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


def test_a_sentence_that_knows_too_much_has_the_whole_width(page: Page) -> None:
    def with_one(route: Route) -> None:
        answer = route.fetch()
        told = "A lantern hung from the mast of the ferry, and nobody aboard had lit it. " * 3
        too_much = [{"text": told, "missing": ["lantern"], "languages": []}]
        route.fulfill(response=answer, json={**answer.json(), "unfounded": too_much})

    page.route("**/losses", with_one)
    open_mira(page, "compactions")
    page.goto(page.url.partition("#")[0] + "#compactions/last")
    row = page.locator(".too-much li")
    expect(row.locator("mark").first).to_be_visible()
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 844})
        words = row.locator(".what").bounding_box()
        whole = row.bounding_box()
        assert words is not None
        assert whole is not None
        assert words["width"] > 0.9 * whole["width"] > 0.7 * width


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
    expect(page.locator(".memories .memory").first).to_have_class(re.compile("marked"))
    slider.press("Home")
    expect(page.locator(".memory.marked")).to_have_id("memory-1")
    expect(slider).to_be_focused()
    expect(head).to_contain_text(f"memory 1 of {total} was the newest")
    expect(page.locator("#panel-memory .legend")).to_have_text("window, word for word: 1–1")
    page.locator("#sections").get_by_role("link", name="Live").click()
    expect(head).to_be_hidden()
    page.locator("#sections").get_by_role("link", name="Memory").click()
    expect(head).to_be_hidden()
    # The newest memories are shown again before the slider is moved.
    expect(page.locator(".memories .memory .number").last).to_have_text(str(total))
    slider.press("Home")
    expect(head).to_contain_text(f"memory 1 of {total} was the newest")
    page.get_by_role("button", name="Back to now").click()
    expect(head).to_be_hidden()
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"^memory {total},"))
    expect(page.locator(".memories .memory .number").last).to_have_text(str(total))


def test_a_marked_memory_can_be_read(page: Page) -> None:
    open_mira(page, "memory")
    strip = page.locator(".memory-line .strip")
    expect(strip.locator(".made").first).to_be_attached()
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] * 0.4, "y": box["height"] / 2})
    expect(page.locator(".memory.marked .number")).to_be_visible()
    assert faults(page) == []


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


def test_charts_begin_with_a_period_in_which_the_agent_thought(page: Page) -> None:
    def quiet(route: Route) -> None:
        answer = route.fetch()
        idle = [{**each, "thoughts": 0} for each in answer.json()["points"]]
        route.fulfill(response=answer, json={**answer.json(), "points": idle})

    page.route("**/series?hours=1", quiet)
    open_mira(page, "charts")
    period = page.locator("#panel-charts select")
    expect(period).to_have_value("6")
    expect(page.locator("#panel-charts canvas").first).to_be_visible()
    period.select_option("1")
    expect(period).to_have_value("1")


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


def test_a_builder_talks_with_an_agent_outside_the_game(page: Page, world: WatchedWorld) -> None:
    asked: list[Any] = []
    page.on("request", lambda each: asked.append(each) if each.url.endswith("/ask") else None)
    open_mira(page, "talk")
    total = api(page, "tiers")["total"]
    words = page.get_by_label("Say to Mira")
    lines = page.locator(".interview li")
    for number, question in enumerate(("When does the ferry leave?", "And the next one?")):
        words.fill(question)
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(lines.nth(number)).to_contain_text(question)
        expect(lines.nth(number)).to_contain_text("outside the game The ferry leaves at")
    first, second = (each.post_data_json for each in asked)
    assert first["before"] == []
    assert [each["question"] for each in second["before"]] == ["When does the ferry leave?"]
    newer = api(page, f"memories?first={total + 1}&last={total + 50}")
    assert not any("And the next one?" in each["text"] for each in newer)
    page.get_by_role("button", name="Forget this talk").click()
    expect(lines).to_have_count(0)
    words.fill("And now?")
    words.press("Enter")
    expect(lines).to_have_count(1)
    expect(lines.first).to_contain_text("outside the game")
    assert asked[-1].post_data_json["before"] == []
    page.locator("#panel-talk select").select_option("Tamsin")
    expect(lines).to_have_count(0)  # another person begins another talk
    words.fill("Who am I?")
    words.press("Enter")
    expect(lines).to_contain_text(["You as Tamsin Who am I?"])
    expect(lines.first).to_contain_text("outside the game The ferry leaves at")
    assert asked[-1].post_data_json["by"]


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
    chain.get_by_role("link", name="the prompt", exact=True).click()
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


def test_on_a_phone_the_head_and_the_ways_of_an_agent_are_whole(page: Page) -> None:
    open_mira(page, "why")
    page.set_viewport_size({"width": 390, "height": 844})
    when = page.locator("#state .act time").bounding_box()
    assert when is not None
    assert when["x"] + when["width"] <= 390  # long words before it are cut
    for name in ("What Mira will do", "What the last compaction lost"):
        expect(page.get_by_role("link", name=name)).to_be_visible()
    expect(page.locator(".turns").first).to_be_visible()
    boxes = [each.bounding_box() for each in page.locator(".turns").first.locator("> *").all()]
    assert len({box and round((box["y"] + box["height"] / 2) / 8) for box in boxes}) == 1
