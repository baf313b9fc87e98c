"""One try of a turn to get an answer: as it goes on, and as a value when it has ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from keepsake.agent.acting.acts import LOOKUPS, NO_BASIS, SPEECH, Act, Basis
from keepsake.agent.acting.journey import Journey
from keepsake.agent.agent_log import Sent
from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.surroundings.game_objects import RoomObject
from keepsake.errors import ModelError
from keepsake.events.types import Thought
from keepsake.events.values import ThoughtOutcome
from keepsake.happening import KnownVerb
from keepsake.models.tickets import Outcome
from keepsake.ports import Generation
from keepsake.prompt.sections import Costs


class TurnDropped(Exception):
    """The turn ends without effect: the agent is gone, asleep or paused, or has no reason now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to get an answer, with what came of it.

    Attributes:
        number: 1 for the first try, 2 for the one after a refusal.
        impulse: What it is about.
        sent: The request with the model's answer; None if none was sent.
        too_large: The costs of a prompt over its budget, which was not sent; else None.
        acts: The parts of the answer that were done or refused, in order, but no refused words.
        fault: Why words, or all deeds, were refused; else empty.
        outcome: What came of the request: an answer, an error, or None if it was cancelled.
        travelled: The seconds for which it waited for a walk to end, before its last parts.
        kept_by: The player who waits for an answer, so that the agent did not set off; else empty.
    """

    number: int
    impulse: Impulse
    sent: Sent | None = None
    too_large: Costs | None = None
    acts: tuple[Act, ...] = ()
    fault: str = ""
    outcome: Outcome = None
    travelled: float = 0.0
    kept_by: str = ""

    @property
    def did(self) -> bool:
        """Whether any part of the answer was done."""
        return any(act.command is not None for act in self.acts)

    @property
    def spoke(self) -> bool:
        """Whether the agent said something to others."""
        return any(act.command is not None and act.command.verb in SPEECH for act in self.acts)

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs of what the agent did; empty if it did nothing."""
        return frozenset(act.command.verb for act in self.acts if act.command is not None)

    @property
    def waits_for(self) -> str:
        """What the agent waits for, by its last deed ``> wait for Bob``; empty for nothing."""
        commands = [act.command for act in self.acts if act.command is not None]
        waits = [each.words for each in commands if each.verb == KnownVerb.WAIT]
        return waits[-1] if waits else ""

    @property
    def is_on_its_way(self) -> bool:
        """Whether the agent is on a walk that it has begun."""
        return any(act.journey is not None and not act.journey.is_over for act in self.acts)

    @property
    def has_arrived(self) -> bool:
        """Whether parts were done after a walk, where it ended, or it was there already."""
        begun = [number for number, act in enumerate(self.acts) if act.journey is not None]
        if not begun or self.is_on_its_way:
            return False
        last = self.acts[begun[-1]].journey
        return begun[-1] < len(self.acts) - 1 or (last is not None and last.at_once)

    @property
    def missed(self) -> str:
        """Why its last walk did not reach its goal; empty if it did, or has not ended."""
        done = [(act.command, act.journey) for act in self.acts]
        walks = [way for command, way in done if command and command.verb == KnownVerb.WALK]
        if not walks:
            return ""
        return walks[-1].missed if walks[-1] is not None else "you did not set off"

    @property
    def looked_up(self) -> tuple[int, ...]:
        """The numbers of acts whose results the model should see in the same turn."""
        done = ((act.command, act.memory_number) for act in self.acts)
        return tuple(n for command, n in done if command is not None and command.verb in LOOKUPS)

    @property
    def vetoed(self) -> bool:
        """Whether the game refused a part of the answer, and nothing else of it was done."""
        return not self.did and any(act.vetoed for act in self.acts)

    @property
    def has_answer(self) -> bool:
        """Whether a model answered, at least in part."""
        return isinstance(self.outcome, Generation) or bool(self.acts or self.fault)

    @property
    def failure(self) -> ModelError | None:
        """Why no model answered; None if one did, or the request was cancelled."""
        return self.outcome if isinstance(self.outcome, ModelError) else None

    @property
    def goes_again(self) -> bool:
        """Whether the model should be asked again, with the reason of the refusal.

        A gesture alone, whose words were refused, is no answer to who waits for one.
        """
        return self.has_answer and not self._did_more and bool(self.fault) and not self.kept_by

    @property
    def _did_more(self) -> bool:
        """Whether something was done that is no gesture."""
        done = (act.command for act in self.acts if act.command is not None)
        return any(command.verb != KnownVerb.EMOTE for command in done)


