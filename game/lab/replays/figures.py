"""What a replay gave, as plain figures for other programs, and what was lived beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from game.lab.replays.event_history import Log
from game.lab.replays.grid import Failed, Result
from game.mind.compaction.config import CompactionConfig

LIVED = "lived"
"""What the life itself is called beside the configurations."""

type Figures = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class LifeFigures:
    """What the event log tells of a life as it was lived, all of it; tokens are sums."""

    memories: int  # how many it became
    thoughts: int  # prompts that were built
    sent: int  # tokens of all prompts
    spent: int  # tokens that compactions took
    compactions: int  # compactions that were made
    failures: int  # those that changed nothing
    put_back: int  # rules and promises that were put back
    largest: float  # the largest prompt, as a share of its budget
    over: int  # prompts over their budget
    window: int  # memories in the windows, summed over the thoughts

    def a_thought(self, tokens: int) -> float:
        """So many tokens, shared out among the thoughts."""
        return tokens / max(self.thoughts, 1)


def lived(log: Log, memories: int) -> LifeFigures:
    """The figures of a life of which the log tells from its first memory to its last."""
    prompts, made = log.prompts, log.compactions
    return LifeFigures(
        memories=memories,
        thoughts=len(prompts),
        sent=sum(each.used for each in prompts),
        spent=sum(each.spent for each in made),
        compactions=len(log.made),
        failures=sum(each.failed for each in made),
        put_back=sum(each.put_back for each in made),
        largest=max((each.used / max(each.budget, 1) for each in prompts), default=0.0),
        over=sum(each.used > each.budget for each in prompts),
        window=sum(each.window for each in prompts),
    )


def as_figures(each: Result, same_as: str = "") -> Figures:
    """One configuration as plain figures, named alike in JSON and CSV; tokens are sums."""
    changes = dict(each.cell.changes)
    named = {"name": each.cell.name, "same_as": same_as}
    if isinstance(each, Failed):
        return {**named, "problem": each.problem, **dict.fromkeys(_SETTINGS, ""), **changes}
    ledger, kept = each.ledger, each.kept
    return {
        **named,
        "problem": "",
        **asdict(each.config),
        "memories": ledger.memories,
        "thoughts": ledger.thoughts,
        "tokens_sent": ledger.sent,
        "tokens_evaluated": ledger.evaluated,
        "tokens_spent": ledger.spent,
        "cost_a_thought": round(ledger.cost, 2),
        "compactions": len(ledger.made),
        "failures": each.failures,
        "largest_prompt": round(ledger.largest, 4),
        "over_budget": ledger.over,
        "window": round(ledger.a_thought(ledger.window), 2),
        "questions": kept.asked,
        "answers_in_prompt": kept.in_prompt,
        "answers_with_recall": kept.with_recall,
        "details": kept.details,
        "details_seen": kept.details_seen,
        "rules": kept.rules,
        "rules_kept": kept.rules_kept,
        "put_back": each.put_back,
        "last_failure": each.last_failure,
    }


_SETTINGS = tuple(field.name for field in fields(CompactionConfig))


def lived_figures(each: LifeFigures) -> Figures:
    """The life itself, with the figures of the same names as far as the log tells them."""
    return {
        "name": LIVED,
        "same_as": "",
        "problem": "",
        "memories": each.memories,
        "thoughts": each.thoughts,
        "tokens_sent": each.sent,
        "tokens_spent": each.spent,
        "compactions": each.compactions,
        "failures": each.failures,
        "largest_prompt": round(each.largest, 4),
        "over_budget": each.over,
        "window": round(each.a_thought(each.window), 2),
        "put_back": each.put_back,
    }


def all_figures(
    results: Sequence[Result],
    same: Mapping[str, str] | None = None,
    told: LifeFigures | None = None,
) -> list[Figures]:
    """All configurations, and beside the present one what was lived."""
    found = [as_figures(each, (same or {}).get(each.cell.name, "")) for each in results]
    return [*found[:1], *([lived_figures(told)] if told else []), *found[1:]]


def as_csv(lines: Sequence[Figures]) -> str:
    """A line a configuration, with headings; a figure that is not there is empty."""
    keys = list(dict.fromkeys(key for line in sorted(lines, key=len)[::-1] for key in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
