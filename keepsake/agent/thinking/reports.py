"""What is kept and told of the thoughts of one agent: events, log lines, counts."""

from __future__ import annotations

from collections.abc import Callable

from keepsake.agent.agent_log import log
from keepsake.agent.happenings import Basis
from keepsake.agent.impulses import Impulse
from keepsake.agent.services import Services
from keepsake.agent.thinking.actor import Act
from keepsake.agent.thinking.scene import ANSWERED
from keepsake.agent.thinking.tally import ThoughtTally
from keepsake.agent.thinking.thought import Sent, ThoughtInProgress, log_line, thought_event
from keepsake.errors import ModelError
from keepsake.events.types import Guard
from keepsake.models.queue import Outcome
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
        thoughts: How many were answered, since the server started.
        tally: What came of its thoughts, since the server started.
    """

    def __init__(self, name: str, services: Services, spent: Callable[[int], None]) -> None:
        self._name, self._services, self._spent = name, services, spent
        self.thoughts = 0
        self.tally = ThoughtTally()

    def sending(
        self,
        thought: ThoughtInProgress,
        request: GenerationRequest,
        rendered: Rendered,
        costs: Costs,
        basis: Basis,
    ) -> GenerationRequest:
        """Keep what is sent, for the event log and for whoever looks at it."""
        now = self._services.seconds()
        thought.sent = self.tally.sent = Sent(
            self._services.clock.now(),
            thought.impulse,
            rendered,
            request,
            costs,
            now - thought.queued,
            now,
            basis,
        )
        return request

    def answered(self, answer: Generation) -> None:
        """A model has answered."""
        self.thoughts += 1
        self._spent(answer.prompt_tokens + answer.completion_tokens)

    def done(
        self, thought: ThoughtInProgress, answer: Outcome, *acts: Act, problem: str = ""
    ) -> None:
        """Log what came of an answer, or was said without a model."""
        came = answer if isinstance(answer, Generation) else None
        log(log_line(self._name, thought, came, *acts))
        outcome = "acted" if any(act.command for act in acts) else "refused"
        problem = problem or (str(answer) if isinstance(answer, ModelError) else "")
        self.ended(thought, outcome, *acts, answer=answer, problem=problem)

    def ended(
        self,
        thought: ThoughtInProgress,
        outcome: str,
        *acts: Act,
        answer: Outcome = None,
        problem: str = "",
        costs: Costs | None = None,
    ) -> None:
        """Have the event log told of a thought that has come to its end."""
        came = answer if isinstance(answer, Generation) else None
        event = thought_event(
            self._name,
            thought,
            outcome,
            self._services.seconds(),
            *acts,
            answer=came,
            problem=problem,
            costs=costs,
        )
        self._services.events.emit(event)
        self.tally.ended(event, came, self._services.clock.now())

    def guarded(self, impulse: Impulse, op: str, before: str, reason: str) -> None:
        """Have the event log told that an answer was not spoken as it was written."""
        self.tally.guarded[op] += 1
        event = Guard(
            agent=self._name,
            task="talk" if impulse.trigger in ANSWERED else "act",
            op=op,
            before=before,
            after="",
            reason=reason,
            cause=impulse.memory,
        )
        self._services.events.emit(event)
        log(f"[Thinker] {self._name}: An answer was {op}: {reason}")
