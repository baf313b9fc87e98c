"""The current state of the world as plain data, read on the reactor thread.

Views run in their own threads, and only the reactor thread may touch the world's objects. Functions
here must be quick, because the game stands still while they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet import reactor
from twisted.internet.threads import blockingCallFromThread
from twisted.python.threadable import isInIOThread

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import (
    mind_by_number,
    mind_of,
    open_minds,
    suspension_of,
    why_closed,
)
from keepsake.web.access import NotFound
from keepsake.web.people.agents import KnownAgent
from keepsake.web.privacy import people
from keepsake.web.searching import Searched

_reactor: Any = reactor  # Twisted makes it at import, without a usable type


def on_reactor[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function so that views can call it from their threads: it runs on the reactor thread.

    If no reactor runs, as in tests, it runs at once.
    """

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        if not _reactor.running or isInIOThread():
            return function(*args, **kwargs)
        found: T = blockingCallFromThread(_reactor, function, *args, **kwargs)
        return found

    return asked


def agent_with(number: int) -> AgentMixin:
    """Return the agent with that database number.

    Raises:
        NotFound: There is no such agent.
    """
    found = ObjectDB.objects.filter(id=number).first() if number < 2**63 else None
    if not isinstance(found, AgentMixin):
        raise NotFound(f"There is no agent {number}", "GET /agents/api/agents lists all")
    return found


def mind_with(number: int) -> Mind:
    """Return the mind of the agent with that number.

    Raises:
        NotFound: There is no such agent.
        KeepsakeError: The agents are not running, or its memory is being changed.
    """
    agent = agent_with(number)
    runtime()  # raises an error with the cure if the agents are not running
    if (mind := mind_of(agent)) is None:
        if suspension_of(agent) is not None:
            raise why_closed(agent)
        raise NotFound(f"{agent.key} is being deleted", "GET /agents/api/agents lists all")
    return mind


"""Returns an agent's mind. Any thread may read its archive and its folder."""


mind_of_agent = on_reactor(mind_with)
"""Returns an agent's mind. Any thread may read its archive and its folder."""


@on_reactor
def folders() -> Sequence[tuple[int, str, Path]]:
    """Return number, name and folder of every agent."""
    agents = runtime().places.agents
    return [(each.id, each.key, agents / each.memory_folder) for each in all_agents()]


@on_reactor
def searched() -> list[Searched]:
    """Return number, name, folder and recall of every agent."""
    agents = runtime().places.agents
    found = list[Searched]()
    for each in all_agents():
        mind = mind_by_number(each.id)
        recaller = mind.tools.recaller if mind is not None else None
        if recaller is not None:
            recaller.read_names()
        found.append((each.id, each.key, agents / each.memory_folder, recaller))
    return found


@on_reactor
def known_agents() -> list[KnownAgent]:
    """Return every agent with its identity and its mind."""
    runtime()  # raises an error with the cure if the agents are not running
    return [
        KnownAgent(each.id, each.key, identity_of(each), mind_by_number(each.id))
        for each in all_agents()
    ]


@on_reactor
def agent_numbers() -> dict[str, int]:
    """Return the number of every agent by its identity, which the memories of others have."""
    return {identity_of(each): each.id for each in all_agents()}


@on_reactor
def agent_names() -> list[tuple[int, str]]:
    """Return number and name of every agent, by name."""
    found = [(each.id, str(each.key)) for each in all_agents()]
    return sorted(found, key=lambda each: each[1].casefold())


def _name_of_person(identity: str) -> str:
    """Return the name by which some agent knows a person; empty if none does."""
    pages = (mind.books.people.known.get(identity) for mind in open_minds())
    return next((page.names[-1] for page in pages if page and page.names), "")


people.name_of = _name_of_person


@on_reactor
def name_of(number: int) -> str:
    """Return the name of an agent."""
    return str(agent_with(number).key)
