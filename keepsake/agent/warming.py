"""The model server reads what agents near players would think with, before anybody speaks.

A server that keeps prompts ready answers a prompt it has read in a fraction of the time. So
after a start, and when a player comes, the prompt of each agent that is near is sent once, for a
single token that nobody looks at. It has the lowest place in the queue, and as soon as somebody
speaks, what still waits is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from keepsake.agent.agent_log import log
from keepsake.agent.body import Body
from keepsake.errors import ConfigError, KeepsakeError, ModelUnavailable
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import EMBEDDED, ModelProfile
from keepsake.models.queue import Outcome, Priority, Ticket
from keepsake.ports import Generation, GenerationRequest

MOST_WAITING = 4
"""Agents whose prompts are read ahead: the embedded server keeps six ready, and players come."""

type Head = Callable[[Body, ModelProfile], GenerationRequest | None]
"""What the agent's next thought would be asked with, as far as it is known now; None for nothing.
Only what stands before all that changes is of use."""


class Warming:
    """Has prompts read ahead; on the reactor thread."""

    def __init__(self, gateway: Gateway, profile: str, head: Head) -> None:
        self._gateway, self._profile, self._head = gateway, profile, head
        self._tickets: dict[int, Ticket] = {}
        self._done: set[int] = set()

    def want(self, agents: Iterable[Body]) -> None:
        """Somebody is near these; each is read ahead once, by a server that answers."""
        try:
            profile = self._gateway.profiles.get(self._profile)
        except ConfigError:
            return
        # Where the server keeps what it has read, and reading costs nothing but its time.
        if profile.provider != EMBEDDED and getattr(profile, "server", "") != "llama.cpp":
            return
        for agent in agents:
            if agent.id not in self._done and len(self._tickets) < MOST_WAITING:
                self._ask(agent, int(agent.id))

    def drop(self) -> None:
        """Somebody speaks: what waits is not needed any more, and would only be in the way."""
        for ticket in self._tickets.values():
            ticket.cancel()
        self._done -= set(self._tickets)
        self._tickets.clear()

    def _ask(self, agent: Body, number: int) -> None:
        key = cache_key(number)

        def build(profile: ModelProfile) -> GenerationRequest | None:
            request = None
            with suppress(KeepsakeError):  # its memory cannot be read, which is told elsewhere
                request = self._head(agent, profile) if agent.pk is not None else None
            return request and replace(request, cache_key=key, max_tokens=1)

        def answered(outcome: Outcome) -> None:
            self._tickets.pop(number, None)
            if isinstance(outcome, ModelUnavailable):  # it is asked again once it is there
                self._done.discard(number)
            elif isinstance(outcome, Generation):
                log(f"[Thinker] {agent.key}: Read ahead: {outcome.prompt_tokens} tokens")

        self._done.add(number)
        with suppress(KeepsakeError):
            self._tickets[number] = self._gateway.submit(
                self._profile, Priority.SLEEP, key, build, answered
            )


def cache_key(agent_id: int) -> str:
    """What the model server knows an agent's prompts by."""
    return f"agent-{agent_id}"
