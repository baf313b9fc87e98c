"""What is kept and told of the thoughts of one agent: events, log lines, counts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.attention import ANSWERED, Impulse
from keepsake.agent.memory.related import SearchResult
from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings import Body
from keepsake.agent.thinking.acting import Act
from keepsake.agent.thinking.scene import UNASKED, TurnContext
from keepsake.events.types import Guard, Thought
from keepsake.models.queue import Ticket
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, Rendered
from keepsake.tasks.talk import Talk

DROPPED, OUTCOMES = "dropped", 20
"""The outcome that is no failure and no success; how many of the newest outcomes are kept."""
FAILED = ("refused", "no answer", "too large", "broke off")
"""Outcomes of which nothing came in the world; see :class:`keepsake.events.types.Thought`."""
REFUSED_IN_A_ROW = 3
"""Refused answers that mean that something is wrong: one wrong command is everyday life."""


@dataclass(slots=True)
class Sent:
    """What was sent for a thought, and when."""

    time: datetime
    impulse: Impulse  # what the thought was about
    prompt: Rendered  # the prompt, with the section of each line
    request: GenerationRequest
    costs: Costs  # what its sections cost
    wait: float  # seconds that it had waited in the queue
    at: float  # seconds of the runtime's timer
    basis: Mapping[str, Any]  # what the prompt was made from, by the field of the event
    answer: Generation | None = None  # what came; None until it has


@dataclass
class Turn:
    """A turn under way: a thought, and what has come of its newest answer."""

    impulse: Impulse
    agent: Body
    context: TurnContext = UNASKED  # whom it answers, and who hears it
    dropped: bool = False  # whether it was broken off
    found: SearchResult | None = None  # what recall brought for it
    attempt: int = 1
    queued: float = 0.0  # since when it waits in the queue, in seconds of the runtime's timer
    ticket: Ticket | None = None  # its place in the queue
    rerouted: bool = False  # whether the model turned out to be one that rules answer for
    too_large: Costs | None = None  # what its prompt needs, where that is more than it may have
    sent: Sent | None = None  # what was sent, once its turn had come
    talk: Talk | None = None  # what was asked; None before that
    acts: list[Act] = field(default_factory=list)  # what was done, or refused, of the answer
    parts: int = 0  # parts of the answer that were read, refused ones included
    fault: str = ""  # why words were refused, or all that was tried; empty if none was

    @property
    def did(self) -> bool:
        """Whether anything came of the answer."""
        return any(act.command is not None for act in self.acts)


class ThoughtLog:
    """Reports on the thoughts of one agent; on the reactor thread.

    Args:
        name: The agent's name in the logs.
        runtime: Its log, and its time.
        spent: Called with the tokens of each answer.

    Attributes:
        outcomes: How many thoughts ended in which way since the server started.
        guarded: How many answers, or parts of one, a guard ``altered``, ``refused``, ``dropped``.
        recent: How its last :data:`OUTCOMES` thoughts ended, the newest last; without ``dropped``.
        answered: How many were answered.
        sent: The last prompt that was sent; None before the first.
        act: The line of its last act; empty before the first.
        acted_at: When that was.
    """

    def __init__(self, name: str, runtime: Runtime, spent: Callable[[int], None]) -> None:
        self.outcomes, self.guarded = Counter[str](), Counter[str]()
        self.recent = deque[str](maxlen=OUTCOMES)
        self.answered, self.act = 0, ""
        self.sent: Sent | None = None
        self.acted_at: datetime | None = None
        self._name, self._runtime, self._spent = name, runtime, spent
        self._problem = ""

    @property
    def problem(self) -> str:
        """What is wrong with its thinking now; empty if nothing is."""
        last = [*self.recent][-REFUSED_IN_A_ROW:]
        once = last[-1:] == ["refused"] and last != ["refused"] * REFUSED_IN_A_ROW
        return "" if once else self._problem

    def ended(self, turn: Turn, outcome: str, problem: str = "") -> None:
        """Tell the logs of a thought that has ended, or of one of its answers."""
        impulse, sent = turn.impulse, turn.sent
        answer = sent.answer if sent else None
        done = [act for act in turn.acts if act.command is not None]
        lines = [act.command.line for act in turn.acts if act.command is not None]
        reasons = [act.command.reason for act in turn.acts if act.command is not None]
        refusals = [act.refusal for act in turn.acts if act.refusal]
        memories = [act.memory for act in done if act.memory]
        costs = sent.costs if sent else turn.too_large
        spent = self._runtime.seconds() - sent.at if sent else 0.0
        event = Thought(
            agent=self._name,
            trigger=impulse.kind,
            priority=impulse.priority,
            outcome=outcome,
            source=impulse.source,
            cause=impulse.memory,
            attempt=turn.attempt,
            prompt=sent.request.prompt if sent else "",
            sections={each.name: each.tokens for each in costs.sections} if costs else {},
            budget=costs.budget if costs else 0,
            counted_by=costs.source if costs else "",
            prompt_tokens=answer.prompt_tokens if answer else 0,
            cached_tokens=answer.cached_tokens if answer else 0,
            completion_tokens=answer.completion_tokens if answer else 0,
            wait=round(sent.wait, 6) if sent else 0.0,
            # On a simulated clock no time passes while a model answers: then what it says itself.
            latency=round(max(spent, answer.seconds if answer else 0.0), 6),
            model=answer.model if answer else "",
            seed=sent.request.seed if sent else None,
            temperature=sent.request.temperature if sent else 0.0,
            answer=answer.text if answer else "",
            command="; ".join(lines) or None,
            reason=next(filter(None, reasons), ""),
            problem=problem or next(iter(refusals), ""),
            memory=done[0].memory if done else 0,
            memories=memories,
            **(sent.basis if sent else {}),
        )
        self._runtime.events.emit(event)
        self.outcomes[outcome] += 1
        if outcome == DROPPED:
            return
        self.recent.append(outcome)
        self._problem = (event.problem or outcome) if outcome in FAILED else ""
        if outcome == "acted":
            self.act, self.acted_at = event.command or "", self._runtime.clock.now()
        told = "; ".join([*lines, *(f"(refused: {each})" for each in refusals)]) or outcome
        tokens = f"{event.prompt_tokens}+{event.completion_tokens} tokens"
        cost = f"{tokens}, {event.cached_tokens} cached, {event.latency:.2f} s"
        log(f"[Thinker] {self._name}: {impulse.kind} -> {told} ({cost if answer else 'no answer'})")

    def heard(self, turn: Turn, answer: Generation) -> None:
        """A model has answered."""
        self.answered += 1
        if turn.sent is not None:
            turn.sent.answer = answer
            self._runtime.tokens.heard(turn.sent.costs.used, answer.prompt_tokens)
        self._spent(answer.prompt_tokens + answer.completion_tokens)

    def guard(self, turn: Turn, op: str, before: str, reason: str) -> None:
        """Tell the logs that an answer was not spoken as it was written."""
        self.guarded[op] += 1
        task = "talk" if turn.impulse.kind in ANSWERED else "act"
        name, cause = self._name, turn.impulse.memory
        event = Guard(agent=name, task=task, op=op, before=before, reason=reason, cause=cause)
        self._runtime.events.emit(event)
        log(f"[Thinker] {name}: An answer was {op}: {reason}")
