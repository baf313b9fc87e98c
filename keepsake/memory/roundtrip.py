"""Can what was compacted still be told? Questions with known answers, before and after.

A question is a sentence of one memory with a number, a name or a rare word taken out. Nothing in
it depends on a language; where words are not parted by blanks, fewer questions are found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from keepsake.archive.records import Memory
from keepsake.archive.verdicts import Rate, RoundtripQuestion
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import for_prompt
from keepsake.language.words import SENTENCE_GAP

GAP = "___"
"""In a question, where the answer was."""
_REACH, _LEAST_BESIDE = 6, 2
"""Words on each side of the gap that a question shows, and those that stand beside an answer."""
_LEAST_WORD, _STEM = 4, 6
_WORD = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_QUOTES = str.maketrans(dict.fromkeys('"“”', "\n"))


def draw(memories: Sequence[Memory], most: int = 8) -> tuple[RoundtripQuestion, ...]:
    """Questions with known answers from what ``memories`` tell; the same ones each time.

    Args:
        memories: What is about to be summarised, oldest first.
        most: How many questions at most, spread over all of ``memories``.

    Returns:
        In the order of the memories; fewer than ``most``, or none, if they tell too little.
    """
    spread = Counter(term for text in set(map(_told, memories)) for term in _terms(text))
    found = [each for memory in memories for each in _candidates(memory, spread)]
    found.sort(key=lambda each: (-each[0], each[1].number, each[1].text))
    texts = {memory.number: memory.line for memory in memories}
    # For odd text: its own memory answers it.
    ranked = [asked for _, asked in found if answered(asked, [texts[asked.number]])]
    first = memories[0].number if memories else 0
    length = memories[-1].number - first + 1 if memories else 1
    # The best of each stretch of the memories, then the best of the rest; none twice.
    best = {(each.number - first) * most // length: each for each in reversed(ranked)}
    chosen: dict[int, RoundtripQuestion] = {}
    for question in (*best.values(), *ranked):
        new = question.answer not in {each.answer for each in chosen.values()}
        if len(chosen) < most and new:
            chosen.setdefault(question.number, question)
    return tuple(chosen[number] for number in sorted(chosen))


def answered(question: RoundtripQuestion, texts: Iterable[str]) -> bool:
    """Whether one sentence of ``texts`` holds the answer, and two words of the question."""
    answer = _terms(question.answer)
    around = _terms(question.text) - answer
    sentences = (terms for text in texts for terms in _by_sentence(text) if answer <= terms)
    least = min(_LEAST_BESIDE, len(around)) or 1
    return any(len(around & terms) >= least for terms in sentences)


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
    prompt = recalled = len(questions) - len(open_ones)
    for question in open_ones:
        texts = search(question.text) if search else None
        if texts is None:
            return Rate(len(questions), prompt)
        recalled += answered(question, texts)
    return Rate(len(questions), prompt, recalled if search else None)


def _told(memory: Memory) -> str:
    """What somebody says in a memory, the agent included; empty if nobody speaks."""
    said = None if memory.is_stock else spoken(memory) or heard(memory)
    return for_prompt(said.words) if said else ""


def _candidates(memory: Memory, spread: Counter[str]) -> Iterator[tuple[float, RoundtripQuestion]]:
    """The questions that one memory allows, each with how good it is."""
    speaker = f"{memory.source}: " if memory.source else ""
    for sentence in _sentences(_told(memory)):
        matches = list(_WORD.finditer(sentence))
        for place, match in enumerate(matches):
            word = match[0]
            named = place > 0 and word[0].isupper() and len(word) > 1
            worth = 2.5 if word[0].isdigit() else 3.0 if named else float(len(word) > _STEM)
            (term,) = _terms(word) or {""}
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
            asked = RoundtripQuestion(question, word, memory.number)
            yield worth + min(rare, 3.0), asked


@lru_cache(maxsize=4096)
def _by_sentence(text: str) -> tuple[frozenset[str], ...]:
    return tuple(map(_terms, _sentences(text)))


def _sentences(text: str) -> list[str]:
    """The sentences of a text, what is quoted apart from what is not."""
    lines = text.translate(_QUOTES).splitlines()
    return [part for line in lines for part in SENTENCE_GAP.split(line) if part]


def _terms(text: str) -> frozenset[str]:
    """The beginnings of the longer words of ``text``, of its names and its numbers."""
    return frozenset(
        word.casefold()[:_STEM]
        for word in _WORD.findall(text)
        if len(word) >= _LEAST_WORD - word[0].isupper() or word[0].isdigit()
    )
