"""The record of each thought, and the agents' own kinds of log lines."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from types import UnionType
from typing import Any

from keepsake.agent.attention.impulse import ANSWERED, Impulse
from keepsake.agent.surroundings.game_objects import GameObject
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.secrets import secrets_in
from keepsake.events.types import Events, Guard, Thought
from keepsake.events.values import GuardOp, ThoughtOutcome
from keepsake.logs import Subsystem, get_logger
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, Rendered

log = get_logger(Subsystem.THOUGHTS)


def call_hook[T](
    agent: GameObject, hook: str, expected: type | UnionType, default: T, *args: object
) -> T:
    """Call a game's hook; if it fails or returns no ``expected``, log it and return ``default``."""
    try:
        found: Any = getattr(agent, hook)(*args)
        is_expected = isinstance(found, expected)
        if not is_expected:
            raise TypeError(f"it returned {found!r}")
    except Exception as error:  # a hook is the game's code; the agent goes on without it
        told = f"{hook} of {type(agent).__name__} failed"
        log.error(told, agent=agent.key, subsystem=Subsystem.HOOKS, exc_info=error)
        return default
    value: T = found
    return value


def report(problem: KeepsakeError) -> None:
    """Log a problem, and how to solve it."""
    of = Subsystem.CONFIG if isinstance(problem, ConfigError) else Subsystem.WORLD
    log.error(str(problem), subsystem=of, exc_info=problem.__cause__)


def known_secrets(places: Places) -> list[str]:
    """Return the secrets to hide from logs and exports: keys, tokens, the admin's password."""
    found = list(secrets_in(os.environ))
    for path in (places.admin_password, places.secret_key):
        with suppress(OSError, UnicodeDecodeError):
            found.append(path.read_text(encoding="utf-8"))
    return found


OUTCOMES = 20
"""How many recent outcomes are kept."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The request that was sent for a thought, and when.

    Attributes:
        impulse: What the thought is about.
        prompt: The prompt, with the section of each line.
        costs: The tokens of each of its sections.
        wait: Seconds in the model queue.
        made_from: What the prompt was made from: fields of the event.
        answer: The model's answer; None until it has come.
    """

    time: datetime
    impulse: Impulse
    prompt: Rendered
    request: GenerationRequest
    costs: Costs
    wait: float
    made_from: Mapping[str, Any]
    answer: Generation | None = None


class ThoughtLog:
    """Records the thoughts of one agent and logs them; on the reactor thread.

    Args:
        events: Receives the events.

    Attributes:
        outcomes: How many thoughts had each outcome since the server started.
        guarded: How many answers (or parts) a guard ``altered``, ``refused`` or ``dropped``.
        recent: The last :data:`OUTCOMES` outcomes, newest last, without ``dropped``.
        sent: The last request that was sent; None before the first.
        problem: Why the last thought failed; empty if it did not.
    """

    def __init__(self, name: str, events: Events) -> None:
        self.outcomes = Counter[ThoughtOutcome]()
        self.guarded = Counter[GuardOp]()
        self.recent = deque[ThoughtOutcome](maxlen=OUTCOMES)
        self.problem = ""
        self.sent: Sent | None = None
        self.name = name
        self._events = events

    def begin(self, sent: Sent) -> None:
        """Record the request that is sent for a thought."""
        self.sent = sent

    def ended(self, event: Thought, refusals: Iterable[str]) -> None:
        """Record and log a thought that has ended, or one of its answers."""
        self._events.emit(event)
        self.outcomes[event.outcome] += 1
        if event.outcome is ThoughtOutcome.DROPPED:
            return
        again = event.outcome in [*self.recent][-1:]
        self.recent.append(event.outcome)
        # A refused command is normal, and no problem to report.
        wrong = event.outcome.failed and event.outcome is not ThoughtOutcome.REFUSED
        self.problem = (event.problem or event.outcome) if wrong else ""
        if event.outcome is ThoughtOutcome.TOO_LARGE and not again:
            log.warning("The agent cannot think", agent=self.name, problem=self.problem)
        done = filter(None, [event.command, *(f"(refused: {each})" for each in refusals)])
        told = "; ".join(done) or event.outcome
        said = f"{event.trigger} -> {told}"
        log.info(said, agent=self.name, seconds=round(event.latency, 2))

    def guard(self, impulse: Impulse, op: GuardOp, before: str, reason: str) -> None:
        """Log that an answer was altered, refused or dropped instead of being spoken as written."""
        self.guarded[op] += 1
        task = "talk" if impulse.kind in ANSWERED else "act"
        name = self.name
        cause = impulse.memory_number
        event = Guard(agent=name, task=task, op=op, before=before, reason=reason, cause=cause)
        self._events.emit(event)
        log.info(f"An answer was {op}", agent=name, reason=reason)
