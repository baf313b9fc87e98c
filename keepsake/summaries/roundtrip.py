"""Can what was compacted still be told? Questions with known answers, before and after."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.details import counts, details, numbers
from keepsake.language.perception import for_prompt
from keepsake.language.words import COMMON_WORDS, root, words
from keepsake.summaries.retelling import ToldSentence, retell
from keepsake.summaries.survival import split_sentences

GAP = "___"
"""Stands in a question where the answer was."""

_WORD = re.compile(r"\w")
_REACH = 6
"""Words on each side of the gap that a question shows."""
_LEAST_CONTEXT = 2
_NAME, _NUMBER, _OBJECT = 3.0, 2.5, 1.5
"""How good an answer each is."""
_OBJECT_AT = re.compile(
    r"\b(?:a|an|the|my|your|his|her|our|their)\s+(?:[a-z]{3,}\s+)?(?P<noun>[a-z]{4,})"
    r"(?=[.,;!?]|\s+(?:of|in|on|at|by|for|from|to|with|under|over|behind|and|or|that|which|is|was"
    r"|are|were|has|had|has|somewhere|here|there|if|when|but)\b|$)"
)


@dataclass(frozen=True, slots=True)
class RoundtripQuestion:
    """A question that one memory answers."""

    text: str  # the question, in words that a search can use
    answer: str  # the word or words that answer it
    number: int


@dataclass(frozen=True, slots=True)
class Rate:
    """How many questions can still be answered after a compaction."""

    asked: int  # questions that were drawn
    prompt: int  # those that the prompt alone answers
    # those that prompt and recall together answer; None if recall was not asked
    recalled: int | None = None

    def to_record(self) -> dict[str, Any]:
        """Part of an archive line."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Rate:
        """Read it back."""
        recalled = record.get("recalled")
        known = None if recalled is None else int(recalled)
        return cls(int(record["asked"]), int(record["prompt"]), known)


