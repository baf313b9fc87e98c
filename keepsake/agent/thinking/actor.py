"""Turns an answer of the model into one command, and the command into an act in the world."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keepsake.agent.body import Body
from keepsake.agent.memory.keeper import MemoryTools
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.services import Services
from keepsake.agent.surroundings import (
    identity_of,
    people_near,
    place_of,
)
from keepsake.agent.tasks import Once
from keepsake.agent.thinking.options import options_of
from keepsake.agent.thinking.scene import examples_of, verbs_of
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.language.heard import shown_words
from keepsake.language.perception import perceive
from keepsake.prompt import exchange
from keepsake.prompt.verbs import PRIVATE, Command
from keepsake.tasks.command_line import read_command
from keepsake.tasks.guards import bare, fault_of

REMEMBERED_ACTS = 5
"""How many of its own last acts count as a repeat."""
_CONFIDED = frozenset({"say", WHISPER, "wait"})
"""What an answer to a whisper may be: all else is seen by others, or kept where they see it."""
_ECHOES = frozenset({"say", "talk", "whisper", "pose"})


@dataclass(frozen=True, slots=True)
class Act:
    """What came of an answer."""

    command: Command | None  # what was done; None if nothing was
    refusal: str = ""  # why nothing was done, told to the agent; empty if something was
    # comes when the act is done and what it brought is in the memory; None where nothing is done
    result: Once[None] | None = None
    memory: int = 0  # number of the memory of it; 0 if it is not remembered, or not yet

    @property
    def spoke(self) -> bool:
        """Whether others heard something."""
        return self.command is not None and self.command.verb in ("say", "whisper")

    @property
    def answers(self) -> bool:
        """Whether somebody who waits for an answer got one, in words or deeds."""
        return self.command is not None and exchange.may_answer(self.command.line)

    @property
    def waited(self) -> bool:
        """Whether the agent chose to do nothing."""
        return self.command is not None and self.command.verb == "wait"


class Actor:
    """The hands and the voice of one agent."""

    def __init__(self, memory: MemoryComponent, keeper: MemoryTools, services: Services) -> None:
        self._memory = memory
        self._keeper = keeper
        self._services = services
        self._acting: Command | None = None
        self._recent: deque[Command] = deque(maxlen=REMEMBERED_ACTS)

    def act(self, agent: Body, text: str, *, addressee: str = "", confidant: str = "") -> Act:
        """Do what the first line of ``text`` says, by the rules that bind a player.

        What was made from private words of a ``confidant`` stays between the two.
        """
        command = read_command(text, agent.key, verbs_of(self._services), options_of(agent))
        if isinstance(command, str):
            return Act(None, command)
        if confidant:
            if command.verb not in _CONFIDED:
                return Act(None, f"What {confidant} whispered is for you alone; whisper an answer")
            command = _confided(command, confidant)
        if self._repeats(command):
            # Without its words: a small model would only copy them from there.
            return Act(None, "You have just done that; do something else")
        if fault := self._fault(agent, command):
            return Act(None, fault)
        return self.do(agent, command, addressee=addressee)

    def do(self, agent: Body, command: Command, *, addressee: str = "", seen: int = 0) -> Act:
        """Do what was chosen, by the rules that bind a player.

        ``seen``: The newest memory that the answer knew of; 0 for all.
        """
        if command.verb == "wait":
            self._recent.append(command)
            return Act(command)
        to = addressee if command.verb == "say" else ""
        return self._done(agent, command, addressee, to, seen=seen)

    def _done(
        self,
        agent: Body,
        command: Command,
        addressee: str,
        to: str,
        *,
        event: str = "",
        seen: int = 0,
    ) -> Act:
        self._recent.append(command)
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
        return Act(command, result=self._perform(agent, command, addressee, place), memory=number)

    def speak(
        self,
        agent: Body,
        words: str,
        partner: str,
        *,
        whispered: bool = False,
        event: str = "",
        seen: int = 0,
    ) -> Act:
        """Say words to somebody: speech, whatever is in it, and never a command.

        ``event``: What the archive calls a stock phrase; empty for words of its own.
        ``seen``: The newest memory that the answer knew of; 0 for all.
        """
        here = any(person.key == partner for person in people_near(agent))
        if whispered and not here:
            return Act(None, f"{partner} has gone, and it was for nobody else")
        verb, line = (WHISPER, f"{partner} = {words}") if whispered else ("say", words)
        command = Command(verb, line)
        return self._done(agent, command, partner, partner, event=event, seen=seen)

    def _answers(self, seen: int) -> int:
        """``seen`` where something was perceived since; else 0."""
        window = self._memory.context().window if seen else ()
        since = [m for m in reversed(window) if m.number > seen]
        return seen if any(m.kind is MemoryKind.PERCEPTION for m in since) else 0

    def _repeats(self, command: Command) -> bool:
        """Whether it did or said just this a moment ago; waiting again is no repeat."""
        recent = {bare(each.line) for each in self._recent}
        return command.verb != "wait" and bare(command.line) in recent

    def _fault(self, agent: Body, command: Command) -> str:
        """Why what it would say aloud, or play, is refused; empty if it is not."""
        shown = shown_words(command.line)
        if not shown:
            return ""
        try:
            window = self._memory.context().window
        except KeepsakeError:  # its archive is closed, which is told elsewhere
            window = ()
        own = [shown_words(m.text) for m in window if m.kind is MemoryKind.ACT and not m.is_stock]
        examples = " ".join(map(_of_example, examples_of(agent)))
        return fault_of(shown, instructions=examples, own_lines=own)

    def _perform(self, agent: Body, command: Command, addressee: str, place: str) -> Once[None]:
        if command.verb in PRIVATE:
            return self._keeper.perform(command, place)
        done: Once[None] = Once()

        def over() -> None:
            self._acting = None
            done(None)

        self._acting = command
        agent.do(_typed(agent, command, addressee), over)
        return done

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


def _confided(command: Command, confidant: str) -> Command:
    """An answer to a whisper, whispered back to whoever that was."""
    if command.verb == "wait":
        return command
    words = command.argument.partition(" = ")[2] if command.verb == WHISPER else command.argument
    return Command(WHISPER, f"{confidant} = {words}", command.reason)


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


def _of_example(line: str) -> str:
    """What others hear or see of a line such as ``~Mira> say Good day! | kind``."""
    _, cursor, command = line.partition("> ")
    return shown_words(command.partition(" | ")[0]) if cursor else ""


def _typed(agent: Body, command: Command, addressee: str) -> str:
    """The command as a player would type it; speech goes to whoever spoke."""
    if command.verb == "say" and addressee:
        here = {person.key for person in people_near(agent)}
        if addressee in here:
            return f"talk {addressee} = {command.argument}"
    return command.line
