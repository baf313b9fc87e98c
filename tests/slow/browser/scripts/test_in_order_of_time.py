"""Lines and events stand in the order of time: of a person, of an agent, of the world."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, feed


def line(minute: int, *, private: bool = False, weight: float = 1.0) -> dict[str, Any]:
    """Return what Tom said so many minutes after noon."""
    at = f"2026-05-01T12:{minute:02}:00+00:00"
    words = f"whisper {minute}" if private else f"line {minute} with many more words in it"
    said = {"text": words, "said": True, "time": at, "numbers": [minute], "private": private}
    return {**said, "weight": weight}


def show_known(page: Page, module: str = "person_card", **facts: Any) -> None:
    """Show what Mira knows of Tom, which is nothing besides ``facts``.

    ``module``: That of the card: beside others, or alone.
    """
    known = {"id": 1, "agent": "Mira", "names": ["Tom"], "first_met": None, "portrait": ""}
    known |= {"remarks": "", "more_memories": 0, "complete": True}
    lists = ("pins", "promises", "plans", "mentions", "lines", "notes", "memories")
    page.evaluate(
        """async ([known, module]) => {
            const [card] = Object.values(await import(`/${module}.js`)).filter(
                ({ name }) => name.endsWith("Card"),
            );
            document.querySelector("main").append(card(known, "Tom"));
        }""",
        [known | {name: [] for name in lists} | facts, module],
    )


def show_card(
    page: Page, *lines: dict[str, Any], module: str = "person_card", **facts: Any
) -> list[int]:
    """Show what Mira knows of Tom by his lines; return the numbers of those that are shown."""
    show_known(page, module, lines=lines, **facts)
    words = page.locator("main ul > li > span:not(.flag):visible").all_text_contents()
    return [int(re.findall(r"\d+", each)[0]) for each in words]


def test_few_lines_of_a_person_stand_in_the_order_of_time_and_whispers_come_first(
    page: Page,
) -> None:
    whisper = line(2, private=True)
    assert show_card(page, line(1), whisper, line(3), line(4)) == [2, 4, 3, 1]
    expect(page.locator("main h4").first).to_have_text("Told Mira in private")
    expect(page.locator("main ul > li").first).to_contain_text("keeps it private")


def test_of_many_lines_those_that_tell_most_come_first_and_no_whisper_is_folded(
    page: Page,
) -> None:
    old = line(1, private=True)
    telling = (line(2, weight=30.0), line(3, weight=40.0))
    dull = (line(minute) for minute in range(4, 40))
    assert show_card(page, old, *telling, *dull) == [1, 3, 2, 39, 38, 37, 36]
    folded = page.locator("details")
    expect(folded.locator("summary")).to_have_text("All 38, the newest first")
    folded.locator("summary").click()
    expect(folded.locator("li").first).to_contain_text("line 39")


def test_errands_stand_after_what_tells_something(page: Page) -> None:
    lines = [{**line(1, weight=50.0), "errand": True}, line(2, weight=9.0), line(3, weight=20.0)]
    told = [{"told": each["text"], **each} for each in lines]
    assert show_card(page, *told, module="known_card", overheard=[]) == [3, 2]
    expect(page.locator("main")).to_contain_text("What tells most in rare words stands first")
    page.get_by_text("Errands and questions: 1").click()
    expect(page.locator("main li").last).to_contain_text("line 1 ")


def test_a_card_alone_begins_with_what_tells_most_and_folds_questions_and_the_rest(
    page: Page,
) -> None:
    quiet = [line(minute, private=True, weight=minute) for minute in range(1, 6)]
    loud = [line(minute, weight=100 - minute) for minute in range(10, 19)]
    asked = {**line(60 - 1, weight=200.0), "told": ""}
    part = {**line(58, weight=150.0), "told": "line 58.", "to": ["Bram"]}
    part["text"] = "line 58. What do you say?"
    passage = {"text": "Tom came in 77.", "tier": "recent", "time": "2026-05-01T12:00:00Z"}
    passage |= {"numbers": [7], "private": False, "private_sentences": []}
    memory = {**ACT, "kind": "perception", "source": "Tom", "text": "Tom sweeps 88."}
    facts = {"mentions": [passage], "memories": [memory], "more_memories": 3, "overheard": [part]}
    told = [{"told": each["text"], **each} for each in (*quiet, *loud, asked)]
    shown = show_card(page, *told, module="known_card", **facts)
    assert shown == [5, 4, 3, 2, 58, 10, 11, 12, 13, 14, 15, 16, 77]
    headings = ["Told Mira in private", "Told openly, with Mira there", "In the summaries of Mira"]
    expect(page.locator("main h4")).to_have_text(headings)
    row = page.locator("main ul > li", has_text="line 58")
    expect(row).to_contain_text("“line 58. What do you say?” to Bram, ")
    expect(page.locator("details > summary")).to_have_text(
        [
            "1 more, the newest first",
            "2 more, the newest first",
            "Errands and questions: 1",
            "Other memories of Tom: 1 of 4, the newest first",
        ]
    )
    expect(page.locator("summary a")).to_have_count(0)
    page.locator("summary", has_text="Other memories").click()
    expect(page.get_by_role("link", name="all", exact=True)).to_be_visible()


def test_only_those_sentences_of_a_passage_are_marked_that_rest_on_private_words(
    page: Page,
) -> None:
    text = "Tom came in. He <b>whispered</b> with me. He left."
    passage = {"text": text, "tier": "recent", "time": "2026-05-01T12:00:00Z", "numbers": [7]}
    passage |= {"private": False, "private_sentences": ["He <b>whispered</b> with me."]}
    show_known(page, mentions=[passage])
    (shown,) = page.locator("main ul > li").all()
    expect(shown).not_to_have_class("whisper")
    expect(shown.locator(".hidden-part")).to_have_text(
        "keeps it private He <b>whispered</b> with me."
    )
    expect(shown).to_contain_text(
        "Tom came in. keeps it private He <b>whispered</b> with me. He left."
    )


def test_what_an_agent_said_itself_is_no_knowledge_of_somebody(page: Page) -> None:
    memory = {**ACT, "kind": "perception", "source": "Tom", "text": "Tom sweeps."}
    show_known(page, memories=[{**ACT, "number": 3}, memory])
    expect(page.locator("main ul > li:visible > span")).to_have_text(["Tom sweeps."])
    expect(page.locator("details summary")).to_have_text(
        "What it said and did itself about Tom, the newest"
    )


def test_a_list_that_is_cut_says_so_and_leads_to_all(page: Page) -> None:
    memory = {**ACT, "kind": "perception", "source": "Tom", "text": "Tom sweeps <b>all</b>."}
    show_known(page, memories=[memory, {**ACT, "number": 3}], more_memories=32)
    heading = page.locator("main h4")
    expect(heading).to_have_text("Other memories of Tom: 1 of 34, the newest first · all")
    expect(heading.get_by_role("link")).to_have_attribute(
        "href", "/agents/search/?agent=1&q=Tom&by=words"
    )
    expect(page.locator("main ul > li > span")).to_have_text(
        ["Tom sweeps <b>all</b>.", re.compile("^Mira ")]  # her own words are folded
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
