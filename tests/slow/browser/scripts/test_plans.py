"""Plans: of one agent, and of all agents by what they wait for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, show

PART = {"place": "", "whom": "", "only_if": [], "unless": [], "plan": 0}
PART |= {"begun": False, "private": False}


PLAN: dict[str, Any] = {"line": "", "what": "bake", "at": None, "waits_for": "", "place": ""}
PLAN |= {"whom": "", "state": "open", "why": "", "memory": 0, "private": False, "cause": None}


TOMORROW = """new Date(Math.floor(Date.now() / 864e5 + 1) * 864e5).toISOString()"""
"""As the next day begins by a clock in UTC."""
PROMISE: dict[str, Any] = {"id": 1, "agent": "Mira", "whom": "Tom", "text": "<b>soup</b>"}
PROMISE |= {
    "memory": 4,
    "private": "keeps it private",
    "at": None,
    "whole_day": False,
    "said": None,
    "plan": 0,
}


def serve_plans(
    page: Page,
    plans: list[dict[str, Any]],
    *others: dict[str, Any],
    promises: Sequence[dict[str, Any]] = (),
    **day: Any,
) -> None:
    """Show plans as of noon of the first of May.

    Args:
        others: The open plans of other agents.
        promises: What it has promised besides soup.
    """
    nothing = [{"date": f"2026-05-0{each}T00:00:00+02:00", "parts": []} for each in (1, 2)]
    known = {"usual": "", "now": None, "next": None, "dates": nothing, "place": "", "due": []}
    serve(page, "agents/1/plans", [{**PLAN, **each} for each in plans])
    serve(page, "plans", [{**PLAN, **each} for each in others])
    serve(page, "agents/1/day", {**known, **day})
    serve(page, "promises", [PROMISE, *promises, {**PROMISE, "id": 2, "text": "of another"}])
    page.clock.set_fixed_time("2026-05-01T10:00:00Z")
    show(page, "plan_section", "PlanSection")


def test_what_it_will_do_is_a_list_by_time_with_why(page: Page) -> None:
    asked = {**ACT, "kind": "perception", "form": "speech", "number": 7}
    asked |= {"text": 'Tom says, "Bake."', "time": "2026-05-01T07:00:00+00:00", "source": "Tom"}
    asked["what"] = {"kind": "speech", "words": "Bake me a <b>pie</b>.", "manner": "say", "to": []}
    gift = {**asked, "form": "deed", "what": {"verb": "give"}, "text": "Tom gives you flour."}
    serve_plans(
        page,
        [
            {"what": "look for the eel", "memory": 3},
            {"what": "ask of the whistle", "waits_for": "when Wren comes"},
            {"what": "sup", "at": "2026-05-06T16:00:00+00:00", "private": "keeps it private"},
            {"what": "bake", "at": "2026-05-02T07:30:00+00:00", "cause": asked, "memory": 8},
            {"what": "sail", "at": "2026-05-01T14:00:00+00:00", "place": "The Quay", "memory": 5},
            {"what": "swim", "at": "2026-05-01T09:00:00+00:00", "state": "doing", "whom": "Ann"},
            {"what": "count", "at": "2026-05-01T09:55:00+00:00"},
            {"what": "sleep", "at": "2026-04-30T10:00:00+00:00", "state": "missed", "why": "late"}
            | {"cause": asked, "memory": 8, "whom": "Ann", "sender": "Ann", "sender_id": "9-9"},
            {"what": "knead", "state": "done", "cause": gift, "memory": 9},
        ],
    )
    expect(page.locator(".agenda h3")).to_have_text(
        [
            "Now",
            "Today Friday 1 May",
            re.compile("Tomorrow Saturday 2 May"),
            "After tomorrow",
            "When that happens",
            "At any time",
            "Promised, for no certain time",
            "Plans that have ended the last first",
        ]
    )
    expect(page.locator("main p").first).to_have_text(
        "It has 7 open plans, 1 for tomorrow and 1 promise for no certain time."
        " Of the last 2 that have ended: 1 done, 1 missed."
    )
    expect(page.locator(".agenda li")).to_have_text(
        [
            "since 11:00swimwith Annbegunwritten by hand",
            "due 11:55countwritten by hand",
            "16:00sailat The Quaynobody is known to have asked · memory 5",
            "09:30bakeasked by Tom: “Bake me a <b>pie</b>.” 09:00:00 · memory 7",
            "Wed 6 May, 18:00keeps it privatesupwritten by hand",
            "when Wren comes:ask of the whistlewritten by hand",
            "look for the eelnobody is known to have asked · memory 3",
            "keeps it privatepromised to Tom:<b>soup</b> memory 4",
            "kneaddonebecause Tom gives you flour. 09:00:00 · memory 7",
            "Thu 30 Apr, 12:00sleepwith Annmissed: late"
            "asked by Ann through Tom: “Bake me a <b>pie</b>.” 09:00:00 · memory 7",
        ]
    )
    expect(page.locator(".agenda li.whisper")).to_have_count(2)


def test_what_is_promised_for_a_day_stands_among_the_plans_of_that_day(page: Page) -> None:
    said = {**PROMISE, "private": False, "said": "2026-04-30T10:00:00+00:00", "whole_day": True}
    first = "2026-04-30T22:00:00+00:00"  # as the first of May begins
    saturday = "2026-05-01T22:00:00+00:00"
    serve_plans(
        page,
        [{"what": "bake", "at": "2026-05-02T07:30:00+00:00"}],
        promises=[
            {**said, "text": "a loaf tomorrow", "at": first},
            {**said, "text": "row", "at": "2026-05-01T14:00:00+00:00", "whole_day": False},
            {**said, "text": "a walk on Saturday", "at": saturday},
            {**said, "text": "a song", "at": "2026-05-03T22:00:00+00:00"},
            {**said, "text": "an eel", "at": "2026-04-29T22:00:00+00:00"},
            {**said, "text": "bake with a plan", "at": saturday, "plan": 1},
        ],
    )
    expect(page.locator(".agenda h3")).to_have_text(
        [
            "Now",
            "Today Friday 1 May",
            "Tomorrow Saturday 2 May",
            "After tomorrow",
            "Promised, for no certain time",
        ]
    )
    on = " said on Thu 30 Apr memory 4"
    expect(page.locator(".agenda li")).to_have_text(
        [
            f"was for Thu 30 Aprpromised to Tom:an eel{on}",
            f"promised to Tom:a loaf tomorrow{on}",
            f"16:00promised to Tom:row{on}",
            f"promised to Tom:a walk on Saturday{on}",
            "09:30bakewritten by hand",
            f"Mon 4 Maypromised to Tom:a song{on}",
            "keeps it privatepromised to Tom:<b>soup</b> memory 4",
        ]
    )
    account = (
        "It has 1 open plan, it is for tomorrow and 7 promises, 1 of them for no certain time."
    )
    expect(page.locator("main p").first).to_have_text(account)


def test_how_far_away_a_day_is_is_counted_by_dates(page: Page) -> None:
    told = page.evaluate(
        """async () => {
            const { byTime, distance, nextPlans } = await import("/next_plan.js");
            const late = Date.parse("2026-05-01T21:48:00Z"); // 23:48 by the world's clock
            const far = (at, whole_day) => distance({ at, whole_day }, late);
            const of = (what, at) => ({ what, at, state: "open" });
            const saturday = { at: "2026-05-01T22:00:00Z", whole_day: true };
            const promise = { ...saturday, text: "a loaf", plan: 0 };
            const kept = { ...saturday, text: "kept by a plan", plan: 3 };
            const next = nextPlans(
                [of("past", "2026-05-01T20:00:00Z"), of("meet", "2026-05-02T05:00:00Z")],
                [promise, kept], 2, late,
            );
            return [
                far("2026-05-02T05:00:00Z"),
                far("2026-05-04T07:00:00Z"), far("2026-05-04T10:00:00Z"),
                far("2026-05-01T22:00:00Z", true), far("2026-04-30T22:00:00Z", true),
                far("2026-04-29T22:00:00Z", true), far("2026-05-01T21:38:00Z"),
                ...next.map(({ what }) => what),
                ...[{ what: "ever" }, ...next.toReversed(), { what: "any" }]
                    .toSorted(byTime).map(({ what }) => what),
            ];
        }"""
    )
    assert told == [
        *("in 7 h", "in 3 days", "in 3 days", "tomorrow", "today", "yesterday", "10 min ago"),
        *("a loaf", "meet"),
        *("a loaf", "meet", "ever", "any"),
    ]


def test_all_that_comes_next_follows_what_is_begun_by_the_hour(page: Page) -> None:
    told = page.evaluate(
        """async () => {
            const { begunAndNext } = await import("/next_plan.js");
            const noon = Date.parse("2026-05-01T12:00:00Z");
            const at = (hour) => `2026-05-02T${hour}:00:00Z`;
            const of = (what, at, state = "open") => ({ what, at, state });
            const morning = { text: "tea", at: at("07"), whole_day: true, part: "morning" };
            const dated = { text: "tomorrow", dated: "tomorrow (Sat 2 May)", at: at("05") };
            const plans = [
                of("eels", at("09")), of("bread", at("06")), of("soup", at("08")),
                of("song", at("10")), of("row", "2026-05-01T11:00:00Z", "doing"),
            ];
            const promises = [{ ...morning, plan: 0 }, { ...dated, plan: 0 }];
            const found = begunAndNext(plans, promises, noon);
            return found.map(({ what }) => what);
        }"""
    )
    assert told == ["row", "tomorrow (Sat 2 May)", "bread", "tea", "soup", "eels", "song"]


def test_tomorrow_is_answered_though_nothing_is_planned(page: Page) -> None:
    said = {**ACT, "form": "speech", "what": {"words": "Tomorrow.", "manner": "say", "to": []}}
    bakes = part(2, 8, 10, "bakes")
    sells = part(2, 10, 12, "sells", place="The Quay", whom="Ann")
    dates = [{"date": "2026-05-01T00:00:00+02:00", "parts": []}]
    dates.append({"date": "2026-05-02T00:00:00+02:00", "parts": [bakes, sells]})
    before = {"said": [said], "said_today": [{**said, "number": 8}]}
    serve_plans(page, [], **before, next=bakes, dates=dates, usual="8-10: bakes")
    agenda = page.locator(".agenda")
    words = "It said about tomorrow.*Tomorrow.*Nothing else is planned. Its usual day: "
    expect(agenda).to_contain_text(re.compile(words + "08:00 bakes, 10:00 at The Quay with Ann."))
    expect(page.get_by_role("list", name="Said about tomorrow")).to_contain_text("Tomorrow.")
    expect(page.get_by_role("list", name="Said about today")).to_be_hidden()
    agenda.get_by_text("Earlier words of its own that name today: 1").click()
    expect(page.get_by_role("list", name="Said about today")).to_contain_text("memory 8")
    expect(page.locator("main p").first).to_contain_text("It has no open plan")
    expect(page.locator(".habits")).to_contain_text("bakes")
    page.locator("main").evaluate("(main) => main.replaceChildren()")
    serve_plans(page, [])
    expect(agenda.get_by_text("Nothing is planned.", exact=True)).to_be_visible()


def test_hours_before_what_is_next_of_which_nothing_is_known_are_named(page: Page) -> None:
    now = part(1, 9, 20, "bakes")
    next_day = part(2, 6, 8, "sweeps")
    day = {"usual": "", "place": "", "due": [], "now": now, "next": next_day, "dates": []}
    show_day(page, day)
    first = page.locator("main > p").first
    expect(first).to_have_text(
        "Usually next: at 06:00, in 18 h, sweeps (nothing is known from 20:00 until then)"
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
    ladle = part(2, 15, None, "show the ladle", plan=3, private="keeps it private", whom="Tom")
    today = [part(1, 6, 9, "sleeps"), bakes, rest]
    dates = [{"date": "2026-05-01T00:00:00+02:00", "parts": today}]
    dates.append({"date": "2026-05-02T00:00:00+02:00", "parts": [pies, ladle]})
    day = {"usual": "9-20: bakes", "now": bakes, "next": rest, "dates": dates}
    show_day(page, {**day, "place": "The Quay", "due": []})
    lines = page.locator("main > p")
    weather = "unless the almanac says “rain”"
    expect(lines.first).to_have_text(f"Usually next: at 20:00, in 8 h, at The Quay: digs {weather}")
    # Where it is, is known; what it does is a habit.
    usually = "Here now: The Quay. Usually until 20:00: at The Kettle: bakes"
    expect(lines.nth(1)).to_have_text(usually)
    expect(page.locator("h3")).to_have_text(["Hours of today", "Hours of tomorrow"])
    rows = page.locator("table tbody tr")
    expect(rows).to_have_text(
        [
            re.compile("09:00 – 20:00.*The Kettle.*bakes"),  # what is past is not shown
            re.compile("20:00 – 21:00.*The Quay.*digs unless the almanac says “rain”"),
            re.compile("08:00 – 10:00.*sells pies if the almanac says “market day”"),
            re.compile("15:00.*with Tom.*plan, keeps it private.*show the ladle"),
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
    coins = part(1, 11, None, "count coins", plan=4, private="keeps it private")
    swim = part(1, 15, None, "swim", plan=5, private="keeps it private")
    day = {"usual": "9-20: bakes", "place": "The Quay", "due": [soup, coins], "now": bakes}
    today = {"date": "2026-05-01T00:00:00+02:00", "parts": [bakes, soup, coins, swim]}
    show_day(page, {**day, "next": swim, "dates": [today]})
    lines = page.locator("main > p")
    expect(lines).to_have_text(
        [
            "Now: since 11:00 (begun), at The Inn, with Bob: eat soup",
            "Due: since 11:00, 60 min ago, not begun, keeps it private count coins",
            "Next: at 15:00, in 3 h, keeps it private swim",
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
            re.compile("11:00.*plan, due, keeps it private.*count coins"),
            re.compile("15:00.*plan, keeps it private.*swim"),
        ]
    )


def test_plans_of_all_agents_stand_by_what_they_wait_for(page: Page) -> None:
    page.clock.set_fixed_time("2026-05-01T10:00:00Z")  # in two hours it is not tomorrow
    plan = {"id": 1, "agent": "Mira", "line": "", "waits_for": "", "place": "", "whom": ""}
    plan |= {"at": None, "state": "open", "begun": False, "why": "", "memory": 0, "private": False}
    asked = {**ACT, "form": "speech", "source": "Tom", "number": 7}
    hour = 3_600_000
    at = page.evaluate(f"new Date(Date.now() + 2 * {hour} + 60000).toISOString()")
    late = page.evaluate("new Date(Date.now() - 600000).toISOString()")
    plans = [
        {**plan, "number": 1, "what": "ring <b>the bell</b>", "at": late, "state": "doing"},
        {
            **plan,
            "number": 2,
            "what": "meet Tom",
            "at": at,
            "whom": "Tom",
            "private": "keeps it private",
            "away": True,
        },
        {**plan, "number": 3, "what": "say no", "waits_for": "when Joss comes"},
        {**plan, "number": 4, "what": "bake", "place": "The Kettle"},
        {**plan, "number": 5, "what": "sing", "at": at, "state": "done"},
        {**plan, "number": 6, "what": "sleep", "state": "missed", "why": "it was late"}
        | {"cause": asked},
    ]
    loaf = {**PROMISE, "text": "a loaf tomorrow", "at": page.evaluate(TOMORROW), "whole_day": True}
    loaf |= {"said": late, "private": False}
    serve(page, "plans?ended=true", plans)
    serve(page, "promises", [PROMISE, loaf])
    page.evaluate(
        """() => {
            document.body.innerHTML = `<input id=filter><p id=summary></p><p id=next hidden></p>
                <p id=trouble-here hidden></p><main id=lists></main>`;
            return import("/plans.js");
        }"""
    )
    expect(page.locator("#summary")).to_have_text(
        "4 open plans, 1 of them due. 2 promises, 1 of them for no certain time."
        " Of the last that have ended: 1 done, 1 missed."
    )
    next_plan = re.compile(
        r"Mira, .*\(in 2 h\), with Tom not in the game: keeps it private meet Tom"
    )
    expect(page.locator("#next")).to_contain_text(next_plan)
    expect(page.locator("#next")).to_have_class("whisper")
    rows = page.locator("table", has=page.locator("tbody"))
    assert [each.get_attribute("aria-label") for each in rows.all()] == [
        "Due",
        "To come",
        "Waiting for somebody or something",
        "At any time",
        "Promised, for no certain time",
        "Ended lately",
    ]
    promise = page.locator("table[aria-label^=Promised] tbody tr")
    expect(promise.locator("td")).to_have_text(
        ["Mira", "keeps it private <b>soup</b> memory 4", "Tom"]
    )
    due = page.locator("table[aria-label=Due] tbody tr")
    expect(due.first).to_contain_text("10 min ago")
    expect(due.first).to_contain_text("ring <b>the bell</b>")
    expect(due).to_have_count(1)
    later = page.locator("table[aria-label='To come'] tbody tr")
    expect(later.first).to_contain_text("keeps it private")
    expect(later.nth(1)).to_contain_text(re.compile("tomorrow.*a loaf tomorrow.*Tom.*promised"))
    # Done before its time: nothing was kept at that hour.
    expect(page.locator("tr", has_text="sing").locator(".badge")).to_have_text("done")
    expect(page.locator("tr", has_text="sleep")).to_contain_text(
        re.compile("Tom .*missedit was late")
    )
    page.locator("#filter").fill("soup")
    expect(page.locator("#lists tbody tr")).to_have_count(1)


def test_what_others_mean_to_do_with_an_agent_stands_on_its_page(page: Page) -> None:
    page.evaluate("document.body.dataset.name = 'Nell'")
    bram = {"id": 2, "agent": "Bram", "whom": "Nell"}
    serve_plans(
        page,
        [],
        {
            **bram,
            "what": "bring an apple",
            "at": "2026-05-02T07:00:00+00:00",
            "place": "The Office",
        },
        {**bram, "what": "tell her", "waits_for": "when Nell comes", "private": "keeps it private"},
        {**bram, "what": "mend a hive", "whom": "Joss"},
        {**bram, "id": 1, "agent": "Nell", "what": "look at herself"},
    )
    others = page.get_by_role("list", name="What others mean to do with Nell").locator("li")
    expect(others).to_have_text(
        [re.compile("09:00.*Bram.*bring an apple.*at The Office"), re.compile("when Nell comes:")]
    )
    expect(others.nth(1)).to_contain_text("keeps it private")
    expect(others.first.get_by_role("link")).to_have_attribute("href", "/agents/2/#plans")
