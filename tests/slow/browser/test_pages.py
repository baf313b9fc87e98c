"""Parts of the dashboard's pages: the real scripts, in a real browser, without a world."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from keepsake.web.kinds import MODULE

SITE = "http://pages.test/"
ZONE = "Europe/Amsterdam"
"""The world's time zone; the reader is in Tokyo."""
ACT = {
    "number": 9,
    "kind": "act",
    "text": "pose sweeps.",
    "what": {"kind": "pose", "gesture": "sweeps."},
    "time": "2026-05-01T12:00:00+00:00",
}
SUMMARY = {"tier": "longterm", "compaction": 2, "first": 1, "last": 5, "model": "unchanged"}
WHY = {
    "agent": "Mira",
    "nth": 1,
    "time": "2026-05-01T12:00:00+00:00",
    "reason": "",
    "trigger": "",
    "cause": None,
    "act": ACT,
    "recalled": [],
    "summaries": [{**SUMMARY, "text": "- Tom mends nets.", "told": []}],
    "window": [6, 8],
    "bearing": [],
    "thought": None,
    "missing": ["The log does not have it"],
    "by_rule": False,
    "plans": None,
    "plan": None,
}
"""An act that the event log does not have."""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page of a site that has the scripts, and no world."""

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(SITE)
        if name.endswith(".js"):
            body = (MODULE.parent / name).read_text(encoding="utf-8")
            route.fulfill(body=body, content_type="text/javascript")
        else:
            head = f"<html data-zone={ZONE}><title>A page</title>"
            body = f"{head}<p id=said></p><p id=then></p><main></main>"
            route.fulfill(body=body, content_type="text/html")

    opened = browser.new_page(timezone_id="Asia/Tokyo")
    opened.route(f"{SITE}**", answer)
    opened.goto(SITE)
    yield opened
    opened.close()


def serve(page: Page, what: str, answer: Any) -> None:
    """Let the API answer so to addresses that end with ``what``."""
    page.route(f"**/agents/api/{what}", lambda route: route.fulfill(json=answer))


def show(page: Page, module: str, section: str, at: str = "") -> None:
    """Show a section of an agent's page in the page."""
    page.evaluate(
        """async ([module, section, at]) => {
            const parts = await import(`/${module}.js`);
            const made = new parts[section](document.querySelector("main"), 1, section);
            await (at ? made.show(at) : made.load());
        }""",
        [module, section, at],
    )


def test_what_an_act_that_is_older_than_the_log_recalled_is_not_known(page: Page) -> None:
    serve(page, "agents/1/why?*", WHY)
    show(page, "why", "Why")
    recalled = page.locator(".chain > li", has_text="What it recalled")
    expect(recalled).to_contain_text("Not known: older than the event log.")
    expect(recalled).not_to_contain_text("Nothing")
    expect(page.locator("main")).to_contain_text("both earlier summaries, word for word; no model")


def test_the_last_memories_before_an_act_are_shown(page: Page) -> None:
    serve(page, "agents/1/why?*", {**WHY, "window": [2, 8]})
    page.route(
        "**/memories?first=3&last=8", lambda route: route.fulfill(json=[{**ACT, "number": 8}])
    )
    show(page, "why", "Why")
    before = page.locator(".chain > li", has_text="What came just before")
    expect(before.locator(".memory .number")).to_have_text(["8"])


def test_what_bears_on_an_act_leads_to_the_whole_window(page: Page) -> None:
    heard = {**ACT, "number": 3, "kind": "perception", "text": "Anneke whispers to you."}
    serve(page, "agents/1/why?*", {**WHY, "nth": 8, "window": [2, 8], "bearing": [heard]})
    serve(page, "agents/1/memories?*", [])
    show(page, "why", "Why")
    step = page.locator(".chain > li", has_text="What else in its window bears on it")
    expect(step.locator(".memory")).to_contain_text("Anneke whispers to you.")
    expect(step.get_by_role("link", name="memories 2–8")).to_have_attribute("href", "#memory/2-8")
    expect(page.locator(".turns").first).to_contain_text("7 newer acts")


def test_an_act_by_rule_shows_nothing_of_a_prompt(page: Page) -> None:
    by_rule = {"by_rule": True, "trigger": "its ordinary day", "summaries": [], "window": None}
    serve(page, "agents/1/why?*", {**WHY, **by_rule, "missing": []})
    show(page, "why", "Why")
    first = page.locator(".chain > li").first
    expect(first.locator("p").first).to_have_text("Done by rule; no model was asked.")
    assert page.locator(".chain h3").all_inner_texts() == ["What it did", "What set it off"]


