"""The live stream, through the Portal's proxy, on real sockets with a real event log behind it."""

from __future__ import annotations

import json
import socket
import time

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.web.test.requesthelper import DummyRequest

from keepsake.web.access import FORBIDDEN
from keepsake.web.hub import Hub
from keepsake.web.stream import LiveStream, StreamQuery
from tests.unit.web.conftest import COOKIES, PATIENCE, Streaming
from tests.unit.web.streaming_server import SECRET


def last_lines(streaming: Streaming, folder) -> list[dict]:
    return [
        json.loads(line)
        for path in folder.glob("events-*.jsonl")
        for line in path.read_bytes().splitlines()
    ]


def test_events_come_as_they_stand_in_the_log(streaming, tmp_path):
    browser = streaming.open()
    streaming.until(1)
    streaming.do("emit 3")
    events = browser.take(3)
    assert [each.id for each in events] == [1, 2, 3]
    assert {each.kind for each in events} == {"error"}
    assert [each.data for each in events] == last_lines(streaming, tmp_path / "events")
    assert browser.retry > 0


def test_a_memory_brings_its_words_and_secrets_do_not_enter(streaming):
    browser = streaming.open()
    streaming.until(1)
    streaming.do(f"say the key is {SECRET} and\x1b[31m <b>red</b>\u2028")
    streaming.do("say connect Tom c67jHL8p")
    first, second = browser.take(2)
    assert first.kind == "memory"
    assert first.data["text"] == "the key is [secret] and\x1b[31m <b>red</b>\u2028"
    assert (first.data["source"], first.data["place"]) == ("Tom", "The Kettle")
    assert "reason" not in first.data
    assert second.data["text"] == "connect Tom [secret]"


def test_only_what_is_asked_for_is_shown(streaming):
    browser = streaming.open("?agent=7&kinds=memory,world")
    everything = streaming.open("?kinds=world")
    streaming.until(2)
    streaming.do("emit 1")
    streaming.do("say Good evening.")
    streaming.do("world reloads")
    assert browser.next().data["text"] == "Good evening."
    assert everything.next().data["op"] == "reloads"


def test_a_browser_that_comes_again_misses_nothing(streaming):
    browser = streaming.open()
    streaming.until(1)
    streaming.do("emit 2")
    browser.take(2)
    browser.response.close()
    streaming.until(0)
    streaming.do("emit 5")
    for again in (streaming.open(last_id=2), streaming.open("?after=2")):
        assert [each.id for each in again.take(5)] == [3, 4, 5, 6, 7]


def test_one_that_was_away_too_long_is_told_of_the_gap(streaming):
    streaming.do("emit 300")  # 200 are kept
    streaming.until(last=300)
    again = streaming.open(last_id=2)
    gap, first = again.take(2)
    assert (gap.kind, gap.data) == ("gap", {"after": 2})
    assert first.id == 101


def test_a_long_absence_comes_in_pieces_and_in_order(streaming):
    streaming.do("emit 190")
    streaming.until(last=190)
    browsers = [streaming.open("?kinds=error", last_id=1) for _ in range(3)]
    streaming.do("emit 200")
    for browser in browsers:
        numbers = [each.id for each in browser.take(150)]
        assert numbers == list(range(2, 152))


@pytest.mark.parametrize("query", ["", "?agent=7", "?agent=8", "?agent=x", "?nonsense=1"])
@pytest.mark.parametrize("cookie", ["", "sessionid=tom", "sessionid=ada; x=\x80\xff"])
def test_a_stranger_learns_nothing(streaming, query, cookie):
    answers = []
    for port in (streaming.inner, streaming.outer):
        answer = streaming.client.get(
            streaming.url(query, port=port), headers={"Cookie": cookie.encode("latin-1")}
        )
        answers.append((answer.status_code, answer.text, answer.headers.get("content-type")))
    body = json.dumps({"error": FORBIDDEN})
    assert set(answers) == {(403, body, "application/json")}
    assert streaming.do("streams") == 0


@pytest.mark.parametrize(
    ("query", "cure"),
    [
        ("?agent=mira", "agent: Input should be a valid integer"),
        ("?agent=99999999999999999", "agent: Input should be less than"),
        ("?last=-1", "last: Input should be greater than or equal to 0"),
        ("?kinds=thoughts", "kinds: Input should be 'thought', "),
        ("?kind=thought", "kind: Extra inputs are not permitted"),
    ],
)
def test_what_means_nothing_is_refused_with_the_cure(streaming, query, cure):
    answer = streaming.client.get(streaming.url(query), headers=COOKIES)
    assert answer.status_code == 400
    assert cure in answer.json()["error"]


