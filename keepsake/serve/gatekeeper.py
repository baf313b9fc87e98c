"""Who may ask for what, how often: tokens, limits and the audit of one service."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from keepsake.bearer import bearer_token
from keepsake.events.types import ServiceCall
from keepsake.serve.house import House
from keepsake.serve.problems import Denied
from keepsake.serve.tokens import Grant, Right, ServiceTokens

BODY_BYTES = 262_144
"""The most bytes of a request's body: a happening with the longest words in any alphabet."""


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What a program may use.

    Attributes:
        per_minute: Requests of one token in a minute.
        answers: Answers of one agent that are asked for or wait.
        all_answers: The same of all agents.
    """

    per_minute: int = 600
    answers: int = 4
    all_answers: int = 32


class Gatekeeper:
    """Checks requests; safe for threads.

    Attributes:
        limits: What a program may use.
    """

    def __init__(self, house: House, tokens: ServiceTokens, limits: ServiceLimits) -> None:
        self.house = house
        self._tokens = tokens
        self.limits = limits
        self._item = RateLimitItemPerMinute(limits.per_minute)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._lock = threading.Lock()
        self._answers = Counter[str]()

    def grant(self, header: str) -> Grant:
        """Return what the bearer of an ``Authorization`` header may do.

        Raises:
            Denied: There is no token in it, it is unknown, or it is used too often.
        """
        token = bearer_token(header)
        grant = self._tokens.grant(token) if token else None
        if grant is None:
            cure = "Send `Authorization: Bearer ks_…`; `keepsake service add-token` makes a token"
            raise Denied(401, "There is no valid token in the request", cure)
        if not self._limiter.hit(self._item, grant.id):
            what = f"More than {self.limits.per_minute} requests in a minute"
            raise Denied(429, what, "Wait, and ask less often", after=5)
        return grant

    def check(self, grant: Grant, agent: str, right: Right) -> None:
        """Check that a token allows something of an agent.

        An agent that the token is not for is refused like one that does not exist.

        Raises:
            Denied: It does not.
        """
        if not grant.knows(agent) or agent not in self.house.names():
            raise Denied(404, "There is no such agent for this token", "GET /agents lists them")
        self.check_right(grant, right)

    def check_right(self, grant: Grant, right: Right) -> None:
        """Check that a token has a right, of whichever agent.

        Raises:
            Denied: It has not.
        """
        if right not in grant.rights:
            has = ", ".join(grant.rights)
            cure = f"The token has: {has}; `keepsake service add-token` makes another"
            raise Denied(403, f"The token has no right to {right}", cure)

    @contextmanager
    def answering(self, agent: str) -> Iterator[None]:
        """Count an answer that runs or waits.

        Raises:
            Denied: There are too many.
        """
        with self._lock:
            limits = self.limits
            full = self._answers[agent] >= limits.answers
            if full or self._answers.total() >= limits.all_answers:
                raise Denied(429, "Too many answers are waited for", "Ask again later", after=2)
            self._answers[agent] += 1
        try:
            yield
        finally:
            with self._lock:
                self._answers[agent] -= 1

    def audit(
        self,
        agent: str,
        verb: str,
        grant: Grant | None,
        *,
        began: float,
        status: int = 0,
        problem: str = "",
    ) -> None:
        """Write a request into the event log.

        Args:
            began: ``time.monotonic()`` at its beginning.
            status: The HTTP status of the answer; 0 for a call over MCP.
            problem: Why it failed; empty if it did not.
        """
        self.house.events.emit(
            ServiceCall(
                agent=agent,
                verb=verb,
                token=grant.id if grant is not None else "",
                status=status,
                seconds=round(time.monotonic() - began, 6),
                problem=problem,
            )
        )
