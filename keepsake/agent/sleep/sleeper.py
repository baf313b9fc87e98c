"""When an agent sleeps and wakes, and what people see of it.

What it does in its sleep is in :mod:`keepsake.agent.sleep.night`. Runs on the reactor thread
throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.attention import EventKind, Impulse
from keepsake.agent.body import Body
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Nights
from keepsake.agent.sleep.tiredness import SleepConfig, Tiredness, is_loud, tired, wakes_at
from keepsake.agent.surroundings import (
    event_of,
    guests_wait,
    identity_of,
    is_agent,
    place_of,
    players_near,
    show,
    words_of,
)
from keepsake.agent.thinking.thinker import Thinker
from keepsake.agent.walking import CALLED, STROLL, Walk
from keepsake.archive.records import MemoryKind
from keepsake.language.heard import RULED

TICK_SECONDS = 60.0
"""How often somebody looks whether an agent is tired, or has slept enough."""
SAVED_EACH = 5
"""Ticks after which the hours awake are written down: what a crash may forget of them."""
LONGEST_TICK = 3600.0
"""Seconds between two ticks that count: a machine that was suspended was not awake."""
LONGEST_QUIET = 3600.0
"""Seconds of quiet after which an agent lies down again, however often it was woken."""
ITS_HOUR = "its hour"
_BY_HAND = "it was put to sleep"
"""Why it sleeps, where somebody has set the attribute ``asleep``."""
_ASLEEP_BEFORE = "it slept when the world stopped"
"""Why it sleeps, where a crash took the line of the night in which it fell asleep."""
_FOR_IT = (EventKind.ADDRESSED, EventKind.NAMED)


class Sleeper:
    """Puts one agent to bed, and wakes it; and walks it home, or where its day has it.

    That it sleeps is an attribute of the agent (``asleep``), as is since when and how tired it
    was: they outlive a reload and a crash. A builder may set or remove ``asleep`` by hand.

    Attributes:
        nights: What it does in its sleep.
        tiredness: What has tired it since it last slept.
    """

    def __init__(
        self,
        agent_id: int,
        memory: MemoryComponent,
        thinker: Thinker,
        nights: Nights,
        services: Runtime,
    ) -> None:
        self._services, self._memory, self._thinker = services, memory, thinker
        self.nights, self.tiredness = nights, _tiredness_of(thinker.agent)
        self._walk: Walk | None = None
        self._last_tick = self._last_spoken = services.seconds()
        self._disturbed = 0  # how often it was woken since it last slept its fill
        # Not all agents write in the same turn of the reactor.
        self._ticks = agent_id % SAVED_EACH

    @property
    def agent(self) -> Body | None:
        """The agent as it is now; None if it has been deleted."""
        return self._thinker.agent

    @property
    def asleep(self) -> bool:
        """Whether the agent sleeps."""
        return self._thinker.asleep

    @property
    def going_home(self) -> bool:
        """Whether it is on its way to bed, or to a guest."""
        return self._walk is not None and self._walk.manner is not STROLL

    @property
    def walking(self) -> bool:
        """Whether it is on its way somewhere, and knows the way."""
        return self._walk is not None

    @property
    def working(self) -> bool:
        """Whether its night's work goes on in a thread."""
        return self.nights.working

    @property
    def may_compact(self) -> bool:
        """Whether its memory may be compacted because it sleeps; see :class:`.night.Nights`."""
        return self.asleep and self.nights.may_compact

    @property
    def fell_asleep(self) -> datetime | None:
        """Since when it sleeps, with time zone; None if it is awake, or nobody knows."""
        if not self.asleep or (agent := self.agent) is None:
            return None
        try:
            since = datetime.fromisoformat(str(agent.db.fell_asleep)).astimezone()
        except (ValueError, OverflowError):  # a builder has set `asleep` by hand
            return None
        # A clock that was wrong by a year, and is put right, must not mean a year of sleep.
        return since if since <= self._now else None

    @property
    def _now(self) -> datetime:
        return self._services.clock.now()

    @property
    def _config(self) -> SleepConfig:
        return self._services.sleeping.current

    # -- time passes

    def start(self) -> None:
        """Go on where the server stopped: who slept then sleeps on."""
        agent = self.agent
        if agent is None or not self.asleep or self.nights.under_way:
            return
        before, now = self.fell_asleep, self._now
        agent.db.fell_asleep = (before or now).isoformat()
        self._thinker.break_off()
        if before is not None:
            self.nights.begin(_ASLEEP_BEFORE, before, again=True)
        else:
            self.nights.begin(_BY_HAND, now)

    def tick(self) -> None:
        """About a minute has passed."""
        now, agent = self._services.seconds(), self.agent
        passed, self._last_tick = now - self._last_tick, now
        if agent is None:
            return
        if not self.asleep:
            self._live_on(agent, min(max(passed, 0.0), LONGEST_TICK))
        elif not self.nights.under_way:
            self.start()
        elif (since := self.fell_asleep) is None:  # else it would never have slept enough
            agent.db.fell_asleep = self._now.isoformat()
        elif self._now >= wakes_at(since, self._config):
            self.wake(ITS_HOUR)

    def _live_on(self, agent: Body, passed: float) -> None:
        if self.nights.under_way:  # somebody has taken `asleep` away by hand
            self.nights.end("a builder", whole=True)
            agent.attributes.remove("fell_asleep")
            self._rested(1.0)
        self.tiredness = self.tiredness.after(passed, 0)
        self._ticks += 1
        if self._ticks % SAVED_EACH == 0:
            self._keep_tiredness()
        if guests_wait(agent):  # since before a reload, or it was held up in a talk
            self.come_home()
        # Paused it stays as it is; and nobody falls asleep in a body that a person plays.
        busy = agent.db.paused or agent.has_account or self.going_home
        if (why := tired(self._config, self.tiredness)) and not busy and self._quiet():
            self.go_to_bed(why)

    def _quiet(self) -> bool:
        """Whether nobody turns to it. Whoever was woken wants twice the quiet each time.

        So a player who shakes it again and again cannot fill its memory with wakings.
        """
        quiet = self._config.quiet_minutes * 60.0
        if self._disturbed:
            doubled = max(quiet, TICK_SECONDS) * 2.0 ** min(self._disturbed, 16)
            quiet = min(doubled, max(LONGEST_QUIET, quiet))
        return self._services.seconds() - self._last_spoken >= quiet and not self._thinker.thinking

    def spent(self, tokens: int) -> None:
        """A thought has read and written so many tokens."""
        self.tiredness = self.tiredness.after(0.0, max(tokens, 0))

    def noticed(self, event: Impulse) -> None:
        """Something happened; while players turn to it, it does not go to bed."""
        if event.from_player and event.kind in (*_FOR_IT, EventKind.GIVEN):
            self._last_spoken = self._services.seconds()
            self.stay_up()

    def close(self) -> None:
        """The server stops, or the agent is gone; it sleeps on if it sleeps."""
        self.stay_up()
        self.nights.close()
        self._keep_tiredness()

    # -- on its way

    def walk(self, goal: Any, arrived: Callable[[], None]) -> None:
        """Walk to a room, as its day has it; whoever turns to the agent stops it."""
        self._set_off(arrived, STROLL, goal)

    def come_home(self) -> None:
        """Go back to the place that it keeps, where a guest has come; not out of a talk."""
        agent = self.agent
        if agent is None or self.asleep or agent.db.paused or agent.has_account:
            return
        called = self._walk is not None and self._walk.manner is CALLED
        if called or self._thinker.in_talk:
            return
        self._thinker.break_off()  # else it might walk another way meanwhile
        self._set_off(self._welcome, CALLED)

    def _welcome(self) -> None:
        """It is home: to it, whoever waits there has only just come."""
        self._last_spoken = self._services.seconds()
        for guest in players_near(self.agent):
            who = identity_of(guest)
            self._thinker.notice(Impulse(EventKind.ARRIVAL, True, guest.key, source_id=who))

    def go_to_bed(self, why: str) -> None:
        """Go home and sleep; ``why`` is kept: ``16 hours awake``."""
        if not self.asleep and self.agent is not None:
            self._set_off(lambda: self.fall_asleep(why))

    def stay_up(self) -> None:
        """Stop where it is, if it was on its way."""
        if self._walk is not None:
            self._walk.stop()
        self._walk = None

    def _set_off(self, arrived: Callable[[], None], *manner_and_goal: Any) -> None:
        def over() -> None:
            self.stay_up()
            arrived()

        self.stay_up()
        self._walk = Walk(lambda: self.agent, self._services.timer, over, *manner_and_goal)
        self._walk.start()

    # -- falling asleep, and waking

    def fall_asleep(self, why: str) -> None:
        """Lie down where the agent is, and sleep."""
        self.stay_up()
        agent, now = self.agent, self._now
        if agent is None or self.asleep:
            return
        self._thinker.break_off()
        self._remember(agent, f"You lie down and fall asleep ({why}).")
        agent.db.fell_asleep = now.isoformat()
        agent.db.asleep = True
        show(agent, f"{agent.key} lies down and falls asleep.", "asleep")
        log(f"[Sleep] {agent.key} falls asleep: {why}")
        self._keep_tiredness()
        self.nights.begin(why, now)

    def wake(self, by: str, *, rested: bool = False) -> bool:
        """Wake ``by`` somebody or :data:`ITS_HOUR`; False if it does not sleep.

        ``rested``: It is as fresh as after a whole night, however short this one was.
        """
        agent, now = self.agent, self._now
        if agent is None or not self.asleep:
            return False
        slept = now - (self.fell_asleep or now)
        whole = rested or by == ITS_HOUR
        agent.attributes.remove("asleep")
        agent.attributes.remove("fell_asleep")
        self.nights.end(by, whole=whole)
        share = slept / timedelta(hours=self._config.sleep_hours)
        self._rested(1.0 if whole else min(max(share, 0.0), 1.0))
        self._disturbed = 0 if whole else self._disturbed + 1
        cause = "you have slept enough" if by == ITS_HOUR else f"{by} woke you"
        self._remember(agent, f"You wake up after {_told(slept)} of sleep: {cause}.")
        show(agent, f"{agent.key} wakes up.", "asleep")
        log(f"[Sleep] {agent.key} wakes after {_told(slept)}: {by}")
        self._last_spoken = self._services.seconds()
        self._thinker.start()
        self._thinker.notice(Impulse(EventKind.OTHER, from_player=False, source=""))
        return True

    def _remember(self, agent: Body, text: str) -> None:
        self._memory.remember(text, MemoryKind.RESULT, place=place_of(agent))

    def _rested(self, share: float) -> None:
        """Sleep has taken ``share`` of the tiredness away."""
        old, left = self.tiredness, 1.0 - share
        self.tiredness = Tiredness(old.awake_seconds * left, int(old.tokens * left))
        self._keep_tiredness()

    def _keep_tiredness(self) -> None:
        if (agent := self.agent) is not None:
            kept = (round(self.tiredness.awake_seconds, 1), self.tiredness.tokens)
            agent.attributes.add("tiredness", kept)

    # -- what reaches a sleeper

    def reached_by(self, speaker: Any, line: str, facts: Mapping[str, Any]) -> bool:
        """Whether what happens around the sleeping agent reaches it; wakes it if it is loud.

        ``facts``: The message's ``type`` and, for what is meant for one, ``to``.
        """
        agent = self.agent
        if agent is None or speaker is None or speaker is agent:
            return False
        kind, for_me = str(facts.get("type", "")), facts.get("to") == agent.id
        if kind in RULED and for_me:
            return True
        if kind == "give" and for_me:
            _answer(agent, speaker, f"{agent.key} takes it without waking.")
            return True
        event = event_of(agent, speaker, line, facts)
        meant = event is not None and event.kind in _FOR_IT
        loud = is_loud(words_of(line), agent.key)
        if kind == "shout":
            called = meant or (loud and event is not None and speaker.location is agent.location)
        else:
            called = meant and loud and kind not in ("whisper", "pose", "give")
        if called or (kind == "wake" and for_me):
            return self.wake(speaker.key)
        if meant and kind != "shout":
            how = "" if is_agent(speaker) else f" Shout, or type |wwake {agent.key.lower()}|n."
            _answer(agent, speaker, f"{agent.key} is asleep, and does not hear you.{how}")
        return False


def _answer(agent: Body, speaker: Any, text: str) -> None:
    """Tell whoever turns to a sleeper why nothing comes of it."""
    speaker.msg((text, {"type": "asleep"}), from_obj=agent)


def _tiredness_of(agent: Body | None) -> Tiredness:
    try:
        seconds, tokens = (agent.attributes.get("tiredness") if agent else None) or (0.0, 0)
        return Tiredness(max(float(seconds), 0.0), max(int(tokens), 0))
    except (TypeError, ValueError):  # builders can set an attribute to anything
        return Tiredness()


def _told(slept: timedelta) -> str:
    """``6.5 hours``, ``12 minutes``, ``a moment``."""
    minutes = slept.total_seconds() / 60.0
    if minutes < 1.5:
        return "a moment"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60.0:.3g} hours"
