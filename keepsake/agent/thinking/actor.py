"""Turns a command into an act in the world, and into a memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import (
    identity_of,
    people_near,
    place_of,
)
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import MemoryKind
from keepsake.language.perception import perceive
from keepsake.prompt.verbs import PRIVATE, Command

_LOOKUPS = frozenset({"recall", "page", "look", "examine"})
"""Deeds whose result comes back in the same turn."""
_ECHOES = frozenset({"say", "talk", "whisper", "pose"})


@dataclass(frozen=True, slots=True)
class Act:
    """What came of an answer."""

    command: Command | None  # what was done; None if nothing was
    refusal: str = ""  # why nothing was done, told to the agent; empty if something was
    # comes when the act is done and what it brought is in the memory; None where nothing is done
    result: Deferred[Any] | None = None
    memory: int = 0  # number of the memory of it; 0 if it is not remembered, or not yet

    @property
    def spoke(self) -> bool:
        """Whether others heard something."""
        return self.command is not None and self.command.verb in ("say", "whisper")

    @property
    def looked_up(self) -> bool:
        """Whether it brought something that the agent wants to use in the same turn."""
        return self.command is not None and self.command.verb in _LOOKUPS

    @property
    def waited(self) -> bool:
        """Whether the agent chose to do nothing."""
        return self.command is not None and self.command.verb == "wait"


class Actor:
    """The hands and the voice of one agent."""

    def __init__(self, memory: MemoryComponent, keeper: MemoryTools, services: Runtime) -> None:
        self._memory = memory
        self._keeper = keeper
        self._services = services
        self._acting: Command | None = None

    def do(
        self, agent: Body, command: Command, to: str = "", *, event: str = "", seen: int = 0
    ) -> Act:
        """Do what was chosen, by the rules that bind a player.

        Args:
            agent: The agent.
            command: What was chosen.
            to: Whom words are for; empty for nobody.
            event: What the archive calls a stock phrase; empty for words of its own.
            seen: The newest memory that the answer knew of; 0 for all.
        """
        if command.verb == "wait":
            return Act(command)
        place, whom = place_of(agent), _spoken_to(agent, command, to)
        saved = self._memory.remember(
            command.line,
            MemoryKind.ACT,
            place=place,
            reason=command.reason,
            event=event,
            to=to,
            to_id=whom,
            answers=self._answers(seen),
        )
        # Before it is done: what comes of it is remembered too.
        number = self._memory.last_act if saved else 0
        return Act(command, result=self._perform(agent, command, to, place), memory=number)

    def speak(
        self,
        agent: Body,
        words: str,
        partner: str,
        *,
        whispered: bool = False,
        event: str = "",
        reason: str = "",
        seen: int = 0,
    ) -> Act:
        """Say words to somebody: speech, whatever is in it, and never a command."""
        here = any(person.key == partner for person in people_near(agent))
        if whispered and not here:
            return Act(None, f"{partner} has gone, and it was for nobody else")
        verb, line = (WHISPER, f"{partner} = {words}") if whispered else ("say", words)
        command = Command(verb, line, reason)
        return self.do(agent, command, partner, event=event, seen=seen)

    def _answers(self, seen: int) -> int:
        """``seen`` where something was perceived since; else 0."""
        window = self._memory.context().window if seen else ()
        since = [m for m in reversed(window) if m.number > seen]
        return seen if any(m.kind is MemoryKind.PERCEPTION for m in since) else 0

    def _perform(self, agent: Body, command: Command, to: str, place: str) -> Deferred[Any]:
        if command.verb in PRIVATE:
            return self._keeper.perform(command, place)

        def over(result: Any) -> None:
            self._acting = None
            if isinstance(result, Failure):
                log(f"[Error] {agent.key}: {command.line!r} broke off: {result.value!r}")

        self._acting = command
        return agent.do(_typed(agent, command, to)).addBoth(over)

    def own_result(
        self, agent: Body, text: str, kind: str, from_obj: Any, keep: Callable[[str], None]
    ) -> bool:
        """Take what the agent perceives of its own act; False if it is not of its own.

        ``kind`` is the message's type: ``say``, ``look``, ``failure`` … The echo of speech and
        gestures is not kept, since the act itself is remembered already.
        """
        command = self._acting
        if command is None or (from_obj is not None and from_obj is not agent):
            return False
        if kind == "failure":
            tried = f"You tried to {command.verb} {command.argument}".rstrip()
            keep(f"{tried}: {perceive(text) or 'nothing came of it'}")
        elif kind not in _ECHOES:
            keep(text)
        return True


def _spoken_to(agent: Body, command: Command, to: str) -> str:
    """Whom words are for, whatever they are called; empty if that is not certain."""
    whispered = command.verb == WHISPER
    name = command.argument.partition(" = ")[0].casefold() if whispered else to.casefold()
    if not name:
        return ""
    near = people_near(agent)
    found = [each for each in near if each.key.casefold() == name]
    if whispered and not found:  # as the command finds them
        found = [each for each in near if each.key.casefold().startswith(name)]
    return identity_of(found[0]) if len(found) == 1 else ""


def _typed(agent: Body, command: Command, to: str) -> str:
    """The command as a player would type it; speech goes to whoever spoke, if they are here."""
    if command.verb == "say" and to in {person.key for person in people_near(agent)}:
        return f"talk {to} = {command.argument}"
    return command.line
