"""What is kept and told of the thoughts of one agent: events, log lines, counts."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from keepsake.agent.agent_log import log
from keepsake.agent.attention import ANSWERED, Impulse
from keepsake.agent.happenings import NO_BASIS, Basis
from keepsake.agent.runtime import Runtime
from keepsake.agent.thinking.acting import Act
from keepsake.events.types import Guard, Thought
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.marks import Rendered

DROPPED, OUTCOMES = "dropped", 20
"""The outcome that is no failure and no success; how many of the newest outcomes are kept."""
FAILED = ("refused", "no answer", "too large", "broke off")
"""Outcomes of which nothing came in the world; see :class:`keepsake.events.types.Thought`."""
REFUSED_IN_A_ROW = 3
"""Refused answers that mean that something is wrong: one wrong command is everyday life."""


@dataclass(slots=True)
class Sent:
    """What was sent for a thought, and when."""

    time: datetime  # when
    impulse: Impulse  # what the thought was about
    prompt: Rendered  # the prompt, with the section of each line
    request: GenerationRequest  # the request
    costs: Costs  # what its sections cost
    wait: float  # seconds that it had waited in the queue
    at: float  # seconds of the runtime's timer
    basis: Basis  # what the prompt was made from
    answer: Generation | None = None  # what came; None until it has


@dataclass(slots=True)
class ThoughtTally:
    """Counts of one agent's thoughts, and the newest of what they led to."""

    # how many thoughts ended in which way since the server started
    outcomes: Counter[str] = field(default_factory=Counter)
    # how many answers, or parts of one, were ``altered``, ``refused`` or ``dropped`` by a guard
    guarded: Counter[str] = field(default_factory=Counter)
    # how its last :data:`OUTCOMES` thoughts ended, the newest last; without ``dropped``
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=OUTCOMES))
    act: str = ""  # the line of its last act; empty before the first
    acted_at: datetime | None = None  # when that was
    # the last prompt that was sent since the start; None before the first
    sent: Sent | None = None
    thoughts: int = 0  # how many were answered, since the server started
    _last: deque[Thought] = field(default_factory=lambda: deque(maxlen=REFUSED_IN_A_ROW))

    @property
    def came_to_an_end(self) -> int:
        """Thoughts since the start that were not dropped: what :attr:`failed` is a part of."""
        return sum(self.outcomes.values()) - self.outcomes[DROPPED]

    @property
    def failed(self) -> int:
        """Thoughts since the start of which nothing came."""
        return sum(self.outcomes[each] for each in FAILED)

    @property
    def recent_failed(self) -> int:
        """Those of :attr:`recent` of which nothing came."""
        return sum(each in FAILED for each in self.recent)

    @property
    def used(self) -> int:
        """Tokens of the last prompt that was sent; 0 if none is known of."""
        return self.sent.costs.used if self.sent is not None else 0

    @property
    def problem(self) -> str:
        """What is wrong with its thinking now; empty if nothing is."""
        last = self._last[-1] if self._last else None
        refused = [each for each in self._last if each.outcome == "refused"]
        once = last in refused and len(refused) < REFUSED_IN_A_ROW
        if last is None or last.outcome not in FAILED or once:
            return ""
        return last.problem or last.outcome

    def ended(self, thought: Thought, answer: Generation | None, now: datetime) -> None:
        """A thought has come to its end."""
        self.outcomes[thought.outcome] += 1
        if answer is not None and self.sent is not None:
            self.sent.answer = answer
        if thought.outcome == DROPPED:
            return
        self.recent.append(thought.outcome)
        self._last.append(thought)
        if thought.outcome == "acted":
            self.act, self.acted_at = thought.command or "", now


@dataclass
class Progress:
    """How far one thought is; what the event log tells of it."""

    impulse: Impulse
    attempt: int = 1
    queued: float = 0.0  # since when it waits in the queue, in seconds of the runtime's timer
    sent: Sent | None = None  # what was sent for it, once its turn had come
    answer: Generation | None = None  # what the model answered; None until it has