def test_plans_stand_as_text_and_the_one_of_the_act_is_marked(page: Page) -> None:
    pie = {"number": 3, "line": "bake the pie", "state": "open", "private": False}
    soup = {"number": 4, "line": "bring <b>Bram</b> soup", "state": "doing", "private": True}
    serve(page, "agents/1/why?*", {**WHY, "plans": [pie, soup], "plan": soup})
    show(page, "why", "Why")
    lines = page.locator(".chain > li", has_text="Plans in its prompt").locator("ul li")
    expect(lines).to_have_text(["bake the pie", re.compile("in private.*bring <b>Bram</b> soup")])
    expect(lines.nth(1)).to_contain_text("the act belongs to it")
    serve(page, "agents/1/why?*", {**WHY, "by_rule": True, "plan": pie})
    show(page, "why", "Why")
    own = page.locator(".chain > li", has_text="The plan it belongs to")
    expect(own).to_contain_text("bake the pie")
    expect(page.locator("main")).not_to_contain_text("Plans in its prompt")


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


def test_the_memory_as_it_was_is_asked_for_by_the_clock_of_the_world(page: Page) -> None:
    first = 1_777_593_600  # the first of May 2026, midnight UTC
    tiers = {
        "first": 1,
        "total": 2,
        "longterm": None,
        "recent": None,
        "window_first": 1,
        "window_tokens": 9,
        "compaction": 0,
    }
    past = {"id": 1, "agent": "Mira", "moves": [], "changes": 0, "tiers": []}
    then = {"number": 0, "window_first": 1, "window": [], "compaction": 0, "place": ""}
    then |= {"time": "2026-04-30T23:59:01+00:00"}
    serve(page, "agents/1/tiers", tiers)
    serve(page, "agents/1/past", {**past, "counts": [[first, 1], [first + 60, 2]]})
    serve(page, "agents/1/memories?*", [])
    serve(page, "agents/1/as-of?*", {**then, "longterm": None, "recent": None})
    show(page, "tiers", "Tiers")
    field = page.get_by_label("As it was on")
    expect(field).to_have_value("2026-05-01T02:01:01")
    expect(page.locator(".turns").first).to_contain_text("memories 1–2 of 2")
    show(page, "tiers", "Tiers", f"@{first - 59}")
    expect(page.locator("main")).to_contain_text(
        re.compile("Its first memory is of Fri,? 1 May 02:00")
    )
    expect(field).to_have_value("2026-05-01T01:59:01")
    field.fill("2026-05-01T02:00:30")
    with page.expect_request("**/as-of?*") as asked:
        page.evaluate(
            "at => document.querySelector('form:has([type=datetime-local])').requestSubmit()"
        )
        page.evaluate(
            """async () => {
                const { Tiers } = await import("/tiers.js");
                await new Tiers(document.createElement("div"), 1).show(location.hash.slice(8));
            }"""
        )
    assert "t=2026-05-01T00%3A00%3A30.000Z" in asked.value.url


def test_what_an_agent_did_leads_to_its_own_why_whoever_remembers_it(page: Page) -> None:
    numbers = {"48-20260101": 48}
    heard = {"kind": "perception", "form": "speech", "number": 9, "happening": "20260501-0"}
    cases = [
        ({**heard, "kind": "act", "source_id": "", "form": "deed"}, "/agents/7/#why/m9"),
        ({**heard, "source_id": "48-20260101"}, "/agents/48/#why/h20260501-0"),
        ({**heard, "source_id": "50-20260101"}, None),  # a player
        ({**heard, "source_id": "48-20260101", "form": "sight"}, None),  # it is seen coming
        ({**heard, "source_id": "48-20260101", "happening": ""}, None),  # an old archive
    ]
    shown = page.evaluate(
        """async ([numbers, memories]) => {
            const { el, whyOf } = await import("/dom.js");
            const told = el("script", { type: "application/json", id: "agent-numbers" });
            told.textContent = JSON.stringify(numbers);
            document.body.append(told);
            return memories.map((memory) => whyOf(7, memory)?.getAttribute("href") ?? null);
        }""",
        [numbers, [memory for memory, _ in cases]],
    )
    assert shown == [href for _, href in cases]


