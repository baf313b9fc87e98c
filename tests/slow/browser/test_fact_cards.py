""" "Where did it go?": what the card of each who knows a fact says."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import serve_fact
from tests.slow.browser.watched import WatchedWorld


def test_who_said_what_nobody_told_them_is_marked(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    times = ("2026-05-01T12:00:00+00:00", "2026-05-01T12:06:00+00:00")
    spell = {"time": times[1], "standing": "window", "kept": "verbatim", "has": "x"}
    spell |= {"compaction": 0, "n": 4}
    step = {"id": 2, "n": 4, "time": times[1], "step": "said it"}
    nell = {"id": 2, "agent": "Nell", "source": "", "heard": "Does Beatrix eat?", "path": [step]}
    nell |= {"memories": [4], "spells": [spell], "acts": []}
    telling = {"place": "", "to": [], "manner": "say", "private": False, "rests_on": 0}
    telling |= {"link": None, "came_from": "", "id": None, "speaker": "Ann", "hearings": []}
    first = {**telling, "happening": "h1", "time": times[0], "text": "She is called Beatrix."}
    own = {**telling, "happening": "h2", "time": times[1], "id": 2, "text": nell["heard"]}
    own |= {"hearings": [{"id": 2, "n": 4, "way": "said"}]}
    found = {"words": "Beatrix", "memory": None, "suggested": [], "complete": True, "noted": []}
    serve_fact(page, {**found, "tellings": [first, own], "knowers": [nell], "echoes": []})
    page.goto("/agents/fact?q=Beatrix")
    untold = "said it, and nobody told Nell in these words"
    expect(page.locator("#knowers .untold")).to_have_text(untold)
    expect(page.locator("#sources > li")).to_contain_text("from whom is not known")


def test_what_was_told_again_has_its_number_of_the_map(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    times = ("2026-05-01T12:00:00+00:00", "2026-05-01T12:06:00+00:00")
    spell = {"time": times[0], "standing": "window", "kept": "verbatim", "has": "x"}
    spell |= {"compaction": 0, "n": 4}
    step = {"id": 2, "n": 4, "time": times[0], "step": "heard it"}
    nell = {"id": 2, "agent": "Nell", "source": "Ann", "heard": "A lantern.", "path": [step]}
    nell |= {"memories": [4, 5], "spells": [spell], "acts": []}
    telling = {"place": "", "to": ["Nell"], "manner": "say", "private": False, "rests_on": 0}
    telling |= {"link": None, "came_from": "", "id": None, "speaker": "Ann"}
    tellings = [
        {**telling, "happening": f"h{n}", "time": time, "text": text}
        | {"hearings": [{"id": 2, "n": n, "way": "told"}]}
        for n, time, text in ((4, times[0], "A lantern."), (5, times[1], "The lantern, again."))
    ]
    found = {"words": "lantern", "memory": None, "suggested": [], "complete": True, "noted": []}
    serve_fact(page, {**found, "tellings": tellings, "knowers": [nell], "echoes": []})
    page.goto("/agents/fact?q=lantern")
    expect(page.locator("#sources .number")).to_have_text("1")
    number = page.locator("#news .number")
    expect(number).to_have_text("2")
    telling = page.locator("#telling-2")
    expect(telling).to_be_hidden()
    number.click()
    expect(telling).to_have_class(re.compile("chosen"))
    expect(telling).to_be_visible()


def test_a_summary_that_knows_too_much_is_flagged(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    echo = {
        "id": 1,
        "agent": "Bram",
        "standing": "recent",
        "said": "A <b>lantern</b>.",
        "compaction": 2,
    }
    found = {"words": "lantern", "memory": None, "suggested": [], "complete": True}
    serve_fact(page, {**found, "tellings": [], "knowers": [], "noted": [], "echoes": [echo]})
    page.goto("/agents/fact?q=lantern")
    row = page.locator("#knowers > li.echo")
    expect(row).to_contain_text("has it in the short-term summary, but no memory with these words.")
    expect(row.locator("q")).to_have_text("A <b>lantern</b>.")
    expect(row.get_by_role("link", name="compaction 2")).to_have_attribute(
        "href", "/agents/1/#compactions/2"
    )
    told = {**found, "tellings": [], "knowers": [], "noted": []}
    serve_fact(page, {**told, "echoes": [{**echo, "memories": [4, 9]}]})
    page.goto("/agents/fact?q=lantern")
    expect(row).to_contain_text("has it in the short-term summary, from memories in other words.")
    expect(row.get_by_role("link", name="memory 9")).to_have_attribute(
        "href", "/agents/1/#memory/9"
    )


def test_what_an_agent_has_only_in_its_books_is_known_to_it(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    time = "2026-05-01T12:00:00+00:00"
    spell = {"time": time, "standing": "lost", "kept": "gone", "has": "", "compaction": 2, "n": 0}
    step = {"id": 1, "n": 4, "time": time, "step": "heard it"}
    mira = {"id": 1, "agent": "Mira", "source": "Tom", "heard": "A lantern.", "path": [step]}
    mira |= {"memories": [4], "spells": [spell], "acts": []}
    line = {"text": "A <b>lantern</b>.", "numbers": [4], "time": time, "private": True}
    noted = [
        {**line, "id": 1, "agent": "Mira", "book": "people", "title": "Tom"},
        {**line, "id": 7, "agent": "Bram", "book": "notes", "title": "At sea", "private": False},
    ]
    heard = {"id": 1, "n": 4, "way": "whispered"}
    telling = {"happening": "h1", "time": time, "place": "The Quay", "speaker": "Tom", "id": None}
    telling |= {"to": ["Mira"], "manner": "whisper", "text": "A lantern.", "private": "whispered"}
    telling |= {"hearings": [heard], "rests_on": 0, "link": None, "came_from": ""}
    found = {"words": "lantern", "memory": None, "suggested": [], "complete": True, "echoes": []}
    found |= {"tellings": [telling], "knowers": [mira], "noted": noted}
    serve_fact(page, found)
    page.goto("/agents/fact?q=lantern")
    known = page.locator("#knowers > li:not(.echo)")
    expect(known.locator(".how")).to_have_text(
        "has it in its page of Tom, in the prompts while Tom is there."
    )
    known.get_by_text("More").click()
    expect(known.locator(".noted li")).to_contain_text("In the page of Tom")
    expect(known.locator(".noted li")).to_contain_text("A <b>lantern</b>.")
    expect(known.locator(".noted li")).to_contain_text("keeps it private")
    expect(page.locator("#summary")).to_have_text("1 telling.")
    expect(page.locator("#knowers > li.echo")).to_contain_text("has it in the books, from")
    said = page.locator("#tellings > li .what")
    expect(said).to_have_text("Tom to Mirawhispered: A lantern.")


def test_a_card_says_who_said_what_it_quotes_and_that_it_was_whispered(
    page: Page, world: WatchedWorld
):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/agents/fact")
    times = ("2026-05-01T12:00:00+00:00", "2026-05-01T12:06:00+00:00")
    lines = (
        "She knows. Aleid is a seamstress.",
        "I have a lawful wife, Griet, in Zwolle, and Aleid must never hear a single word of it.",
    )
    spell = {"time": times[1], "standing": "window", "kept": "verbatim", "has": lines[1]}
    spell |= {"compaction": 0, "n": 9}
    step = {"id": 1, "n": 4, "time": times[0], "step": "heard it"}
    nell = {"id": 1, "agent": "Nell", "source": "Bob", "heard": lines[0], "path": [step]}
    nell |= {"memories": [4, 9, 12], "spells": [spell], "acts": []}
    telling = {"place": "The Quay", "speaker": "Bob", "id": None, "to": []}
    telling |= {"rests_on": 0, "link": None, "came_from": ""}
    aloud = {"happening": "h1", "time": times[0], "text": lines[0], "manner": "say"}
    aloud |= {"private": False, "hearings": [{"id": 1, "n": 4, "way": "overheard"}]}
    quiet = {"happening": "h2", "time": times[1], "text": lines[1], "manner": "whisper"}
    quiet |= {"private": "whispered", "hearings": [{"id": 1, "n": 9, "way": "whispered"}]}
    own = {"happening": "h3", "time": times[1], "text": "Griet.", "manner": "whisper", "id": 1}
    own |= {"private": "whispered", "hearings": [{"id": 1, "n": 12, "way": "said"}]}
    own |= {"rests_on": 9, "link": "quoted in its prompt", "came_from": "h2"}
    page_of = {"id": 1, "agent": "Nell", "book": "people", "title": "Bob", "text": lines[1]}
    page_of |= {"numbers": [9], "time": times[1], "private": True}
    found = {"words": "Aleid", "memory": None, "suggested": [], "complete": True, "echoes": []}
    found |= {"tellings": [telling | each for each in (aloud, quiet, own)]}
    serve_fact(page, {**found, "knowers": [nell], "noted": [page_of]})
    page.goto("/agents/fact?q=Aleid")
    card = page.locator("#knowers > li")
    expect(card.locator(".from")).to_contain_text("Nell overheard Bob, ")
    expect(card.locator(".first q")).to_have_text(lines[0])
    card.get_by_text("More").click()
    quoted = card.locator(".heard.whisper")
    expect(quoted).to_contain_text("a single word of it.")
    expect(quoted.locator("small")).to_contain_text("whispered, Bob, ")
    assert quoted.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    expect(page.locator("#telling-3")).to_contain_text(
        "has it from telling 2 (memory 9, the prompt quoted it: the page of Bob, "
    )


def test_who_has_it_in_a_book_has_not_lost_it_on_the_map_either(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    script = "() => fetch('/agents/api/past').then((answer) => answer.json())"
    (mira,) = (each["id"] for each in page.evaluate(script)["agents"] if each["agent"] == "Mira")
    time = "2026-05-01T12:00:00+00:00"
    spell = {"time": time, "standing": "lost", "kept": "gone", "has": "", "compaction": 2, "n": 0}
    step = {"id": mira, "n": 4, "time": time, "step": "heard it"}
    knower = {"id": mira, "agent": "Mira", "source": "Tom", "heard": "A lantern.", "path": [step]}
    knower |= {"memories": [4], "spells": [spell], "acts": []}
    telling = {"happening": "h1", "time": time, "place": "The Quay", "speaker": "Tom", "id": None}
    telling |= {"to": [], "manner": "say", "text": "A lantern.", "private": "", "rests_on": 0}
    telling |= {"hearings": [{"id": mira, "n": 4, "way": "told"}], "link": None, "came_from": ""}
    pinned = {"id": mira, "agent": "Mira", "book": "pins", "title": "", "text": "A lantern."}
    pinned |= {"numbers": [4], "time": time, "private": ""}
    found = {"words": "lantern", "memory": None, "suggested": [], "complete": True, "echoes": []}
    serve_fact(page, {**found, "tellings": [telling], "knowers": [knower], "noted": [pinned]})
    page.goto("/agents/fact?q=lantern")
    expect(page.locator("#knowers .how")).to_have_text("has it in its pins, in all prompts.")
    face = page.locator("#map .face", has_text=re.compile("^Mi")).first
    expect(face).to_have_class("face book told")
