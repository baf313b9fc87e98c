"""What agents near players would think with is read by the model server before anybody speaks.

A server that keeps prompts ready answers a prompt it has read in a fraction of the time. So
after a start, and when a player comes, the prompt of whoever is near is sent once, for a single
token that nobody looks at. It has the lowest place in the queue, and as soon as somebody
speaks, what still waits is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body
from keepsake.agent.waiting import Alarm
from keepsake.errors import ConfigError, KeepsakeError, ModelUnavailable
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import EMBEDDED, ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest

MOST_WAITING = 4
"""Agents whose prompts are read ahead: the embedded server keeps six ready, and players come."""
AGAIN_SECONDS, TRIES = 5.0, 24
"""When a server that does not answer yet is asked again, and how often: it may be starting."""

type Head = Callable[[Body, ModelProfile], GenerationRequest | None]
"""What the agent's next thought would be asked with, as far as it is known now; None for nothing.
Only what stands before all that changes is of use."""


class Warming:
    """Has prompts read ahead, one at a time; on the reactor thread."""

    def __init__(self, gateway: Gateway, timer: Any, profile: str, head: Head) -> None:
        self._gateway, self._profile, self._head = gateway, profile, head
        self._waiting: deque[Body] = deque()
        self._done: set[int] = set()
        self._ticket: Ticket | None = None
        self._later = Alarm(timer)
        self._tries = 0

    def want(self, agents: Iterable[Body]) -> None:
        """Somebody is near these; each is read ahead once between two starts."""
        if not self._pays():
            return
        room = MOST_WAITING - len(self._waiting)
        new = [each for each in dict.fromkeys(agents) if each.id not in self._done][:room]
        self._waiting += new
        self._done |= {int(each.id) for each in new}
        self._go_on()

    def drop(self) -> None:
        """Somebody speaks: what waits is not needed any more, and would only be in the way."""
        self._done -= {int(each.id) for each in self._waiting}
        self._waiting.clear()
        if self._ticket is not None:
            self._ticket.cancel()
        self._ticket = None
        self._later.cancel()

    def _pays(self) -> bool:
        """Whether the server keeps what it has read, and reading costs nothing but its time."""
        try:
            profile = self._gateway.profiles.get(self._profile)
        except ConfigError:
            return False
        return profile.provider == EMBEDDED

    def _go_on(self) -> None:
        if self._ticket is not None or self._later.waits or not self._waiting:
            return
        agent = self._waiting.popleft()
        try:
            self._ticket = self._gateway.submit(
                self._profile,
                Priority.SLEEP,
                cache_key(agent.id),
                lambda profile: self._request(agent, profile),
                lambda outcome: self._answered(agent, outcome),
            )
        except KeepsakeError:
            self._waiting.clear()

    def _request(self, agent: Body, profile: ModelProfile) -> GenerationRequest | None:
        request = None
        with suppress(KeepsakeError):  # its memory cannot be read, which is told elsewhere
            request = self._head(agent, profile) if agent.pk is not None else None
        if request is None:
            return None
        return replace(request, cache_key=cache_key(agent.id), max_tokens=1)

    def _answered(self, agent: Body, outcome: Outcome) -> None:
        self._ticket = None
        if isinstance(outcome, ModelUnavailable) and self._tries < TRIES:
            self._tries += 1
            self._waiting.appendleft(agent)
            self._later.set(AGAIN_SECONDS, self._go_on)
            return
        if isinstance(outcome, Generation):
            log(f"[Thinker] {agent.key}: Read ahead: {outcome.prompt_tokens} tokens")
        self._go_on()


def cache_key(agent_id: int) -> str:
    """What the model server knows an agent's prompts by."""
    return f"agent-{agent_id}"
