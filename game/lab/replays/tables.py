"""What a replay gave, as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table

from game.lab.replays.figures import LIVED, LifeFigures
from game.lab.replays.grid import Failed, Result
from game.lab.replays.replay import Replayed

MOST_COLUMNS = 4
"""With more configurations they become the rows."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One figure of the table; without a short label it stands only where there is room."""

    label: str
    short: str
    cell: Callable[[Replayed], str]
    matters: Callable[[Replayed], bool] = lambda _: True
    lived: Callable[[LifeFigures], str] = lambda _: "–"


def _a_thought(tokens: Callable[[Replayed], int]) -> Callable[[Replayed], str]:
    return lambda each: f"{each.ledger.a_thought(tokens(each)):,.0f}"


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


_ROWS = (
    _Row(
        "tokens sent a thought",
        "sent",
        _a_thought(lambda each: each.ledger.sent),
        lived=lambda each: f"{each.a_thought(each.sent):,.0f}",
    ),
    _Row("… evaluated anew", "", _a_thought(lambda each: each.ledger.evaluated)),
    _Row(
        "… spent on summaries",
        "",
        _a_thought(lambda each: each.ledger.spent),
        lived=lambda each: f"{each.a_thought(each.spent):,.0f}",
    ),
    _Row("cost: the last two", "cost", lambda each: f"{each.ledger.cost:,.0f}"),
    _Row(
        "compactions",
        "made",
        lambda each: str(len(each.ledger.made)),
        lived=lambda each: str(each.compactions),
    ),
    _Row(
        "… that failed",
        "failed",
        lambda each: str(each.failures),
        lambda each: bool(each.failures),
        lived=lambda each: str(each.failures),
    ),
    _Row(
        "largest prompt",
        "largest",
        lambda each: f"{each.ledger.largest:.0%}",
        lived=lambda each: f"{each.largest:.0%}",
    ),
    _Row(
        "prompts over the budget",
        "over",
        lambda each: str(each.ledger.over),
        lived=lambda each: str(each.over),
    ),
    _Row(
        "memories in the window",
        "",
        lambda each: f"{each.ledger.a_thought(each.ledger.window):.0f}",
        lived=lambda each: f"{each.a_thought(each.window):.0f}",
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
    _Row(
        "… put back by the check",
        "",
        lambda each: str(each.put_back),
        lived=lambda each: str(each.put_back),
    ),
)


_LEGEND = (
    "Tokens a thought: sent, and its cost: evaluated anew or spent on summaries. Then compactions, "
    "the largest prompt, prompts over the budget; answers by the prompt alone and with recall, "
    "names and numbers seen, rules kept."
)


type Column = Result | LifeFigures


def as_table(results: Sequence[Result], told: LifeFigures | None = None) -> Table:
    """Side by side: a column a configuration, or a row where there are many."""
    done = [each for each in results if isinstance(each, Replayed)]
    rows = [row for row in _ROWS if any(map(row.matters, done))]
    beside: list[Column] = [*results[:1], *([told] if told else []), *results[1:]]
    if len(beside) <= MOST_COLUMNS:
        return _columns(beside, rows)
    return _lines(beside, rows)


def _columns(results: Sequence[Column], rows: Sequence[_Row]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for each in results:
        table.add_column(escape(_name(each)), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.label, *(_cell(row, each) for each in results))
    return table


def _lines(results: Sequence[Column], rows: Sequence[_Row]) -> Table:
    rows = [row for row in rows if row.short]
    table = Table(box=None, pad_edge=False, caption=_LEGEND, caption_justify="left")
    table.add_column("", no_wrap=True)
    for row in rows:
        table.add_column(row.short, justify="right", no_wrap=True)
    for each in results:
        cells = (_cell(row, each).replace(" of ", "/") for row in rows)
        table.add_row(escape(_name(each)), *cells)
    return table


def _name(each: Column) -> str:
    return LIVED if isinstance(each, LifeFigures) else each.cell.name


def _cell(row: _Row, each: Column) -> str:
    if isinstance(each, Failed):
        return "–"
    return row.lived(each) if isinstance(each, LifeFigures) else row.cell(each)