def test_a_stream_of_an_agent_that_is_not_there_is_none(streaming):
    for ask in (streaming.client.get, streaming.client.head):
        answer = ask(streaming.url("?agent=999"), headers=COOKIES)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/json"
    assert "no agent 999" in streaming.client.get(streaming.url("?agent=999"), headers=COOKIES).text
    assert streaming.do("streams") == 0


def test_the_stream_of_an_agent_that_is_deleted_ends(streaming):
    browser, other = streaming.open("?agent=7"), streaming.open("?agent=8")
    streaming.until(2)
    streaming.do("delete 7")
    assert browser.rest() == []
    assert streaming.client.get(streaming.url("?agent=7"), headers=COOKIES).status_code == 404
    assert streaming.do("streams") == 1
    streaming.do("delete 8")
    assert other.rest() == []


class Reading(DummyRequest):
    """A browser that reads whatever comes."""

    channel = True  # it is there

    def registerProducer(self, producer, streaming) -> None:  # noqa: N802 - Twisted's name
        """Twisted's own asks for more until all has come, and here it never has."""

    def unregisterProducer(self) -> None:  # noqa: N802 - Twisted's name
        pass


def test_rights_are_looked_at_every_five_seconds():
    clock, request, asked = Clock(), Reading([b""]), []
    hub = Hub(clock)

    def allowed() -> Deferred[bool]:
        asked.append(clock.seconds())
        return succeed(len(asked) < 3)

    LiveStream(hub, request, StreamQuery(), clock).start(allowed)
    for _ in range(40):
        clock.advance(0.5)
    assert asked == [5.0, 10.0, 15.0]
    assert request.finished
    assert hub.streams == 0


def test_there_is_an_end_to_how_many_may_watch(streaming):
    browsers = [streaming.open() for _ in range(5)]
    streaming.until(5)
    answer = streaming.client.get(streaming.url(), headers=COOKIES)
    assert answer.status_code == 503
    assert "Close one" in answer.json()["error"]
    browsers[0].response.close()
    streaming.until(4)
    streaming.open()


def test_whoever_may_no_longer_watch_is_shown_no_more(streaming):
    browser = streaming.open()
    streaming.until(1)
    streaming.do("forbid")
    assert browser.rest() == []  # it ends
    answer = streaming.client.get(streaming.url(), headers=COOKIES)
    assert answer.status_code == 403


def test_where_it_cannot_be_looked_up_nobody_watches(streaming):
    browser = streaming.open()
    streaming.until(1)
    streaming.do("break")
    assert browser.rest() == []
    assert streaming.client.get(streaming.url(), headers=COOKIES).status_code == 403


@pytest.mark.parametrize("port", ["inner", "outer"])
def test_a_browser_that_does_not_read_is_cut_off_and_nobody_waits_for_it(streaming, port):
    lazy = socket.create_connection(("127.0.0.1", getattr(streaming, port)))
    lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lazy.sendall(b"GET /agents-live HTTP/1.1\r\nHost: x\r\nCookie: sessionid=ada\r\n\r\n")
    streaming.until(1)
    other = streaming.open()
    streaming.until(2)
    deadline, sent = time.monotonic() + PATIENCE, 0
    while streaming.do("emit 100") > 1:  # until the lazy one is gone
        sent += 100
        other.take(100)
        assert time.monotonic() < deadline, sent
    assert streaming.do("streams") == 1
    other.take(100)
    read = 0
    try:
        while chunk := lazy.recv(1 << 20):
            read += len(chunk)
    except ConnectionResetError:
        pass
    lazy.close()
    assert read < sent * 400


def test_while_the_server_is_away_a_browser_is_asked_to_come_again(streaming):
    browser = streaming.open()
    streaming.until(1)
    streaming.do("emit 1")
    assert browser.next().id == 1
    streaming.do("server down")
    assert browser.rest() == []
    # An answer that is no stream, or no 200, would end a browser's tries for good.
    away = streaming.open()
    assert away.rest() == []
    assert away.retry > 0
    streaming.do("server up")
    streaming.do("emit 1")
    again = streaming.open(last_id=1)
    assert again.next().id == 2