type _Marks = set[int | ToldSentence | frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question that could be asked, and how good it is."""

    question: RoundtripQuestion
    told: ToldSentence
    context: frozenset[str]
    keys: frozenset[str]
    value: float


def draw(memories: Sequence[Memory], most: int = 8) -> tuple[RoundtripQuestion, ...]:
    """Questions with known answers from what ``memories`` tell; the same ones each time.

    A sentence that somebody said, with a name, a number or a thing taken out. Left out are
    answers that the rest of the question gives away, that half the memories hold, or that
    another memory would give otherwise. They are spread over the whole of ``memories``.

    ``memories``: What is about to be summarised, oldest first.

    Returns:
        In the order of the memories; fewer than ``most``, or none, if they tell too little.
    """
    # Told five times in the same words, it is still one thing.
    terms = [_terms(text) for text in dict.fromkeys(memory.text for memory in memories)]
    spread = Counter(term for each in terms for term in each)
    found = [
        candidate
        for memory in memories
        for told in _sentences(memory)
        for candidate in _candidates(memory, told, spread, len(memories))
    ]
    good = [each for each in found if not _ambiguous(each, terms)]
    return tuple(sorted(_spread_out(good, memories, most), key=lambda q: q.number))


def answered(question: RoundtripQuestion, texts: Iterable[str]) -> bool:
    """Whether one sentence of ``texts`` holds the answer, and enough of what it is about.

    Two words of the question must stand beside the answer; for a name or a thing, one of
    them may be who said it.
    """
    answer, context, speaker = _asked(question)
    for terms in (terms for text in texts for terms in _by_sentence(text)):
        beside = len(context & terms) if answer <= terms else 0
        if beside and beside + bool(speaker & terms) >= min(2, len(context)):
            return True
    return False


def rate(
    questions: Sequence[RoundtripQuestion],
    visible: Sequence[str],
    search: Callable[[str], Sequence[str] | None] | None,
) -> Rate:
    """How many of ``questions`` the prompt answers, and how many with recall beside it.

    ``search``: Gives the texts that recall finds for a question, None if it could not
    search; called for those that the prompt does not answer. Blocks as it does.
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


@lru_cache(maxsize=256)
def _asked(question: RoundtripQuestion) -> tuple[frozenset[str], ...]:
    """The terms of its answer, of what it is about, and of who may vouch for it."""
    speaker, quote, said = question.text.partition(', "')
    if not quote:
        speaker, said = "", question.text
    answer = _terms(question.answer)
    who = frozenset[str]() if numbers(question.answer) else _terms(speaker) - answer
    return answer, _terms(said) - answer, who


def _sentences(memory: Memory) -> list[ToldSentence]:
    """What somebody says in ``memory``; nothing of what a tool or a look brought."""
    text = for_prompt(memory.told)
    if memory.kind is MemoryKind.RESULT or memory.is_stock:
        return []
    if memory.kind is MemoryKind.ACT:
        text = f"~I> {text}"
    return [told for told in retell(text, "I") if told.speaker]


def _candidates(
    memory: Memory, told: ToldSentence, spread: Counter[str], count: int
) -> Iterator[_Candidate]:
    """The questions that one sentence allows."""
    for answer, worth, common in _answers(told.words):
        keys = _terms(answer)
        often = max((spread[key] for key in keys), default=0)
        # For odd text: the answer is no word of the memory as a whole.
        if not often or (often > max(3, count // 20) and not common):
            continue
        question = _cloze(told.speaker, told.words, answer)
        if question is None or keys & _terms(question):
            continue
        context = _terms(question.partition(', "')[2])
        if len(context) < _LEAST_CONTEXT:
            continue
        rare = sum(1 / spread[term] for term in context if spread[term])
        value = worth + min(rare, 3.0) + 1 / often
        asked = RoundtripQuestion(question, answer, memory.number)
        yield _Candidate(asked, told, context, keys, value)


def _answers(said: str) -> Iterator[tuple[str, float, bool]]:
    """What can be asked for in a sentence, its worth, and whether it may be a common word."""
    for found in details([said]).values():
        yield found.shown, _NUMBER if found.number else _NAME, found.number
    for match in _OBJECT_AT.finditer(said):
        if match["noun"] not in COMMON_WORDS:
            yield match["noun"], _OBJECT, False


def _cloze(speaker: str, said: str, answer: str) -> str | None:
    """``Tom said to me, "My sister ___ keeps bees …"``; None if the answer stands there twice."""
    parts = _without(answer, said)
    if len(parts) != 2:
        return None
    before, after = parts[0].split(), parts[1].split()
    left = ["…", *before[-_REACH:]] if len(before) > _REACH else before
    right = [*after[:_REACH], "…"] if len(after) > _REACH else after
    glue = "" if parts[1][:1] and not parts[1][0].isspace() else " "
    text = f"{' '.join(left)} {GAP}{glue}{' '.join(right)}".strip()
    return f'{speaker}, "{text}"'


def _without(answer: str, said: str) -> list[str]:
    """What stands before, between and after the places where the answer stands as words."""
    at = said.find(answer)
    if at < 0 or said.find(answer, at + 1) >= 0:
        return re.split(rf"(?<!\w){re.escape(answer)}(?!\w)", said)
    # Mostly it stands there once, and no expression need be compiled for it.
    parts = [said[:at], said[at + len(answer) :]]
    within = _WORD.match(parts[0][-1:]) or _WORD.match(parts[1])
    return [said] if within else parts


def _ambiguous(candidate: _Candidate, terms: Sequence[frozenset[str]]) -> bool:
    """Whether another memory would give another answer to it."""
    return any(candidate.context <= each and not candidate.keys <= each for each in terms)


def _spread_out(
    found: Sequence[_Candidate], memories: Sequence[Memory], most: int
) -> list[RoundtripQuestion]:
    """The best of each stretch of the memories, then the best of the rest.

    No memory, no sentence and no answer is asked for twice, and nothing that its own memory
    does not answer: odd text may fall into sentences otherwise than it was told.
    """
    if not found or most < 1:
        return []
    first, length = memories[0].number, memories[-1].number - memories[0].number + 1
    texts = {memory.number: memory.text for memory in memories}
    ranked = sorted(found, key=lambda c: (-c.value, c.question.number, c.question.text))
    chosen: list[RoundtripQuestion] = []
    stretches: set[int] = set()
    taken: _Marks = set()
    for everywhere in (False, True):
        for each in ranked:
            stretch = (each.question.number - first) * most // length
            marks: _Marks = {each.question.number, each.told, each.keys}
            if len(chosen) == most or not taken.isdisjoint(marks):
                continue
            if (everywhere or stretch not in stretches) and answered(
                each.question, [texts[each.question.number]]
            ):
                stretches.add(stretch)
                taken |= marks
                chosen.append(each.question)
    return chosen


@lru_cache(maxsize=4096)
def _by_sentence(text: str) -> tuple[frozenset[str], ...]:
    """The terms of each sentence of ``text``, those inside quotes apart."""
    return tuple(_terms(part) for part in split_sentences(text))


def _terms(text: str) -> frozenset[str]:
    """The telling stems and the numbers of ``text``."""
    low = [word.casefold() for word in words(text)]
    stems = {root(w) for w in low if w not in COMMON_WORDS and not counts(w)}
    if any(map(counts, low)):
        stems |= {each.keys[0] for each in numbers(text)}
    return frozenset(stems)
