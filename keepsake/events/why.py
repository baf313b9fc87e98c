"""Why an agent did what it did: one act, with all that led to it, from the archive and the log.

The archive has the acts and the words. The event log knows the thought: what set it off, what was
recalled for it, which summaries it was shown, and what it cost. What neither knows any more is said
so, never guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from keepsake.archive.history import PastCompaction, compactions, summaries_at
from keepsake.archive.log import Archive
from keepsake.archive.records import (
    COURTESY,
    HEARSAY,
    SCENE,
    Memory,
    MemoryKind,
    Summary,
    memories_in,
)
from keepsake.archive.tier_lines import SummaryState
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.prompts import PromptStore
from keepsake.events.reader import newest_first
from keepsake.events.types import Guard, Recalled, Thought
from keepsake.json_lines import Record
from keepsake.language.heard import DEED
from keepsake.language.words import sentences, stem, telling, words

MOST_BYTES = 64_000_000
"""How far the log is read back, from its end: four whole files, a second or so."""
MOST_BACK = 1000
"""The farthest act that can be asked for."""
MOST_UNDER = 20_000
"""The newest memories under the summaries that are looked through for the words of an act."""
MOST_SHOWN = 200
"""Of those with such words, the best."""
MOST_GUARDED = 50
"""How many events before its thought what a guard did is looked for."""
_NOT_LOGGED = (
    "The event log does not hold this act, as far as it is read: what set it off, what was "
    "recalled for it and what it cost is not known. The summaries are those of its time"
)
_BY_RULE = {SCENE: "its ordinary day", HEARSAY: "word that it passed on", DEED: "a deed"}
_ASKED_NOBODY = _BY_RULE.keys() | {COURTESY}
"""The ``event`` of acts by rule; a courtesy alone has a thought, which says what set it off."""
_NO_THOUGHT = "It was done by rule, so there was no prompt and no model was asked"


@dataclass(frozen=True, slots=True)
class PromptSource:
    """Something that was looked up and put into a prompt."""

    kind: str
    """``memory``, ``summary``, ``note``, ``called back``."""
    n: int
    """The memory's number; of a summary that of its compaction; 0 for a note."""
    title: str
    """Of a note; of a summary which memories it covers, as ``memories 1-7``."""
    score: float
    """How well it answered; 0 for what was called back."""
    why: str
    """The parts of the score, in words."""
    text: str
    """Its words; empty if they are nowhere any more."""


@dataclass(frozen=True, slots=True)
class SummaryBasis:
    """A summary that was in a prompt."""

    tier: str
    """``longterm`` or ``recent``."""
    compaction: int
    """Which compaction wrote it, or kept it."""
    first: int
    last: int
    model: str
    """Who wrote it."""
    text: str
    told: tuple[str, ...]
    """Its sentences that share words with the act, in their order."""


@dataclass(frozen=True, slots=True)
class MemoryBasis:
    """A raw memory under the summaries that shares words with an act."""

    memory: Memory
    shared: tuple[str, ...]
    """The words that they share, the rarest first."""
    weight: float
    """How rare these are together; only comparable within one act."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """One act of an agent, and what led to it."""

    agent: str
    nth: int
    """Which of its last acts: 1 the very last."""
    time: datetime
    command: str
    """What it did; the raw answer if that was refused."""
    reason: str
    """The private reason that it gave."""
    seq: int = 0
    """Number of its event in the log; 0 if the log has none."""
    outcome: str = "acted"
    """What came of the thought, as the event has it."""
    problem: str = ""
    """Why it was refused; empty if it was not."""
    trigger: str = ""
    """What set it off; empty if that is not known."""
    priority: str = ""
    """Its place in the model queue."""
    source: str = ""
    """Who caused it; empty for nobody."""
    cause: Memory | None = None
    """The memory that set it off; None if none did, or the log does not say."""
    act: Memory | None = None
    """The memory of the act; None for none."""
    recalled: tuple[PromptSource, ...] = ()
    """What was recalled for it, and was in the prompt."""
    summaries: tuple[SummaryBasis, ...] = ()
    """The summaries in the prompt, long-term first."""
    under: tuple[MemoryBasis, ...] = ()
    """Raw memories under these that share words with the act, the most telling first."""
    window: tuple[int, int] | None = None
    """First and last memory of the window; None if that is not known."""
    cost: Thought | None = None
    """The event, which says what it cost; None if the log has none."""
    prompt: str = ""
    """The prompt's hash; empty for none."""
    guards: tuple[Guard, ...] = ()
    """What was altered, refused or dropped of its answers."""
    missing: tuple[str, ...] = ()
    """What is not known any more, and why, a sentence each."""


