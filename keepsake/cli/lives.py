"""What agents remember, know and answered, as tables beside those of the event log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.journal import Journal
from keepsake.books.people import FOLDER
from keepsake.books.person_page import PersonPage, parse_page
from keepsake.errors import NoteRefused, refusing
from keepsake.events.reader import Filter, events
from keepsake.json_lines import Record
from keepsake.names import name_of
from keepsake.paths import Places

ARCHIVE = "archive"
"""The archive's folder in an agent's."""
_ASKED = ("addressed", "named", "given")
"""The triggers of thoughts that answer somebody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A memory, as the agent's archive holds it; what was forgotten is in none."""

    agent: str  #: Whose memory.
    n: int  #: Its number: 1, 2, 3 … in the order lived. The ``n`` of the table memory.
    t: datetime  #: When, in UTC.
    kind: str  #: ``perception``, ``act`` or ``result``.
    text: str  #: Its words.
    place: str = ""  #: Where.
    source: str = ""  #: Who caused it, by name; empty for the agent itself or nobody.
    source_id: str = ""  #: Who that is, whatever they are called; empty where it is not known.
    reason: str = ""  #: Of an act: the private reason.
    event: str = ""  #: What told of it: ``say``, ``talk``, ``pose`` …; ``courtesy``: by rule.
    to: str = ""  #: Whom an act was meant for, by name.
    to_id: str = ""  #: Who that is; of hearsay whom it tells of.
    repeats: int = 1  #: How often in a row it happened.
    importance: int = 0  #: How much it matters, 1 to 10, by its journal; 0 where that says nothing.
    chain: str = ""  #: Of hearsay: whose memories it rests on, ``Nell 17; Joss 41``.


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """A line of a person's page: what they said or did, or what the agent makes of them."""

    agent: str  #: Whose page it is.
    about: str  #: Whom it is about, by their present name.
    about_id: str  #: Who that is, whatever they are called.
    of: str  #: ``said``, ``did`` or ``portrait``.
    text: str  #: Its words.
    t: datetime  #: When that was; of a portrait when they were last met.
    evidence: Sequence[int] = ()  #: Numbers of the memories that it rests on.


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRow:
    """Something that was looked up for an answer."""

    kind: str  #: ``memory``, ``summary``, ``note`` or ``called back``.
    n: int  #: The memory's number; of a summary that of its compaction; 0 for a note.
    title: str  #: Of a note.
    score: float  #: How well it fitted; only comparable within one answer.
    why: str  #: What led to it.
    text: str  #: Of a memory: its words.


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """An answer to somebody who spoke to an agent, named it or gave it something."""

    agent: str  #: Who answered.
    seq: int  #: Number of the thought in the event log.
    t: datetime  #: When, in UTC.
    asked_by: str  #: Who spoke.
    asked: int  #: Number of the memory of what was said; 0 where it is not known.
    question: str  #: What was said, as the agent perceived it; empty where it is not known.
    answer: str  #: What the agent did or said.
    answered: int  #: Number of the memory of that; 0 where it was not kept.
    model: str  #: Who wrote the answer.
    seconds: float  #: How long it took.
    prompt: str  #: The ``hash`` of all that was sent, in the table prompts.
    given: Sequence[GivenRow] = ()  #: What was looked up for it and stood in the prompt.


MEMORIES, PEOPLE, ANSWERS = "memories", "people", "answers"
ROWS: Mapping[str, type[Any]] = {MEMORIES: MemoryRow, PEOPLE: PersonRow, ANSWERS: AnswerRow}
"""The tables, and what their rows are."""


