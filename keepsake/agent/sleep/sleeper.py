"""When an agent sleeps and wakes, and what people see of it; when it thinks over a talk.

Its work at night is in :mod:`keepsake.agent.sleep.night`. Everything here runs on the reactor
thread.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from keepsake.agent.acting.walker import Walker, WalkKind
from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Nights
from keepsake.agent.surroundings.addressing import WAKE, impulse_of
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import name_of, place_of
from keepsake.agent.surroundings.people import hosts_guests, players_near
from keepsake.agent.surroundings.showing import show
from keepsake.agent.thinker import Thinker
from keepsake.archive.message_types import RULED, MessageType
from keepsake.events.files import time_of
from keepsake.happening import ME, Deed, KnownVerb, Manner, PersonId, Result, Speech, What
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.SLEEP)

TICK_SECONDS = 60.0
"""Seconds between two checks whether an agent is tired or has slept enough."""
SLEEP_ATTRIBUTES = ("asleep", "awake_seconds", "checked_at", "night_due")
"""The attributes of an agent that belong to its sleep; see :class:`Sleeper`."""
ITS_HOUR = "its hour"
"""What wakes an agent that nobody disturbs: it has slept enough."""
_ADDRESSED = (ImpulseKind.ADDRESSED, ImpulseKind.NAMED)
"""Words that are meant for a sleeper, which a shout wakes."""


class Sleeper:
    """Puts one agent to bed and wakes it; lets it go home to its guests.

    The time when it fell asleep (``asleep``), its ``awake_seconds``, the time of the last check
    (``checked_at``) and whether the work of a night waits (``night_due``) are attributes of the
    agent: they survive a reload and a crash.

    Attributes:
        awake_seconds: Seconds since it last slept enough, without those when the server was down.
    """

    def __init__(
        self,
        memory: MemoryComponent,
        thinker: Thinker,
        walker: Walker,
        nights: Nights,
        services: Runtime,
    ) -> None:
        self._memory = memory
        self._thinker = thinker
        self._walker = walker
        self._services = services
        self.nights = nights
        self._body = thinker.body
        agent = thinker.body()
        stored = agent.attributes.get("awake_seconds") if agent is not None else None
        # A builder can set the attribute to any value.
        self.awake_seconds = float(stored) if isinstance(stored, int | float) else 0.0
        self._last_tick = services.seconds()
        self._last_spoken = self._last_tick
        self._has_started = False  # whether it was checked since the start
        self._talked_with = set[PersonId]()  # the players who have spoken to it since the start
        self._has_talked = False  # whether one of them has since it last thought talks over

    @property
    def asleep(self) -> bool:
        """Whether the agent is asleep."""
        agent = self._body()
        return agent is not None and bool(agent.db.asleep)

    @property
    def may_compact(self) -> bool:
        """Whether its memory may be compacted because it sleeps.

        The night's work comes first: it writes the journal and the pages of people from the
        memories themselves, which a compaction would replace with a summary.
        """
        return self.asleep and not self.nights.working

    @property
    def fell_asleep(self) -> datetime | None:
        """When it fell asleep, with time zone; None if it is awake or the time is not known."""
        agent = self._body()
        since = time_of(agent.db.asleep) if agent is not None else None
        # A time in the future comes from a clock that was wrong, and is ignored.
        return since if since and since <= self._services.clock.now() else None

    # -- time

    def tick(self) -> None:
        """Handle the passing of about a minute: tire, fall asleep or wake."""
        now = self._services.seconds()
        agent = self._body()
        clock = self._services.clock
        passed = now - self._last_tick
        self._last_tick = now
        if agent is None:
            return
        self._make_up_night(agent)
        if not agent.db.asleep:
            self._tick_awake(agent, passed)
        elif (since := self.fell_asleep) is None:
            agent.db.asleep = clock.now().isoformat()
        elif clock.now() >= self._services.sleeping.current.wakes_at(since):
            self.wake(ITS_HOUR)

    def _make_up_night(self, agent: Body) -> None:
        """Do the work of a night that was cut short by a stop, or over which the clock jumped."""
        config = self._services.sleeping.current
        now = self._services.clock.now()
        before = time_of(agent.db.checked_at)
        agent.db.checked_at = now.isoformat()
        starts = not self._has_started
        self._has_started = True
        jumped = before is not None and config.is_missed_night(before, now)
        if not config.sleep or agent.db.paused or self.nights.working:
            return
        if agent.db.asleep and starts and agent.db.night_due:
            self.nights.go_on(self._night_is_done)
        elif not agent.db.asleep and ((starts and agent.db.night_due) or jumped):
            agent.db.night_due = True
            self.nights.make_up(self._night_is_done)

    def _night_is_done(self) -> None:
        if (agent := self._body()) is not None:
            agent.attributes.remove("night_due")

    def _tick_awake(self, agent: Body, passed: float) -> None:
        config = self._services.sleeping.current
        self._store_awake_seconds(self.awake_seconds + passed)
        occupied = self._thinker.presence.is_occupied
        if agent.location is not agent.home and hosts_guests(agent) and not occupied:
            self.come_home()  # guests came before a reload or during a talk
        # A paused agent does not change, and a character that a player controls does not sleep.
        busy = agent.db.paused or agent.has_account or occupied or self._thinker.turn
        busy = busy or self._walker.walks_on_purpose
        quiet = self._services.seconds() - self._last_spoken >= config.quiet_minutes * 60.0
        if quiet and not busy:
            if why := config.tired(self.awake_seconds):
                self.go_to_bed(why)
            else:
                self._think_over_talks()

    def _think_over_talks(self) -> None:
        """Write what it makes of the players with whom it has talked: nobody speaks to it now.

        What could not be written, because no model answered, is written after the next talk.
        """
        if not self._has_talked or self.nights.working:
            return
        self._has_talked = False
        if self._services.sleeping.current.reflect:
            self.nights.think_over(frozenset(self._talked_with))

    def notice(self, event: Impulse) -> None:
        """Take in an event. An agent that players address does not go to bed.

        Nor does it go on thinking over an earlier talk.
        """
        if event.from_player and event.kind in (*_ADDRESSED, ImpulseKind.GIVEN):
            self._last_spoken = self._services.seconds()
            self._talked_with.add(event.who)
            self._has_talked = True
            self._walker.break_off()
            self.nights.disturb()

    def close(self) -> None:
        """Stop, because the server stops or the agent is gone. A sleeping agent stays asleep."""
        self._walker.stop()
        self.nights.close()

    # -- going home

    def come_home(self) -> None:
        """Go back to the place that it keeps, because a guest has come.

        A talk, a plan, a walk that it wants to make itself, and the rest of an answer that has led
        it away come first.
        """
        agent = self._body()
        if agent is None or self.asleep or agent.db.paused or agent.has_account:
            return
        on_its_way = self._walker.kind in (WalkKind.TO_GUESTS, WalkKind.ERRAND)
        turn = self._thinker.turn
        is_acting = turn is not None and turn.has_begun
        presence = self._thinker.presence
        if on_its_way or is_acting or presence.in_talk or presence.is_occupied:
            return
        self._thinker.cancel_thought()  # the thought might make it walk elsewhere
        self._walker.go_home(WalkKind.TO_GUESTS, self._greet_guests)

    def _greet_guests(self) -> None:
        """Treat the players who wait at home as if they had just arrived."""
        self._last_spoken = self._services.seconds()
        agent = self._body()
        if agent is None:
            return
        for guest in players_near(agent):
            who = identity_of(guest)
            name = name_of(guest, agent)
            self._thinker.notice(Impulse(ImpulseKind.ARRIVAL, True, name, source_id=who))

    def go_to_bed(self, why: str) -> None:
        """Go home and sleep; ``why`` is recorded: ``16 hours awake``."""
        if not self.asleep and self._body() is not None:
            self._walker.go_home(WalkKind.TO_BED, lambda: self.fall_asleep(why))

    # -- falling asleep, and waking

    def fall_asleep(self, why: str) -> None:
        """Fall asleep where the agent is."""
        self._walker.stop()
        agent = self._body()
        if agent is None or agent.db.asleep:
            return
        self._thinker.cancel_thought()
        self._remember(agent, f"You lie down and fall asleep ({why}).")
        agent.db.asleep = self._services.clock.now().isoformat()
        show(agent, f"{agent.key} lies down and falls asleep.", "asleep")
        log.info("Falls asleep", agent=agent.key, why=why)
        self._store_awake_seconds(self.awake_seconds)
        agent.db.night_due = True  # until its work is done, also after a crash
        self.nights.begin(why, self._night_is_done)

    def wake(self, by: str, *, rested: bool = False) -> bool:
        """Wake because of ``by``, a name or :data:`ITS_HOUR`. Return False if it was not asleep.

        ``rested``: Whether it counts as having slept enough, however short the sleep was.
        """
        agent = self._body()
        now = self._services.clock.now()
        if agent is None or not self.asleep:
            return False
        slept = now - (self.fell_asleep or now)
        agent.attributes.remove("asleep")
        self.nights.end(by, by_itself=by == ITS_HOUR)
        if rested or by == ITS_HOUR:  # else it goes back to sleep when left alone
            self._store_awake_seconds(0.0)
        told = f"{slept / timedelta(hours=1):.1f} hours"
        cause = "you have slept enough" if by == ITS_HOUR else f"{by} woke you"
        self._remember(agent, f"You wake up after {told} of sleep: {cause}.")
        show(agent, f"{agent.key} wakes up.", "asleep")
        log.info(f"Wakes after {told}", agent=agent.key, by=by)
        self._last_spoken = self._services.seconds()
        self._thinker.schedule()
        self._thinker.notice(Impulse(ImpulseKind.OTHER, from_player=False, source=""))
        return True

    def _remember(self, agent: Body, text: str) -> None:
        self._memory.remember(Result(shown=text), place=place_of(agent))

    def _store_awake_seconds(self, seconds: float) -> None:
        self.awake_seconds = seconds
        if (agent := self._body()) is not None:
            agent.attributes.add("awake_seconds", round(seconds, 1))

    # -- events around a sleeping agent

    def disturb(self, speaker: GameObject | None, what: What, event: str) -> bool:
        """Disturb the sleeper; return whether it perceives that.

        A shout at it wakes it, and so does who shakes it. A gift, and what is done to it by rule,
        it perceives and sleeps on. Of everything else it knows nothing later.

        Args:
            speaker: The character that spoke or acted; None if nobody is known.
            what: What happened, as the agent would perceive it.
            event: The type of the message.
        """
        agent = self._body()
        if agent is None or speaker is None or speaker is agent:
            return False
        deed = what if isinstance(what, Deed) and ME in what.to else None
        if deed is not None and event in RULED:
            return True
        name = name_of(agent, speaker)
        if deed is not None and deed.verb == KnownVerb.GIVE:
            _answer(agent, speaker, f"{name} takes it without waking.")
            return True
        impulse = impulse_of(agent, speaker, what, event=event)
        meant = impulse is not None and impulse.kind in _ADDRESSED
        shouted = isinstance(what, Speech) and what.manner is Manner.SHOUT
        if (meant and shouted) or (deed is not None and deed.verb == WAKE):
            return self.wake(name_of(speaker, agent))
        if meant:
            how = "" if is_agent(speaker) else f" Shout, or type |wwake {name.lower()}|n."
            _answer(agent, speaker, f"{name} is asleep, and does not hear you.{how}")
        return False


def _answer(agent: Body, speaker: GameObject, text: str) -> None:
    """Tell a speaker that the agent is asleep."""
    speaker.msg((text, {"type": MessageType.ASLEEP}), from_obj=agent)