def why_did(
    log: Path,
    archive: Archive,
    agent: str,
    agent_id: int,
    n: int = 1,
    *,
    everything: bool = False,
) -> Why:
    """What led to the ``n``-th last act of an agent; blocks, a second at the worst.

    ``agent``: Its name.
    ``agent_id``: Its id in the log.
    ``n``: Which act, 1 the last.
    ``everything``: Count what came to nothing as well: waiting, refused answers, thoughts that
    were not answered; then only what the log tells of counts.

    Raises:
        KeepsakeError: There is no such act, or the log cannot be read; says why.
    """
    if not 1 <= n <= MOST_BACK:
        raise KeepsakeError(
            f"{n} names no act: they are counted back from the last one, which is 1",
            f"Ask for 1 to {MOST_BACK}",
        )
    with refusing(f"The event log in {log} cannot be read", "Mend the permissions, or the disk"):
        thoughts = newest_first(log, kind="thought", agent_id=agent_id, most=MOST_BYTES)
        found: list[Record | Memory]
        if everything:
            found = list(islice(thoughts, n))
            act = None
        else:
            acts = list(islice(_acts(archive), n))
            act = acts[-1] if len(acts) == n else None
            thought = None if act is None or act.event in _BY_RULE else _thought_of(act, thoughts)
            found = [*acts] if thought is None else [thought] * n
        if len(found) < n:
            raise _none(agent, len(found))
        record = found[-1]
        if isinstance(record, Memory):
            return _from_archive(record, n, archive, agent)
        prompt = _prompt(log, record)
        told = _from_log(record, act, archive, prompt)
        guards = _guards(log, agent_id, record)
    return Why(agent=agent, nth=n, guards=guards, **told)


def _acts(archive: Archive) -> Iterator[Memory]:
    """The acts in an archive, newest first."""
    act = MemoryKind.ACT.value
    return memories_in(line for line in archive.backwards() if line.get("kind") == act)


def _thought_of(act: Memory, thoughts: Iterable[Record]) -> Record | None:
    """The thought that led to an act; None where the log does not hold it."""
    for record in thoughts:
        numbers = _numbers(record)
        if act.number in numbers:
            return record
        if numbers and max(numbers) < act.number:
            break
    return None


def _numbers(thought: Record) -> Sequence[int]:
    """The numbers of the memories of a thought's acts."""
    numbers = thought.get("memories") or [thought.get("memory") or 0]
    return [int(number) for number in numbers if number]


def _prompt(log: Path, record: Record) -> str | None:
    name = record.get("prompt")
    return PromptStore(log).text(str(name), int(record["seq"])) if name else None


def _guards(log: Path, agent_id: int, act: Record) -> tuple[Guard, ...]:
    """What was altered, refused or dropped of the answers that led to an act, oldest first."""
    found: list[Guard] = []
    seq = int(act["seq"])
    for record in newest_first(log, kind=Guard.kind, agent_id=agent_id, most=MOST_BYTES):
        if int(record["seq"]) <= seq - MOST_GUARDED:
            break
        if int(record["seq"]) < seq and record.get("cause") == act.get("cause"):
            found.append(_event(Guard, record))
    return tuple(reversed(found))


def _none(agent: str, known: int) -> KeepsakeError:
    if not known:
        return KeepsakeError(f"{agent} has not done anything yet", "Talk to it, or wait a while")
    acts = f"one act of {agent} is" if known == 1 else f"{known:,} acts of {agent} are"
    return KeepsakeError(f"So far back nothing is known: {acts} known", "Ask for a smaller number")


