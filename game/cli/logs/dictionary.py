"""``docs/data.md``, made from what the tables of an export are: ``python -m`` this module."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from game.cli.logs.lives import ROWS
from keepsake.events.schema import Column, fields_of
from keepsake.events.types import KINDS
from keepsake.lab.sweeps.tables import COLUMNS

_HEAD = """# The data of an export

`keepsake export FOLDER` writes these tables, each as Parquet and as CSV; a table without a row is
not there. `--agent` takes the rows of some agents, `--kind` the events of some kinds alone, and
`--probes FILE` adds what `keepsake eval probes --json FILE` wrote. Times are UTC. In CSV, lists and
maps are JSON. The notebook [three_questions.ipynb](notebooks/three_questions.ipynb) asks them
something.

An agent stands under its present name in memories and people, and under the name that
it bore then in events and answers. What players said stands there word for word, whispers too:
think of that before you pass an export on.

This page is made from the code: `.venv/bin/python -m game.cli.logs.dictionary > docs/data.md`.
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
    for name, kind in ROWS.items():
        lines += [f"## {name}", "", _first(kind), "", *_columns(fields_of(kind)), ""]
    return "\n".join([*lines, *_sweep(), ""])


def _overview() -> Iterator[str]:
    yield "| table | a row is | joins |"
    yield "| --- | --- | --- |"
    for kind in KINDS.values():
        yield _row(f"[{kind.kind}](events.md#{kind.kind})", _first(kind), kind.kind)
    yield _row("prompts", "A text that was sent to a model: `hash`, `text`.", "prompts")
    for name, kind in ROWS.items():
        yield _row(f"[{name}](#{name})", _first(kind), name)


def _row(link: str, told: str, name: str) -> str:
    return f"| {link} | {told} | {_JOINS.get(name, '')} |"


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
