"""One queue in front of all model servers.

All book-keeping happens in the owner's thread (Evennia's reactor); only the model
call itself runs in a worker thread. A prompt is built when its turn comes, so it
shows the world as it is then, and a thought that is no longer wanted costs nothing.
Which server takes a call is decided then as well: until then it belongs to none, so that
whatever happens to a server, nothing waits in front of it.
"""

from __future__ import annotations

import bisect
import heapq
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import chain

from keepsake.errors import (
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelUnavailable,
    PromptUnfit,
)
from keepsake.models.fleet import Homes, ServerLoad, choose
from keepsake.ports import Generation, GenerationRequest, LanguageModel

log = logging.getLogger("keepsake.llm")

Build = Callable[[], GenerationRequest | None]
"""Makes the request when its turn has come; None when it is no longer wanted."""

Outcome = Generation | ModelError | None
"""What ``done`` gets: an answer, an error, or None when ``build`` gave none."""

Done = Callable[[Outcome], None]
Post = Callable[[Callable[[], None]], object]
"""Runs a function in the owner's thread soon; may be called from any thread."""


class Priority(IntEnum):
    """Who goes first: the lower number."""

    PLAYER = 0
    EVENT = 1
    IDLE = 2
    COMPACTION = 3
    SLEEP = 4


BACKGROUND = (Priority.COMPACTION, Priority.SLEEP)
"""What nobody waits for: together they leave a place free."""
PATIENCE_SECONDS = 60.0
"""A job that has waited this long goes up one step, though never before a player's. What is
asked in sleep stays where it is: the night is long, and everybody else's thoughts come first."""
REBUILDS = 2
"""How often a prompt is built anew for a server that has shown what it takes."""
_MOVES = (ModelUnavailable, ModelFailed, ModelMissing, ModelRejected)
"""The server is gone, or refuses: another is asked. A time-out has cost all the time there was, and
an empty answer is the model's."""


@dataclass(eq=False, slots=True)
class Lane:
    """The places of one server; made by :meth:`ModelQueue.lane`, owner's thread only.

    Where there are two places or more, compaction and sleep leave one free, so that a player never
    waits for a summary or for somebody's night.
    """

    places: int = 2  # calls at once
    drained: bool = False  # whether it gets no new calls
    moved: int = 0  # calls that went on at another server
    running: list[Ticket] = field(default_factory=list)

    def has_place(self, priority: Priority) -> bool:
        """Whether a call of that priority may begin."""
        if len(self.running) >= self.places:
            return False
        if priority not in BACKGROUND or self.places == 1:
            return True
        behind = sum(ticket.priority in BACKGROUND for ticket in self.running)
        return behind < self.places - 1


@dataclass(frozen=True, eq=False, slots=True)
class Offer:
    """One server that may answer a call."""

    lane: Lane
    model: LanguageModel
    build: Build  # makes the request, in the form that this server takes
    well: Callable[[], bool] = lambda: True  # whether it answers, as far as is known; quick
    known: Callable[[], bool] = lambda: True  # whether prompts can be made for it; quick
    # learns what it takes, in a worker thread; is given whether nobody wants the answer any more
    learn: Callable[[Callable[[], bool]], None] = lambda _: None


@dataclass(eq=False, slots=True)
class Ticket:
    """A place in the queue."""

    priority: Priority
    key: str | None
    number: int
    since: float
    offers: Sequence[Offer]
    done: Done
    agent: str | None  # whose prompt a server may have
    cancelled: bool = False
    asked: Offer | None = None  # where it is in flight
    tried: list[Offer] = field(default_factory=list)
    error: ModelError | None = None  # why the last one gave no answer
    rebuilt: int = 0  # how often its prompt was built anew

    def cancel(self) -> None:
        """Give the place up; ``done`` will not be called. Too late does no harm."""
        self.cancelled = True

    def rank(self, now: float) -> tuple[int, int]:
        """What the queue sorts by: priority, raised by long waiting, then arrival."""
        if self.priority is Priority.SLEEP:
            return self.priority, self.number
        lifted = self.priority - int((now - self.since) / PATIENCE_SECONDS)
        floor = min(self.priority, Priority.EVENT)
        return max(lifted, floor), self.number

    def open(self) -> list[Offer]:
        """The servers that may still be asked."""
        return [each for each in self.offers if each not in self.tried and not each.lane.drained]


