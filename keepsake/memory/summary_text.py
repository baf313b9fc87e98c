"""Summaries as text: their sources, and a summarizer that needs no model.

A memory reads ``12. [4 May, evening] Anneke says to you, "…"``, an own act ``You say to Anneke,
"…"``; the date appears when it changes. A summary is prose, a list of ``- `` lines, or notes under
``## `` headings.

The summarizer without a model selects the most informative sentences, verbatim, in order of time.
A sentence scores by its rare words that no chosen sentence has yet, relative to its length.
Important memories and speech score higher. Each line has its day when that changes, and its
speaker: ``- 4 May: Ann told me: "I am Ann, a sailmaker."`` An important line begins with ``* ``, so
that it still scores higher when it is summarised again.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from keepsake.archive.message_types import MessageType
from keepsake.archive.privacy import is_redacted
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Tier
from keepsake.archive.transcript import DAYTIMES, about_memory
from keepsake.happening import ME, Pose, Speech
from keepsake.language.perception import SENTENCE_GAP, for_prompt, short_day, shorten, words
from keepsake.language.sourced_text import Sources, sources_of, summary_sentences
from keepsake.language.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from keepsake.ports import Generation, RefusedAnswer

EXTRACTIVE = "extractive"
"""The ``model`` of a summary that was made without a model."""
MARK = "## "
WIDE = 0x2E80
"""The first code point of scripts that are written without spaces between words."""
_ITEMS = ("- ", "* ")

USUAL_TOKENS = 600
"""Tokens of a long-term summary in a small prompt. The sizes of other summaries scale with it."""
_CHARACTERS = {Tier.RECENT: 2.0, Tier.LONGTERM: 3.0}
"""Characters of a summary without a model per usual token, if the summary has no token limit."""
ANSWERED = {Tier.RECENT: 0.75, Tier.LONGTERM: 1.0}
"""The most tokens of a model's answer per usual token. A long-term summary that is longer than the
usual would be summarised again at once."""

_SHARE = 0.9
"""The most of a short-term summary, as a share of its source."""
_LEAST_CHARACTERS = 240
"""A short-term summary may always have this many characters."""

MATTERS = 6
"""The importance from which a sentence gets a bonus."""
MOST_MATTERING = 4
"""How many sentences of one person get the bonus, so that nobody fills a summary alone."""
_EACH = 2.5
"""What each point of importance adds to the factor of a sentence."""
_OWN = 0.9
"""The factor of the agent's own words."""
_UNSPOKEN = 0.7
"""The factor of somebody's actions."""
_NOBODYS = 0.35
"""The factor of what nobody caused."""
_ASKED = 0.6
"""The factor of questions."""
_NAMED = 4.0
"""The factor of a capitalised word within a sentence, which is mostly a name."""
_NUMBER = 2.0
"""The factor of a number."""
_SHORT = 0.05
"""The factor of a word of up to three letters."""
_RARITY = 4
"""How much a rare word counts more than a frequent one: the power of its inverse frequency."""
_LENGTH = 0.9
"""The power with which the length of a sentence counts against it; below 1, long ones may win."""
_OVERHEAD = 12
"""Words that are added to each length, so that the shortest sentences do not always win."""
_LONGEST = 240
"""The most characters of a sentence; a longer one is cut."""
_MOST_MISSED = 40
"""After so many sentences in a row that do not fit, no shorter one is looked for."""

_DAY = re.compile(r"^(?P<day>\d{1,2} [^\W\d]{3}): (?=\S)")
_QUOTED = re.compile(r'^(?P<who>[^"“”]{1,80}?)[,:]? ["“](?P<said>.+)["”]$', re.S)


# -- how memories and summaries are shown


def says_something(memory: Memory) -> bool:
    """Return whether a memory has a line in the source of a summary.

    A deed or gesture whose words are left out, because they are private, says nothing.
    """
    return isinstance(memory.what, Speech) or not is_redacted(memory)


def numbered(memories: Iterable[Memory]) -> list[str]:
    """Return memories as a model reads them, one line each; see :func:`says_something`."""
    lines = []
    before = ""
    for memory in filter(says_something, memories):
        here = memory.time.astimezone()
        when = f"[{short_day(here)}, {DAYTIMES[here.hour]}] "
        lines.append(f"{memory.number}. {'' if when == before else when}{in_second_person(memory)}")
        before = when
    return lines


