"""Speaks and does the parts of an answer, one after the other, by the rules that bind a player."""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.services import Services
from keepsake.agent.surroundings import people_near, place_of
from keepsake.agent.thinking.actor import Act, Actor
from keepsake.agent.thinking.following import Following
from keepsake.agent.thinking.scene import SceneMaker, TurnContext
from keepsake.archive.records import MemoryKind
from keepsake.prompt.verbs import Command
from keepsake.tasks.answer import AnswerPart, PartKind
from keepsake.tasks.deed import read_deed

LOOKUPS = frozenset({"recall", "page", "look", "examine"})
"""Deeds whose result comes back in the same turn."""


@dataclass(frozen=True, slots=True)
class Performance:
    """What became of one part."""

    act: Act
    looked_up: bool = False  # whether it brought something that the agent wants to use


class Performer:
    """Carries out the answers of one agent; on the reactor thread."""

    def __init__(
        self,
        actor: Actor,
        following: Following,
        scenes: SceneMaker,
        memory: MemoryComponent,
        services: Services,
    ) -> None:
        self._actor, self._following, self._scenes = actor, following, scenes
        self._memory, self._services = memory, services

    async def perform(
        self, agent: Body, part: AnswerPart, turn: TurnContext, *, whispered: bool
    ) -> Performance:
        """Say it, play it or do it, and wait until that is done."""
        done = self._performed(agent, part, turn, whispered)
        if done.act.result is not None:
            await done.act.result
        return done

    def _performed(
        self, agent: Body, part: AnswerPart, turn: TurnContext, whispered: bool
    ) -> Performance:
        if part.kind is PartKind.SPEECH:
            return Performance(self._said(agent, part, turn, whispered))
        if part.kind is PartKind.DEED:
            return self._done(agent, part.text, turn)
        if whispered and len(people_near(agent)) > 1:
            return Performance(Act(None, "A gesture would show others what was whispered"))
        gesture = Command("emote", part.text, part.reason)
        return Performance(self._actor.do(agent, gesture, seen=turn.seen))

    def _said(self, agent: Body, part: AnswerPart, turn: TurnContext, whispered: bool) -> Act:
        leader = next((p for p in people_near(agent) if p.key == turn.partner), None)
        if leader is not None:
            self._following.spoke(leader, self._services.seconds())
        return self._actor.speak(
            agent,
            part.text,
            turn.partner,
            whispered=whispered,
            reason=part.reason,
            seen=turn.seen,
        )

    def _done(self, agent: Body, line: str, turn: TurnContext) -> Performance:
        verbs, options = self._scenes.verbs(turn), self._scenes.options(agent, turn)
        command = read_deed(line, verbs, options)
        if isinstance(command, str):
            self._memory.remember(command, MemoryKind.RESULT, place=place_of(agent))
            return Performance(Act(None, command))
        if command.verb in ("follow", "stay"):
            return Performance(self._follow(agent, command))
        act = self._actor.do(agent, command, seen=turn.seen)
        return Performance(act, command.verb in LOOKUPS)

    def _follow(self, agent: Body, command: Command) -> Act:
        """Go with somebody from now on, or with nobody: others see a gesture."""
        if command.verb == "stay":
            self._following.end()
            return self._actor.do(agent, Command("emote", "stays here.", command.reason))
        leader = next(p for p in people_near(agent) if p.key == command.argument)
        self._following.begin(leader, self._services.seconds())
        gesture = f"goes with {leader.key} from now on."
        return self._actor.do(agent, Command("emote", gesture, command.reason))
