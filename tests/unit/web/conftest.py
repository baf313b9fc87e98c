"""A stream on real sockets, and browsers that read it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from keepsake.paths import REPOSITORY

PATIENCE = 60.0
"""Seconds until a test gives up on what never comes."""
_MOST_BEATS = 40
COOKIES = {"Cookie": "sessionid=ada"}


@dataclass
class Event:
    """What a browser would dispatch."""

    kind: str
    data: Any
    id: int | None


@dataclass
class Browser:
    """Reads a stream as the standard says a browser does.

    Attributes:
        last_id: What it would send back as ``Last-Event-ID``.
        comments: Lines that mean nothing to it, and beats.
        retry: Milliseconds after which it would come again.
    """

    response: httpx.Response
    last_id: str = ""
    retry: int = 0
    comments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = self._split()

    def _split(self) -> Iterator[str]:
        # Not by httpx, which also ends lines at signs that mean nothing to a browser.
        rest = b""
        for chunk in self.response.iter_bytes():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line.decode() for line in lines)

    def next(self) -> Event:
        """The next event; StopIteration when the stream has ended."""
        kind, data = "message", []
        while True:
            line = next(self._lines)
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if kind == "beat":
                    self.comments.append(kind)
                    assert len(self.comments) < _MOST_BEATS, "nothing comes any more"
                    kind, data = "message", []
                elif data:
                    number = int(self.last_id) if self.last_id else None
                    return Event(kind, json.loads("\n".join(data)), number)
                kind = "message"
            elif not name:
                self.comments.append(value)
            elif name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)
            elif name == "retry":
                self.retry = int(value)

    def take(self, count: int) -> list[Event]:
        return [self.next() for _ in range(count)]

    def rest(self) -> list[Event]:
        """All until the stream ends."""
        found = []
        try:
            while True:
                found.append(self.next())
        except (StopIteration, httpx.RemoteProtocolError):
            return found


class Process:
    """The process with the streams in it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.unit.web.streaming_server"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, line: str) -> dict[str, Any]:
        """Have a line obeyed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert answer["done"] == line
        return answer

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            assert self._process.wait(20) == 0
        finally:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()


class Streaming:
    """A stream's server of one test."""

    def __init__(self, process: Process, folder: Path) -> None:
        self._process = process
        ports = process.do(f"new {folder}")
        self.inner, self.outer = ports["inner"], ports["outer"]
        self.client = httpx.Client(timeout=PATIENCE)
        self._opened: list[Any] = []

    def do(self, line: str) -> int:
        """Have a line obeyed; returns how many streams there are."""
        return int(self._process.do(line)["streams"])

    def until(self, streams: int | None = None, *, last: int | None = None) -> None:
        """Wait until there are so many streams, or the record of that number is known."""
        deadline = time.monotonic() + PATIENCE
        while (answer := self._process.do("streams")) and (
            (streams is not None and answer["streams"] != streams)
            or (last is not None and answer["last"] != last)
        ):
            assert time.monotonic() < deadline, answer
            time.sleep(0.02)

    def url(self, query: str = "", *, port: int = 0) -> str:
        return f"http://127.0.0.1:{port or self.outer}/agents-live{query}"

    def open(self, query: str = "", *, last_id: int | None = None, port: int = 0) -> Browser:
        headers = dict(COOKIES)
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        opened = self.client.stream("GET", self.url(query, port=port), headers=headers)
        response = opened.__enter__()
        self._opened.append(opened)
        assert response.status_code == 200, response.read()
        assert response.headers["content-type"].startswith("text/event-stream")
        return Browser(response)

    def close(self) -> None:
        for each in self._opened:
            each.__exit__(None, None, None)
        self.client.close()


@pytest.fixture(scope="session")
def process() -> Iterator[Process]:
    made = Process()
    yield made
    made.end()


@pytest.fixture
def streaming(process: Process, tmp_path: Path) -> Iterator[Streaming]:
    made = Streaming(process, tmp_path / "events")
    yield made
    made.close()
