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
    n, of = record["n"], record["of"]
    if tell := _OPERATIONS.get(op):
        return tell(record)
    told = [op, *([f"of memory {n}"] if n else []), *([f"({of})"] if of else [])]
    if about := record.get("about"):
        told.append(f"about {about}")
    if title := record.get("title"):
        told.append(repr(title))
    if size := record["size"]:
        told.append(f"({size:,} characters)")
    return " ".join(told)


def _rate(record: Record) -> str:
    recalled = record.get("found")
    both = "" if recalled is None else f", {recalled} with recall"
    asked, answered = record.get("asked", 0), record.get("answered", 0)
    return f"compaction {record['n']}: {answered} of {asked} answers still in the prompt{both}"


def _renamed(record: Record) -> str:
    if record["of"] == "agent":
        return f"renamed, was {record['about']}"
    return f"profile goes on under the name {record['about']} ({record['of']})"


def _merged(record: Record) -> str:
    if about := record.get("about"):
        return f"{about}, known by name so far, is known ({record['of']})"
    return f"{record['times']} entries of the journal merged into another"


_OPERATIONS: Mapping[str, Callable[[Record], str]] = {
    "undo": lambda record: f"compaction {record['n']} taken back",
    "rate": _rate,
    "clear": lambda record: f"cleared up to memory {record['n']}",
    "lost": lambda record: f"{record['times']:,} memories lost",
    "edit": lambda record: (
        f"profile of {record['about']} edited"
        if record.get("about")
        else f"{record['of']} summary of compaction {record['n']} edited"
    ),
    "called back": lambda record: f"{record['times']} memories called back from {record['n']} on",
    "mended": lambda record: f"{record['size']:,} bytes of a torn line set aside",
    "reindex": lambda _: "recall index made anew",
    "profile": lambda record: (
        f"{record['times']} memories up to {record['n']} worked into the profile of "
        f"{record['about']} ({record['of']})"
    ),
    "met": lambda record: f"profile of {record['about']} begun ({record['of']})",
    "renamed": _renamed,
    "merged": _merged,
    "folded": lambda record: f"{record['times']} entries of the journal folded into one",
    "begins": lambda record: f"begins, with {record['n']:,} memories",
    "ends": lambda record: f"ends, with {record['n']:,} memories",
}


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
