""" "Where did it go?" of typed words: which lines count, and which are meant."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.slow.browser.scripts.serving import serve, serve_fact
from tests.slow.browser.watched import FACT, WatchedWorld

NEAR = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Mira"]}
NEAR |= {"private": "whispered", "likely": False, "written": False, "tellings": 1}
NEAR |= {"refused": False, "knowers": []}


def test_of_words_that_nobody_said_the_page_asks_which_line_is_meant(
    page: Page, world: WatchedWorld
):
    told = world.say("I see a surgeon on Friday, for my lung")
    page.goto("/agents/fact")
    answer = page.evaluate(
        "() => fetch('/agents/api/fact?q=surgeon').then((answer) => answer.json())"
    )
    (strand,) = answer["strands"]
    step = {**NEAR, "n": 8, "text": "Mind the <b>step</b>.", "happenings": ["h8"]}
    serve(page, "fact/near?*", [{**strand, "likely": False}, step])
    page.goto("/agents/fact?q=he+goes+under+the+knife")
    expect(page.locator("#answer")).to_have_text("Nobody said this in these words.")
    meant = page.locator("#meant")
    expect(meant.get_by_role("heading")).to_have_text(
        "Which of these lines do you mean? One, or several"
    )
    rows = meant.locator("li")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_have_class("whispered")
    expect(rows.nth(1)).to_contain_text("Mind the <b>step</b>. Bob to Mira, whispered, ")
    rows.first.get_by_role("link", name=told).click()
    chosen = f"{strand['id']}-{strand['n']}"
    expect(page).to_have_url(re.compile(rf"q=he\+goes\+under\+the\+knife&also={chosen}$"))
    expect(page.locator("#answer")).to_have_text(re.compile(r"knows? of “he goes under the knife”"))
    expect(page.locator("#tellings")).to_contain_text(told)
    expect(meant.locator(".chosen q")).to_have_text(told)
    expect(rows).to_have_count(1)
    expect(rows).to_be_visible()
    expect(meant.locator("summary")).to_have_text(
        "The same, perhaps, in other words: 1 line, not counted"
    )
    meant.get_by_role("link", name="not this one").click()
    expect(rows).to_have_count(2)


def test_several_lines_that_are_ticked_are_one_answer_in_order_of_time(
    page: Page, world: WatchedWorld
):
    first = world.say("My lodger is a wanted man")
    again = world.say("Ask no questions of the fellow upstairs")
    page.goto("/agents/fact")
    lines = page.evaluate(
        """async () => {
            const asked = ["lodger", "fellow upstairs"].map((each) =>
                fetch(`/agents/api/fact?q=${encodeURIComponent(each)}`));
            const found = (await Promise.all(asked)).map((answer) => answer.json());
            return (await Promise.all(found)).map(({ strands }) => strands[0]);
        }"""
    )
    serve(page, "fact/near?*", [{**each, "likely": False} for each in reversed(lines)])
    page.goto("/agents/fact?q=a+fugitive")
    meant = page.locator("#meant")
    several = meant.get_by_role("button", name=re.compile("^These"))
    expect(several).to_be_disabled()
    for each in meant.get_by_role("checkbox").all():
        each.check()
    expect(several).to_have_text("These 2")
    several.click()
    keys = [f"{each['id']}-{each['n']}" for each in reversed(lines)]
    expect(page).to_have_url(re.compile(rf"also={keys[0]}%2C{keys[1]}$"))
    expect(page.locator("#answer")).to_have_text(re.compile(r"knows? of “a fugitive”, from Tamsin"))
    told = page.locator("#tellings > li")
    expect(told).to_have_count(2)
    expect(told.first).to_contain_text(first)
    expect(told.last).to_contain_text(again)
    expect(meant.locator(".chosen q")).to_have_count(2)


def test_what_is_near_to_what_counts_is_folded(page: Page, world: WatchedWorld):
    world.say("The copper kettle sings in F")
    page.goto("/agents/fact")
    rows = page.evaluate("() => fetch('/agents/api/agents').then((answer) => answer.json())")
    agent = next(each for each in rows["agents"] if each["name"] != "Mira")
    hearer = {"id": agent["id"], "agent": agent["name"], "n": 3, "way": "told", "source": "Bob"}
    step = {**NEAR, "n": 8, "text": "Mind the step.", "happenings": ["h8"], "knowers": [hearer]}
    serve(page, "fact/near?*", [step])
    page.goto("/agents/fact?q=copper+kettle")
    ignorant = page.locator("#ignorant")
    expect(ignorant).to_contain_text(f"{agent['name']} heard lines near in meaning, which do not")
    expect(ignorant).not_to_have_text(re.compile(f"Not found with [^.]*{agent['name']}"))
    meant = page.locator("#meant")
    expect(meant.locator("li")).to_be_hidden()
    meant.get_by_text("1 line near in meaning, not counted").click()
    expect(meant.locator("li")).to_be_visible()
    page.goto("/agents/fact?q=kettle+of+copper")
    expect(page.locator("#answer")).to_contain_text("heard a sentence with the words “kettle of")
    page.get_by_role("link", name="Search for memories near in meaning").click()
    expect(page).to_have_url(re.compile(r"/agents/search/\?q=kettle\+of\+copper$"))


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
    aside = {**strand, "n": 8, "text": "Watch your step.", "likely": False, "refused": True}
    aside |= {"knowers": [joss]}
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
            r"^Nell has heard a sentence with the words “Bob's watch”, since \w+ 1 May\. "
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
    counted, answer, below = (
        page.locator(each).bounding_box() for each in ("#strands", "#answer", "#scrubber")
    )
    assert answer["y"] < counted["y"] < below["y"]  # what the answer rests on stands below it
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
    section.get_by_text("Left out: 1").click()
    expect(rows.nth(2).get_by_role("link", name="put it back")).to_be_visible()


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
    expect(page.locator("#meant")).to_contain_text("1 line left out by hand.")
    section = page.locator("#strands")
    section.get_by_text("Left out: 1").click()
    section.get_by_role("link", name="put it back").click()
    expect(page.locator("#tellings")).to_contain_text(other)
    expect(page).not_to_have_url(re.compile("without"))


def test_players_have_a_form_of_their_own(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    time = "2026-05-01T12:06:00+00:00"
    line = {"speaker": "Ann", "to": [], "private": False, "written": True, "tellings": 1}
    line |= {"refused": False, "time": time, "id": 1001}
    heard = {"id": 1001, "agent": "Nell", "n": 5, "way": "told", "source": "Ann"}
    sure = {**line, "n": 4, "text": "I hear nothing.", "likely": True}
    sure |= {"happenings": ["h1"], "knowers": [{**heard, "n": 4}]}
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
    found = {"words": "hear nothing", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [{**telling, "came_from": ""}], "knowers": [nell], "noted": []}
    found |= {"outsiders": [ann, bob], "echoes": [], "strands": [sure]}
    serve_fact(page, found)
    page.goto("/agents/fact?q=hear+nothing")
    expect(page.locator("#answer")).to_have_text(
        re.compile("^Nell and Bob know of “hear nothing”, from Ann")
    )
    (told,) = page.locator("#sources > li").all()
    expect(told).to_have_text(re.compile("AnAnn→NeNellaloud· overheard byBoBob"))
    expect(told.locator(".player")).to_have_text(["AnAnn", "BoBob"])


def test_a_model_may_read_which_lines_mean_the_typed_words(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    line = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Nell"]}
    line |= {"private": False, "written": False, "tellings": 1, "refused": False}
    line |= {"happenings": [], "knowers": []}
    duty = {**line, "n": 9, "text": "Is Wren on watch?", "likely": True}
    sock = {**line, "n": 4, "text": "It is in my sock.", "likely": False}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [], "knowers": [], "noted": [], "echoes": [], "strands": [duty]}
    serve_fact(page, found)
    serve(page, "fact/near?*", [sock])
    page.goto("/agents/fact?q=Bob's+watch")
    button = page.get_by_role("button", name="Ask the model")
    expect(page.locator("#meant")).to_contain_text("It is in my sock.")
    expect(button).to_have_count(0)  # there is no model
    serve_fact(page, {**found, "reader": True})
    read = {"meant": [{"id": 1, "n": 4}], "other": [{"id": 1, "n": 9}], "model": "qwen"}
    serve(page, "fact/meant", read)
    page.reload()
    with page.expect_request("**/agents/api/fact/meant") as asked:
        button.click()
    assert asked.value.post_data_json == {"q": "Bob's watch", "also": ""}
    expect(page).to_have_url(re.compile(r"\?q=Bob%27s\+watch&also=1-4&without=1-9&by=qwen$"))
    expect(page.locator(".chosen")).to_contain_text("The model qwen chose 1 of 2 things said")
    expect(button).to_have_count(0)
    page.get_by_role("link", name="Show all again").click()
    expect(page).to_have_url(re.compile(r"\?q=Bob%27s\+watch$"))


def test_a_thing_of_who_speaks_is_found_by_their_name(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Tamsin's+brother")
    expect(page.locator("#sources > li")).to_have_text(re.compile("TaTamsin→MiMiraaloud"))
    expect(page.locator("#tellings > li").first).to_contain_text(FACT)
    expect(page.locator("#strands")).to_be_hidden()