def test_an_act_that_others_perceived_and_its_agent_did_not_archive_is_said(page: Page) -> None:
    page.route(
        "**/why?n=1&happening=20260501-0",
        lambda route: route.fulfill(status=404, json={"error": "Mira remembers no act"}),
    )
    show(page, "why", "Why", "h20260501-0")
    expect(page.locator("main")).to_have_text("Mira remembers no act")


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


def test_a_persons_lines_stand_in_the_order_of_time_and_new_whispers_are_not_folded(
    page: Page,
) -> None:
    def line(minute: int, *, private: bool = False) -> dict[str, Any]:
        at = f"2026-05-01T12:{minute:02}:00+00:00"
        words = f"whisper {minute}" if private else f"line {minute} with many more words in it"
        return {"text": words, "said": True, "time": at, "numbers": [minute], "private": private}

    lines = [*(line(minute) for minute in range(1, 12)), line(12, private=True)]
    known = {"id": 1, "agent": "Mira", "names": ["Tom"], "first_met": None, "portrait": ""}
    known |= {"remarks": "", "promises": [], "plans": [], "mentions": [], "lines": lines}
    known |= {"notes": []}
    page.evaluate(
        """async (known) => {
            const { personCard } = await import("/person_card.js");
            document.querySelector("main").append(personCard(known, "Tom"));
        }""",
        known,
    )
    shown = page.locator("main ul > li")
    words = shown.locator("> span").all_text_contents()
    assert words[0] == "“whisper 12”"
    assert [int(re.findall(r"\d+", each)[0]) for each in words] == [*range(12, 0, -1)]
    expect(shown.first).to_contain_text("in private")
    expect(page.locator("details summary")).to_have_text("2 more")
    expect(page.locator("details li").first).to_contain_text("line 2")


MAP = """async ([people, tellings]) => {
    const { WorldMap } = await import("/map.js");
    document.querySelector("main").innerHTML = "<div style='width: 700px'><svg id=map></svg></div>";
    const rooms = [{ id: 1, name: "The Kettle", x: 0, y: 0, exits: [] },
        { id: 2, name: "The Quay", x: 1, y: 0, exits: [] }];
    window.chosen = [];
    window.map = new WorldMap(document.getElementById("map"), rooms, (id) => chosen.push(id));
    map.drawFaces(people);
    map.drawTellings(tellings, (number) => chosen.push(number));
    map.showTellings(1000, 0);
}"""


def crowd(number: int) -> list[dict[str, Any]]:
    """So many people in one room, of whom the last knows something."""
    person = {"place": "The Kettle", "ring": "unknowing", "words": "does not know it"}
    others = [{**person, "id": each, "name": f"P{each}"} for each in range(1, number)]
    return [*others, {**person, "id": number, "name": f"P{number}", "ring": "window told"}]


def test_a_crowd_keeps_in_its_room_and_a_sign_lists_the_others(page: Page) -> None:
    page.evaluate(MAP, [crowd(44), []])
    faces = page.locator("#map .faces .face").locator("visible=true")
    sign = page.locator("#map .others .face")
    expect(sign.locator("text")).to_have_text(f"+{44 - faces.count()}")
    room = page.locator("#map .room rect").first.bounding_box()
    assert room is not None
    for face in [*faces.all(), sign]:
        box = face.locator("circle").bounding_box()
        assert box is not None
        assert box["x"] >= room["x"] - 2
        assert box["x"] + box["width"] <= room["x"] + room["width"] + 2
        assert box["y"] + box["height"] <= room["y"] + room["height"] + 2
        assert box["width"] >= 14  # a face that can be clicked
    expect(page.locator("#map .face.window")).to_be_visible()
    sign.focus()
    page.keyboard.press("Enter")
    names = page.locator(".crowd button")
    expect(names).to_have_count(44)
    expect(names.first).to_be_focused()
    expect(names.first).to_contain_text("P44")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".crowd")).to_be_hidden()
    assert page.evaluate("chosen") == [1]
    sign.click()
    page.keyboard.press("Escape")
    expect(page.locator(".crowd")).to_be_hidden()
    page.evaluate("people => map.drawFaces(people)", crowd(8))
    expect(sign).to_be_hidden()
    expect(page.locator("#map .faces .face")).to_have_count(8)


