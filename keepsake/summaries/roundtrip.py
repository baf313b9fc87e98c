"""Can what was compacted still be told? Questions with known answers, before and after.

A question is a sentence of one memory with a number, a name or a rare word taken out. Nothing in
it depends on a language; where words are not parted by blanks, fewer questions are found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.verdicts import Rate, RoundtripQuestion
from keepsake.language.perception import for_prompt
from keepsake.summaries.lines import spoken

GAP = "___"
"""In a question, where the answer was."""
_REACH = 6
"""Words on each side of the gap that a question shows."""
_LEAST_BESIDE = 2
"""Words of the question that stand beside an answer."""
_LEAST_WORD, _STEM = 4, 6
_WORD = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"”’')\]]*\s*|[\"“”\n]+")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question that could be asked, and how good it is."""

    question: RoundtripQuestion
    value: float


def draw(memories: Sequence[Memory], most: int = 8) -> tuple[RoundtripQuestion, ...]:
    """Questions with known answers from what ``memories`` tell; the same ones each time.

    Args:
        memories: What is about to be summarised, oldest first.
        most: How many questions at most, spread over all of ``memories``.

    Returns:
        In the order of the memories; fewer than ``most``, or none, if they tell too little.
    """
    texts = [_told(memory) for memory in memories]
    spread = Counter(term for text in set(texts) for term in _terms(text))
    both = zip(memories, texts, strict=True)
    found = [each for memory, text in both for each in _candidates(memory, text, spread)]
    return tuple(sorted(_spread_out(found, memories, most), key=lambda each: each.number))


def answered(question: RoundtripQuestion, texts: Iterable[str]) -> bool:
    """Whether one sentence of ``texts`` holds the answer, and two words of the question.

    One of the two may be the name of who said it.
    """
    answer, speaker, around = _asked(question)
    least = min(_LEAST_BESIDE, len(around))
    for terms in (terms for text in texts for terms in _by_sentence(text) if answer <= terms):
        beside = len(around & terms)
        if beside and beside + bool(speaker & terms) >= least:
            return True
    return False


def rate(
    questions: Sequence[RoundtripQuestion],
    visible: Sequence[str],
    search: Callable[[str], Sequence[str] | None] | None,
) -> Rate:
    """How many of ``questions`` the prompt answers, and how many with recall beside it.

    Args:
        questions: Those of one compaction.
        visible: What the prompt shows.
        search: Gives the texts that recall finds for a question, None if it could not search;
            called for those that the prompt does not answer. Blocks as it does.
    """
    open_ones = [question for question in questions if not answered(question, visible)]
    prompt = len(questions) - len(open_ones)
    if search is None:
        return Rate(len(questions), prompt)
    recalled = prompt
    for question in open_ones:
        texts = search(question.text)
        if texts is None:
            return Rate(len(questions), prompt)
        recalled += answered(question, texts)
    return Rate(len(questions), prompt, recalled)


def _told(memory: Memory) -> str:
    """What somebody says in a memory, the agent included; empty if nobody speaks."""
    if memory.is_stock or memory.kind is MemoryKind.RESULT:
        return ""
    if memory.kind is MemoryKind.ACT:
        return for_prompt(spoken(memory)[0])
    _, quote, said = for_prompt(memory.told).partition('"')
    return said.rpartition('"')[0] or said if quote else ""


def _candidates(memory: Memory, text: str, spread: Counter[str]) -> Iterator[_Candidate]:
    """The questions that one memory allows."""
    speaker = f"{memory.source}: " if memory.source else ""
    for sentence in filter(None, _SENTENCE.split(text)):
        matches = list(_WORD.finditer(sentence))
        for place, match in enumerate(matches):
            worth = _worth(match[0], place)
            (term,) = _terms(match[0]) or {""}
            if not worth or not term or spread[term] > 1:
                continue
            near = matches[max(place - _REACH, 0) : place + _REACH + 1]
            words = [_terms(each[0]) for each in near]
            around = frozenset[str]().union(*words) - {term}
            if len(around) < _LEAST_BESIDE or sum(term in each for each in words) > 1:
                continue
            before, after = sentence[near[0].start() : match.start()], sentence[match.end() :]
            question = f"{speaker}{before}{GAP}{after[: near[-1].end() - match.end()]}"
            rare = sum(1 / spread[each] for each in around if spread[each])
            asked = RoundtripQuestion(question, match[0], memory.number)
            yield _Candidate(asked, worth + min(rare, 3.0))


def _worth(word: str, place: int) -> float:
    """How good an answer a word is: a number, a name, another long word; 0 for none."""
    if word[0].isdigit():
        return 2.5
    if place and word[0].isupper() and len(word) > 1:
        return 3.0
    return 1.0 if len(word) > _STEM else 0.0


def _spread_out(
    found: Sequence[_Candidate], memories: Sequence[Memory], most: int
) -> list[RoundtripQuestion]:
    """The best of each stretch of the memories, then the best of the rest; none twice."""
    if not found:
        return []
    texts = {memory.number: memory.line for memory in memories}
    first, length = memories[0].number, memories[-1].number - memories[0].number + 1
    ranked = sorted(found, key=lambda each: (-each.value, each.question.number, each.question.text))
    chosen: dict[int, RoundtripQuestion] = {}
    stretches: set[int] = set()
    for everywhere in (False, True):
        for question in (each.question for each in ranked):
            stretch = (question.number - first) * most // length
            asked = {each.answer for each in chosen.values()}
            if len(chosen) == most or question.number in chosen or question.answer in asked:
                continue
            # For odd text: its own memory answers it.
            if (everywhere or stretch not in stretches) and answered(
                question, [texts[question.number]]
            ):
                stretches.add(stretch)
                chosen[question.number] = question
    return list(chosen.values())


@lru_cache(maxsize=256)
def _asked(question: RoundtripQuestion) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The terms of the answer, of who spoke, and of what is asked."""
    # ``Tom: …``, or in an earlier version ``Tom said to me, "…"``.
    speaker, said = next(
        (
            (before, after)
            for before, sign, after in map(question.text.partition, (', "', ": "))
            if sign and GAP in after
        ),
        ("", question.text),
    )
    answer = _terms(question.answer)
    return answer, _terms(speaker) - answer, _terms(said) - answer


@lru_cache(maxsize=4096)
def _by_sentence(text: str) -> tuple[frozenset[str], ...]:
    return tuple(_terms(part) for part in _SENTENCE.split(text) if part)


def _terms(text: str) -> frozenset[str]:
    """The beginnings of the longer words of ``text``, of its names and its numbers."""
    return frozenset(
        word.casefold()[:_STEM]
        for word in _WORD.findall(text)
        if len(word) >= _LEAST_WORD - word[0].isupper() or word[0].isdigit()
    )
