"""The current state of the world as plain data, read on the reactor thread.

Views run in their own threads, and only the reactor thread may touch the world's objects. Functions
here must be quick, because the game stands still while they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import wraps
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet import reactor
from twisted.internet.threads import blockingCallFromThread
from twisted.python.threadable import isInIOThread

from keepsake.agent.attention.presence import AgentState
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.kept_lines import CommitmentKind
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.layout import laid_out
from keepsake.contrib.evennia.minds import (
    mind_by_number,
    mind_of,
    state_of,
    suspension_of,
    why_closed,
)
from keepsake.errors import KeepsakeError
from keepsake.events.values import ThoughtOutcome
from keepsake.happening import Speech
from keepsake.language.perception import one_line, shorten
from keepsake.prompt.sections import TITLES
from keepsake.web.access import NotFound
from keepsake.web.agent.shapes import ProfileView, PromptView, Stretch, TiersView
from keepsake.web.fact_shapes import MapExit, MapRoom, MapView
from keepsake.web.links import summary_with_links
from keepsake.web.people.known import KnownAgent
from keepsake.web.remembered import view_of, words_in_book
from keepsake.web.searching import Searched
from keepsake.web.shapes import AgentRow, Overview, PlanRow, PromiseRow, ServerRow

LONGEST_PROBLEM = 160
"""The most characters of an agent's problem that are shown; the log has the whole text."""
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


# -- on the reactor thread


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


def _row(agent: Body, may_act: bool) -> AgentRow:
    mind = mind_by_number(agent.id)
    shared = runtime()
    place = agent.location.key if agent.location else "nowhere"
    if mind is None:
        return AgentRow(id=agent.id, name=agent.key, state=AgentState.OPENING, place=place)
    memories, next_due, due, failure = _figures(mind)
    act, said = _last_acts(mind)
    words = words_in_book(mind.books.plans.items)
    thinker = mind.thinker
    thoughts = mind.thinker.log
    problem = mind.memory.problem or mind.compactions.no_room or thoughts.problem or failure
    return AgentRow(
        id=agent.id,
        name=agent.key,
        state=state_of(mind),
        paused=bool(agent.db.paused),
        asleep=bool(agent.db.asleep),
        going_home=mind.sleeper.going_home,
        place=place,
        last_act=view_of(act, words) if act else None,
        last_words=view_of(said, words) if said else None,
        waiting=thinker.thought.waited,
        memories=memories,
        next_due=next_due,
        compacted=_compacted(mind),
        used=thoughts.sent.costs.used if thoughts.sent else 0,
        budget=shared.compaction_config.budget,
        due=due,
        when_due=mind.compactions.when_due() if due else "",
        compacting=mind.compactions.compacting,
        ended=thoughts.outcomes.total() - thoughts.outcomes[ThoughtOutcome.DROPPED],
        failed=sum(n for each, n in thoughts.outcomes.items() if each.failed),
        recent_ended=len(thoughts.recent),
        recent_failed=sum(each.failed for each in thoughts.recent),
        problem=shorten(one_line(str(problem)), LONGEST_PROBLEM),
        may_act=may_act,
    )


def _figures(mind: Mind) -> tuple[int, int | None, str, str]:
    """Return memories, next due, why one is due, the last failure of a compaction."""
    try:
        memory = mind.memory.memory
        # This takes a while, and is pointless during a compaction.
        due = (
            None
            if mind.compactions.compacting
            else memory.may_be_due(asleep=mind.sleeper.may_compact)
        )
    except KeepsakeError:  # its archive cannot be opened, which the component reports itself
        return 0, None, "", ""
    failure = memory.compactor.last_failure
    return memory.tiers.last_number, memory.next_due(), due.value if due else "", failure


def _compacted(mind: Mind) -> datetime | None:
    """Return when the summaries were made last; None if there are none."""
    try:
        state = mind.memory.memory.tiers.state
    except KeepsakeError:  # its archive cannot be opened, which the component reports itself
        return None
    return state.time if state.recent or state.longterm else None


def _last_acts(mind: Mind) -> tuple[Memory | None, Memory | None]:
    """Return the newest act of a window, and the newest in which something is said."""
    try:
        window = mind.memory.memory.context().window
    except KeepsakeError:  # its archive cannot be opened, which the component reports itself
        return None, None
    acts = [each for each in reversed(window) if each.kind is MemoryKind.ACT]
    said = next((each for each in acts if isinstance(each.what, Speech)), None)
    return next(iter(acts), None), said


def _servers() -> Iterator[ServerRow]:
    try:
        servers = runtime().gateway.used_servers()
    except KeepsakeError as error:  # a profile that cannot be used is shown as a row
        yield ServerRow(provider="llm.md", health=str(error))
        return
    for each in servers:
        yield ServerRow(
            provider=each.provider,
            host=each.host,
            models=each.profiles,
            health=each.health,
            waiting={name.name.lower(): count for name, count in each.waiting.items()},
            running=each.live,
            in_flight=each.places,
            cached=each.cached,
            last_cached=each.last_cached,
        )


# -- for views; each raises NotFound, or KeepsakeError if the agents are not running


@on_reactor
def overview(may_act: bool) -> Overview:
    """Return all agents at a glance, by name, and the model servers."""
    shared = runtime()
    return Overview(
        now=shared.clock.now(),
        agents=tuple(_row(each, may_act) for each in all_agents()),
        servers=tuple(_servers()),
        model=shared.gateway.profiles.agent_model_line,
        keeps_secrets=shared.secret_trial.line,
        log_problem=shared.event_log.problem if shared.event_log else "",
    )