def told_on(number: int, speakers: int) -> list[dict[str, Any]]:
    """So many tellings in one room, each from the one before; and one elsewhere, from the first."""
    telling = {"place": "The Kettle", "speaker": "", "kind": "said", "title": "It is said."}
    here = [
        {**telling, "number": each, "at": 10 * each, "id": each % speakers + 1, "from": each - 1}
        for each in range(1, number)
    ]
    last = {"number": number, "at": 10 * number, "id": 99, "from": 1, "place": "The Quay"}
    return [*here, {**telling, **last}]


def test_tellings_for_which_a_room_has_no_place_have_a_mark_for_each_speaker(page: Page) -> None:
    page.evaluate(MAP, [crowd(3), told_on(24, speakers=4)])
    marks = page.locator("#map .mark")
    expect(marks).to_have_count(5)
    expect(marks.first.locator(".times")).to_have_text("×6")
    # One way for all tellings that go the same way.
    expect(page.locator("#map .way path").locator("visible=true")).to_have_count(5)
    page.evaluate("map.showTellings(50, 5)")
    expect(marks.locator("visible=true")).to_have_count(4)
    expect(marks.first.locator(".times")).to_have_text("×2")
    expect(marks.nth(1).locator(".times")).to_be_empty()
    expect(page.locator("#map .mark.chosen text").first).to_have_text("1")
    page.evaluate(MAP, [crowd(3), told_on(24, speakers=23)])
    assert marks.count() <= 8
    expect(page.locator("#map .mark .times", has_text="×")).to_have_count(1)


def test_forty_tellings_leave_the_map_to_be_seen(page: Page) -> None:
    page.evaluate(MAP, [crowd(3), told_on(40, speakers=30)])
    marks = page.locator("#map .mark")
    expect(marks).to_have_count(2)
    expect(marks.first.locator(".times")).to_have_text("×39")
    expect(page.locator("#map .way path").locator("visible=true")).to_have_count(1)
    marks.first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("chosen") == [1]


