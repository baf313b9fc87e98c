"""A person across agents, two agents side by side, and edits of an agent's books, in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.watched import FACT, WatchedWorld


def test_a_name_leads_to_what_all_agents_know_of_the_person(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Edwin")
    page.get_by_role("heading", name="How it went").click()
    page.locator("#tellings li").first.get_by_role("link", name="Tamsin").click()
    expect(page).to_have_title("Tamsin")
    mira = page.locator(".known", has=page.get_by_role("link", name="Mira"))
    expect(mira).to_contain_text(FACT)
    expect(page.locator("#strangers")).to_contain_text("Nell")
    told = mira.locator("li", has_text=FACT).first  # it is long ago, and tells most
    told.get_by_role("link", name=re.compile("^memory")).click()
    expect(page.locator(".memory.marked")).to_contain_text(FACT)


def test_of_what_an_agent_knows_as_much_is_seen_as_is_read_at_a_glance(
    page: Page, world: WatchedWorld
):
    rows = page.request.get("/agents/api/agents").json()["agents"]
    mira = next(each["id"] for each in rows if each["name"] == "Mira")
    more = {"whole": "", "part": "", "aside": "", "private": "", "number": 0}
    kinds = ("Thinks", "Promised", "Promised", *(5 * ["Told openly"]))
    lines = [
        {"label": label, "text": f"line {n} {9 * 'word '}", **more} for n, label in enumerate(kinds)
    ]
    found = {"asked": "knows", "id": mira, "agent": "Mira", "about": "Tamsin", "lines": lines}
    page.route(f"**/api/agents/{mira}/answer?*", lambda route: route.fulfill(json=found))
    page.goto(f"/agents/person?name=Tamsin&by={mira}")
    answer = page.locator("#answer")
    for of_each_kind in (0, 1, 3):
        expect(answer.get_by_text(f"line {of_each_kind} ")).to_be_visible()
    expect(answer.get_by_text("line 2 ")).to_be_hidden()
    answer.get_by_text("5 more lines").click()
    expect(answer.get_by_text("line 7 ")).to_be_visible()


def test_everybody_is_listed_and_filtered(page: Page, world: WatchedWorld):
    page.goto("/agents/person")
    rows = page.locator("#list li")
    expect(rows.filter(has_text="Tamsin")).to_have_count(1)
    page.get_by_label("Filter the people").fill("tams")
    expect(rows).to_have_count(1)
    page.get_by_role("link", name="Tamsin").click()
    expect(page).to_have_title("Tamsin")


def test_two_agents_are_compared(page: Page, world: WatchedWorld):
    page.goto("/agents/compare?q=Edwin")
    page.get_by_label("The first agent").select_option("Mira")
    page.get_by_label("The second agent").select_option("Nell")
    expect(page).to_have_title("Mira and Nell")
    standing = page.locator("#standing .known")
    expect(standing.first).not_to_contain_text("Is not known to know it")
    expect(standing.last).to_contain_text("Is not known to know it")
    page.get_by_label("Person", exact=True).select_option("Tamsin")
    expect(page.locator("#known .known").first).to_contain_text(FACT)
    expect(page.locator("#known .known").last).to_contain_text("Knows nothing of Tamsin")
    expect(page.locator("#memory .mind").first).to_be_visible()
    page.reload()
    expect(page.locator("#known .known").first).to_contain_text(FACT)


def test_beside_each_other_what_only_a_summary_tells_is_known(page: Page, world: WatchedWorld):
    page.goto("/agents/compare")
    rows = page.request.get("/agents/api/agents").json()["agents"]
    numbers = {each["name"]: each["id"] for each in rows}
    said = "Her nephews came on a ferry."
    row = {"standing": "recent", "said": said, "compaction": 1, "memories": [4]}
    book = {"book": "notes", "title": "A note", "numbers": [], "private": False}
    noted = {**book, "text": "The nephews.", "time": "2026-11-30T12:00:00Z"}
    fact = {"words": "nephews", "memory": None, "suggested": [], "complete": True, "knowers": []}
    fact |= {"tellings": [], "noted": [{"id": numbers["Nell"], "agent": "Nell", **noted}]}
    fact |= {"echoes": [{"id": numbers["Mira"], "agent": "Mira", **row}]}
    page.route("**/api/fact?*", lambda route: route.fulfill(json=fact))
    page.goto(f"/agents/compare?a={numbers['Mira']}&b={numbers['Nell']}&q=nephews")
    standing = page.locator("#standing .known")
    expect(standing.first).to_contain_text("in the short-term summary, from memories in other")
    expect(standing.first.locator("q")).to_have_text(said)
    expect(standing.last).to_contain_text("Has it in its books, but no memory with these words.")


def test_a_note_is_edited_and_brought_back(page: Page, world: WatchedWorld):
    open_mira(page, "notes")
    fold = page.locator("#panel-notes details", has_text="Write a note").first
    fold.locator("summary").click()
    fold.get_by_label("Title").fill("jetty")
    fold.get_by_label("Text").fill("The third plank is loose.")
    fold.get_by_role("button", name="Write a note").click()
    note = page.locator(".book > li", has_text="jetty")
    expect(note).to_contain_text("third plank")
    note.get_by_text("Edit this page").click()
    box = note.get_by_label(re.compile("as it is stored"))
    expect(box).to_have_value(re.compile("third plank"))
    box.fill(box.input_value().replace("third", "fourth"))
    note.get_by_role("button", name="Save").click()
    expect(note).to_contain_text("fourth plank")
    note.get_by_text("Edit this page").click()
    note.get_by_text("Earlier versions (1)").click()
    page.on("dialog", lambda dialog: dialog.accept())
    note.get_by_role("button", name="Bring it back").click()
    expect(note).to_contain_text("third plank")
    expect(page.locator("#outcome")).to_contain_text("as it was before")


def test_a_plan_is_written_on_the_page(page: Page, world: WatchedWorld):
    open_mira(page, "plans")
    panel = page.locator("#panel-plans")
    expect(panel).to_contain_text("Mira has no open plan")
    panel.get_by_text("Edit the plans").click()
    box = panel.get_by_label(re.compile("as it is stored"))
    box.fill("- [ ] tomorrow 12:00, Tamsin: show her the ferry\n")
    panel.get_by_role("button", name="Save").click()
    expect(panel.locator(".pins li").first).to_contain_text("show her the ferry")
    page.locator("#pages").get_by_role("link", name="Plans").click()
    row = page.locator("#lists tr", has_text="show her the ferry")
    expect(row.locator("td")).to_have_text(
        ["Mira", re.compile("12:00 (in|tomorrow)"), "show her the ferry ", "", "Tamsin", "", "open"]
    )
    expect(page.locator("#next")).to_contain_text("Mira")
    page.get_by_label("Filter the plans").fill("nothing like it")
    expect(page.locator("#lists")).to_have_text("No plan matches.")
    page.goto("/agents/")
    expect(page.locator("#next")).to_contain_text("with Tamsin: show her the ferry · 1 open plan")
