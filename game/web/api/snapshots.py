"""The agents as they are now, as plain data; taken on the reactor thread, so it is quick.

Nothing here opens a file: what an agent lived through is read in :mod:`game.web.api.archive_views`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import batched, groupby

from evennia.objects.models import ObjectDB

from game.web.api import lives
from game.web.api.lives import ArchiveAccess, NoSuchAgent, no_such
from game.web.api.on_reactor import on_reactor
from game.web.api.shapes import (
    AgentRow,
    Overview,
    PromptView,
    Section,
    ServerRow,
    Stretch,
    TiersView,
    iso,
)
from keepsake.agent.mind import Mind
from keepsake.agent.naming import names_of
from keepsake.agent.services import services
from keepsake.agent.thinking.thinker import AgentState
from keepsake.agent.thinking.thought import Sent
from keepsake.errors import KeepsakeError
from keepsake.language.perception import shorten
from keepsake.models.queue import Priority
from keepsake.prompt.budget import title_of
from keepsake.prompt.marks import Rendered
from typeclasses.agents import Agent, all_agents
from typeclasses.minds import mind_by_number

AT_A_TIME = 50
"""Agents that are looked at in one turn of the reactor: two or three milliseconds."""
LONGEST_PROBLEM = 160
"""Characters of what is wrong with an agent that are shown beside it; the log has all."""
_GOING = "going home to sleep"
STATES = (*(each.value for each in AgentState), _GOING)
"""What an agent may be about."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def agent_with(number: int) -> Agent:
    """The agent with that database number.

    Raises:
        NoSuchAgent: There is none.
    """
    found = ObjectDB.objects.filter(id=number).first() if number < 2**63 else None
    if not isinstance(found, Agent):
        raise no_such(number)
    return found


def mind_with(number: int) -> Mind:
    """The components of the agent with that number.

    Raises:
        NoSuchAgent: There is none.
        KeepsakeError: The agents' services are not running.
    """
    agent = agent_with(number)
    services()  # which tells what to do when there are none
    if (mind := agent.mind) is None:
        raise NoSuchAgent(f"{agent.key} is being deleted", "GET /agents/api/agents lists all")
    return mind


# -- all of them


def overview(*, may_act: bool) -> Overview:
    """All agents at a glance, and the model servers; in a view's thread.

    It asks the reactor thread for a few agents at a time: players come in between.

    Raises:
        KeepsakeError: The agents' services are not running, or do not answer.
    """
    whole, agents = on_reactor(lambda: (_world(may_act), all_agents()))
    rows: list[AgentRow] = []
    for few in batched(agents, AT_A_TIME):
        rows += on_reactor(partial(_rows, few, may_act))
    return whole.model_copy(update={"agents": tuple(rows)})


def _rows(agents: Iterable[Agent], may_act: bool) -> list[AgentRow]:
    """Those of them that have not been deleted meanwhile."""
    return [row(agent, may_act=may_act) for agent in agents if agent.id is not None]


def _world(may_act: bool) -> Overview:
    """What concerns all agents."""
    shared = services()
    return Overview(
        now=iso(shared.clock.now()) or "",
        agents=(),
        servers=tuple(_servers()),
        log_problem=shared.event_log.problem if shared.event_log else "",
        may_act=may_act,
    )


def row(agent: Agent, *, may_act: bool) -> AgentRow:
    """One agent at a glance."""
    mind, shared = mind_by_number(agent.id), services()
    place = agent.location.key if agent.location else "nowhere"
    if mind is None:
        return AgentRow(id=agent.id, name=agent.key, state="opening", place=place)
    memories, next_due, due, failure = _figures(mind)
    thinker, tally, costs = mind.thinker, mind.thinker.tally, mind.fitting.costs
    return AgentRow(
        id=agent.id,
        name=agent.key,
        state=state_of(mind),
        paused=bool(agent.db.paused),
        asleep=agent.is_asleep,
        going_home=mind.sleeper.going_home,
        place=place,
        last_act=tally.act,
        last_act_at=iso(tally.acted_at),
        waiting=thinker.waited,
        memories=memories,
        next_due=next_due,
        used=costs.used if costs else tally.used,
        budget=shared.compaction.current.budget,
        due=due,
        compacting=mind.memory.compacting,
        thoughts=thinker.thoughts,
        ended=tally.came_to_an_end,
        failed=tally.failed,
        recent_ended=len(tally.recent),
        recent_failed=tally.recent_failed,
        problem=_in_short(mind.memory.problem or mind.memory.no_room or tally.problem or failure),
        may_act=may_act,
    )