def test_a_time_is_the_worlds_and_its_title_has_the_readers(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
            const { time } = await import("/dom.js");
            const { outerHTML, textContent, title } = time("2026-05-01T22:30:00+00:00");
            return [textContent, title];
        }"""
    )
    assert shown == [
        "2 May 2026, 00:30",
        "2 May, 07:30 by your clock (Asia/Tokyo); 2026-05-01 22:30:00 UTC",
    ]


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-05-01T12:00", "2026-05-01T10:00:00.000Z"),
        ("2026-03-29T01:59:59", "2026-03-29T00:59:59.000Z"),
        ("2026-03-29T03:00", "2026-03-29T01:00:00.000Z"),
        ("2026-10-25T01:59", "2026-10-24T23:59:00.000Z"),
        ("2026-10-25T03:00", "2026-10-25T02:00:00.000Z"),
    ],
)
def test_what_is_typed_is_by_the_clock_of_the_world_also_when_it_changes(
    page: Page, typed: str, moment: str
) -> None:
    clock = """typed => import("/clock.js").then(({ fromField, toField }) => {
        const moment = fromField(typed);
        return [moment.toISOString(), toField(moment).startsWith(typed)];
    })"""
    assert page.evaluate(clock, typed) == [moment, True]


def test_days_begin_at_midnight_in_the_world(page: Page) -> None:
    clock = """([moment, hour]) => import("/clock.js").then(({ onDay }) =>
        onDay(new Date(moment), hour).toISOString())"""
    noon = "2026-03-29T10:00:00Z"
    assert page.evaluate(clock, [noon, 0]) == "2026-03-28T23:00:00.000Z"
    assert page.evaluate(clock, [noon, 24]) == "2026-03-29T22:00:00.000Z"
    assert page.evaluate(clock, [noon, 30]) == "2026-03-30T04:00:00.000Z"


def test_a_compaction_counts_what_both_its_steps_lost(page: Page) -> None:
    long = {"tier": "longterm", "first": 1, "last": 4, "text": "- Liesbet drowned."}
    short = {"tier": "recent", "first": 5, "last": 8, "text": "- Ann sails on Thursday."}
    after = {"longterm": {**long, "last": 8, "text": "- Ann sails."}}
    after["recent"] = {**short, "first": 9, "last": 9, "text": "- Tom mends nets."}
    made = {
        "number": 3,
        "time": "2026-05-01T12:00:00+00:00",
        "reason": "count",
        "outcome": "waterfall",
        "covered": [9, 9],
        "tokens_before": 90,
        "tokens_after": 60,
        "seconds": 1,
        "calls": 2,
        "undone": None,
        "before": {"longterm": long, "recent": short},
        "after": after,
    }
    lost = {
        "losses": [{"memory": ACT, "kept": "shorter", "missing": ["sweeps"]}],
        "sentences": [
            {
                "tier": "longterm",
                "text": "Liesbet <b>drowned</b>.",
                "kept": "gone",
                "missing": ["Liesbet", "drowned"],
            },
            {
                "tier": "recent",
                "text": "Ann sails on Thursday.",
                "kept": "shorter",
                "missing": ["Thursday"],
            },
        ],
        "complete": True,
    }
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    told = page.locator(".change")
    expect(told).to_contain_text(
        "1 memory: 1 told shorter. 2 sentences of earlier summaries: 1 lost,"
    )
    second = told.locator("section", has_text="Earlier summaries, into the long-term summary")
    expect(second.locator(".memories .what")).to_have_text(
        ["Liesbet <b>drowned</b>.", "Ann sails on Thursday."]
    )
    expect(second.locator("del")).to_have_text(["Thursday"])
    before, now = second.locator(".both > div").all()
    expect(before.locator(".prose")).to_have_text(["Liesbet drowned.", "Ann sails on Thursday."])
    expect(now.locator(".prose")).to_have_text("Ann sails.")
    second.get_by_text("change by change").click()
    expect(second.locator("ins, .diff del").first).to_be_visible()


def test_a_word_is_not_changed_by_the_line_break_beside_it(page: Page) -> None:
    diff = "texts => import('/compactions.js').then(m => m.wordDiff(...texts))"
    before = "She went up to the Loft. I asked her.\n\nBob mends nets."
    after = "• She went up to the Loft.\n• Bob mends nets and sails."
    assert page.evaluate(diff, [before, after]) == [
        ["same", "• She went up to the Loft.\n"],
        ["gone", "I asked her.\n\n"],
        ["same", "• Bob mends "],
        ["gone", "nets."],
        ["new", "nets and sails."],
    ]
    assert page.evaluate(diff, ["One\ntwo", "• One two\n"]) == [["same", "• One two\n"]]


def said(words: str, minute: int, place: str) -> list[Any]:
    """Return the event of a gesture of Mira, a few minutes after noon."""
    time = f"2026-05-01T12:0{minute}:00+00:00"
    what = {"kind": "pose", "gesture": words}
    memory = {**ACT, "what": what, "text": words, "place": place, "time": time}
    record = {"op": "append", "n": minute, "t": time, "agent": "Mira", "agent_id": 1}
    return ["memory", {**record, "remembered": memory}]


def feed(page: Page, events: list[list[Any]], *, named: bool) -> Locator:
    """Give the events to a new feed; return its headings and what happened."""
    page.evaluate(
        """async ([events, named]) => {
            const { Feed } = await import("/feed.js");
            const feed = new Feed(document.querySelector("main"), { named });
            for (const event of events) feed.add(...event);
        }""",
        [events, named],
    )
    return page.locator(".feed h3, .feed .what")


def test_the_events_of_one_agent_stand_in_the_order_of_time_though_they_come_late(
    page: Page,
) -> None:
    minutes = (1, 3, 5, 7, 9, 4)
    shown = feed(page, [said(f"{n}.", n, "The Kettle") for n in minutes], named=False)
    expect(shown).to_have_text([f"does: {n}." for n in sorted(minutes)])


def test_events_without_a_room_stand_in_the_order_of_time(page: Page) -> None:
    def world(op: str, minute: int) -> list[Any]:
        return ["world", {"op": op, "t": f"2026-05-01T12:0{minute}:30+00:00"}]

    events = [
        said("sweeps.", 2, "The Kettle"),
        world("stops", 2),
        world("starts", 3),
        said("bakes.", 4, "The Kettle"),
        said("waits.", 5, "The Quay"),
        world("reloads", 0),
    ]
    shown = feed(page, events, named=True)
    expect(shown).to_have_text(
        [
            "the world reloads",
            "The Kettle",
            "does: sweeps.",
            "the world stops",
            "the world starts",
            "The Kettle",
            "does: bakes.",
            "The Quay",
            "does: waits.",
        ]
    )
