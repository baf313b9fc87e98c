"""When an agent thinks next, and about what: a schedule without clock or threads.

Each person who addresses the agent has one slot in the queue, so that everybody is answered,
players first, in the order in which they spoke. All other impulses share one slot. The caller
passes the time as seconds of a monotonic clock, and a ``random.Random``.

The owner reports who is here (:meth:`Attention.set_present`) and what happens
(:meth:`Attention.notice`). It asks what is due next and when (:meth:`Attention.upcoming`), and
before it sends a thought, whether it is still wanted (:meth:`Attention.take_newer`).
"""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, replace

from keepsake.agent.attention.impulse import (
    ANSWERED,
    DIRECT,
    IDLE,
    PLAN_SLOT,
    SHARED_SLOT,
    Impulse,
    ImpulseKind,
    merged,
)
from keepsake.agent.attention.recent_talks import NEVER, TALK_SECONDS, Chatter, RecentTalks
from keepsake.agent.settings import ThinkingConfig
from keepsake.events.values import Urgency
from keepsake.happening import PersonId

RETURN_SECONDS = 60.0
"""Seconds for which words wait for an answer while their speaker is out of the room."""
_TOGETHER = 4.0
"""How many times longer than words arrivals and gifts are gathered. With the shipped settings that
is one to four seconds after the last one, arrivals at most seven after the first."""
_WORDLESS = (ImpulseKind.ARRIVAL, ImpulseKind.GIVEN)
"""Kinds of impulses in which the person has said nothing."""
_UNBOUND = (SHARED_SLOT, PLAN_SLOT)
"""The slots of impulses that nobody's leaving ends."""


@dataclass(slots=True)
class _Waiting:
    """An impulse in the queue: due at ``at``, first noticed at ``since``, in seconds."""

    impulse: Impulse
    at: float
    since: float


