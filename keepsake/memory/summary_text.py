"""Summaries as text: what one is made of, and one without a model.

A memory reads ``12. [4 May, evening] Anneke says to you, "…"``, an own act ``You say to Anneke,
"…"``; the date stands where it changes. A summary is prose, a list of ``- `` lines, or notes under
``## `` headings.

The summary without a model has the sentences that tell most, in their own words, in order of time.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.archive.records import Memory, MemoryKind, Tier
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import SENTENCE_GAP, for_prompt, short_day, shorten, words
from keepsake.ports import Generation
from keepsake.prompt.script import DAYTIMES, about_memory
from keepsake.prompt.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from keepsake.tasks.task import RefusedAnswer

EXTRACTIVE = "extractive"
"""Who wrote a summary that needed no model."""
MARK = "## "
WIDE = 0x2E80
"""From this character on, scripts are written without blanks between words."""
_ITEMS = ("- ", "* ")

USUAL_TOKENS = 600
"""What a long-term summary weighs in a small prompt; all other sizes are in relation to it."""
_CHARACTERS = {Tier.RECENT: 2.0, Tier.LONGTERM: 3.0}
"""How long a summary without a model may get that has no limit, for each of those tokens."""
ANSWERED = {Tier.RECENT: 0.75, Tier.LONGTERM: 1.17}
"""How many tokens a model's answer may have then: a language other than English takes more."""

_SHARE, _LEAST_CHARACTERS = 0.9, 240
"""The share of a few memories that their summary may have, and what it may have in any case."""

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


# -- how memories and summaries are shown


def numbered(memories: Iterable[Memory]) -> list[str]:
    """Memories as a model is shown them, one line each."""
    lines, before = [], ""
    every = [*memories]
    for memory in [each for each in every if each.event != FORGOTTEN] or every:
        here = memory.time.astimezone()
        when = f"[{short_day(here)}, {DAYTIMES[here.hour]}] "
        lines.append(f"{memory.number}. {'' if when == before else when}{told(memory)}")
        before = when
    return lines


def told(memory: Memory) -> str:
    """A memory in the second person, as one harmless line."""
    if memory.kind is not MemoryKind.ACT:
        return for_prompt(memory.line)
    verb, _, rest = memory.text.partition(" ")
    if said := spoken(memory):
        act = f'You {verb}{f" to {said.to}" if said.to else ""}, "{said.words}"'
    else:
        act = f"You: *{rest}*" if verb in ("emote", "pose") and rest else f"You did: {memory.text}"
    return for_prompt(f"{act} (your reason: {memory.reason})" if memory.reason else act)


def plain(text: str) -> tuple[str, ...]:
    """Its lines without headings and list signs; prose as one line."""
    return tuple(
        line.removeprefix("- ").removeprefix("* ")
        for line in lines_of(text)
        if not line.startswith(MARK)
    )


def lines_of(text: str) -> list[str]:
    """Each line of a list or of notes, with its sign; prose, with all its line ends, as one."""
    lines = [folded for line in text.splitlines() if (folded := " ".join(line.split()))]
    if any(line.startswith((*_ITEMS, MARK)) for line in lines):
        return lines
    return [" ".join(lines)] if lines else []


# -- what a summary is made of


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What one summary is to be made of: older summaries, memories, or both."""

    tier: Tier
    agent: str
    memories: tuple[Memory, ...] = ()  # oldest first
    older: tuple[str, ...] = ()  # summaries of what was before them, oldest first
    limit_tokens: int = 0  # the most tokens that it may have; 0 for the usual
    usual_tokens: int = USUAL_TOKENS  # the same for a long-term summary that grows, as a measure
    tokens: Callable[[str], int] = estimate_tokens
    importance: Callable[[Memory], int] = lambda _: 0  # 1 to 10, or 0 where it is not known
    constraints: tuple[str, ...] = ()  # pins and open promises, which it must not contradict

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it, a text each."""
        return (*self.older, *map(told, self.memories))

    def relevant(self) -> SummarySource:
        """Without what the agent did with its own memory, unless there is nothing else."""
        kept = tuple(memory for memory in self.memories if not about_memory(memory))
        return replace(self, memories=kept) if kept or self.older else self

    @property
    def characters(self) -> int:
        """How many characters a summary without a model may have."""
        if self.limit_tokens:
            return self.limit_tokens * CHARACTERS_PER_TOKEN
        usual = int(_CHARACTERS[self.tier] * self.usual_tokens)
        if self.tier is Tier.LONGTERM:
            return usual
        # As long as what it is made of, it would save nothing; older summaries are short already.
        return min(usual, max(int(_SHARE * sum(map(len, self.lines))), _LEAST_CHARACTERS))

    def fits(self, text: str) -> bool:
        """Whether a summary without a model is short enough."""
        if self.limit_tokens:
            return self.tokens(text) <= self.limit_tokens
        return len(text) <= self.characters


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary, and what it took."""

    text: str
    model: str
    answers: tuple[Generation, ...] = ()  # of the model, refused ones included
    refusals: tuple[RefusedAnswer, ...] = ()  # answers that were not used


type Summarizer = Callable[[SummarySource], Draft]
"""Writes a summary, in a worker thread, two at a time. It raises ModelError where no model answers,
ConfigError where a template fails on these memories."""


# -- a summary without a model


def extractive(source: SummarySource) -> Draft:
    """The :data:`Summarizer` that needs no model: it never fails and never invents."""
    return Draft(summarize(source.relevant()), EXTRACTIVE)


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
        day = short_day(memory.time.astimezone())
        above, person = source.importance(memory) - MATTERS + 1, memory.source_id or memory.source
        for place, sentence in enumerate(_split(said)):
            asked = sentence.rstrip("\"”'").endswith(("?", "？"))
            matters = above > 0 and mattering[person] < MOST_MATTERING
            mattering[person] += matters
            weight = max(factor, 1.0) * (1 + _EACH * above) if matters else factor
            weight *= _ASKED if asked and not matters else 1.0
            yield _Saying(number, place, sentence, who, day, matters, weight)


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
