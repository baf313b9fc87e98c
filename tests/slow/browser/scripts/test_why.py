"""The section "Why" of an agent's page: what led to an act, and which links lead to it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, show

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
    "explaining": 0,
    "summaries": [{**SUMMARY, "text": "- Tom mends nets.", "told": []}],
    "window": [6, 8],
    "masked": None,
    "unheld": [],
    "grounds": [],
    "nowhere": [],
    "elsewhere": None,
    "motive": None,
    "rests": [],
    "promises": [],
    "quoted": [],
    "before": [],
    "bearing": [],
    "thought": None,
    "missing": ["The log does not have it"],
    "by_rule": False,
    "plans": None,
    "plan": None,
}
"""An act that the event log does not have."""


def test_what_an_act_that_is_older_than_the_log_recalled_is_not_known(page: Page) -> None:
    serve(page, "agents/1/why?*", WHY)
    show(page, "why", "Why")
    recalled = page.locator(".chain > li", has_text="What had to be recalled")
    expect(recalled).to_contain_text("Not known: older than the event log.")
    expect(recalled).not_to_contain_text("Nothing")
    expect(page.locator("main")).to_contain_text("both earlier summaries, word for word; no model")


SENT = {"sections": {}, "outcome": "acted", "prompt": 9, "source": "Ida", "prompt_tokens": 0}
SENT |= {"model": "m", "latency": 1, "wait": 0, "seed": None, "temperature": 0}


def heard(number: int, words: str, **more: Any) -> dict[str, Any]:
    """Return what Ida said to Mira on the day of the act."""
    what = {"kind": "speech", "words": words, "to": [{"id": "me", "name": "you"}], "manner": "say"}
    found = {"number": number, "kind": "perception", "form": "speech", "source": "Ida"}
    return {**ACT, "time": WHY["time"], **found, "what": what, **more}


def test_why_begins_with_what_an_act_answers_and_what_it_rests_on(page: Page) -> None:
    answer = page.locator("main .answer p")
    cause = heard(7, "What did you carry?")
    told = heard(3, "Honey, and a ribbon.")
    line = {"text": "", "memory": told, "summary": False, "shared": ["ribbon"], "known": False}
    why = {**WHY, "cause": cause, "thought": SENT, "grounds": [line], "nowhere": ["safe"]}
    serve(page, "agents/1/why?*", why)
    show(page, "why", "Why")
    first = page.locator("main").locator("p, li, h3").first
    expect(first).to_contain_text("Mira ")
    expect(answer.nth(1)).to_have_text(
        re.compile(r"^It answers what Ida said to Mira at .*: “What did you carry\?”$")
    )
    expect(answer.nth(2)).to_have_text(
        re.compile(
            r"^“ribbon” may be from what Ida said to Mira at .*: “Honey, and a ribbon.” "
            r"Nowhere in the prompt: “safe”\.$"
        )
    )
    serve(page, "agents/1/why?*", {**why, "grounds": [{**line, "known": True}]})
    show(page, "why", "Why")
    expect(answer.nth(2)).to_contain_text("It rests on what Ida said to Mira at ")


def test_why_says_what_the_agent_keeps_of_what_it_was_asked(page: Page) -> None:
    third = page.locator("main .answer p").nth(2)
    said = {"kind": "speech", "words": "It lies in the hay.", "to": [], "manner": "whisper"}
    told = {"kind": "told", "text": "It lies in the hay.", "part": "It lies in the hay."}
    told |= {"memory": heard(3, "", what=said), "masked": True, "private": True}
    shown = {
        "told": r"keeps it private Mira keeps what Ida whispered at .*: “It lies in the hay.” "
        r"Its prompt had only that it was whispered\.",
        "promised": r"keeps it private Mira had promised at .*: It lies in the hay\.",
        "planned": r"keeps it private Mira means to: It lies in the hay\.",
        "secret": r"keeps it private A secret of Mira's bears on it: “It lies in the hay.”",
        "said": r"keeps it private Mira had said at .*: “It lies in the hay.”",
    }
    for kind, words in shown.items():
        why = {**WHY, "cause": heard(7, "What lies there?"), "thought": SENT}
        why["motive"] = {**told, "kind": kind}
        serve(page, "agents/1/why?*", why)
        show(page, "why", "Why")
        expect(third).to_have_text(re.compile(rf"^{words}$"))
        expect(page.locator("main .answer")).not_to_contain_text("No line of the prompt says it")


def test_why_says_that_nobody_told_an_agent_what_it_says(page: Page) -> None:
    answer = page.locator("main .answer p").last
    other = {"id": 2, "agent": "Bram", "memory": heard(5, "Beatrix bleats."), "shared": ["Beatrix"]}
    why = {**WHY, "cause": heard(7, "Hello."), "thought": SENT, "elsewhere": other}
    serve(page, "agents/1/why?*", why)
    show(page, "why", "Why")
    expect(answer).to_have_text(
        re.compile(
            r"^No line of the prompt says it. The prompt does not have “Beatrix”, and nobody is "
            r"known to have told Mira in these words; but Ida said to Bram at .*: “Beatrix "
            r"bleats.”$"
        )
    )
    serve(page, "agents/1/why?*", {**why, "elsewhere": {**other, "id": 1, "agent": "Mira"}})
    show(page, "why", "Why")
    expect(answer).to_contain_text("does not have “Beatrix”, but earlier Ida said to Mira at ")
    serve(page, "agents/1/why?*", {**WHY, "by_rule": True, "trigger": "its ordinary day"})
    show(page, "why", "Why")
    expect(page.locator("main .answer")).to_contain_text(
        "Mira did it by rule (its ordinary day): no model was asked."
    )


def test_the_last_memories_before_an_act_are_shown(page: Page) -> None:
    serve(page, "agents/1/why?*", {**WHY, "window": [2, 8], "before": [{**ACT, "number": 8}]})
    show(page, "why", "Why")
    before = page.locator(".chain > li", has_text="What came just before")
    before.locator("summary").click()
    expect(before.locator(".memory .number")).to_have_text(["8"])


def test_what_is_known_of_an_act_stands_before_what_is_guessed(page: Page) -> None:
    heard = {**ACT, "number": 3, "kind": "perception", "text": "Anneke whispers to you."}
    found = {
        "nth": 8,
        "window": [2, 8],
        "promises": [{**ACT, "number": 4}],
        "quoted": [{**ACT, "number": 6}],
        "rests": [{**ACT, "number": 5}],
        "bearing": [heard],
        "before": [{**ACT, "number": 8}],
    }
    serve(page, "agents/1/why?*", {**WHY, **found})
    show(page, "why", "Why")
    assert page.locator(".chain h3").all_inner_texts() == [
        "What Mira did",
        "What set it off",
        "Promises in the prompt",
        "What Mira has noted of whom this answers",
        "What had to be recalled",
        "Also because of",
        "Guesses by words",
        "What came just before",
        "Plans in the prompt",
        "Summaries in the prompt",
        "What is not known",
    ]
    guess = page.locator(".chain > li", has_text="Guesses by words")
    expect(guess.locator("summary")).to_have_text("Guesses by words 1 memory of the prompt")
    expect(guess.locator(".memory")).to_be_hidden()
    guess.locator("summary").click()
    expect(guess.locator(".memory")).to_contain_text("Anneke whispers to you.")
    summaries = page.locator(".chain > li", has_text="Summaries in the prompt")
    summaries.locator("summary").first.click()
    window = summaries.get_by_role("link", name="memories 2–8")
    expect(window).to_have_attribute("href", "#memory/2-8")
    expect(page.locator(".turns").first).to_contain_text("7 newer acts")


def hit(number: int) -> dict[str, Any]:
    """Return a memory that was recalled."""
    found = {"kind": "memory", "n": number, "title": "", "first": number, "last": number}
    return {**found, "score": 1, "text": f"line {number}", "why": "words", "memory": None}


def test_what_was_recalled_and_explains_nothing_is_folded(page: Page) -> None:
    recalled = [hit(4), hit(5), hit(6)]
    serve(page, "agents/1/why?*", {**WHY, "recalled": recalled, "explaining": 1})
    show(page, "why", "Why")
    step = page.locator(".chain > li", has_text="What had to be recalled")
    expect(step.get_by_text("line 4")).to_be_visible()
    expect(step.get_by_text("line 5")).to_be_hidden()
    step.get_by_text("2 more").click()
    expect(step.get_by_text("line 6")).to_be_visible()
    serve(page, "agents/1/why?*", {**WHY, "recalled": recalled})
    show(page, "why", "Why")
    expect(step).to_contain_text("Nothing that was recalled has words of it.")
    expect(step.get_by_text("line 4")).to_be_hidden()
    step.get_by_text("3 recalled").click()
    expect(step.get_by_text("line 4")).to_be_visible()


def test_what_was_said_after_a_thought_began_is_what_its_answer_answers(page: Page) -> None:
    asked = {**ACT, "number": 7, "kind": "perception", "text": "Anneke asks for tea."}
    thought = {"sections": {}, "outcome": "acted", "prompt": 0, "source": "Ida", "cause": 6}
    thought |= {"prompt_tokens": 0, "model": "m", "latency": 1, "wait": 0, "seed": None}
    thought |= {"temperature": 0}
    why = {**WHY, "trigger": "arrival", "cause": asked, "thought": thought}
    serve(page, "agents/1/why?*", why)
    show(page, "why", "Why")
    step = page.locator(".chain > li", has_text="What set it off")
    expect(step).to_have_text(
        "What set it off"
        "It answers what was said meanwhile:"
        "memory 7: Anneke asks for tea."
        "The thought began with: arrival by Ida."
    )
    serve(page, "agents/1/why?*", {**why, "thought": {**thought, "cause": 7}})
    show(page, "why", "Why")
    expect(step).to_have_text("What set it offarrival by Idamemory 7: Anneke asks for tea.")
    soup = {"number": 4, "line": "eat soup", "state": "doing", "private": True, "aloud": True}
    serve(page, "agents/1/why?*", {**WHY, "plan": soup})
    show(page, "why", "Why")
    expect(step).to_contain_text("Its own plan, as the archive says.")
    own = page.locator(".chain > li", has_text="The plan it belongs to")
    expect(own).to_contain_text("keeps it private, and was asked aloud")


def test_nothing_recalled_is_no_fault_if_the_prompt_had_it(page: Page) -> None:
    thought = {"sections": {}, "outcome": "acted", "prompt": 0, "source": "", "prompt_tokens": 0}
    thought |= {"model": "m", "latency": 1, "wait": 0, "seed": None, "temperature": 0}
    heard = {**ACT, "number": 7, "kind": "perception", "text": "Anneke asks."}
    elsewhere = {"id": 2, "agent": "Bram", "memory": heard, "shared": ["pianos"]}
    recalled = page.locator(".chain > li", has_text="What had to be recalled")
    for more, words in (
        ({"cause": heard, "quoted": [{**heard, "number": 3}]}, "it stands in the notes above"),
        ({"cause": heard}, "Mira still remembered word for word"),
        ({"cause": {**heard, "number": 3}}, "Nothing was recalled."),
        ({"cause": heard, "elsewhere": elsewhere}, "Nothing was recalled."),
        ({}, "What it rests on is not known; nothing was recalled."),
    ):
        serve(page, "agents/1/why?*", {**WHY, "thought": thought, "window": [6, 8], **more})
        show(page, "why", "Why")
        expect(recalled).to_contain_text(words)
        expect(recalled).not_to_contain_text("Nothing.")
        expect(recalled.get_by_role("link", name="memories 6–8")).to_be_visible()


def test_lines_of_the_prompt_that_have_words_of_an_act_are_marked_and_leave_no_guess(
    page: Page,
) -> None:
    heard = {**ACT, "number": 3, "kind": "perception", "text": "Anneke walks <b>leeks</b>."}
    heard |= {"what": {"kind": "sight"}, "source": ""}
    known = {"text": "", "memory": heard, "summary": False, "shared": ["walking", "leeks"]}
    whole = {"text": "Your cup is gone.", "memory": None, "shared": ["cup"], "known": False}
    grounds = [{**known, "known": True}, {**whole, "summary": False}, {**whole, "summary": True}]
    other = {**ACT, "number": 5, "kind": "perception", "text": "The rain stops."}
    more = {"grounds": grounds, "rests": [heard, other], "bearing": [other], "window": [2, 8]}
    serve(page, "agents/1/why?*", {**WHY, **more})
    show(page, "why", "Why")
    step = page.locator(".chain > li", has_text="Lines of the prompt that have its words")
    rows = step.locator("li")
    expect(rows.nth(0)).to_contain_text("Anneke walks <b>leeks</b>. it rests on this · ")
    expect(rows.nth(0).locator("b")).to_have_text(["walks", "leeks"])
    expect(rows.nth(0).get_by_role("link", name="memory 3")).to_be_visible()
    expect(rows.nth(1)).to_have_text("Your cup is gone. who it is, the place, its day")
    expect(rows.nth(2)).to_have_text("Your cup is gone. a summary")
    expect(page.locator(".chain")).not_to_contain_text("Guesses by words")
    also = page.locator(".chain > li", has_text="Also because of")
    expect(also.locator("summary")).to_have_text("Also because of 1 line")


def test_words_that_nobody_told_an_agent_are_shown_where_they_were_heard(page: Page) -> None:
    heard = {**ACT, "number": 5, "what": {"kind": "pose", "gesture": "tunes pianos."}}
    found = {"id": 2, "agent": "Bram", "memory": heard, "shared": ["tune", "pianos"]}
    serve(page, "agents/1/why?*", {**WHY, "elsewhere": found})
    show(page, "why", "Why")
    step = page.locator(".chain > li", has_text="Not from its prompt")
    expect(step).to_contain_text(
        "The prompt does not have “tune” and “pianos”. "
        "Nobody told Mira in these words, as far as its prompt says. Bram said it:"
    )
    expect(step.get_by_role("link", name="memory 5")).to_have_attribute(
        "href", "/agents/2/#memory/5"
    )


def test_a_plan_that_the_prompt_did_not_have_says_so(page: Page) -> None:
    own = {"number": 4, "line": "eat soup", "state": "doing", "private": False, "aloud": False}
    step = page.locator(".chain > li", has_text="The plan it belongs to")
    for plans, there in (([], False), ([own], True), (None, True)):
        serve(page, "agents/1/why?*", {**WHY, "plan": own, "plans": plans})
        show(page, "why", "Why")
        expect(step).to_contain_text("eat soup")
        said = step.get_by_text("The prompt did not have it in these words.")
        expect(said).to_have_count(0 if there else 1)


def test_of_whispers_that_the_prompt_masked_it_had_only_that_they_were_whispered(
    page: Page,
) -> None:
    recalled = page.locator(".chain > li", has_text="What had to be recalled")
    for masked, words in (
        ([], "memories 6–8."),
        ([7], "memories 6–8; of 7 only that it was whispered."),
        ([2, 6, 7], "memories 6–8; of 2 and 6–7 only that they were whispered."),
        (None, "memories 6–8; whispers only if the prompt had their words, which is not known."),
    ):
        serve(page, "agents/1/why?*", {**WHY, "masked": masked})
        show(page, "why", "Why")
        expect(recalled).to_contain_text(f"Word for word in the prompt: {words}")


def test_the_parts_of_a_prompt_stand_in_plain_words_with_their_shares(page: Page) -> None:
    sections = {"window": 500, "deeds": 250, "who it is": 100, "plans": 60, "headings": 50}
    thought = {"sections": {**sections, "usual day": 30, "situation": 10}, "outcome": "acted"}
    thought |= {"prompt": 0, "source": "", "prompt_tokens": 0, "model": "m", "latency": 1}
    thought |= {"wait": 0, "seed": None, "temperature": 0}
    found = {"kind": "memory", "n": 4, "title": "", "first": 4, "last": 4, "score": 0, "text": "x"}
    found |= {"why": "> recall the ferry", "memory": None}
    why = {**WHY, "thought": thought, "recalled": [found], "explaining": 1}
    serve(page, "agents/1/why?*", why)
    show(page, "why", "Why")
    parts = page.locator(".chain > li", has_text="What the prompt was made of")
    parts.locator("summary").first.click()
    expect(parts.locator(".parts").first).to_contain_text("newest memories, word for word")
    expect(parts.locator(".parts li").first).to_contain_text("50 %")
    expect(parts.locator("summary").last).to_have_text("2 smaller parts, together 4 %")
    expect(parts.get_by_text("usual day")).to_be_hidden()
    hits = page.locator(".chain > li", has_text="What had to be recalled")
    expect(hits).to_contain_text("it searched for “the ferry”")
    expect(hits).not_to_contain_text("0.00")


def test_an_act_by_rule_shows_nothing_of_a_prompt(page: Page) -> None:
    by_rule = {"by_rule": True, "trigger": "its ordinary day", "summaries": [], "window": None}
    serve(page, "agents/1/why?*", {**WHY, **by_rule, "missing": []})
    show(page, "why", "Why")
    first = page.locator(".chain > li").first
    expect(first.locator("p").first).to_have_text("Done by rule; no model was asked.")
    assert page.locator(".chain h3").all_inner_texts() == ["What Mira did", "What set it off"]


def test_an_act_for_a_plan_was_set_off_by_its_own_plan_and_not_by_the_other_person(
    page: Page,
) -> None:
    thought = {"sections": {}, "outcome": "acted", "prompt": 0, "prompt_tokens": 0, "model": "m"}
    thought |= {"source": "Bob", "latency": 1, "wait": 0, "seed": None, "temperature": 0}
    serve(page, "agents/1/why?*", {**WHY, "trigger": "plan", "thought": thought})
    show(page, "why", "Why")
    cause = page.locator(".chain > li", has_text="What set it off")
    expect(cause).to_contain_text("its own plan, with Bob")


def test_plans_stand_as_text_and_the_one_of_the_act_is_marked(page: Page) -> None:
    pie = {"number": 3, "line": "bake the pie", "state": "open", "private": False}
    soup = {"number": 4, "line": "bring <b>Bram</b> soup", "state": "doing", "private": True}
    serve(page, "agents/1/why?*", {**WHY, "plans": [pie, soup], "plan": soup})
    show(page, "why", "Why")
    lines = page.locator(".chain > li", has_text="Plans in the prompt").locator("ul li")
    expect(lines).to_have_text(
        ["bake the pie", re.compile("keeps it private.*bring <b>Bram</b> soup")]
    )
    expect(lines.nth(1)).to_contain_text("the act belongs to it")
    serve(page, "agents/1/why?*", {**WHY, "by_rule": True, "plan": pie})
    show(page, "why", "Why")
    own = page.locator(".chain > li", has_text="The plan it belongs to")
    expect(own).to_contain_text("bake the pie")
    expect(page.locator("main")).not_to_contain_text("Plans in the prompt")


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
