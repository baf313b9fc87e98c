"""Executes an agent's command in the world, and records it as a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.agent_log import log
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings import Body, identity_of, people_near, place_of
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import MemoryKind
from keepsake.prompt.verbs import PRIVATE, Command

SPEECH = frozenset({"say", "whisper"})
LOOKUPS = frozenset({"recall", "look", "examine"})
"""Verbs that others hear; verbs whose result returns to the model in the same turn."""


@dataclass(frozen=True, slots=True)
class Act:
    """The result of one part of an answer."""

    command: Command | None  # what was done; None if nothing was
    refusal: str = ""  # why nothing was done, told to the agent; empty if something was
    # fires when the act is done and its result is in the memory; None if nothing is done
    result: Deferred[Any] | None = None
    memory: int = 0  # number of its memory; 0 if it is not archived, or not yet


class Actor:
    """Executes the commands of one agent.

    Attributes:
        leader: The database number of the character that it follows; None if it follows nobody.
        acting: The command that the game is executing now; None if there is none.
    """

    def __init__(self, memory: MemoryComponent, tools: MemoryTools) -> None:
        self.leader: int | None = None
        self._memory = memory
        self._tools = tools
        self.acting: Command | None = None

    def do(
        self,
        agent: Body,
        command: Command,
        to: str = "",
        *,
        event: str = "",
        seen: int = 0,
        confided: bool = False,
    ) -> Act:
        """Execute a command, under the same rules as a player's.

        Args:
            to: The addressee, by name; empty if there is none.
            event: The ``event`` of a stock phrase; empty for the agent's own words.
            seen: The newest memory in the prompt; 0 for all.
            confided: Whether it may hold whispered words. Then search words are not archived.
        """
        if command.verb == "wait":
            return Act(command)
        if command.verb in ("follow", "stay"):
            command = self._follow(agent, command)
        place = place_of(agent)
        window = self._memory.memory.context().window if seen else ()
        # The addressee, found by name. Empty if the name is ambiguous.
        name = command.argument.partition(" = ")[0] if command.verb == WHISPER else to
        met = [each for each in people_near(agent) if each.key == name]
        # The answer does not cover perceptions that came after its prompt was built.
        late = any(m.number > seen and m.kind is MemoryKind.PERCEPTION for m in window)
        hidden = confided and command.verb != WHISPER
        redact = command.argument if hidden and command.verb == "recall" else ""
        # Archive the act before its execution, because its results are archived too.
        number = self._memory.remember(
            f"{command.verb} …" if redact else command.line,
            MemoryKind.ACT,
            place=place,
            reason="" if hidden else command.reason,
            event=event,
            to=to,
            to_id=identity_of(met[0]) if len(met) == 1 else "",
            answers=seen if late else 0,
        )
        if command.verb in PRIVATE:
            result = self._tools.perform(command, place, redact, seen)
            return Act(command, result=result, memory=number)

        def log_failure(result: Any) -> None:
            self.acting = None
            if isinstance(result, Failure):
                log(f"[Error] {agent.key}: {command.line!r} failed: {result.value!r}")

        line = command.line
        if command.verb == "say" and met:
            line = f"talk {to} = {command.argument}"
        self.acting = command
        return Act(command, result=agent.execute_cmd(line).addBoth(log_failure), memory=number)

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
        """Say words to somebody. The words are always speech, never parsed as a command."""
        if whispered and all(each.key != partner for each in people_near(agent)):
            return Act(None, f"{partner} has gone, and nobody else may hear it")
        verb, line = (WHISPER, f"{partner} = {words}") if whispered else ("say", words)
        return self.do(agent, Command(verb, line, reason), partner, event=event, seen=seen)

    def _follow(self, agent: Body, command: Command) -> Command:
        """Start to follow somebody, or stop (``stay``); others see an emote."""
        self.leader = None
        if command.verb == "stay":
            return Command("emote", "stays here.", command.reason)
        leader = next(each for each in people_near(agent) if each.key == command.argument)
        self.leader = int(leader.id)
        return Command("emote", f"goes with {leader.key} from now on.", command.reason)