def _from_log(
    record: Record, act: Memory | None, archive: Archive, prompt: str | None
) -> dict[str, Any]:
    """What led to the act of a thought that the log tells of; blocks."""
    found = record.get("recalled")
    entries = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    recalled = tuple(_event(Recalled, each) for each in entries)
    told: Thought = _event(Thought, record | {"recalled": recalled})
    past, missing = compactions(archive), list(_missing(record, prompt))
    time = datetime.fromisoformat(str(record["t"]))
    texts = _edited(_texts(past, told.compaction, missing), archive, time)
    if act is None:
        act = _one(archive, told.memory)
    command = act.text if act is not None else told.command or told.answer.strip()
    about = telling(f"{_argument(command)} {told.reason}")
    same = ("outcome", "reason", "problem", "trigger", "priority", "source", "prompt")
    return {name: getattr(told, name) for name in same} | {
        "time": time,
        "seq": int(record["seq"]),
        "command": command,
        "cause": _one(archive, told.cause),
        "act": act,
        "recalled": tuple(_shown(told.recalled, archive, past, prompt)),
        "summaries": _summaries(texts, about),
        "under": _under(archive, texts, about),
        "window": (told.recent + 1, told.total) if told.total else None,
        "cost": told,
        "missing": tuple(missing),
    }


def _from_archive(memory: Memory, nth: int, archive: Archive, agent: str) -> Why:
    """What the archive alone tells of an act; blocks."""
    past = [each for each in compactions(archive) if _was_current(each, memory)]
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
        summaries=_summaries(texts, about),
        under=_under(archive, texts, about),
        window=(texts.summarised + 1, memory.number - 1),
        missing=(_NO_THOUGHT if memory.event in _ASKED_NOBODY else _NOT_LOGGED,),
    )


def _event[T](kind: type[T], record: Record) -> T:
    """The event of a record, of whose fields another version lacks or adds some."""
    empty = {"agent": "", "trigger": "", "priority": "", "outcome": "", "kind": ""}
    empty |= {"task": "", "op": "", "before": "", "reason": ""}
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    known = {name: value for name, value in record.items() if value is not None}
    return kind(**{name: value for name, value in (empty | known).items() if name in names})


def _missing(record: Record, prompt: str | None) -> Iterable[str]:
    if record.get("prompt") and prompt is None:
        yield "Its prompt is no longer in the event log: its file was removed"
    if record.get("outcome") == "acted" and not record.get("prompt") and not record.get("model"):
        yield "Nothing was asked: it answered by rule, from its memory, without a model"


def _was_current(past: PastCompaction, act: Memory) -> bool:
    """Whether a compaction was made before an act, and had not been taken back by then."""
    before = past.time <= act.time and past.after.summarised < act.number
    return before and (past.undone is None or past.undone > act.time)


def _texts(past: Sequence[PastCompaction], number: int, missing: list[str]) -> SummaryState:
    """The summaries that a compaction left, as far as the archive has them."""
    found = next((each.after for each in past if each.number == number), None)
    if found is None:
        if number:
            missing.append(f"The archive does not hold compaction {number}, whose summaries it had")
        return SummaryState()
    return found


def _edited(texts: SummaryState, archive: Archive, time: datetime) -> SummaryState:
    """As they were edited by hand by that time."""
    then = summaries_at(archive, time)
    return then if texts.standing and then.standing == texts.standing else texts


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
            if summary := next((p.after.recent for p in past if p.number == each.n), None):
                text, title = summary.text, f"memories {summary.first}-{summary.last}"
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


def _summaries(texts: SummaryState, about: set[str]) -> tuple[SummaryBasis, ...]:
    return tuple(
        _summary(each, texts.standing, about)
        for each in (texts.longterm, texts.recent)
        if each is not None
    )


def _summary(summary: Summary, compaction: int, about: set[str]) -> SummaryBasis:
    pieces = (piece for line in summary.text.splitlines() for piece in sentences(line))
    told = tuple(each for each in pieces if about & telling(each))
    first, last, model = summary.first, summary.last, summary.model
    return SummaryBasis(summary.tier.value, compaction, first, last, model, summary.text, told)


def _under(archive: Archive, texts: SummaryState, about: set[str]) -> tuple[MemoryBasis, ...]:
    """The memories under both summaries that share words with the act; rare words weigh more."""
    covered = [each for each in (texts.longterm, texts.recent) if each is not None]
    if not covered or not about:
        return ()
    last = max(each.last for each in covered)
    first = max(min(each.first for each in covered), last - MOST_UNDER + 1)
    shared = [(each, about & telling(each.text)) for each in archive.read(first, last)]
    spread = Counter(word for _, found in shared for word in found)
    weights = {word: 1.0 / math.log2(1 + count) for word, count in spread.items()}
    found = [
        MemoryBasis(
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
    return next(iter(archive.read(number, number)), None) if number > 0 else None
