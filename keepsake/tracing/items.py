"""What is followed through the archives: decides which memories are of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from keepsake.archive.records import Memory


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

    def is_passed_on(self, memory: Memory, basis: Memory, among: int, *, linked: bool) -> bool:
        """Return whether words say it, if they may come from a memory of it.

        Args:
            memory: The words, as their speaker remembers them.
            basis: The speaker's memory of the item.
            among: How many of its memories the words may come from.
            linked: Whether the archive says that they rest on it.
        """


class PassedOn(Protocol):
    """As :meth:`Traceable.is_passed_on`."""

    def __call__(self, memory: Memory, basis: Memory, among: int, *, linked: bool) -> bool:
        """Return whether words say it, if they may come from a memory of it."""


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

    def is_passed_on(self, memory: Memory, basis: Memory, among: int, *, linked: bool) -> bool:
        """Return whether a memory has the words, whatever it may come from."""
        del basis, among, linked
        return self.are_said_in(memory.words)
