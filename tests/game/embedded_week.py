"""The same week, with the embedded model awake and asleep."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from game.cli.world.ports import free_base
from keepsake.agent import services
from keepsake.books.journal.book import Journal
from keepsake.errors import ModelError
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import Generation, GenerationRequest
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.log import SleepLog
from keepsake.sleep.steps import Night
from tests.game import week_checks as checks
from tests.game.week import WeekWorld
from tests.game.week_script import SHARED, WANTED, Turn

PORT_BASE = 29_700
SLEEPERS_PROFILE = "sleeper"
SLEEPER = """
## {name}

**provider**: embedded

**max_tokens**: 120

**repeat_penalty**: 1.15
"""
"""Beside the shipped profiles: summaries are written without a model, as shipped."""
THINKS_EVERY = 4
"""Of so many turns Mira answers one; to the others she only listens, which costs no minutes."""
_NIGHTS = 7
_OF_THE_MODEL = ("rescored", "facts", "insights")
"""Figures of the steps that say what of the model's answers was believed."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a week has left behind.

    Attributes:
        memories: How many there are.
        nights: The nights.
        facts: Faults of the profiles; likewise ``journal`` and ``persona``.
        shared: Whether the last prompt told of Tom what he last shared.
        seconds: Wall time of all.
        unanswered: Calls that the model did not answer.
    """

    memories: int
    nights: tuple[Night, ...]
    facts: list[str]
    journal: list[str]
    persona: list[str]
    shared: bool
    seconds: float
    unanswered: int

    def rows(self) -> Iterator[tuple[str, float, str, str]]:
        """Name, value, unit, and what it is to be held against."""
        wanted = sum(len(each.present) + len(each.past) for each in WANTED.values()) + 1
        steps = [step for night in self.nights for step in night.steps]
        calls = [sum(step.calls for step in night.steps) for night in self.nights]
        wrong = checks.nights_wrong(self.nights, _NIGHTS)
        yield "facts wrong", len(self.facts), f"of {wanted}", _first(self.facts)
        yield "what the journal lacks", len(self.journal), "", _first(self.journal)
        yield "what Rook has achieved", len(self.persona), "", _first(self.persona)
        yield "nights slept", len(self.nights), f"of {_NIGHTS}", _first(wrong)
        yield "steps done", len(steps), "", f"{sum(bool(s.problem) for s in steps)} with a problem"
        yield "model calls a night", max(calls, default=0), "at most", f"{sum(calls)} in all"
        held = [int(step.figures.get(name, 0)) for step in steps for name in _OF_THE_MODEL]
        dreams = sum(step.figures.get("written by") == "a model" for step in steps)
        yield "what the model said asleep and held", sum(held) + dreams, "", f"{dreams} dreams"
        yield "last shared is shown", int(self.shared), "", "wanted 1"
        yield "a week lasts", self.seconds, "s", f"{self.unanswered} calls unanswered"


class EmbeddedWeek(WeekWorld):
    """Mira's week; llama.cpp answers, in her sleep too."""

    CALLS = SleepConfig().calls

    def make_gateway(self, places: Places) -> Gateway:
        """The way to the embedded model, started as the game starts it."""
        self.prompts: list[str] = getattr(self, "prompts", [])
        self.unanswered = getattr(self, "unanswered", 0)
        shipped = (REPOSITORY / "vault" / "config" / "llm.md").read_text(encoding="utf-8")
        asleep = SLEEPER.format(name=SLEEPERS_PROFILE)
        (places.config / "llm.md").write_text(shipped + asleep, encoding="utf-8")
        # The same after a restart: the server that is there goes on serving.
        self.ports: Ports = getattr(self, "ports", None) or Ports(free_base(PORT_BASE))
        here = replace(places, ports=self.ports)
        profiles = Profiles(places.config / "llm.md")
        return Gateway(profiles, here, self.posted.put, {}, sink=self._called)

    def stop_services(self) -> None:
        """End the model server too."""
        self.services.gateway.embedded.stop()
        super().stop_services()

    def start_services(self) -> services.Services:
        """The services, with a model for the nights too."""
        new = super().start_services()
        new.sleeping = services.Fixed(
            replace(new.sleeping.current, profile=SLEEPERS_PROFILE, calls=self.CALLS)
        )
        return new

    def play(self, turn: Turn) -> None:
        """Let it happen; mostly she only listens."""
        self.turns = getattr(self, "turns", -1) + 1
        self.mira.db.paused = self.turns % THINKS_EVERY != 0 and turn.command != "arrive"
        super().play(turn)
        self.mira.attributes.remove("paused")

    def started(self) -> None:
        """Wait for the model server."""
        self.services.gateway.start()
        self.settle(self.services.gateway.embedded.ready, 120)

    def all_prompts(self) -> list[str]:
        """What the model was asked."""
        return self.prompts

    def week(self) -> Left:
        """Live through it; what is left."""
        began = time.perf_counter()
        self.started()
        self.live()
        folder, prompt = self.mind.memory.folder, self.prompts_of_return()[-1]
        journal = Journal(folder / "journal")
        last = self.mind.memory.memory.archive.last_number
        pins = self.mind.keeper.pinned.lines
        about_tom = [line for line in checks.section(prompt, "## People Here") if "Tom" in line]
        return Left(
            memories=last,
            nights=SleepLog(folder).nights(),
            facts=checks.facts_wrong(self.profiles()),
            journal=checks.journal_wrong(journal.entries(), journal.problems, last),
            persona=checks.persona_wrong(self.mira.db.profile, pins, prompt),
            shared=SHARED in " ".join(about_tom),
            seconds=time.perf_counter() - began,
            unanswered=self.unanswered,
        )

    def _called(
        self, request: GenerationRequest, outcome: Generation | ModelError, _: float
    ) -> None:
        """A call was made; in a worker thread."""
        self.prompts.append(request.prompt)
        self.unanswered += isinstance(outcome, ModelError)


def _first(faults: list[str]) -> str:
    return "; ".join(faults[:3]) or "wanted 0"
