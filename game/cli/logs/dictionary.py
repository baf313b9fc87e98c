"""The columns of all tables of an export, for people: ``python -m`` this module prints them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from game.cli.logs.lives import ROWS
from keepsake.events.schema import Column, fields_of
from keepsake.events.types import KINDS
from keepsake.lab.sweeps.tables import COLUMNS

_HEAD = """# The columns of an export

`docs/events.md` says what the tables are for. Times are UTC. In CSV, lists and maps are JSON.
"""
_JOINS = {
    "thought": "`prompt` = prompts.`hash`; `memory`, `cause` and `recalled.n` = memories.`n`",
    "memory": "`n` = memories.`n`, where `op` is `append`",
    "compaction": "`first` to `last` = memories.`n`",
    "memories": "`agent`, `n`",
    "people": "`agent` and `evidence` = memories.`n`",
    "answers": "`seq` = thought.`seq`; `asked` and `answered` = memories.`n`",
}
"""By table, what leads from it to others."""


def page() -> str:
    """The page of all tables and columns."""
    lines = [_HEAD, *_overview(), ""]
    for name, kind in (*KINDS.items(), *ROWS.items()):
        lines += [f"## {name}", "", _first(kind), "", *_columns(fields_of(kind)), ""]
    return "\n".join([*lines, *_sweep(), ""])


def _overview() -> Iterator[str]:
    yield "| table | a row is | joins |"
    yield "| --- | --- | --- |"
    for name, kind in KINDS.items():
        yield _row(name, _first(kind))
    yield _row("prompts", "A text that was sent to a model: `hash`, `text`.")
    for name, kind in ROWS.items():
        yield _row(name, _first(kind))


def _row(name: str, told: str) -> str:
    return f"| {name} | {told} | {_JOINS.get(name, '')} |"


def _first(kind: type) -> str:
    return (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ").replace("``", "`")


def _columns(found: tuple[Column, ...]) -> Iterator[str]:
    yield "| column | type | |"
    yield "| --- | --- | --- |"
    for each in found:
        kind = {"integers": "list of integers", "list": "list of structs"}.get(each.type, each.type)
        kind += ", null" if each.nullable else ""
        items = "; ".join(f"`{item.name}`: {item.help.rstrip('.')}" for item in each.items)
        yield f"| `{each.name}` | {kind} | {f'{each.help} {items}'.strip()} |"


def _sweep() -> Iterator[str]:
    yield from ("## results.parquet", "", "What `keepsake sweep` writes: a row a question.", "")
    yield from ("| column | type | |", "| --- | --- | --- |")
    for name, (kind, told) in COLUMNS.items():
        yield f"| `{name}` | {kind} | {told} |"


if __name__ == "__main__":
    print(page(), end="")
