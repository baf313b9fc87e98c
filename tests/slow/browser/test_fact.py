"""The page "Where did it go?", in a browser: from a sentence to who knows it, and back in time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.scripts.serving import ACT, serve
from tests.slow.browser.watched import FACT, HOSTILE, WatchedWorld


def test_words_lead_to_who_knows_them_on_the_map_and_in_time(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    page.get_by_label("Words", exact=True).fill("Edwin")
    page.get_by_role("button", name="Follow").click()
    expect(page.locator("#tellings li").first).to_contain_text(FACT)
    expect(page.locator("#tellings li").first).to_contain_text("Tamsin")
    expect(page.locator("#knowers")).to_contain_text("Mira")
    mira = page.locator("#map .face", has_text=re.compile("^Mi")).first
    expect(mira).to_have_class(re.compile("face (window|recent|longterm|lost)"))
    page.locator("#scrubber input").press("Home")
    expect(mira).to_have_class("face unknowing")
    expect(page.locator("#knowers li").first).to_have_class(re.compile("to-come"))
    expect(page.locator("#knowers li").first).to_contain_text("does not know it yet")
    expect(page.locator("#answer")).to_have_text(
        re.compile(r"^By \w+ .*, none of the 7 agents had heard of “Edwin”\.$")
    )
    page.get_by_role("button", name="Now", exact=True).click()
    expect(mira).not_to_have_class("face unknowing")


def test_the_fact_is_asked_for_along_with_the_map_and_the_past(page: Page, world: WatchedWorld):
    waiting: list[Route] = []

    def wait(route: Route) -> None:
        waiting.append(route)

    page.route("**/agents/api/past", wait)
    with page.expect_request("**/agents/api/fact?*"):
        page.goto("/agents/fact?q=Edwin")
    for each in waiting:
        each.continue_()
    page.unroute("**/agents/api/past")
    expect(page.locator("#tellings li").first).to_contain_text(FACT)


@pytest.mark.parametrize(
    ("address", "asks"),
    [("fact?q=silver+spoons~*", "**/agents/api/fact?*"), ("person?name=Mira", "**/api/person?*")],
)
def test_what_a_page_asks_ahead_is_not_asked_again(
    page: Page, world: WatchedWorld, address: str, asks: str
):
    asked: list[str] = []

    def count(route: Route) -> None:
        asked.append(route.request.url)
        route.continue_()

    page.route(asks, count)
    page.goto(f"/agents/{address}")
    expect(page.locator("main")).to_contain_text(re.compile("said these words|knows? "))
    page.unroute(asks)
    assert len(asked) == 1


def test_a_sentence_is_followed_itself_and_not_its_words(page: Page, world: WatchedWorld):
    line = world.say("A heron ate the last of my nine eels")
    page.goto("/agents/fact?q=heron")
    known = page.locator("#knowers li", has_text="Mira")
    expect(known).to_contain_text("still has these words, word for word")
    expect(known.locator(".first q")).to_have_text(line)
    expect(known.locator(".from")).to_contain_text("Mira from Tamsin, aloud, ")
    expect(known.locator(".noted")).to_be_hidden()
    known.get_by_text("More").click()
    expect(known.locator(".heard-lines li")).to_contain_text("Tamsin, ")
    known.get_by_role("link", name="memory").first.click()
    page.locator(".memory", has_text=line).get_by_role("link", name="where did it go?").click()
    expect(page.locator("#sentence")).to_contain_text(line)
    expect(page.get_by_label("Words", exact=True)).to_have_value("")
    expect(known).to_contain_text("knows it word for word")
    page.get_by_text("Follow a word of it instead").click()
    page.locator("#suggested").get_by_role("button", name="heron").click()
    expect(page.get_by_label("Words", exact=True)).to_have_value("heron")


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


def test_what_is_near_several_words_in_meaning_says_who_remembers_it(
    page: Page, world: WatchedWorld
):
    what = {"kind": "speech", "words": "I hear nothing on the <b>left</b>.", "to": []}
    heard = {**ACT, "kind": "perception", "form": "speech", "what": what, "happening": "h1"}
    heard |= {"source": "Tamsin", "source_id": "9-1", "confidants": ["9-1"], "number": 3}
    gesture = {**ACT, "form": "pose", "what": {"gesture": "pours."}, "happening": "h2"}
    names = ((1, "Mira"), (2, "Nell"))
    hits = [
        {"id": n, "agent": name, "memory": memory, "has_words": False}
        for memory in (heard, gesture)
        for n, name in names
    ]
    serve(page, "search?*", {"hits": hits, "by": "meaning", "complete": True})
    page.goto("/agents/fact?q=Tamsin+is+deaf")
    near = page.get_by_role("region", name="Near in meaning")
    expect(near.locator("summary")).to_have_text("Near in meaning, in other words: 1")
    expect(near.locator("li")).to_contain_text("Tamsin, ")
    expect(near.locator("li")).to_contain_text("in private: I hear nothing on the <b>left</b>.")
    expect(near.locator("li")).to_contain_text(re.compile("remembered by .+ and .+"))
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#knowers li").first).to_be_visible()
    expect(near).to_be_hidden()


FROM_TAMSIN = re.compile(r"^1 of 7 agents has heard of “[^”]*Edwin”: Mira from Tamsin, aloud \(")


def test_the_page_begins_with_a_sentence_that_says_who_knows_it_from_whom(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact?q=Edwin")
    answer = page.locator("#answer")
    expect(answer).to_have_text(FROM_TAMSIN)
    card = page.locator("#knowers > li")
    expect(card.locator(".first q")).to_have_text(FACT)
    above = answer.evaluate(
        "(each) => [...document.querySelectorAll('main p, main li')]"
        ".filter((one) => one.offsetParent && one.innerText.trim())[0] === each"
    )
    assert above, "nothing has to be read before it"


def test_a_thing_of_who_speaks_is_found_by_their_name(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Tamsin's+brother")
    expect(page.locator("#answer")).to_contain_text("brother”: Mira from Tamsin, aloud (")
    expect(page.locator("#tellings > li").first).to_contain_text(FACT)
    expect(page.locator("#strands")).to_be_hidden()


def test_typed_words_of_several_facts_begin_with_who_heard_of_it_and_each_line_has_its_own_way(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact")
    strand = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Nell"]}
    strand |= {"private": False, "likely": True, "written": False, "tellings": 1}
    strand |= {"refused": False, "happenings": []}
    nell = {"id": 1, "agent": "Nell", "n": 4, "way": "whispered", "source": "Bob"}
    joss = {"id": 2, "agent": "Joss", "n": 7, "way": "told", "source": "Nell"}
    sock = {**strand, "n": 4, "text": "My watch is in my sock.", "private": True, "tellings": 2}
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
    telling |= {"private": True, "rests_on": 0, "link": None, "came_from": ""}
    telling |= {"hearings": [{"id": 1, "n": 4, "way": "whispered"}]}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    guess = {**knower, "id": 3, "agent": "Wren", "path": [{**step, "id": 3, "n": 2}]}
    found |= {"tellings": [telling], "knowers": [guess, knower], "noted": [], "echoes": []}
    serve(page, "fact?*", {**found, "strands": strands})
    page.goto("/agents/fact?q=Bob's+watch")
    expect(page.locator("#answer")).to_have_text(
        re.compile(
            r"^1 of 7 agents has heard lines that may be of “Bob's watch”, on \w+ 1 May: "
            r"Nell from Bob, in private \(.*\)\. Perhaps Wren too: see their lines\.$"
        )
    )
    expect(page.locator("#knowers > li")).to_contain_text(sock["text"])
    wren_card = page.locator("#doubtful > li")
    expect(wren_card.locator(".from")).to_contain_text("Wren ? ")
    leave = wren_card.get_by_role("link", name="not this one")
    expect(leave).to_have_attribute("href", "?q=Bob%27s+watch&without=1-9")
    section = page.locator("#strands")
    rows = section.locator(".strands > li")
    section.get_by_text("Counted as of it: 2 things that were said").click()
    expect(rows.nth(0)).to_contain_text("in private, Bob to Nell, ")
    expect(rows.nth(0)).to_contain_text("with 1 other line")
    expect(rows.nth(0).locator(".hearings")).to_have_text("NellJoss from Nell")
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
    strands, tellings = [], []
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
    serve(page, "fact?*", {**found, "strands": strands})
    page.goto("/agents/fact?q=Bob's+watch")
    card = page.locator("#knowers > li")
    expect(card.locator(".from")).to_contain_text("Bram from Bob, aloud, ")
    expect(card.locator(".first q")).to_have_text(texts[2])
    expect(card.locator(".how")).to_have_text("still has it, word for word.")


def test_what_means_something_else_is_left_out_by_a_link_that_can_be_shared(
    page: Page, world: WatchedWorld
):
    other = world.say("The heron of the quay has one leg")
    meant = world.say("Old Heron is what they call my uncle")
    page.goto("/agents/fact?q=heron")
    expect(page.locator("#tellings")).to_contain_text(other)
    row = page.locator("#tellings > li", has_text=other)
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


def test_a_model_may_read_which_lines_mean_the_typed_words(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    line = {"id": 1, "time": "2026-05-01T12:06:00+00:00", "speaker": "Bob", "to": ["Nell"]}
    line |= {"private": False, "written": False, "tellings": 1, "refused": False}
    line |= {"happenings": [], "knowers": []}
    duty = {**line, "n": 9, "text": "Is Wren on watch?", "likely": True}
    sock = {**line, "n": 4, "text": "It is in my sock.", "likely": False}
    found = {"words": "Bob's watch", "memory": None, "suggested": [], "complete": True}
    found |= {"tellings": [], "knowers": [], "noted": [], "echoes": [], "strands": [duty, sock]}
    serve(page, "fact?*", found)
    page.goto("/agents/fact?q=Bob's+watch")
    button = page.get_by_role("button", name="Ask the model")
    expect(page.locator("#strands")).to_contain_text("Is Wren on watch?")
    expect(button).to_have_count(0)  # there is no model
    serve(page, "fact?*", {**found, "reader": True})
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
    serve(page, "fact?*", {**found, "tellings": [first, own], "knowers": [nell], "echoes": []})
    page.goto("/agents/fact?q=Beatrix")
    untold = "said it, and nobody is known to have told Nell"
    expect(page.locator("#knowers .untold")).to_have_text(untold)
    expect(page.locator("#answer")).to_contain_text(f"Nell {untold} (")


def test_who_has_no_typed_word_may_have_it_in_others(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    time = "2026-05-01T12:06:00+00:00"
    script = "() => fetch('/agents/api/past').then((answer) => answer.json())"
    (other,) = (each["id"] for each in page.evaluate(script)["agents"] if each["agent"] == "Mira")
    name = "Mira"
    joss = other + 1000
    strand = {"id": other, "time": time, "speaker": "Ann", "to": [name], "private": True, "n": 5}
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
    serve(page, "fact?*", {**found, "strands": [strand]})
    page.goto("/agents/fact?q=wedding")
    rest = page.locator("#ignorant")
    expect(rest).to_contain_text("Not found with Bram, ")
    expect(page.locator("#answer")).to_contain_text(
        f"Perhaps {name} too, by lines with a part of the words."
    )
    expect(rest).to_contain_text(f"{name} perhaps in: I am not sure that I want him.")
    expect(rest.get_by_role("link", name="I am not sure")).to_have_attribute(
        "href", f"/agents/{other}/#memory/5"
    )


def test_who_knew_it_is_counted_as_of_the_time_of_the_scrubber(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#answer")).to_have_text(FROM_TAMSIN)
    page.locator("#scrubber input").press("Home")
    expect(page.locator("#summary")).to_have_text("0 tellings.")
    expect(page.locator("#answer")).to_contain_text("none of the 7 agents had heard of")


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
    serve(page, "fact?*", {**found, "tellings": [], "knowers": [], "noted": [], "echoes": [echo]})
    page.goto("/agents/fact?q=lantern")
    row = page.locator("#echoes li")
    expect(row).to_contain_text("has it in the short-term summary, but no memory with these words.")
    expect(row.locator("q")).to_have_text("A <b>lantern</b>.")
    expect(row.get_by_role("link", name="compaction 2")).to_have_attribute(
        "href", "/agents/1/#compactions/2"
    )
    told = {**found, "tellings": [], "knowers": [], "noted": []}
    serve(page, "fact?*", {**told, "echoes": [{**echo, "memories": [4, 9]}]})
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
    telling |= {"to": ["Mira"], "manner": "whisper", "text": "A lantern.", "private": True}
    telling |= {"hearings": [heard], "rests_on": 0, "link": None, "came_from": ""}
    found = {"words": "lantern", "memory": None, "suggested": [], "complete": True, "echoes": []}
    found |= {"tellings": [telling], "knowers": [mira], "noted": noted}
    serve(page, "fact?*", found)
    page.goto("/agents/fact?q=lantern")
    known = page.locator("#knowers > li")
    expect(known.locator(".how")).to_have_text(
        "has it in the page of Tom, in the prompts while Tom is there."
    )
    known.get_by_text("More").click()
    expect(known.locator(".noted li")).to_contain_text("In the page of Tom")
    expect(known.locator(".noted li")).to_contain_text("A <b>lantern</b>.")
    expect(known.locator(".noted li")).to_contain_text("in private")
    expect(page.locator("#summary")).to_have_text("1 telling.")
    expect(page.locator("#echoes > li")).to_contain_text("has it in the books, but no memory of it")
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
    quiet |= {"private": True, "hearings": [{"id": 1, "n": 9, "way": "whispered"}]}
    own = {"happening": "h3", "time": times[1], "text": "Griet.", "manner": "whisper", "id": 1}
    own |= {"private": True, "hearings": [{"id": 1, "n": 12, "way": "said"}]}
    own |= {"rests_on": 9, "link": "quoted in its prompt", "came_from": "h2"}
    page_of = {"id": 1, "agent": "Nell", "book": "people", "title": "Bob", "text": lines[1]}
    page_of |= {"numbers": [9], "time": times[1], "private": True}
    found = {"words": "Aleid", "memory": None, "suggested": [], "complete": True, "echoes": []}
    found |= {"tellings": [telling | each for each in (aloud, quiet, own)]}
    serve(page, "fact?*", {**found, "knowers": [nell], "noted": [page_of]})
    page.goto("/agents/fact?q=Aleid")
    card = page.locator("#knowers > li")
    expect(card.locator(".from")).to_contain_text("Nell overheard Bob, ")
    expect(card.locator(".first q")).to_have_text(lines[0])
    card.get_by_text("More").click()
    quoted = card.locator(".heard.whisper")
    expect(quoted).to_contain_text("a single word of it.")
    expect(quoted.locator("small")).to_contain_text("in private, Bob, ")
    assert quoted.evaluate("each => each.scrollHeight <= each.clientHeight + 1")
    expect(page.locator("#telling-3")).to_contain_text(
        "has it from telling 2 (memory 9, the prompt quoted it: the page of Bob, "
    )


def test_on_a_phone_who_knows_it_comes_before_the_map(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/agents/fact?q=Edwin")
    known = page.locator("#knowers li").first
    expect(known).to_be_in_viewport()
    place = known.bounding_box()
    below = page.locator("#map").bounding_box()
    assert place is not None
    assert below is not None
    assert place["y"] + place["height"] <= below["y"]


def test_answer_map_scrubber_and_how_it_went_stand_in_one_screen(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#knowers li").first).to_be_in_viewport(ratio=1)
    expect(page.locator("#tellings > li").first).to_be_in_viewport(ratio=1)
    expect(page.locator("#map")).to_be_in_viewport(ratio=1)
    expect(page.locator("#scrubber input")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Now", exact=True)).to_be_in_viewport(ratio=1)


def test_how_long_nothing_happened_stands_only_where_it_has_room(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    expect(page.locator("#scrubber input")).to_be_visible()
    page.evaluate(
        """() => import("/static/keepsake/watch/dom.js").then(({ el }) =>
          document.querySelector("#scrubber .strip").append(...["0.03", "0.005"].map((wide) =>
            el("span", { class: "how-long", vars: { "--from": "0.4", "--wide": wide } },
              el("span", {}, `quiet ${wide}`)))))"""
    )
    for width in (1400, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_text("quiet 0.03")).to_be_visible()
        expect(page.get_by_text("quiet 0.005")).to_be_hidden()


def test_on_a_phone_the_map_can_be_folded(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    for address in ("/agents/fact?q=Edwin", "/agents/world/"):
        page.goto(address)
        face = page.locator("#map .face").first
        expect(face).to_be_visible()
        page.locator(".map-fold > summary").click()
        expect(face).to_be_hidden()


def test_time_in_which_nothing_happened_is_short(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    found = page.evaluate(
        """async () => {
            const { QuietScale, short } = await import("/static/keepsake/watch/quiet.js");
            const scale = new QuietScale(0, 100000, [100, 200, 600, 99000, 99500]);
            const times = [0, 150, 600, 50000, 99000, 99800, 100000];
            return {
                quiet: scale.quiet,
                back: times.map((time) => Math.round(scale.time(scale.share(time)))),
                wide: scale.share(99000) - scale.share(600),
                long: short(98400),
                half: new QuietScale(0, 5000, []).share(2500),
            };
        }"""
    )
    assert found["quiet"] == [{"from": 600, "to": 99000}]
    assert found["back"] == [0, 150, 600, 50000, 99000, 99800, 100000]
    assert 0.01 < found["wide"] < 0.05
    assert found["long"] == "27 h"
    assert found["half"] == 0.5


def test_a_hostile_line_is_text_on_this_page_too(page: Page):
    page.goto("/agents/fact?q=onerror")
    expect(page.locator("#tellings")).to_contain_text(HOSTILE.replace('"', "'")[:20])
    expect(page).to_have_title("Where did it go?")


def test_every_act_leads_to_its_own_why_and_every_memory_to_where_it_went(
    page: Page, world: WatchedWorld
):
    open_mira(page, "memory")
    act = page.locator(".memory.act").first
    words = act.locator(".what").inner_text()
    act.get_by_role("link", name="why?").click()
    expect(page.locator("#panel-why .chain li").first).to_contain_text(words)
    open_mira(page, "memory")
    memory = page.locator(".memory").last
    memory.get_by_role("link", name="where did it go?").click()
    expect(page).to_have_title("Where did it go?")
    expect(page.locator("#sentence")).to_contain_text("Mira")


def test_a_compaction_says_what_it_lost(page: Page, world: WatchedWorld):
    open_mira(page, "compactions")
    page.locator(".compactions summary").last.click()
    expect(page.get_by_role("heading", name="What it lost")).to_be_visible()
    expect(page.locator(".compactions .change .memory").first).to_be_attached()


def test_many_tellings_are_folded_by_step_and_speaker(page: Page, world: WatchedWorld):
    lines = [world.say("A gannet sat on the mast") for _ in range(14)]
    page.goto("/agents/fact?q=gannet")
    step = page.locator("#tellings > li.step")
    expect(step).to_have_count(1)
    expect(step.locator("summary").first).to_contain_text("14 tellings by 1 speaker")
    expect(step.locator("ol > li").first).to_contain_text(lines[0])
    last = page.locator("#tellings li", has_text=lines[-1]).last
    expect(last).to_be_hidden()
    step.get_by_text("Tamsin tells it 13 times more").click()
    expect(last).to_be_visible()
    mark = page.locator("#map .mark")
    expect(mark).to_have_count(1)
    expect(mark.locator(".times")).to_have_text("×14")
    page.locator("#scrubber input").press("Home")
    expect(mark).to_be_hidden()


def test_the_world_is_a_map(page: Page, world: WatchedWorld):
    page.goto("/agents/world/")
    expect(page.locator("#map .face.agent")).to_have_count(7)
    expect(page.locator("#map .face.player")).to_have_count(1)
    quay = page.locator("#rooms li", has=page.get_by_role("link", name="The Quay", exact=True))
    expect(quay).to_contain_text("west to The Salt Pans")
    page.locator("#map .face", has_text=re.compile("^Mi")).click()
    expect(page).to_have_url(re.compile(r"/agents/\d+/$"))


def test_a_room_of_the_map_leads_to_what_happened_there(page: Page, world: WatchedWorld):
    line = world.say("The lamp on the counter smokes")
    page.goto("/agents/world/")
    page.locator("#map a.room", has_text="The Kettle").first.click()
    expect(page).to_have_url(re.compile(r"/agents/search/\?.*place=The%20Kettle"))
    expect(page.locator("#hits li", has_text=line).first).to_be_visible()
    page.go_back()
    page.locator("#map a.room", has_text="The Kettle").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Search")


def test_a_memory_is_shown_as_it_was(page: Page, world: WatchedWorld):
    open_mira(page, "memory")
    shown = page.locator(".memory small time").first
    then = shown.get_attribute("datetime")
    assert then is not None
    number = page.locator(".memory .number").first.inner_text()
    page.evaluate(
        "(iso) => { location.hash = `#memory/@${Math.ceil(Date.parse(iso) / 1000)}`; }", then
    )
    expect(page.locator("#panel-memory h3")).to_contain_text("The memory on")
    expect(page.locator("#panel-memory .memory .number", has_text=number)).to_have_count(1)
