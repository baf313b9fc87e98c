"""What an agent has about a person besides the person's page: memories, and lines of summaries.

Whom a memory is about is data: who said or did it, to whom, and whom its words name. In a summary,
a sentence that names nobody goes on about whom the sentence before it names: *She draws the coast
for her daughter.* Such sentences are shown together, so that a reader sees whom they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary
from keepsake.happening import Result, Sight, addressees_of
from keepsake.language.perception import names as is_named
from keepsake.language.sourced_text import line_sentences, summary_sentences
from keepsake.tracing.texts import SegmentTexts, key_of, lines_with

MOST_MEMORIES = 10
"""The most memories about somebody that are shown; the rest is a search away."""
MOST_LOOKED = 1_000_000
"""The most memories of all agents to look through, shared equally, the newest: a tenth of a second
of one core."""


def memories_about(
    segments: Sequence[SegmentTexts],
    key: str,
    names: Sequence[str],
    known: Collection[int],
    most: int,
) -> tuple[list[Memory], int, bool]:
    """Return an agent's newest memories about somebody that their page does not have; blocks.

    Args:
        segments: What the agent's memories say.
        key: The identity of the person.
        names: Their names.
        known: The memories that the page has.
        most: The most memories to look through.

    Returns:
        The newest, how many there are, and whether all were looked through.
    """
    found: list[Memory] = []
    total = 0
    left = most
    for segment in reversed(segments):
        oldest = max(len(segment.numbers) - left, 0)
        left -= len(segment.numbers)
        for place in sorted(_places_about(segment, key, names), reverse=True):
            if place < oldest or segment.numbers[place] in known:
                continue
            if total >= MOST_MEMORIES and segment.has_happened(place):
                total += 1  # that it is about them is known without reading it
                continue
            for memory in segment.memories([place]):
                if _is_about(memory, key, names):
                    total += 1
                    found += [memory] if total <= MOST_MEMORIES else []
        if left < 0:
            break
    return found, total, left >= 0


def _places_about(segment: SegmentTexts, key: str, names: Sequence[str]) -> set[int]:
    """Return the places of the memories that have somebody's identity, or one of their names."""
    found = {*segment.places_with(key_of(key))}
    for name in filter(None, map(str.casefold, names)):
        # An apostrophe has two forms.
        lines = lines_with(segment.text, max(name.replace("’", "'").split("'"), key=len))
        found.update(place for place, line in lines if is_named(line, name))
    return found


def _is_about(memory: Memory, key: str, names: Sequence[str]) -> bool:
    """Whether somebody said or did something that is about a person; a look tells who is here."""
    if isinstance(memory.what, Sight | Result):
        return False
    people = (memory.source_id, memory.about, *(each.id for each in addressees_of(memory.what)))
    return key in people or any(is_named(memory.words or memory.text, name) for name in names)


def passages_about(
    summary: Summary, names: Sequence[str], others: Collection[str], cites: Callable[[int], bool]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the passages of a summary that are about somebody, and the memories that they tell.

    Args:
        names: The names of the person.
        others: Those of everybody else.
        cites: Whether a memory, by its number, is about the person.
    """
    passage: list[str] = []
    numbers: list[int] = []
    told = summary.cited
    for line in summary.text.splitlines():
        for sentence in line_sentences(line):
            cited = told.get(sentence, ())
            named = any(is_named(sentence, name) for name in names) or any(map(cites, cited))
            goes_on = bool(passage) and not any(is_named(sentence, name) for name in others)
            if not named and not goes_on:
                yield from _passage(passage, numbers)
            if named or goes_on:
                passage.append(sentence)
                numbers += cited
        yield from _passage(passage, numbers)


def _passage(passage: list[str], numbers: list[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield a passage that has ended, and begin a new one."""
    if passage:
        yield " ".join(passage), tuple(sorted(set(numbers)))
    passage.clear()
    numbers.clear()


def private_sentences(
    text: str, summary: Summary, whispered: Callable[[int], bool]
) -> tuple[str, ...]:
    """Return the sentences of a passage of a summary that rest on private memories.

    Empty if all do, if none does, or if the summary does not say what each of them tells.

    Args:
        whispered: Whether a memory, by its number, is private.
    """
    cited = summary.cited
    parts = [*summary_sentences(text)]
    hidden = tuple(each for each in parts if any(map(whispered, cited.get(each, ()))))
    return hidden if len(hidden) < len(parts) else ()
