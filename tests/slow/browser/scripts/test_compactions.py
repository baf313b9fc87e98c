"""A compaction: what it lost, and its texts before and after, word by word."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, show

MADE = {
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
}


def test_a_compaction_counts_what_both_its_steps_lost(page: Page) -> None:
    long = {"tier": "longterm", "first": 1, "last": 4, "text": "- Liesbet drowned."}
    short = {"tier": "recent", "first": 5, "last": 8, "text": "- Ann sails on Thursday."}
    after = {"longterm": {**long, "last": 8, "text": "- Ann sails."}}
    after["recent"] = {**short, "first": 9, "last": 9, "text": "- Tom mends nets."}
    made = {
        **MADE,
        "before": {"longterm": long, "recent": short},
        "after": after,
    }
    lost = {
        "losses": [
            {"memory": ACT, "kept": "unsure", "missing": ["sweeps"], "told": "She <i>swept</i>."}
        ],
        "sentences": [
            {
                "tier": "longterm",
                "text": "Liesbet <b>drowned</b>.",
                "kept": "gone",
                "missing": ["Liesbet", "drowned"],
                "told": "",
            },
            {
                "tier": "recent",
                "text": "Ann sails on Thursday.",
                "kept": "shorter",
                "missing": ["Thursday"],
                "told": "Ann sails.",
            },
        ],
        "unfounded": [
            {"text": "A lantern was at sea.", "missing": ["lantern", "sea"], "languages": []},
            {"text": "She cried.", "missing": ["cried"], "languages": ["dutch", "german"]},
        ],
        "named": True,
        "complete": True,
    }
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    told = page.locator(".change")
    expect(told).to_contain_text(
        "None of 1 memory is lost. The others: 1 perhaps told."
        " 1 of 2 sentences of earlier summaries is lost. The others: 1 told shorter."
    )
    expect(told).to_contain_text("The writer of the summary named the memories")
    too_much, foreign = told.locator(".too-much").all()
    expect(too_much).to_contain_text("Knows too much 1 sentence of the summary.")
    expect(too_much.locator("mark")).to_have_text(["lantern", "sea"])
    expect(foreign).to_contain_text("Told from another language 1 sentence of the summary.")
    expect(foreign.locator(".what")).to_have_text("She cried. source is in Dutch and German")
    expect(foreign.locator("mark")).to_have_count(0)
    told.get_by_text("Perhaps told 1 memory").click()
    expect(told.locator(".told").first).to_have_text("Perhaps: “She <i>swept</i>.”")
    second = told.locator("section", has_text="Earlier summaries, into the long-term summary")
    expect(second.locator(".memories .what")).to_have_text(
        ["Liesbet <b>drowned</b>.", "Ann sails on Thursday.Told: “Ann sails.”"]
    )
    expect(second.locator("del")).to_have_text(["Thursday"])
    before, now = second.locator(".both > div").all()
    expect(before.locator(".prose")).to_have_text(["Liesbet drowned.", "Ann sails on Thursday."])
    expect(now.locator(".prose")).to_have_text("Ann sails.")
    second.get_by_text("change by change").click()
    expect(second.locator("ins, .diff del").first).to_be_visible()


def test_a_word_is_not_changed_by_the_line_break_beside_it(page: Page) -> None:
    diff = "texts => import('/word_diff.js').then(m => m.wordDiff(...texts))"
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


def test_what_is_guessed_is_called_a_guess_until_a_model_has_said_what_it_tells(page: Page) -> None:
    text = "Tom mends nets."
    short = {"tier": "recent", "first": 1, "last": 3, "text": text}
    texts = {"before": {"longterm": None, "recent": None}}
    made = {**MADE, **texts, "covered": [1, 3], "after": {"longterm": None, "recent": short}}
    memory = {**ACT, "number": 2, "kind": "perception", "text": "Tom picks a net."}
    guess = {"memory": memory, "kept": "likely", "missing": ["picks"], "told": text}
    gone = {
        "memory": {**memory, "number": 3},
        "kept": "gone",
        "missing": ["picks"],
        "told": "",
        "named": [],
    }
    again = {**gone, "memory": {**gone["memory"], "number": 4, "text": "Tom sleeps."}}
    gone = {**again, "memory": {**again["memory"], "number": 3}}
    lost = {"losses": [gone, again, guess], "sentences": [], "unfounded": [], "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", {**lost, "named": False})
    show(page, "compactions", "Compactions")
    page.evaluate("""async () => (await import("/api.js")).mayAct(true)""")
    page.locator("summary").first.click()
    told = page.locator(".change")
    expect(told).to_contain_text("2 of 3 memories are probably lost. The others: 1 probably told.")
    expect(told).to_contain_text("A guess by words: the writer of the summary did not say")
    expect(told.get_by_text("Probably lost 2 memories")).to_be_visible()
    expect(told.locator(".memory:visible")).to_have_text(re.compile("Tom sleeps.×2"))
    told.get_by_text("Probably told 1 memory").click()
    expect(told.locator(".told")).to_have_text(f"Probably: “{text}”")
    serve(page, "agents/1/compactions/3/sources", {"done": True, "said": "Named."})
    named = {**lost, "losses": [gone, again, {**guess, "kept": "shorter"}], "named": True}
    serve(page, "agents/1/compactions/3/losses", named)
    told.get_by_role("button", name="Ask the model which memories it tells").click()
    expect(told).to_contain_text("2 of 3 memories are lost. The others: 1 told shorter.")
    expect(told).not_to_contain_text("guess")


def test_of_many_losses_those_that_tell_most_are_shown_and_the_others_folded(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 20, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 20], "after": {"longterm": None, "recent": short}}
    gone = [
        {
            "memory": {**ACT, "number": n, "kind": "perception", "text": f"Tom lifts stone {n}."},
            "kept": "gone",
            "missing": [],
            "told": "",
            "named": ["stone"] * (n <= 7),
        }
        for n in range(1, 21)
    ]
    lost = {"losses": gone, "sentences": [], "unfounded": [], "named": True, "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    expect(page.locator(".change .memory:visible")).to_have_count(5)
    expect(page.locator(".change .memory b")).to_have_count(7)
    expect(page.locator(".change summary").first).to_contain_text("bold: names and figures")
    page.get_by_text("15 more", exact=True).click()
    expect(page.locator(".change .memory:visible")).to_have_count(20)


def test_a_lost_memory_says_who_still_has_it(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 1, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 1], "after": {"longterm": None, "recent": short}}
    heard = {**ACT, "number": 1, "kind": "perception", "text": "Tom lifts stones."}
    elsewhere = [
        {"book": "people", "title": "Tom", "standing": None},
        {"book": "pins", "title": "", "standing": None},
        {"book": None, "title": "Wren", "standing": "window"},
        {"book": None, "title": "Bram", "standing": "longterm"},
    ]
    gone = {"memory": heard, "kept": "gone", "missing": [], "told": "", "named": []}
    lost = {"losses": [{**gone, "elsewhere": elsewhere}], "sentences": [], "unfounded": []}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", {**lost, "named": True, "complete": True})
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    expect(page.locator(".change .still")).to_have_text(
        "still on its page of Tom, pinned; Wren still has it; in the summary of Bram"
    )


def test_who_came_and_went_is_one_line_below_what_was_told(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 5, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 5], "after": {"longterm": None, "recent": short}}
    lines = (
        ("passing", "sight", {}, "Wren sets off."),
        ("passing", "sight", {}, "Wren sets off."),
        ("passing", "pose", {}, "Bram nods."),
        ("passing", "deed", {"verb": "go"}, "Tom goes north."),
        ("others", "deed", {"verb": "give"}, "Anneke gives Nell a ring."),
        ("others", "speech", {"words": "My goat is ill."}, 'Tom says, "My goat is ill."'),
    )
    losses = [
        {
            "memory": {**ACT, "number": n, "kind": "perception", "form": form, "text": text}
            | {"what": {"kind": form, **what}},
            "kept": "gone",
            "missing": [],
            "told": "",
            "named": [],
            "sort": sort,
        }
        for n, (sort, form, what, text) in enumerate(lines, 1)
    ]
    lost = {"losses": losses, "sentences": [], "unfounded": [], "named": True, "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    expect(page.locator(".change .memory:visible .what")).to_have_text(
        ["Anneke gives Nell a ring.", 'Tom says, "My goat is ill."']
    )
    page.get_by_text("Comings, goings and gestures: 4").click()
    expect(page.locator(".change .memory:visible")).to_have_count(5)
    expect(page.locator(".change > p")).to_contain_text(
        "6 of 6 memories are lost."
        " Lost: 2 of 2 that others told or gave, 4 of 4 comings, goings and gestures."
    )


def test_what_the_agent_said_itself_is_folded_below_what_others_said(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 2, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 2], "after": {"longterm": None, "recent": short}}
    said = {"form": "speech", "what": {"words": "Good.", "manner": "say", "to": []}}
    own = {**ACT, "number": 1, **said}
    heard = {**own, "number": 2, "kind": "perception", "text": 'Tom says, "My goat is ill."'}
    losses = [
        {"memory": memory, "kept": "gone", "missing": [], "told": "", "named": [], "sort": sort}
        for sort, memory in (("own", own), ("others", heard))
    ]
    lost = {"losses": losses, "sentences": [], "unfounded": [], "named": True, "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    visible = page.locator(".change .memory:visible .what")
    expect(visible).to_have_text(['Tom says, "My goat is ill."'])
    page.get_by_text("Its own words and deeds: 1").click()
    expect(visible).to_have_text(['Tom says, "My goat is ill."', 'says, "Good."'])


def test_a_compaction_says_when_it_was_written_and_from_when_on_prompts_had_it(page: Page) -> None:
    short = {"tier": "recent", "first": 9, "last": 9, "text": "Tom mends nets."}
    texts = {"before": {"longterm": None, "recent": None}}
    made = {**MADE, **texts, "after": {"longterm": None, "recent": short}}
    at = "2026-05-01T12:00:30+00:00"
    head = page.locator(".compactions summary")
    for seconds, words in (
        (58, r"written 1 May 2026, 13:59, in effect from 1 May 2026, 14:00 · 58 s"),
        (0.2, r"%\)1 May 2026, 14:00 · 200 ms"),
    ):
        serve(page, "agents/1/compactions?*", [{**made, "seconds": seconds, "time": at}])
        show(page, "compactions", "Compactions")
        expect(head.first).to_contain_text(re.compile(words))
        expect(head.first.get_by_text("in effect")).to_have_count(int(seconds > 1))


def test_what_is_private_is_named_beside_what_is_lost(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 2, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 2], "after": {"longterm": None, "recent": short}}
    memory = {**ACT, "kind": "perception", "text": "Tom sleeps."}
    secret = {**memory, "number": 2, "text": 'Tom whispers, "I owe Ann."', "confidants": ["t"]}
    row = {"missing": [], "told": "", "named": []}
    losses = [
        {**row, "memory": {**memory, "number": 1}, "kept": "gone"},
        {**row, "memory": secret, "kept": "whispered"},
    ]
    lost = {"losses": losses, "sentences": [], "unfounded": [], "named": True, "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    expect(page.locator(".change > p").first).to_contain_text(
        "1 of 2 memories is lost. 1 private one stands in no summary and is not lost:"
        " the archive keeps it, and recall finds it."
        " The archive has all of it"
    )
    visible = page.locator(".change .memory:visible .what")
    expect(visible).to_have_text(["Tom sleeps.", 'Tom whispers, "I owe Ann."'])


def test_what_was_asked_to_be_done_is_folded_below_what_was_told(page: Page) -> None:
    texts = {"before": {"longterm": None, "recent": None}}
    short = {"tier": "recent", "first": 1, "last": 2, "text": "Tom mends nets."}
    made = {**MADE, **texts, "covered": [1, 2], "after": {"longterm": None, "recent": short}}
    memory = {**ACT, "kind": "perception", "form": "deed"}
    row = {"missing": [], "told": "", "named": [], "kept": "gone"}
    losses = [
        {**row, "memory": {**memory, "number": 1, "text": "Tom asks for soup."}, "sort": "errands"},
        {**row, "memory": {**memory, "number": 2, "text": "Tom gives a ring."}},
    ]
    lost = {"losses": losses, "sentences": [], "unfounded": [], "named": True, "complete": True}
    serve(page, "agents/1/compactions?*", [made])
    serve(page, "agents/1/compactions/3/losses", lost)
    show(page, "compactions", "Compactions")
    page.locator("summary").first.click()
    expect(page.locator(".change > p").first).to_contain_text("1 that asked for something")
    visible = page.locator(".change .memory:visible .what")
    expect(visible).to_have_text(["Tom gives a ring."])
    page.get_by_text("Asked to be done: 1").click()
    expect(visible).to_have_text(["Tom gives a ring.", "Tom asks for soup."])
