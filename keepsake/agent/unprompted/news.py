"""What an agent knows that somebody here does not know yet, and how much it matters to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum

from keepsake.agent.memory.known_news import concerns, known_to, tells_something
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of, is_agent, number_of
from keepsake.archive.message_types import MOVES, MessageType
from keepsake.archive.records import Memory
from keepsake.happening import KnownVerb, Manner
from keepsake.language.perception import names
from keepsake.recall.documents import SAME_SCENE

NEWS_IMPORTANCE = 6
"""A memory is told to a player unasked from this importance on. Rules rate talk below it, and a
night's journal rates what mattered above it."""
NEWS_AGE = timedelta(days=2)
"""How old something may be that is still told unasked."""
_COMMITS = frozenset({KnownVerb.PLAN, KnownVerb.PROMISE})
"""The verbs of an agent that commit it to something."""
_COMES = MOVES | {MessageType.LOGIN}
"""The types of messages by which an agent sees that somebody comes."""


class NewsRank(IntEnum):
    """How much something that was said or seen matters to somebody who does not know it yet.

    What others said to each other about nothing of this matters to neither, and is no news: who was
    told it can tell it.
    """

    ABOUT_THEM = 1  # it names that person
    PLANNED = 2  # the agent has planned or promised something for it, such as an invitation
    RATED = 3  # it was passed on, or a journal entry or the world's rules rate it so
    TOLD = 4  # a player said it to the agent or to everybody


class NewsToTell:
    """What one agent may tell others unasked.

    Args:
        importance_of: Returns how important a memory is, 1 to 10.
        agents: The numbers of the world's agents, by name; it may change.
    """

    def __init__(self, importance_of: Callable[[Memory], int], agents: Mapping[str, int]) -> None:
        self._importance_of = importance_of
        self._agents = agents

    def of(
        self, window: Sequence[Memory], person: CharacterObject, name: str, now: datetime
    ) -> list[Memory]:
        """Return the memories that a person here may not know yet.

        Args:
            window: What the agent remembers in public, the oldest first.
            name: The person's name, as the agent knows it.
            now: The present time, with time zone.

        Returns:
            What matters most to that person first; of the same rank, the newest first.
        """
        who = identity_of(person)
        by_agent = is_agent(person)
        known = known_to(person)
        told = {n for each in window if each.said and each.to_id == who for n in each.rests_on}
        planned = _planned_with(window)
        found = list[tuple[NewsRank, Memory]]()
        for memory in reversed(window):
            if now - memory.time > NEWS_AGE:
                break
            if memory.number in told or known.has(memory) or concerns(memory, who):
                continue
            rank = self._rank_of(memory, name, planned, by_agent=by_agent)
            if rank is None or (known.has_lost(memory) and _was_near(window, who, memory)):
                continue
            found.append((rank, memory))
        return [memory for _, memory in sorted(found, key=lambda each: each[0])]

    def _rank_of(
        self, memory: Memory, name: str, planned: Collection[int], *, by_agent: bool
    ) -> NewsRank | None:
        """Return how much a memory matters to a person who did not hear it; None if it is no news.

        A model picks from what is left what two agents tell each other.

        Args:
            name: The person's name.
            planned: The numbers of memories on which a plan or promise of the agent rests.
            by_agent: Whether the person is an agent. Players are told only what is rated.
        """
        rated = self._is_rated(memory)
        if not by_agent:
            return NewsRank.RATED if rated else None
        heard = memory.heard
        stated = heard is not None and self._is_said(memory)
        if stated and heard is not None and names(heard.words, name):
            return NewsRank.ABOUT_THEM
        if stated and memory.number in planned:
            return NewsRank.PLANNED
        if rated:
            return NewsRank.RATED
        if stated and heard is not None and heard.is_to_me_or_all:
            return NewsRank.TOLD
        return None

    def _is_rated(self, memory: Memory) -> bool:
        """Return whether a memory matters to others.

        Somebody passed it on, or a journal entry or the world's rules rate it so. Thanks for what
        was passed on say nothing.
        """
        if memory.is_own or memory.confidants is not None:
            return False
        if memory.heard is not None and not tells_something(memory.heard):
            return False
        return bool(memory.chain) or self._importance_of(memory) >= NEWS_IMPORTANCE

    def _is_said(self, memory: Memory) -> bool:
        """Return whether a memory is what a player stated in public: no mere question or thanks."""
        heard = memory.heard
        if heard is None or heard.manner is Manner.WHISPER:
            return False
        if not tells_something(heard):
            return False
        return number_of(heard.speaker.id) not in self._agents.values()


def _planned_with(window: Sequence[Memory]) -> frozenset[int]:
    """Return the numbers of the memories on which the agent's plans and promises rest."""
    made = (each for each in window if each.is_own and each.verb in _COMMITS)
    return frozenset(number for each in made for number in each.rests_on)


def _was_near(window: Sequence[Memory], who: str, memory: Memory) -> bool:
    """Return whether a person who is here was in the same place when something happened.

    The agent has seen them there shortly before, or has stayed there since without seeing them
    come.
    """
    since = [each for each in window if each.number > memory.number]
    has_stayed = all(each.place == memory.place for each in since)
    came = any(each.source_id == who and each.event in _COMES for each in since)
    return (has_stayed and not came) or any(
        each.source_id == who
        and each.place == memory.place
        and each.number < memory.number
        and memory.time - each.time <= SAME_SCENE
        for each in window
    )
