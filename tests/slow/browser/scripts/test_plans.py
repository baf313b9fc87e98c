"""Plans: of one agent, and of all agents by what they wait for."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, show

PART = {"place": "", "whom": "", "only_if": [], "unless": [], "plan": 0}
PART |= {"begun": False, "private": False}


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
    nothing = [{"date": f"2026-05-0{each}T00:00:00+02:00", "parts": []} for each in (1, 2)]
    day = {"usual": "6-8 at home: bakes", "now": None, "next": None, "dates": nothing}
    day |= {"place": "", "due": []}
    serve(page, "agents/1/day", day)
    promise = {"text": "promise to Tom: <b>soup</b>", "memory": 4}
    serve(page, "agents/1/book?of=kept", [{"promises": [promise], "private": [4]}])
    show(page, "plan_section", "PlanSection")
    promised = page.get_by_role("list", name="Promises")
    expect(promised).to_have_text("in privatepromise to Tom: <b>soup</b>memory 4")
    expect(page.get_by_role("list", name="Plans", exact=True)).to_have_text(
        "2026-05-02 09:30: bake"
    )
    expect(page.locator("main")).to_contain_text("6-8 at home: bakes")


def test_what_is_planned_promised_and_said_stands_before_the_habits(page: Page) -> None:
    plan = {"line": "bake", "at": None, "state": "open", "why": "", "memory": 0, "private": False}
    soon = {**plan, "line": "sail", "at": "2026-05-02T07:30:00+00:00"}
    serve(page, "agents/1/plans", [plan, soon])
    bakes = part(2, 8, 10, "bakes")
    dates = [{"date": "2026-05-01T00:00:00+02:00", "parts": []}]
    dates.append({"date": "2026-05-02T00:00:00+02:00", "parts": [bakes]})
    said = {**ACT, "form": "speech", "what": {"words": "Tomorrow.", "manner": "say", "to": []}}
    day = {"usual": "", "place": "", "due": [], "now": None, "next": bakes, "dates": dates}
    serve(page, "agents/1/day", {**day, "said": [said]})
    serve(
        page,
        "agents/1/book?of=kept",
        [{"promises": [{"text": "soup", "memory": 4}], "private": []}],
    )
    page.clock.set_fixed_time("2026-05-01T10:00:00Z")
    show(page, "plan_section", "PlanSection")
    assert page.locator("h3").all_inner_texts()[:3] == [
        "Plans",
        "Promises, and rules that it follows",
        "Also said about tomorrow",
    ]
    expect(page.get_by_role("list", name="Said about tomorrow")).to_contain_text("Tomorrow.")
    plans = page.get_by_role("list", name="Plans", exact=True).locator("li")
    expect(plans).to_have_text(["bake", "Tomorrow: sail"])
    heads = page.locator("h3")
    expect(heads.nth(3)).to_have_text(re.compile("^Today"))


def test_hours_before_what_is_next_of_which_nothing_is_known_are_named(page: Page) -> None:
    now = part(1, 9, 20, "bakes")
    next_day = part(2, 6, 8, "sweeps")
    day = {"usual": "", "place": "", "due": [], "now": now, "next": next_day, "dates": []}
    show_day(page, day)
    first = page.locator("main > p").first
    expect(first).to_have_text(
        "Next: usually at 06:00, in 18 h, sweeps (from 20:00 until then nothing is known)"
    )
    page.locator("main").evaluate("(main) => main.replaceChildren()")
    show_day(page, {**day, "next": part(1, 20, 21, "sweeps")})
    expect(first).not_to_contain_text("nothing is known")


def part(day: int, since: int, until: int | None, does: str, **facts: Any) -> dict[str, Any]:
    """Return a part of a day of May 2026, from one hour of the world to another."""
    hours = [f"2026-05-{day:02}T{each:02}:00:00+02:00" if each else None for each in (since, until)]
    return {**PART, "since": hours[0], "until": hours[1], "does": [does], **facts}


def test_what_is_next_is_the_first_line_and_each_day_a_time_line_with_its_plans(page: Page) -> None:
    bakes = part(1, 9, 20, "bakes", place="The Kettle")
    rest = part(1, 20, 21, "digs", place="The Quay", unless=["rain"])
    pies = part(2, 8, 10, "sells pies", only_if=["market day"])
    ladle = part(2, 15, None, "show the ladle", plan=3, private=True, whom="Tom")
    today = [part(1, 6, 9, "sleeps"), bakes, rest]
    dates = [{"date": "2026-05-01T00:00:00+02:00", "parts": today}]
    dates.append({"date": "2026-05-02T00:00:00+02:00", "parts": [pies, ladle]})
    day = {"usual": "9-20: bakes", "now": bakes, "next": rest, "dates": dates}
    show_day(page, {**day, "place": "The Quay", "due": []})
    lines = page.locator("main > p")
    weather = "if no rain, as the almanac says"
    expect(lines.first).to_have_text(f"Next: usually at 20:00, in 8 h, at The Quay: digs {weather}")
    # Where it is, is known; what it does is a habit.
    usually = "Here now: The Quay. Usually until 20:00: at The Kettle: bakes"
    expect(lines.nth(1)).to_have_text(usually)
    expect(page.locator("h3")).to_have_text(
        [re.compile("^Today, .*1 May"), re.compile("^Tomorrow")]
    )
    rows = page.locator("table tbody tr")
    expect(rows).to_have_text(
        [
            re.compile("09:00 – 20:00.*The Kettle.*bakes"),  # what is past is not shown
            re.compile("20:00 – 21:00.*The Quay.*digs if no rain, as the almanac says"),
            re.compile("08:00 – 10:00.*sells pies if market day, as the almanac says"),
            re.compile("15:00.*with Tom.*plan, in private.*show the ladle"),
        ]
    )
    expect(rows.nth(3)).to_have_class("planned whisper")


def show_day(page: Page, day: dict[str, Any]) -> None:
    """Show a day as of noon of the first of May."""
    page.evaluate(
        """async (day) => {
            const { dayLines, dayTables } = await import("/day.js");
            const at = Date.parse("2026-05-01T10:00:00Z");
            const lines = [dayLines(day, at), dayTables(day, at)].flat(9);
            document.querySelector("main").append(...lines.filter(Boolean));
        }""",
        day,
    )


def test_a_plan_whose_time_has_come_stays_until_it_ends(page: Page) -> None:
    bakes = part(1, 9, 20, "bakes", place="The Kettle")
    soup = part(1, 11, None, "eat soup", plan=3, begun=True, place="The Inn", whom="Bob")
    coins = part(1, 11, None, "count coins", plan=4, private=True)
    swim = part(1, 15, None, "swim", plan=5, private=True)
    day = {"usual": "9-20: bakes", "place": "The Quay", "due": [soup, coins], "now": bakes}
    today = {"date": "2026-05-01T00:00:00+02:00", "parts": [bakes, soup, coins, swim]}
    show_day(page, {**day, "next": swim, "dates": [today]})
    lines = page.locator("main > p")
    expect(lines).to_have_text(
        [
            "Now: since 11:00 (begun), at The Inn, with Bob: eat soup",
            "Due: since 11:00, 60 min ago, not begun, in private count coins",
            "Next: at 15:00, in 3 h, in private swim",
            "Here now: The Quay. Usually until 20:00: at The Kettle: bakes",
            re.compile("Rows that are no plan are habits"),
        ]
    )
    assert [each.get_attribute("class") for each in lines.all()[:3]] == [
        "next",
        "next whisper",
        "next whisper",
    ]
    expect(page.locator("table tbody tr")).to_have_text(
        [
            re.compile("09:00 – 20:00"),
            re.compile("11:00.*plan, begun.*eat soup"),
            re.compile("11:00.*plan, due, in private.*count coins"),
            re.compile("15:00.*plan, in private.*swim"),
        ]
    )


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
        {**plan, "number": 5, "what": "sing", "at": at, "state": "done"},
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
        "4 open plans, 1 of them due. Of the last that have ended: 1 done, 1 missed, 0 given up."
    )
    next_plan = re.compile(r"Mira,.*\(in 2 h\): in private meet Tom")
    expect(page.locator("#next")).to_contain_text(next_plan)
    expect(page.locator("#next")).to_have_class("whisper")
    rows = page.locator("table", has=page.locator("tbody"))
    assert [each.get_attribute("aria-label") for each in rows.all()] == [
        "Due",
        "Later",
        "Waiting for somebody or something",
        "At any time",
        "Ended lately",
    ]
    due = page.locator("table[aria-label=Due] tbody tr")
    expect(due.first).to_contain_text("10 min ago")
    expect(due.first).to_contain_text("ring <b>the bell</b>")
    expect(due).to_have_count(1)
    later = page.locator("table[aria-label=Later] tbody tr")
    expect(later).to_contain_text("in private")
    # Done before its time: nothing was kept at that hour.
    expect(page.locator("tr", has_text="sing").locator(".badge")).to_have_text("done")
    expect(page.locator("tr", has_text="sleep")).to_contain_text("missedit was late")