def in_second_person(memory: Memory) -> str:
    """Return a memory in the second person, as one line that is safe in a prompt."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    match memory.what:
        case Speech() as said:
            to = f" to {said.to_name}" if said.to else ""
            act = f'You {memory.verb}{to}, "{said.words}"' if said.words else said.shown
        case Pose(gesture=gesture):
            act = f"You: *{gesture}*"
        case _:
            act = f"You did: {memory.text}"
    return for_prompt(f"{act} (your reason: {memory.reason})" if memory.reason else act)


def plain(text: str) -> tuple[str, ...]:
    """Return the lines of a summary without headings and list signs; prose becomes one line."""
    return tuple(
        line.removeprefix("- ").removeprefix("* ")
        for line in lines_of(text)
        if not line.startswith(MARK)
    )


def lines_of(text: str) -> list[str]:
    """Return the lines of a list or of notes with their signs; prose becomes one line."""
    lines = [folded for line in text.splitlines() if (folded := " ".join(line.split()))]
    if any(line.startswith((*_ITEMS, MARK)) for line in lines):
        return lines
    return [" ".join(lines)] if lines else []


def count_words(text: str) -> int:
    """Count the words of a text; each character of a script without spaces is one."""
    wide = sum(ord(character) >= WIDE for character in text)
    narrow = "".join(" " if ord(character) >= WIDE else character for character in text)
    return wide + len(narrow.split())


def has_words(text: str) -> bool:
    """Return whether a text has a letter of any script. A summary without one says nothing."""
    return any(map(str.isalpha, text))


# -- the source of a summary, and the result


@dataclass(frozen=True, slots=True)
class SummarySource:
    """The source of one summary: older summaries, memories, or both."""

    tier: Tier
    agent: str
    memories: tuple[Memory, ...] = ()  # oldest first
    older: tuple[str, ...] = ()  # summaries of earlier memories, oldest first
    limit_tokens: int = 0  # the most tokens of the summary; 0 for the usual size
    usual_tokens: int = USUAL_TOKENS  # usual tokens of a long-term summary; sizes scale with it
    tokens: Callable[[str], int] = estimate_tokens
    importance: Callable[[Memory], int] = lambda _: 0  # 1 to 10, or 0 if it is unknown
    constraints: tuple[str, ...] = ()  # pins, open promises and rules, which it must not contradict
    # by sentence of the older summaries: the memories that it tells, if that is known
    cited: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[str, ...]:
        """All older summaries and memories, one text each."""
        return (*self.older, *map(in_second_person, self.memories))

    def relevant(self) -> SummarySource:
        """Leave out what a summary need not tell, unless there is nothing else.

        That is forgotten memories, those without a line, and uses of the memory.
        """
        there = (memory for memory in self.memories if memory.event != MessageType.FORGOTTEN)
        told = filter(says_something, there)
        kept = tuple(memory for memory in told if not about_memory(memory))
        return replace(self, memories=kept) if kept or self.older else self

    @property
    def characters(self) -> int:
        """The most characters of a summary without a model."""
        if self.limit_tokens:
            return self.limit_tokens * CHARACTERS_PER_TOKEN
        usual = int(_CHARACTERS[self.tier] * self.usual_tokens)
        if self.tier is Tier.LONGTERM:
            return usual
        # A summary as long as its source would save nothing. Older summaries are short already.
        return min(usual, max(int(_SHARE * sum(map(len, self.lines))), _LEAST_CHARACTERS))

    @property
    def most_tokens(self) -> int:
        """The most tokens of a summary that a model writes."""
        return self.limit_tokens or int(ANSWERED[self.tier] * self.usual_tokens)

    def fits(self, text: str) -> bool:
        """Whether a summary without a model is short enough."""
        if self.limit_tokens:
            return self.tokens(text) <= self.limit_tokens
        return len(text) <= self.characters


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary, and the model's answers on the way to it."""

    text: str
    model: str
    answers: tuple[Generation, ...] = ()  # all answers, refused ones included
    refusals: tuple[RefusedAnswer, ...] = ()  # answers that were not used
    sources: Sources = ()  # by sentence: the memories that it tells, as its writer said


type Summarizer = Callable[[SummarySource], Draft]
"""Writes a summary, in a worker thread. It raises ModelError if no model answers, and ConfigError
if a template fails on these memories."""


# -- a summary without a model


def extractive(source: SummarySource) -> Draft:
    """The :data:`Summarizer` that needs no model: it never fails and never invents."""
    source = source.relevant()
    picked = _picked(source)
    text = _text_of(picked, source)
    cited = {**source.cited, **dict(_cited(picked))}
    return Draft(text, EXTRACTIVE, sources=sources_of(text, cited))


@dataclass(frozen=True, slots=True)
class _Saying:
    """One sentence, with the number of its text and its place in that text."""

    text: int
    place: int
    words: str
    who: str  # ``Ann told me``; empty if nobody speaks
    day: str
    matters: bool
    factor: float
    memory: int = 0  # the number of the memory that it is from; 0 for a line of an older summary


def summarize(source: SummarySource) -> str:
    """Select the most informative sentences of ``source``, as many as fit.

    Returns:
        A list of lines as one text; empty only if the source has no words.
    """
    return _text_of(_picked(source), source)


def _text_of(picked: Sequence[_Saying], source: SummarySource) -> str:
    if picked and source.fits(text := _listed(picked)):
        return text
    return shorten(_listed([*_sayings(source)][-1:]), source.characters)


def _picked(source: SummarySource) -> Sequence[_Saying]:
    """Return the most informative sentences, as many as fit, in their order."""
    sayings = list(_sayings(source))
    kept: list[_Saying] = []
    missed = 0
    for saying in _ranked(sayings):
        tried = sorted([*kept, saying], key=lambda each: (each.text, each.place))
        if source.fits(_listed(tried)):
            kept = tried
            missed = 0
        elif (missed := missed + 1) == _MOST_MISSED:
            break
    return kept


