"""Why an agent did what it did: one act, with all that led to it, from the log and the archive.

The event log knows the thought: what set it off, what was recalled for it, how far its
summaries went, and what it cost. The archive knows the words. What neither knows any more is
said so, never guessed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from keepsake.archive.history import PastCompaction, compactions, summaries_at
from keepsake.archive.log import Archive
from keepsake.archive.records import HEARSAY, SCENE, Memory, MemoryKind, Summary, memories_in
from keepsake.archive.tier_lines import SummaryState
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.agent_names import Names, id_of, time_of
from keepsake.events.prompts import PromptStore
from keepsake.events.reader import newest_first
from keepsake.events.reasons import Leant, PromptSource, Under, Why
from keepsake.events.types import Guard, Recalled, Thought
from keepsake.json_lines import Record
from keepsake.language.heard import DEED
from keepsake.language.words import sentences, stem, telling, words

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
_BY_RULE = {SCENE: "its ordinary day", HEARSAY: "word that it passed on", DEED: "a deed"}
_NO_THOUGHT = "it was done by rule, so there was no prompt and no model was asked"
MOST_UNDER = 20_000
"""The newest memories under the summaries that are looked through for the words of an act."""
MOST_SHOWN = 200
"""Of those with such words, the best."""
MOST_GUARDED = 50
"""How many events before its thought what a guard did is looked for."""
_GUARD_FIELDS = frozenset(each.name for each in fields(Guard))
_TEXTS = ("agent", "outcome", "reason", "problem", "trigger", "priority", "source", "prompt")
"""Fields that are told of as the event has them."""
_FIELDS = frozenset(each.name for each in fields(Thought))


def why_did(
    log: Path, agent: str | Names, archive: Archive, n: int = 1, *, everything: bool = False
) -> Why:
    """What led to the ``n``-th last act of an agent; blocks, a second at the worst.

    ``agent``: Its name, as it stands in the log, or all that it is and was called.
    ``n``: Which act, 1 the last.
    ``everything``: Count what came to nothing as well: waiting, refused answers, thoughts that
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
    with refusing(f"The event log in {log} cannot be read", "Mend the permissions, or the disk"):
        for known, act in enumerate(_both(log, names, archive, everything), start=1):
            if known < n:
                continue
            if isinstance(act, _Unlogged):
                return _from_archive(act.memory, n, archive, names.now, act.missing)
            found = _from_log(act, n, archive, _prompt(log, act))
            return replace(found, agent=names.now, guards=_guards(log, names, act))
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
            yield _Unlogged(memory, _why_not(memory, _HOLE))
            memory = next(lived, None)
        while memory is not None and not _before(memory, record):
            memory = next(lived, None)  # the very act of that event
        logged += 1
        yield record
    while memory is not None:
        yield _Unlogged(memory, _why_not(memory, _gap(logged)))
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
    return PromptStore(log).text(str(name), int(record["seq"]))


def _numbers(act: Record) -> Sequence[int]:
    """The numbers of the memories of that event's acts; none where it does not say."""
    numbers = act.get("memories") or [act.get("memory") or 0]
    return [int(number) for number in numbers if number]


def _behind(memory: Memory, act: Record) -> bool:
    """Whether a memory is of an act behind the thought of that event."""
    if numbers := _numbers(act):
        return memory.number > max(numbers)
    return memory.time > datetime.fromisoformat(str(act["t"]))


def _before(memory: Memory, act: Record) -> bool:
    """Whether a memory is of an act before the first one of that event."""
    if numbers := _numbers(act):
        return memory.number < min(numbers)
    # Of an earlier version, or not archived: the memory is made just before the event.
    return memory.time < datetime.fromisoformat(str(act["t"])) and memory.text != act["command"]


def _guards(log: Path, names: Names, act: Record) -> tuple[Guard, ...]:
    """What was altered, refused or dropped of the answers that led to an act, oldest first."""
    found: list[Guard] = []
    seq = int(act["seq"])
    for record in newest_first(log, holding=('"kind":"guard"',), most=MOST_BYTES):
        if not seq - MOST_GUARDED < int(record["seq"]) < seq:
            if int(record["seq"]) < seq:
                break
            continue
        if record.get("agent") in names.each and record.get("cause") == act.get("cause"):
            known = {name: record[name] for name in _GUARD_FIELDS if name in record}
            found.append(Guard(**known))
    return tuple(reversed(found))


