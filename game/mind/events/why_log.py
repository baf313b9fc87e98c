"""Finds the n-th last act of an agent, in the event log or else in its archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind
from game.mind.errors import KeepsakeError
from game.mind.events import why
from game.mind.events.agent_names import Names, id_of, time_of
from game.mind.events.prompts import Prompts
from game.mind.events.reader import newest_first
from game.mind.events.reasons import Why
from game.mind.json_lines import Record

MOST_BYTES = 64_000_000
"""How far the log is read back, from its end: four whole files, a second or so."""
MOST_BACK = 1000
"""The farthest act that can be asked for."""
_SILENT = "wait"
_NOT_KNOWN = (
    "what set this one off, what was recalled for it and what it cost is not known. "
    "The summaries are those that stood by its time"
)
_HOLE = (
    "The event log holds older acts, but not this one (the game was killed just then, or the log "
    f"had no room): {_NOT_KNOWN}"
)


def why_did(
    log: Path, agent: str | Names, archive: Archive, n: int = 1, *, everything: bool = False
) -> Why:
    """What led to the ``n``-th last act of an agent; blocks, a second at the worst.

    Args:
        log: The folder of the event log.
        agent: Its name, as it stands in the log, or all that it is and was called.
        archive: Its archive.
        n: Which act, 1 the last.
        everything: Count what came to nothing as well: waiting, refused answers, thoughts that
            were not answered.

    Raises:
        KeepsakeError: There is no such act, or the log cannot be read; says why.
    """
    if not 1 <= n <= MOST_BACK:
        raise KeepsakeError(
            f"{n} names no act: they are counted back from the last one, which is 1",
            f"Ask for 1 to {MOST_BACK}",
        )
    names, known = Names.of(agent), 0
    try:
        for known, act in enumerate(_both(log, names, archive, everything), start=1):
            if known < n:
                continue
            if isinstance(act, _Unlogged):
                return why.from_archive(act.memory, n, archive, names.now, act.missing)
            return replace(why.from_log(act, n, archive, _prompt(log, act)), agent=names.now)
    except OSError as error:
        raise KeepsakeError(
            f"The event log in {log} cannot be read ({error.strerror or error})",
            "Mend the permissions, or the disk",
        ) from error
    raise _none(names.now, known)


@dataclass(frozen=True, slots=True)
class _Unlogged:
    """An act that only the archive tells of, and why the log does not."""

    memory: Memory
    missing: str


def _both(
    log: Path, names: Names, archive: Archive, everything: bool
) -> Iterator[Record | _Unlogged]:
    """The acts of log and archive, newest first, each once.

    An act is archived first and logged then: whoever was killed between the two, or copied as far
    as that, has an act of which the log does not know.
    """
    lived = _lived(archive)
    memory = next(lived, None)
    logged = 0
    for record in _acts(log, names, everything):
        while memory is not None and _behind(memory, record):
            yield _Unlogged(memory, _HOLE)
            memory = next(lived, None)
        while memory is not None and not _before(memory, record):
            memory = next(lived, None)  # the very act of that event
        logged += 1
        yield record
    while memory is not None:
        yield _Unlogged(memory, _gap(logged))
        memory = next(lived, None)


def _acts(log: Path, names: Names, everything: bool) -> Iterator[Record]:
    """The thoughts of an agent that came to something, newest first."""
    for record in thoughts_of(log, names, MOST_BYTES):
        command = record.get("command")
        if everything or (command and command != _SILENT and record.get("outcome") == "acted"):
            yield record


def thoughts_of(log: Path, names: Names, most: int) -> Iterator[Record]:
    """The thoughts of an agent, newest first; blocks.

    Raises:
        OSError: The log cannot be read.
    """
    either = [f'"agent":{json.dumps(each, ensure_ascii=False)}' for each in names.each]
    either += [f'"agent_id":{names.agent_id},'] if names.agent_id else []
    for record in newest_first(log, holding=('"kind":"thought"',), any_of=either, most=most):
        if record.get("kind") == "thought":
            agent, at = str(record.get("agent")), partial(time_of, record.get("t"))
            if names.bore(agent, at, id_of(record)):
                yield record


def _prompt(log: Path, record: Record) -> str | None:
    name = record.get("prompt")
    if not name:
        return None
    return Prompts(log).text(str(name), int(record["seq"]))


def _behind(memory: Memory, act: Record) -> bool:
    """Whether a memory is of an act behind the thought of that event."""
    if number := act.get("memory"):
        return memory.number > int(number)
    return memory.time > datetime.fromisoformat(str(act["t"]))


def _before(memory: Memory, act: Record) -> bool:
    """Whether a memory is of an act before the one of that event."""
    if number := act.get("memory"):
        return memory.number < int(number)
    # Of an earlier version, or not archived: the memory is made just before the event.
    return memory.time < datetime.fromisoformat(str(act["t"])) and memory.text != act["command"]


def _lived(archive: Archive) -> Iterator[Memory]:
    """The acts in an archive, newest first."""
    for record in archive.backwards():
        if record.get("type") == "memory" and record.get("kind") == MemoryKind.ACT.value:
            try:
                yield Memory.from_record(record)
            except (KeyError, ValueError, TypeError):
                continue  # @memory-status tells of lines that cannot be read


def _gap(known: int) -> str:
    last = "act" if known == 1 else f"{known:,} acts"
    there = f"holds only its last {last}" if known else "holds no act of it"
    return f"The event log {there}, as far as it is read: {_NOT_KNOWN}"


def _none(agent: str, known: int) -> KeepsakeError:
    if not known:
        return KeepsakeError(f"{agent} has not done anything yet", "Talk to it, or wait a while")
    acts = f"one act of {agent} is" if known == 1 else f"{known:,} acts of {agent} are"
    return KeepsakeError(f"So far back nothing is known: {acts} known", "Ask for a smaller number")
