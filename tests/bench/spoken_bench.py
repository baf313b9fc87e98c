"""How many good answers of a capable model are spoken unchanged, and the cost of each.

A player types the lines of ``tests/data/good_answers.yaml`` over telnet. A fake model server gives
the answer that the file has for each line. Only provider, host and model are set.
"""

from __future__ import annotations

import re
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from keepsake.language.perception import inner_quotes
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player

ANSWERS = Path(__file__).parents[1] / "data" / "good_answers.yaml"
TOKENS_A_SECOND = 20.0
QUIET = 4.0
"""Seconds without a new line after which an answer is over."""
_SAID = re.compile(r'Mira says to you, "(.*?)"[ ]*(?=\n|$)', re.S)
"""Speech that telnet may have wrapped; its last quotation mark is at the end of a line."""
CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Heard:
    """The result of one line."""

    line: str
    wanted: str
    heard: str
    calls: int  # for Mira, without those of other agents in the room
    seconds: float  # to the first sentence; 0 if none came

    @property
    def unchanged(self) -> bool:
        """Whether the words are equal; blanks differ, because telnet wraps lines."""
        return "".join(self.wanted.split()) == "".join(self.heard.split())


def spoken_of(answer: str) -> str:
    """Return the words of an answer that must be spoken: its plain lines.

    A quotation within them has single marks, because the game shows speech between double ones.
    """
    lines = (line.strip() for line in answer.splitlines())
    return inner_quotes(" ".join(line for line in lines if line and line[0] not in ">*"))


def for_mira(body: dict[str, Any]) -> bool:
    """Whether a request is for a turn of Mira."""
    return "You are Mira" in str((body.get("messages") or [{"content": ""}])[0]["content"])


def play(player: Player, pairs: list[dict[str, str]], fake: FakeModelServer) -> list[Heard]:
    found = []
    for pair in pairs:
        before = len(fake.calls(CHAT))
        began = time.monotonic()
        player.look_up()
        player.line.text = ""
        player.line.send(f"talk mira {pair['say']}")
        first = 0.0
        last = began
        length = 0
        while time.monotonic() - last < QUIET and time.monotonic() - began < 40:
            text = player.look_up()
            if len(text) != length:
                length = len(text)
                last = time.monotonic()
            if "Mira says to you" in text and not first:
                first = time.monotonic() - began
            time.sleep(0.02)
        said = " ".join(_SAID.findall(re.sub(r"\r", "", player.look_up())))
        calls = sum(for_mira(each.body) for each in fake.calls(CHAT)[before:])
        found.append(Heard(pair["say"], spoken_of(pair["answer"]), said, calls, first))
    return found


def played() -> list[Heard]:
    """Play the lines in a new world; return the results."""
    pairs = yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))
    answers = {each["say"]: each["answer"] for each in pairs}

    def answer(prompt: str) -> str:
        last = prompt[prompt.rfind("\nuser: ") :]
        found = [(last.rfind(line), line) for line in answers if line in last]
        return answers[max(found)[1]] if found else "> wait"

    with FakeModelServer(script=answer) as fake, chat_world(fake) as copy:
        fake.always(CHAT, Reply(drip=1 / TOKENS_A_SECOND))
        player = Player.new(copy, "Anneke")
        player.see("Here:")
        time.sleep(10)
        found = play(player, pairs, fake)
        player.leave()
    return found


@contextmanager
def chat_world(fake: FakeModelServer, more: str = "") -> Iterator[Copy]:
    """Start a world whose agents ask that server; ``more``: settings of their profile."""
    with TemporaryDirectory(prefix="keepsake-chat-") as folder:
        copy = make_copy(Path(folder))
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        agent = f"provider=openai host={fake.address} model=fake {more}"
        page = llm_page(agent=agent, summarizer="provider=none")
        (copy.here.config / "llm.md").write_text(page)
        try:
            started = copy.keepsake("start")
            assert started.returncode == 0, started.stderr
            yield copy
        finally:
            end(copy)


def measure() -> Iterator[Figure]:
    """Measure unchanged answers, lines without a call, calls per answer, and seconds."""
    found = played()
    for each in found:
        if not each.unchanged:
            print(f"{each.line}\n wanted: {each.wanted}\n heard:  {each.heard}", file=sys.stderr)
    n = len(found)
    seconds = [each.seconds for each in found if each.seconds]
    calls = sum(each.calls for each in found)
    for name, value, unit, wanted in (
        ("good answers spoken unchanged", sum(each.unchanged for each in found), "", "98 %"),
        ("lines for which no model was asked", sum(not each.calls for each in found), "", "0"),
        ("model calls an answer", calls / n, "", "1.0"),
        ("first sentence, median", statistics.median(seconds), "s", "1.5"),
        ("first sentence, slowest", max(seconds), "s", ""),
    ):
        yield Figure(name, n, value, unit, wanted)
