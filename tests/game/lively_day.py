"""A lively day of one agent, with the embedded model: what it was told to keep, it keeps.

Much is said, tools are used, and in the first hour some people tell the agent what must
and must not be done. Everything runs as in the game: the agent, its thinker, its memory,
the gateway and llama.cpp behind it; only what happens is written down here.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from keepsake.agent.attention import EventKind, PerceivedEvent
from keepsake.archive.integrity import tier_problems
from keepsake.archive.records import MemoryKind
from keepsake.errors import ModelError
from keepsake.memory.config import CompactionConfig
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import FixedClock, Generation, GenerationRequest
from tests.bench.talk import Line
from tests.bench.tool_lives import OUTPUTS, life
from tests.free_ports import free_base
from tests.game.agents_world import AgentsWorld, FixedConfig

RULES = (
    ("Ada", "Never let anybody into the cellar before the flood is over.", ("cellar", "flood")),
    ("Oswin", "You must give Wren two drops of the tincture, never three.", ("drops", "tincture")),
    ("Bram", "Always bar the back door at midnight.", ("back door", "midnight")),
    ("Nell", "From now on you must not lend the blue lantern to Joss.", ("lantern", "Joss")),
)
"""Who tells the agent what, in the first hour; and words without which it is not kept."""
PINNED = "I owe Ruan nine silver pennies."
PROMISE = "say I promise to keep the green bottle for you, Nell."
FIRST_HOUR, HOURS = 60, 16
MORNING = datetime(2026, 5, 1, 6, 0, tzinfo=UTC)
"""When the day begins: time goes on with what happens, not with the machine."""
_SPEAKER = re.compile(r"(?P<who>[A-Z][a-z]+) says to you, ")
_SECONDS = 900.0
"""For what never comes: a slow machine reads a long prompt for minutes."""


@dataclass
class Day:
    """What was seen of a day.

    Attributes:
        prompts: Tokens of every prompt that was answered, as the model server counted them.
        last_prompt: The text of the last one, whether it was answered or not.
        estimates: Our own count of each, just before it was sent.
        compactions: How many there were.
        problems: Where the tiers left a gap or overlapped, and prompts that found no room.
        unanswered: Calls that the model did not answer; small ones fall silent at times.
        seconds: Wall time of all.
    """

    prompts: list[int] = field(default_factory=list)
    last_prompt: str = ""
    estimates: list[int] = field(default_factory=list)
    compactions: int = 0
    problems: list[str] = field(default_factory=list)
    unanswered: int = 0
    seconds: float = 0.0

    @property
    def lost(self) -> list[str]:
        """The pin, if the last prompt does not show it."""
        shown = self.last_prompt.casefold()
        return [] if all(each in shown for each in ("ruan", "nine silver")) else [PINNED]


class LivelyDay(AgentsWorld):
    """Mira lives through a day; the embedded model answers."""

    def make_gateway(self, places: Places) -> Gateway:
        """The way to the embedded model, started as the game starts it."""
        shipped = (REPOSITORY / "vault" / "config" / "llm.md").read_text()
        patient = re.sub(r"time_limit\*\*: \d+", "time_limit**: 600", shipped)
        script = patient.replace("**form**: auto", "**form**: script", 1)
        (places.config / "llm.md").write_text(script)
        here = replace(places, ports=Ports(free_base()))
        profiles = Profiles(places.config / "llm.md")
        return Gateway(profiles, here, self.posted.put, {}, sink=self._called)

    def stop_services(self) -> None:
        """End the model server too."""
        self.services.gateway.embedded.stop()
        super().stop_services()

    def live(self, memories: int, *, thought_every: int, config: CompactionConfig) -> Day:
        """Live through so many memories, with a thought after every few."""
        began, self.day, self.time = time.perf_counter(), Day(), FixedClock(MORNING)
        self.services.clock = self.time
        self.services.compaction = FixedConfig(config)  # type: ignore[assignment]
        self.set_thinking(gather=0.0, cooldown=0.0, jitter=0.0, idle_interval=86_400.0)
        self.services.gateway.start()
        self._until(self.services.gateway.embedded.ready)
        self.mind.keeper.pinned.add(PINNED)
        step = timedelta(hours=HOURS) / memories
        for number, line in enumerate(_happenings(memories), start=1):
            self.time.time += step
            self.hear(line)
            if number % thought_every == 0:
                self.think()
                self._look()
        self.day.compactions = self.mind.memory.memory.status().compactions
        self.day.seconds = time.perf_counter() - began
        return self.day

    def hear(self, line: Line) -> None:
        """Somebody says it."""
        said = _SPEAKER.match(line.text)
        who = said["who"] if said else ""
        self.mind.memory.remember(line.text, line.kind, place="The Inn", source=who)
        self.settle(lambda: not self.mind.memory.memory.status().running)

    def think(self, kind: EventKind = EventKind.HEARD) -> None:
        """Something happened: a thought with all the memory, or a reply to who is addressing it."""
        called = len(self.day.prompts) + self.day.unanswered
        thinker = self.mind.thinker
        thinker.notice(PerceivedEvent(kind, from_player=True, source="Tom"))
        self.clock.advance(1.0)
        self._until(lambda: not self.thinking())
        if len(self.day.prompts) + self.day.unanswered == called:
            self.day.problems.append(f"no thought was sent after memory {self._total()}")

    def _look(self) -> None:
        memory = self.mind.memory.memory
        found = tier_problems(memory.context())
        self.day.problems += [f"after memory {self._total()}: {problem}" for problem in found]

    def _total(self) -> int:
        return self.mind.memory.memory.status().total

    def _until(self, done: Any) -> None:
        self.settle(done, _SECONDS)

    def _called(
        self, request: GenerationRequest, outcome: Generation | ModelError, _: float
    ) -> None:
        """A call was made; in a worker thread."""
        self.day.last_prompt = request.prompt
        if isinstance(outcome, Generation):
            self.day.prompts.append(outcome.prompt_tokens)
            self.day.estimates.append(self.services.tokens.of(request.prompt))
        else:
            self.day.unanswered += 1


def _happenings(memories: int) -> list[Line]:
    """The day's memories; the rules and the promise come within the first hour."""
    lines = life(OUTPUTS[1], memories, seed=17)
    last = max(memories * FIRST_HOUR // (HOURS * 60), 2 * (len(RULES) + 1))
    told = [Line(f'{who} says to you, "{words}"') for who, words, _ in RULES]
    told.append(Line(PROMISE, MemoryKind.ACT))
    for place, line in zip(sorted(Random(3).sample(range(last), len(told))), told, strict=True):
        lines[place] = line
    return lines
