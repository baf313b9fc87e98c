"""The agents that a client of one MCP server may name, by the names of their folders."""

from __future__ import annotations

from typing import Protocol

from keepsake.errors import KeepsakeError
from keepsake.library.memory import Memory
from keepsake.serve.house import House
from keepsake.serve.tokens import Grant


class Agents(Protocol):
    """The agents of one MCP server; safe for threads."""

    def names(self) -> list[str]:
        """Return those that are there now; reads the disk."""

    def named(self, given: str) -> str:
        """Return the agent that a client means.

        Raises:
            KeepsakeError: There is none of that name, or several and none is named.
        """

    def memory(self, name: str) -> Memory:
        """Return the memory of one of them; may block.

        Raises:
            KeepsakeError: It cannot be opened.
        """


class OneAgent:
    """A memory that is served alone."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def names(self) -> list[str]:
        """Return its name."""
        return [self._memory.name]

    def named(self, given: str) -> str:
        """Return its name."""
        return chosen(given, self.names())

    def memory(self, name: str) -> Memory:
        """Return the memory."""
        return self._memory


class HousedAgents:
    """The agents of a folder, also those that are made later.

    Args:
        grant: For which of them a token is; None for all.
        only: The only one of them; empty for all.
    """

    def __init__(self, house: House, grant: Grant | None = None, only: str = "") -> None:
        self._house = house
        self._grant = grant
        self._only = only

    def names(self) -> list[str]:
        """Return those that are there now."""
        if self._only:
            return [self._only]
        grant = self._grant
        return [each for each in self._house.names() if grant is None or grant.knows(each)]

    def named(self, given: str) -> str:
        """Return the agent that a client means."""
        return chosen(given, self.names())

    def memory(self, name: str) -> Memory:
        """Return the memory of one of them."""
        return self._house.memory(name)


def chosen(given: str, names: list[str]) -> str:
    """Return the name that is meant, in any case; the only one if none is given.

    Raises:
        KeepsakeError: There is none of that name, or several and none is given.
    """
    if given in names:
        return given
    found = [each for each in names if not given or each.casefold() == given.casefold()]
    if len(found) == 1:
        return found[0]
    what = f"There is no agent {given[:100]!r}" if given and not found else "Which agent is meant?"
    there = ", ".join(names) or "none yet; `keepsake service add-agent` makes one"
    raise KeepsakeError(what, f"Name one of these as `agent`: {there}")
