"""What an agent may begin something from when nobody has turned to it.

An unprompted thought costs a call of the model. Without a reason, most of its answers are
``> wait``. So the agent thinks only if there is an occasion: a plan that it has time for, somebody
here to whom it has not spoken, news for somebody here, or another part of the day. Each occasion is
used once.

Everything here reads what is in RAM, on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.plans.plans import Plans
from keepsake.agent.plans.shown_plans import line_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of
from keepsake.agent.surroundings.people import people_near
from keepsake.agent.unprompted.news import NewsToTell
from keepsake.archive.message_types import BY_RULE
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.records import Memory
from keepsake.archive.transcript import DAYTIMES
from keepsake.books.plan import Plan
from keepsake.errors import KeepsakeError
from keepsake.language.perception import shorten

MOST_AT_ONCE = 3
"""The most occasions that one thought is asked about. More would be answered with a list."""
_LONGEST_NEWS = 200
"""Characters of a line that is shown as news."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """One reason to begin something.

    Attributes:
        key: What makes it the same occasion; it is used once a day.
        text: The reason, as a prompt shows it.
        about: The person whom it is about; None for nobody.
    """

    key: str
    text: str
    about: CharacterObject | None = None


class Occasions:
    """The occasions of one agent, and which of them were used today.

    Args:
        importance_of: Returns how important a memory is, 1 to 10.
    """

    def __init__(
        self,
        memory: MemoryComponent,
        importance_of: Callable[[Memory], int],
        services: Runtime,
    ) -> None:
        self.plans: Plans | None = None
        self._memory = memory
        self._news = NewsToTell(importance_of, services.subscribers.agent_ids)
        self._used: set[str] = set()
        self._day = date.min

    def take(self, agent: Body, now: datetime) -> tuple[Occasion, ...]:
        """Return the occasions that are new, the most urgent first, and mark them as used.

        ``now``: The present time, with time zone.
        """
        local = now.astimezone()
        self._begin_day(local.date())
        found = [each for each in self._all(agent, local) if each.key not in self._used]
        taken = tuple(found[:MOST_AT_ONCE])
        self._used.update(each.key for each in taken)
        return taken

    def take_private_plan(self, agent: Body, now: datetime) -> Plan | None:
        """Return a plan that the agent has time for and only those who are here may know of.

        There may be nobody here. Mark it as used; return None without one.

        Args:
            now: The present time, with time zone.
        """
        local = now.astimezone()
        self._begin_day(local.date())
        here = frozenset(map(identity_of, people_near(agent)))
        current = self.plans.book.current if self.plans is not None and self.plans.enabled else ()
        for plan in current:
            key = _time_for(plan, DAYTIMES[local.hour])
            is_theirs = plan.confided is not None and plan.confided.issuperset(here)
            if is_theirs and _waits_for_nothing(plan) and key not in self._used:
                self._used.add(key)
                return plan
        return None

    def has_news_for(self, agent: Body, person: CharacterObject, now: datetime) -> bool:
        """Return whether there is news for somebody here that was not used today."""
        local = now.astimezone()
        self._begin_day(local.date())
        try:
            window = self._memory.usable
        except KeepsakeError:
            return False
        public = self._memory.private.heard_by(window, NO_PRIVATE_WORDS)
        news = self._news_for(agent, person, public, local)
        return any(each.key not in self._used for each in news)

    def _begin_day(self, today: date) -> None:
        """Forget what was used on another day."""
        if today != self._day:
            self._day = today
            self._used.clear()

    def met(self, person: CharacterObject, now: datetime) -> None:
        """Note that the agent talks with a person now.

        It need not greet them today, nor begin a talk of two with them in this part of the day: the
        other may have begun this one.
        """
        local = now.astimezone()
        self._begin_day(local.date())
        self._used |= {_greeting(person), _talk(person, local)}

    def _all(self, agent: Body, now: datetime) -> Iterator[Occasion]:
        """Yield all occasions that there are now, the most urgent first, used ones included."""
        try:
            window = self._memory.usable
        except KeepsakeError:
            return  # its archive cannot be read now, so it does not think either
        part = DAYTIMES[now.hour]
        yield from self._plans_with_time(part)
        public = self._memory.private.heard_by(window, NO_PRIVATE_WORDS)
        people = [each for each in people_near(agent) if _can_listen(each)]
        for person in people:
            yield from self._news_for(agent, person, public, now)
        for person in people:
            if not _spoke_today(window, identity_of(person), now):
                text = f"You have not spoken with {name_of(person, agent)} today."
                yield Occasion(_greeting(person), text, person)
        at_night = part == DAYTIMES[0]  # then it only goes to bed
        if not (at_night or self._has_planned(now) or _has_acted(window, now)):
            yield Occasion(f"hour {part}", f"It is {part} now.")

    def _has_planned(self, now: datetime) -> bool:
        """Return whether the agent means to do something later today: it has thought of the day."""
        plans = self.plans.shown(NO_PRIVATE_WORDS) if self.plans is not None else ()
        times = (plan.at.astimezone() for plan in plans if plan.at is not None)
        return any(at > now and at.date() == now.date() for at in times)

    def _plans_with_time(self, part: str) -> Iterator[Occasion]:
        """Yield the plans that wait for nothing, once in each part of the day."""
        plans = self.plans
        if plans is None:
            return
        for plan in plans.shown(NO_PRIVATE_WORDS):
            # What others know of a private plan does not say for what it waits.
            if _waits_for_nothing(plans.named(plan.number) or plan):
                text = f"You have time for what you mean to do: {line_of(plan)}"
                yield Occasion(_time_for(plan, part), text)

    def _news_for(
        self, agent: Body, person: CharacterObject, window: Sequence[Memory], now: datetime
    ) -> Iterator[Occasion]:
        """Yield what the agent was told in public and this person did not hear.

        What matters most to that person comes first.
        """
        who = identity_of(person)
        name = name_of(person, agent)
        for memory in self._news.of(window, person, name, now):
            key = f"news {memory.happening or memory.number} {who}"
            if is_agent(person):  # so that the same two do not talk after each line that one hears
                key = _talk(person, now)
            line = shorten(memory.line, _LONGEST_NEWS)
            yield Occasion(key, f"{name} may not know this yet: {line}", person)


def _waits_for_nothing(plan: Plan) -> bool:
    return plan.when is None or plan.is_begun


def _time_for(plan: Plan, part: str) -> str:
    return f"plan {plan.number} {part}"


def _greeting(person: CharacterObject) -> str:
    return f"greeting {identity_of(person)}"


def _talk(person: CharacterObject, now: datetime) -> str:
    return f"talk {DAYTIMES[now.hour]} {identity_of(person)}"


def _can_listen(person: CharacterObject) -> bool:
    """Return whether a person is awake, and played by somebody."""
    played = is_agent(person) or person.has_account
    return played and not (person.db.asleep or getattr(person, "unannounced", False))


def _spoke_today(window: Sequence[Memory], who: str, now: datetime) -> bool:
    """Return whether the agent and a person exchanged words today."""
    for memory in reversed(window):
        if memory.time.astimezone().date() != now.date():
            return False
        if memory.said is not None and memory.to_id in ("", who):
            return True
        heard = memory.heard
        if heard is not None and heard.speaker.id == who and heard.is_to_me_or_all:
            return True
    return False


def _has_acted(window: Sequence[Memory], now: datetime) -> bool:
    """Return whether the agent has begun or answered anything in this part of the day.

    Then the hour is no news for it. This also holds after a restart, which forgets what was used.
    """
    for memory in reversed(window):
        local = memory.time.astimezone()
        if local.date() != now.date() or DAYTIMES[local.hour] != DAYTIMES[now.hour]:
            return False
        if memory.is_own and memory.event not in BY_RULE:
            return True
    return False