def state_of(mind: Mind) -> str:
    """What an agent is about, in the words of :class:`game.web.api.shapes.AgentRow`."""
    return _GOING if mind.sleeper.going_home else mind.thinker.state.value


def _in_short(problem: object) -> str:
    """The first sentence of a problem, on one line of :data:`LONGEST_PROBLEM` characters."""
    first, _, _ = str(problem).strip().partition("\n")
    sentence = _SENTENCE.split(first, maxsplit=1)[0]
    return shorten(sentence, LONGEST_PROBLEM)


def _figures(mind: Mind) -> tuple[int, int | None, str, str]:
    """Memories, when the next compaction is due, why one is due now, why the last one failed."""
    try:
        memory = mind.memory.memory
        status = memory.status()
        # Whether it pays is thought over at some length; while one is under way, in vain.
        due = None if mind.memory.compacting else memory.may_be_due()
    except KeepsakeError:  # its archive cannot be opened, which the component tells itself
        return 0, None, "", ""
    failure = status.last_failure if status.failures else ""
    return status.total, status.next_due, due.value if due else "", failure


def _servers() -> Iterator[ServerRow]:
    try:
        statuses = services().gateway.statuses()
    except KeepsakeError as error:  # a profile that cannot be used: all the more there is to see
        yield ServerRow(provider="llm.md", health=str(error))
        return
    for status in statuses:
        waiting = {each.name.lower(): status.waiting.get(each, 0) for each in Priority}
        yield ServerRow.of(status, waiting=waiting, cached=status.figures.cached_share)


# -- one of them


def prompt(number: int) -> PromptView:
    """What was last sent for an agent since the server started.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: The agents' services are not running.
    """
    sent = mind_with(number).thinker.tally.sent
    if sent is None:
        return PromptView(budget=services().compaction.current.budget)
    answer, cause = sent.answer, sent.impulse
    return PromptView(
        at=iso(sent.time),
        sections=tuple(_sections(sent)),
        sent=tuple(_stretches(sent.prompt)),
        tokens=sent.costs.used,
        budget=sent.costs.budget,
        cached=answer.cached_tokens if answer else 0,
        server_tokens=answer.prompt_tokens if answer else 0,
        trigger=f"{cause.trigger}: {cause.source}" if cause.source else cause.trigger,
        answer=answer.text if answer else "",
    )


def _sections(sent: Sent) -> Iterator[Section]:
    texts: dict[str, list[str]] = {}
    for text, section in sent.prompt.lines:
        texts.setdefault(title_of(section), []).append(text)
    for each in sent.costs.sections:
        yield Section.of(each, text="\n".join(texts.get(each.name, ())))


def _stretches(prompt: Rendered) -> Iterator[Stretch]:
    """The lines as they follow one another, those of one section together."""
    for section, lines in groupby(prompt.lines, lambda line: line.section):
        text = "\n".join(line.text for line in lines)
        yield Stretch(name=title_of(section), text=text)


def tiers(number: int) -> TiersView:
    """Which memory of an agent is where.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: The agents' services are not running, or its archive cannot be opened.
    """
    memory = mind_with(number).memory.memory
    context, status, load = memory.context(), memory.status(), memory.load()
    return lives.tiers(
        *(context, status.total, status.last_number, load.window),
        lambda text: sum(services().tokens.each(text.splitlines())),
    )


def life(number: int) -> ArchiveAccess:
    """The same.

    Raises:
        NoSuchAgent: There is none with that number.
        KeepsakeError: The agents' services are not running, or its archive cannot be opened.
    """
    names, memory = names_of(agent_with(number)), mind_with(number).memory.memory
    status, context = memory.status(), memory.context()
    done = (status.compactions, status.last_number, status.last_rate)
    state = (*done, context.longterm, context.recent)
    return ArchiveAccess(names, memory.archive, context, state)
