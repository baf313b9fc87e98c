"""The parts of the window's pages that need no world, served from the checkout."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from keepsake.paths import REPOSITORY

_STATIC = REPOSITORY / "keepsake" / "web" / "static" / "keepsake"
_SITE = "http://keepsake.test/"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(_SITE)
        if path:
            route.fulfill(path=_STATIC / path)
        else:
            route.fulfill(body="<!DOCTYPE html><title>empty</title>", content_type="text/html")

    opened = browser.new_page()
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
