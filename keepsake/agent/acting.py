"""Executes an agent's command in the world, and records it as a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.surroundings import Body, identity_of, people_near, place_of
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import MemoryKind
from keepsake.happening import ME, Deed, Manner, Person, Pose, Speech, What
from keepsake.logs import Subsystem, get_logger
from keepsake.prompt.verbs import PRIVATE, Command
from keepsake.tasks.deed import spoken_to

log = get_logger(Subsystem.ACTING)

TALK = "talk"
"""The verb of words to somebody else than the partner of a turn."""
SPEECH = frozenset({"say", "whisper", TALK})
"""Verbs of words that others hear."""
LOOKUPS = frozenset({"recall", "look", "examine"})
"""Verbs whose result returns to the model in the same turn."""


@dataclass(frozen=True, slots=True)
class Act:
    """The result of one part of an answer."""

    command: Command | None  # what was done; None if nothing was
    refusal: str = ""  # why nothing was done, told to the agent; empty if something was
    # fires when the act is done and its result is in the memory; None if nothing is done
    result: Deferred[Any] | None = None
    memory: int = 0  # number of its memory; 0 if it is not archived, or not yet


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer rests on: the prompt that it answers.

    Attributes:
        seen: The newest memory in the prompt; 0 for all.
        rests_on: The numbers of the memories that the prompt showed because they bear on the
            answer: recalled ones, and those that are answered.
    """

    seen: int = 0
    rests_on: tuple[int, ...] = ()


NO_BASIS = Basis()
"""The basis of an act without a prompt."""


class Actor:
    """Executes the commands of one agent.

    Attributes:
        leader: The database number of the character that it follows; None if it follows nobody.
        acting: The command that the game is executing now; None if there is none.
        acting_memory: The number of its memory.
    """

    def __init__(self, memory: MemoryComponent, tools: MemoryTools) -> None:
        self.leader: int | None = None
        self._memory = memory
        self._tools = tools
        self.acting: Command | None = None
        self.acting_memory = 0

    def do(
        self,
        agent: Body,
        command: Command,
        to: Person | None = None,
        *,
        event: str = "",
        basis: Basis = NO_BASIS,
        confided: bool = False,
    ) -> Act:
        """Execute a command, under the same rules as a player's.

        Args:
            to: The addressee of words that name none; None if there is none.
            event: The ``event`` of a stock phrase; empty for the agent's own words.
            basis: What the answer rests on.
            confided: Whether it may hold whispered words. Then search words are not archived.
        """
        if command.verb == "wait":
            return Act(command)
        place = place_of(agent)
        seen = basis.seen
        window = self._memory.memory.context().window if seen else ()
        what = self._what(agent, command, to)
        # The answer does not cover perceptions that came after its prompt was built.
        late = any(m.number > seen and m.kind is MemoryKind.PERCEPTION for m in window)
        hidden = confided and command.verb != WHISPER
        redact = command.words if hidden and command.verb == "recall" else ""
        if redact:
            what = Deed(actor=ME, verb=command.verb, shown=f"{command.verb} …")
        # Nobody perceives a tool call, so one that rests on private words is private too.
        private = self._memory.private.confidants_of(basis.rests_on)
        witnesses = tuple(sorted(private)) if private and command.verb in PRIVATE else None
        # Archive the act before its execution, because its results are archived too.
        number = self._memory.remember(
            what,
            place=place,
            reason="" if hidden else command.reason,
            event=event,
            answers=seen if late else 0,
            rests_on=basis.rests_on,
            witnesses=witnesses,
        )
        if command.verb in PRIVATE:
            result = self._tools.perform(
                command,
                place,
                act=number,
                to=what.to[0] if isinstance(what, Deed) and what.to else None,
                redact=redact,
                seen=seen,
                witnesses=witnesses,
            )
            return Act(command, result=result, memory=number)

        def log_failure(result: Any) -> None:
            self.acting = None
            if isinstance(result, Failure):
                told = "A command failed"
                log.error(told, agent=agent.key, command=command.line, exc_info=result.value)

        line = self._game_line(agent, command, what)
        self.acting = command
        self.acting_memory = number
        return Act(command, result=agent.execute_cmd(line).addBoth(log_failure), memory=number)

    def _what(self, agent: Body, command: Command, to: Person | None) -> What:
        """Return the act as a happening.

        ``to``: The addressee of words that name none; None for nobody.
        """
        met = [each for each in people_near(agent) if each.key == command.to]
        person = to
        if command.to and (to is None or to.name != command.to):
            # An ambiguous name has no identity.
            person = Person(command.to, identity_of(met[0]) if len(met) == 1 else "")
        people = (person,) if person is not None else ()
        line = command.line
        match command.verb:
            case "whisper":
                manner = Manner.WHISPER
            case "say" | "talk":
                manner = Manner.SAY
            case "emote":
                return Pose(actor=ME, gesture=command.words, to=people, shown=line)
            case verb:
                things = tuple(filter(None, [command.thing, command.words]))
                return Deed(actor=ME, verb=verb, objects=things, to=people, shown=line)
        return Speech(speaker=ME, words=command.words, to=people, manner=manner, shown=line)

    def _game_line(self, agent: Body, command: Command, what: What) -> str:
        """Return the line of the game's command that carries out an act."""
        match command.verb:
            case "say" if isinstance(what, Speech) and what.to and what.to[0].id:
                return f"talk {what.to_name} = {command.words}"
            case "follow":
                leader = next(each for each in people_near(agent) if each.key == command.to)
                self.leader = int(leader.id)
                return f"emote goes with {leader.key} from now on."
            case "stay":
                self.leader = None
                return "emote stays here."
        return command.line

    def speak(
        self,
        agent: Body,
        words: str,
        partner: Person | None,
        *,
        whispered: bool = False,
        event: str = "",
        reason: str = "",
        basis: Basis = NO_BASIS,
    ) -> Act:
        """Say words to somebody. The words are always speech, never parsed as a command.

        ``partner``: To whom; None for everybody here.
        """
        if whispered and partner is not None:
            here = (Person(str(each.key), identity_of(each)) for each in people_near(agent))
            if not any(partner.is_same(each) for each in here):
                return Act(None, f"{partner.name} has gone, and nobody else may hear it")
            command = spoken_to(WHISPER, partner.name, words, reason)
        else:
            command = Command("say", words, reason, words=words)
        return self.do(agent, command, partner, event=event, basis=basis)
