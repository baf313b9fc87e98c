"""The letters of faces, and cards of a person that are folded."""

from __future__ import annotations

from playwright.sync_api import Page, expect

LETTERS = """async (names) => {
    const { initials, learn } = await import("/faces.js");
    learn(names);
    return names.map(initials);
}"""
ALIKE = ["Aldric", "Alnora", "Alswin", "Altamar", "Anneke", "Ann", "Bram", "Al", "Ål", "陳"]
CARD = """async () => {
    const { personCard } = await import("/person_card.js");
    const line = (n) => ({ text: `Line ${n}.`, said: true, numbers: [n], weight: n,
        private: n === 1 ? "whispered" : "", time: `2026-11-30T12:00:0${n}Z` });
    const known = { id: 7, agent: "Mira", names: ["Tom"], meetings: 1,
        first_met: null, last_met: null, portrait: "", remarks: "",
        pins: [], notes: [], promises: [], plans: [], mentions: [],
        lines: [1, 2, 3].map(line), memories: [], more_memories: 0, complete: true };
    document.querySelector("main").append(personCard(known, "Tom", true));
}"""


def test_names_that_begin_alike_have_different_letters(page: Page) -> None:
    found = page.evaluate(LETTERS, ALIKE)
    assert len(set(found)) == len(ALIKE)
    assert found[:8] == ["Ad", "Ao", "As", "At", "Ae", "An", "Br", "Al"]
    again = page.evaluate(LETTERS, ALIKE[::-1])
    assert again[::-1] == found


def test_a_folded_card_says_how_much_it_holds_and_makes_it_when_it_is_opened(page: Page) -> None:
    page.evaluate(CARD)
    fold = page.locator(".folded")
    expect(fold.locator("summary")).to_have_text("2 lines, 1 line in private")
    expect(fold.get_by_text("Line 3.")).to_have_count(0)
    fold.locator("summary").click()
    expect(fold.get_by_text("Line 3.")).to_be_visible()
    fold.locator("summary").click()
    fold.locator("summary").click()
    expect(fold.get_by_text("Line 3.")).to_have_count(1)
