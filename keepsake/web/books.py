"""What an agent keeps beside its memories, as its files have it; in a view's thread.

People may write these files as well, so they are shown as they are, newest first; a file that
cannot be read is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import frontmatter
import yaml

from keepsake.events.reader import newest_first
from keepsake.events.types import Sleep
from keepsake.web.shapes import PageView

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
