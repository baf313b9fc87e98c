"""The page "Where did it go?", in a browser: from a sentence to who knows it, and back in time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.slow.browser.looking import open_mira
from tests.slow.browser.watched import FACT, HOSTILE, WatchedWorld

HEARD = re.compile(r"^Mira knows of “[^”]*Edwin”, from Tamsin")


def test_words_lead_to_who_knows_them_on_the_map_and_in_time(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    page.get_by_label("Words", exact=True).fill("Edwin")
    page.get_by_role("button", name="Follow").click()
    expect(page.locator("#tellings li").first).to_contain_text(FACT)
    expect(page.locator("#tellings li").first).to_contain_text("Tamsin")
    expect(page.locator("#tellings")).to_be_hidden()  # it stands above
    expect(page.locator("#knowers")).to_contain_text("Mira")
    mira = page.locator("#map .face", has_text=re.compile("^Mi")).first
    expect(mira).to_have_class(re.compile("face (window|recent|longterm|lost)"))
    page.locator("#scrubber input").press("Home")
    expect(mira).to_have_class("face unknowing")
    expect(page.locator("#knowers li").first).to_have_class(re.compile("to-come"))
    expect(page.locator("#knowers li").first).to_contain_text("does not know it yet")
    expect(page.locator("#answer")).to_have_text(
        re.compile(r"^By \w+ .*, none of the 7 agents knew of “Edwin”\.$")
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
    expect(known).to_contain_text("has it word for word in its prompts")
    expect(known.locator(".first q")).to_have_text(line)
    expect(known.locator(".from")).to_contain_text("Mira from Tamsin, aloud, ")
    expect(known.locator(".noted")).to_be_hidden()
    known.get_by_text("More").click()
    expect(known.locator(".heard-lines li")).to_contain_text("Tamsin, ")
    known.get_by_role("link", name="memory").first.click()
    page.locator(".memory", has_text=line).get_by_role("link", name="where did it go?").click()
    expect(page.locator("#sentence")).to_contain_text(line)
    expect(page.get_by_label("Words", exact=True)).to_have_value("")
    expect(known).to_contain_text("has it word for word in its prompts")
    page.get_by_text("Follow a word of it instead").click()
    page.locator("#suggested").get_by_role("button", name="heron").click()
    expect(page.get_by_label("Words", exact=True)).to_have_value("heron")


def test_the_page_begins_with_a_sentence_that_says_who_knows_it_from_whom(
    page: Page, world: WatchedWorld
):
    page.goto("/agents/fact?q=Edwin")
    answer = page.locator("#answer")
    expect(answer).to_have_text(HEARD)
    told = page.locator("#sources > li")
    expect(told).to_have_text(re.compile(r"^1\d\d:\d\d TaTamsin→MiMiraaloud"))
    expect(told.locator(".player")).to_have_text("TaTamsin")
    expect(told.locator(".line")).to_have_text(FACT)
    above = answer.evaluate(
        "(each) => [...document.querySelectorAll('main p, main li')]"
        ".filter((one) => one.offsetParent && one.innerText.trim())[0] === each"
    )
    assert above, "nothing has to be read before it"


def test_who_knew_it_is_counted_as_of_the_time_of_the_scrubber(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#answer")).to_have_text(HEARD)
    page.locator("#scrubber input").press("Home")
    expect(page.locator("#summary")).to_have_text("0 tellings.")
    expect(page.locator("#answer")).to_contain_text("none of the 7 agents knew of")


def test_on_a_phone_who_knows_it_comes_before_the_map(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/agents/fact?q=Edwin")
    known = page.locator("#sources li").first
    expect(known).to_be_in_viewport()
    place = known.bounding_box()
    below = page.locator("#map").bounding_box()
    assert place is not None
    assert below is not None
    assert place["y"] + place["height"] <= below["y"]


def test_answer_map_scrubber_and_how_it_went_stand_in_one_screen(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#sources li").first).to_be_in_viewport(ratio=1)
    expect(page.locator("#knowers li").first).to_be_in_viewport(ratio=1)
    expect(page.locator("#map")).to_be_in_viewport(ratio=0.9)
    expect(page.locator("#scrubber input")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Now", exact=True)).to_be_in_viewport(ratio=1)


def test_without_words_the_page_says_what_to_do(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    begin = page.locator("#begin")
    expect(begin).to_contain_text("Type words that somebody said")
    expect(begin.get_by_role("link", name="search by meaning")).to_be_visible()
    expect(page.get_by_role("heading", name="How it went")).to_be_hidden()
    page.get_by_label("Words", exact=True).fill("Edwin")
    page.get_by_role("button", name="Follow").click()
    expect(page.get_by_role("heading", name="How it went")).to_be_visible()
    expect(begin).to_be_hidden()


def test_a_step_leads_to_its_place_on_the_map_and_to_its_sentence(page: Page, world: WatchedWorld):
    page.goto("/agents/fact?q=Edwin")
    step = page.locator("#sources > li").first
    step.get_by_role("button", name="1").click()
    expect(page.locator("#telling-1")).to_have_class(re.compile("chosen"))
    step.get_by_role("link", name=FACT).click()
    expect(page.locator("#sentence")).to_contain_text(FACT)


def test_on_a_phone_each_link_can_be_hit_with_a_finger(page: Page, world: WatchedWorld):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/agents/fact?q=Edwin")
    expect(page.locator("#sources > li").first).to_be_visible()
    small = page.evaluate(
        """() => [...document.querySelectorAll(".went a, .went button, .went summary")]
            .filter((each) => each.offsetParent && each.getBoundingClientRect().height < 24)
            .map((each) => each.outerHTML)"""
    )
    assert small == []


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


def test_the_time_has_its_days_and_hours(page: Page, world: WatchedWorld):
    page.goto("/agents/fact")
    expect(page.locator("#scrubber .dates span").first).to_contain_text(
        re.compile(r"^[A-Z]\w\w \d")
    )
    found = page.evaluate(
        """async () => {
            const { ticks } = await import("/static/keepsake/watch/ticks.js");
            const { QuietScale } = await import("/static/keepsake/watch/quiet.js");
            const { fromField } = await import("/static/keepsake/watch/clock.js");
            const at = (field) => fromField(field) / 1000;
            const often = (first, last) =>
                Array.from({ length: (last - first) / 600 }, (_, i) => first + 600 * i);
            const told = (first, last, wide) =>
                ticks(new QuietScale(first, last, often(first, last)), first, last, wide);
            const evening = told(at("2026-11-30T19:02:00"), at("2026-11-30T20:05:00"), 800);
            const weeks = told(at("2026-11-01T12:00:00"), at("2026-12-20T12:00:00"), 800);
            const night = told(at("2026-11-30T19:00:00"), at("2026-12-01T09:00:00"), 360);
            return [evening, weeks, night].map((labels) => labels.map(({ words }) => words));
        }"""
    )
    evening, weeks, night = found
    assert evening[0] == "Mon 30 Nov"
    assert evening[-1] == "20:00"
    assert len(evening) > 8
    assert weeks[0] == "Sun 1 Nov"
    assert 4 <= len(weeks) <= 8
    assert all(" " in each for each in weeks), "days alone"
    assert night[0] == "Mon 30 Nov"
    assert "Tue 1 Dec" in night
    assert len(night) < 6


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
    expect(step).to_be_visible()
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
