"""Plays a scene, inside Evennia: simulated time, the game's own services, one agent that thinks."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

from game.lab.simulations.machinery import TimelineGateway, machinery, timeline_from
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.timeline import Timeline
from game.lab.talk.stage import Heard, Stage
from game.lab.talk.talk_set import (
    SAY,
    TALK,
    WHISPER,
    Arrive,
    Compact,
    GradedQuestion,
    Leave,
    SpeakerLine,
    Step,
    TalkScene,
    TalkSet,
    Together,
    Wait,
)
from keepsake.agent import services
from keepsake.errors import CompactionError
from keepsake.events.subscribers import Taps
from keepsake.events.types import Compaction, Event, Thought
from keepsake.memory import CompactReason
from keepsake.models.profiles import ModelProfile
from keepsake.models.queue import Done, Priority, Ticket
from keepsake.paths import places
from keepsake.ports import GenerationRequest
from typeclasses import runtime

type Tell = Callable[[dict[str, Any]], None]

LISTENS = 15.0
"""Simulated seconds in which an agent may answer."""
LISTENS_TOGETHER = 60.0
"""The same where several ask at once: one is answered after the other."""
OVERHEARD = 2.0
LEAVES_WINDOW = 30
"""Memories that a forced compaction is to find behind the immediate window."""
_MOST_FILLER = 1000


def play(talks: TalkSet, scene: TalkScene, plan: SimulationPlan, tell: Tell) -> None:
    """Play one scene in a world in which nothing has happened yet."""
    timeline, taps = timeline_from(plan.begins, "The talk"), Taps()
    happened = _Happened(scene.agent)
    taps.on_event(happened.keep)
    chance = f"{plan.seed} {scene.id}"
    works = replace(
        machinery(timeline, chance), gateway=lambda *what: SeededGateway(chance, timeline, *what)
    )
    shared = services.start_on(works, places(), taps)
    try:
        stage = Stage(scene.agent, talks.speakers, lambda: len(happened.thoughts))
        stage.pause_others()
        runtime.live(shared)
        _Play(timeline, stage, scene, happened, tell).run()
    finally:
        runtime.stop(reload=True)  # the embedded model goes on for the next scene
        timeline.close()


class _Happened:
    """What the event log is told of one agent, in the order in which it happens."""

    def __init__(self, agent: str) -> None:
        self.thoughts: list[Thought] = []
        self.compactions = 0
        self._agent = agent

    def keep(self, event: Event) -> None:
        """Take an event."""
        if isinstance(event, Thought) and event.agent == self._agent:
            self.thoughts.append(event)
        elif isinstance(event, Compaction) and event.agent == self._agent and event.number:
            self.compactions += 1


class SeededGateway(TimelineGateway):
    """Gives each call that has no seed one that follows from the talk's own."""

    def __init__(self, chance: str, timeline: Timeline, *what: Any) -> None:
        super().__init__(timeline, *what)
        self._chance, self._calls = chance, 0

    def submit(
        self,
        profile_name: str,
        priority: Priority,
        key: str | None,
        build: Callable[[ModelProfile], GenerationRequest | None],
        done: Done,
    ) -> Ticket:
        """As :meth:`Gateway.submit`."""

        def seeded(profile: ModelProfile) -> GenerationRequest | None:
            request = build(profile)
            if request is None or request.seed is not None:
                return request
            self._calls += 1
            digest = hashlib.sha256(f"{self._chance} {self._calls}".encode()).digest()
            return replace(request, seed=int.from_bytes(digest[:4]) >> 1)

        return super().submit(profile_name, priority, key, seeded, done)


