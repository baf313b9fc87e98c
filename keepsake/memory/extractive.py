"""A summary without a model: the sentences that tell most, in their own words, in order of time.

A sentence is worth its rare words that no chosen sentence has yet, in relation to its length. What
matters, and what people say, counts for more. Each line has its day where that changes, and who
spoke: ``- 4 May: Ann told me: "I am Ann, a sailmaker."`` A line that matters begins with ``* ``, so
that it still counts for more when it is summarised again.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import SENTENCE_GAP, short_day, words
from keepsake.memory.source import SummarySource
from keepsake.memory.text import MARK, WIDE, lines_of, told

MATTERS, MOST_MATTERING, _EACH = 6, 4, 2.5
"""From which importance on a sentence counts for more than its words, how many of one person do (so
that nobody fills a summary with their own), and what each point adds."""
_OWN, _UNSPOKEN, _NOBODYS, _ASKED = 0.9, 0.7, 0.35, 0.6
"""What the agent's own words count, what somebody did, what nobody caused, and a question."""
_NAMED, _NUMBER, _SHORT = 4.0, 2.0, 0.05
"""What a capital within a sentence counts, a number, and a word of three letters or fewer."""
_RARITY, _LENGTH, _OVERHEAD, _LONGEST, _MOST_MISSED = 4, 0.9, 12, 240, 40

_DAY = re.compile(r"^(?P<day>\d{1,2} [^\W\d]{3}): (?=\S)")
_QUOTED = re.compile(r'^(?P<who>[^"“”]{1,80}?)[,:]? ["“](?P<said>.+)["”]$', re.S)


@dataclass(frozen=True, slots=True)
class _Saying:
    """One sentence, the text that it is of and its place in it."""

    text: int
    place: int
    words: str
    who: str  # ``Ann told me``; empty if nobody speaks
    day: str
    matters: bool
    factor: float


def summarize(source: SummarySource) -> str:
    """The sentences of ``source`` that tell most, as many as it may have.

    Returns:
        A list, empty only if there are no words.
    """
    sayings = list(_sayings(source))
    kept: list[_Saying] = []
    best, missed = "", 0
    for saying in _ranked(sayings):
        tried = sorted([*kept, saying], key=lambda each: (each.text, each.place))
        if source.fits(text := _listed(tried)):
            kept, best, missed = tried, text, 0
        elif (missed := missed + 1) == _MOST_MISSED:
            break
    return best or shorten(_listed(sayings[-1:]), source.characters)


def _sayings(source: SummarySource) -> Iterator[_Saying]:
    """Every sentence there is, oldest first."""
    lines = [x for text in source.older for x in lines_of(text) if not x.startswith(MARK)]
    day = ""
    for number, line in enumerate(lines):
        sign, bare = line.startswith("* "), line.removeprefix("- ").removeprefix("* ")
        if dated := _DAY.match(bare):
            day, bare = dated["day"], bare[dated.end() :]
        quoted = _QUOTED.match(bare)
        who, said = (quoted["who"], quoted["said"]) if quoted else ("", bare)
        factor = (_OWN if who.startswith("I ") else 1.0) * (1 + _EACH if sign else 1.0)
        for place, sentence in enumerate(_split(said)):
            yield _Saying(number, place, sentence, who, day, sign, factor)
    mattering = Counter[str]()
    for number, memory in enumerate(source.memories, len(lines)):
        who, said, factor = _retold(memory, source.agent)
        above, person = source.importance(memory) - MATTERS + 1, memory.source_id or memory.source
        for place, sentence in enumerate(_split(said)):
            asked = sentence.rstrip("\"”'").endswith(("?", "？"))
            matters = above > 0 and mattering[person] < MOST_MATTERING
            mattering[person] += matters
            weight = max(factor, 1.0) * (1 + _EACH * above) if matters else factor
            weight *= _ASKED if asked and not matters else 1.0
            yield _Saying(number, place, sentence, who, short_day(memory.time), matters, weight)


def _retold(memory: Memory, agent: str) -> tuple[str, str, float]:
    """Who speaks in a memory, what is said or done, and what that counts by its kind."""
    if memory.kind is MemoryKind.ACT:
        if own := spoken(memory):
            return f"I told {own.to}" if own.to else "I said", for_prompt(own.words), _OWN
        return "", told(memory).replace("You ", f"{agent} ", 1), _OWN
    if said := heard(memory):
        how = "told me" if said.to == "you" else "said"
        return f"{said.who} {how}", for_prompt(said.words), 1.0
    return "", for_prompt(memory.line), _UNSPOKEN if memory.source else _NOBODYS


def _split(text: str) -> list[str]:
    parts = (shorten(part.strip(), _LONGEST) for part in SENTENCE_GAP.split(text))
    return [part for part in parts if words(part)]


def _ranked(sayings: Sequence[_Saying]) -> Iterator[_Saying]:
    """The best first: after each, the words that it has are worth nothing any more."""
    terms = [_terms(saying.words) for saying in sayings]
    spread, count = Counter(term for each in terms for term in each), len(sayings)
    worth = {
        term: (math.log(1.0 + count / times) / math.log(2.0 + count)) ** _RARITY
        for term, times in spread.items()
    }
    covered: set[str] = set()

    def gain(place: int) -> float:
        fresh = sum(kind * worth[t] for t, kind in terms[place].items() if t not in covered)
        cost = math.pow(len(sayings[place].words) + _OVERHEAD, _LENGTH)
        return sayings[place].factor * fresh / cost

    heap = [(-gain(place), place) for place in range(count)]
    heapq.heapify(heap)
    while heap:
        # Gains only shrink: one that is still better than the next one's old gain is the best.
        _, place = heapq.heappop(heap)
        if (now := gain(place)) <= 0.0:
            continue
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, place))
            continue
        covered |= terms[place].keys()
        yield sayings[place]


def _terms(text: str) -> dict[str, float]:
    """The words of a sentence by their beginnings, and what each counts by its kind."""
    found: dict[str, float] = {}
    for number, word in enumerate(words(text)):
        low = word.casefold()
        if ord(word[0]) >= WIDE:  # pairs of characters, as no blank says where a word ends
            found |= dict.fromkeys((low[at : at + 2] for at in range(len(low))), 1.0)
            continue
        named = word[0].isupper() and number > 0 and len(word) > 1
        kind = _NAMED if named else _NUMBER if word.isdigit() else 1.0 if len(word) > 3 else _SHORT
        found[low[:6]] = max(kind, found.get(low[:6], 0.0))
    return found


def _listed(sayings: Sequence[_Saying]) -> str:
    """The sentences as lines: neighbours in one text are one, a day is said where it is new."""
    lines, day = [], ""
    for _, run in groupby(enumerate(sayings), lambda each: (each[1].text, each[1].place - each[0])):
        some = [saying for _, saying in run]
        first, said = some[0], " ".join(saying.words for saying in some)
        text = f'{first.who}: "{said}"' if first.who else said
        dated = f"{first.day}: " if first.day and first.day != day else ""
        day = first.day or day
        lines.append(f"{'* ' if any(each.matters for each in some) else '- '}{dated}{text}")
    return "\n".join(lines)
