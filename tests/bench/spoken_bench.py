"""How many good answers of a capable model are spoken as it wrote them, and what each one cost.

A player types the lines of ``tests/data/good_answers.yaml`` at telnet. A stand-in for a model
server, over the wire, answers each with the answer that is written beside it; provider, host and
model are all that is set. Counted are the answers that were heard unchanged, the lines for which
no model was asked, the calls an answer took, and the seconds to the first sentence.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.slow.cli.conftest import end, make_copy
from tests.slow.e2e.players import Player

ANSWERS = Path(__file__).parents[1] / "data" / "good_answers.yaml"
TOKENS_A_SECOND = 20.0
QUIET = 4.0
"""Seconds without a new line after which an answer is over."""
_SAID = re.compile(r'Mira says to you, "(.*?)"[ ]*(?=\n|$)', re.S)
"""A line that telnet has wrapped ends with a quotation mark at the end of a line."""
_CONFIG = """\
## agent
**provider**: openai
**host**: {host}
**model**: stand-in

## summarizer
**provider**: extractive
"""


@dataclass
class StandIn:
    """A chat server that knows what to answer to each line; it streams like a slow one."""

    answers: dict[str, str]
    asked: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> str:
        """What is written beside the last line of the prompt that is known."""
        self.asked.append(body)
        messages = body.get("messages") or [{"content": body.get("prompt", "")}]
        last = str(messages[-1]["content"])
        found = [(last.rfind(line), line) for line in self.answers if line in last]
        return self.answers[max(found)[1]] if found else "> wait"

    def serve(self) -> ThreadingHTTPServer:
        """Begin to serve on a free port of this machine."""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None: ...

            def do_GET(self) -> None:
                rows = [{"id": "stand-in", "object": "model"}]
                found = self.path == "/v1/models"
                self._send(200 if found else 404, {"data": rows} if found else {"error": {}})

            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size) or b"{}")
                if self.path not in ("/v1/chat/completions", "/v1/completions"):
                    return self._send(404, {"error": {"message": "not found"}})
                words = stand_in.answer(body)
                if body.get("stream"):
                    return self._stream(words)
                message = {"message": {"role": "assistant", "content": words}, "text": words}
                return self._send(200, {"choices": [{**message, "finish_reason": "stop"}]})

            def _stream(self, words: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for piece in re.findall(r"\s*\S+|\s+", words):
                    chunk = {"choices": [{"index": 0, "delta": {"content": piece}}]}
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    self.wfile.flush()
                    time.sleep(1 / TOKENS_A_SECOND)
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True

            def _send(self, code: int, value: Any) -> None:
                data = json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server


@dataclass(frozen=True)
class Heard:
    """What came of one line."""

    line: str
    wanted: str
    heard: str
    calls: int  # for Mira; others in the room think for themselves
    seconds: float  # to the first sentence; 0 if none came
    screen: str  # what the player saw

    @property
    def unchanged(self) -> bool:
        return squeezed(self.wanted) == squeezed(self.heard)


def squeezed(text: str) -> str:
    """Without blanks: telnet wraps lines, and one answer may be spoken in two."""
    return "".join(text.split())


def spoken_of(answer: str) -> str:
    """The words of an answer that are to be heard: its plain lines."""
    lines = (line.strip() for line in answer.splitlines())
    return " ".join(line for line in lines if line and line[0] not in ">*")


def for_mira(body: dict[str, Any]) -> bool:
    """Whether a request asks for Mira's turn."""
    return "You are Mira" in str((body.get("messages") or [{"content": ""}])[0]["content"])


def play(player: Player, pairs: list[dict[str, str]], stand_in: StandIn, limit: int) -> list[Heard]:
    found = []
    for pair in pairs[:limit]:
        before, began = len(stand_in.asked), time.monotonic()
        player.look_up()
        player.line.text = ""
        player.line.send(f"talk mira {pair['say']}")
        first, last, length = 0.0, began, 0
        while time.monotonic() - last < QUIET and time.monotonic() - began < 40:
            text = player.look_up()
            said = "Mira says to you" in text
            if len(text) != length:
                length, last = len(text), time.monotonic()
            if said and not first:
                first = time.monotonic() - began
            time.sleep(0.02)
        text = re.sub(r"\r", "", player.look_up())
        said = _SAID.findall(text)
        wanted = spoken_of(pair["answer"])
        calls = sum(for_mira(each) for each in stand_in.asked[before:])
        found.append(Heard(pair["say"], wanted, " ".join(said), calls, first, text))
    return found


def played(limit: int = 1000) -> list[Heard]:
    """Play the lines in a world of its own; what became of each."""
    pairs = yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))
    stand_in = StandIn({each["say"]: each["answer"] for each in pairs})
    server = stand_in.serve()
    with TemporaryDirectory(prefix="keepsake-spoken-") as folder:
        copy = make_copy(Path(folder))
        copy.here.config.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        host = f"http://127.0.0.1:{server.server_address[1]}"
        (copy.here.config / "llm.md").write_text(_CONFIG.format(host=host))
        try:
            started = copy.keepsake("start")
            assert started.returncode == 0, started.stderr
            player = Player.new(copy, "Anneke")
            player.see("Here:")
            time.sleep(10)
            found = play(player, pairs, stand_in, limit)
            player.leave()
        finally:
            end(copy)
            server.shutdown()
    return found


def measure() -> Iterator[Figure]:
    """Answers spoken unchanged, lines without a call, calls an answer, seconds to a sentence."""
    yield from figures_of(played())


def figures_of(found: list[Heard]) -> Iterator[Figure]:
    """The figures of what was heard."""
    n, seconds = len(found), sorted(each.seconds for each in found if each.seconds)
    unasked, calls = sum(not e.calls for e in found), sum(e.calls for e in found)
    yield Figure("good answers spoken unchanged", n, sum(e.unchanged for e in found), "", "98 %")
    yield Figure("lines for which no model was asked", n, unasked, "", "0")
    yield Figure("model calls an answer", n, calls / n, "", "1.0")
    if seconds:
        yield Figure("first sentence, median", n, statistics.median(seconds), "s", "1.5")
        yield Figure("first sentence, slowest", n, seconds[-1], "s", "")


def main() -> None:
    """Play, print each answer that was changed, and write the screen to a file if one is named."""
    found = played()
    for each in found:
        mark = "same" if each.unchanged else "DIFFERENT"
        print(f"{mark} ({each.calls} calls, {each.seconds:.2f} s) {each.line}")
        if not each.unchanged:
            print(f"    wanted: {each.wanted}\n    heard:  {each.heard}")
    if len(sys.argv) > 1:
        screens = (f"> talk mira {each.line}\n{each.screen.strip()}\n" for each in found)
        Path(sys.argv[1]).write_text("".join(screens))
    for figure in figures_of(found):
        print(figure.name, figure.n, figure.value, figure.unit)


if __name__ == "__main__":
    main()
