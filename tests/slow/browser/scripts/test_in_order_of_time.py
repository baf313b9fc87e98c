"""Lines and events stand in the order of time: of a person, of an agent, of the world."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, feed


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
    known |= {"notes": [], "memories": [], "more_memories": 0, "complete": True}
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


def test_a_list_that_is_cut_says_so_and_leads_to_all(page: Page) -> None:
    memory = {**ACT, "kind": "perception", "source": "Tom", "text": "Tom sweeps <b>all</b>."}
    known = {"id": 1, "agent": "Mira", "names": ["Tom"], "first_met": None, "portrait": ""}
    known |= {"remarks": "", "promises": [], "plans": [], "mentions": [], "lines": [], "notes": []}
    known |= {"memories": [memory, {**ACT, "number": 3}], "more_memories": 32, "complete": True}
    page.evaluate(
        """async (known) => {
            const { personCard } = await import("/person_card.js");
            document.querySelector("main").append(personCard(known, "Tom"));
        }""",
        known,
    )
    heading = page.locator("main h4")
    expect(heading).to_have_text("Other memories of Tom: 2 of 34, the newest first · all")
    expect(heading.get_by_role("link")).to_have_attribute(
        "href", "/agents/search/?agent=1&q=Tom&by=words"
    )
    expect(page.locator("main ul > li > span")).to_have_text(
        ["Tom sweeps <b>all</b>.", re.compile("^Mira ")]
    )


def said(words: str, minute: int, place: str) -> list[Any]:
    """Return the event of a gesture of Mira, a few minutes after noon."""
    time = f"2026-05-01T12:0{minute}:00+00:00"
    what = {"kind": "pose", "gesture": words}
    memory = {**ACT, "what": what, "text": words, "place": place, "time": time}
    record = {"op": "append", "n": minute, "t": time, "agent": "Mira", "agent_id": 1}
    return ["memory", {**record, "remembered": memory}]


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
