"""An agent's acts as data: what was done, what it rests on, and what the game carries out now.

:mod:`keepsake.agent.acting.actor` carries them out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from twisted.internet.defer import Deferred

from keepsake.agent.acting.journey import Journey
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import MemoryFacts
from keepsake.books.aloud import Aloud
from keepsake.happening import (
    KnownVerb,
    PersonId,
    Speech,
    What,
)
from keepsake.language.perception import inner_quotes, one_line
from keepsake.prompt.verbs import Command

SPEECH = frozenset({KnownVerb.SAY, KnownVerb.WHISPER, KnownVerb.TALK})
"""Verbs of words that others hear."""
LOOKUPS = frozenset({KnownVerb.RECALL, KnownVerb.LOOK, KnownVerb.EXAMINE})
"""Verbs whose result returns to the model in the same turn."""


@dataclass(frozen=True, slots=True)
class Act:
    """The result of one part of an answer."""

    command: Command | None  # what was done; None if nothing was
    refusal: str = ""  # why nothing was done, told to the agent; empty if something was
    tried: str = ""  # what was not done, as the model wrote it; empty if something was
    vetoed: bool = False  # whether the game's hook refused it
    is_step: bool = True  # whether a plan can need it; a gesture is no step of any
    # fires when the act is done and its result is in the memory; None if nothing is done
    result: Deferred[Any] | None = None
    memory_number: int = 0  # number of its memory; 0 if it is not archived, or not yet
    journey: Journey | None = None  # the walk that it has begun; None if it has begun none

    @property
    def failure(self) -> str:
        """What was to be a step of a plan and was not done, and why; empty if it was done."""
        if self.command is not None and self.command.verb == KnownVerb.WALK and not self.journey:
            return f"> {self.command.line}: you know no way there"
        if not self.refusal or not self.is_step:
            return ""
        return f"{self.tried}: {self.refusal}" if self.tried else self.refusal


@dataclass(frozen=True, slots=True)
class Carried:
    """That a whisper is said on an errand, or answers one that is, knowing so.

    Attributes:
        errand: Which errand it is; see :attr:`Memory.errand`.
        senders: Who sent the agent, and may know the words; none for an answer.
        named: Those of them whom the words name, so that whoever hears them knows who it is.
    """

    errand: str
    senders: tuple[PersonId, ...] = ()
    named: tuple[PersonId, ...] = ()


@dataclass(frozen=True, slots=True)
class Basis:
    """What an answer rests on: the prompt that it answers.

    Attributes:
        seen: The newest memory in the prompt; 0 for all.
        rests_on: The numbers of the memories that the prompt showed because they bear on the
            answer: recalled ones, and those that are answered.
        confidants: Who alone may know what the answer says, because the prompt held private
            words; None for everybody.
        aloud: What was said aloud that it answers; None if it answers nothing, or a whisper.
        plan: The number of the plan that the agent is about; 0 for none.
        due: The number of the plan that is the reason for the answer, so that its prompt shows it
            whoever hears the answer; 0 for another reason.
        audience: Who hears the answer. Its prompt shows the plans and promises that they know of,
            and the answer can name no others.
        private: The numbers of the private memories that the prompt held.
        partner: The identity of who is answered; empty for nobody.
        named: The identities of those whom the words that are answered name.
        allowed_by: Who allowed that these words be said to somebody who does not know what the
            prompt held; empty for words that need no leave.
        carried: For a whisper on an errand, or an answer to one; else None.
    """

    seen: int = 0
    rests_on: tuple[int, ...] = ()
    confidants: Audience | None = None
    aloud: Aloud | None = None
    audience: Audience = NO_PRIVATE_WORDS
    plan: int = 0
    due: int = 0
    private: tuple[int, ...] = ()
    partner: PersonId = ""
    named: tuple[PersonId, ...] = ()
    allowed_by: tuple[PersonId, ...] = ()
    carried: Carried | None = None


NO_BASIS = Basis()
"""The basis of an act without a prompt."""


@dataclass(slots=True)
class CurrentAct:
    """An act that the game carries out now.

    Attributes:
        what: The act, as the agent archived it.
        memory_number: The number of its memory.
        happening: Its id, in all archives.
        addressee: The character that it is directed at; None for nobody, or nobody here.
        reached: The identities of the characters who were shown it.
        perceived: The database numbers of the agents that archived it.
        echoed: Whether the agent itself was shown its words, as others are.
        failed: Whether the command reported a failure.
        facts: Other fields of the memories of those who perceive it.
        plan: The number of the plan that it is for; 0 for none.
    """

    command: Command
    what: What
    memory_number: int
    happening: str
    addressee: CharacterObject | None = None
    reached: set[PersonId] = field(default_factory=set)
    perceived: set[int] = field(default_factory=set)
    echoed: bool = False
    failed: bool = False
    facts: MemoryFacts = field(default_factory=MemoryFacts)
    plan: int = 0

    def has_words(self, line: str) -> bool:
        """Return whether a line has the words that the agent speaks."""
        words = one_line(self.what.words) if isinstance(self.what, Speech) else ""
        return bool(words) and (words in line or inner_quotes(words) in inner_quotes(line))

    @property
    def arrived(self) -> bool:
        """Whether the words reached whom they are for; True for an act without words.

        If others were shown them, their addressee must be among these, if they have one. If nobody
        was, the agent itself must have been shown them, as one of the room.
        """
        if not isinstance(self.what, Speech):
            return True
        if self.addressee is not None and self.reached:
            return identity_of(self.addressee) in self.reached
        return bool(self.reached - {""}) or self.echoed
