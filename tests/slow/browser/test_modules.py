"""The parts of the window's pages that need no world, served from the checkout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from keepsake.events.types import OPERATIONS
from keepsake.paths import REPOSITORY

_STATIC = REPOSITORY / "keepsake" / "web" / "static" / "keepsake"
_SITE = "http://keepsake.test/"


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page that can import the modules, in UTC or the time zone that a test asks for."""

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(_SITE)
        if path:
            route.fulfill(path=_STATIC / path)
        else:
            route.fulfill(body="<!DOCTYPE html><title>empty</title>", content_type="text/html")

    opened = browser.new_page(timezone_id=getattr(request, "param", "UTC"))
    opened.route(f"{_SITE}**", serve)
    opened.goto(_SITE)
    yield opened
    opened.close()


def test_the_stream_holds_five_hundred_rows_and_no_more(page: Page) -> None:
    most, held, first = page.evaluate(
        """async () => {
          const { Feed } = await import("/watch/feed.js");
          const root = document.createElement("div");
          document.body.append(root);
          const feed = new Feed(root, { named: true });
          const { list } = feed;
          const painted = () => new Promise((done) => setTimeout(done, 50));
          let most = 0;
          for (let n = 1; n <= 3000; n++) {
            const t = new Date(1.7e12 + n * 1000).toISOString();
            const what = { op: "append", of: "act", text: `row ${n}`, times: 1 };
            feed.add("memory", { t, agent: `A${n % 50}`, n, ...what });
            if (n % 300 === 0) await painted();
            most = Math.max(most, list.childElementCount);
          }
          while (!list.lastElementChild.textContent.includes("row 3000")) await painted();
          most = Math.max(most, list.childElementCount);
          return [most, list.childElementCount, list.firstElementChild.textContent];
        }"""
    )
    assert (most, held) == (500, 500)
    assert "row 2501" in first


def test_a_difference_holds_both_texts(page: Page) -> None:
    changed, nothing, far = page.evaluate(
        """async () => {
          const { wordDiff } = await import("/watch/compactions.js");
          const far = wordDiff("a ".repeat(4000), "b ".repeat(4000));
          const changed = wordDiff("Mira sells soup in the inn", "Mira sells bread in the inn");
          return [changed, wordDiff("", ""), far];
        }"""
    )
    gone, new = ["gone", "soup "], ["new", "bread "]
    assert changed == [["same", "Mira sells "], gone, new, ["same", "in the inn"]]
    assert nothing == []
    assert far is None


# -- what happens, in words


def test_a_thought_stands_before_its_own_act_whichever_comes_first(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
          const { Feed } = await import("/watch/feed.js");
          const t = (second) => `2026-01-01T00:00:${second}.000001+00:00`;
          const act = ["memory", { t: t("02"), agent: "Mira", n: 7, op: "append", of: "act",
            text: "go south" }];
          const result = ["memory", { t: t("03"), agent: "Mira", n: 8, op: "append", of: "result",
            text: "The Quay" }];
          const recall = ["recall", { t: t("01"), agent: "Mira", question: "Who?", found: 1 }];
          const thought = ["thought", { t: t("04"), agent: "Mira", trigger: "heard", memory: 7,
            command: "go south", outcome: "acted", latency: 2.5 }];
          const later = ["memory", { t: t("05"), agent: "Mira", n: 9, op: "append",
            of: "perception", text: "A gull" }];
          const orders = [[recall, act, result, thought, later],
            [recall, thought, later, act, result], [later, result, thought, act, recall]];
          return Promise.all(orders.map(async (order) => {
            const root = document.createElement("div");
            document.body.append(root);
            const feed = new Feed(root);
            for (const each of order) feed.add(...each);
            while (feed.list.childElementCount < 5) await new Promise((go) => setTimeout(go, 20));
            return [...feed.list.children].map((row) => row.querySelector(".what").textContent);
          }));
        }"""
    )
    told = ["recalls: Who?", "thinks (heard): go south", "> go south", "The Quay", "A gull"]
    assert shown == [told] * 3


def test_whatever_is_done_to_a_memory_is_told_in_words(page: Page) -> None:
    told = page.evaluate(
        """async (names) => {
          const { describe } = await import("/watch/event_words.js");
          const numbers = { n: 5, size: 89, times: 1 };
          const facts = { ...numbers, of: "work", about: "Tom" };
          return names.map((op) => describe("memory", { op, ...facts }).what);
        }""",
        list(OPERATIONS),
    )
    assert [words for words in told if re.match("(its )?memory: ", words)] == []
    assert len(set(told)) == len(told)


# -- how an agent is


def test_who_needs_a_look_is_told_by_what_is_so_now(page: Page) -> None:
    told = page.evaluate(
        """async () => {
          const { trouble } = await import("/watch/agent_state.js");
          const calm = { state: "idle", problem: "", waiting: null, recent_failed: 0,
            recent_ended: 20, failed: 500, ended: 900 };
          return [calm, { ...calm, recent_failed: 10 }, { ...calm, recent_failed: 11 },
            { ...calm, recent_failed: 2, recent_ended: 2 }, { ...calm, waiting: 31 },
            { ...calm, state: "going home to sleep" }, { ...calm, state: "gone" }].map(trouble);
        }"""
    )
    assert told == [
        [],
        [],
        ["11 of its last 20 thoughts came to nothing"],
        [],
        ["waits for 31 s"],
        [],
        ["gone"],
    ]


# -- charts

_POINT = {
    "thoughts": 0,
    "failed": 0,
    "no_answer": 0,
    "prompt_tokens": None,
    "completion_tokens": None,
    "budget": None,
    "cached": None,
    "latency": None,
    "latency_p95": None,
    "memories": None,
    "recalled": None,
    "compactions": 0,
}


def _charts(page: Page, points: list[dict], width: int) -> None:
    """Draw those slices, one every 24 minutes, on a page of that width."""
    made = [
        {**_POINT, "at": f"2026-01-01T{i * 24 // 60:02}:{i * 24 % 60:02}:00+00:00", **point}
        for i, point in enumerate(points)
    ]
    page.set_viewport_size({"width": width, "height": 800})
    answer = json.dumps({"points": made, "complete": True})
    page.route("**/agents/api/**", lambda route: route.fulfill(body=answer))
    page.add_script_tag(url=f"{_SITE}vendor/uPlot.iife.min.js")
    page.evaluate(
        """async () => {
          const { Charts } = await import("/watch/charts.js");
          const sheet = document.createElement("link");  // without it the words are larger
          Object.assign(sheet, { rel: "stylesheet", href: "/dashboard.css" });
          await new Promise((done) => { sheet.onload = done; document.head.append(sheet); });
          document.body.innerHTML = "<div></div>";
          await new Charts(document.querySelector("div"), 1).load();
        }"""
    )


def _chart(page: Page, title: str) -> Locator:
    return page.locator("figure", has=page.locator("b", has_text=title))


def test_a_chart_is_drawn_and_one_of_nothing_says_so(page: Page) -> None:
    _charts(page, [{"memories": 52 + i // 2} for i in range(59)], 1280)
    chart = _chart(page, "Memories")
    chart.locator("canvas").hover()
    assert "memories" in chart.locator(".u-legend").inner_text()
    chart.locator("summary").click()
    expect(chart.locator(".numbers tbody tr")).to_have_count(59)
    for title in ("Tokens", "Latency", "Recall", "Thoughts"):
        assert _chart(page, title).locator("canvas").count() == 0
        assert "nothing in this time" in _chart(page, title).inner_text()