class Attention:
    """The schedule of one agent.

    Attributes:
        talkativeness: How often it acts unprompted, 0 to 1.
        present: Who is here, by name and by identity.
        talks: With whom it talked lately.
        unheard: Questions to everybody that the agent will not think about; the owner takes them
            out and passes them on.
    """

    def __init__(self, config: ThinkingConfig, rng: random.Random, now: float) -> None:
        self.config = config
        self.talkativeness = 0.5
        self._rng = rng
        self.present: Collection[str] = ()
        self.unheard: list[Impulse] = []
        self._current: Impulse | None = None  # the impulse of the current thought
        self._waiting: dict[str, _Waiting] = {}  # in order of arrival
        # What people said who have left, and when they did, by the key of their slot.
        self._left: dict[str, tuple[Impulse, float]] = {}
        self._now = now
        self.talks = RecentTalks()
        self._player_near = False
        self._ready_at = NEVER
        self._chatter = Chatter()
        self._idle_from = now
        self._idle_share = rng.uniform(2 / 3, 4 / 3)

    # -- events

    def set_present(self, present: Collection[str], *, player_near: bool, now: float) -> None:
        """Set who is here. Words and gifts of players who have left wait a while for them.

        Args:
            present: Names and identities.
            player_near: Whether one of them is a player.
            now: Seconds on any clock that is never set back.
        """
        self.present = present
        self._now = now
        for key in [key for key in self._waiting if key not in (*_UNBOUND, *present)]:
            self._set_aside(self._waiting.pop(key).impulse)
        shared = self._waiting.get(SHARED_SLOT)
        if shared is not None and shared.impulse.to_all and shared.impulse.who not in present:
            self.unheard.append(self._waiting.pop(SHARED_SLOT).impulse)
        for key, (impulse, left) in list(self._left.items()):
            if now - left > RETURN_SECONDS:
                del self._left[key]
            elif key in present:
                del self._left[key]
                self._waiting.setdefault(key, _Waiting(impulse, now, now))
        if player_near != self._player_near:  # idle thoughts are rarer without a player here
            self._player_near = player_near
            self._idle_from = now

    def _set_aside(self, impulse: Impulse) -> None:
        """Keep what a player said who has just left: they may be back in a moment."""
        if impulse.kind is not ImpulseKind.ARRIVAL and impulse.from_player:
            self._left[impulse.key] = (impulse, self._now)
        if impulse.to_all:
            self.unheard.append(impulse)

    def passed_on(self, impulse: Impulse) -> None:
        """Record that another agent will answer a question to everybody."""
        self._left.pop(impulse.key, None)

    def notice(self, impulse: Impulse, now: float) -> bool:
        """Take in an impulse, which may lead to a thought now or after the current one.

        Returns:
            Whether a player waits while the current thought is about something less urgent.
        """
        arrival = impulse.kind is ImpulseKind.ARRIVAL
        self._chatter.notice(impulse, now)
        if not impulse.from_player:
            too_much = self._chatter.lines >= self.config.chatter_turns and not impulse.errand
            unwanted = bool(impulse.source) and too_much
        elif arrival:  # no greeting during a talk, or again within a short time
            unwanted = self.in_talk(now) or self.talks.was_greeted(impulse.who, now)
        else:  # a speaker needs no greeting; a direct word cancels all other greetings
            unwanted = False
            direct = impulse.kind in DIRECT
            greeted = {impulse.who, *(self._waiting if direct else ())}
            self._waiting = {
                key: each
                for key, each in self._waiting.items()
                if each.impulse.kind is not ImpulseKind.ARRIVAL or key not in greeted
            }
            if direct:
                self.talks.talk_with([impulse.who], now)
        if unwanted and not impulse.from_player:
            # The agents' talk has ended: what one of them said to nobody before asks nothing more.
            waiting = self._waiting.get(SHARED_SLOT)
            if waiting is not None and not waiting.impulse.from_player:
                del self._waiting[SHARED_SLOT]
        if unwanted:
            return False
        self._enter(impulse, now)
        less = self._current is not None and self._current.priority is not Urgency.PLAYER
        return less and impulse.priority is Urgency.PLAYER

    def _enter(self, impulse: Impulse, now: float) -> None:
        """Put an impulse into its slot. One person's are merged, and wait in case they go on."""
        at = now + self.config.gather * self._rng.uniform(0.5, 1.5) * _slower(impulse)
        if impulse.kind is ImpulseKind.ARRIVAL:
            self._wait_for(at)
        before = self._waiting.get(impulse.key)
        if before is None:
            self._waiting[impulse.key] = _Waiting(impulse, at, now)
        elif before.impulse.kind is ImpulseKind.GIVEN is not impulse.kind:
            before.at = at  # the words that it waited for
            before.impulse = merged(before.impulse, impulse)
        else:
            before.at = max(before.at, min(at, before.since + 3.0 * self.config.gather))
            before.impulse = merged(before.impulse, impulse)

    def _wait_for(self, at: float) -> None:
        """Let the greetings that wait be due no earlier than that of a newcomer, within a limit."""
        longest = 3.0 * self.config.gather * _TOGETHER
        for each in self._arrivals():
            each.at = max(each.at, min(at, each.since + longest))

    def _arrivals(self) -> list[_Waiting]:
        """Return the waiting greetings of players."""
        kind = ImpulseKind.ARRIVAL
        return [
            each
            for each in self._waiting.values()
            if each.impulse.kind is kind and each.impulse.from_player
        ]

    def drop_greeting(self, who: str) -> None:
        """Take in that a player has turned to somebody else here: no greeting waits any more."""
        waiting = self._waiting.get(who)
        if waiting is not None and waiting.impulse.kind is ImpulseKind.ARRIVAL:
            del self._waiting[who]

    def notice_plan(self, impulse: Impulse, now: float, *, gather: bool = False) -> None:
        """Take in that a plan is due; one that was due before waits no longer.

        ``gather``: Whether its person has just come, and may speak in a moment: the answer to their
        words is then for the plan too.
        """
        wait = self.config.gather * self._rng.uniform(0.5, 1.5) * _TOGETHER if gather else 0.0
        self._waiting[PLAN_SLOT] = _Waiting(impulse, now + wait, now)

    def take_plan_with(self, who: str, here: frozenset[PersonId]) -> Impulse | None:
        """Take out the plan that is due if it is with a person, whose words are answered now.

        Args:
            who: The person.
            here: Everybody who is with the agent.

        Returns:
            Its impulse; None if no plan is due, or one with somebody else, or one of which somebody
            here may not know.
        """
        waiting = self._waiting.get(PLAN_SLOT)
        if waiting is None or waiting.impulse.who != who:
            return None
        confided = waiting.impulse.confided
        if confided is not None and not (here and here <= confided):
            return None
        del self._waiting[PLAN_SLOT]
        return waiting.impulse

    def answered(self, who: str, now: float, *, words: bool = False) -> bool:
        """Record that a rule has answered what a player did.

        ``words``: Whether it has answered what the player said too.

        Returns:
            Whether the current thought is to greet that player.
        """
        for key in (who, SHARED_SLOT):
            waiting = self._waiting.get(key)
            theirs = waiting is not None and waiting.impulse.who == who
            if waiting and theirs and (words or waiting.impulse.kind in _WORDLESS):
                del self._waiting[key]
        self.talks.talk_with([who], now)
        current = self._current
        return current is not None and current.kind is ImpulseKind.ARRIVAL and current.who == who

    def in_talk(self, now: float, within: float = TALK_SECONDS) -> bool:
        """Return whether the agent and a player here talked within the last ``within`` seconds."""
        return self.talks.is_in_talk(self.present, now, within)

    def waiting_of(self, key: str) -> Impulse | None:
        """Return what waits in a slot, behind the current thought; None for nothing."""
        waiting = self._waiting.get(key)
        return waiting.impulse if waiting is not None else None

    # -- the schedule

    def upcoming(self) -> tuple[float, Impulse] | None:
        """Return the next impulse and when it is due; None during a thought.

        The order: waiting players, waiting agents, players who have just come, plans, everything
        else. Who has asked something waits before who has only come.
        """
        if self._current is not None:
            return None
        first = max(
            self._waiting.values(),
            key=lambda each: (
                each.impulse.priority is Urgency.PLAYER,
                each.impulse.kind in DIRECT,
                each.impulse.from_player and each.impulse.kind is ImpulseKind.ARRIVAL,
                each.impulse.kind is ImpulseKind.PLAN,
            ),
            default=None,
        )
        if first is not None:  # a player need not wait for the cooldown
            player = first.impulse.priority is Urgency.PLAYER
            return (first.at if player else max(first.at, self._ready_at)), first.impulse
        away = 1.0 if self._player_near else self.config.idle_away_factor
        interval = self.config.idle_interval * 2.0 ** (1.0 - 2.0 * self.talkativeness)
        idle_at = self._idle_from + interval * away * self._idle_share
        talk_over = self.talks.last_with(self.present) + TALK_SECONDS
        return max(idle_at, self._ready_at, talk_over), IDLE

    @property
    def owed(self) -> list[Impulse]:
        """The impulses of players who wait for an answer, that of the current thought first."""
        every = [self._current, *(each.impulse for each in self._waiting.values())]
        return [each for each in every if each is not None and each.priority is Urgency.PLAYER]

    @property
    def next_players(self) -> list[Impulse]:
        """The impulses of the players here who wait for an answer behind the current thought."""
        every = (each.impulse for each in self._waiting.values())
        here = (each for each in every if each.key in self.present)
        return [each for each in here if each.priority is Urgency.PLAYER]

    def is_asked_by(self, who: str) -> bool:
        """Return whether the current thought, or one that waits, answers words of that person."""
        waiting = self._waiting.get(who)
        every = [self._current, waiting.impulse if waiting is not None else None]
        return any(each is not None and each.key == who and each.kind in DIRECT for each in every)

    def begin(self, impulse: Impulse) -> None:
        """Begin a thought. Events from now on are for the next one."""
        self._current = impulse
        self._waiting.pop(impulse.key, None)
        shared = self._waiting.pop(SHARED_SLOT, None)  # the window shows the newest events anyway
        if shared is not None and shared.impulse.to_all and shared.impulse.who != impulse.who:
            self.unheard.append(shared.impulse)

    def put_back(self, now: float) -> None:
        """Let the impulse of the current thought begin another one."""
        if self._current is not None:
            self._waiting.setdefault(self._current.key, _Waiting(self._current, now, now))

    def take_newer(self) -> Impulse | None:
        """Return the current reason for the current thought; None if the reason has gone.

        Call it before the request is sent: it merges what the same person has said meanwhile
        into the impulse, so that one answer covers both.
        """
        current = self._current
        if current is None:
            return None
        if current.key not in (*_UNBOUND, *self.present):
            self._set_aside(current)
            return None
        waiting = (each.impulse.kind for each in self._waiting.values())
        if current.key == SHARED_SLOT and any(kind in DIRECT for kind in waiting):
            if current.to_all and current.who not in self._waiting:
                self.unheard.append(current)
            return None  # somebody has turned to the agent meanwhile, whom the next one answers
        if (newer := self._waiting.pop(current.key, None)) is not None:
            current = merged(current, newer.impulse)
            self._current = current
        if current.kind is ImpulseKind.ARRIVAL and current.from_player:
            current = self._with_all_who_came(current)
            self._current = current
        return current

    def _with_all_who_came(self, arrival: Impulse) -> Impulse:
        """Return an arrival together with the others that wait: one greeting is for all."""
        came = [each.impulse for each in self._arrivals()]
        for each in came:
            del self._waiting[each.key]
        return replace(arrival, others=(*arrival.others, *(each.person for each in came)))

    def ended(self, now: float, *, spoke: bool = False) -> None:
        """End the current thought; ``spoke``: whether the agent said something to others."""
        current = self._current
        self._current = None
        if spoke and current is not None and current.from_player and current.key != SHARED_SLOT:
            self.talks.talk_with([current.who, *(each.key for each in current.others)], now)
        if spoke and (current is None or current.priority is not Urgency.PLAYER):
            self._chatter.speak(now)
        self.talks.forget_old(now)
        self._ready_at = now + self.config.cooldown
        self._idle_from = now
        self._idle_share = self._rng.uniform(2 / 3, 4 / 3)


def _slower(impulse: Impulse) -> float:
    """Return for how many times ``gather`` an impulse waits for what may follow it.

    A player waits for an answer, but not for words about what was only overheard. All words of
    agents, also to this one, wait longest: they get few answers. Players who come together come
    within some seconds, and get one greeting. Who gives something says next what it is for.
    """
    if not impulse.from_player:
        return 4.0
    if impulse.kind in _WORDLESS:
        return _TOGETHER
    return 1.0 if impulse.kind in ANSWERED else 2.0
