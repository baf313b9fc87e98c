"""``keepsake logs``: the event log in colour, or one of the text logs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from keepsake.errors import KeepsakeError, refusing
from keepsake.events.reader import EventFollower, Filter, follow, last
from keepsake.events.types import KINDS
from keepsake.names import name_of
from keepsake.paths import Places

EVENTS, AGENTS = "events", "agents"
"""The names of the event log and of the agents' text log."""
type Record = Mapping[str, Any]
LONGEST = 500
"""Characters of one text that a line shows; ``--json`` shows all of it."""
_KINDS = {
    "thought": "cyan",
    "memory": "blue",
    "recall": "bright_yellow",
    "compaction": "magenta",
    "health": "green",
    "error": "red",
    "sleep": "bright_blue",
    "world": "bold",
}
_HEAD = ("v", "seq", "t", "kind", "agent", "problem")


def show_text(out: Console, here: Places, which: str, lines: int, *, go_on: bool) -> None:
    """Print the end of a text log, and what is added if ``go_on``.

    Raises:
        KeepsakeError: There is no such log, or it cannot be read.
    """
    path = here.logs / f"{which}.log"
    if "/" in which or not (path.exists() or (go_on and path == here.agents_log)):
        there = ", ".join([EVENTS, *sorted(log.stem for log in here.logs.glob("*.log"))])
        raise KeepsakeError(f"There is no log named {which!r}", f"There are: {there}")
    if path.exists():
        with refusing(f"{path} cannot be read", "Read it as the user who started Keepsake"):
            path.open("rb").close()
    for line in (follow_text if go_on else tail)(path, lines):
        # In it stands what players said, whatever signs they used.
        out.print(plain(line.expandtabs(4)), markup=False)


def show_events(
    out: Console, here: Places, wanted: Filter, lines: int, *, go_on: bool, as_json: bool
) -> None:
    """Print the newest events that are wanted, and what is added if ``go_on``.

    Raises:
        KeepsakeError: The log cannot be read, or holds nothing that is wanted.
    """
    shown = False
    cure = "Read it as the user who started Keepsake"
    with refusing(f"The event log in {here.events} cannot be read", cure):
        for record in _events(here, wanted, lines, go_on=go_on):
            shown = True
            if as_json:
                print(json.dumps(record, ensure_ascii=False), flush=go_on)
            else:
                out.print(as_line(record))
    if lines and not shown:
        raise KeepsakeError(
            f"There are no such events in {here.events}",
            "Start the world, ask for other agents or kinds, or name a simulation with --lab",
        )


def unknown_agents(here: Places, names: Collection[str]) -> Iterator[str]:
    """A line for each name that is no agent's: nobody waits for what cannot come; blocks."""
    folders = here.agents.iterdir() if here.agents.is_dir() else ()
    there = {name_of(folder) for folder in folders if folder.is_dir()}
    known = {each.casefold() for each in there}
    for name in names:
        if name.casefold() not in known and not last(here.events, 1, Filter([name])):
            listed = ", ".join(sorted(there)) or "none yet"
            yield f"No agent is called {name!r}, and the log knows none. There are: {listed}"


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


def _events(here: Places, wanted: Filter, lines: int, *, go_on: bool) -> Iterator[dict[str, Any]]:
    # First where the end is, then what stands before it: what comes meanwhile is not missed.
    follower = EventFollower(here.events) if go_on else None
    found: Iterable[dict[str, Any]] = last(here.events, lines, wanted)
    yield from (each for each in found if follower is None or each["seq"] <= follower.after)
    if follower is not None:
        yield from (each for each in follow(follower) if wanted(each))


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a text log, without their ends; none when there is no such file."""
    return list(_tail("-n", str(lines), str(path)))


def follow_text(path: Path, lines: int) -> Iterator[str]:
    """The last lines, and each that is added; never ends.

    The file may not exist yet, and may be rotated away or cut.
    """
    return _tail("-n", str(lines), "-F", str(path))


def _tail(*arguments: str) -> Iterator[str]:
    with subprocess.Popen(
        ["tail", *arguments],
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


def as_line(record: Record) -> Text:
    """One event as one line; an event of another version, or a damaged one, as its fields."""
    kind = str(record.get("kind", "?"))
    line = Text(_time(record), style="dim")
    line.append(f"  {_plain(kind):<10} ", _KINDS.get(kind, ""))
    if agent := record.get("agent"):
        line.append(f"{_plain(agent)}  ", "bold")
    try:
        line.append(_plain(_told(kind, record)))
    except (KeyError, TypeError, ValueError, AttributeError):  # of another version, or damaged
        line.append(_plain(_fields(record)))
    if problem := record.get("problem"):
        line.append(f"  {_plain(problem)}", "red")
    return line


def _told(kind: str, record: Record) -> str:
    match kind, record:
        case "thought", {"trigger": trigger, "outcome": outcome, "model": model}:
            by = f" by {record['source']}" if record["source"] else ""
            why = f" | {record['reason']}" if record["reason"] else ""
            end = "" if outcome == "acted" else f" ({outcome})"
            cost = (
                f"  {record['prompt_tokens']:,}+{record['completion_tokens']:,} tokens, "
                f"waited {record['wait']:.2f} s, {record['latency']:.2f} s"
            )
            said = record["answer"] if record["command"] is None else record["command"]
            return f"{trigger}{by} → {said or outcome}{why}{end}{cost if model else ''}"
        case "memory", {"op": "append" | "repeat", "n": n, "of": of, "size": size, "times": times}:
            return f"{n}: {of}, {size:,} characters{f' ({times}×)' if times > 1 else ''}"
        case "recall", {"by": by, "question": question, "found": found, "seconds": seconds}:
            lines = " / ".join(question.splitlines())
            end = (
                f"{found} found, {seconds:.2f} s" if record["searched"] else "not searched in time"
            )
            return f"for {by}: {lines}  {end}"
        case "compaction", {"outcome": outcome, "reason": reason, "number": int(number)} if number:
            return (
                f"{number}: {outcome} ({reason}), memories {record['first']}–{record['last']}, "
                f"{record['tokens_before']:,} → {record['tokens_after']:,} tokens, "
                f"{record['calls']} calls, {record['seconds']:.2f} s"
            )
        case "health", {"provider": provider, "host": host, "ready": ready}:
            return f"{provider} at {host}: {'ready' if ready else 'not ready'}"
        case ("error", {"text": text}) | ("world", {"text": str(text)}) if text:
            return str(text)
        case "world", {"op": op}:
            return str(op)
    return _fields(record)


def _fields(record: Record) -> str:
    """The fields of a record that are not at the head of its line, and not empty."""
    left = {key: value for key, value in record.items() if key not in _HEAD and value}
    op = left.pop("op", "")
    return " ".join([str(op)] * bool(op) + [f"{key}={value!r}" for key, value in left.items()])


def _time(record: Record) -> str:
    try:
        return f"{datetime.fromisoformat(str(record['t'])).astimezone():%m-%d %H:%M:%S}"
    except (KeyError, ValueError):
        return "?"


def _plain(value: object) -> str:
    text = str(value)
    cut = text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
    return plain(cut)


def plain(text: str) -> str:
    """``text`` without signs that could move the cursor, colour the screen or turn a line round."""
    return "".join(char if char.isprintable() else "·" for char in text)
