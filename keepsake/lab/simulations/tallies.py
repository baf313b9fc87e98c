"""Counts: what became of the agents' plans, and how many calls and tokens an hour costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.books.plan import PlanState
from keepsake.events.types import Compaction, MemoryChange, Sleep, Thought
from keepsake.events.values import Author, MemoryOp, SleepOp, ThoughtOutcome
from keepsake.json_lines import Record
from keepsake.lab.simulations.plan import PLANS
from keepsake.lab.simulations.record import SimulationRecord, text_of
from keepsake.language.tokens import estimate_tokens

MADE = "made"
"""The ``change`` of an archive line about a new plan."""
IDLE = "idle"
WAIT = "wait"
"""An act that does nothing."""

# -- plans


@dataclass(frozen=True, slots=True)
class PlanTally:
    """What became of the plans of one agent, or of all.

    Attributes:
        made: How many were made.
        at_night: How many of them were made at night; the others in talks or by people.
        kept: How many were done.
        current: How many are open or begun at the end.
    """

    made: int = 0
    at_night: int = 0
    kept: int = 0
    missed: int = 0
    dropped: int = 0
    current: int = 0

    def plus(self, other: PlanTally) -> PlanTally:
        """Return the sums of two tallies."""
        return PlanTally(
            made=self.made + other.made,
            at_night=self.at_night + other.at_night,
            kept=self.kept + other.kept,
            missed=self.missed + other.missed,
            dropped=self.dropped + other.dropped,
            current=self.current + other.current,
        )


def plan_tallies(record: SimulationRecord) -> Mapping[str, PlanTally] | None:
    """Return the tally of each agent, by name; None if the agents had no plans."""
    if record.lacks(PLANS):
        return None
    at_night = Counter(
        event["agent"]
        for event in record.events(MemoryChange.kind)
        if event.get("op") == MemoryOp.PLAN
        and event.get("of") == MADE
        and event.get("by") == Author.NIGHT
    )
    return {
        name: replace(_plan_tally(lines), at_night=at_night[name])
        for name, lines in record.plan_lines.items()
    }


def _plan_tally(lines: Iterable[Record]) -> PlanTally:
    """Count the plans in an archive by their last states."""
    states: dict[int, str] = {}
    made = set[int]()
    for line in lines:
        number = int(line.get("id", 0))
        states[number] = text_of(line, "state")
        if line.get("change") == MADE:
            made.add(number)
    last = Counter(states.values())
    ended = (PlanState.DONE, PlanState.MISSED, PlanState.DROPPED)
    return PlanTally(
        made=len(made),
        kept=last[PlanState.DONE],
        missed=last[PlanState.MISSED],
        dropped=last[PlanState.DROPPED],
        current=len(states) - sum(last[state] for state in ended),
    )


# -- costs


@dataclass(frozen=True, slots=True)
class CostTally:
    """Calls to models and their tokens.

    Attributes:
        calls: How many answers models were asked for.
        uncounted: Of how many of them the tokens are not known.
        prompt_sum, completion_sum: The tokens of the other calls, as the servers count them.
        estimated: Of how many of the others the tokens are estimated: the server did not say, or
            the answer was refused before its end.
    """

    calls: int = 0
    uncounted: int = 0
    prompt_sum: int = 0
    completion_sum: int = 0
    estimated: int = 0

    def plus(self, other: CostTally) -> CostTally:
        """Return the sums of two tallies."""
        return CostTally(
            calls=self.calls + other.calls,
            uncounted=self.uncounted + other.uncounted,
            prompt_sum=self.prompt_sum + other.prompt_sum,
            completion_sum=self.completion_sum + other.completion_sum,
            estimated=self.estimated + other.estimated,
        )

    @property
    def is_known(self) -> bool:
        """Whether the tokens of any call are known, or there were no calls."""
        return not self.calls or self.uncounted < self.calls

    @property
    def prompt_tokens(self) -> int | None:
        """The tokens of the prompts of counted calls; None if no call was counted."""
        return self.prompt_sum if self.is_known else None

    @property
    def completion_tokens(self) -> int | None:
        """The tokens of the answers of counted calls; None if no call was counted."""
        return self.completion_sum if self.is_known else None

    @property
    def note(self) -> str:
        """What the tokens leave out or estimate: ``without 3 of 40 calls``; empty for nothing."""
        if not self.is_known:
            return ""
        left_out = f"without {self.uncounted:,} of {self.calls:,} calls" if self.uncounted else ""
        estimated = f"{self.estimated:,} of {self.calls:,} calls estimated" * bool(self.estimated)
        return "; ".join(filter(None, [left_out, estimated]))


@dataclass(frozen=True)
class SimulationCosts:
    """What a simulation has cost.

    Attributes:
        agent_hours: Simulated hours, of all agents together; sleep counts.
        kinds: The tallies of ``thoughts``, ``talks`` of two agents, ``nights`` and ``compactions``.
        idle: How many thoughts without a reason models were asked for.
        idle_waits: How many of them ended in ``wait``.
        unanswered: How many thoughts no model answered.
    """

    agent_hours: float
    kinds: Mapping[str, CostTally]
    idle: int
    idle_waits: int
    unanswered: int

    @property
    def total(self) -> CostTally:
        """All kinds together."""
        found = CostTally()
        for tally in self.kinds.values():
            found = found.plus(tally)
        return found

    def an_hour(self, number: int | None) -> float | None:
        """Return a number for each agent-hour; None if it is not known, or no time has passed."""
        return None if number is None or not self.agent_hours else number / self.agent_hours


def costs_of(record: SimulationRecord) -> SimulationCosts:
    """Return the calls and tokens of a simulation, from its event log; without the interview."""
    thoughts = [each for each in record.events(Thought.kind) if each.get("prompt")]
    work = (SleepOp.STEP, SleepOp.THINKS_OVER)
    nights = [each for each in record.events(Sleep.kind) if each.get("op") in work]
    compactions = list(record.events(Compaction.kind))
    idle = [each for each in thoughts if each.get("trigger") == IDLE]
    return SimulationCosts(
        agent_hours=record.hours * len(record.cast),
        kinds={
            "thoughts": _cost_tally(thoughts, calls=1),
            "talks": _cost_tally(list(record.events("pair_talk"))),
            "nights": _cost_tally(nights),
            "compactions": _cost_tally(compactions),
        },
        idle=len(idle),
        idle_waits=sum(each.get("command") == WAIT for each in idle),
        unanswered=sum(each.get("outcome") == ThoughtOutcome.NO_ANSWER for each in thoughts),
    )


def _cost_tally(events: Sequence[Record], calls: int = 0) -> CostTally:
    """Return the sums over events; ``calls``: of each event that does not say how many."""
    tally = CostTally()
    for event in events:
        asked = int(event.get("calls", calls))
        tokens = int(event.get("prompt_tokens", 0))
        written = int(event.get("completion_tokens", 0))
        is_counted = bool(tokens or written)
        if not is_counted:
            tokens = sum(event.get("sections", {}).values())  # of the prompt, by our own count
            written = estimate_tokens(event.get("answer", "")) if tokens else 0
        tally = tally.plus(
            CostTally(
                asked,
                uncounted=0 if is_counted or tokens else asked,
                prompt_sum=tokens,
                completion_sum=written,
                estimated=0 if is_counted or not tokens else asked,
            )
        )
    return tally
