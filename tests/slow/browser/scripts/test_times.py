"""Times are the world's: shown, typed, and asked for, with the reader elsewhere."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import serve, show


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
    field = page.get_by_label("As it was on", exact=True)
    hour = page.get_by_label("As it was on, time of day")
    expect(field).to_have_value("2026-05-01")
    expect(hour).to_have_value("02:01:01")
    expect(page.locator(".turns").first).to_contain_text("memories 1–2 of 2")
    show(page, "tiers", "Tiers", f"@{first - 59}")
    expect(page.locator("main")).to_contain_text(
        re.compile("The first memory is of Fri,? 1 May 02:00")
    )
    expect(hour).to_have_value("01:59:01")
    hour.fill("2:00:30")
    with page.expect_request("**/as-of?*") as asked:
        page.evaluate("at => document.querySelector('form:has([type=date])').requestSubmit()")
        page.evaluate(
            """async () => {
                const { Tiers } = await import("/tiers.js");
                await new Tiers(document.createElement("div"), 1).show(location.hash.slice(8));
            }"""
        )
    assert "t=2026-05-01T00%3A00%3A30.000Z" in asked.value.url


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