def _lived(archive: Archive) -> Iterator[Memory]:
    """The acts in an archive, newest first."""
    act = MemoryKind.ACT.value
    return memories_in(line for line in archive.backwards() if line.get("kind") == act)


def _why_not(memory: Memory, otherwise: str) -> str:
    return _NO_THOUGHT if memory.event in _BY_RULE else otherwise


def _gap(known: int) -> str:
    last = "act" if known == 1 else f"{known:,} acts"
    there = f"holds only its last {last}" if known else "holds no act of it"
    return f"The event log {there}, as far as it is read: {_NOT_KNOWN}"


def _none(agent: str, known: int) -> KeepsakeError:
    if not known:
        return KeepsakeError(f"{agent} has not done anything yet", "Talk to it, or wait a while")
    acts = f"one act of {agent} is" if known == 1 else f"{known:,} acts of {agent} are"
    return KeepsakeError(f"So far back nothing is known: {acts} known", "Ask for a smaller number")


def _from_log(record: Record, nth: int, archive: Archive, prompt: str | None) -> Why:
    """What led to the act of a thought that the log tells of; blocks."""
    told, past = _thought(record), compactions(archive)
    total, number = told.total, told.memory
    missing = list(_missing(record, prompt))
    time = datetime.fromisoformat(str(record["t"]))
    texts = _edited(_texts(past, told.compaction, missing), archive, time)
    command = told.command or told.answer.strip()
    about = telling(f"{_argument(command)} {told.reason}")
    leant, window = _leant(texts, about), (told.recent + 1, total) if total else None
    return Why(
        **{name: getattr(told, name) for name in _TEXTS},
        nth=nth,
        time=time,
        seq=int(record["seq"]),
        command=command,
        cause=_one(archive, told.cause),
        act=_one(archive, number),
        recalled=tuple(_shown(told.recalled, archive, past, prompt)),
        summaries=leant,
        under=_under(archive, texts, about),
        window=window,
        cost=told,
        missing=tuple(missing),
    )


def _from_archive(memory: Memory, nth: int, archive: Archive, agent: str, missing: str) -> Why:
    """What the archive alone tells of an act; blocks."""
    past = [each for each in compactions(archive) if _stood(each, memory)]
    texts = past[-1].after if past else SummaryState()
    about = telling(f"{_argument(memory.text)} {memory.reason}")
    return Why(
        agent=agent,
        nth=nth,
        time=memory.time,
        command=memory.text,
        reason=memory.reason,
        trigger=_BY_RULE.get(memory.event, ""),
        act=memory,
        summaries=_leant(texts, about),
        under=_under(archive, texts, about),
        window=(texts.summarised + 1, memory.number - 1),
        missing=(missing,),
    )


def _thought(record: Record) -> Thought:
    """The event of a record, of whose fields an older log lacks some."""
    bare = {"agent": "", "trigger": "", "priority": "", "outcome": ""}
    known = {name: value for name, value in record.items() if name in _FIELDS and value is not None}
    names = {each.name for each in fields(Recalled)}
    found = known.get("recalled")
    entries = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    known["recalled"] = tuple(
        Recalled(**({"kind": ""} | {name: each[name] for name in names & each.keys()}))
        for each in entries
    )
    return Thought(**(bare | known))


def _missing(record: Record, prompt: str | None) -> Iterable[str]:
    if "recalled" not in record:
        yield (
            "An earlier version of Keepsake logged this act: what was recalled for it, and which "
            "summaries stood in its prompt, is not known"
        )
    if record.get("prompt") and prompt is None:
        yield "Its prompt is no longer in the event log: its file was removed"
    if record.get("outcome") == "acted" and not record.get("prompt") and not record.get("model"):
        yield "Nothing was asked: it answered by rule, from its memory, without a model"


