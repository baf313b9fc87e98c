"""From which lines of its prompt an act has its words: the few that together have most of them.

A prompt has a hundred lines, and the model does not say by which it went. But what an act says and
only one line of the prompt has, it has from there. A word counts the more, the fewer lines have it.
A single word only counts in a line on which the act is known to rest, and if that line hardly has
it by chance: *sorry* is in many. What stands nowhere in the prompt and another agent heard is found
there; so is a single word that the agent itself said or heard once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import comb, log2

from keepsake.agent.turns.prompts.held import holds
from keepsake.agent.why.basis import matter_of
from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import Result, addressees_of
from keepsake.language.capitals import capitalised
from keepsake.language.perception import sentences, telling
from keepsake.tracing.content import SURE, Content, Rarity, parts_of
from keepsake.tracing.texts import SegmentTexts, lines_with
from keepsake.web.people.telling import newest_lines

MOST = 4
"""The most lines that are shown."""
_TOGETHER = 2
"""The words of an act that a line has at least, unless the act is known to rest on it: one is
there by chance."""
_FORM = "<"
"""A line that has it shows how deeds are written: ``> talk <name> = <words>``."""
MOST_LOOKED = 200
"""The most lines of another agent that are looked at, the newest."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A line of a prompt from which an act has words.

    Attributes:
        text: The line.
        memory: The memory that it is; None if it is of a summary, or of another part of the prompt.
        summary: Whether a summary says it.
        shared: The words of the act that it has, as written in the act.
        known: Whether the archive says that the act rests on it.
    """

    text: str
    memory: Memory | None
    summary: bool
    shared: tuple[str, ...]
    known: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    memory: Memory | None = None
    summary: bool = False
    known: bool = False

    @property
    def said(self) -> str:
        """What it says, without who says it, if somebody does."""
        memory = self.memory
        return memory.words or memory.line if memory else self.text

    def shared(self, content: Content) -> frozenset[str]:
        """Return the telling words of an act that it has."""
        return content.shared(self.said)


def grounds_of(
    archive: Archive,
    why: Why,
    prompt: str,
    rules: str = "",
    heard: Sequence[SegmentTexts] = (),
) -> tuple[Sequence[Ground], Sequence[str]]:
    """Return from which lines of a prompt an act has its words; blocks.

    Args:
        prompt: The text that was sent; empty if it is not known.
        rules: The template of prompts: what it says itself tells an agent nothing.
        heard: What the agent's memories say. If given, a line must have words of the act that are
            rare among them, unless the act is known to rest on it: anybody says *somebody*.

    Returns:
        The lines, what has most first, and the words of the act that stand nowhere in the prompt,
        names first; nothing if the prompt is not known.
    """
    if not prompt or why.by_rule:
        return (), ()
    content = Content(matter_of(why.act), Rarity())
    wanted = _own_words(why, content)
    lines = [*_lines(archive, why, prompt, rules)]
    shared = {each: each.shared(content) & wanted.keys() for each in lines}
    counts = Counter(part for parts in shared.values() for part in parts)
    has = _without_chance(shared, content, Rarity(counts, len(lines)))
    if heard:
        rare = Rarity.of(counts.keys(), newest_lines(heard), content.language)
        has = _with_rare_words(has, Content(content.text, rare, content.language))
    answered = content.shared(why.cause.words or why.cause.text) if why.cause else frozenset[str]()
    missing = [word for part, word in wanted.items() if not counts[part] and part not in answered]
    names = _names_in(why)
    missing.sort(key=lambda word: word not in names)
    bits = {part: log2((len(lines) + 1) / count) for part, count in counts.items()}
    return [*_best(wanted, has, bits)], missing


def _without_chance(
    shared: Mapping[_Line, frozenset[str]], content: Content, rarity: Rarity
) -> Mapping[_Line, frozenset[str]]:
    """Return which words of an act each line has, none where a known line has one by chance."""
    among = sum(each.known for each in shared)
    of_prompt = Content(content.text, rarity, content.language)

    def by_chance(line: _Line, parts: frozenset[str]) -> bool:
        if not line.known or len(parts) >= _TOGETHER:
            return False
        return not of_prompt.is_said_in(line.said, among, linked=True)

    return {
        each: frozenset[str]() if by_chance(each, parts) else parts
        for each, parts in shared.items()
    }


def _with_rare_words(
    has: Mapping[_Line, frozenset[str]], content: Content
) -> Mapping[_Line, frozenset[str]]:
    """Return which words of an act each line has, none where any line may have as many by chance.

    ``content``: The act, with how rare its words are in all that the agent remembers.
    """
    return {
        each: parts if each.known or content.is_said_in(each.said, len(has)) else frozenset[str]()
        for each, parts in has.items()
    }


def _best(
    wanted: Mapping[str, str], has: Mapping[_Line, frozenset[str]], bits: Mapping[str, float]
) -> Iterator[Ground]:
    """Yield the few lines that together have most of an act.

    Args:
        wanted: Its words, as compared and as written.
        has: Those of them that each line has, as compared.
        bits: How much each tells.
    """
    left = set(wanted)

    def most(line: _Line) -> tuple[float, bool]:
        return sum(bits[part] for part in has[line] & left), line.known

    for _ in range(MOST):
        best = max(has, key=most, default=None)
        new = has[best] & left if best else set[str]()
        if best is None or not new:
            return
        left -= new
        if len(new) >= min(_TOGETHER, len(wanted)) or best.known:
            shared = tuple(word for part, word in wanted.items() if part in has[best])
            yield Ground(best.text, best.memory, best.summary, shared, best.known)


def _own_words(why: Why, content: Content) -> Mapping[str, str]:
    """Return the telling words of an act, as compared and as written, without whom it names."""
    named = " ".join(each.name for each in addressees_of(why.act.what))
    to = {part for part, _ in parts_of(named, content.language)}
    return {part: word for part, word in content.parts.items() if part not in to}


def _lines(archive: Archive, why: Why, prompt: str, rules: str) -> Iterator[_Line]:
    """Yield the lines of a prompt: memories, sentences of summaries, and the rest of it."""
    known = {*why.act.rests_on}
    cause = why.cause.number if why.cause else 0
    first, last = why.window or (1, 0)
    numbers = {*known, *(each.memory.number for each in why.recalled if each.memory is not None)}
    before = [each for n in sorted(numbers) if n < first for each in archive.read(n, n)]
    # What is answered stands in the memories, and again in the words that ask for an answer.
    told = {*sentences(why.cause.words or why.cause.text)} if why.cause else set[str]()
    for memory in (*before, *archive.read(first, last)):
        if memory.number == cause or isinstance(memory.what, Result) or not holds(prompt, memory):
            continue
        told.add(memory.words or memory.text)
        yield _Line(memory.line, memory, known=memory.number in known)
    for summary in why.summaries:
        for sentence in sentences(summary.text):
            yield _Line(sentence, summary=True)
    told.update(each.text for each in why.summaries)
    for line in prompt.splitlines():
        if _FORM in line:
            continue
        for each in sentences(line.strip("[]")):
            if each not in rules and not any(one in each or each in one for one in told):
                yield _Line(each)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What some agent heard, and has words of an act that stand nowhere in its prompt.

    Attributes:
        agent: The key of the agent.
        shared: Those words, as written in the act.
    """

    agent: str
    memory: Memory
    shared: tuple[str, ...]


