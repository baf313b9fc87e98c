"""A summary without a model: the most telling sentences, one thing a line, in order of time.

Every sentence is worth the names, numbers and new words in it that no chosen
sentence has yet, in relation to its length. The best one is taken again and
again until the space is used up (greedy maximum coverage, evaluated lazily).
What costs much and tells little sinks by itself: a room looked at five times
is new once, a greeting never. What matters counts for more, however plain its words.

What others said counts for more than what the agent said itself, which may be a model's nonsense:
an own line that only says again what somebody else said is left out.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from keepsake.books.noticing import promises, rules_in
from keepsake.compaction.key_memories import counting
from keepsake.language.details import counts
from keepsake.language.perception import shorten
from keepsake.language.words import COMMON_WORDS, stem, telling, words
from keepsake.summaries.retelling import ToldSentence, as_line, as_list, is_private, retell

_NAME, _NUMBER, _WORD = 2.5, 3.0, 1.0
_TIMES = frozenset({"half", "noon", "midnight"})
_BINDING = 2.5  # what a rule from somebody, or a promise of one's own, counts
_MOST_BINDING = 8  # of one speaker: nobody fills a summary with rules
_LENGTH_POWER = 0.75
_OVERHEAD = 12  # characters a sentence costs beside its own
_OWN = 0.6  # what own words count that promise nothing, beside those of others
_ECHO, _LEAST_ECHO = 0.6, 2
"""The share of an own line's telling words, and how many, that somebody else's sentence has."""

_PERSONAL = re.compile(
    r"\b(?:my|mine|i'm|i’m|promise\w*|secret\w*|remember\w*|because|never|always|love\w*|hate\w*"
    r"|afraid|birthday|born|named?|called|live[ds]?|tomorrow|yesterday|tonight|gave|gives?|lost"
    r"|found|hid(?:den)?|buried|owes?|marr\w+|died|brother|sister|mother|father|daughter|son)\b",
    re.I,
)
_TO_SOMEBODY = re.compile(r"\byou", re.I)
_NOISE = re.compile(
    r"^(?:you tried|i tried|exits?\b|you see\b|here:|also here|i looked|i waited|i went)"
    r"|(?:exits:|\b(?:arrives?|leaves|enters|has (?:arrived|left))\b[^,\"“]*\.?$)"
    r"|^\W*(?:hello|hi|hey|good (?:day|morning|evening|night)|welcome|thank|thanks|bye)\b"
    r"[^.!?]{0,30}[.!?\"”]*$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    told: ToldSentence
    terms: dict[str, float]
    factor: float


@dataclass(frozen=True, slots=True)
class Text:
    """A memory, or a line of an older summary."""

    text: str  # own acts as ``~Mira> say …``
    importance: int = 0  # how much it matters, 1 to 10; 0 where that is not known
    day: str = ""  # when it was, as in ``4 May``; empty where that is not known or the text says it


@dataclass(frozen=True, slots=True)
class _Placed:
    """A sentence, the text that it stands in and where in it, and what it matters."""

    told: ToldSentence
    text: int
    position: int
    matters: int


def summarize(
    texts: Sequence[str | Text],
    *,
    max_chars: int,
    own_name: str,
    weigh: Callable[[int, ToldSentence], int] = lambda known, _: known,
) -> str:
    """The most telling sentences of ``texts``, in their order, as lines.

    ``texts``: Memories and lines of older summaries, oldest first.
    Uses of the own memory (notes, searches, their results) are left out.
    ``max_chars``: The most characters it may have.
    ``weigh``: How much a sentence matters, for what its text does.

    Returns:
        Never more than ``max_chars`` characters; empty only if there are no words.
    """
    found = select(texts, max_chars=max_chars, own_name=own_name, weigh=weigh)
    return shorten(as_list(each.text for each in found), max_chars)


def select(
    texts: Sequence[str | Text],
    *,
    max_chars: int,
    own_name: str,
    weigh: Callable[[int, ToldSentence], int] = lambda known, _: known,
) -> list[Text]:
    """The lines of :func:`summarize` without their sign, with what each matters.

    They fit into ``max_chars``, unless there is only one.
    """
    every = [text if isinstance(text, Text) else Text(text) for text in texts]
    lived = [each for each in every if not is_private(each.text)] or every
    told: list[_Placed] = []
    for number, each in enumerate(lived):
        for position, one in enumerate(retell(each.text, own_name)):
            dated = one if one.day else replace(one, day=each.day)
            told.append(_Placed(dated, number, position, weigh(each.importance, one)))
    weighed = _weighed([each.told for each in told], own_name, [each.matters for each in told])
    fitting = _most_that_fit(told, _ranked(weighed, max_chars), max_chars)
    return fitting or (_lines(told, [len(told) - 1]) if told else [])


def echoes(told: Sequence[ToldSentence]) -> set[int]:
    """Positions of own words that only say again what somebody else said.

    A promise to somebody is none: it says what the agent will do, in whatever words it was asked.
    """
    terms = [telling(each.words) for each in told]
    others = [
        words for each, words in zip(told, terms, strict=True) if each.speaker and not each.own
    ]
    return {
        position
        for position, each in enumerate(told)
        if each.own
        and len(own := terms[position]) >= _LEAST_ECHO
        and not _promised(each)
        and any(len(own & words) >= max(_ECHO * len(own), _LEAST_ECHO) for words in others)
    }


def _promised(told: ToldSentence) -> bool:
    return bool(promises(told.words)) and _TO_SOMEBODY.search(told.words) is not None


def binding(summary: str, own_name: str) -> tuple[str, ...]:
    """The rules from others and the promises of one's own that a summary tells, in their words."""
    told = (each for line in summary.splitlines() for each in retell(line, own_name))
    return tuple(each.words for each in told if _binds(each))


