"""What event log and archives tell: prompts that were sent, words in all memories.

In a view's thread, as files are read. Archives are searched from their ends, so that a search finds
what no index has yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from itertools import islice
from pathlib import Path

import frontmatter
import yaml

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.events.files import newest_first, time_of
from keepsake.events.prompts import prompt_text
from keepsake.events.types import Sleep
from keepsake.json_lines import Record, parsed
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.shapes import FoundView, PageView, PromptView, SearchView, SentRow, Stretch

LATELY, FAR = 16_000_000, 64_000_000
"""Bytes of the log that are read back for the last prompt, and for an earlier one."""
MOST_BYTES = 200_000_000
"""Of all archives together that are searched, each its share: about two seconds of one core."""
_WORD = re.compile(r"\w+")


def last_prompt(log: Path, number: int, nothing: PromptView) -> PromptView:
    """What was last sent for an agent, as far as the newest part of the log tells.

    Raises:
        OSError: The log cannot be read.
    """
    thought = next(_sent(log, number, LATELY), None)
    return nothing if thought is None else _prompt(log, thought)


def prompt_of(log: Path, number: int, seq: int) -> PromptView:
    """What was sent for the thought of that number.

    Raises:
        NotFound: The newest part of the log has none.
        OSError: The log cannot be read.
    """
    thought = next((each for each in _sent(log, number) if each["seq"] <= seq), None)
    if thought is None or thought["seq"] != seq:
        raise NotFound(f"There is no prompt of a thought {seq}", "GET …/prompts lists them")
    return _prompt(log, thought)


def sent_prompts(log: Path, number: int, before: int | None, limit: int) -> list[SentRow]:
    """What was sent, the newest first.

    Raises:
        OSError: The log cannot be read.
    """
    sent = (each for each in _sent(log, number) if before is None or each["seq"] < before)
    return [
        SentRow(
            seq=each["seq"],
            at=time_of(each.get("t")),
            trigger=_trigger(each),
            outcome=str(each.get("outcome") or ""),
            command=str(each.get("command") or ""),
            tokens=sum((each.get("sections") or {}).values()),
        )
        for each in islice(sent, limit)
    ]


def _sent(log: Path, number: int, most: int = FAR) -> Iterator[Record]:
    """Thoughts for which something was sent, the newest first."""
    thoughts = newest_first(log, kind="thought", agent_id=number, most=most)
    return (each for each in thoughts if each.get("prompt"))


def _trigger(thought: Record) -> str:
    trigger, source = str(thought.get("trigger") or ""), str(thought.get("source") or "")
    return f"{trigger}: {source}" if source else trigger


def _prompt(log: Path, thought: Record) -> PromptView:
    """The log has the text as a whole, and what each section cost: not which line was whose."""
    text = prompt_text(log, str(thought["prompt"]), int(thought["seq"]))
    ended = time_of(thought.get("t"))
    return PromptView(
        at=ended and ended - timedelta(seconds=float(thought.get("latency") or 0.0)),
        sections=thought.get("sections") or {},
        sent=(Stretch(name="", text=text),) if text else (),
        budget=thought.get("budget") or 0,
        cached=thought.get("cached_tokens") or 0,
        server_tokens=thought.get("prompt_tokens") or 0,
        trigger=_trigger(thought),
        answer=thought.get("answer") or "",
    )


# -- words in the memories of all agents


def search(agents: Sequence[tuple[int, str, Path]], question: str, limit: int) -> SearchView:
    """The newest memories that hold all the words, as whole words or beginnings of such.

    Raises:
        BadRequest: There is no word in it.
        OSError: An archive cannot be read.
    """
    words = tuple(dict.fromkeys(_WORD.findall(question.casefold())))
    if not words:
        raise BadRequest(f"There is no word in {question[:40]!r}", "Give letters or digits")
    complete = True
    found: list[FoundView] = []
    for number, name, folder in agents:
        own, whole = _newest(folder / "archive", words, limit, MOST_BYTES // len(agents))
        found += [FoundView(id=number, agent=name, memory=memory) for memory in own]
        complete = complete and whole
    newest = nlargest(limit, found, key=lambda each: each.memory.time)
    return SearchView(hits=tuple(newest), complete=complete)


def _newest(folder: Path, words: Sequence[str], limit: int, most: int) -> tuple[list[Memory], bool]:
    """An agent's newest memories with all the words; whether ``most`` bytes were enough."""
    found: list[bytes] = []
    if not folder.is_dir():
        return [], True
    wanted = [re.compile(rf"\b{re.escape(word)}") for word in words]
    # What is no ASCII may stand in a line in other letters: only its parsed text tells.
    needles = [word.encode() for word in words if word.isascii()]
    for line in Archive(folder, read_only=True).lines_back():
        if len(found) == limit or (most := most - len(line)) < 0:
            break
        low = line.lower()
        if all(needle in low for needle in needles):
            text = str(parsed(line).get("text", "")).casefold()
            if all(word.search(text) for word in wanted):
                found.append(line)
    return [*memories_in(map(parsed, found))], most >= 0


