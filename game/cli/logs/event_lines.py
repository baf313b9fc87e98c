"""Shows events as lines in colour."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

type Record = Mapping[str, Any]
"""What could move the cursor, turn the line round or hide in it: players and models say what
they like."""
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
