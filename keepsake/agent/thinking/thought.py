"""A thought under way, and what is decided about it from what is known by then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keepsake.agent.happenings import NO_BASIS, Basis
from keepsake.agent.impulses import Impulse
from keepsake.agent.thinking.actor import Act
from keepsake.events.types import Thought as ThoughtEvent
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.budget import Costs
from keepsake.prompt.marks import Rendered
from keepsake.recall.related import SearchResult

PROFILE = "agent"
"""The profile that agents think with."""


@dataclass(slots=True)
class Sent:
    """What was sent for a thought, and when."""

    time: datetime  # when
    impulse: Impulse  # what the thought was about
    prompt: Rendered  # the prompt, with the section of each line
    request: GenerationRequest  # the request
    costs: Costs  # what its sections cost
    wait: float  # seconds that it had waited in the queue
    at: float  # seconds of the services' timer
    basis: Basis  # what the prompt was made from
    answer: Generation | None = None  # what came; None until it has


@dataclass
class ThoughtInProgress:
    """A thought under way."""

    impulse: Impulse
    attempt: int = 1
    found: SearchResult | None = None
    """What recall brought for it."""
    rerouted: bool = False
    """Whether the model turned out to be of another form, so that it is asked in another way."""
    too_large: bool = False
    """Whether its prompt could not be brought under the budget."""
    queued: float = 0.0
    """Since when it waits in the queue, in seconds of the services' timer."""
    sent: Sent | None = None
    """What was sent for it, once its turn had come."""
    answer: Generation | None = None
    """What the model answered; None until it has."""


def log_line(name: str, thought: ThoughtInProgress, answer: Generation | None, *acts: Act) -> str:
    """The line of the agents' log on a thought that was answered, or said without a model."""
    did = "; ".join(map(_told, acts))
    cost = "no model"
    if answer is not None:
        cost = (
            f"{answer.prompt_tokens}+{answer.completion_tokens} tokens, "
            f"{answer.cached_tokens} cached, {answer.seconds:.2f} s"
        )
    return f"[Thinker] {name}: {thought.impulse.trigger} -> {did} ({cost})"


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
    answer: Generation | None = None,
    problem: str = "",
    costs: Costs | None = None,
) -> ThoughtEvent:
    """The event of a thought that has come to its end."""
    sent, impulse = thought.sent, thought.impulse
    request = sent.request if sent else None
    done = [act for act in acts if act.command is not None]
    commands = [act.command for act in done if act.command is not None]
    costs = sent.costs if sent else costs
    basis = sent.basis if sent else NO_BASIS
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
        problem=problem or next((act.refusal for act in acts if act.refusal), ""),
        memory=done[0].memory if done else 0,
        memories=[act.memory for act in done if act.memory],
        recalled=basis.recalled,
        longterm=basis.longterm,
        recent=basis.recent,
        total=basis.total,
        compaction=basis.compaction,
    )