@dataclass(kw_only=True)
class AttemptState:
    """What changes while an attempt goes on; :meth:`as_attempt` makes it a value."""

    number: int
    impulse: Impulse
    sent: Sent | None = None
    basis: Basis = NO_BASIS
    too_large: Costs | None = None
    acts: list[Act] = field(default_factory=list)
    parts: int = 0
    """Parts of the answer that were read, refused ones included."""
    fault: str = ""
    place: RoomObject | None = None
    """The room that the prompt describes; None before there is a prompt."""
    writes_deeds: bool = True
    """Whether the answer may hold commands, by the form of its prompt."""
    travelled: float = 0.0
    """The seconds for which it waited for a walk to end, before its last parts."""
    is_walking: bool = False
    """Whether it waits for that now."""
    has_ended: bool = False
    """Whether its end is logged."""
    kept_by: str = ""
    """The player who waits for an answer, so that the agent did not set off; else empty."""

    @property
    def is_refused(self) -> bool:
        """Whether words were refused before any part was done or refused; the rest is not read."""
        return bool(self.fault) and not self.acts

    @property
    def journey(self) -> Journey | None:
        """The last walk that it has begun; None if it has begun none."""
        return next((act.journey for act in reversed(self.acts) if act.journey is not None), None)

    @property
    def spoken(self) -> str:
        """The words that the agent has said so far."""
        done = (act.command for act in self.acts if act.command is not None)
        return " ".join(command.words for command in done if command.verb in SPEECH)

    def as_attempt(self, outcome: Outcome = None) -> Attempt:
        """Return the attempt as it is now, as a value; ``outcome``: what came of the request."""
        return Attempt(
            number=self.number,
            impulse=self.impulse,
            sent=self.sent,
            too_large=self.too_large,
            acts=tuple(self.acts),
            fault=self.fault,
            outcome=outcome,
            travelled=self.travelled,
            kept_by=self.kept_by,
        )


def thought_of(
    name: str, attempt: Attempt, outcome: ThoughtOutcome, problem: str, spent: float
) -> Thought:
    """Return the event of a thought that has ended, or of one of its answers.

    Args:
        name: The agent's name.
        outcome: What came of it: ``acted``, ``refused`` …; see :class:`Thought`.
        problem: Why the answer was refused, or why there was none; else empty.
        spent: Seconds since the request was sent.
    """
    impulse = attempt.impulse
    sent = attempt.sent
    answer = sent.answer if sent else None
    costs = sent.costs if sent else attempt.too_large
    done = [(act.command, act.memory_number) for act in attempt.acts if act.command is not None]
    refusals = [act.refusal for act in attempt.acts if act.refusal]
    return Thought(
        agent=name,
        trigger=impulse.kind,
        priority=impulse.priority,
        outcome=outcome,
        source=impulse.source,
        cause=impulse.memory_number,
        attempt=attempt.number,
        prompt=sent.request.prompt if sent else "",
        sections=costs.sections if costs else {},
        budget=costs.budget if costs else 0,
        prompt_tokens=answer.prompt_tokens if answer else 0,
        cached_tokens=answer.cached_tokens if answer else None,
        completion_tokens=answer.completion_tokens if answer else 0,
        wait=round(sent.wait, 6) if sent else 0.0,
        # A simulated clock stands still while a model answers: use the model's own time.
        latency=round(max(spent, answer.seconds if answer else 0.0), 6),
        model=answer.model if answer else "",
        seed=sent.request.seed if sent else None,
        temperature=(sent.request.temperature or 0.0) if sent else 0.0,
        answer=answer.text if answer else "",
        command="; ".join(command.line for command, _ in done) or None,
        reason=next((command.reason for command, _ in done if command.reason), ""),
        problem=problem or next(iter(refusals), ""),
        memory=done[0][1] if done else 0,
        memories=[memory for _, memory in done if memory],
        **(sent.made_from if sent else {}),
    )
