"""What a replay gave, as figures: for tables, for other programs, for a chart."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from game.lab.grid import Failed, Result
from game.lab.replay import Replayed

MOST_COLUMNS = 4
"""With more configurations they become the rows."""

type Figures = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class _Row:
    """One figure of the table; without a short label it stands only where there is room."""

    label: str
    short: str
    cell: Callable[[Replayed], str]
    matters: Callable[[Replayed], bool] = lambda _: True


def _a_thought(tokens: Callable[[Replayed], int]) -> Callable[[Replayed], str]:
    return lambda each: f"{each.ledger.a_thought(tokens(each)):,.0f}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


_ROWS = (
    _Row("tokens sent a thought", "sent", _a_thought(lambda each: each.ledger.sent)),
    _Row("… evaluated anew", "", _a_thought(lambda each: each.ledger.evaluated)),
    _Row("… spent on summaries", "", _a_thought(lambda each: each.ledger.spent)),
    _Row("cost: the last two", "cost", lambda each: f"{each.ledger.cost:,.0f}"),
    _Row("compactions", "made", lambda each: str(len(each.ledger.made))),
    _Row(
        "… that failed", "failed", lambda each: str(each.failures), lambda each: bool(each.failures)
    ),
    _Row("largest prompt", "largest", lambda each: f"{each.ledger.largest:.0%}"),
    _Row("prompts over the budget", "over", lambda each: str(each.ledger.over)),
    _Row(
        "memories in the window",
        "",
        lambda each: f"{each.ledger.a_thought(each.ledger.window):.0f}",
    ),
    _Row("answers in the prompt", "prompt", lambda each: _of(each.kept.in_prompt, each.kept.asked)),
    _Row("answers with recall", "recall", lambda each: _of(each.kept.with_recall, each.kept.asked)),
    _Row(
        "names and numbers seen",
        "seen",
        lambda each: _of(each.kept.details_seen, each.kept.details),
    ),
    _Row(
        "rules and promises kept", "rules", lambda each: _of(each.kept.rules_kept, each.kept.rules)
    ),
    _Row("… put back by the check", "", lambda each: str(each.put_back)),
)


_LEGEND = (
    "Tokens a thought: sent, and its cost: evaluated anew or spent on summaries. Then compactions, "
    "the largest prompt, prompts over the budget; answers by the prompt alone and with recall, "
    "names and numbers seen, rules kept."
)


def as_table(results: Sequence[Result]) -> Table:
    """Side by side: a column a configuration, or a row where there are many."""
    done = [each for each in results if isinstance(each, Replayed)]
    rows = [row for row in _ROWS if any(map(row.matters, done))]
    if len(results) <= MOST_COLUMNS:
        return _columns(results, rows)
    return _lines(results, rows)


def _columns(results: Sequence[Result], rows: Sequence[_Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for each in results:
        table.add_column(escape(each.cell.name), justify="right")
    for row in rows:
        table.add_row(row.label, *(_cell(row, each) for each in results))
    return table


def _lines(results: Sequence[Result], rows: Sequence[_Row]) -> Table:
    rows = [row for row in rows if row.short]
    table = Table(box=None, pad_edge=False, caption=_LEGEND, caption_justify="left")
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_column(row.short, justify="right", no_wrap=True)
    for each in results:
        cells = (_cell(row, each).replace(" of ", "/") for row in rows)
        table.add_row(escape(each.cell.name), *cells)
    return table


def _cell(row: _Row, each: Result) -> str:
    return "–" if isinstance(each, Failed) else row.cell(each)


def as_figures(each: Result) -> Figures:
    """One configuration as plain figures, named alike in JSON and CSV; tokens are sums."""
    changes = " ".join(f"{key}={value}" for key, value in each.cell.changes)
    named = {"name": each.cell.name, "changes": changes}
    if isinstance(each, Failed):
        return {**named, "problem": each.problem}
    ledger, kept = each.ledger, each.kept
    return {
        **named,
        "problem": "",
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


def as_csv(results: Sequence[Result]) -> str:
    """A line a configuration, with headings; a figure that is not there is empty."""
    lines = [as_figures(each) for each in results]
    keys = list(dict.fromkeys(key for line in lines for key in line))
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, restval="")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
