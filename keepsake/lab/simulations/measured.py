"""All measures of one simulation, and the figures by which simulations are compared.

A figure that cannot be measured is None, and is shown as *unknown*, never as 0. A figure of a part
that was taken away from the agents is :data:`TAKEN_AWAY`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from keepsake.json_lines import Record
from keepsake.lab.simulations.acquaintance import AcquaintanceGraph, acquaintances_of
from keepsake.lab.simulations.attendance import Attendance, attendance_of
from keepsake.lab.simulations.diffusion import Spread, spread_of
from keepsake.lab.simulations.interview import ABOUT_ITEM, KINDS
from keepsake.lab.simulations.record import SimulationRecord, text_of
from keepsake.lab.simulations.tallies import PlanTally, SimulationCosts, costs_of, plan_tallies

UNKNOWN = "unknown"
TAKEN_AWAY = "taken away"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a simulation.

    Attributes:
        name: What it says.
        value: The number; None if it cannot be measured.
        of: The greatest number that it could be; None if there is none.
        note: What is said instead of an unknown value, or besides a known one.
    """

    name: str
    value: float | None
    of: float | None = None
    note: str = ""

    @property
    def text(self) -> str:
        """The figure as a table shows it: ``3 of 6``."""
        if self.value is None:
            return self.note or UNKNOWN
        digits = 2 if abs(self.value) < 10 else 1
        if float(self.value).is_integer():
            digits = 0
        of = f" of {self.of:g}" if self.of is not None else ""
        return f"{self.value:,.{digits}f}{of}{f' ({self.note})' if self.note else ''}"


@dataclass(frozen=True)
class MeasuredSimulation:
    """A simulation with its measures.

    Attributes:
        spreads: How each item has spread, by its id.
        attendances: Who came to each invitation, by its id.
        plans: What became of the agents' plans, by name; None if they had none.
    """

    record: SimulationRecord
    spreads: Mapping[str, Spread]
    attendances: Mapping[str, Attendance]
    acquaintances: AcquaintanceGraph
    plans: Mapping[str, PlanTally] | None
    costs: SimulationCosts

    @classmethod
    def of(cls, record: SimulationRecord) -> Self:
        """Measure a simulation."""
        items = record.plan.items
        spreads = {item.id: spread_of(item, record) for item in items}
        return cls(
            record=record,
            spreads=spreads,
            attendances={
                item.id: attendance_of(item, record, spreads[item.id])
                for item in items
                if item.is_invitation
            },
            acquaintances=acquaintances_of(record),
            plans=plan_tallies(record),
            costs=costs_of(record),
        )

    @property
    def name(self) -> str:
        """The simulation's name."""
        return self.record.folder.name

    @property
    def all_plans(self) -> PlanTally | None:
        """The plans of all agents together; None if they had none."""
        if self.plans is None:
            return None
        total = PlanTally()
        for tally in self.plans.values():
            total = total.plus(tally)
        return total

    @property
    def answers(self) -> Mapping[str, Sequence[Record]]:
        """The answers of the interview by agent, in the order of kinds; without those on items."""
        order = {kind: place for place, kind in enumerate((*KINDS, ABOUT_ITEM))}
        found: dict[str, list[Record]] = {}
        for name in self.record.names:
            own = [each for each in self.record.answers if text_of(each, "agent") == name]
            own.sort(key=lambda each: (order.get(text_of(each, "kind"), 0), each.get("number", 0)))
            if own:
                found[name] = own
        return found

    @property
    def figures(self) -> Sequence[Figure]:
        """The figures by which simulations are compared."""
        return (
            *(each for item in self.spreads for each in self._of_item(item)),
            *self._of_acquaintance(),
            *self._of_plans(),
            *self._of_costs(),
        )

    # -- the groups of figures

    def _of_item(self, item: str) -> list[Figure]:
        spread = self.spreads[item]
        others = len(self.record.cast) - 1
        told = len(spread.paths) - 1 if spread.given and others else None
        note = "" if others else "one agent"
        if not spread.given:
            note = "not given"
        asked = len(spread.says)
        found = [
            Figure(f"{item}: others who know by a path", told, others, note),
            Figure(f"{item}: said without a path (invented)", len(spread.invented)),
            Figure(
                f"{item}: say it when asked",
                sum(spread.says.values()) if asked else None,
                asked or None,
                "" if asked else "not asked",
            ),
        ]
        if (attendance := self.attendances.get(item)) is not None:
            guests = attendance.guests
            informed = attendance.informed_guests
            found += [
                Figure(f"{item}: guests", _size(guests), others or None),
                Figure(f"{item}: guests who knew", _size(informed), others or None),
            ]
        return found

    def _of_acquaintance(self) -> list[Figure]:
        graph = self.acquaintances
        pairs = len(graph.pairs)
        counts = {
            "pairs who have talked in their own words": graph.talked,
            "pairs who have talked, also by rule": graph.talked_at_all,
            "pairs who know of each other, at the start": graph.knew,
            "pairs who know of each other, at the end": graph.knows,
        }
        if not pairs:
            return [Figure(name, None, note="one agent") for name in counts]
        return [Figure(name, count, pairs) for name, count in counts.items()]

    def _of_plans(self) -> list[Figure]:
        total = self.all_plans
        values: Mapping[str, int | None] = {
            "plans made": None if total is None else total.made,
            "plans kept": None if total is None else total.kept,
            "plans missed": None if total is None else total.missed,
            "plans dropped": None if total is None else total.dropped,
            "plans open at the end": None if total is None else total.current,
        }
        return [
            Figure(name, value, note=TAKEN_AWAY * (value is None)) for name, value in values.items()
        ]

    def _of_costs(self) -> list[Figure]:
        costs = self.costs
        total = costs.total
        waits = costs.idle_waits if costs.idle else None
        return [
            Figure("calls an agent-hour", costs.an_hour(total.calls)),
            Figure(
                "prompt tokens an agent-hour", costs.an_hour(total.prompt_tokens), note=total.note
            ),
            Figure(
                "answer tokens an agent-hour",
                costs.an_hour(total.completion_tokens),
                note=total.note,
            ),
            Figure(
                "idle thoughts that end in waiting",
                waits,
                costs.idle or None,
                "" if costs.idle else "no idle thoughts",
            ),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the measures as data for other programs; None for what is unknown."""
        return {
            "name": self.name,
            "condition": self.record.plan.condition,
            "hours": self.record.hours,
            "agents": list(self.record.names),
            "figures": {each.name: each.value for each in self.figures},
            "spread": {
                item: {
                    "paths": {
                        name: [_step_json(step) for step in path]
                        for name, path in spread.paths.items()
                    },
                    "invented": [[each.agent, each.memory, each.text] for each in spread.invented],
                    "misled": sorted(spread.misled),
                    "untraced": [[each.agent, each.memory, each.text] for each in spread.untraced],
                    "wordless": [[each.agent, each.memory, each.text] for each in spread.wordless],
                    "says": dict(spread.says),
                }
                for item, spread in self.spreads.items()
            },
            "attendance": {
                item: {
                    each.name: {"minutes": each.minutes, "usually": each.usually, "knew": each.knew}
                    for each in attendance.people
                }
                for item, attendance in self.attendances.items()
            },
        }


def _step_json(step: Any) -> dict[str, Any]:
    return {
        "agent": step.agent,
        "memory": step.memory,
        "time": step.time.isoformat(),
        "step": step.step,
        "happening": step.happening,
        "rests_on": step.rests_on,
        "link": step.link,
        "text": step.text,
    }


def _size(people: Sequence[object] | None) -> int | None:
    return None if people is None else len(people)
