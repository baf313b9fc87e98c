"""Data from event log and books: sent prompts, pages, charts.

Runs in a view's thread, because it reads files; raises OSError if one cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import frontmatter
import yaml

from keepsake.books.kept_lines import NOTICED, PINNED, CommitmentKind, Commitments, Pinned
from keepsake.books.plans import PLANS
from keepsake.events.files import EVENTS, files_of, id_of, newest_first, time_of
from keepsake.events.prompts import prompt_text
from keepsake.events.types import Compaction, MemoryChange, Recall, Sleep, Thought
from keepsake.events.values import MemoryOp, RecallPurpose, SleepOp, ThoughtOutcome
from keepsake.json_lines import Record
from keepsake.prompt.sections import titled
from keepsake.web.access import NotFound
from keepsake.web.agent.shapes import PageView, Point, PromiseLine, PromptView, Series, Stretch
from keepsake.web.links import numbers_cited, with_links
from keepsake.web.shapes import NewEvents

RECENT_BYTES = 16_000_000
OLDER_BYTES = 64_000_000
"""The most bytes of the log to read, from its end, for the last prompt and for an earlier one."""
NEW_BYTES = 2_000_000
MOST_FIRST = 100
MOST_NEW = 500
"""Bytes of the log to read for new events; the most events of a first answer, of a later one."""
POINTS = 60
"""The points of a chart: slices of equal length."""
MOST_HOURS = 7 * 24
"""The most hours of a chart: a week."""
_ENDED = frozenset(ThoughtOutcome) - {ThoughtOutcome.DROPPED}
"""Outcomes of thoughts that count in charts. Dropped thoughts do not: they were not needed."""
_CHARTED = (Thought.kind, Recall.kind, Compaction.kind)


def prompt_of(log: Path, number: int, seq: int | None = None) -> PromptView | None:
    """Return the prompt of the thought numbered ``seq``; without ``seq`` the last one, or None.

    Raises:
        NotFound: The newest part of the log has no prompt of that number.
    """
    if seq is None:
        last = next(_sent(log, number, RECENT_BYTES), None)
        return _prompt(log, last) if last else None
    thought = next((each for each in _sent(log, number) if each["seq"] <= seq), None)
    if thought is None or thought["seq"] != seq:
        raise NotFound(
            f"There is no prompt of a thought {seq}", "GET /agents/api/events lists thoughts"
        )
    return _prompt(log, thought)


def _sent(log: Path, number: int, most: int = OLDER_BYTES) -> Iterator[Record]:
    """Yield the thoughts that have a prompt, newest first."""
    thoughts = newest_first(log, kind=Thought.kind, agent_id=number, most=most)
    return (each for each in thoughts if each.get("prompt"))


def _trigger(thought: Record) -> str:
    trigger = str(thought.get("trigger") or "")
    source = str(thought.get("source") or "")
    return f"{trigger}: {source}" if source else trigger


def _prompt(log: Path, thought: Record) -> PromptView:
    """Return a prompt from the log, which has the whole text but not the sections' borders."""
    text = prompt_text(log, str(thought["prompt"]), int(thought["seq"]))
    ended = time_of(thought.get("t"))
    return PromptView(
        at=ended and ended - timedelta(seconds=float(thought.get("latency") or 0.0)),
        sections=titled(thought.get("sections") or {}),
        sent=(Stretch(name="", text=text),) if text else (),
        budget=thought.get("budget") or 0,
        cached=thought.get("cached_tokens"),
        server_tokens=thought.get("prompt_tokens") or 0,
        trigger=_trigger(thought),
        answer=thought.get("answer") or "",
    )


# -- new events


