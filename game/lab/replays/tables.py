"""What a replay gave, as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from game.lab.replays.figures import LIVED, LifeFigures
from game.lab.replays.grid import Failed, Result
from game.lab.replays.replay import Replayed

MOST_COLUMNS = 4
"""With more configurations they become the rows."""


_ROWS = {
    "tokens sent a thought": "sent",
    "… evaluated anew": "",
    "… spent on summaries": "",
    "cost: the last two": "cost",
    "compactions": "made",
    "… that failed": "failed",
    "largest prompt": "largest",
    "prompts over the budget": "over",
    "memories in the window": "",
    "answers in the prompt": "prompt",
    "answers with recall": "recall",
    "names and numbers seen": "seen",
    "rules and promises kept": "rules",
    "… put back by the check": "",
}
"""The figures, and short labels for many columns; one without stands only where there is room."""
_FAILED = "… that failed"
"""Stands only where some did."""


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


def _replayed(each: Replayed) -> dict[str, str]:
    ledger, kept = each.ledger, each.kept
    return {
        "tokens sent a thought": f"{ledger.a_thought(ledger.sent):,.0f}",
        "… evaluated anew": f"{ledger.a_thought(ledger.evaluated):,.0f}",
        "… spent on summaries": f"{ledger.a_thought(ledger.spent):,.0f}",
        "cost: the last two": f"{ledger.cost:,.0f}",
        "compactions": str(len(ledger.made)),
        _FAILED: str(each.failures),
        "largest prompt": f"{ledger.largest:.0%}",
        "prompts over the budget": str(ledger.over),
        "memories in the window": f"{ledger.a_thought(ledger.window):.0f}",
        "answers in the prompt": _of(kept.in_prompt, kept.asked),
        "answers with recall": _of(kept.with_recall, kept.asked),
        "names and numbers seen": _of(kept.details_seen, kept.details),
        "rules and promises kept": _of(kept.rules_kept, kept.rules),
        "… put back by the check": str(each.put_back),
    }


def _lived(each: LifeFigures) -> dict[str, str]:
    return {
        "tokens sent a thought": f"{each.a_thought(each.sent):,.0f}",
        "… spent on summaries": f"{each.a_thought(each.spent):,.0f}",
        "compactions": str(each.compactions),
        _FAILED: str(each.failures),
        "largest prompt": f"{each.largest:.0%}",
        "prompts over the budget": str(each.over),
        "memories in the window": f"{each.a_thought(each.window):.0f}",
        "… put back by the check": str(each.put_back),
    }


_LEGEND = (
    "Tokens a thought: sent, and its cost: evaluated anew or spent on summaries. Then compactions, "
    "the largest prompt, prompts over the budget; answers by the prompt alone and with recall, "
    "names and numbers seen, rules kept."
)


def as_table(results: Sequence[Result], told: LifeFigures | None = None) -> Table:
    """Side by side, the present configuration first and what was lived (``told``) beside it.

    A column a configuration, or a row where there are many.
    """
    columns = [_column(each) for each in results]
    if told:
        columns.insert(1, (LIVED, _lived(told)))
    failed = any(isinstance(each, Replayed) and each.failures for each in results)
    rows = [label for label in _ROWS if label != _FAILED or failed]
    many = len(columns) > MOST_COLUMNS
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    if many:
        rows = [label for label in rows if _ROWS[label]]
        table.caption, table.caption_justify = _LEGEND, "left"
    for head in map(_ROWS.get, rows) if many else [escape(name) for name, _ in columns]:
        table.add_column(head, justify="right", no_wrap=True)
    if many:
        for name, cells in columns:
            found = (cells.get(row, "–").replace(" of ", "/") for row in rows)
            table.add_row(escape(name), *found)
    else:
        for row in rows:
            table.add_row(row, *(cells.get(row, "–") for _, cells in columns))
    return table


def _column(each: Result) -> tuple[str, dict[str, str]]:
    return each.cell.name, {} if isinstance(each, Failed) else _replayed(each)
