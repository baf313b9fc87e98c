"""One model server: the queue of its calls, its models, and its health.

All book-keeping happens in the owner's thread (Evennia's reactor); only the model call itself runs
in a worker thread. A prompt is built when its turn comes, so it shows the current state of the
world, and a call that is cancelled before that costs nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import replace
from functools import partial
from typing import Any

from keepsake.errors import (
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
    PromptTooLong,
    WorldStopping,
)
from keepsake.logs import Subsystem, get_logger
from keepsake.models.model import Model
from keepsake.models.profiles import EMBEDDED, model_name
from keepsake.models.tickets import (
    BuildFor,
    Done,
    Outcome,
    PendingRequest,
    Priority,
    Ticket,
    deliver,
    passing,
)
from keepsake.models.transport import CallLimits, limited
from keepsake.ports import ChatMessage, FormName, Generation

log = get_logger(Subsystem.MODELS)

Post = Callable[[Callable[[], None]], object]
"""Schedules a function in the owner's thread; may be called from any thread."""


PATIENCE_SECONDS = 60.0
"""Seconds of waiting that raise a call by one priority, but never to a player's. Calls of sleeping
agents are not raised, because they have all night."""
REBUILDS = 2
"""How often a prompt that was too long is rebuilt."""
_GIVES_WAY = (Priority.COMPACTION, Priority.SLEEP)
"""Calls that nobody waits for. Each gives the only place to a player once. The second time it is
finished, or a busy world would never have a summary."""
READY = "ready"
UNASKED = "not asked yet"
RECHECK_SECONDS = 5.0
"""Seconds until the next health check of a server that failed a call or a check."""


