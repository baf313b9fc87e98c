"""What a compaction lost of its memories, and of the summaries before it.

A compaction has two steps. Memories become a new short-term summary, and the summaries before it
become a new long-term summary. Words may be lost in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import Deed, KnownVerb, Speech, addressees_of, is_me
from keepsake.language.capitals import capitalised, folded
from keepsake.language.languages import language_of
from keepsake.language.perception import words
from keepsake.language.sourced_text import summary_sentences
from keepsake.memory.history import PastCompaction
from keepsake.tracing.content import Content, Rarity, parts_of, told_in
from keepsake.tracing.kept import Kept, Summarised, missing_in

_ORDER = (
    Kept.GONE,
    Kept.UNSURE,
    Kept.WHISPERED,
    Kept.LIKELY,
    Kept.SHORTER,
    Kept.VERBATIM,
)
"""The greatest loss first."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of a memory that was summarised.

    Attributes:
        missing: Its telling words that no summary has, as written, in order; for a memory that is
            gone or private, all of them. Telling words are all but stop words, and without the
            names of those who spoke.
        told: The sentences of the summaries that tell it, or perhaps tell it; empty if none does.
        named: Those of the missing words that are names or figures.
    """

    memory: Memory
    kept: Kept
    missing: tuple[str, ...]
    told: str = ""
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentenceLoss:
    """What became of a sentence of a summary that was written anew.

    Attributes:
        tier: The summary in which it stood before.
        text: The sentence.
        missing, told: As for a memory, in the new summary.
    """

    tier: Tier
    text: str
    kept: Kept
    missing: tuple[str, ...]
    told: str = ""


def losses(made: PastCompaction, memories: Sequence[Memory], owner: str = "") -> list[Loss]:
    """Return what became of each memory that a compaction summarised, the greatest loss first.

    Args:
        memories: Those of ``made.covered``.
        owner: The name of the agent whose memories they are.
    """
    after = [each for each in (made.after.recent, made.after.longterm) if each is not None]
    language = language_of("\n".join(each.text for each in after))
    rarity = Rarity.among((_with_people(each) for each in memories), language)
    many = len(memories)
    summaries = [(each, Summarised(each.text, many, each.cited)) for each in after]
    found = []
    for memory in memories:
        number = memory.number
        content = Content(_text_of(memory), rarity, language, people_of(memory))
        if is_private(memory):
            found.append(Loss(memory, Kept.WHISPERED, _all_of(content)))
            continue
        kept = [
            _kept(content, summary, (number,), made_of_it=each.first <= number <= each.last)
            for each, summary in summaries
        ]
        how, missing, told = max(kept, key=_leftover)
        named = tuple(_named_in(memory, missing, owner))
        found.append(Loss(memory, how, missing, told, named))
    return sorted(found, key=lambda each: _greatest_first(each, rarity, language))


def _greatest_first(loss: Loss, rarity: Rarity, language: str) -> tuple[int, int, int, float]:
    """Return how small a loss is, to sort by.

    A name or a figure that was told once is lost for good: nothing that is left leads to it. After
    these comes what tells most in rare words, its questions aside.
    """
    once = sum(
        all(rarity.counts.get(part, 0) <= 1 for part, _ in parts_of(word, language))
        for word in loss.named
    )
    told = {part for part, _ in parts_of(told_in(_text_of(loss.memory)), language)}
    missing = {part for word in loss.missing for part, _ in parts_of(word, language)}
    bits = sum(map(rarity.bits, missing & told))
    return _ORDER.index(loss.kept), _rank(loss.memory), -once, -bits


def _named_in(memory: Memory, missing: Sequence[str], owner: str) -> Iterator[str]:
    """Yield the missing names and figures that a memory tells, without those of who was there.

    Nobody can guess them, so they are the greatest loss; and most small talk has none. It has many
    numbers in words: "three of us", "eleven more".
    """
    told = told_in(_text_of(memory))
    language = language_of(told)
    there = {folded(word) for name in (owner, *people_of(memory)) for word in words(name)}
    names = {*map(folded, capitalised(told))} - there
    figures = {folded(word) for _, word in parts_of(told, language) if any(map(str.isdigit, word))}
    yield from (word for word in missing if folded(word) in names | figures)


def _rank(memory: Memory) -> int:
    """Return how little a memory tells: promises and what others told come first, sights last."""
    match memory.what:
        case Deed(verb=KnownVerb.PROMISE):
            return 0
        case Speech(words=said):
            if not told_in(said):
                return 2  # it only asks
            return 1 if memory.is_own else 0
        case Deed():
            return 3
        case _:
            return 4


def _leftover(found: tuple[Kept, tuple[str, ...], str]) -> tuple[int, int]:
    """Return how much is left of a memory, to compare what two summaries have of it."""
    kept, missing, _ = found
    return _ORDER.index(kept), -len(missing)


def people_of(memory: Memory) -> Iterator[str]:
    """Yield the names of who else said or did what a memory holds, and to whom."""
    if memory.source:
        yield memory.source
    yield from (each.name for each in addressees_of(memory.what) if not is_me(each) and each.name)


def _text_of(memory: Memory) -> str:
    return memory.words or memory.text


def _with_people(memory: Memory) -> str:
    return " ".join((*people_of(memory), _text_of(memory)))


def summary_losses(made: PastCompaction) -> list[SentenceLoss]:
    """Return what became of the sentences of the summaries before, the greatest loss first.

    A summary that the compaction left as it was is not compared.
    """
    found = list[SentenceLoss]()
    for before in (made.before.longterm, made.before.recent):
        after = before and _covering(made.after, before)
        if before is None or after is None or after.text == before.text:
            continue
        sentences = [*summary_sentences(before.text)]
        language = language_of(after.text)
        rarity = Rarity.among(sentences, language)
        now = Summarised(after.text, len(sentences), after.cited)
        for sentence in sentences:
            content = Content(sentence, rarity, language)
            numbers = before.cited.get(sentence, ())
            found.append(SentenceLoss(before.tier, sentence, *_kept(content, now, numbers)))
    return sorted(found, key=lambda each: (_ORDER.index(each.kept), -len(each.missing)))


def _kept(
    content: Content, now: Summarised, numbers: Sequence[int], *, made_of_it: bool = True
) -> tuple[Kept, tuple[str, ...], str]:
    """Return how much a summary has of a text, which telling words it lacks, and what says it.

    Args:
        numbers: Those of the memories that the text is from.
        made_of_it: Whether the summary was made from it.
    """
    kept, said = now.found(content, numbers, made_of_it=made_of_it)
    if kept is Kept.VERBATIM:
        return kept, (), said
    if kept is Kept.GONE:
        return kept, _all_of(content), ""
    return kept, missing_in(now.text, content), said


def _all_of(content: Content) -> tuple[str, ...]:
    return tuple(content.parts.values())


def _covering(state: SummaryState, before: Summary) -> Summary | None:
    """Return the summary that covers all memories of one before; None if there is none."""
    return next(
        (
            each
            for each in (state.recent, state.longterm)
            if each is not None and each.first <= before.first and before.last <= each.last
        ),
        None,
    )
