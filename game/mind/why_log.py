"""Finds the n-th last act of an agent, in the event log or else in its archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from game.mind import why
from game.mind.archive import Archive
from game.mind.called import Names, time_of
from game.mind.errors import KeepsakeError
from game.mind.event_prompts import Prompts
from game.mind.event_reader import Record, newest_first
from game.mind.reasons import Why
from game.mind.records import Memory, MemoryKind

MOST_BYTES = 64_000_000
"""How far the log is read back, from its end: four whole files, a second or so."""
MOST_BACK = 1000
"""The farthest act that can be asked for."""
_SILENT = "wait"


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
        raise KeepsakeError(f"There is no {n}. last act to ask about", f"Ask for 1 to {MOST_BACK}")
    names = Names.of(agent)
    acts = _acts(log, names, everything)
    found: list[Record] = []
    try:
        for record in acts:
            found.append(record)
            if len(found) == n:
                act = why.from_log(record, n, archive, _prompt(log, record))
                return replace(act, agent=names.now)
    except OSError as error:
        raise KeepsakeError(
            f"The event log in {log} cannot be read ({error.strerror or error})",
            "Mend the permissions, or the disk",
        ) from error
    if everything:
        raise _none(names.now, n, len(found))
    return _older(names.now, archive, n, found)


def _acts(log: Path, names: Names, everything: bool) -> Iterator[Record]:
    """The thoughts of an agent that came to something, newest first."""
    for record in thoughts_of(log, names, MOST_BYTES):
        command = record.get("command")
        if everything or (command and command != _SILENT and record.get("outcome") == "acted"):
            yield record


def thoughts_of(log: Path, names: Names, most: int) -> Iterator[Record]:
    """The thoughts of an agent, newest first; blocks.

    Args:
        log: The folder of the event log.
        names: What the agent is and was called.
        most: How many bytes of the log are read back, from its end.

    Raises:
        OSError: The log cannot be read.
    """
    either = [f'"agent":{json.dumps(each, ensure_ascii=False)}' for each in names.each]
    for record in newest_first(log, holding=('"kind":"thought"',), any_of=either, most=most):
        if record.get("kind") == "thought":
            agent, at = str(record.get("agent")), partial(time_of, record.get("t"))
            if names.bore(agent, at):
                yield record


def _prompt(log: Path, record: Record) -> str | None:
    name = record.get("prompt")
    if not name:
        return None
    return Prompts(log).text(str(name), int(record["seq"]))


def _older(agent: str, archive: Archive, n: int, found: list[Record]) -> Why:
    """An act of before the log: what the archive tells of it."""
    left = n - len(found)
    for memory in _lived(archive):
        if not found or _before(memory, found[-1]):
            left -= 1
            if not left:
                return why.from_archive(memory, n, archive, agent, _gap(len(found)))
    raise _none(agent, n, n - left)


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
    return (
        f"The event log {there}, as far as it is read: what set this one off, what was recalled "
        "for it and what it cost is not known. The summaries are those that stood by its time"
    )


def _none(agent: str, n: int, known: int) -> KeepsakeError:
    if not known:
        return KeepsakeError(f"{agent} has not done anything yet", "Talk to it, or wait a while")
    acts = "one act is" if known == 1 else f"{known:,} acts are"
    return KeepsakeError(f"{agent} has no {n}. last act: {acts} known", "Ask for a smaller number")
