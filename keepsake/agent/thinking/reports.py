"""What is kept and told of the thoughts of one agent: events, log lines, counts."""

from __future__ import annotations

from collections.abc import Callable

from keepsake.agent.agent_log import log
from keepsake.agent.happenings import NO_BASIS, Basis
from keepsake.agent.impulses import Impulse
from keepsake.agent.runtime import Runtime
from keepsake.agent.thinking.actor import Act
from keepsake.agent.thinking.scene import ANSWERED
from keepsake.agent.thinking.tally import ThoughtTally
from keepsake.agent.thinking.thought import Sent, ThoughtInProgress
from keepsake.events.types import Guard
from keepsake.events.types import Thought as ThoughtEvent
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.marks import Rendered


class ThoughtReports:
    """Reports on the thoughts of one agent; on the reactor thread.

    Args:
        name: The agent's name in the logs.
        services: What all agents share.
        spent: Called with the tokens of each answer.

    Attributes:
        tally: What came of its thoughts, since the server started.
    """

    def __init__(self, name: str, services: Runtime, spent: Callable[[int], None]) -> None:
        self._name, self._services, self._spent = name, services, spent
        self.tally = ThoughtTally()

    def sending(
        self,
        thought: ThoughtInProgress,
        request: GenerationRequest,
        rendered: Rendered,
        costs: Costs,
        basis: Basis,
    ) -> None:
        """Keep what is sent, for the event log and for whoever looks at it."""
        now, time = self._services.seconds(), self._services.clock.now()
        wait = now - thought.queued
        thought.sent = Sent(time, thought.impulse, rendered, request, costs, wait, now, basis)
        self.tally.sent = thought.sent

    def answered(self, answer: Generation) -> None:
        """A model has answered."""
        self.tally.thoughts += 1
        self._spent(answer.prompt_tokens + answer.completion_tokens)

    def done(self, thought: ThoughtInProgress, *acts: Act, problem: str = "") -> None:
        """Log what came of an answer, or was said without a model."""
        did, answer, cost = "; ".join(map(_told, acts)), thought.answer, "no model"
        if answer is not None:
            cost = (
                f"{answer.prompt_tokens}+{answer.completion_tokens} tokens, "
                f"{answer.cached_tokens} cached, {answer.seconds:.2f} s"
            )
        log(f"[Thinker] {self._name}: {thought.impulse.trigger} -> {did} ({cost})")
        outcome = "acted" if any(act.command for act in acts) else "refused"
        self.ended(thought, outcome, *acts, problem=problem)

    def ended(
        self,
        thought: ThoughtInProgress,
        outcome: str,
        *acts: Act,
        problem: str = "",
        costs: Costs | None = None,
    ) -> None:
        """Have the event log told of a thought that has come to its end."""
        problem = problem or next((act.refusal for act in acts if act.refusal), "")
        now = self._services.seconds()
        event = thought_event(
            self._name, thought, outcome, now, *acts, problem=problem, costs=costs
        )
        self._services.events.emit(event)
        self.tally.ended(event, thought.answer, self._services.clock.now())

    def guarded(self, impulse: Impulse, op: str, before: str, reason: str) -> None:
        """Have the event log told that an answer was not spoken as it was written."""
        self.tally.guarded[op] += 1
        task, cause = "talk" if impulse.trigger in ANSWERED else "act", impulse.memory
        event = Guard(
            agent=self._name, task=task, op=op, before=before, after="", reason=reason, cause=cause
        )
        self._services.events.emit(event)
        log(f"[Thinker] {self._name}: An answer was {op}: {reason}")


def _told(act: Act) -> str:
    if act.command is None:
        return f"(refused: {act.refusal})"
    return f"{act.command.line} | {act.command.reason}".removesuffix(" | ")


def thought_event(
    name: str,
    thought: ThoughtInProgress,
    outcome: str,
    now: float,
    *acts: Act,
    problem: str = "",
    costs: Costs | None = None,
) -> ThoughtEvent:
    """The event of a thought that has come to its end."""
    sent, impulse, answer = thought.sent, thought.impulse, thought.answer
    request, costs = (sent.request, sent.costs) if sent else (None, costs)
    basis = sent.basis if sent else NO_BASIS
    commands = [act.command for act in acts if act.command is not None]
    memories = [act.memory for act in acts if act.command is not None]
    return ThoughtEvent(
        agent=name,
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
        latency=round(max(now - sent.at, answer.seconds if answer else 0.0), 6) if sent else 0.0,
        model=answer.model if answer else "",
        seed=request.seed if request else None,
        temperature=request.temperature if request else 0.0,
        answer=answer.text if answer else "",
        command="; ".join(each.line for each in commands) or None,
        reason=next((each.reason for each in commands if each.reason), ""),
        problem=problem,
        memory=memories[0] if memories else 0,
        memories=[each for each in memories if each],
        recalled=basis.recalled,
        longterm=basis.longterm,
        recent=basis.recent,
        total=basis.total,
        compaction=basis.compaction,
    )
