"""What a replay gave, and what was lived beside it: plain figures, as a table and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from rich.markup import escape
from rich.table import Table

from game.lab.replays.cells import Cell
from game.lab.replays.event_history import Log
from game.lab.replays.replay import Replayed
from keepsake.compaction.config import CompactionConfig

LIVED = "lived"
"""What the life itself is called beside the configurations."""
MOST_COLUMNS = 4
"""With more configurations they become the rows."""

type Figures = Mapping[str, str | int | float]
"""One configuration, named alike in JSON and CSV; tokens are sums."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A configuration that came to nothing."""

    cell: Cell
    problem: str


type Result = Replayed | Failed

_SETTINGS = tuple(field.name for field in fields(CompactionConfig))


def as_figures(each: Result, same_as: str = "") -> Figures:
    """One configuration."""
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
        **{f"prompt_after_{delay}": round(s, 4) for delay, s in kept.prompt_after.items()},
        **{f"recall_after_{delay}": round(s, 4) for delay, s in kept.recall_after.items()},
        "details": kept.details,
        "details_seen": kept.details_seen,
        "rules": kept.rules,
        "rules_kept": kept.rules_kept,
        "put_back": each.put_back,
        "last_failure": each.last_failure,
    }


def lived(log: Log, memories: int) -> Figures:
    """The life itself, as far as a log tells that has it from its first memory to its last."""
    prompts, made = log.prompts, log.compactions
    return {
        "name": LIVED,
        "same_as": "",
        "problem": "",
        "memories": memories,
        "thoughts": len(prompts),
        "tokens_sent": sum(each.used for each in prompts),
        "tokens_spent": sum(each["prompt_tokens"] + each["completion_tokens"] for each in made),
        "compactions": len(log.made),
        "failures": sum(each["outcome"] == "failed" for each in made),
        "largest_prompt": round(max((p.used / max(p.budget, 1) for p in prompts), default=0.0), 4),
        "over_budget": sum(each.used > each.budget for each in prompts),
        "window": round(sum(each.window for each in prompts) / max(len(prompts), 1), 2),
        "put_back": sum(each["put_back"] for each in made),
    }


def all_figures(
    results: Sequence[Result],
    same: Mapping[str, str] | None = None,
    told: Figures | None = None,
) -> list[Figures]:
    """All configurations, and beside the present one what was lived."""
    found = [as_figures(each, (same or {}).get(each.cell.name, "")) for each in results]
    return [*found[:1], *([told] if told else []), *found[1:]]


def as_csv(lines: Sequence[Figures]) -> str:
    """A line a configuration, with headings; a figure that is not there is empty."""
    keys = list(dict.fromkeys(key for line in sorted(lines, key=len)[::-1] for key in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


# -- for people


_FAILED = "… that failed"
"""Stands only where some did."""
_ROWS = {
    "tokens sent a thought": ("sent", "{sent:,.0f}"),
    "… evaluated anew": ("", "{evaluated:,.0f}"),
    "… spent on summaries": ("", "{spent:,.0f}"),
    "cost: the last two": ("cost", "{cost_a_thought:,.0f}"),
    "compactions": ("made", "{compactions}"),
    _FAILED: ("failed", "{failures}"),
    "largest prompt": ("largest", "{largest_prompt:.0%}"),
    "prompts over the budget": ("over", "{over_budget}"),
    "memories in the window": ("", "{window:.0f}"),
    "known after an hour, in the prompt": ("", "{prompt_after_hour:.0%}"),
    "… after a day": ("", "{prompt_after_day:.0%}"),
    "… after a week": ("prompt", "{prompt_after_week:.0%}"),
    "known after an hour, with recall": ("", "{recall_after_hour:.0%}"),
    "… after a day, with recall": ("", "{recall_after_day:.0%}"),
    "… after a week, with recall": ("recall", "{recall_after_week:.0%}"),
    "names and numbers seen": ("seen", "{details_seen} of {details}"),
    "rules and promises kept": ("rules", "{rules_kept} of {rules}"),
    "… put back by the check": ("", "{put_back}"),
}
"""The short label where there are many columns, empty where there is no room then; the figure."""
_LEGEND = (
    "Tokens a thought: sent, and its cost: evaluated anew or spent on summaries. Then compactions, "
    "the largest prompt, prompts over the budget; known after a week, in the prompt and with "
    "recall, names and numbers seen, rules kept."
)


def a_thought(each: Figures, tokens: str) -> float:
    """So many tokens, shared out among the thoughts."""
    return float(each[tokens]) / max(int(each["thoughts"]), 1)


def as_table(lines: Sequence[Figures]) -> Table:
    """Side by side; a column a configuration, or a row where there are many."""
    rows = [label for label in _ROWS if label != _FAILED or any(x.get("failures") for x in lines)]
    many = len(lines) > MOST_COLUMNS
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    if many:
        rows = [label for label in rows if _ROWS[label][0]]
        table.caption, table.caption_justify = _LEGEND, "left"
    names = [escape(str(each["name"])) for each in lines]
    for head in (_ROWS[label][0] for label in rows) if many else names:
        table.add_column(head, justify="right", no_wrap=True)
    cells = [[_cell(each, _ROWS[label][1]) for label in rows] for each in lines]
    if many:
        for name, found in zip(names, cells, strict=True):
            table.add_row(name, *(cell.replace(" of ", "/") for cell in found))
    else:
        for place, row in enumerate(rows):
            table.add_row(row, *(found[place] for found in cells))
    return table


def _cell(each: Figures, figure: str) -> str:
    kinds = ("sent", "evaluated", "spent")
    told = {kind: a_thought(each, f"tokens_{kind}") for kind in kinds if f"tokens_{kind}" in each}
    try:
        shown = figure.format_map({**each, **told})
    except KeyError:  # it came to nothing, or no log tells
        return "–"
    return "–" if shown.endswith(" of 0") else shown
