"""How an attempt of a turn ends: what is logged, and what waiting players are told."""

from __future__ import annotations

from keepsake.agent.turns.attempt import Attempt, TurnDropped, thought_of
from keepsake.agent.turns.state import Turn
from keepsake.events.values import ThoughtOutcome


def end_answered(turn: Turn, attempt: Attempt) -> None:
    """Log an attempt with an answer, by a model or by rule."""
    problem = attempt.fault or str(attempt.failure or "")
    outcome = ThoughtOutcome.ACTED if attempt.did else ThoughtOutcome.REFUSED
    memory = turn.tools.memory
    memory.considered = max(memory.considered, turn.attempt.basis.seen)
    turn.outage.end()
    end(turn, attempt, outcome, problem)


def end_unanswered(turn: Turn, attempt: Attempt) -> None:
    """Log an attempt without an answer: its prompt is too large, or no model answered.

    Raises:
        TurnDropped: The request was cancelled.
    """
    if attempt.too_large is not None:
        outcome = ThoughtOutcome.TOO_LARGE
        problem = _too_large(turn, attempt)
    elif attempt.failure is not None:
        outcome = ThoughtOutcome.NO_ANSWER
        problem = str(attempt.failure)
    else:
        raise TurnDropped
    end(turn, attempt, outcome, problem)
    turn.outage.tell(turn.agent, turn.impulse, outcome)


def _too_large(turn: Turn, attempt: Attempt) -> str:
    """Return what makes the prompt too large, and the cure."""
    costs = attempt.too_large
    assert costs is not None
    needs = f"Its prompt needs {costs.used:,} tokens and may have {costs.budget:,}"
    largest = max(costs.sections, key=lambda name: costs.sections[name])
    return (
        f"{turn.tools.compactions.no_room or needs}. Its largest part is {largest!r}. "
        "Shorten that, or raise context_tokens in memory_compaction.md"
    )


def end(turn: Turn, attempt: Attempt, outcome: ThoughtOutcome, problem: str = "") -> None:
    """Log the end of one of the turn's attempts."""
    turn.attempts.append(attempt)
    turn.attempt.has_ended = True
    _log(turn, attempt, outcome, problem)


def end_early(turn: Turn, outcome: ThoughtOutcome, problem: str = "") -> None:
    """Log the end of a turn that is dropped or breaks off.

    Between two attempts, nothing more was asked or done: the last one is logged already.
    """
    state = turn.attempt
    if state.has_ended:
        _log(turn, Attempt(number=state.number, impulse=turn.impulse), outcome, problem)
    else:
        end(turn, state.as_attempt(), outcome, problem)


def _log(turn: Turn, attempt: Attempt, outcome: ThoughtOutcome, problem: str) -> None:
    sent = attempt.sent
    spent = (turn.services.clock.now() - sent.time).total_seconds() if sent else 0.0
    spent -= attempt.travelled
    event = thought_of(turn.thoughts.name, attempt, outcome, problem, spent)
    turn.thoughts.ended(event, [act.refusal for act in attempt.acts if act.refusal])
