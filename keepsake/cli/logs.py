"""``keepsake logs``: the event log in colour, or one of the text logs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from keepsake.cli.output import err, out
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import Filter, follow, last, newest
from keepsake.events.types import KINDS
from keepsake.paths import Places

EVENTS = "events"
LONGEST = 500
"""Characters of one text that a line shows; ``--json`` shows all of it."""
_COLOURS = {
    "thought": "cyan",
    "memory": "blue",
    "recall": "bright_yellow",
    "compaction": "magenta",
    "health": "green",
    "error": "red",
    "sleep": "bright_blue",
    "world": "bold",
}
_HEAD = ("v", "seq", "t", "kind", "agent", "agent_id", "problem")


def show_text(here: Places, which: str, lines: int, *, go_on: bool) -> None:
    """Print the end of a text log, and what is added if ``go_on``.

    Raises:
        KeepsakeError: There is no such log, or it cannot be read.
    """
    path = here.logs / f"{which}.log"
    if "/" in which or not path.exists():
        there = ", ".join([EVENTS, *sorted(log.stem for log in here.logs.glob("*.log"))])
        raise KeepsakeError(f"There is no log named {which!r}", f"There are: {there}")
    with refusing(f"{path} cannot be read", "Read it as the user who started Keepsake"):
        path.open("rb").close()
    for line in tail(path, lines, go_on=go_on):
        # In it stands what players said, whatever signs they used.
        out.print(_plain(line.expandtabs(4)), markup=False)


def show_events(here: Places, wanted: Filter, lines: int, *, go_on: bool, as_json: bool) -> None:
    """Print the newest events that are wanted, and what is added if ``go_on``.

    Raises:
        KeepsakeError: The log cannot be read, or holds nothing that is wanted.
    """
    cure = "Read it as the user who started Keepsake"
    with refusing(f"The event log in {here.events} cannot be read", cure):
        # First where the end is, then what stands before it: what comes meanwhile is not missed.
        end = newest(here.events) if go_on else None
        found = last(here.events, lines, wanted)
        if lines and not found:
            what = f"There are no such events in {here.events}"
            if end is None:
                raise KeepsakeError(
                    what, "Start the world, ask for other agents or kinds, or name a --lab"
                )
            err.print(f"{what} yet", markup=False)
        for record in found:
            if end is None or record["seq"] <= end:
                _show(record, as_json=as_json)
        for record in follow(here.events, end) if end is not None else ():
            if wanted(record):
                _show(record, as_json=as_json)


def _show(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record, ensure_ascii=False), flush=True)
    else:
        out.print(as_line(record))


def wanted_events(agents: Collection[str], kinds: Collection[str]) -> Filter:
    """Which events are wanted.

    Raises:
        KeepsakeError: There is no such kind.
    """
    if unknown := [each for each in kinds if each not in KINDS]:
        raise KeepsakeError(
            f"There are no events of the kind {unknown[0]!r}", f"There are: {', '.join(KINDS)}"
        )
    return Filter(agents, kinds)


def tail(path: Path, lines: int, *, go_on: bool = False) -> Iterator[str]:
    """The last lines of a text log, without their ends, and each that is added if ``go_on``.

    The file may not exist, and may be rotated away or cut.
    """
    with subprocess.Popen(
        ["tail", *(["-F"] if go_on else []), "-n", str(lines), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # where it tells that a file was rotated
        encoding="utf-8",
        errors="replace",
    ) as reader:
        try:
            yield from (line.rstrip("\n") for line in reader.stdout or ())
        finally:
            reader.terminate()


# -- an event as a line


def as_line(record: Mapping[str, Any]) -> Text:
    """One event as one line: a thought in words, other events by their fields."""
    kind = str(record.get("kind", "?"))
    try:
        when = f"{datetime.fromisoformat(str(record['t'])).astimezone():%m-%d %H:%M:%S}"
    except (KeyError, ValueError):
        when = "?"
    line = Text(when, style="dim")
    line.append(f"  {_short(kind):<10} ", _COLOURS.get(kind, ""))
    if agent := record.get("agent"):
        line.append(f"{_short(agent)}  ", "bold")
    try:
        line.append(_short(_thought(record) if kind == "thought" else _fields(record)))
    except (KeyError, TypeError, ValueError):  # of another version, or damaged
        line.append(_short(_fields(record)))
    if problem := record.get("problem"):
        line.append(f"  {_short(problem)}", "red")
    return line


def _thought(record: Mapping[str, Any]) -> str:
    by = f" by {record['source']}" if record["source"] else ""
    why = f" | {record['reason']}" if record["reason"] else ""
    end = "" if record["outcome"] == "acted" else f" ({record['outcome']})"
    cost = (
        f"  {record['prompt_tokens']:,}+{record['completion_tokens']:,} tokens, "
        f"waited {record['wait']:.2f} s, {record['latency']:.2f} s"
    )
    said = record["answer"] if record["command"] is None else record["command"]
    told = f"{record['trigger']}{by} → {said or record['outcome']}{why}{end}"
    return told + (cost if record["model"] else "")


def _fields(record: Mapping[str, Any]) -> str:
    """The fields of a record that are not at the head of its line, and not empty."""
    left = {key: value for key, value in record.items() if key not in _HEAD and value}
    words = [str(left.pop(key)) for key in ("op", "text") if key in left]
    return " ".join([*words, *(f"{key}={value!r}" for key, value in left.items())])


def _short(value: object) -> str:
    text = str(value)
    return _plain(text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)")


def _plain(text: str) -> str:
    """``text`` without signs that could move the cursor, colour the screen or turn a line round."""
    return "".join(char if char.isprintable() else "·" for char in text)
