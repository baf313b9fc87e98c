"""The world as it is now, as plain data, asked of the reactor thread.

Nothing here opens a file: what an agent experienced is read in :mod:`keepsake.web.history`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from evennia.objects.models import ObjectDB

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.thinking.thinker import AgentState
from keepsake.agent.thinking.thought_log import DROPPED, FAILED, Sent
from keepsake.archive.log import Archive
from keepsake.archive.records import Summary
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import mind_by_number, mind_of
from keepsake.errors import KeepsakeError
from keepsake.language.perception import shorten
from keepsake.language.words import SENTENCE_GAP
from keepsake.models.queue import Priority
from keepsake.prompt.sections import title_of
from keepsake.recall.documents import Hit
from keepsake.web.on_reactor import WorldBusy, on_reactor
from keepsake.web.shapes import (
    AgentRow,
    Overview,
    PromptView,
    RoomView,
    Section,
    ServerRow,
    Stretch,
    SummaryView,
    TiersView,
    WorldView,
    iso,
)

SEARCH_PATIENCE = 20.0
"""Seconds until a view gives up on a search, which gives up by itself long before."""
LONGEST_PROBLEM = 160
"""Characters of an agent's problem that are shown beside it; the log has all."""
_GOING = "going home to sleep"
STATES = (*(each.value for each in AgentState), _GOING)
"""The states that an agent may be in."""


class NoSuchAgent(KeepsakeError):
    """No agent has that number."""


@dataclass(frozen=True, slots=True)
class ArchiveAccess:
    """What a view's thread needs to read an agent's archive."""

    name: str
    archive: Archive  # safe in any thread
    state: tuple[object, ...]  # differs whenever the archive's compactions differ


@dataclass(frozen=True, slots=True)
class Inhabitant:
    """An agent, as far as files need it."""

    number: int
    name: str
    folder: Path


# -- on the reactor thread


def agent_with(number: int) -> AgentMixin:
    """The agent with that database number.

    Raises:
        NoSuchAgent: There is none.
    """
    found = ObjectDB.objects.filter(id=number).first() if number < 2**63 else None
    if not isinstance(found, AgentMixin):
        raise NoSuchAgent(f"There is no agent {number}", "GET /agents/api/agents lists all")
    return found


def mind_with(number: int) -> Mind:
    """The components of the agent with that number.

    Raises:
        NoSuchAgent: There is none.
        KeepsakeError: The agents are not running.
    """
    agent = agent_with(number)
    runtime()  # whose error says what to do when there are none
    if (mind := mind_of(agent)) is None:
        raise NoSuchAgent(f"{agent.key} is being deleted", "GET /agents/api/agents lists all")
    return mind


def state_of(mind: Mind) -> str:
    """One of :data:`STATES`."""
    return _GOING if mind.sleeper.going_home else mind.thinker.state.value


def _row(agent: AgentMixin, may_act: bool) -> AgentRow:
    mind, shared = mind_by_number(agent.id), runtime()
    place = agent.location.key if agent.location else "nowhere"
    if mind is None:
        return AgentRow(id=agent.id, name=agent.key, state="opening", place=place)
    memories, next_due, due, failure = _figures(mind)
    thinker, thoughts = mind.thinker, mind.thinker.log
    problem = mind.memory.problem or mind.memory.no_room or thoughts.problem or failure
    return AgentRow(
        id=agent.id,
        name=agent.key,
        state=state_of(mind),
        paused=bool(agent.db.paused),
        asleep=agent.is_asleep,
        going_home=mind.sleeper.going_home,
        place=place,
        last_act=thoughts.act,
        last_act_at=iso(thoughts.acted_at),
        waiting=thinker.waited,
        memories=memories,
        next_due=next_due,
        used=thoughts.sent.costs.used if thoughts.sent else 0,
        budget=shared.compaction.current.budget,
        due=due,
        compacting=mind.memory.compacting,
        ended=thoughts.outcomes.total() - thoughts.outcomes[DROPPED],
        failed=sum(thoughts.outcomes[each] for each in FAILED),
        recent_ended=len(thoughts.recent),
        recent_failed=sum(each in FAILED for each in thoughts.recent),
        problem=_in_short(problem),
        may_act=may_act,
    )


def _in_short(problem: object) -> str:
    """The first sentence of a problem, on one line of :data:`LONGEST_PROBLEM` characters."""
    first, _, _ = str(problem).strip().partition("\n")
    return shorten(SENTENCE_GAP.split(first, maxsplit=1)[0], LONGEST_PROBLEM)


def _figures(mind: Mind) -> tuple[int, int | None, str, str]:
    """Memories, when the next compaction is due, why one is due now, why the last one failed."""
    try:
        memory = mind.memory.memory
        status = memory.status()
        # To weigh whether it pays takes a while; during a compaction it is pointless.
        due = None if mind.memory.compacting else memory.may_be_due()
    except KeepsakeError:  # its archive cannot be opened, which the component reports itself
        return 0, None, "", ""
    failure = status.last_failure if status.failures else ""
    return status.total, status.next_due, due.value if due else "", failure


def _overview(may_act: bool) -> Overview:
    shared = runtime()
    return Overview(
        now=iso(shared.clock.now()) or "",
        agents=tuple(_row(each, may_act) for each in all_agents()),
        servers=tuple(_servers()),
        log_problem=shared.event_log.problem if shared.event_log else "",
    )


def _servers() -> Iterator[ServerRow]:
    try:
        statuses = runtime().gateway.statuses()
    except KeepsakeError as error:  # a profile that cannot be used: all the more there is to see
        yield ServerRow(provider="llm.md", health=str(error))
        return
    for status in statuses:
        waiting = {each.name.lower(): status.waiting.get(each, 0) for each in Priority}
        yield ServerRow.of(status, waiting=waiting, cached=status.figures.cached_share)