@on_reactor
def row(number: int, may_act: bool) -> AgentRow:
    """Return one agent at a glance."""
    return _row(agent_with(number), may_act)


@on_reactor
def profile(number: int) -> ProfileView:
    """Return the profile of an agent, and those before it."""
    runtime()  # raises an error with the cure if the agents are not running
    agent: Any = agent_with(number)
    former = tuple(map(str, agent.db.former_profiles or ()))
    return ProfileView(text=str(agent.db.profile or ""), former=former)


MOST_PLANS = 200
"""The most open plans of one answer, those due first, the most that have ended, and the most
promises."""


@on_reactor
def plans(*, ended: bool = False) -> list[PlanRow]:
    """Return the open plans of all agents: those with a time first, the next one first of all.

    ``ended``: Whether those that have ended lately follow, the one that was due last first.
    """
    found = [
        PlanRow.of(agent.id, agent.key, each)
        for agent in all_agents()
        if (mind := mind_by_number(agent.id)) is not None
        for each in (mind.books.plans.items if ended else mind.books.plans.current)
    ]
    found.sort(key=lambda each: (each.at is None, each.at.timestamp() if each.at else 0.0))
    current = [each for each in found if not each.state.has_ended]
    past = [each for each in found if each.state.has_ended]
    past.sort(key=lambda each: each.at.timestamp() if each.at else 0.0, reverse=True)
    return current[:MOST_PLANS] + past[:MOST_PLANS]


@on_reactor
def promises() -> list[PromiseRow]:
    """Return the promises of all agents, those of each agent in the order of its file."""
    found = [
        PromiseRow(
            id=agent.id,
            agent=agent.key,
            whom=each.who,
            text=each.text,
            memory=each.number,
            private=each.aloud is None and mind.memory.private.is_whispered(each.number),
        )
        for agent in all_agents()
        if (mind := mind_by_number(agent.id)) is not None
        for each in mind.books.commitments.items
        if each.kind is CommitmentKind.PROMISE
    ]
    return found[:MOST_PLANS]


MOST_ROOMS = 400
"""The most rooms of a map. Larger ones are no pictures any more, and take the reactor too long."""


@on_reactor
def map_of_world() -> MapView:
    """Return the rooms that exits connect with an agent, with their places on a map.

    Exits count in both directions: some rooms are left by a command alone.
    """
    agents = all_agents()
    rooms = {each.location.id: each.location for each in agents if each.location is not None}
    new = list(rooms.values())
    ways: dict[int, list[tuple[str, int]]] = {}
    while new:
        for room in new:
            ways[room.id] = [(way.key, way.destination.id) for way in room.exits if way.destination]
        # One query for all rooms that are as far away.
        ways_in = ObjectDB.objects.filter(db_destination__in=[each.id for each in new])
        found = [way.destination for room in new for way in room.exits]
        found += [way.location for way in ways_in]
        new = []
        for there in found:
            if there is not None and there.id not in rooms and len(rooms) < MOST_ROOMS:
                rooms[there.id] = there
                new.append(there)
    cells = laid_out(ways)
    shown = []
    for number, room in rooms.items():
        characters = room.contents_get(content_type="character")
        shown.append(
            MapRoom(
                id=number,
                name=room.key,
                x=cells[number][0],
                y=cells[number][1],
                exits=tuple(MapExit(name=name, to=to) for name, to in ways[number] if to in rooms),
                agents=tuple((each.id, each.key) for each in agents if each.location is room),
                players=tuple(each.key for each in characters if each.has_account),
            )
        )
    return MapView(rooms=tuple(shown), complete=len(rooms) < MOST_ROOMS)


@on_reactor
def prompt(number: int) -> PromptView:
    """Return the last prompt since the server started; its time is None if there was none."""
    sent = mind_with(number).thinker.log.sent
    if sent is None:
        return PromptView(budget=runtime().compaction_config.budget)
    lines = groupby(sent.prompt.lines, itemgetter(1))
    answer = sent.answer
    cause = sent.impulse
    return PromptView(
        at=sent.time,
        sections=dict(sent.costs.sections),
        sent=tuple(
            Stretch(name=TITLES.get(section, section), text="\n".join(line for line, _ in of))
            for section, of in lines
        ),
        budget=sent.costs.budget,
        cached=answer.cached_tokens if answer else None,
        server_tokens=answer.prompt_tokens if answer else 0,
        trigger=f"{cause.kind}: {cause.source}" if cause.source else cause.kind,
        answer=answer.text if answer else "",
    )


@on_reactor
def tiers(number: int) -> TiersView:
    """Return the tiers of an agent's memory."""
    memory = mind_with(number).memory.memory
    context = memory.context()
    tiers = memory.tiers
    window = context.window[0].number if context.window else tiers.last_number + 1
    oldest = context.longterm or context.recent
    return TiersView(
        first=oldest.first if oldest else window,
        total=tiers.last_number,
        compaction=tiers.state.standing,
        since=tiers.state.time,
        longterm=summary_with_links(context.longterm),
        recent=summary_with_links(context.recent),
        window_first=window,
        window_tokens=memory.load().window,
    )


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


@on_reactor
def name_of(number: int) -> str:
    """Return the name of an agent."""
    return str(agent_with(number).key)
