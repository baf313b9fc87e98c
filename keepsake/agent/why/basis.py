"""What an act rests on that its prompt showed: recalled memories, summaries and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.archive.tiers import SummaryState
from keepsake.events.types import Recalled
from keepsake.events.values import RecalledKind
from keepsake.happening import Deed, Pose, Speech, addressees_of
from keepsake.language.perception import sentences, telling
from keepsake.memory.history import PastCompaction


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSource:
    """A memory, summary or note that was recalled and put into a prompt.

    Attributes:
        n: The memory's number, or the number of the summary's compaction; 0 for a note.
        title: The note's title; empty for other kinds.
        first: The first memory that it covers.
        last: The last memory that it covers; 0 for a note, and if that is not known.
        score: How well it matches.
        why: The parts of the score, in words.
        text: Its words; empty if they are lost.
        memory: The memory itself, if it is one and is not lost.
    """

    kind: RecalledKind
    n: int
    title: str = ""
    first: int = 0
    last: int = 0
    score: float
    why: str
    text: str = ""
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class SummaryBasis:
    """A summary that was in a prompt."""

    tier: str  # ``longterm`` or ``recent``
    compaction: int  # the compaction that wrote it, or kept it
    first: int
    last: int
    model: str  # the model that wrote it
    text: str
    # its sentences that share words with the act, those that share most first
    told: tuple[str, ...]


def source_of(
    found: Recalled, archive: Archive, past: Sequence[PastCompaction], prompt: str | None
) -> PromptSource:
    """Return what was recalled, with its words."""
    source = PromptSource(
        kind=found.kind, n=found.n, title=found.title, score=found.score, why=found.why
    )
    match found.kind:
        case RecalledKind.NOTE:  # from the prompt, because the note may have changed since
            lines = (line.partition(f"{found.title}: ") for line in (prompt or "").splitlines())
            return replace(source, text=next((rest.strip() for _, head, rest in lines if head), ""))
        case RecalledKind.SUMMARY:
            summary = next((each.after.recent for each in past if each.number == found.n), None)
            if summary is None:
                return source
            return replace(source, first=summary.first, last=summary.last, text=summary.text)
        case RecalledKind.MEMORY:
            if (memory := memory_of(archive, found.n)) is None:
                return source
            return replace(source, first=found.n, last=found.n, text=memory.line, memory=memory)


def matter_of(act: Memory) -> str:
    """Return the words that say what an act is about: without its verb, with the people's names."""
    people = (each.name for each in addressees_of(act.what))
    match act.what:
        case Speech(words=words):
            said = [words]
        case Pose(gesture=gesture):
            said = [gesture or act.text]
        case Deed(objects=objects):
            said = [*objects]
        case _:
            said = [act.text]
    return " ".join([*said, *people])


def summary_basis(texts: SummaryState, act: Memory, reason: str) -> tuple[SummaryBasis, ...]:
    """Return the summaries, long-term first, with their sentences that share words with an act.

    Sentences that share most words come first, because one name is shared by many.
    """
    about = telling(f"{matter_of(act)} {reason}")
    summaries = []
    for each in filter(None, (texts.longterm, texts.recent)):
        lines = (sentence for line in each.text.splitlines() for sentence in sentences(line))
        shared = [(len(about & telling(sentence)), sentence) for sentence in lines]
        shared.sort(key=lambda found: -found[0])
        related = tuple(sentence for number, sentence in shared if number)
        span = (each.first, each.last, each.model, each.text, related)
        summaries.append(SummaryBasis(each.tier.value, texts.standing, *span))
    return tuple(summaries)


def memory_of(archive: Archive, number: int) -> Memory | None:
    """Return one memory of an archive; None if it has none of that number."""
    return next(iter(archive.read(number, number)), None) if number > 0 else None