def new_events(
    log: Path, number: int, after: int | None, complete: Callable[[Record], Record]
) -> NewEvents:
    """Return the events with numbers above ``after``; without ``after`` the newest ones.

    ``number``: The agent's number; 0 for all agents. ``complete``: Adds the words of memories.
    """
    last = 0
    oldest = 0
    found = list[Record]()
    most = MOST_FIRST if after is None else MOST_NEW
    for record in newest_first(log, most=NEW_BYTES):
        oldest = int(record["seq"])
        last = last or oldest
        known = after is not None and oldest <= after <= last
        if known or len(found) == most:
            break
        if number in (0, id_of(record)):
            found.append(complete(record))
    gap = after is not None and not oldest <= after + 1 <= last + 1
    return NewEvents(last=last, gap=gap, events=tuple(reversed(found)))


# -- books


_TIMES = ("updated", "last_met", "time", "day")
"""Fields of a page's front matter with the time of the last change, or of the last meeting."""
_FACTS = ("place", "reason", "tags", "memories", "meetings")
"""Fields of a page's front matter that are shown beside it."""
_NIGHTS_BYTES = 64 << 20
"""The most bytes of the event log to read, from its end, for nights."""
_LONGEST = 60_000
"""The most characters of a page that are shown; the file has all of it."""