class ModelServer:
    """One server, shared by all profiles that use it, with a priority queue of calls.

    Calls with the same key never run at the same time, except cancelled ones. With two or more
    places, one is kept for players, who wait for other players at most: so what was begun is
    finished, because what a server has read and written for it would be paid for twice. If there is
    only one, a summary in flight is taken back and asked for anew, once, unless much of it is
    written. Prompts are read ahead one at a time, and not while a player waits: such a call
    is cancelled and queued anew, so its ticket cannot cancel it. It is cancelled for good if its
    caller asks something, or has a newer prompt to be read.

    Args:
        executor: Runs the calls.
        post: Runs a function in the owner's thread.
        clock: Monotonic seconds.
        changed: Called when the server's health has changed, in any thread.
        renew: Called with the name of a profile whose server did not answer, in the owner's thread.
            It may move the profile's calls to another server.

    Attributes:
        places: How many calls may be in flight; cancelled ones may be as many again.
        health: ``ready``, or what is wrong and what to do.
        due: When the next health check is due, in monotonic seconds.
        calls, failures: How many calls were made, and how many of them failed.
        last_cached: The share of the newest answer's prompt that came from the server's cache, 0 to
            1; None if the server does not say.
        last_error: The newest failure since the last answer; empty if there is none.
    """

    def __init__(
        self,
        provider: str,
        host: str,
        executor: Executor,
        post: Post,
        *,
        clock: Callable[[], float] = time.monotonic,
        changed: Callable[[ModelServer], None] = lambda _: None,
        renew: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.provider = provider
        self.host = host
        self.models: dict[str, Model] = {}
        self.running: list[Ticket] = []
        self.places = 2
        self.health = UNASKED
        self.due = 0.0
        self._executor = executor
        self._post = post
        self._clock = clock
        self._changed = changed
        self._renew = renew
        self._waiting: list[Ticket] = []
        self.calls = 0
        self.failures = 0
        self.last_cached: float | None = None
        # of the answers whose server says how much of the prompt was in its cache
        self._prompt_tokens = 0
        self._cached_tokens = 0
        self.last_error = ""
        self._closed: ModelError | None = None

    def submit(
        self, priority: Priority, key: str | None, model: Model, build: BuildFor, done: Done
    ) -> Ticket:
        """Queue one call of a model, like :meth:`Gateway.submit`; owner's thread only.

        ``build`` and ``done`` run in the owner's thread, never inside this call.
        """
        ticket = Ticket(priority, key, self._clock(), model, build, done)
        if key is not None and priority in (Priority.PLAYER, Priority.READ_AHEAD):
            self._supersede(key)
        self._waiting.append(ticket)
        if priority is Priority.PLAYER:
            self._give_way()
        self._post(self._pump)
        return ticket

    def _supersede(self, key: str) -> None:
        """Cancel the reading ahead of a caller's prompt: it asks, or a newer one is to be read."""
        for ticket in (*self.running, *self._waiting):
            if ticket.priority is Priority.READ_AHEAD and ticket.key == key:
                ticket.cancelled = True

    def _give_way(self) -> None:
        """Cancel the call that reads a prompt ahead, and queue it anew."""
        for ticket in self.running:
            if ticket.priority is Priority.READ_AHEAD and not ticket.cancelled:
                again = replace(ticket, pending=PendingRequest())
                self._waiting.append(again)
                ticket.cancelled = True

    def _take_back(self) -> None:
        """Queue a summary in flight anew if a player's call waits for the only place."""
        if self.places > 1:
            return
        live = [ticket for ticket in self.running if not ticket.cancelled]
        keys = {ticket.key for ticket in live} - {None}
        players = (each for each in self._waiting if each.priority is Priority.PLAYER)
        waits = any(each.key not in keys for each in players)
        if len(live) < self.places or not waits:
            return
        for ticket in live:
            background = ticket.priority in _GIVES_WAY and not ticket.gave_way
            if background and not ticket.pending.is_well_begun and ticket.pending.give_up():
                ticket.gave_way = True
                self.running.remove(ticket)
                self._waiting.append(ticket)
                return

    def release(self, model: Model, *, in_flight: bool) -> list[Ticket]:
        """Remove and return the calls of a model that is replaced; owner's thread only.

        Args:
            in_flight: Also the calls in flight, because their server is not used any more. A call
                whose answer was begun stays.
        """
        waiting = [ticket for ticket in self._waiting if ticket.model is model]
        self._waiting = [ticket for ticket in self._waiting if ticket.model is not model]
        asked = [t for t in self.running if in_flight and t.model is model and not t.cancelled]
        given_up = [ticket for ticket in asked if ticket.pending.give_up()]
        for ticket in given_up:
            self.running.remove(ticket)
        self._post(self._pump)
        return [*given_up, *waiting]

    def take(self, ticket: Ticket, model: Model) -> None:
        """Queue a call that another server or model has released; owner's thread only."""
        ticket.model = model
        self._waiting.append(ticket)
        self._post(self._pump)

    def close(self, reason: ModelError) -> None:
        """End all calls with the error ``reason``, and refuse new ones; owner's thread only.

        Calls in flight end too, and their results are ignored.
        """
        self._closed = reason
        self.running = [*self.running, *self._waiting]
        self._waiting = []
        for ticket in list(self.running):
            self._finish(ticket, reason)
            ticket.cancelled = True

    def _pump(self) -> None:
        """Start the most urgent of the calls that may start now."""
        if self._closed is not None:
            self.close(self._closed)
            return
        self._waiting = [ticket for ticket in self._waiting if not ticket.cancelled]
        self._take_back()
        # A cancelled call may still wait for its first byte; others do not wait for that.
        live = [ticket for ticket in self.running if not ticket.cancelled]
        if len(live) >= self.places or len(self.running) >= 2 * self.places:
            return
        now = self._clock()
        keys = {each.key for each in live} - {None}
        others = sum(each.priority is not Priority.PLAYER for each in live)
        players_only = 0 < self.places - 1 <= others
        busy = {Priority.PLAYER, Priority.READ_AHEAD} & {each.priority for each in live}
        ranked = list[tuple[int, int]]()
        for place, each in enumerate(self._waiting):
            if busy and each.priority is Priority.READ_AHEAD:
                continue
            if each.key not in keys and not (players_only and each.priority is not Priority.PLAYER):
                waited = 0.0 if each.priority is Priority.SLEEP else now - each.since
                priority = each.priority - int(waited / PATIENCE_SECONDS)
                ranked.append((max(priority, min(each.priority, Priority.EVENT)), place))
        if ranked:
            taken = self._waiting.pop(min(ranked)[1])
            self.running.append(taken)
            self._ask(taken, known=taken.model.capabilities.known)
            # The next call starts in a reactor turn of its own: building a prompt takes time, and
            # players must not wait for fifty prompts.
            self._post(self._pump)

    def _ask(self, ticket: Ticket, *, known: bool) -> None:
        """Ask the model in a thread; unless its capabilities are ``known``, learn them first."""
        pending = PendingRequest()
        ticket.pending = pending

        def is_cancelled() -> bool:
            return ticket.cancelled or pending.given_up

        try:
            if not known:
                future: Future[Any] = self._executor.submit(_learn, ticket.model, is_cancelled)
            else:
                profile = ticket.model.resolved()
                request = None if ticket.cancelled else ticket.build(profile)
                if request is None:
                    self._finish(ticket, None)
                    return
                messages = request.messages or (ChatMessage("user", request.prompt),)
                request = profile.request(request)
                request = replace(
                    request,
                    messages=messages if FormName(profile.form).sends_messages else (),
                    tools=request.tools if profile.takes_tools else (),
                    is_cancelled=is_cancelled,
                    on_text=passing(request.on_text, pending),
                    on_progress=partial(pending.note, most_tokens=request.max_tokens),
                )
                future = self._executor.submit(ticket.model.generate, request)
        except Exception as error:  # an error in a builder must not stop the queue
            log.error("A prompt could not be built", key=ticket.key, exc_info=error)
            self._finish(ticket, ModelFailed(f"The prompt could not be built ({error})", "See log"))
            return

        def ended(_: Future[Any]) -> None:
            self._post(lambda: self._handle_result(ticket, pending, future))

        future.add_done_callback(ended)

    def _handle_result(self, ticket: Ticket, pending: PendingRequest, future: Future[Any]) -> None:
        """Handle the end of a thread's work: capabilities learned, an answer, or an error."""
        if ticket not in self.running or ticket.pending is not pending:
            return  # the queue was closed, or another server is asked
        outcome: Outcome = None  # None: build the prompt next, perhaps again
        try:
            outcome = future.result()
        except PromptTooLong as error:
            log.warning(str(error), key=ticket.key)
            ticket.rebuilt += 1
            outcome = error if ticket.rebuilt > REBUILDS else None
        except ModelError as error:
            outcome = error
        except CancelledError:
            outcome = WorldStopping("The world is shutting down")
        except Exception as error:
            log.error("The model client failed", key=ticket.key, exc_info=error)
            what = f"The model client failed ({error!r})"
            outcome = ModelFailed(what, "See the log; please report it")
        if isinstance(outcome, ModelUnavailable) and not ticket.cancelled:
            # Its server may have been stopped because the profile names another one now.
            self._renew(ticket.model.profile.name)
            if ticket not in self.running or ticket.pending is not pending:
                return
        if outcome is None:
            self._ask(ticket, known=True)
        else:
            self._finish(ticket, outcome)

    def _finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Free the place, count the call, and deliver the outcome."""
        self.running.remove(ticket)
        self._post(self._pump)
        if ticket.cancelled:
            return
        self.calls += outcome is not None
        if isinstance(outcome, Generation):
            self.last_error = ""
            self._count_cached(outcome)
        elif outcome is not None:
            self.failures += 1
            self.last_error = str(outcome)
            wrong = isinstance(outcome, (ModelUnavailable, ModelFailed, ModelMissing, ModelTimeout))
            # A call that was not sent says nothing new. It must not put off the check that finds
            # the server again, or a busy world would never find it.
            if wrong and outcome is not ticket.model.down:
                self.due = max(time.monotonic() + RECHECK_SECONDS, outcome.until)
                self.set_health(str(outcome))
        deliver(ticket, outcome)

    def _count_cached(self, answer: Generation) -> None:
        """Count the tokens of an answer's prompt, if its server says how many were cached."""
        self.last_cached = answer.cached_share
        if answer.cached_tokens is not None:
            self._prompt_tokens += answer.prompt_tokens
            self._cached_tokens += answer.cached_tokens

    # -- health

    @property
    def live(self) -> int:
        """The number of calls in flight, without cancelled ones, which are about to end."""
        return sum(not ticket.cancelled for ticket in self.running)

    def check_health(self) -> ModelError | None:
        """Check the server's models and return the first problem; None if there is none. Blocks.

        Calls to an unreachable server then fail at once until a check succeeds. Calls to the
        embedded model wait for its process instead.
        """
        problem: ModelError | None = None
        for model in self.models.values():
            try:
                model.check()
                model.down = None
            except ModelError as error:
                problem = problem or error
                gone = isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy)
                down = ModelUnavailable(f"{error.what} (it is checked again soon)", error.cure)
                model.down = down if gone and self.provider != EMBEDDED else None
        return problem

    def set_health(self, health: str) -> None:
        """Set the health, and call ``changed`` if it is new."""
        before = self.health
        self.health = health
        if before != health and self._closed is None:
            self._changed(self)

    @property
    def kind(self) -> str:
        """A text with the kind of server, and the form and size of its prompts."""
        if not (known := [each for each in self.models.values() if each.capabilities.known]):
            return "not known yet"
        profiles = [each.resolved() for each in known]
        forms = " and ".join(sorted({each.form for each in profiles}))
        tools = ", with tools" if any(each.takes_tools for each in profiles) else ""
        most = f"prompts of {max(each.prompt_tokens for each in profiles):,} tokens at most"
        return f"{known[0].capabilities.kind}, {forms}{tools}; {most}"

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles and models on this server, such as ``agent: llama3``."""
        return tuple(f"{e.profile.name}: {model_name(e.profile)}" for e in self.models.values())

    @property
    def waiting(self) -> dict[Priority, int]:
        """The number of waiting calls, by priority."""
        waiting = Counter(each.priority for each in self._waiting if not each.cancelled)
        return {priority: waiting[priority] for priority in Priority}

    @property
    def cached(self) -> float | None:
        """The share of prompt tokens that came from the cache, 0 to 1; None if it is not known."""
        if not self._prompt_tokens:
            return None
        return self._cached_tokens / self._prompt_tokens

    @property
    def shortage(self) -> str:
        """A warning that the server evaluates only a part of long prompts; empty if it does not."""
        return next(filter(None, (each.shortage for each in self.models.values())), "")


def _learn(model: Model, is_cancelled: Callable[[], bool]) -> None:
    with limited(CallLimits(is_cancelled=is_cancelled)):
        model.learn()