class ThoughtReports:
    """Reports on the thoughts of one agent; on the reactor thread.

    Args:
        name: The agent's name in the logs.
        runtime: Its log, and its time.
        spent: Called with the tokens of each answer.

    Attributes:
        tally: What came of its thoughts, since the server started.
    """

    def __init__(self, name: str, runtime: Runtime, spent: Callable[[int], None]) -> None:
        self.tally = ThoughtTally()
        self._name, self._runtime, self._spent = name, runtime, spent

    def answered(self, answer: Generation) -> None:
        """A model has answered."""
        self.tally.thoughts += 1
        self._spent(answer.prompt_tokens + answer.completion_tokens)

    def done(self, thought: Progress, *acts: Act, problem: str = "") -> None:
        """Log what came of an answer, or was said without a model."""
        told, answer, cost = [], thought.answer, "no model"
        for act in acts:
            did = act.command
            told.append(f"{did.line} | {did.reason}" if did else f"(refused: {act.refusal})")
        if answer is not None:
            cost = (
                f"{answer.prompt_tokens}+{answer.completion_tokens} tokens, "
                f"{answer.cached_tokens} cached, {answer.seconds:.2f} s"
            )
        did_what = "; ".join(each.removesuffix(" | ") for each in told)
        log(f"[Thinker] {self._name}: {thought.impulse.trigger} -> {did_what} ({cost})")
        outcome = "acted" if any(act.command for act in acts) else "refused"
        self.ended(thought, outcome, *acts, problem=problem)

    def ended(
        self,
        thought: Progress,
        outcome: str,
        *acts: Act,
        problem: str = "",
        costs: Costs | None = None,
    ) -> None:
        """Have the event log told of a thought that has come to its end."""
        sent, impulse, answer = thought.sent, thought.impulse, thought.answer
        request, costs = (sent.request, sent.costs) if sent else (None, costs)
        basis, now = sent.basis if sent else NO_BASIS, self._runtime.seconds()
        commands = [act.command for act in acts if act.command is not None]
        memories = [act.memory for act in acts if act.command is not None]
        event = Thought(
            agent=self._name,
            trigger=impulse.trigger,
            priority=impulse.priority,
            outcome=outcome,
            source=impulse.source,
            cause=impulse.memory,
            attempt=thought.attempt,
            prompt=request.prompt if request else "",
            sections={each.name: each.tokens for each in costs.sections} if costs else {},
            budget=costs.budget if costs else 0,
            counted_by=costs.source if costs else "",
            prompt_tokens=answer.prompt_tokens if answer else 0,
            cached_tokens=answer.cached_tokens if answer else 0,
            completion_tokens=answer.completion_tokens if answer else 0,
            wait=round(sent.wait, 6) if sent else 0.0,
            # On a simulated clock no time passes while a model answers: then what it says itself.
            latency=round(max(now - sent.at, answer.seconds if answer else 0.0), 6)
            if sent
            else 0.0,
            model=answer.model if answer else "",
            seed=request.seed if request else None,
            temperature=request.temperature if request else 0.0,
            answer=answer.text if answer else "",
            command="; ".join(each.line for each in commands) or None,
            reason=next((each.reason for each in commands if each.reason), ""),
            problem=problem or next((act.refusal for act in acts if act.refusal), ""),
            memory=memories[0] if memories else 0,
            memories=[each for each in memories if each],
            recalled=basis.recalled,
            longterm=basis.longterm,
            recent=basis.recent,
            total=basis.total,
            compaction=basis.compaction,
        )
        self._runtime.events.emit(event)
        self.tally.ended(event, answer, self._runtime.clock.now())

    def guarded(self, impulse: Impulse, op: str, before: str, reason: str) -> None:
        """Have the event log told that an answer was not spoken as it was written."""
        self.tally.guarded[op] += 1
        task, cause = "talk" if impulse.kind in ANSWERED else "act", impulse.memory
        event = Guard(
            agent=self._name, task=task, op=op, before=before, after="", reason=reason, cause=cause
        )
        self._runtime.events.emit(event)
        log(f"[Thinker] {self._name}: An answer was {op}: {reason}")
