"""What the rows of events say: to whom something was said, whose memory it is, who left at once."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import feed


def heard(what: dict[str, Any], form: str, text: str) -> list[Any]:
    """Return the event of something that Bram perceived of Anneke."""
    memory = {"number": 5, "kind": "perception", "form": form, "what": what, "text": text}
    memory |= {"time": "2026-05-01T12:00:00+00:00", "place": "The Kettle", "source": "Anneke"}
    memory |= {"source_id": "7-1", "confidants": None, "happening": ""}
    record = {"op": "append", "n": 5, "t": memory["time"], "agent": "Bram", "agent_id": 2}
    return ["memory", {**record, "remembered": memory}]


def test_who_is_spoken_to_and_whose_memory_it_is_is_said(page: Page) -> None:
    to_him = [{"name": "you", "id": "me"}]
    words = {"words": "Thank you for the cap.", "to": to_him, "manner": "whisper"}
    shown = feed(page, [heard(words, "speech", 'Anneke whispers to you, "Thank"')], named=True)
    expect(shown.last).to_have_text('whispers to Bram, "Thank you for the cap."')
    expect(page.locator(".feed .event")).to_contain_text("memory 5 of Bram")
    feed(page, [heard({"to": to_him}, "deed", "Anneke gives you a cap.")], named=True)
    expect(page.locator(".feed .event").last).to_contain_text("“you” is Bram")


def test_agents_who_leave_a_place_at_once_unseen_stand_in_one_row(page: Page) -> None:
    def move(agent: str, second: int) -> list[Any]:
        time = f"2026-05-01T12:00:{second:02}+00:00"
        record = {"t": time, "agent": agent, "agent_id": 1, "origin": "The Kettle", "usual": True}
        return ["move", {**record, "place": "The Quay", "seen": False}]

    shown = feed(page, [move("Bram", 1), move("Nell", 2), move("Wren", 3)], named=True)
    expect(shown.last).to_have_text("leave The Kettle at the same time")
    expect(page.locator(".feed .event")).to_have_count(1)
    expect(page.locator(".feed .event b")).to_have_text("Bram, Nell and Wren")
    feed(page, [move("Bram", 1), move("Nell", 30)], named=True)
    expect(page.locator(".feed .event")).to_have_count(2)
    expect(page.locator(".feed .event").last).to_contain_text("which nobody remembers")
