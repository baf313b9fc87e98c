"""The parts of the window's pages that need no world, served from the checkout."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from game.paths import REPOSITORY

_STATIC = REPOSITORY / "game" / "web" / "static" / "keepsake"
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


def test_a_stream_that_is_paused_for_long_keeps_the_newest(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
          const { Feed } = await import("/watch/feed.js");
          const feed = new Feed(document.body);
          feed.pause();
          for (let n = 1; n <= 2000; n++) {
            const t = new Date(1.7e12 + n).toISOString();
            feed.add("error", { t, level: "error", text: `${n}!` });
          }
          const label = document.querySelector("button").textContent;
          feed.pause();
          return [label, feed.list.childElementCount, feed.list.lastElementChild.textContent];
        }"""
    )
    assert shown[:2] == ["Go on (2,000 new)", 500]
    assert "2000!" in shown[2]


def test_rows_stand_by_their_times_and_a_memory_has_one(page: Page) -> None:
    shown = page.evaluate(
        """async () => {
          const { Feed } = await import("/watch/feed.js");
          const feed = new Feed(document.body);
          const memory = (second, n, text, times = 1) => feed.add("memory", {
            t: `2026-01-01T00:00:0${second}.000001+00:00`, agent: "Mira", n, text, times,
            op: times > 1 ? "repeat" : "append", of: "perception",
          });
          memory(5, 3, "third");
          memory(1, 1, "first");
          memory(3, 2, "second");
          memory(1, 1, "first");
          memory(6, 2, "second", 2);
          memory(3, 2, "second");
          while (!feed.list.childElementCount) await new Promise((done) => setTimeout(done, 20));
          return [...feed.list.children].map((row) => row.querySelector(".what").textContent);
        }"""
    )
    assert shown == ["first", "third", "second"]


def test_a_difference_holds_both_texts(page: Page) -> None:
    wrong, changed, nothing, far = page.evaluate(
        """async () => {
          const { wordDiff } = await import("/watch/diff.js");
          let seed = 7;
          const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
          const words = ["the", "ferry", "leaves", "at", "nine", ".", "Mira", "zwölf", ",", "\\n"];
          const text = (most) => Array.from({ length: random(most) }, () => words[random(10)])
            .join(random(2) ? " " : "");
          const wrong = [];
          for (let i = 0; i < 500; i++) {
            const [a, b] = [text(60), text(60)];
            const parts = wordDiff(a, b);
            const of = (kind) => parts.filter(([how]) => how === "same" || how === kind)
              .map(([, words]) => words).join("");
            if (of("gone") !== a || of("new") !== b) wrong.push([a, b, parts]);
          }
          const far = wordDiff("a ".repeat(4000), "b ".repeat(4000));
          const changed = wordDiff("Mira sells soup in the inn", "Mira sells bread in the inn");
          return [wrong, changed, wordDiff("", ""), far];
        }"""
    )
    assert wrong == []
    gone, new = ["gone", "soup"], ["new", "bread"]
    assert changed == [["same", "Mira sells "], gone, new, ["same", " in the inn"]]
    assert nothing == []
    assert far is None


def test_events_are_whole_however_they_are_cut(page: Page) -> None:
    sent = 'retry: 9\n\nid: 7\n\n: beat\nid: 8\n\nid: 9\nevent: thought\ndata: {"a":\ndata: 1}\n\n'
    found = page.evaluate(
        """async (sent) => {
          const { Parser } = await import("/watch/sse.js");
          return [1, 2, 3, 7, 1000].map((size) => {
            const parser = new Parser();
            const events = [];
            for (let i = 0; i < sent.length; i += size) {
              events.push(...parser.feed(sent.slice(i, i + size)));
            }
            return JSON.stringify(events.filter((each) => each.id));
          });
        }""",
        sent,
    )
    assert len(set(found)) == 1
    events = json.loads(found[0])
    assert [each["id"] for each in events] == ["7", "8", "9"]
    assert events[-1] == {"id": "9", "event": "thought", "data": '{"a":\n1}'}


def test_an_event_that_never_ends_is_given_up(page: Page) -> None:
    said = page.evaluate(
        """async () => {
          const { Parser } = await import("/watch/sse.js");
          const parser = new Parser();
          try {
            for (let i = 0; i < 3000; i++) parser.feed("x".repeat(1000));
          } catch (error) {
            return error.message;
          }
        }"""
    )
    assert said == "an event without an end"


def test_an_operation_on_a_memory_says_about_whom_and_by_whom(page: Page) -> None:
    learned, note = page.evaluate(
        """async () => {
          const { describe } = await import("/watch/event_words.js");
          const none = { of: "", by: "", title: "", about: "", problem: "" };
          const change = { n: 0, size: 0, times: 1, ...none };
          return [
            { ...change, op: "learned", n: 7, of: "work", size: 6, about: "Tom", by: "hand" },
            { ...change, op: "note", title: "cups", size: 9, by: "builder" },
          ].map((record) => describe("memory", record));
        }"""
    )
    assert learned["what"] == "memory: learned (Tom)"
    assert learned["more"] == "work · number 7 · 6 characters · by hand"
    assert (note["what"], note["tone"]) == ("memory: note", "quiet")
    assert note["more"] == "cups · 9 characters · by builder"