def _prompt(number: int) -> PromptView:
    sent = mind_with(number).thinker.log.sent
    if sent is None:
        return PromptView(budget=runtime().compaction.current.budget)
    lines = groupby(sent.prompt.lines, lambda line: line.section)
    stretches = (Stretch(name=title_of(each), text=_joined(of)) for each, of in lines)
    answer, cause = sent.answer, sent.impulse
    return PromptView(
        at=iso(sent.time),
        sections=tuple(_sections(sent)),
        sent=tuple(stretches),
        tokens=sent.costs.used,
        budget=sent.costs.budget,
        cached=answer.cached_tokens if answer else 0,
        server_tokens=answer.prompt_tokens if answer else 0,
        trigger=f"{cause.kind}: {cause.source}" if cause.source else cause.kind,
        answer=answer.text if answer else "",
    )


def _sections(sent: Sent) -> Iterator[Section]:
    texts: dict[str, list[str]] = {}
    for text, section in sent.prompt.lines:
        texts.setdefault(title_of(section), []).append(text)
    for each in sent.costs.sections:
        yield Section.of(each, text="\n".join(texts.get(each.name, ())))


def _joined(lines: Iterator[object]) -> str:
    return "\n".join(str(getattr(line, "text", "")) for line in lines)


def _tiers(number: int) -> TiersView:
    memory = mind_with(number).memory.memory
    context, status = memory.context(), memory.status()
    window = context.window[0].number if context.window else status.total + 1
    oldest, views = context.longterm or context.recent, dict[str, SummaryView]()
    for each in context.summaries:
        tokens = sum(runtime().tokens.each(each.text.splitlines()))
        views[each.tier.value] = summary_view(each, status.last_number, tokens)
    return TiersView(
        first=oldest.first if oldest else window,
        total=status.total,
        longterm=views.get("longterm"),
        recent=views.get("recent"),
        window_first=window,
        window_tokens=memory.load().window,
    )


def _access(number: int) -> ArchiveAccess:
    agent, memory = agent_with(number), mind_with(number).memory.memory
    status, context = memory.status(), memory.context()
    done = (status.compactions, status.last_number)
    return ArchiveAccess(agent.key, memory.archive, (*done, context.longterm, context.recent))


def _rooms() -> Iterator[RoomView]:
    agents = all_agents()
    places = {each.location for each in agents if each.location is not None}
    found = {*places, *(way.destination for place in places for way in place.exits)}
    for place in sorted(filter(None, found), key=lambda place: str(place.key)):
        here = [each for each in agents if each.location is place]
        others = [each for each in place.contents_get(content_type="character") if each.has_account]
        yield RoomView(
            name=place.key,
            exits=tuple(dict.fromkeys(w.destination.key for w in place.exits if w.destination)),
            agents=tuple((each.id, each.key) for each in here),
            players=tuple(each.key for each in others),
        )


def _inhabitant(agent: AgentMixin) -> Inhabitant:
    return Inhabitant(agent.id, agent.key, runtime().places.agents / agent.memory_folder)


# -- in a view's thread; each raises NoSuchAgent, or KeepsakeError if the world cannot answer


def overview(may_act: bool) -> Overview:
    """All agents at a glance, by name, and the model servers."""
    return on_reactor(lambda: _overview(may_act))


def row(number: int, may_act: bool) -> AgentRow:
    """One agent at a glance."""
    return on_reactor(lambda: _row(agent_with(number), may_act))


def prompt(number: int) -> PromptView:
    """The last prompt since the server started; without a time if there was none."""
    return on_reactor(lambda: _prompt(number))


def tiers(number: int) -> TiersView:
    """Which memory is in which tier."""
    return on_reactor(lambda: _tiers(number))


def archive_of(number: int) -> ArchiveAccess:
    """An agent's archive."""
    return on_reactor(lambda: _access(number))


def name_of(number: int) -> str:
    """What an agent is called."""
    return on_reactor(lambda: str(agent_with(number).key))


def rooms() -> WorldView:
    """The places in which agents are, and those beside them."""
    return WorldView(rooms=on_reactor(lambda: tuple(_rooms())))


def inhabitants() -> Sequence[Inhabitant]:
    """All agents."""
    return on_reactor(lambda: [_inhabitant(each) for each in all_agents()])


def inhabitant(number: int) -> Inhabitant:
    """One of them."""
    return on_reactor(lambda: _inhabitant(agent_with(number)))


def event_log() -> Path:
    """The folder of the event log."""
    return runtime().places.events


def now() -> datetime:
    """The time by the agents' clock."""
    return runtime().clock.now()


def ranked(number: int, question: str, limit: int) -> Sequence[Hit] | None:
    """What an agent's own search finds, best first; None if nothing can be searched.

    Raises:
        WorldBusy: All threads that search are busy.
    """
    recaller = on_reactor(lambda: mind_with(number).keeper.recaller)
    on_reactor(recaller.prepare)
    # In the threads of the agents' own searches.
    searching = runtime().workers.submit(recaller.rank, question, limit)
    try:
        return searching.result(SEARCH_PATIENCE)
    except (TookTooLong, CancelledError) as error:
        searching.cancel()  # if it has not begun, nobody waits for it any more
        raise WorldBusy("The search took too long", "Try again in a moment") from error


def summary_view(
    found: Summary, compaction: int, tokens: int, *, undone: bool = False
) -> SummaryView:
    """A summary for people, which that compaction wrote; ``tokens`` is its share of a prompt."""
    return SummaryView.of(
        found,
        kind=found.tier.value,
        compaction=compaction,
        at=iso(found.time),
        tokens=tokens,
        undone=undone,
    )