def tables(here: Places, wanted: Filter) -> Iterator[tuple[str, Iterator[Any]]]:
    """The tables that there are, by name, each with its rows; reads the whole vault, and blocks.

    Raises:
        KeepsakeError: Something cannot be read; while rows are taken too.
    """
    with refusing(f"The agents in {here.agents} cannot be read", "Look at who may read them"):
        there = sorted(here.agents.iterdir()) if here.agents.is_dir() else []
        folders = {name_of(each): each for each in there if (each / ARCHIVE).is_dir()}
        lives = {name: folder for name, folder in folders.items() if wanted({"agent": name})}
        pages = [(name, each) for name in lives for each in _pages(lives[name])]
    yield MEMORIES, (row for name, folder in lives.items() for row in _memories(folder, name))
    yield PEOPLE, (row for name, each in pages for row in _people(name, each))
    yield ANSWERS, _answers(here, wanted, lives)


def _lived(folder: Path) -> list[Memory]:
    archive = Archive(folder / ARCHIVE, read_only=True)
    with closing(archive), refusing(f"{archive.folder} cannot be read", "Look at who may read it"):
        return archive.read(1, archive.last_number)


def _memories(folder: Path, name: str) -> Iterator[MemoryRow]:
    journal = Journal(folder / "journal")
    journal.entries()  # it reads its files whole
    for each in _lived(folder):
        entry = journal.resting_on(each.number)
        yield MemoryRow(
            agent=name,
            n=each.number,
            t=each.time,
            kind=each.kind.value,
            text=each.text,
            place=each.place,
            source=each.source,
            source_id=each.source_id,
            reason=each.reason,
            event=each.event,
            to=each.to,
            to_id=each.to_id,
            repeats=each.repeats,
            importance=entry.importance if entry else each.importance,
            chain=each.chain,
        )


def _pages(folder: Path) -> Iterator[PersonPage]:
    for path in sorted((folder / FOLDER).glob("*.md")):
        changed = datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        try:
            yield parse_page(path, path.read_text(encoding="utf-8"), changed)
        except (NoteRefused, UnicodeDecodeError):
            continue  # nobody reads it in the game either


def _people(name: str, of: PersonPage) -> Iterator[PersonRow]:
    row = partial(PersonRow, agent=name, about=of.name, about_id=of.key)
    if of.portrait:
        yield row(of="portrait", text=of.portrait, t=of.last_met)
    for each in of.lines:
        kind = "said" if each.said else "did"
        yield row(of=kind, text=each.text, t=each.time, evidence=each.numbers)


def _answers(here: Places, wanted: Filter, lives: Mapping[str, Path]) -> Iterator[AnswerRow]:
    texts: dict[str, Mapping[int, str]] = {}
    for record in events(here.events):
        if not wanted(record) or not _is_answer(record):
            continue
        name = str(record["agent"])
        if name not in texts:  # of an agent that is gone, or was renamed, there are none
            there = _lived(lives[name]) if name in lives else []
            texts[name] = {each.number: each.text for each in there}
        yield _answer(record, texts[name])


def _is_answer(record: Record) -> bool:
    asked = record.get("kind") == "thought" and record.get("trigger") in _ASKED
    return asked and record.get("outcome") == "acted" and record.get("lead") != "deed"


def _answer(record: Record, texts: Mapping[int, str]) -> AnswerRow:
    cause = int(record.get("cause") or 0)
    return AnswerRow(
        agent=record["agent"],
        seq=record["seq"],
        t=datetime.fromisoformat(str(record["t"])),
        asked_by=record.get("source", ""),
        asked=cause,
        question=texts.get(cause, ""),
        answer=record.get("command") or "",
        answered=record.get("memory", 0),
        model=record.get("model", ""),
        seconds=record.get("latency", 0.0),
        prompt=record.get("prompt", ""),
        given=tuple(_given(record.get("recalled", ()), texts)),
    )


def _given(recalled: Iterable[Record], texts: Mapping[int, str]) -> Iterator[GivenRow]:
    for each in recalled:
        is_memory = each["kind"] in ("memory", "called back")
        yield GivenRow(**each, text=texts.get(each["n"], "") if is_memory else "")
