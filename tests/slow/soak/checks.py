"""Checks after a soak, on the files of the stopped world.

The Server handles a player's command as a whole: all agents in the room archive the line before any
of it is sent to a screen. So a line that was echoed is in the addressed agent's archive exactly
once, whatever was killed afterwards. A line that was not echoed may be there once or not at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.spill import Spill
from keepsake.archive.tiers import load_tiers
from keepsake.database import damage
from keepsake.errors import KeepsakeError
from keepsake.memory.integrity import check
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import MemoryContext
from keepsake.paths import Places
from tests.slow.soak.players import MARK, SaidLine

_LOGGED = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* \[.{1,3}\] ")
"""What Evennia's logs have before each line, also before those of a traceback."""
_SHOWN = 8
"""The last lines of a traceback that a problem shows."""

_FULL = ("[Errno 28]", "database or disk is full")
"""What an error of a full disk has in it: of the system, of SQLite in the game or in Chroma."""

_CAUSED = "The above exception was the direct cause of the following exception:"
_MEANWHILE = "During handling of the above exception, another exception occurred:"
"""What stands between a traceback and that of the error which it led to."""

type Heard = dict[str, dict[str, list[Memory]]]
"""By agent and by a line's mark: the memories of players' lines."""


def problems(here: Places, said: Sequence[SaidLine]) -> list[str]:
    """Return all problems, but for who heard what; see :mod:`tests.slow.soak.hearers`."""
    heard, found = archives(here, {line.player for line in said})
    return [*found, *_lines(said, heard), *_order(said, heard), *_stores(here), *_tracebacks(here)]


def archives(here: Places, players: Collection[str]) -> tuple[Heard, list[str]]:
    """Return these players' lines in every archive, and the archives' problems."""
    heard: Heard = {}
    found = list[str]()
    for folder in sorted(path.parent for path in here.agents.glob("*/archive")):
        heard[folder.name] = {}
        try:
            with closing(Archive(folder / "archive")) as archive:
                heard[folder.name] = _heard(archive, players)
                found += (f"{folder.name}: {each}" for each in _untidy(folder, archive))
        except (KeepsakeError, KeyError, ValueError) as error:
            found.append(f"the archive of {folder.name} does not open: {error!r}")
    return heard, found


def _heard(archive: Archive, players: Collection[str]) -> dict[str, list[Memory]]:
    found = defaultdict(list)
    for memory in archive.read(1, archive.last_number):
        if memory.heard is not None and memory.source in players:
            for mark in MARK.findall(memory.words):
                found[mark].append(memory)
    return dict(found)


def _untidy(folder: Path, archive: Archive) -> Sequence[str]:
    tiers = load_tiers(archive)
    context = MemoryContext(tiers.state.longterm, tiers.state.recent, tuple(tiers.window))
    return check(archive, context, SummaryFolder(folder / "summaries", folder.name)).problems


def _lines(said: Iterable[SaidLine], heard: Heard) -> Iterator[str]:
    """Yield echoed lines that were not archived, and lines that were archived twice or changed."""
    for line in said:
        for agent, memories in heard.items():
            times = sum(each.repeats for each in memories.get(line.mark, ()))
            if times > 1:
                yield f"{agent} archived {times} times what {line.player} said: {line.words}"
        found = heard.get(line.agent, {}).get(line.mark, [])
        if line.echoed and not found:
            yield f"{line.agent} never archived what {line.player} said: {line.words}"
        if any(line.words not in each.text for each in found):
            yield f"{line.agent} archived in other words what {line.player} said: {line.words}"


def _order(said: Sequence[SaidLine], heard: Heard) -> Iterator[str]:
    """Yield players whose lines an agent has in a wrong order."""
    for player in sorted({line.player for line in said}):
        marks = [line.mark for line in said if line.player == player]
        for agent, memories in heard.items():
            numbers = [memory.number for mark in marks for memory in memories.get(mark, ())]
            if numbers != sorted(numbers):
                yield f"{agent} archived what {player} said in another order"


def _stores(here: Places) -> Iterator[str]:
    """Yield a damaged database, and memories that still wait for the disk."""
    if found := damage(here.database):
        yield f"the database is damaged: {found}"
    for agent, lines in Spill(here.spill).waiting().items():
        yield f"{len(lines)} memories of {agent} still wait for a disk"


def _is_reported(end: str) -> bool:
    """Whether the end of a traceback is an error of Keepsake's own.

    The game reports it and goes on, as after the kill of an index server.
    """
    module, _, name = end.partition(":")[0].rpartition(".")
    if not module.startswith("keepsake."):
        return False
    kind = getattr(import_module(module), name, None)
    return isinstance(kind, type) and issubclass(kind, KeepsakeError)


def _tracebacks(here: Places) -> Iterator[str]:
    """Yield the kinds of tracebacks in all logs, with their numbers, but for expected ones.

    Of a chain of errors the last one counts, unless a full disk is the cause of it. A full disk may
    also tear a traceback.
    """
    found = defaultdict[str, list[Sequence[str]]](list)
    for path in sorted(here.logs.glob("*.log*")):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = [_LOGGED.sub("", line) for line in text.splitlines()]
        caused_by_full = False
        for number, line in enumerate(lines):
            if "Traceback (most recent call last)" in line:
                trace = _trace(lines[number:])
                end = trace[-1].strip()[:300]
                rest = (line.strip() for line in lines[number + len(trace) :] if line.strip())
                follows = next(rest, "")
                full = any(each in end for each in _FULL) or caused_by_full
                caused_by_full = full and follows == _CAUSED
                if not (full or follows in (_CAUSED, _MEANWHILE) or _is_reported(end)):
                    found[f"{path.name}: {end}"].append(trace)
    for what, traces in found.items():
        shown = "\n    ".join(traces[0][-_SHOWN:])
        yield f"{len(traces)} tracebacks in {what}\n    {shown}"


def _trace(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines of a traceback: to the next one that is as little indented as the first."""
    least = _indent(lines[0])
    end = (n for n, line in enumerate(lines) if n and line.strip() and _indent(line) <= least)
    return [line.rstrip() for line in lines[: next(end, len(lines) - 1) + 1]]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
