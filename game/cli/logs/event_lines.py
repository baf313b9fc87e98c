"""Shows events as lines in colour."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

type Record = Mapping[str, Any]
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
"""What could move the cursor, turn the line round or hide in it: players and models say what
they like."""
LONGEST = 500
"""Characters of one text that a line shows; ``--json`` shows all of it."""
_OUTCOMES = {"acted": "green", "refused": "yellow", "dropped": "dim"}
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
_AGENTS = ("bright_cyan", "bright_magenta", "bright_yellow", "bright_green", "bright_blue")


def as_line(record: Record) -> Text:
    """One event as one line; what this version does not know, or not so, is shown as it stands."""
    kind, agent = str(record.get("kind", "?")), str(record.get("agent") or "")
    line = Text(_time(record), style="dim")
    line.append(f"  {_plain(kind):<10} ", _KINDS.get(kind, ""))
    if agent:
        line.append(f"{_plain(agent)}  ", _AGENTS[sum(agent.encode()) % len(_AGENTS)])
    try:
        told = _TELLERS.get(kind, _unknown)(record)
    except (KeyError, TypeError, ValueError, AttributeError):  # of another version, or damaged
        told = _unknown(record)
    line.append_text(told)
    return line


def _thought(record: Record) -> Text:
    outcome = str(record["outcome"])
    line = Text(_plain(record["trigger"]), style="dim")
    if record["source"]:
        line.append(f" by {_plain(record['source'])}", "dim")
    line.append(" → ", "dim")
    said = record["command"] if record["command"] is not None else record["answer"]
    line.append(_plain(said) or outcome, _OUTCOMES.get(outcome, "red"))
    if record["reason"]:
        line.append(f" | {_plain(record['reason'])}", "italic dim")
    if outcome != "acted":
        why = f": {_plain(record['problem'])}" if record["problem"] else ""
        line.append(f" ({_plain(outcome)}{why})")
    if record["model"]:
        line.append(
            f"  {record['prompt_tokens']:,}+{record['completion_tokens']:,} tokens, "
            f"{record['cached_tokens']:,} cached, waited {record['wait']:.2f} s, "
            f"{record['latency']:.2f} s",
            "dim",
        )
    return line


def _memory(record: Record) -> Text:
    op, by = str(record["op"]), record.get("by") or ""
    if op in ("append", "repeat"):
        times = f" ({record['times']}×)" if record["times"] > 1 else ""
        size = f"{record['size']:,} characters"
        return Text(f"memory {record['n']}: {_plain(record['of'])}, {size}{times}")
    line = _with_problem(_done(op, record), record)
    return line.append(f"  by {_plain(by)}", "dim") if by else line


def _done(op: str, record: Record) -> str:
    """What was done beside remembering."""
    n, of, about = record["n"], record["of"], record.get("about")
    told = _OPERATIONS.get(f"{op} of {of}") or _OPERATIONS.get(f"{op} about" if about else op)
    if told or (told := _OPERATIONS.get(op)):
        recalled = record.get("found")
        found = "" if recalled is None else f", {recalled} with recall"
        return told.format_map({"asked": 0, "answered": 0, **record, "found": found})
    parts = [op, *([f"of memory {n}"] if n else []), *([f"({of})"] if of else [])]
    parts += [f"about {about}"] if about else []
    parts += [repr(title)] if (title := record.get("title")) else []
    parts += [f"({size:,} characters)"] if (size := record["size"]) else []
    return " ".join(parts)


_OPERATIONS = {
    "undo": "compaction {n} taken back",
    "rate": "compaction {n}: {answered} of {asked} answers still in the prompt{found}",
    "clear": "cleared up to memory {n}",
    "lost": "{times:,} memories lost",
    "edit": "{of} summary of compaction {n} edited",
    "edit about": "profile of {about} edited",
    "called back": "{times} memories called back from {n} on",
    "mended": "{size:,} bytes of a torn line set aside",
    "reindex": "recall index made anew",
    "profile": "{times} memories up to {n} worked into the profile of {about} ({of})",
    "met": "profile of {about} begun ({of})",
    "renamed": "profile goes on under the name {about} ({of})",
    "renamed of agent": "renamed, was {about}",
    "merged": "{times} entries of the journal merged into another",
    "merged about": "{about}, known by name so far, is known ({of})",
    "folded": "{times} entries of the journal folded into one",
    "begins": "begins, with {n:,} memories",
    "ends": "ends, with {n:,} memories",
}
"""The words of an operation; of some there are others where it is about somebody."""


def _recall(record: Record) -> Text:
    line = Text(f"for {_plain(record['by'])}: ", style="dim")
    line.append(_plain(" / ".join(str(record["question"]).splitlines())), "default")
    if not record["searched"]:
        return line.append("  could not be searched in time", "red")
    best = f", best {record['best']:.2f}" if record["found"] else ""
    return line.append(f"  {record['found']} found{best}, {record['seconds']:.2f} s", "dim")


def _compaction(record: Record) -> Text:
    text = f"{record['outcome']} ({record['reason']})"
    if record["number"]:
        text = (
            f"{record['number']}: {text}, memories {record['first']}–{record['last']}, "
            f"{record['tokens_before']:,} → {record['tokens_after']:,} tokens, "
            f"{record['calls']} calls, {record['seconds']:.2f} s"
        )
    line = _with_problem(text, record)
    if record["good"] is not None:
        line.append("  verdict: ")
        line.append("good" if record["good"] else "not good", "green" if record["good"] else "red")
        line.append(f" ({record['put_back']} put back, {record['vanished']} vanished)", "dim")
    return line


def _health(record: Record) -> Text:
    line = Text(f"{_plain(record['provider'])} at {_plain(record['host'])}: ")
    ready = bool(record["ready"])
    return line.append("ready" if ready else _plain(record["problem"]), "green" if ready else "red")


def _error(record: Record) -> Text:
    return Text(_plain(record["text"]), style="yellow" if record["level"] == "warning" else "red")


def _sleep(record: Record) -> Text:
    if record["op"] != "step":
        return Text(f"{_plain(record['op'])}: {_plain(record['why'])}")
    figures = ", ".join(f"{_plain(key)} {each:g}" for key, each in record["figures"].items())
    told = f"{_plain(record['step'])}: {figures or 'nothing'}"
    return _with_problem(f"{told}, {record['calls']} calls, {record['seconds']:.2f} s", record)


def _world(record: Record) -> Text:
    return Text(_plain(record["text"]) or _plain(record["op"]))


def _unknown(record: Record) -> Text:
    known = ("v", "seq", "t", "kind", "agent")
    return Text(_plain({key: value for key, value in record.items() if key not in known}))


_TELLERS: Mapping[str, Callable[[Record], Text]] = {
    "thought": _thought,
    "memory": _memory,
    "recall": _recall,
    "compaction": _compaction,
    "health": _health,
    "error": _error,
    "sleep": _sleep,
    "world": _world,
}


def _with_problem(text: str, record: Record) -> Text:
    line = Text(_plain(text))
    return line.append(f"  {_plain(record['problem'])}", "red") if record["problem"] else line


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
    return _CONTROL.sub("·", text)
