"""The window for builders and researchers, as they use it: a real world, a real browser.

The tests share one world, in which Mira has lived through a few compactions; Tamsin, a player,
stands before her and can say more.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import log_in
from tests.browser.watched import FACT, HOSTILE, WatchedWorld
from tests.e2e.players import PASSWORD

SECTIONS = ("live", "prompt", "memory", "recall", "compactions", "charts", "why")


def open_mira(page: Page, section: str = "live") -> None:
    """Her page, from the table, as anybody would find it."""
    page.goto("/agents/")
    page.locator("#agents").get_by_role("link", name="Mira").click()
    expect(page.locator("#state .badge")).to_be_visible()
    page.locator("#sections").get_by_role("link", name=section.capitalize(), exact=True).click()
    expect(page.locator(f"#panel-{section}")).to_be_visible()


def api(page: Page, what: str) -> dict:
    """What the API answers about the agent of the page."""
    number = page.locator("body").get_attribute("data-agent")
    return page.request.get(f"/agents/api/agents/{number}/{what}").json()


# -- who may look


def test_a_stranger_and_a_player_learn_nothing(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page = stranger.new_page()
    for address in ("/agents/", "/agents/1/", "/agents/999999/"):
        answer = page.goto(address)
        assert answer is not None
        assert answer.status == 403
        assert "Mira" not in page.content()
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Name").fill("Tamsin")
    page.get_by_label("Password").fill("not her password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not belong together")
    page.get_by_label("Password").fill(PASSWORD)
    with page.expect_response(lambda answer: answer.url == f"{world.address}/agents/") as led_on:
        page.get_by_role("button", name="Log in").click()
    assert led_on.value.status == 403
    expect(page.get_by_role("heading", name="For staff")).to_be_visible()
    assert page.request.get("/agents-live").status == 403
    page.get_by_role("link", name="Keepsake").click()
    expect(page.get_by_role("link", name="look into the agents")).to_be_visible()


def test_nothing_comes_from_elsewhere(page: Page, world: WatchedWorld) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for address in ("/auth/login/", "/agents/", "/no-such-page/"):
        page.goto(address)
    assert asked
    assert [url for url in asked if not url.startswith(world.address)] == []


def test_logging_out_elsewhere_ends_the_looking(
    stranger: BrowserContext, world: WatchedWorld
) -> None:
    page, elsewhere = stranger.new_page(), stranger.new_page()
    log_in(page, world)  # a session of its own: the others' goes on
    expect(page.locator("#agents tr").first).to_be_visible()
    elsewhere.goto("/agents/")
    elsewhere.get_by_role("button", name="Log out").click()
    expect(page.locator("#trouble-here")).to_contain_text("Log in")


# -- all agents


def test_all_agents_stand_in_the_table_and_can_be_filtered(page: Page) -> None:
    page.goto("/agents/")
    rows = page.locator("#agents tr")
    expect(rows).to_have_count(7)
    expect(page.locator("#servers")).to_contain_text("ollama")
    page.keyboard.press("/")
    page.keyboard.type("kettle")
    expect(rows.filter(has_text="Mira")).to_be_visible()
    expect(page.locator("#summary")).to_contain_text("7 agents, ")
    page.get_by_label("Filter the agents").fill("nobody is called so")
    expect(rows).to_have_count(0)
    expect(page.locator("#none")).to_contain_text("No agent fits")


def test_columns_sort_up_and_down(page: Page) -> None:
    page.goto("/agents/")
    first = page.locator("#agents tr").first
    memories = page.get_by_role("columnheader", name="Memories")
    memories.get_by_role("button").click()
    expect(first).to_contain_text("Mira")
    expect(memories).to_have_attribute("aria-sort", "descending")
    page.get_by_role("columnheader", name="Agent").get_by_role("button").click()
    expect(first).to_contain_text("Bram")
    page.get_by_role("columnheader", name="Agent").get_by_role("button").click()
    expect(first).to_contain_text("Wren")


def test_the_keyboard_walks_the_rows_and_opens_one(page: Page) -> None:
    page.goto("/agents/")
    page.get_by_role("columnheader", name="Agent").get_by_role("button").click()
    expect(page.locator("#agents tr").first).to_contain_text("Bram")
    for key in ("j", "j", "j", "k"):
        page.keyboard.press(key)
    expect(page.locator("#agents tr:focus")).to_contain_text("Joss")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Joss")).to_be_visible()
    expect(page.locator("#state .badge")).to_be_visible()  # its keys are bound by then
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next row")
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    expect(page.locator("#panel-memory")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("heading", name="Agents", exact=True)).to_be_visible()


def test_who_is_stuck_stands_out(page: Page) -> None:
    def slow(route: Route) -> None:
        answer = route.fetch()
        said = answer.json()
        for agent in said["agents"]:
            late = agent["name"] == "Ruan"
            agent.update(waiting=47.0 if late else None, problem="", failed=0)
        route.fulfill(response=answer, json=said)

    page.route("**/agents/api/agents", slow)
    page.goto("/agents/")
    stuck = page.locator("#agents tr.stuck")
    expect(stuck).to_have_count(1)
    expect(stuck).to_contain_text("waits for 47 s")
    expect(page.locator("#agents tr").first).to_contain_text("Ruan")
    page.get_by_role("button", name="1 to look at").click()
    expect(page.locator("#agents tr")).to_have_count(1)


# -- live


def test_what_happens_is_seen_without_a_reload(page: Page, world: WatchedWorld) -> None:
    page.goto("/agents/")
    expect(page.locator("#live")).to_have_text("live")
    line = world.say("Snow is coming")
    heard = page.locator(".event", has_text=f'Tamsin says, "{line}"')
    expect(heard).to_have_count(1)
    expect(heard.locator("b")).to_have_text("Mira")
    expect(page.locator("#agents tr", has_text="Mira")).to_contain_text("say The ferry leaves")


def test_without_a_stream_the_pages_still_keep_up(page: Page, world: WatchedWorld) -> None:
    page.route("**/agents-live*", lambda route: route.abort())
    page.goto("/agents/")
    expect(page.locator("#live")).to_contain_text("every few seconds")
    memories = page.locator("#agents tr", has_text="Mira").locator("td").nth(6)
    before = memories.inner_text()
    world.say("Nobody streams this")
    expect(memories).not_to_have_text(before)
    open_mira(page)
    line = world.say("Nor this")
    expect(page.locator("#feed .event", has_text=f'Tamsin says, "{line}"')).to_have_count(1)


def test_an_agents_stream_can_be_paused_and_filtered(page: Page, world: WatchedWorld) -> None:
    open_mira(page)
    rows = page.locator("#feed .event")
    # What it lived through before the page was opened is there as well.
    expect(rows.filter(has_text="says").first).to_be_visible()
    expect(page.locator("#live-sign")).to_have_text("live")
    page.keyboard.press("p")
    line = world.say("Hush")
    expect(page.get_by_role("button", name=re.compile(r"Go on \([1-9]"))).to_be_visible()
    expect(rows.filter(has_text=line)).to_have_count(0)
    page.keyboard.press("p")
    heard = rows.filter(has_text=f'Tamsin says, "{line}"')
    expect(heard).to_be_visible()
    page.get_by_label("memories").uncheck()
    expect(heard).to_be_hidden()
    page.get_by_label("memories").check()
    page.get_by_label("Filter the stream").fill("no such words anywhere")
    expect(heard).to_be_hidden()


# -- an agent


def test_what_players_write_stays_words(page: Page) -> None:
    open_mira(page, "memory")
    page.get_by_role("button", name=re.compile("^Open the long-term")).click()
    expect(page.locator(".memory", has_text=HOSTILE)).to_be_visible()
    expect(page.locator(".summary pre").first).to_contain_text("<img")
    assert page.locator("main img, main script").count() == 0
    assert page.title() == "Mira: memory"


def test_the_timeline_is_to_scale_and_opens_what_is_under_a_summary(page: Page) -> None:
    open_mira(page, "memory")
    tiers = page.locator(".tier")
    expect(tiers).to_have_count(3)
    found = api(page, "tiers")
    sizes = [each["last"] - each["first"] + 1 for each in (found["longterm"], found["recent"])]
    wide, short = (tiers.nth(i).bounding_box()["width"] for i in (0, 1))
    assert wide / short == pytest.approx(sizes[0] / sizes[1], rel=0.15)
    tiers.first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#memory-2")).to_contain_text(FACT)
    expect(page.locator(".page-of-memories")).to_contain_text(
        "What stood before for these memories"
    )
    page.get_by_label("Go to memory").fill("3")
    page.keyboard.press("Enter")
    expect(page.locator(".memory.marked")).to_have_id("memory-3")
    expect(page.locator("#memory-3")).to_be_focused()


def test_the_prompt_stands_there_by_section(page: Page) -> None:
    open_mira(page, "prompt")
    sections = page.locator("#panel-prompt .sections > li")
    expect(sections.first).to_be_visible()
    window = sections.filter(has=page.locator("b", has_text=re.compile("^window$")))
    expect(window.locator("pre")).to_be_hidden()
    window.locator("summary").click()
    expect(window.locator("pre")).to_contain_text("Tamsin says")
    assert page.locator(".stack .part").count() == sections.count()
    expect(page.locator("#panel-prompt")).to_contain_text("The raw answer")


def test_recall_by_hand_shows_scores_and_leads_to_the_memory(page: Page) -> None:
    open_mira(page, "recall")
    page.get_by_label("Question").fill("Where does Edwin mend nets?")
    page.keyboard.press("Enter")
    best = page.locator(".hits li").first
    expect(best).to_contain_text(FACT)
    expect(best.locator("small")).to_contain_text("edwin")
    page.locator(".hits").get_by_role("link", name="memory 2", exact=True).click()
    expect(page.locator("#memory-2")).to_be_focused()


def test_a_compaction_shows_what_changed(page: Page) -> None:
    open_mira(page, "compactions")
    newest = page.locator(".compactions > li").first
    newest.locator("summary").first.click()
    expect(newest.locator("ins").first).to_be_visible()
    recent = newest.locator("section", has_text="Short-term summary")
    recent.get_by_role("button", name="Before").click()
    expect(recent.locator("ins")).to_have_count(0)
    expect(recent.locator("pre")).not_to_be_empty()


def test_charts_can_be_read_with_the_keyboard_and_as_a_table(page: Page) -> None:
    open_mira(page, "charts")
    chart = page.locator("figure", has=page.locator("b", has_text="Thoughts"))
    expect(chart.locator("rect.column").first).to_be_visible()
    chart.get_by_role("img").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(chart.locator(".tip")).to_contain_text(re.compile(r"thoughts \d"))
    chart.locator("summary").click()
    expect(chart.locator("tbody tr")).to_have_count(60)


def test_why_leads_from_an_act_down_to_the_raw_memories(page: Page, world: WatchedWorld) -> None:
    line = world.say("When does the ferry leave?")
    open_mira(page)
    answered = page.locator("#feed .event.thought", has_text="Tamsin")
    expect(answered.last).to_be_visible()
    expect(page.locator("#feed .event", has_text=f'"{line}"')).to_be_visible()
    page.locator("#sections").get_by_role("link", name="Why").click()
    chain = page.locator(".chain")
    expect(chain).to_contain_text("> say The ferry leaves at")
    expect(chain).to_contain_text("Because, it said: somebody asked")
    expect(chain).to_contain_text("Long-term summary of memories 1–")
    expect(chain).to_contain_text("comma answered after")
    page.get_by_role("link", name="the act before it").first.click()
    expect(page).to_have_url(re.compile("#why/2$"))
    expect(page.locator(".turns").first).to_contain_text("its last act but 1")


# -- buttons


def test_buttons_act_and_say_what_came_of_it(page: Page, world: WatchedWorld) -> None:
    open_mira(page)
    page.locator("#acts").get_by_role("button", name="Pause").click()
    expect(page.locator("#state .badge")).to_have_text("paused")
    expect(page.locator("#outcome")).to_contain_text("Mira")
    assert world.agents()["Mira"]["state"] == "paused"
    resume = page.locator("#acts").get_by_role("button", name="Resume")
    expect(resume).to_be_focused()
    resume.click()
    expect(page.locator("#state .badge")).not_to_have_text("paused")
    page.locator("#acts").get_by_role("button", name="Compact").click()
    expect(page.locator("#outcome")).to_contain_text(re.compile("ompact"))


def test_a_request_without_the_token_does_nothing(page: Page) -> None:
    open_mira(page)
    number = page.locator("body").get_attribute("data-agent")
    forged = page.request.post(f"/agents/api/agents/{number}/pause")
    assert forged.status == 403
    assert page.request.get(f"/agents/api/agents/{number}").json()["state"] != "paused"


# -- how it looks


def test_on_a_phone_nothing_scrolls_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/agents/")
    expect(page.locator("#agents tr")).to_have_count(7)
    assert _overhang(page) <= 0
    open_mira(page)
    for section in SECTIONS:
        page.locator("#sections").get_by_role("link", name=section.capitalize()).click()
        panel = page.locator(f"#panel-{section}")
        expect(panel.locator("[data-row], form").first).to_be_visible()
        assert _overhang(page) <= 0, section


def _overhang(page: Page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_the_colours_follow_the_system_and_the_switch_is_kept(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/agents/")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    assert light != dark
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("button", name="Colours: light").click()
    assert page.evaluate(ground) == dark
    page.reload()
    assert page.evaluate(ground) == dark


# -- last, for it takes the world away for a moment


def test_after_a_reload_of_the_world_the_page_goes_on(page: Page, world: WatchedWorld) -> None:
    open_mira(page)
    expect(page.locator("#live-sign")).to_have_text("live")
    before = world.say("Before the reload")
    rows = page.locator("#feed .event")
    expect(rows.filter(has_text=f'Tamsin says, "{before}"')).to_have_count(1)
    assert world.copy.keepsake("reload").returncode == 0
    expect(page.locator("#live-sign")).to_have_text("live")
    after = world.say("After the reload")
    expect(rows.filter(has_text=f'Tamsin says, "{after}"')).to_have_count(1)
    expect(rows.filter(has_text=f'Tamsin says, "{before}"')).to_have_count(1)