def is_noise(sentence: str) -> bool:
    """Whether a sentence is a greeting, a coming or going, or a look around."""
    return _NOISE.search(sentence) is not None


def ranking(
    told: Sequence[ToldSentence], own_name: str, characters: int, importance: Sequence[int] = ()
) -> list[int]:
    """Positions in ``told``, the most telling first, about ``characters`` characters of them.

    What a better one before it says already, or what says nothing, is not among them. How much
    each matters, 1 to 10 or 0, is ``importance``.
    """
    return _ranked(_weighed(told, own_name, importance), max(characters // 2, 1))


def _weighed(
    told: Sequence[ToldSentence], own_name: str, importance: Sequence[int] = ()
) -> list[_Sentence]:
    """Each sentence with what every word of it is worth: rare words more than frequent ones."""
    kinds = [_kinds(t, own_name) for t in told]
    spread = Counter(term for terms in kinds for term in terms)
    # A name counts as one wherever it stands, also at the start of a sentence.
    named = {term for terms in kinds for term, kind in terms.items() if kind == _NAME}
    count = max(len(told), 1)
    weighed = []
    bound_by: Counter[str] = Counter()
    mattering = counting(told, importance)
    echoed = echoes(told)
    for position, (sentence, terms) in enumerate(zip(told, kinds, strict=True)):
        matters = mattering[position]
        values = {
            term: max(kind, _NAME if term in named else 0.0) * _rarity(spread[term], count)
            for term, kind in terms.items()
        }
        factor = _factor(sentence.words) * (_OWN if sentence.own else 1.0)
        if _binds(sentence) and (bound := bound_by[sentence.speaker]) < _MOST_BINDING:
            bound_by[sentence.speaker] = bound + 1
            factor = _BINDING
        if matters > 1 and not is_noise(sentence.words):
            # A question may matter most; the greeting before it never does.
            factor = max(factor, 1.0) * matters
        if position in echoed:
            factor = 0.0
        weighed.append(_Sentence(sentence, values, factor))
    return weighed


def _rarity(occurrences: int, count: int) -> float:
    return 1.0 + 0.5 * math.log(1.0 + count / occurrences) / math.log(2.0 + count)


def _kinds(told: ToldSentence, own_name: str) -> dict[str, float]:
    """The telling words of a sentence, by stem, each with the weight of its kind."""
    own = {stem(word) for word in words(own_name)}
    terms: dict[str, float] = {}
    for position, word in enumerate(words(told.words)):
        key = stem(word)
        if key in own or word.casefold() in COMMON_WORDS:
            continue
        if counts(word.casefold()) or word.casefold() in _TIMES:
            kind = _NUMBER
        else:
            kind = _NAME if position and word[0].isupper() else _WORD
        terms[key] = max(kind, terms.get(key, 0.0))
    for word in words(told.speaker):
        if stem(word) not in own and word.casefold() not in COMMON_WORDS:
            terms.setdefault(stem(word), _WORD)
    return terms


def _binds(told: ToldSentence) -> bool:
    """Whether it is a rule from somebody, or a promise of one's own."""
    if not told.speaker or _NOISE.search(told.words):
        return False
    return bool(promises(told.words) if told.own else rules_in(told.words))


def _factor(text: str) -> float:
    """How much a sentence counts by what kind it is."""
    if _NOISE.search(text):
        return 0.25
    factor = 1.4 if _PERSONAL.search(text) else 1.0
    return factor * (0.6 if text.rstrip("\"”' ").endswith("?") else 1.0)


def _ranked(sentences: Sequence[_Sentence], max_chars: int) -> list[int]:
    """Positions of sentences, best first, somewhat more than fit into ``max_chars``."""
    covered: set[str] = set()
    heap = [(-_gain(s, covered), i) for i, s in enumerate(sentences)]
    heapq.heapify(heap)
    chosen: list[int] = []
    space = 2 * max_chars
    while heap and space > 0:
        _, position = heapq.heappop(heap)
        sentence = sentences[position]
        # Gains only shrink: if it still beats the next one's old gain, it is the best.
        gain = _gain(sentence, covered)
        if gain <= 0:
            continue
        if heap and (-gain, position) > heap[0]:
            heapq.heappush(heap, (-gain, position))
            continue
        chosen.append(position)
        covered |= sentence.terms.keys()
        space -= len(sentence.told.words)
    return chosen


def _gain(sentence: _Sentence, covered: set[str]) -> float:
    fresh = sum(value for term, value in sentence.terms.items() if term not in covered)
    cost = math.pow(len(sentence.told.words) + _OVERHEAD, _LENGTH_POWER)
    return sentence.factor * fresh / cost


def _most_that_fit(told: Sequence[_Placed], ranked: Sequence[int], max_chars: int) -> list[Text]:
    """The best sentences in order of time; one that is too long leaves room for the next."""
    kept: list[int] = []
    best: list[Text] = []
    used = 0
    for position in ranked:
        lines = _lines(told, sorted([*kept, position]))
        length = len(as_list(line.text for line in lines))
        if length <= max_chars:
            kept.append(position)
            best, used = lines, length
        elif max_chars - used < _OVERHEAD:
            break
    return best


def _lines(told: Sequence[_Placed], positions: Sequence[int]) -> list[Text]:
    """One line for each thing: neighbours of one text, by one speaker, stand in one."""

    def belongs(numbered: tuple[int, int]) -> tuple[int, int, str]:
        order, position = numbered
        each = told[position]
        # The same for sentences that follow each other, in their text and in what is kept of it.
        return each.text, each.position - order, each.told.teller

    runs = ([told[at] for _, at in run] for _, run in groupby(enumerate(positions), key=belongs))
    return [
        Text(as_line([each.told for each in run]), max(each.matters for each in run))
        for run in runs
    ]
