"""Follows a fact through all archives: who told it to whom, who knows it, where it was lost.

A fact is a sentence that somebody once said, or some words. :func:`follow_sentence` and
:func:`follow_words` read the archives; they block, and take about a second for 100,000 memories.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.summaries import Summary
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import KnownVerb, Result
from keepsake.language.sourced_text import summary_sentences
from keepsake.tracing.bases import Link, PromptBasis
from keepsake.tracing.content import Content, Rarity, told_in
from keepsake.tracing.echoes import SaidIn, echoes
from keepsake.tracing.facts import Fact, Knower, Telling, Way
from keepsake.tracing.items import Words
from keepsake.tracing.kept import Kept, Summarised, has_enough
from keepsake.tracing.past import Archived, Past
from keepsake.tracing.paths import Tracer, Witness
from keepsake.tracing.retold import retold
from keepsake.tracing.sentence import Trail
from keepsake.tracing.standing import Holding
from keepsake.tracing.tellings import tellings_of, text_of
from keepsake.tracing.texts import memories_at
from keepsake.tracing.typed.asking import only_asked, without
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.tracing.typed.gathering import Line, gathered, id_of
from keepsake.tracing.typed.meant import NOBODY, Meant, People
from keepsake.tracing.typed.proper import with_proper
from keepsake.tracing.typed.strands import likely, strands
from keepsake.tracing.wording import Wording

MOST_FORMS = 8
"""The most ways of saying a sentence that are looked for in a summary: those heard first."""
MOST_LINES = 30
"""The most lines about typed words that are looked for in a summary of an agent: the newest."""
MOST_RECALLED = 50
"""The most memories of an agent's window that may be searches which brought a fact back."""
MOST_TELLINGS = 500
"""The most tellings that a fact may have: with more it is no fact but an everyday word."""
MOST_MEMORIES = 10_000
LEAST_TELLINGS = 100
"""The most memories of all agents that are followed, so that an everyday word takes no more than a
second; and how many each agent may have in any case."""


@dataclass(frozen=True)
class Followed:
    """A sentence that was followed.

    Attributes:
        words: Its telling words, the rarest first, each with how many other happenings have it.
            Words that no other happening has come last: by them nothing could be followed.
    """

    fact: Fact
    words: tuple[tuple[str, int], ...]


def follow_sentence(archives: Mapping[str, Archived], key: str, memory: Memory) -> Followed:
    """Return where a sentence went, in whatever words it was told on; blocks.

    Args:
        archives: The agents' archives, by key.
        key: The agent in whose memory it is.
        memory: The memory.

    Raises:
        OSError, KeepsakeError: An archive cannot be read.
    """
    trail = Trail(
        key,
        memory,
        {each: archived.texts.of(archived.folder) for each, archived in archives.items()},
        {each: archived.past for each, archived in archives.items()},
        {each: archived.name for each, archived in archives.items()},
    )

    def holding(memories: Sequence[Memory]) -> Holding:
        content = trail.content
        passed = dict.fromkeys(trail.passed_in(each) for each in memories)
        told = [Content(each, content.rarity, content.language) for each in passed]
        numbers = [each.number for each in memories]
        return _holding(
            {each.number: _form(content, each) for each in memories},
            memories,
            lambda summary: _kept_of(content, told[:MOST_FORMS], summary, numbers),
        )

    def said_in(key: str, summary: Summary) -> tuple[Kept, str]:
        kept, said = _kept_of(trail.content, (), summary, ())
        has = bool(said) and trail.has_memory_behind(said, key, summary.last)
        return (Kept.GONE, "") if has else (kept, said)

    def tells(summary: Summary, number: int) -> bool:
        return _kept_of(trail.content, (), summary, (number,))[0] is not Kept.GONE

    found = trail.witnesses, trail.tracer, holding, said_in
    fact = _fact(archives, *found, tells=tells, complete=trail.complete)
    counts = trail.rarity.counts
    parts = trail.content.parts.items()
    others = sorted(((word, counts[part] - 1) for part, word in parts), key=_by_count)
    shared = [each for each in others if each[1] > 0]
    return Followed(fact, (*shared, *(each for each in others if each[1] <= 0)))