_TIMES = ("updated", "last_met", "time", "day")
"""What of a page's front matter says when it was written, or they met, last."""
_TOLD = ("place", "reason", "tags", "memories", "meetings")
"""What of a page's front matter is shown beside it."""
_FAR = 64 << 20
"""Bytes of the event log that are read back for nights."""
_LONGEST = 60_000
"""Characters of one page that are shown; the file has all."""


def _files(folder: str) -> Callable[[Path], Iterable[PageView]]:
    """A book whose pages are markdown files."""
    return lambda agent: map(_file, (agent / folder).glob("[!.]*.md"))


def _file(path: Path) -> PageView:
    try:
        page = frontmatter.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        problem = f"This file cannot be read: {' '.join(str(error).split())[:200]}"
        return PageView(title=path.name, at=None, text=problem, facts={}, file=path.name)
    meta = {str(key): value for key, value in page.metadata.items()}
    names = meta.get("names")  # of a person, the present one last
    return PageView(
        title=str(names[-1] if isinstance(names, list) and names else meta.get("title", path.stem)),
        at=_moment(next((meta[name] for name in _TIMES if name in meta), None)),
        text=str(page.content)[:_LONGEST],
        facts={name: _plain(meta[name]) for name in _TOLD if meta.get(name)},
        file=path.name,
    )


def _moment(given: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(given))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _kept(agent: Path) -> Iterable[PageView]:
    """What always stands in its prompts: pinned lines, promises and rules."""
    return [_file(agent / name) for name in ("pinned.md", "noticed.md") if (agent / name).exists()]


BOOKS: Mapping[str, Callable[[Path], Iterable[PageView]]] = {
    "journal": _files("journal"),
    "notes": _files("notes"),
    "kept": _kept,
    "people": _files("people"),
}
"""What each is called, and what reads it from an agent's folder."""
_EVER = datetime.min.replace(tzinfo=UTC)


def book(folder: Path, name: str, limit: int) -> list[PageView]:
    """The newest pages of one of :data:`BOOKS`.

    Raises:
        OSError: A file cannot be read.
    """
    return sorted(BOOKS[name](folder), key=lambda page: page.at or _EVER, reverse=True)[:limit]


def nights_of(events: Path, agent_id: int, limit: int) -> list[PageView]:
    """An agent's newest nights, as the event log tells of them."""
    return list(islice(_nights(events, agent_id), limit))


def _nights(events: Path, agent_id: int) -> Iterator[PageView]:
    lines, calls = list[str](), 0  # of one night, the last first
    for record in newest_first(events, kind=Sleep.kind, agent_id=agent_id, most=_FAR):
        if record.get("op") == "falls asleep":
            at = datetime.fromisoformat(record["t"])
            facts = {"why": str(record.get("why", "")), "calls": str(calls)}
            title, text = f"{at.astimezone():%A, %-d %B}", "\n".join(lines[::-1])
            yield PageView(title=title, at=at, text=text, facts=facts, file="")
            lines, calls = [], 0
        elif record.get("op") == "wakes":
            lines.append(f"- woken by {record.get('why', '')}")
        else:
            figures = ", ".join(f"{n} {name}" for name, n in (record.get("figures") or {}).items())
            told = record.get("problem") or figures or "nothing to do"
            lines.append(f"- {record.get('step')}: {told}")
            calls += int(record.get("calls", 0))
