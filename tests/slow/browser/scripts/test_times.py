"""Times are the world's: shown, typed, and asked for, with the reader elsewhere."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, show


def test_a_time_is_the_worlds_and_its_title_has_the_readers(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
            const { time } = await import("/dom.js");
            const { textContent, title } = time("2026-05-01T22:30:00+00:00");
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
    expect(page.locator(".turns").first).to_contain_text("memories 1–2 of 2")
    show(page, "tiers", "Tiers", f"@{first - 59}")
    expect(page.locator("main")).to_contain_text(
        re.compile("The first memory is of Fri,? 1 May 02:00")
    )
    page.get_by_label("As it was at").fill("thursday evening / 7")
    page.evaluate("document.querySelector('form:has([maxlength=\"100\"])').requestSubmit()")
    assert page.evaluate("location.hash") == "#memory/@thursday%20evening%20%2F%207"
    with page.expect_request("**/as-of?*") as asked:
        show(page, "tiers", "Tiers", "@thursday%20evening")
    assert asked.value.url.endswith("when=thursday+evening")


def test_what_it_meant_to_do_and_what_the_summary_lost_stand_beside_what_it_remembered(
    page: Page,
) -> None:
    summary = {"tier": "recent", "first": 1, "last": 2, "text": "Tom sang.", "model": "m"}
    summary |= {"tokens_before": 9, "tokens_after": 3, "time": "2026-04-30T23:00:00+00:00"}
    then = {"number": 3, "window_first": 3, "compaction": 1}
    results = [("plan", "You mean to: sail"), ("look", "The Inn")]
    then["window"] = [{**ACT, "number": 3}] + [
        {**ACT, "kind": "perception", "form": "result", "text": text}
        | {"what": {"kind": "result", "verb": verb, "text": text}, "number": number}
        for number, (verb, text) in enumerate(results, 4)
    ]
    then |= {"time": "2026-04-30T23:59:01+00:00", "place": "The Inn", "longterm": None}
    then |= {"recent": summary, "since": summary["time"]}
    plan = {"number": 1, "line": "2026-05-01 09:00, with Ann: <b>sail</b>", "what": ""}
    plan |= {"state": "doing", "private": True}
    then["plans"] = [{**plan, "aloud": False}]
    soup = {"line": "You promised Tom: soup", "memory": 2, "private": False}
    soup |= {"whom": "Tom", "text": "soup", "plan": 0}
    then["promises"] = [soup, {**soup, "text": "sail with him", "plan": 1}]
    tiers = {"first": 1, "total": 4, "longterm": None, "recent": None, "window_first": 1}
    past = {"id": 1, "agent": "Mira", "moves": [], "changes": 0, "tiers": []}
    serve(page, "agents/1/tiers", {**tiers, "window_tokens": 9, "compaction": 0})
    serve(page, "agents/1/past", {**past, "counts": [[1777593000, 1], [1777594000, 4]]})
    serve(page, "agents/1/as-of?*", then)
    lost = [{"memory": ACT, "kept": kept} for kept in ("gone", "shorter")]
    serve(page, "agents/1/compactions/1/losses", {"losses": lost, "named": True})
    show(page, "tiers", "Tiers", "@m3")
    main = page.locator("main")
    expect(main).to_contain_text(
        "It had in mind 1 memory word for word (3) and the short-term summary of 1–2."
        " It was at The Inn."
    )
    expect(main).to_contain_text("Of the 2: 1 told shorter, 1 lost. What was lost?")
    expect(page.get_by_role("list", name="Plans and promises of then").locator("li")).to_have_text(
        ["keeps it private1 May, 09:00, with Ann: <b>sail</b>begun", "promised Tom: soupmemory 2"]
    )
    came = main.locator("details", has_text="What came of its own words and deeds: 1")
    expect(came).to_contain_text("You mean to: sail")
    seen = main.locator("details", has_text="Comings, goings and gestures: 1")
    expect(seen).to_contain_text("The Inn")
    expect(main).not_to_contain_text("no summary yet")


def test_a_time_before_the_first_summary_says_that_there_was_none_and_when_it_came(
    page: Page,
) -> None:
    then = {"number": 3, "window_first": 1, "window": [], "compaction": 0, "place": ""}
    then |= {"time": "2026-05-01T00:10:00+00:00", "plans": [], "promises": []}
    tiers = {"first": 1, "total": 4, "longterm": None, "recent": None, "window_first": 1}
    came = [1777594800, "compaction", 1, 1, 0, 2]  # 02:20 by the world's clock
    past = {"id": 1, "agent": "Mira", "moves": [], "changes": 0, "tiers": [came]}
    serve(page, "agents/1/tiers", {**tiers, "window_tokens": 9, "compaction": 1})
    serve(page, "agents/1/past", {**past, "counts": [[1777593000, 1], [1777594000, 4]]})
    serve(page, "agents/1/as-of?*", {**then, "longterm": None, "recent": None, "since": None})
    show(page, "tiers", "Tiers", "@m3")
    expect(page.locator("main")).to_contain_text(
        re.compile(r"There was no summary yet \(the first came at .*02:20.*\)\.")
    )


def test_a_time_before_the_world_changed_its_zone_is_by_the_clock_of_then(page: Page) -> None:
    changed = 1_777_593_600  # the first of May 2026, midnight UTC
    page.evaluate(f"document.documentElement.dataset.zones = '{changed}=Asia/Tokyo'")
    clock = """async () => {
        const { formatter, fromField, toField } = await import("/clock.js");
        const hour = formatter({ hour: "2-digit", minute: "2-digit" });
        const times = ["2026-04-30T10:45:00Z", "2026-05-01T10:45:00Z"].map((at) => new Date(at));
        return [
            times.map((at) => hour.format(at)),
            times.map((at) => fromField(toField(at)).getTime() === at.getTime()),
            fromField("2026-04-30T19:45").toISOString(),
        ];
    }"""
    assert page.evaluate(clock) == [["19:45", "12:45"], [True, True], "2026-04-30T10:45:00.000Z"]


def test_the_line_of_memories_has_the_hours_of_an_evening(page: Page) -> None:
    begun = 1_777_658_400  # 20:00 in Amsterdam on the first of May 2026
    evening = [[begun + 60 * minute, 3 * minute + 3] for minute in range(60)]
    counts = [*evening, [begun + 6 * 3600, 190], [begun + 6 * 3600 + 600, 200]]
    labels = page.evaluate(
        """async ([counts, total]) => {
            const { MemoryLine } = await import("/memory_line.js");
            const main = document.querySelector("main");
            main.style.width = "900px";
            const past = { id: 1, agent: "Mira", moves: [], counts, tiers: [], changes: 0 };
            const root = document.createElement("div");
            new MemoryLine(root, { parts: [{ tier: "window", first: 1, last: total }], total, past,
                names: { window: "window" }, settled: () => {} });
            return [...root.querySelectorAll(".dates span")].map((each) =>
                [each.textContent, Number(each.style.getPropertyValue("--at"))]);
        }""",
        [counts, 200],
    )
    said = [words for words, _ in labels]
    assert said[0] == "Fri 1 May"
    assert "20:30" in said
    assert "Sat 2 May" in said
    places = [at for _, at in labels]
    assert places == sorted(places)
    assert dict(labels)["20:30"] == pytest.approx(93 / 199, abs=0.02)