class _Play:
    """One scene while it is played."""

    def __init__(
        self, timeline: Timeline, stage: Stage, scene: TalkScene, happened: _Happened, tell: Tell
    ) -> None:
        self._timeline, self._stage, self._scene = timeline, stage, scene
        self._happened, self._tell = happened, tell
        self._shown = 0

    def run(self) -> None:
        """Play every step."""
        self._pass(1.0)
        for step in self._scene.steps:
            self._step(step)
            self._show_heard()

    def _step(self, step: Step) -> None:
        match step:
            case SpeakerLine():
                self._come(step.speaker)
                self._say(step.speaker, step.words, step.how)
                self._pass(LISTENS)
            case GradedQuestion():
                self._ask((step,), LISTENS)
            case Together():
                self._ask(step.questions, LISTENS_TOGETHER)
            case Compact():
                self._compact(step)
            case Wait():
                self._pass(step.seconds)
            case Arrive():
                self._come(step.speaker)
            case Leave():
                self._stage.go(step.speaker)
                self._pass(LISTENS)

    def _pass(self, seconds: float) -> None:
        self._timeline.run_until(self._timeline.timer.seconds() + seconds)

    def _come(self, name: str) -> None:
        if name not in self._stage.present:
            self._stage.come(name)
            self._pass(LISTENS)
            self._show_heard()

    def _say(self, name: str, words: str, how: str) -> None:
        to = "" if how == SAY else self._scene.agent
        self._tell(_line(name, to, words, whisper=how == WHISPER))
        self._stage.speak(name, words, how)

    # -- questions

    def _ask(self, questions: Sequence[GradedQuestion], seconds: float) -> None:
        for question in questions:
            self._come(question.speaker)
        heard, first, began = len(self._stage.heard), len(self._happened.thoughts), time.monotonic()
        for question in questions:
            self._say(question.speaker, question.words, question.how)
        self._pass(seconds)
        self._show_heard()
        said, alone = self._stage.heard[heard:], len(questions) == 1
        for question in questions:
            found = (each for each in said if _answers(each, question.speaker, alone))
            self._report(question, said, next(found, None), first, began)

    def _report(
        self,
        question: GradedQuestion,
        said: Sequence[Heard],
        answer: Heard | None,
        first: int,
        began: float,
    ) -> None:
        """Tell of an answer; the thoughts from ``first`` up to the one that gave it are its own."""
        ended = answer.at if answer else time.monotonic()
        thoughts = self._happened.thoughts[first : answer.thoughts + 1 if answer else None]
        last = thoughts[-1] if thoughts else None
        self._tell(
            {
                "op": "answer",
                "question": question.id,
                "answer": answer.words if answer else None,
                "said": [each.words for each in said],
                "earlier": [each.words for each in self._stage.heard if each.at < ended],
                "seconds": sum(each.latency for each in thoughts),
                "wall": ended - began,
                "thoughts": len(thoughts),
                "prompt_tokens": last.prompt_tokens if last else 0,
                "completion_tokens": sum(each.completion_tokens for each in thoughts),
                "outcomes": [each.outcome for each in thoughts],
                "problem": next((t.problem for t in reversed(thoughts) if t.problem), ""),
                "prompt": last.prompt if last else "",
                "raw": [each.answer for each in thoughts],
            }
        )

    # -- compactions

    def _compact(self, step: Compact) -> None:
        """Talk until enough lies before the window, then compact; so many times.

        A compaction that the game makes by itself meanwhile counts.
        """
        lines = cycle(step.filler)
        for number in range(1, step.times + 1):
            before = self._happened.compactions
            for _ in range(step.talked):
                self._say(self._two()[0], next(lines), TALK)
                self._pass(LISTENS)
                self._show_heard()
            said = self._overhear(lines, before)
            by_itself = self._happened.compactions > before
            outcome = "made by itself" if by_itself else self._compacted()
            note = f"{said} lines overheard; compaction {number}: {outcome}"
            self._tell({"op": "note", "text": note})

    def _overhear(self, lines: Iterator[str], compactions: int) -> int:
        """Let the speakers talk among themselves; the agent hears them and does not think."""
        names, agent = self._two(), self._stage.agent
        for name in names:
            self._come(name)
        agent.db.paused = True
        wanted = services.services().compaction.current.immediate_window + LEAVES_WINDOW
        said = 0
        memory = agent.mind.memory
        while len(memory.context().window) < wanted and self._happened.compactions == compactions:
            if said == _MOST_FILLER:
                break
            self._stage.overhear(names[said % 2], next(lines), names[(said + 1) % 2])
            self._pass(OVERHEARD)
            said += 1
        agent.db.paused = False
        return said

    def _compacted(self) -> str:
        """What ``@compact-memories`` does; says what came of it."""
        outcomes: list[Any] = []
        self._stage.agent.mind.memory.compact(CompactReason.MANUAL, outcomes.append)
        self._pass(LISTENS)
        if not outcomes:
            return "not over"
        outcome = outcomes[0]
        if isinstance(outcome, CompactionError):
            return f"failed: {outcome}"
        return f"{outcome.outcome}, {outcome.kept} memories stay"

    def _two(self) -> tuple[str, str]:
        """Two who talk with each other, and the first of them with the agent."""
        present = [*self._stage.present, *self._scene.speakers, *self._stage.names]
        first, second, *_ = dict.fromkeys(present)
        return first, second

    # -- what is said

    def _show_heard(self) -> None:
        """Tell what the agent said since it was last told."""
        for each in self._stage.heard[self._shown :]:
            whisper = each.how == WHISPER
            self._tell(_line(self._scene.agent, each.to, each.words, whisper=whisper))
        self._shown = len(self._stage.heard)


def _answers(heard: Heard, asker: str, alone: bool) -> bool:
    """Whether it answers that asker: said to them, or to nobody else when only they asked."""
    if heard.to:
        return heard.to == asker
    return alone or asker.casefold() in heard.words.casefold()


def _line(who: str, to: str, words: str, *, whisper: bool = False) -> dict[str, Any]:
    return {"op": "line", "who": who, "to": to, "words": words, "whisper": whisper}