def elsewhere(
    why: Why, texts: Mapping[str, Sequence[SegmentTexts]], unheld: Sequence[str], own: str = ""
) -> Elsewhere | None:
    """Return the earlier line that has most of the words that a prompt did not have; blocks.

    A single word an agent may have by itself, but no name. Another word counts only if it is in one
    earlier line of its own memory, and nowhere else. Words that many lines have are in one line by
    chance.

    Args:
        texts: What the memories of all agents say, by key; of equal lines the first counts.
        unheld: The words.
        own: The key of the agent itself.
    """
    wanted = {stem: word for word in unheld for stem in telling(word)}
    names = _names_in(why)
    tells = {stem: _TOGETHER if word in names else 1 for stem, word in wanted.items()}
    rarity = _rarity_in(texts, wanted.keys())
    best = _TOGETHER - 1
    found = None
    for key, segments in texts.items() if sum(tells.values()) >= _TOGETHER else ():
        for memory in _with_words(segments, tells):
            shared = wanted.keys() & telling(memory.words)
            told = sum(tells[stem] for stem in shared)
            if not any(tells[stem] > 1 for stem in shared) and _is_chance(rarity, shared, wanted):
                continue
            as_good = found is not None and told == best and memory.time < found.memory.time
            if memory.time < why.act.time and (told > best or as_good):
                best = told
                said = tuple(word for stem, word in wanted.items() if stem in shared)
                found = Elsewhere(key, memory, said)
    return found or _once(why, texts, wanted, own)


