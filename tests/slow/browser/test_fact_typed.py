""" "Where did it go?" of typed words: which lines mean them, and who perhaps knows it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import ACT, serve, serve_fact
from tests.slow.browser.watched import FACT, WatchedWorld


def test_words_that_nobody_said_lead_to_a_search_near_in_meaning(page: Page, world: WatchedWorld):
    near = {"id": 1, "agent": "Mira", "memory": {**ACT, "what": {"gesture": "pours beer."}}}
    near["memory"] |= {"form": "pose", "happening": "", "place": "", "source": ""}
    hit = {**near, "memory": {**near["memory"], "number": 8, "what": {"gesture": "spills cider."}}}
    hits = [{**hit, "has_words": True}, {**near, "has_words": False}]
    serve(page, "search?*", {"hits": hits, "by": "meaning", "complete": True})
    page.goto("/agents/fact?q=cider")
    expect(page.locator("#answer")).to_have_text("Nobody said these words.")
    page.get_by_role("link", name="Search for memories near in meaning").click()
    expect(page.locator("#summary")).to_contain_text(
        "2 memories, the best first. 1 has a word of yours, 1 is only near in meaning."
    )
    rows = page.locator("#hits > li")
    expect(rows.nth(0)).not_to_contain_text("near in meaning")
    expect(rows.nth(1)).to_contain_text("near in meaning")
    serve(page, "search?*", {"hits": hits[1:], "by": "meaning", "complete": True})
    page.reload()
    expect(page.locator("#summary")).to_contain_text("None of them has your words")


def test_typed_words_of_several_facts_begin_with_who_heard_of_it_and_each_line_has_its_own_way(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact")
    strand = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Nell"]}
    strand |= {"private": False, "likely": True, "written": False, "tellings": 1}
    strand |= {"refused": False, "happenings": []}
    nell = {"id": 1, "agent": "Nell", "n": 4, "way": "whispered", "source": "Bob"}
    joss = {"id": 2, "agent": "Joss", "n": 7, "way": "told", "source": "Nell"}
    sock = {
        **strand,
        "n": 4,
        "text": "My watch is in my sock.",
        "private": "whispered",
        "tellings": 2,
    }
    wren = {"id": 3, "agent": "Wren", "n": 2, "way": "told", "source": "Bob"}
    duty = {**strand, "n": 9, "text": "Is Wren on watch?", "knowers": [nell, wren]}
    aside = {**strand, "n": 8, "text": "Watch your step.", "likely": False, "knowers": [joss]}
    strands = [{**sock, "knowers": [nell, joss]}, duty, aside]
    spell = {"time": strand["time"], "standing": "window", "kept": "verbatim", "has": "sock"}
    step = {"id": 1, "n": 4, "time": strand["time"], "step": "heard it"}
    knower = {"id": 1, "agent": "Nell", "source": "Bob", "heard": sock["text"], "path": [step]}
    knower |= {"memories": [4], "spells": [{**spell, "compaction": 0, "n": 4}], "acts": []}
    telling = {"happening": "h1", "time": strand["time"], "place": "The Quay", "speaker": "Bob"}
    telling |= {"id": None, "to": ["Nell"], "manner": "whisper", "text": sock["text"]}
    telling |= {"private": "whispered", "rests_on": 0, "link": None, "came_from": ""}
    telling |= {"hearings": [{"id": 1, "n": 4, "way": "whispered"}]}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    guess = {**knower, "id": 3, "agent": "Wren", "path": [{**step, "id": 3, "n": 2}]}
    found |= {"tellings": [telling], "knowers": [guess, knower], "noted": [], "echoes": []}
    serve_fact(page, {**found, "strands": strands})
    page.goto("/agents/fact?q=Bob's+watch")
    expect(page.locator("#answer")).to_have_text(
        re.compile(
            r"^Nell has heard lines that may be of “Bob's watch”, since \w+ 1 May\. "
            r"Perhaps Wren too\.$"
        )
    )
    told = page.locator("#sources > li")
    expect(told.first).to_have_text(re.compile("BoBob→NeNellwhispered"))
    expect(told.last).to_have_text(re.compile("perhaps BoBob→WrWren"))
    expect(page.locator("#knowers > li")).to_contain_text(sock["text"])
    wren_card = page.locator("#doubtful > li")
    expect(wren_card.locator(".from")).to_contain_text("Wren ? ")
    section = page.locator("#strands")
    rows = section.locator(".strands > li")
    section.get_by_text("Counted as of it: 2 things that were said").click()
    expect(rows.nth(0)).to_contain_text("whispered, Bob to Nell, ")
    expect(rows.nth(0)).to_contain_text("with 1 other line")
    expect(rows.nth(0).locator(".hearings")).to_have_text("NellJoss from Nell")
    leave = rows.nth(1).get_by_role("link", name="not this one")
    expect(leave).to_have_attribute("href", "?q=Bob%27s+watch&without=1-9")
    expect(page.get_by_role("link", name="not this one")).to_have_count(2)  # only here
    leads = rows.nth(1).get_by_role("link", name="Is Wren on watch?")
    expect(leads).to_have_attribute("href", "/agents/fact?agent=1&n=9")
    expect(rows.nth(2)).to_be_hidden()
    section.get_by_text("Perhaps of something else, and not counted: 1").click()
    expect(rows.nth(2).get_by_role("link", name="this one, too")).to_have_attribute(
        "href", "?q=Bob%27s+watch&also=1-8"
    )


def test_what_was_overheard_and_may_mean_something_else_is_no_first_hearing(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact")
    times = ("2026-05-01T12:00:00+00:00", "2026-05-01T12:06:00+00:00", "2026-05-01T12:09:00+00:00")
    texts = (
        "My watch is in my sock.",
        "Bring Wren if she is not on watch.",
        "Who has Bob's watch?",
    )
    line = {"id": 1, "speaker": "Bob", "to": [], "private": False, "likely": True, "tellings": 1}
    line |= {"refused": False}
    telling = {"place": "", "speaker": "Bob", "id": None, "to": [], "manner": "say"}
    telling |= {"private": False, "rests_on": 0, "link": None, "came_from": ""}
    strands = []
    tellings = []
    for n, (time, text) in enumerate(zip(times, texts, strict=True)):
        heard = [{"id": 1, "n": n + 1, "way": "told" if n == 2 else "overheard"}] if n else []
        knows = [{**each, "agent": "Bram", "source": "Bob"} for each in heard]
        named = {"n": n + 1, "time": time, "text": text, "happenings": [f"h{n}"]}
        strands.append({**line, **named, "written": n == 2, "knowers": knows})
        tellings.append(
            {**telling, "happening": f"h{n}", "time": time, "text": text, "hearings": heard}
        )
    spell = {"time": times[1], "standing": "window", "kept": "verbatim", "has": texts[2]}
    step = {"id": 1, "n": 2, "time": times[1], "step": "heard it"}
    bram = {"id": 1, "agent": "Bram", "source": "Bob", "heard": texts[1], "path": [step]}
    bram |= {"memories": [2, 3], "spells": [{**spell, "compaction": 0, "n": 3}], "acts": []}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": tellings, "knowers": [bram], "noted": [], "echoes": []}
    serve_fact(page, {**found, "strands": strands})
    page.goto("/agents/fact?q=Bob's+watch")
    card = page.locator("#knowers > li")
    expect(card.locator(".from")).to_contain_text("Bram from Bob, aloud, ")
    expect(card.locator(".first q")).to_have_text(texts[2])
    expect(card.locator(".how")).to_have_text("has it word for word in its prompts.")


def test_what_means_something_else_is_left_out_by_a_link_that_can_be_shared(
    page: Page, world: WatchedWorld
):
    other = world.say("The old heron of the quay has one leg")
    meant = world.say("Old Heron is what they call my uncle")
    page.goto("/agents/fact?q=old+heron")
    expect(page.locator("#tellings")).to_contain_text(other)
    page.get_by_text("Counted as of it").click()
    row = page.locator("#strands li", has_text=other)
    row.get_by_role("link", name="not this one").click()
    expect(page).to_have_url(re.compile(r"without=\d+-\d+$"))
    expect(page.locator("#tellings")).to_contain_text(meant)
    expect(page.locator("#tellings")).not_to_contain_text(other)
    page.reload()
    section = page.locator("#strands")
    expect(section).to_contain_text("1 line left out by hand.")
    section.get_by_text("Left out: 1").click()
    section.get_by_role("link", name="put it back").click()
    expect(page.locator("#tellings")).to_contain_text(other)
    expect(page).not_to_have_url(re.compile("without"))


def test_other_words_name_who_perhaps_knows_it_and_players_have_a_form_of_their_own(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact")
    time = "2026-05-01T12:06:00+00:00"
    line = {"speaker": "Ann", "to": [], "private": False, "written": False, "tellings": 1}
    line |= {"refused": False, "judged": True, "time": time, "id": 1001}
    heard = {"id": 1001, "agent": "Nell", "n": 5, "way": "told", "source": "Ann"}
    joss = {**heard, "id": 1002, "agent": "Joss"}
    sure = {**line, "n": 4, "text": "I hear nothing.", "likely": True, "perhaps": False}
    sure |= {"happenings": ["h1"], "knowers": [{**heard, "n": 4}]}
    maybe = {**line, "n": 5, "text": "Sit on my <b>right</b>.", "likely": False, "perhaps": True}
    maybe |= {"happenings": ["h2"], "knowers": [heard, joss]}
    other = {**maybe, "n": 6, "text": "An ear of corn.", "perhaps": False, "happenings": ["h3"]}
    spell = {"time": time, "standing": "window", "kept": "verbatim", "has": "x", "compaction": 0}
    step = {"id": 1001, "n": 4, "time": time, "step": "heard it"}
    nell = {"id": 1001, "agent": "Nell", "source": "Ann", "heard": sure["text"], "path": [step]}
    nell |= {"memories": [4], "spells": [{**spell, "n": 4}], "acts": []}
    telling = {"happening": "h1", "time": time, "place": "", "speaker": "Ann", "id": None}
    telling |= {"to": ["Nell"], "manner": "say", "text": sure["text"], "private": False}
    telling |= {"hearings": [{"id": 1001, "n": 4, "way": "told"}], "rests_on": 0, "link": None}
    player = {"time": time, "happening": "h1", "private": False}
    ann = {**player, "key": "9-1", "name": "Ann", "way": "said", "source": ""}
    bob = {**player, "key": "9-2", "name": "Bob", "way": "overheard", "source": "Ann"}
    found = {"words": "Ann is deaf", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [{**telling, "came_from": ""}], "knowers": [nell], "noted": []}
    found |= {"outsiders": [ann, bob], "echoes": [], "strands": [sure, maybe, other]}
    serve_fact(page, found)
    page.goto("/agents/fact?q=Ann+is+deaf")
    expect(page.locator("#answer")).to_have_text(
        re.compile("^Probably Nell and Bob know of “Ann is deaf”, from Ann.*Perhaps Joss too.$")
    )
    told = page.locator("#sources > li")
    expect(told).to_have_count(2)
    expect(told.first).to_have_text(re.compile("AnAnn→NeNellaloud· overheard byBoBob"))
    expect(told.first.locator(".player")).to_have_text(["AnAnn", "BoBob"])
    expect(told.last).to_have_text(re.compile("perhaps AnAnn→JoJossaloud"))
    expect(page.get_by_text("Perhaps of something else, and not counted: 2")).to_be_visible()


def test_a_model_may_read_which_lines_mean_the_typed_words(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    line = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Nell"]}
    line |= {"private": False, "written": False, "tellings": 1, "refused": False}
    line |= {"happenings": [], "knowers": []}
    duty = {**line, "n": 9, "text": "Is Wren on watch?", "likely": True}
    sock = {**line, "n": 4, "text": "It is in my sock.", "likely": False}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [], "knowers": [], "noted": [], "echoes": [], "strands": [duty, sock]}
    serve_fact(page, found)
    page.goto("/agents/fact?q=Bob's+watch")
    button = page.get_by_role("button", name="Ask the model")
    expect(page.locator("#strands")).to_contain_text("Is Wren on watch?")
    expect(button).to_have_count(0)  # there is no model
    serve_fact(page, {**found, "reader": True})
    read = {"meant": [{"id": 1, "n": 4}], "other": [{"id": 1, "n": 9}], "model": "qwen"}
    serve(page, "fact/meant", read)
    page.reload()
    with page.expect_request("**/agents/api/fact/meant") as asked:
        button.click()
    assert asked.value.post_data_json == {"q": "Bob's watch"}
    expect(page).to_have_url(re.compile(r"\?q=Bob%27s\+watch&also=1-4&without=1-9&by=qwen$"))
    expect(page.locator(".chosen")).to_contain_text("The model qwen chose 1 of 2 things said")
    expect(button).to_have_count(0)
    page.get_by_role("link", name="Show all again").click()
    expect(page).to_have_url(re.compile(r"\?q=Bob%27s\+watch$"))


def test_who_has_no_typed_word_may_have_it_in_others(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    time = "2026-05-01T12:06:00+00:00"
    script = "() => fetch('/agents/api/past').then((answer) => answer.json())"
    (other,) = (each["id"] for each in page.evaluate(script)["agents"] if each["agent"] == "Mira")
    name = "Mira"
    joss = other + 1000
    strand = {
        "id": other,
        "time": time,
        "speaker": "Ann",
        "to": [name],
        "private": "whispered",
        "n": 5,
    }
    strand |= {"text": "I am not sure that I want him.", "likely": False, "tellings": 1}
    strand |= {
        "knowers": [{"id": other, "agent": name, "n": 5, "way": "whispered", "source": "Ann"}]
    }
    spell = {"time": time, "standing": "window", "kept": "verbatim", "has": "x"}
    knower = {"id": joss, "agent": "Joss", "source": "Ann", "heard": "x", "memories": [4]}
    knower |= {"path": [{"id": joss, "n": 4, "time": time, "step": "heard it"}], "acts": []}
    knower |= {"spells": [{**spell, "compaction": 0, "n": 4}]}
    telling = {"happening": "h1", "time": time, "place": "", "speaker": "Ann", "id": None}
    telling |= {"to": ["Joss"], "manner": "say", "text": "x", "private": False, "rests_on": 0}
    telling |= {"link": None, "came_from": "", "hearings": [{"id": joss, "n": 4, "way": "told"}]}
    found = {"words": "wedding", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [telling], "knowers": [knower], "noted": [], "echoes": []}
    serve_fact(page, {**found, "strands": [strand]}, {other: name})
    page.goto("/agents/fact?q=wedding")
    rest = page.locator("#ignorant")
    expect(rest).to_contain_text("Not found with Bram, ")
    expect(page.locator("#answer")).to_contain_text(f"Perhaps {name} too.")
    expect(rest).to_contain_text(f"{name} perhaps in: I am not sure that I want him.")
    expect(rest.get_by_role("link", name="I am not sure")).to_have_attribute(
        "href", f"/agents/{other}/#memory/5"
    )


def test_a_thing_of_who_speaks_is_found_by_their_name(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Tamsin's+brother")
    expect(page.locator("#sources > li")).to_have_text(re.compile("TaTamsin→MiMiraaloud"))
    expect(page.locator("#tellings > li").first).to_contain_text(FACT)
    expect(page.locator("#strands")).to_be_hidden()