def _stood(past: PastCompaction, act: Memory) -> bool:
    """Whether a compaction was made before an act, and had not been taken back by then."""
    before = past.time <= act.time and past.after.summarised < act.number
    return before and (past.undone is None or past.undone > act.time)


def _texts(past: Sequence[PastCompaction], number: int, missing: list[str]) -> SummaryState:
    """The summaries that a compaction left, as far as the archive has them."""
    found = next((each.after for each in past if each.number == number), None)
    if found is None:
        if number:
            missing.append(f"The archive does not hold compaction {number}, whose summaries stood")
        return SummaryState()
    return found


def _edited(texts: SummaryState, archive: Archive, time: datetime) -> SummaryState:
    """As they were edited by hand by that time."""
    stood = summaries_at(archive, time)
    return stood if texts.standing and stood.standing == texts.standing else texts


def _shown(
    found: Sequence[Recalled],
    archive: Archive,
    past: Sequence[PastCompaction],
    prompt: str | None,
) -> Iterator[PromptSource]:
    for each in found:
        text, title = "", each.title
        if each.kind == "note":
            text = _line_of(prompt, f"{title}: ")
        elif each.kind == "summary":
            if stood := next((p.after.recent for p in past if p.number == each.n), None):
                text, title = stood.text, f"memories {stood.first}-{stood.last}"
        elif (memory := _one(archive, each.n)) is not None:
            text = memory.line
        yield PromptSource(each.kind, each.n, title, each.score, each.why, text)


def _line_of(prompt: str | None, head: str) -> str:
    """What follows ``head`` in the prompt: a note may have been changed since."""
    for line in (prompt or "").splitlines():
        _, found, rest = line.partition(head)
        if found:
            return rest.strip()
    return ""


def _leant(texts: SummaryState, about: set[str]) -> tuple[Leant, ...]:
    return tuple(
        _leant_on(each, texts.standing, about)
        for each in (texts.longterm, texts.recent)
        if each is not None
    )


def _leant_on(summary: Summary, compaction: int, about: set[str]) -> Leant:
    pieces = (piece for line in summary.text.splitlines() for piece in sentences(line))
    told = tuple(each for each in pieces if about & telling(each))
    return Leant(
        tier=summary.tier.value,
        compaction=compaction,
        first=summary.first,
        last=summary.last,
        model=summary.model,
        text=summary.text,
        told=told,
    )


def _under(archive: Archive, texts: SummaryState, about: set[str]) -> tuple[Under, ...]:
    """The memories under both summaries that share words with the act; rare words weigh more."""
    covered = [each for each in (texts.longterm, texts.recent) if each is not None]
    if not covered or not about:
        return ()
    last = max(each.last for each in covered)
    first = max(min(each.first for each in covered), last - MOST_UNDER + 1)
    shared = [(each, about & telling(each.text)) for each in _read(archive, first, last)]
    spread = Counter(word for _, found in shared for word in found)
    weights = {word: 1.0 / math.log2(1 + count) for word, count in spread.items()}
    found = [
        Under(
            memory,
            _written(memory.text, sorted(common, key=lambda word: (-weights[word], word))),
            round(sum(weights[word] for word in common), 4),
        )
        for memory, common in shared
        if common
    ]
    found.sort(key=lambda each: (-each.weight, -each.memory.number))
    return tuple(found[:MOST_SHOWN])


def _written(text: str, stems: Iterable[str]) -> tuple[str, ...]:
    """The words of ``text`` that have these stems, in the order of the stems."""
    found: dict[str, str] = {}
    for word in words(text):
        found.setdefault(stem(word), word.casefold())
    return tuple(found.get(each, each) for each in stems)


def _argument(command: str) -> str:
    """A command without its verb, which says nothing of what it is about."""
    return command.partition(" ")[2]


def _one(archive: Archive, number: int) -> Memory | None:
    return next(iter(_read(archive, number, number)), None) if number > 0 else None


def _read(archive: Archive, first: int, last: int) -> list[Memory]:
    return archive.read(first, last) if 0 < first <= last else []
