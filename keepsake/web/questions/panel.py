"""The panel "What do you want to know?": the agents, people and times that its pickers offer.

Runs in a view's thread, because it reads the beginnings of the archives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.utils.timezone import localtime

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.books.person_page import PersonPage
from keepsake.errors import KeepsakeError
from keepsake.happening import addressees_of, is_me
from keepsake.web import world
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown

_EVENING = time(20)
"""The hour of yesterday that the panel offers: the day's talks are over by then."""
_FIRST_FEW = 50
"""The memories among which the first one is looked for: somebody may have had it forgotten."""
MOST_NAMES = 300
"""The most names that a field offers; the page of a large world would grow with them."""


@dataclass(frozen=True, slots=True)
class Picked:
    """An agent that a picker offers.

    Attributes:
        compacted: When its summaries were made last; None if it has none.
        first, last: The times of its first and its newest memory; None if it has none.
    """

    id: int
    name: str
    compacted: datetime | None = None
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """What the panel offers.

    Attributes:
        about: The agent of the page; None on the page of all.
        talked: The number of the agent that a player talked with last, which pickers offer first;
            0 if none did.
        hint: What may be typed: names and times of this world.
        brief_hint: A part of it that a phone has room for.
        met: The name of the person whom the agent of the page met last; empty for none, and on the
            page of all.
        names: The people whom an agent knows, and the agents.
        evening: The time that is offered first.
        first, last: When the memories of these agents begin and end; None if there are none.
    """

    agents: Sequence[Picked]
    about: Picked | None
    talked: int
    hint: str
    brief_hint: str
    met: str
    names: Sequence[str]
    evening: datetime
    first: datetime | None
    last: datetime | None


def panel(about: int | None = None) -> Panel | None:
    """Return the panel of all agents, or about one; None while the agents are not running."""
    try:
        known = world.known_agents()
        now = runtime().clock.now()
    except KeepsakeError:  # the page says it, as soon as it asks the API
        return None
    agents = [_picked(each) for each in known if about is None or each.id == about]
    first = min((each.first for each in agents if each.first), default=None)
    last = max((each.last for each in agents if each.last), default=None)
    talked = _talked(known)
    return Panel(
        agents=agents,
        about=agents[0] if about is not None and agents else None,
        talked=talked[0].id if talked else 0,
        hint=_hint(known, talked),
        brief_hint=_brief_hint(known, talked),
        met=next((_met(each) for each in known if each.id == about), ""),
        names=_names(known),
        evening=_evening(now, first, last),
        first=first,
        last=last,
    )


def _picked(agent: KnownAgent) -> Picked:
    if agent.mind is None:
        return Picked(agent.id, agent.name)
    try:
        memory = agent.mind.memory.memory
        tiers = memory.tiers.view()
        begun = memory.archive.read(1, _FIRST_FEW)
    except (KeepsakeError, OSError):  # its archive cannot be read, which its own page says
        return Picked(agent.id, agent.name)
    state = tiers.state
    compacted = state.time if state.recent or state.longterm else None
    last = tiers.window[-1].time if tiers.window else state.time
    return Picked(agent.id, agent.name, compacted, begun[0].time if begun else None, last)


def _names(agents: Sequence[KnownAgent]) -> tuple[str, ...]:
    """Return the names of the people whom agents know by now, and of the agents, sorted."""
    names = {each.name for each in agents}
    for mind in filter(None, (each.mind for each in agents)):
        names.update(_names_known(mind))
    return tuple(sorted(names, key=str.casefold)[:MOST_NAMES])


def _hint(agents: Sequence[KnownAgent], talked: tuple[KnownAgent, PersonPage] | None) -> str:
    """Return what may be typed for each question, with names and a time that have an answer."""
    if not agents:
        return ""
    name = talked[0].name if talked else agents[0].name
    met = f"{name} {talked[1].name}, " if talked else ""
    at = as_shown(talked[1].last_met) if talked else None
    when = f"{at:%H:%M}" if at else "19:30"
    lost = f"what {name} lost, why {name} said …"
    return f"{met}{name} {when}, {name} tomorrow, {lost}, any words"


def _brief_hint(agents: Sequence[KnownAgent], talked: tuple[KnownAgent, PersonPage] | None) -> str:
    """Return what a phone has room for: the question that needs no explanation."""
    if not agents:
        return ""
    return f"why {talked[0].name if talked else agents[0].name} said …, any words"


def _talked(agents: Sequence[KnownAgent]) -> tuple[KnownAgent, PersonPage] | None:
    """Return the agent to which somebody spoke last who is no agent, and its page of them.

    Who only heard it has met them, too.
    """
    keys = {each.key for each in agents}
    pages = [(each, page) for each in agents for page in _pages(each) if page.key not in keys]

    def last(found: tuple[KnownAgent, PersonPage]) -> tuple[datetime, datetime]:
        agent, page = found
        return _spoken_to(agent, page.key) or page.first_met, page.last_met

    return max(pages, key=last, default=None)


def _spoken_to(agent: KnownAgent, key: str) -> datetime | None:
    """Return when somebody said something to an agent last, as far as its window goes back."""
    try:
        window = agent.mind.memory.memory.tiers.view().window if agent.mind else ()
    except KeepsakeError:  # its archive cannot be read, which its own page says
        return None
    said = (each for each in reversed(window) if each.source_id == key and not each.is_own)
    return next((each.time for each in said if any(map(is_me, addressees_of(each.what)))), None)


def _met(agent: KnownAgent) -> str:
    """Return the name of the person whom an agent met last; empty for nobody."""
    met = max(_pages(agent), key=lambda each: each.last_met, default=None)
    return met.name if met else ""


def _pages(agent: KnownAgent) -> Sequence[PersonPage]:
    return [*agent.mind.books.people.known.values()] if agent.mind else []


def _names_known(mind: Mind) -> list[str]:
    return [page.name for page in mind.books.people.known.values()]


def _evening(now: datetime, first: datetime | None, last: datetime | None) -> datetime:
    """Return yesterday evening; the newest memory's time if there is no memory of that evening."""
    today = localtime(now)
    evening = today.replace(hour=_EVENING.hour, minute=0, second=0, microsecond=0)
    evening -= timedelta(days=1)
    return evening if first is None or last is None or first <= evening <= last else last