def _file(path: Path, is_private: Callable[[int], bool]) -> PageView:
    try:
        page = frontmatter.loads(path.read_text("utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        problem = f"This file cannot be read: {' '.join(str(error).split())[:200]}"
        return PageView(title=path.name, at=None, text=problem, facts={}, file=path.name)
    meta = {str(key): value for key, value in page.metadata.items()}
    names = meta.get("names")  # a person's names, the present one last
    title = names[-1] if isinstance(names, list) and names else meta.get("title", path.stem)
    day = meta.get("day")
    if isinstance(day, date):
        title = f"{day:%A, %-d %B %Y}"
    text = str(page.content)
    numbers = numbers_cited(text)
    return PageView(
        title=str(title),
        at=time_of(next((meta[name] for name in _TIMES if name in meta), None)),
        text=with_links(text[:_LONGEST]),
        facts={
            name: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for name in _FACTS
            if (value := meta.get(name))
        },
        file=path.name,
        pins=_pins(path) if path.name == PINNED else (),
        promises=_promises(path) if path.name == NOTICED else (),
        private=tuple(filter(is_private, numbers)),
    )


def _pins(path: Path) -> tuple[str, ...]:
    return tuple(with_links(each.text) for each in Pinned(path).items)


def _promises(path: Path) -> tuple[PromiseLine, ...]:
    return tuple(
        PromiseLine(
            text=f"{each.kind} {_TOWARDS[each.kind]} {each.who or 'somebody'}: {each.text}",
            memory=each.number,
        )
        for each in Commitments(path).items
    )


_TOWARDS: Mapping[CommitmentKind, str] = {
    CommitmentKind.PROMISE: "to",
    CommitmentKind.RULE: "from",
}
BOOKS: Mapping[str, Sequence[str]] = {
    **{name: (f"{name}/[!.]*.md",) for name in ("journal", "notes", "people")},
    "kept": (PINNED, NOTICED),  # these are in all its prompts
    "plans": (PLANS,),
}
"""The file patterns of each book in an agent's folder."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def book(folder: Path, name: str, limit: int, is_private: Callable[[int], bool]) -> list[PageView]:
    """Return the newest pages of one of :data:`BOOKS`.

    ``is_private``: Returns whether the memory of a number is private.
    """
    pages = (_file(path, is_private) for pattern in BOOKS[name] for path in folder.glob(pattern))
    return sorted(pages, key=lambda page: page.at or _LONG_AGO, reverse=True)[:limit]


def nights(events: Path, agent_id: int) -> Iterator[PageView]:
    """Yield an agent's nights from the event log, newest first."""
    lines = list[str]()
    calls = 0  # of one night, last line first
    for record in newest_first(events, kind=Sleep.kind, agent_id=agent_id, most=_NIGHTS_BYTES):
        if record.get("op") == SleepOp.FALLS_ASLEEP:
            at = datetime.fromisoformat(record["t"])
            facts = {"why": str(record.get("why", "")), "calls": str(calls)}
            title = f"{at.astimezone():%A, %-d %B}"
            text = "\n".join(lines[::-1])
            yield PageView(title=title, at=at, text=text, facts=facts, file="")
            lines = []
            calls = 0
        elif record.get("op") == SleepOp.WAKES:
            lines.append(f"- woken by {record.get('why', '')}")
        elif record.get("op") == SleepOp.STEP:
            figures = ", ".join(f"{n} {name}" for name, n in (record.get("figures") or {}).items())
            result = record.get("problem") or figures or "nothing to do"
            lines.append(f"- {record.get('step')}: {result}")
            calls += int(record.get("calls", 0))


# -- charts of one agent, computed from the event log at each request


def _point(at: float, found: Sequence[Record], memories: int) -> Point:
    """Return the point of a time slice from its events; ``memories``: last number at its end."""
    of = {kind: [each for each in found if each.get("kind") == kind] for kind in _CHARTED}
    ended = [each for each in of[Thought.kind] if each.get("outcome") in _ENDED]
    outcomes = [each["outcome"] for each in ended]
    asked = [(size, each) for each in ended if (size := sum((each.get("sections") or {}).values()))]
    answered = [each for each in ended if each.get("model")]
    written = _numbers(answered, "completion_tokens")
    told = [each for each in answered if each.get("cached_tokens") is not None]
    cached = sum(_numbers(told, "cached_tokens"))
    seconds = _numbers(answered, "latency")
    searches = [
        e for e in of[Recall.kind] if e.get("by") != RecallPurpose.BUILDER and e.get("searched")
    ]
    return Point(
        at=datetime.fromtimestamp(at, UTC),
        thoughts=len(ended),
        failed=len(ended) - outcomes.count(ThoughtOutcome.ACTED),
        no_answer=outcomes.count(ThoughtOutcome.NO_ANSWER),
        prompt_tokens=_share(sum(size for size, _ in asked), len(asked)),
        completion_tokens=_share(sum(written), len(written)),
        budget=next((each["budget"] for _, each in asked if each.get("budget")), None),
        cached=_share(cached, sum(_numbers(told, "prompt_tokens"))),
        latency=_percentile(seconds, 0.5),
        latency_p95=_percentile(seconds, 0.95),
        memories=memories or None,
        recalled=_share(sum(each.get("found", 0) > 0 for each in searches), len(searches)),
        compactions=sum(bool(each.get("number")) for each in of[Compaction.kind]),
    )


def _numbers(events: Sequence[Record], name: str) -> list[float]:
    return [float(each.get(name) or 0) for each in events]


def series(folder: Path, agent_id: int, total: int, hours: int, now: datetime) -> Series:
    """Return an agent's last hours; ``total``: the number of its newest memory; blocks."""
    seconds = hours * 3600 / POINTS
    # Slices begin at whole multiples of their length; the last one is not over yet.
    begin = (now.timestamp() // seconds + 1 - POINTS) * seconds
    day = str(datetime.fromtimestamp(begin, UTC).date())
    # A file holds one day, except for lines around midnight.
    before = str(datetime.fromtimestamp(begin, UTC).date() - timedelta(days=1))
    slices: list[list[Record]] = [[] for _ in range(POINTS)]
    for record in newest_first(folder, agent_id=agent_id, since=before):
        if (time := time_of(record.get("t"))) is None:
            continue
        if time.timestamp() < begin:
            break
        slices[min(int((time.timestamp() - begin) // seconds), POINTS - 1)].append(record)
    points: list[Point] = []
    for place, found in reversed([*enumerate(slices)]):
        points.append(_point(begin + place * seconds, found, total))
        for each in found:  # newest first
            if (each.get("kind"), each.get("op")) == (MemoryChange.kind, MemoryOp.APPEND):
                total = each.get("n", 1) - 1
    oldest = next(iter(files_of(folder, EVENTS)), None)
    complete = oldest is None or oldest.first <= 1 or oldest.day < day
    return Series(points=tuple(reversed(points)), complete=complete)


def _share(total: float, count: float) -> float | None:
    return round(total / count, 4) if count else None


def _percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which that share of the values lies; None for no values."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else None