def _rarity_in(texts: Mapping[str, Sequence[SegmentTexts]], stems: Collection[str]) -> Rarity:
    """Return how rare words are in the memories of all agents."""
    segments = [segment for some in texts.values() for segment in some]
    counts = Counter[str]()
    for segment in segments:
        for stem in stems:
            counts[stem] += sum(1 for _ in islice(lines_with(segment.text, stem), MOST_LOOKED))
    return Rarity(counts, sum(len(each.numbers) for each in segments))


def _is_chance(rarity: Rarity, shared: Collection[str], wanted: Collection[str]) -> bool:
    """Whether some line may have these of the words that are wanted by chance."""
    lines = max(rarity.total, 1) * comb(len(wanted), len(shared))
    return sum(map(rarity.bits, shared)) < log2(lines) + SURE


def _once(
    why: Why, texts: Mapping[str, Sequence[SegmentTexts]], wanted: Mapping[str, str], own: str
) -> Elsewhere | None:
    """Return the one earlier line of an agent that has one of the words, its own words first.

    Nobody else said the word, either.
    """
    found = []
    for stem, word in wanted.items():
        said = {
            key: [each for each in _having(segments, stem) if each.time < why.act.time]
            for key, segments in texts.items()
        }
        some = [each for had in said.values() for each in had]
        if said.get(own) and len({each.happening or each.number for each in some}) == 1:
            found.append(Elsewhere(own, said[own][0], (word,)))
    return max(found, key=lambda each: (each.memory.is_own, each.memory.number), default=None)


def _having(segments: Sequence[SegmentTexts], stem: str) -> Iterator[Memory]:
    for segment in segments:
        places = [at for at, _ in islice(lines_with(segment.text, stem), MOST_LOOKED)]
        memories = segment.memories(places)
        yield from (each for each in memories if stem in telling(each.words))


def _names_in(why: Why) -> frozenset[str]:
    """Return the names that an act has: nobody can guess them."""
    return frozenset(capitalised(matter_of(why.act)))


def _with_words(segments: Sequence[SegmentTexts], tells: Mapping[str, int]) -> Iterator[Memory]:
    """Yield the newest memories of words that have a name or two words of those that are wanted.

    ``tells``: How much each word tells, as compared.
    """
    left = MOST_LOOKED
    for segment in reversed(segments):
        places = Counter[int]()
        for stem, much in tells.items():
            places.update(dict.fromkeys((at for at, _ in lines_with(segment.text, stem)), much))
        some = sorted((at for at, told in places.items() if told >= _TOGETHER), reverse=True)
        yield from (each for each in segment.memories(some[:left]) if each.words)
        left -= len(some)
        if left <= 0:
            return
