"""A week of one agent: three players come and go, lives change, one of them is hostile.

Everything runs as in the game: players with sessions of their own, the agent with all its
components, its nights in worker threads, the gateway and a model server over the wire. What
happens is written down in :mod:`tests.game.week_script`; only time and the players are moved
by hand.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta

from evennia.utils import create

from keepsake.agent import services
from keepsake.agent.surroundings import identity_of
from keepsake.books.profiles.book import PeopleBook
from keepsake.books.profiles.profile import Profile
from keepsake.compaction.config import CompactionConfig
from keepsake.index.service import IndexService
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.ports import FixedClock
from keepsake.recall.config import NONE, RecallConfig
from tests.game.agents_world import AgentsWorld, FixedConfig
from tests.game.week_script import PERSONA, PIN, WEEK, Turn
from typeclasses.characters import Character
from typeclasses.minds import close_all
from typeclasses.rooms import Room

STEP = timedelta(minutes=10)
"""How far time moves at once while nobody is there."""
_TOGETHER = timedelta(hours=1)
"""Players stay while their next turn is no further away."""
_NIGHT_SECONDS = 600.0


class WeekWorld(AgentsWorld):
    """Mira in her inn for a week; ``live`` plays the script."""

    SMALL = CompactionConfig(immediate_window=12, recent_window=12, min_saving_tokens=0)

    def setUp(self) -> None:
        monday = datetime(2026, 5, 4, 8)
        self.monday = monday.astimezone()  # the machine's zone: nights and journals are local
        self.time = FixedClock(self.monday.astimezone(UTC))
        super().setUp()
        self.mira.db.profile = PERSONA
        self.set_thinking(
            gather=0.0, cooldown=0.0, jitter=0.0, idle_interval=1e9, retries=0, insist=False
        )
        self.mind.keeper.pinned.add(PIN)
        self.numbers = itertools.count(1)
        self.answer = "wait"
        self.fake.script = self.answers
        self.cast = self._cast()
        self.thing("cup").move_to(self.cast["Tom"], quiet=True)
        self.before_return = 0
        self.waits_for_nights = True
        self.in_sleep: Callable[[str], str] = nobody

    # -- the world

    def start_services(self) -> services.Services:
        """The game's services, with an index of words, the week's clock and its windows."""
        new = super().start_services()
        config = RecallConfig(chroma=NONE)
        new.clock, new.recall = self.time, services.Fixed(config)
        new.compaction = FixedConfig(self.SMALL)  # type: ignore[assignment]
        new.indexes = IndexService(new.places, config, MiniLMEmbedder(), lambda _: None)
        new.indexes.start()
        return new

    def _cast(self) -> dict[str, Character]:
        """Tom and Piet of one account; Hanna and Rook of their own."""
        self.char1.permissions.remove("Developer")
        self.account.permissions.remove("Developer")
        self.char1.locks.add(f"puppet:pid({self.account.id})")
        people = {"Tom": self.char1, "Piet": self.character("Piet", self.account)}
        for number, name in enumerate(("Hanna", "Rook"), start=2):
            people[name] = self.guest(number, name)
        self.away = create.create_object(Room, key="The Road")
        for person in (*people.values(), self.char2):
            person.move_to(self.away, quiet=True)
        return people

    def answers(self, prompt: str) -> str:
        """What the model says: a thought's answer, or what it is asked in sleep."""
        if _is_thought(prompt):
            answer, self.answer = self.answer, "wait"
            return f" {answer}"
        return self.in_sleep(prompt)

    def started(self) -> None:
        """The services were started; what else there is to wait for."""

    def use_model_asleep(self, script: Callable[[str], str]) -> None:
        """From now on there is a model for summaries and nights, over OpenAI's protocol."""
        path = self.services.places.config / "llm.md"
        model = f"**provider**: openai\n**host**: {self.fake.address}\n**model**: fake\n"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("**provider**: extractive\n", model), encoding="utf-8")
        self.in_sleep = script

    # -- living

    def live(self, turns: tuple[Turn, ...] = WEEK) -> None:
        """Play the script, with the nights between its days."""
        for number, turn in enumerate(turns, start=1):
            self.go_on_until(self.at(turn))
            self.play(turn)
            soon = [t for t in turns[number:] if self.at(t) - self.time.time <= _TOGETHER]
            self._leave(but={t.who for t in soon})

    def profiles(self) -> dict[str, Profile | None]:
        """Whom Mira knows, by the name of the script, as her files say it."""
        self.mind.acquaintances.settle()
        book = PeopleBook(self.mind.memory.folder)
        return {name: book.profile(identity_of(who)) for name, who in self.cast.items()}

    def prompts_of_return(self) -> list[str]:
        """The prompts of the thoughts on the last morning."""
        return [p for p in self.all_prompts()[self.before_return :] if _is_thought(p)]

    def all_prompts(self) -> list[str]:
        """What the model was asked, oldest first."""
        return self.fake.prompts()

    def at(self, turn: Turn) -> datetime:
        """When it happens."""
        return self.monday + timedelta(days=turn.day - 1, hours=turn.hour - self.monday.hour)

    def go_on_until(self, then: datetime) -> None:
        """Let time pass; nights get the real time that they need."""
        while self.time.time < then:
            step = min(STEP, then - self.time.time)
            self.time.time += step
            self.clock.advance(step.total_seconds())
            self.quiet()

    def quiet(self) -> None:
        """Run what threads handed back, until no thought and no work of a night goes on."""
        while True:
            while not self.posted.empty():
                self.posted.get()()
            if not self._busy():
                return
            try:
                self.posted.get(timeout=0.01)()
            except queue.Empty:
                continue

    def _busy(self) -> bool:
        night = self.waits_for_nights and self.mind.sleeper.working
        return self.thinking() or self.mind.memory.compacting or night

    def play(self, turn: Turn) -> None:
        """Let it happen."""
        if turn.who == "world":
            getattr(self, f"_{turn.command}")()
            return
        person = self.cast[turn.who]
        if turn.command == "arrive":
            self.answer, self.before_return = turn.answer, len(self.all_prompts())
        self._arrives(person)
        if turn.command != "arrive":
            # A new answer each time: an agent that repeats itself is asked again.
            self.answer = turn.answer or f"say That is the news, number {next(self.numbers)}."
            person.execute_cmd(turn.command)
        self._think()

    def _think(self) -> None:
        """Give the agent the few seconds that a thought falls due in."""
        for _ in range(4):
            self.time.time += timedelta(seconds=1)
            self.clock.advance(1)
            self.quiet()

    def _arrives(self, person: Character) -> None:
        here = self.mira.location  # a model may have walked her out of the inn
        if person.location is not here:
            if not person.has_account:
                self._switch(person)
            person.move_to(here)
            self._think()

    def _switch(self, person: Character) -> None:
        """The account goes on with its other character."""
        self._leave()
        self.account.unpuppet_object(self.session)
        self.account.puppet_object(self.session, person)

    def _leave(self, but: Collection[str] = ()) -> None:
        for name, person in self.cast.items():
            if name not in but and person.location not in (None, self.away):
                person.move_to(self.away)

    def _rename(self) -> None:
        hanna = self.cast["Hanna"]
        hanna.key = "Johanna"

    def _restart(self) -> None:
        """The server ends and comes back, over the same vault and database."""
        close_all()
        services.stop(reload=True)
        self.services = self.start_services()
        self.set_thinking(
            gather=0.0, cooldown=0.0, jitter=0.0, idle_interval=1e9, retries=0, insist=False
        )
        self.started()
        self.mind.thinker.start()
        self.quiet()


def nobody(prompt: str) -> str:
    """What works in sleep where there is no model: it is never asked."""
    raise AssertionError(f"nobody should be asked: {prompt}")


def _is_thought(prompt: str) -> bool:
    """Whether the model is to go on as Mira, and not asked in sleep or for a summary."""
    return prompt.splitlines()[-1].startswith("~Mira>")
