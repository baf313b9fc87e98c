"""What is followed through the archives: decides which memories are of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from keepsake.archive.records import Memory


@dataclass(frozen=True, slots=True)
class Evidence:
    """What joins words with a memory, besides the words of both.

    Attributes:
        rests: Whether the archive says that the words rest on the memory.
        answers: Whether they are for nobody but who is the source of the memory. What is an answer
            rests on what it answers, whatever it says.
        among: How many memories the words may come from, if they come from one of this kind.
        shown: How many the prompt showed in any way.
    """

    rests: bool
    answers: bool
    among: int
    shown: int


class Traceable(Protocol):
    """Something that is followed."""

    @property
    def is_sentence(self) -> bool:
        """Whether it is one sentence, so that whoever says it again has it from somebody.

        An agent may have it from its own earlier words, a player from the agent who told them.
        """

    def is_given(self, key: str, memory: Memory) -> bool:
        """Return whether an agent knows it by this memory, whatever it knew before."""

    def begins_with(self, memory: Memory) -> bool:
        """Return whether own words begin a path, though their speaker knew nothing of it."""

    def is_said_in(self, memory: Memory) -> bool:
        """Return whether words say it, wherever they come from."""

    def is_asked_in(self, memory: Memory) -> bool:
        """Return whether somebody only asks about it, and tells nothing of it."""

    def is_passed_on(self, memory: Memory, basis: Memory, evidence: Evidence) -> bool:
        """Return whether words say it, if they may come from a memory of it.

        Args:
            memory: The words, as their speaker remembers them.
            basis: The speaker's memory of the item, or of a question about it.
            evidence: What joins the two.
        """


type PassedOn = Callable[[Memory, Memory, Evidence], bool]
"""As :meth:`Traceable.is_passed_on`."""


@dataclass(frozen=True)
class Words:
    """An item that is known by its words alone: who says them knows it.

    Attributes:
        are_said_in: Whether a text says it.
        given: Whether an agent knows it by a memory; see :meth:`Traceable.is_given`.
        may_begin: Whether what an agent says without having heard it is the beginning of a path. If
            not, it is invented.
    """

    are_said_in: Callable[[str], bool]
    given: Callable[[str, Memory], bool]
    may_begin: bool = False
    is_sentence: bool = False

    def is_given(self, key: str, memory: Memory) -> bool:
        """As :attr:`given` says."""
        return self.given(key, memory)

    def begins_with(self, memory: Memory) -> bool:
        """Any memory may begin a path, or none."""
        del memory
        return self.may_begin

    def is_said_in(self, memory: Memory) -> bool:
        """Return whether a memory has the words."""
        # A game may show an agent the speech of another as text alone.
        return self.are_said_in(memory.words or memory.text)

    def is_asked_in(self, memory: Memory) -> bool:
        """Return False: who asks says the words, too."""
        del memory
        return False

    def is_passed_on(self, memory: Memory, basis: Memory, evidence: Evidence) -> bool:
        """Return whether a memory has the words, whatever it may come from."""
        del basis, evidence
        return self.are_said_in(memory.words)
