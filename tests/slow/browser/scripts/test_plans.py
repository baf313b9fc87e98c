"""Plans: of one agent, and of all agents by what they wait for."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import serve, show


def test_a_plan_tells_its_time_once_and_in_the_words_of_the_world(page: Page) -> None:
    plan = {
        "line": "2026-05-02 09:30: bake",
        "at": "2026-05-02T07:30:00+00:00",
        "state": "open",
        "why": "",
        "memory": 0,
        "private": False,
    }
    serve(page, "agents/1/plans", [plan])
    serve(page, "agents/1/day", {"usual": "6-8 at home: bakes", "now": ""})
    show(page, "book", "PlanSection")
    expect(page.get_by_role("list", name="Plans", exact=True)).to_have_text(
        "2026-05-02 09:30: bake"
    )
    expect(page.locator("main")).to_contain_text("today and tomorrow")
    expect(page.locator("main")).to_contain_text("6-8 at home: bakes")


def test_plans_of_all_agents_stand_by_what_they_wait_for(page: Page) -> None:
    plan = {"id": 1, "agent": "Mira", "line": "", "waits_for": "", "place": "", "whom": ""}
    plan |= {"at": None, "state": "open", "begun": False, "why": "", "memory": 0, "private": False}
    hour = 3_600_000
    at = page.evaluate(f"new Date(Date.now() + 2 * {hour} + 60000).toISOString()")
    late = page.evaluate("new Date(Date.now() - 600000).toISOString()")
    plans = [
        {**plan, "number": 1, "what": "ring <b>the bell</b>", "at": late, "state": "doing"},
        {**plan, "number": 2, "what": "meet Tom", "at": at, "whom": "Tom", "private": True},
        {**plan, "number": 3, "what": "say no", "waits_for": "when Joss comes"},
        {**plan, "number": 4, "what": "bake", "place": "The Kettle"},
        {**plan, "number": 5, "what": "sing", "state": "done"},
        {**plan, "number": 6, "what": "sleep", "state": "missed", "why": "it was late"},
    ]
    serve(page, "plans?ended=true", plans)
    page.evaluate(
        """() => {
            document.body.innerHTML = `<input id=filter><p id=summary></p><p id=next hidden></p>
                <p id=trouble-here hidden></p><main id=lists></main>`;
            return import("/plans.js");
        }"""
    )
    expect(page.locator("#summary")).to_have_text(
        "4 open plans. Of the last that have ended: 1 kept, 1 missed, 0 given up."
    )
    expect(page.locator("#next")).to_contain_text(re.compile(r"Mira,.*\(in 2 h\): meet Tom"))
    rows = page.locator("table", has=page.locator("tbody"))
    assert [each.get_attribute("aria-label") for each in rows.all()] == [
        "Due",
        "Waiting for somebody or something",
        "At any time",
        "Ended lately",
    ]
    due = page.locator("table[aria-label=Due] tbody tr")
    expect(due.first).to_contain_text("10 min ago")
    expect(due.first).to_contain_text("ring <b>the bell</b>")
    expect(due.last).to_contain_text("in private")
    expect(page.locator("tr", has_text="sleep")).to_contain_text("missedit was late")
