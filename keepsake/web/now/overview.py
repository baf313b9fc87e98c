"""All agents at a glance, and the model servers.

Everything here runs on the reactor thread, and is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from keepsake.agent.attention.presence import AgentState
from keepsake.agent.body import Body
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.archive.records import Memory, MemoryKind
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import (
    mind_by_number,
    state_of,
)
from keepsake.errors import KeepsakeError
from keepsake.events.values import ThoughtOutcome
from keepsake.happening import Speech
from keepsake.language.perception import one_line, shorten
from keepsake.web.remembered import view_of, words_in_book
from keepsake.web.shapes import AgentRow, Overview, ServerRow
from keepsake.web.world import agent_with, on_reactor

LONGEST_PROBLEM = 160
"""The most characters of an agent's problem that are shown; the log has the whole text."""


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
        going_home=mind.walker.is_going_to_bed,
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