class ModelQueue:
    """Calls to all servers, the most urgent first, never two of one key at one server or fleet.

    A call that a server does not take, since it is gone or refuses, is asked at each other one that
    may answer it before it is given up. It has one outcome: what comes of a call that was given up
    is not looked at.

    Args:
        executor: Runs the calls.
        post: Runs a function in the owner's thread.
        clock: Monotonic seconds.
    """

    def __init__(
        self, executor: Executor, post: Post, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.homes: Homes[Lane] = Homes()
        self._executor = executor
        self._post = post
        self._clock = clock
        self._number = 0
        self._lanes: list[Lane] = []
        self._waiting: dict[Priority, list[Ticket]] = {each: [] for each in Priority}
        """In the order in which they came, which is that of their ranks as well."""
        self._pump_posted = False
        self._closed: ModelError | None = None

    def lane(self, places: int = 2) -> Lane:
        """The places of one more server."""
        self._lanes.append(Lane(places))
        return self._lanes[-1]

    def submit(
        self,
        priority: Priority,
        key: str | None,
        offers: Sequence[Offer],
        done: Done,
        agent: str | None = None,
    ) -> Ticket:
        """Queue one call; owner's thread only.

        An offer's ``build``, and ``done``, run in the owner's thread, never inside this call.

        Args:
            priority: How urgent it is.
            key: Who asks; None for nobody in particular.
            offers: The servers that may answer it, at least one.
            done: Gets what came of it, once, unless the ticket is cancelled: the answer, the
                error, or None when ``build`` gave None.
            agent: Whose prompt it is: kept on one server for its cache; None for nobody's.
        """
        self._number += 1
        ticket = Ticket(priority, key, self._number, self._clock(), offers, done, agent)
        self._waiting[priority].append(ticket)
        self._pump_soon()
        return ticket

    def waiting(self, lane: Lane) -> dict[Priority, int]:
        """Jobs that wait for a server, by priority; owner's thread only.

        One that several may take counts where its prompt is, else at the first of them.
        """
        return {
            priority: sum(not each.cancelled and self._next(each) is lane for each in waiting)
            for priority, waiting in self._waiting.items()
        }

    def gone(self, lane: Lane, error: ModelError) -> None:
        """Nobody answers there any more: ask its calls in flight elsewhere; owner's thread only.

        One that no other server may take stays until its time is up.
        """
        for ticket in list(lane.running):
            self._goes_on(ticket, error)
        self._pump_soon()

    def look(self) -> None:
        """Places or servers have changed: see who may begin now; owner's thread only."""
        self._pump_soon()

    def close(self, reason: ModelError | None = None) -> None:
        """Take no more jobs; answer those that wait with ``reason``; owner's thread only.

        Calls in flight end by themselves and are answered as they end.
        """
        self._closed = reason or ModelUnavailable("The world is shutting down")
        self._answer_all_closed()

    def _pump_soon(self) -> None:
        if not self._pump_posted:
            self._pump_posted = True
            self._post(self._pump)

    def _pump(self) -> None:
        self._pump_posted = False
        if self._closed is not None:
            self._answer_all_closed()
        if (ticket := self._take()) is not None:
            self._begin(ticket)
            # The next one in a turn of its own: building a prompt takes a moment, and
            # players must not wait for fifty of them.
            self._pump_soon()

    def _take(self) -> Ticket | None:
        """The job whose turn it is, out of the queue; None when none may start."""
        for waiting in self._waiting.values():
            waiting[:] = [ticket for ticket in waiting if not ticket.cancelled]
        if not any(len(lane.running) < lane.places or lane.drained for lane in self._lanes):
            return None
        now = self._clock()
        behind = Counter({lane: len(lane.running) for lane in self._lanes})
        for ticket in heapq.merge(*self._waiting.values(), key=lambda each: each.rank(now)):
            if self._may_begin(ticket, behind):
                self._waiting[ticket.priority].remove(ticket)
                return ticket
        return None

    def _may_begin(self, ticket: Ticket, behind: Counter[Lane]) -> bool:
        """Whether its turn has come; ``asked`` is where, or None if no server is left."""
        offers = ticket.open()
        if not offers:
            return True
        if ticket.key is not None and self._is_asked_for(ticket):
            return False
        home = self.homes.of(ticket.agent)
        own = next((i for i, each in enumerate(offers) if each.lane is home), None)
        at = choose([self._load(each, ticket.priority, behind) for each in offers], own)
        if at is not None:
            ticket.asked = offers[at]
        elif own is not None:
            behind[offers[own].lane] += 1  # whoever comes after it waits for it as well
        return at is not None

    @staticmethod
    def _is_asked_for(ticket: Ticket) -> bool:
        """Whether a call of the same key is in flight at a server that may take this one."""
        return any(other.key == ticket.key for each in ticket.offers for other in each.lane.running)

    def _load(self, offer: Offer, priority: Priority, behind: Counter[Lane]) -> ServerLoad:
        lane = offer.lane
        agents = self.homes.agents(lane)
        return ServerLoad(
            offer.well(),
            lane.has_place(priority),
            behind[lane] / lane.places,
            agents / lane.places,
        )

    def _next(self, ticket: Ticket) -> Lane:
        lanes = [each.lane for each in ticket.open() or ticket.offers]
        home = self.homes.of(ticket.agent)
        return home if home is not None and home in lanes else lanes[0]

    def _begin(self, ticket: Ticket) -> None:
        if (offer := ticket.asked) is None:
            cure = "@llm-status/undrain lets one be asked again"
            self._tell(ticket, ticket.error or ModelUnavailable("Its servers are drained", cure))
            return
        offer.lane.running.append(ticket)
        if offer.known():
            self._build(ticket, offer)
        else:
            self._run(ticket, offer, lambda: offer.learn(lambda: self._is_given_up(ticket)), None)

    def _build(self, ticket: Ticket, offer: Offer) -> None:
        """Build the prompt and have it answered; the place is taken."""
        try:
            request = None if ticket.cancelled else offer.build()
        except Exception as error:  # whatever a builder does wrong must not stop the queue
            log.exception("[Model] The prompt of %s could not be built", ticket.key)
            failed = ModelFailed(f"The prompt could not be built ({error})", "See log")
            self._end(ticket, offer, failed)
            return
        if request is None:
            self._end(ticket, offer, None)
            return
        self.homes.keep(ticket.agent, offer.lane)
        request = replace(request, given_up=lambda: self._is_given_up(ticket))
        self._run(ticket, offer, offer.model.generate, request)

    def _run(
        self,
        ticket: Ticket,
        offer: Offer,
        work: Callable[..., Generation | None],
        request: GenerationRequest | None,
    ) -> None:
        """Have it done by a worker thread: an answer, or what a server takes is learnt."""
        given = () if request is None else (request,)
        try:
            future = self._executor.submit(work, *given)
        except RuntimeError:  # the executor is shut down
            self._end(ticket, offer, ModelUnavailable("The world is shutting down"))
            return
        future.add_done_callback(
            lambda ended: self._post(lambda: self._ended(ticket, offer, ended))
        )

    def _ended(self, ticket: Ticket, offer: Offer, future: Future[Generation | None]) -> None:
        if ticket.asked is not offer:
            return  # it was given up, and is asked elsewhere
        outcome = _outcome(ticket, future)
        if outcome is None:  # it is known now
            self._build(ticket, offer)
        elif self._is_unfit(ticket, outcome):
            ticket.rebuilt += 1
            self._build(ticket, offer)
        elif not (isinstance(outcome, _MOVES) and self._goes_on(ticket, outcome)):
            self._end(ticket, offer, outcome)
        self._pump_soon()

    def _end(self, ticket: Ticket, offer: Offer, outcome: Outcome) -> None:
        """Give the place free and tell what came."""
        offer.lane.running.remove(ticket)
        ticket.asked = None
        self._tell(ticket, outcome)

    def _is_unfit(self, ticket: Ticket, outcome: Outcome) -> bool:
        """Whether the prompt is to be built anew, for what is known of the server now."""
        again = ticket.rebuilt < REBUILDS and not self._is_given_up(ticket)
        return isinstance(outcome, PromptUnfit) and again

    def _is_given_up(self, ticket: Ticket) -> bool:
        return ticket.cancelled or self._closed is not None

    def _goes_on(self, ticket: Ticket, error: ModelError) -> bool:
        """Have another server asked, if there is one; this one did not take the call."""
        offer = ticket.asked
        others = [each for each in ticket.open() if each is not offer]
        if offer is None or not others or ticket.cancelled or self._closed is not None:
            return False
        ticket.tried.append(offer)
        offer.lane.running.remove(ticket)
        offer.lane.moved += 1
        ticket.asked, ticket.error = None, error
        bisect.insort(self._waiting[ticket.priority], ticket, key=lambda each: each.number)
        log.info("[Model] %s is asked elsewhere: %s", ticket.key or "A call", error)
        return True

    def _tell(self, ticket: Ticket, outcome: Outcome) -> None:
        if ticket.cancelled:
            return
        try:
            ticket.done(outcome)
        except Exception:  # whatever a receiver does wrong must not stop the queue
            log.exception("[Model] The answer to %s could not be used", ticket.key)

    def _answer_all_closed(self) -> None:
        waiting = sorted(chain(*self._waiting.values()), key=lambda each: each.number)
        for each in self._waiting.values():
            each.clear()
        for ticket in waiting:
            self._tell(ticket, self._closed)


def _outcome(ticket: Ticket, future: Future[Generation | None]) -> Outcome:
    if future.cancelled():
        return ModelUnavailable("The world is shutting down")
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, ModelError):
        return error
    log.error("[Model] A fault in the client of %s", ticket.key, exc_info=error)
    return ModelFailed(f"The model's client broke ({error!r})", "See the log; please report it")