def _sayings(source: SummarySource) -> Iterator[_Saying]:
    """Yield every sentence of the source, oldest first."""
    lines = [x for text in source.older for x in lines_of(text) if not x.startswith(MARK)]
    day = ""
    for number, line in enumerate(lines):
        sign = line.startswith("* ")
        bare = line.removeprefix("- ").removeprefix("* ")
        if dated := _DAY.match(bare):
            day = dated["day"]
            bare = bare[dated.end() :]
        quoted = _QUOTED.match(bare)
        who, said = (quoted["who"], quoted["said"]) if quoted else ("", bare)
        factor = (_OWN if who.startswith("I ") else 1.0) * (1 + _EACH if sign else 1.0)
        for place, sentence in enumerate(_split(said)):
            yield _Saying(number, place, sentence, who, day, sign, factor)
    mattering = Counter[str]()
    for number, memory in enumerate(source.memories, len(lines)):
        who, said, factor = _retold(memory, source.agent)
        day = short_day(memory.time.astimezone())
        above = source.importance(memory) - MATTERS + 1
        person = memory.source_id or memory.source
        for place, sentence in enumerate(_split(said)):
            asked = sentence.rstrip("\"”'").endswith(("?", "？"))
            matters = above > 0 and mattering[person] < MOST_MATTERING
            mattering[person] += matters
            weight = max(factor, 1.0) * (1 + _EACH * above) if matters else factor
            weight *= _ASKED if asked and not matters else 1.0
            yield _Saying(number, place, sentence, who, day, matters, weight, memory.number)


def _retold(memory: Memory, agent: str) -> tuple[str, str, float]:
    """Return the speaker of a memory, what is said or done, and the factor of its kind."""
    if memory.kind is MemoryKind.ACT:
        if own := memory.said:
            return f"I told {own.to_name}" if own.to else "I said", for_prompt(own.words), _OWN
        return "", in_second_person(memory).replace("You ", f"{agent} ", 1), _OWN
    if said := memory.heard:
        how = "told me" if ME in said.to else "said"
        return f"{said.speaker.name} {how}", for_prompt(said.words), 1.0
    return "", for_prompt(memory.line), _UNSPOKEN if memory.source else _NOBODYS


def _split(text: str) -> list[str]:
    parts = (shorten(part.strip(), _LONGEST) for part in SENTENCE_GAP.split(text))
    return [part for part in parts if words(part)]


def _ranked(sayings: Sequence[_Saying]) -> Iterator[_Saying]:
    """Yield the best sentences first; words of earlier sentences no longer score."""
    terms = [_terms(saying.words) for saying in sayings]
    spread = Counter(term for each in terms for term in each)
    count = len(sayings)
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
        # Gains only shrink. A gain that still exceeds the next stored gain is the highest.
        _, place = heapq.heappop(heap)
        if (now := gain(place)) <= 0.0:
            continue
        if heap and -now > heap[0][0]:
            heapq.heappush(heap, (-now, place))
            continue
        covered |= terms[place].keys()
        yield sayings[place]


def _terms(text: str) -> dict[str, float]:
    """Return the first six letters of each word of a sentence, with the factor of its kind."""
    found: dict[str, float] = {}
    for number, word in enumerate(words(text)):
        low = word.casefold()
        if ord(word[0]) >= WIDE:  # pairs of characters, because no space ends a word
            found |= dict.fromkeys((low[at : at + 2] for at in range(len(low))), 1.0)
            continue
        named = word[0].isupper() and number > 0 and len(word) > 1
        weight = 1.0 if len(word) > 3 else _SHORT
        if named:
            weight = _NAMED
        elif word.isdigit():
            weight = _NUMBER
        found[low[:6]] = max(weight, found.get(low[:6], 0.0))
    return found


def _listed(sayings: Sequence[_Saying]) -> str:
    """Return sentences as lines: neighbours in one text share a line, new days are shown."""
    return "\n".join(line for line, _ in _lines(sayings))


def _cited(sayings: Sequence[_Saying]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the sentences of a summary by rules, each with the memories that it quotes."""
    for line, some in _lines(sayings):
        for sentence in summary_sentences(line):
            quoted = {each.memory for each in some if each.words in sentence} - {0}
            if quoted:
                yield sentence, tuple(sorted(quoted))


def _lines(sayings: Sequence[_Saying]) -> Iterator[tuple[str, Sequence[_Saying]]]:
    """Yield the lines of a summary, each with the sentences in it."""
    day = ""
    for _, run in groupby(enumerate(sayings), lambda each: (each[1].text, each[1].place - each[0])):
        some = [saying for _, saying in run]
        first = some[0]
        said = " ".join(saying.words for saying in some)
        text = f'{first.who}: "{said}"' if first.who else said
        dated = f"{first.day}: " if first.day and first.day != day else ""
        day = first.day or day
        yield f"{'* ' if any(each.matters for each in some) else '- '}{dated}{text}", some
