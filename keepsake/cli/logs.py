"""``keepsake logs``: shows the event log in colour."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

from keepsake.cli.output import err, out
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import Filter, follow, last, newest
from keepsake.events.types import KINDS, Compaction, Fault, MemoryChange, Thought
from keepsake.events.values import FaultLevel
from keepsake.paths import Places

LONGEST = 500
"""The most characters of a text that a line shows; ``--json`` shows the whole text."""


def and_worse(level: FaultLevel) -> tuple[str, ...]:
    """Return the levels that are at least as bad; ``config`` is an error in older logs."""
    errors = (FaultLevel.ERROR, "config")
    return (level, *errors) if level is FaultLevel.WARNING else errors


_COLOURS = {
    Thought.kind: "cyan",
    MemoryChange.kind: "blue",
    Compaction.kind: "magenta",
    Fault.kind: "red",
}
_HEAD = ("v", "seq", "t", "kind", "agent", "agent_id", "problem")


def wanted_events(
    agents: Collection[str], kinds: Collection[str], level: FaultLevel | None = None
) -> Filter:
    """Return a filter for the wanted events; raise KeepsakeError for an unknown kind."""
    if unknown := [each for each in kinds if each not in KINDS]:
        what = f"There are no events of the kind {unknown[0]!r}"
        raise KeepsakeError(what, f"Known kinds: {', '.join(KINDS)}")
    return Filter(agents, kinds, () if level is None else and_worse(level))


def show_events(here: Places, wanted: Filter, lines: int, *, go_on: bool, as_json: bool) -> None:
    """Print the newest wanted events; with ``go_on`` also new ones as they are logged.

    Raises:
        KeepsakeError: The log cannot be read, or has no wanted events.
    """

    def show(record: Mapping[str, Any]) -> None:
        if as_json:
            print(json.dumps(record, ensure_ascii=False), flush=True)
        else:
            out.print(as_line(record))

    with refusing(
        f"The event log in {here.events} cannot be read", "Read it as the user who started Keepsake"
    ):
        end = newest(here.events)
        found = [each for each in last(here.events, lines, wanted) if each["seq"] <= end]
        if lines and not found:
            what = f"There are no such events in {here.events}"
            if not go_on:
                cure = "Start the world, ask for other agents or kinds, or name a --lab"
                raise KeepsakeError(what, cure)
            err.print(f"{what} yet", markup=False)
        for record in found:
            show(record)
        for record in filter(wanted, follow(here.events, end) if go_on else ()):
            show(record)


def as_line(record: Mapping[str, Any]) -> Text:
    """Return an event as one line: a thought by its outcome, other events by their fields."""
    kind = str(record.get("kind", "?"))
    when = datetime.fromisoformat(str(record["t"])).astimezone()
    line = Text(f"{when:%m-%d %H:%M:%S}", style="dim")
    line.append(f"  {_plain(kind):<10} ", _COLOURS.get(kind, ""))
    line.append(f"{_plain(str(record.get('agent', '')))}  ", "bold")
    fields = {key: value for key, value in record.items() if key not in _HEAD and value}
    if kind == Thought.kind:
        source = fields.get("source")
        reason = fields.get("reason")
        by = f" by {source}" if source else ""
        why = f" | {reason}" if reason else ""
        said = fields.get("command") or fields.get("answer") or fields.get("outcome")
        line.append(_plain(f"{fields.get('trigger')}{by} → {said}{why}"))
    else:
        words = [str(fields.pop(key)) for key in ("op", "text") if key in fields]
        line.append(_plain(" ".join([*words, *(f"{k}={value!r}" for k, value in fields.items())])))
    if problem := record.get("problem"):
        line.append(f"  {_plain(str(problem))}", "red")
    return line


def _plain(text: str) -> str:
    """Return ``text`` shortened, without characters that could control the terminal."""
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
    return "".join(char if char.isprintable() else "·" for char in shown)