def _by_count(counted: tuple[str, int]) -> tuple[int, str]:
    return counted[1], counted[0]


def follow_words(
    archives: Mapping[str, Archived],
    wording: Wording,
    happening: str = "",
    people: People = NOBODY,
    *,
    choice: LineChoice = AS_FOUND,
) -> Fact:
    """Return where went what some words mean; blocks.

    What has them in one sentence counts, and what was chosen.

    Args:
        archives: The agents' archives, by key.
        wording: The ways of saying it.
        happening: A happening that is the fact, however it was worded.
        people: Whom the words may name.
        choice: Which lines mean the words, as somebody says who read them. Lines by which these
            were told on count, too.

    Raises:
        OSError, KeepsakeError: An archive cannot be read.
    """
    choice = replace(choice, meant=(*choice.meant, *_told_on(archives, choice.meant)))
    shared = max(MOST_MEMORIES // max(len(archives), 1), LEAST_TELLINGS)
    most = min(MOST_TELLINGS, shared)
    wording = with_proper(archives, wording)
    meant = Meant(wording, people)
    lines, complete = gathered(archives, meant, people, happening, most, chosen=choice.meant)
    typed = {word for way in wording.ways for word in way}
    about = choice.of(strands(lines, typed))
    meaning = likely(lines, about)
    asked = only_asked(meaning, meant)
    found = without(meaning, asked)
    witnesses = {}
    for key, each in archives.items():
        memories = found[key]
        bases = {own.number: _basis(each.past, own.number) for own in memories if own.is_own}
        witnesses[key] = Witness(each.name, memories, bases)
    said = {each.happening for of in found.values() for each in of} - {""}

    def is_given(_: str, memory: Memory) -> bool:
        unarchived = not memory.is_own and not tracer.speaker_of(memory)
        return unarchived and (memory.happening == happening != "" or _shows(memory))

    def holding(memories: Sequence[Memory]) -> Holding:
        # What an agent has of a fact is what it has of the sentences that it heard, whatever words
        # led to them.
        forms = {each.number: _form_of_line(each, said) for each in memories}
        whole = (each for each in memories if forms[each.number] is Kept.VERBATIM)
        heard = [
            (each.number, Content(text_of(each), Rarity()))
            for each in whole
            if not is_private(each)
        ][-MOST_LINES:]
        return _holding(forms, memories, lambda summary: _best_kept(heard, wording, summary))

    def said_in(key: str, summary: Summary) -> tuple[Kept, str]:
        # Who had the words in mind, or looked for them, need not have heard them from anybody.
        return (Kept.GONE, "") if found[key] else _worded(wording, summary_sentences(summary.text))

    tracer = Tracer(witnesses, Words(lambda _: True, is_given, may_begin=True))
    tracer.run()

    def tells(summary: Summary, _: int) -> bool:
        return any(map(wording.is_said_in, summary_sentences(summary.text)))

    found_by = archives, witnesses, tracer, holding, said_in
    fact = _fact(*found_by, tells=tells, also=retold, complete=complete)
    told = {each.happening for each in fact.tellings}
    return replace(
        fact,
        tellings=tuple(
            replace(each, asks=each.happening in asked) for each in _worth_telling(fact)
        ),
        strands=tuple(about),
        asked=tuple(_heard_in(lines, sorted(asked - told))),
    )


def _told_on(archives: Mapping[str, Archived], lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines by which some lines were told on, or came about, in whatever words."""
    for key, number in lines:
        own = archives.get(key)
        for memory in memories_at(own.texts.of(own.folder), [number]) if own else ():
            for telling in follow_sentence(archives, key, memory).fact.tellings:
                yield from ((each.agent, each.memory) for each in telling.hearings[:1])


def _worth_telling(fact: Fact) -> Iterator[Telling]:
    """Yield the tellings without what the world showed to one agent who knew it before.

    Such as that it no longer carries a thing, which others saw it give.
    """
    first = {(each.agent, each.path[-1].memory) for each in fact.knowers}
    for telling in fact.tellings:
        shown = not (telling.manner or telling.speaker or telling.agent)
        alone = [(each.agent, each.memory) for each in telling.hearings]
        if not shown or len(alone) > 1 or alone[0] in first:
            yield telling


def _heard_in(
    found: Mapping[str, Sequence[Memory]], happenings: Sequence[str]
) -> Iterator[Sequence[tuple[str, Memory]]]:
    """Yield who remembers each of some happenings, by key, and the memories."""
    for happening in happenings:
        yield [
            (key, each) for key, of in found.items() for each in of if id_of(key, each) == happening
        ]


def _fact(
    archives: Mapping[str, Archived],
    witnesses: Mapping[str, Witness],
    tracer: Tracer,
    holding: Callable[[Sequence[Memory]], Holding],
    said_in: SaidIn,
    *,
    tells: Callable[[Summary, int], bool],
    also: Callable[[Archived, Sequence[Memory]], Iterable[Memory]] = lambda *_: (),
    complete: bool,
) -> Fact:
    """Return what a tracer found.

    Args:
        archives: The agents' archives, by key.
        witnesses: Their memories that bear on the fact.
        tracer: What was found.
        holding: Returns what an agent with these memories has of the fact.
        said_in: As :data:`SaidIn`.
        tells: Whether a summary tells the fact, as it stands in the memory of that number.
        also: Returns what else an agent with these memories has of the fact.
        complete: As :attr:`Fact.complete`.
    """
    knowers = []
    for key, path in tracer.paths.items():
        told = {number for agent, number in tracer.steps if agent == key}
        numbers = tracer.known[key].keys() | told
        memories = [each for each in witnesses[key].memories if each.number in numbers]
        past = archives[key].past
        held = [*memories, *_recalled(archives[key], numbers), *also(archives[key], memories)]
        knowers.append(
            Knower(
                agent=key,
                path=path,
                heard=path[-1].text,
                memories=tuple(each.number for each in memories),
                spells=tuple(holding(held).spells(past)),
                acts=tuple(_acts_on(past, frozenset(numbers))),
            )
        )
    others = {key: each.past for key, each in archives.items() if key not in tracer.paths}

    def founded(telling: Telling) -> Telling:
        if telling.link is not Link.SUMMARY:
            return telling
        past = archives[telling.agent].past
        said = next(each for each in telling.hearings if each.way is Way.SAID)
        state = past.state_when(said.memory)
        made = (each for each in (state.recent, state.longterm) if each is not None)
        if any(tells(each, telling.rests_on) for each in made):
            return telling
        return replace(telling, link=Link.EARLIER)

    return Fact(
        tellings=tuple(map(founded, tellings_of(witnesses, tracer))),
        echoes=tuple(echoes(others, said_in)),
        knowers=tuple(sorted(knowers, key=lambda each: each.path[-1].time)),
        complete=complete,
    )


def _shows(memory: Memory) -> bool:
    """Whether a memory that is no own act shows a fact, other than by a search of one's memory.

    What could not be done shows nothing of what there is.
    """
    if not isinstance(memory.what, Result):
        return True
    return memory.what.done and memory.verb not in TOOL_VERBS


def _basis(past: Past, number: int) -> PromptBasis:
    """Return what the prompt of an act showed, from the archive alone: summaries and window."""
    summarised = past.state_when(number).summarised
    return PromptBasis(summarised, summarised, number - 1)


# -- knowers


def _holding(
    forms: Mapping[int, Kept],
    memories: Sequence[Memory],
    kept_in: Callable[[Summary], tuple[Kept, str]],
) -> Holding:
    private = frozenset(each.number for each in memories if is_private(each))
    repeats = (each for each in memories if each.is_own or not told_in(text_of(each)))
    return Holding(
        memories=forms,
        texts={each.number: text_of(each) for each in memories},
        private=private,
        repeats=frozenset(each.number for each in repeats),
        kept_in=kept_in,
    )


def _form_of_line(memory: Memory, said: Collection[str]) -> Kept:
    """Return how much of a fact a memory has: its own words may tell it in others.

    ``said``: The happenings in which it was said.
    """
    is_it = not memory.is_own or memory.happening in said
    return Kept.VERBATIM if is_it else Kept.SHORTER


def _form(content: Content, memory: Memory) -> Kept:
    """Return how much of a fact a memory of it has."""
    return Kept.VERBATIM if content.is_verbatim_in(text_of(memory)) else Kept.SHORTER


def _kept_of(
    content: Content, told: Iterable[Content], summary: Summary, numbers: Sequence[int]
) -> tuple[Kept, str]:
    """Return how much of a sentence a summary has.

    Args:
        told: The words in which it was heard.
        numbers: The memories in which it was.
    """
    made = Summarised(summary.text, summary.last - summary.first + 1, summary.cited)
    of_it = not numbers or any(number <= summary.last for number in numbers)
    kept, said = made.found(content, numbers, made_of_it=of_it)
    if kept not in (Kept.GONE, Kept.UNSURE):
        return kept, said
    # How rare the other words are in which it was heard is not known. Most of them must be there.
    # What the whole text does not have, none of its sentences has.
    heard = ((each, made.found(each)[1]) for each in told if _tells(summary.text, each))
    other = next((said for each, said in heard if said and _tells(said, each)), "")
    return (Kept.LIKELY, other) if other else (kept, said)


def _tells(said: str, content: Content) -> bool:
    """Whether a sentence has most of what is said: of a single word that says nothing."""
    return content.is_mostly_in(said) and has_enough(content, said)


def _best_kept(
    heard: Sequence[tuple[int, Content]], wording: Wording, summary: Summary
) -> tuple[Kept, str]:
    """Return how much a summary has of the sentence of which it has most.

    Args:
        heard: The sentences, each with the number of its memory.
        wording: The words that led to them: a sentence of which its writer did not say what it
            tells may have these and nothing else of them.
    """
    whole = next((each.text for _, each in heard if each.is_verbatim_in(summary.text)), "")
    if whole:
        return Kept.VERBATIM, whole
    by_number = dict(heard)
    cited = summary.cited
    for said, numbers in cited.items():
        # A small model may name any numbers: what is told has a word in common with the sentence.
        if any(by_number[each].has_in_common(said) for each in by_number.keys() & {*numbers}):
            return Kept.SHORTER, said
    uncited = (each for each in summary_sentences(summary.text) if not cited.get(each))
    return _worded(wording, uncited)


def _worded(wording: Wording, sentences: Iterable[str]) -> tuple[Kept, str]:
    """Return whether a sentence has words, and which: in different ones they say something else."""
    said = next(filter(wording.is_said_in, sentences), "")
    return (Kept.SHORTER, said) if said else (Kept.GONE, "")


def _recalled(archived: Archived, numbers: Collection[int]) -> Iterator[Memory]:
    """Yield the results of own searches that brought memories of a fact back into the window."""
    past = archived.past
    found = {each for number in numbers for each in past.resting_on(number)}.difference(numbers)
    newest = sorted(each for each in found if each > past.state_now.summarised)[-MOST_RECALLED:]
    for memory in memories_at(archived.texts.of(archived.folder), newest) if newest else ():
        if memory.kind is MemoryKind.RESULT and memory.verb == KnownVerb.RECALL:
            yield memory


def _acts_on(past: Past, numbers: frozenset[int]) -> list[int]:
    """Return the numbers of what rests on one of these memories, and is none of them."""
    return sorted({act for number in numbers for act in past.resting_on(number)} - numbers)
