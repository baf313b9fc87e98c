"""Why an agent did what it did: one act, with all that led to it, from the log and the archive.

The event log knows the thought: what set it off, what was recalled for it, how far its
summaries went, and what it cost. The archive knows the words. What neither knows any more is
said so, never guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from game.mind.archive.history import PastCompaction, Texts, compactions
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind, Summary
from game.mind.events.reasons import Leant, PromptSource, ThoughtCost, Under, Why
from game.mind.json_lines import Record
from game.mind.language.words import sentences, stem, telling, words

MOST_UNDER = 20_000
"""The newest memories under the summaries that are looked through for the words of an act."""
MOST_SHOWN = 200
"""Of those with such words, the best."""
_LOOK_BACK = 60
"""Memories before an act among which is what set it off."""
_TEXTS = ("agent", "outcome", "reason", "problem", "trigger", "priority", "source", "prompt")
"""Fields that are told of as the record has them."""
_OTHERS = ("idle", "other", "")
"""Triggers that are no one memory."""
_MOVES = ("arrival", "departure")
_TOLD = ("say", "talk", "whisper", "pose", "shout", "give", "wake")
"""What kinds of message tell of what somebody said or did."""


def from_log(record: Record, nth: int, archive: Archive, prompt: str | None) -> Why:
    """What led to the act of a thought that the log tells of; blocks."""
    told = _Record(record)
    past, total = compactions(archive), told.number("total")
    number = told.number("memory")
    missing = list(_missing(record, prompt))
    texts = _texts(past, told.number("compaction"), missing)
    command = told.text("command") or told.text("answer").strip()
    about = telling(f"{_argument(command)} {told.text('reason')}")
    recent = _read(archive, max(1, (total or number) - _LOOK_BACK), total or number)
    return Why(
        **{name: told.text(name) for name in _TEXTS},
        nth=nth,
        time=datetime.fromisoformat(told.text("t")),
        seq=told.number("seq"),
        command=command,
        cause=_cause(archive, recent, told),
        act=_one(archive, number),
        recalled=tuple(_shown(record, archive, past, prompt)),
        summaries=_leant(texts, about),
        under=_under(archive, texts, about),
        window=(told.number("recent") + 1, total) if total else None,
        cost=_cost(told, record),
        missing=tuple(missing),
    )


def from_archive(memory: Memory, nth: int, archive: Archive, agent: str, missing: str) -> Why:
    """What the archive alone tells of an act; blocks."""
    past = [each for each in compactions(archive) if _stood(each, memory)]
    texts = past[-1].after if past else Texts()
    about = telling(f"{_argument(memory.text)} {memory.reason}")
    return Why(
        agent=agent,
        nth=nth,
        time=memory.time,
        command=memory.text,
        reason=memory.reason,
        act=memory,
        summaries=_leant(texts, about),
        under=_under(archive, texts, about),
        window=(texts.summarised + 1, memory.number - 1),
        missing=(missing,),
    )


class _Record:
    """A record, of whose fields an older log may lack some."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def text(self, name: str) -> str:
        return str(self._record.get(name) or "")

    def number(self, name: str) -> int:
        value = self._record.get(name)
        return value if isinstance(value, int) else 0

    def seconds(self, name: str) -> float:
        value = self._record.get(name)
        return float(value) if isinstance(value, int | float) else 0.0


def _missing(record: Record, prompt: str | None) -> Iterable[str]:
    if "recalled" not in record:
        yield (
            "An earlier version of Keepsake logged this act: what was recalled for it, and which "
            "summaries stood in its prompt, is not known"
        )
    if record.get("prompt") and prompt is None:
        yield "Its prompt is no longer in the event log: its file was removed"


def _stood(past: PastCompaction, act: Memory) -> bool:
    """Whether a compaction was made before an act, and had not been taken back by then."""
    before = past.time <= act.time and past.after.summarised < act.number
    return before and (past.undone is None or past.undone > act.time)


def _texts(past: Sequence[PastCompaction], number: int, missing: list[str]) -> Texts:
    """The summaries that a compaction left, as far as the archive has them."""
    found = next((each.after for each in past if each.number == number), None)
    if found is None:
        if number:
            missing.append(f"The archive does not hold compaction {number}, whose summaries stood")
        return Texts()
    return found


def _cause(archive: Archive, recent: Sequence[Memory], told: _Record) -> Memory | None:
    """What set the thought off: the memory that its event names, else the newest that fits."""
    if number := told.number("cause"):
        return _one(archive, number)
    trigger, source = told.text("trigger"), told.text("source")
    if trigger in _OTHERS:
        return None
    heard = [each for each in recent if each.kind is MemoryKind.PERCEPTION]
    theirs = [each for each in heard if not source or each.source == source]
    if trigger in _MOVES:
        fitting = [each for each in theirs if each.event not in _TOLD]
    else:  # of older memories nobody knows what kind of message they were
        fitting = [each for each in theirs if each.event in _TOLD] or theirs
    return fitting[-1] if fitting else None


def _shown(
    record: Record, archive: Archive, past: Sequence[PastCompaction], prompt: str | None
) -> Iterable[PromptSource]:
    found = record.get("recalled")
    for each in found if isinstance(found, list) else ():
        if not isinstance(each, dict):
            continue
        told = _Record(each)
        kind, n, title = told.text("kind"), told.number("n"), told.text("title")
        text = ""
        if kind == "note":
            text = _line_of(prompt, f"{title}: ")
        elif kind == "summary":
            if stood := next((p.after.recent for p in past if p.number == n), None):
                text, title = stood.text, f"memories {stood.first}-{stood.last}"
        elif (memory := _one(archive, n)) is not None:
            text = memory.line
        yield PromptSource(kind, n, title, told.seconds("score"), told.text("why"), text)


def _line_of(prompt: str | None, head: str) -> str:
    """What follows ``head`` in the prompt: a note may have been changed since."""
    for line in (prompt or "").splitlines():
        _, found, rest = line.partition(head)
        if found:
            return rest.strip()
    return ""


def _leant(texts: Texts, about: set[str]) -> tuple[Leant, ...]:
    return tuple(
        _leant_on(each, texts.standing, about)
        for each in (texts.longterm, texts.recent)
        if each is not None
    )


def _leant_on(summary: Summary, compaction: int, about: set[str]) -> Leant:
    told = tuple(each for each in _pieces(summary.text) if about & telling(each))
    return Leant(
        tier=summary.tier.value,
        compaction=compaction,
        first=summary.first,
        last=summary.last,
        model=summary.model,
        text=summary.text,
        told=told,
    )


def _pieces(text: str) -> Iterable[str]:
    return (piece for line in text.splitlines() for piece in sentences(line))


def _under(archive: Archive, texts: Texts, about: set[str]) -> tuple[Under, ...]:
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


def _cost(told: _Record, record: Record) -> ThoughtCost:
    found, seed = record.get("sections"), record.get("seed")
    sections = found.items() if isinstance(found, dict) else ()
    return ThoughtCost(
        sections={str(name): int(tokens) for name, tokens in sections},
        budget=told.number("budget"),
        counted_by=told.text("counted_by"),
        prompt=told.number("prompt_tokens"),
        cached=told.number("cached_tokens"),
        completion=told.number("completion_tokens"),
        model=told.text("model"),
        seed=seed if isinstance(seed, int) else None,
        temperature=told.seconds("temperature"),
        wait=told.seconds("wait"),
        latency=told.seconds("latency"),
        attempt=told.number("attempt") or 1,
    )
