"""A sentence that somebody said, as an item to follow: by its happening, not by its words.

Who heard it is known by the happening. Where it came from, and who told it on, is known by what the
words rest on and by what the prompts showed. Its words only decide whether a telling is about it,
as a long memory has several things in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache

from keepsake.archive.records import Memory
from keepsake.archive.tool_verbs import TOOL_VERBS
from keepsake.happening import Pose
from keepsake.tracing.bases import PromptBasis, claims, passed_on, rested_on
from keepsake.tracing.content import Content, Rarity, told_in
from keepsake.tracing.items import Evidence
from keepsake.tracing.lines import Line, Lines
from keepsake.tracing.past import Past
from keepsake.tracing.paths import Tracer, Witness
from keepsake.tracing.texts import SegmentTexts, key_of

MOST_CANDIDATES = 500
"""The most tellings in other words that are looked at: those with the most in common."""
_MOST_ROUNDS = 12
"""How often tellings that rest on those found are looked for: each time one step further."""

_MOST_PASSES = 4
"""How often all is looked for: what is found tells how rare the words are in all else."""

type Place = tuple[str, int]
"""The key of an agent, and the number of one of its memories."""


class Archives:
    """The archives of all agents, as a sentence is followed through them.

    Args:
        texts: What the memories of each archive say, by key of the agent.
        pasts: Their pasts, read to their ends.
        names: Their names.
        parts: The words of the sentence, as compared.
        language: Their language.
    """

    def __init__(
        self,
        texts: Mapping[str, Sequence[SegmentTexts]],
        pasts: Mapping[str, Past],
        names: Mapping[str, str],
        parts: Sequence[str],
        language: str,
    ) -> None:
        self.pasts = pasts
        self.names = names
        self.lines = Lines(texts, parts, language)

    def basis(self, key: str, number: int) -> PromptBasis:
        """Return what the prompt of an act showed, from the archive alone."""
        summarised = self.pasts[key].state_when(number).summarised
        return PromptBasis(summarised, summarised, number - 1)


class SaidSentence:
    """A sentence as an item; see :class:`keepsake.tracing.paths.Traceable`.

    Args:
        content: What the sentence says.
        begun: The happenings in which it began, with the words of each.
        given: The memories by which agents know it whatever they knew before.
        always: The happenings that are of it in any case: its own, and those it came from.
    """

    is_sentence = True

    def __init__(
        self,
        content: Content,
        begun: Mapping[str, str],
        given: frozenset[Place],
        always: frozenset[str],
    ) -> None:
        self._content = content
        self._begun = begun
        self._given = given
        self._always = always
        # By happening: the words in which it was passed on, without what else was said.
        self._passed = {happening: text for happening, text in begun.items() if happening}

    def is_given(self, key: str, memory: Memory) -> bool:
        """Return whether an agent knows it by this memory."""
        return (key, memory.number) in self._given

    def begins_with(self, memory: Memory) -> bool:
        """Return whether it began with this memory."""
        return memory.happening in self._begun

    def is_said_in(self, memory: Memory) -> bool:
        """Return whether a memory has words in which it was passed on."""
        passed = self._passed.get(memory.happening) if memory.happening else None
        return passed is not None and self._of(passed).is_verbatim_in(memory.words or memory.text)

    def is_asked_in(self, memory: Memory) -> bool:
        """Return whether somebody only asks about it."""
        if memory.happening in self._always:
            return False
        return self._content.is_asked_in(memory.words, self._content.rarity.total)

    def is_passed_on(self, memory: Memory, basis: Memory, evidence: Evidence) -> bool:
        """Return whether words that may come from a memory of it say it."""
        said = told_in(memory.words)
        found = memory.happening in self._always or self._is_told(said, basis, evidence)
        if found and memory.happening:
            part = self._content.part_said_in(said)
            self._passed.setdefault(memory.happening, part or memory.words)
        return found

    def _is_told(self, said: str, basis: Memory, evidence: Evidence) -> bool:
        content = self._content
        repeats = not evidence.answers or content.is_repeated_in(said)
        if repeats and content.is_said_in(said, evidence.shown):
            return True
        if not evidence.rests:
            return False
        if evidence.answers:
            asked = basis.words or basis.text
            return content.is_said_in(said, evidence.among, linked=True, besides=asked)
        # In words of the sentence, or in other words in which it was told before.
        told = self._passed.get(basis.happening, "")
        ways = (content, self._of(told)) if told else (content,)
        return any(each.is_said_in(said, evidence.among, linked=True) for each in ways)

    def _of(self, text: str) -> Content:
        return Content(text, self._content.rarity, self._content.language)


class Trail:
    """A sentence, followed through all archives.

    Args:
        key: The agent in whose memory it is.
        memory: The memory.
        texts, pasts, names: As for :class:`Archives`.

    Attributes:
        content: What it says.
        witnesses: The memories that were looked at.
        tracer: What was found.
    """

    def __init__(
        self,
        key: str,
        memory: Memory,
        texts: Mapping[str, Sequence[SegmentTexts]],
        pasts: Mapping[str, Past],
        names: Mapping[str, str],
    ) -> None:
        self._key = key
        self._memory = memory
        text = memory.words or memory.text
        first = Content(text, Rarity())
        self._archives = Archives(texts, pasts, names, tuple(first.parts), first.language)
        told = frozenset[str]()
        for _ in range(_MOST_PASSES):
            # In what tells of it its words are no sign that they are common.
            rarity = self._archives.lines.rarity_without(told)
            self.content = Content(text, rarity, first.language)
            self._found: dict[str, dict[int, Memory]] = {each: {} for each in texts}
            self._begun: dict[str, str] = {}
            self._given: set[Place] = set()
            self._always: set[str] = set()
            self._search()
            before = told
            told = self._told()
            if told == before:
                break

    def _search(self) -> None:
        """Look for where it came from, and for who told it on."""
        self._add(self._key, self._memory)
        self._go_back()
        self._look_for_tellings()
        self.witnesses: dict[str, Witness] = {}
        self.tracer = self._traced()

    def _told(self) -> frozenset[str]:
        """Return the other happenings in which it was told."""
        heard = (
            self._found[key][number].happening
            for key, known in self.tracer.known.items()
            for number in known
        )
        said = (step.happening for step in self.tracer.steps.values())
        return frozenset({*heard, *said} - {"", self._memory.happening})

    @property
    def rarity(self) -> Rarity:
        """In how many happenings each of its words is, those that tell of it included."""
        return self._archives.lines.rarity

    @property
    def complete(self) -> bool:
        """Whether all that may say it in other words was looked at."""
        return not self._cut

    def has_memory_behind(self, said: str, key: str, last: int) -> bool:
        """Whether an agent has a memory from which a text may have what it says of it.

        That is one with most of what the text has of it, wherever the agent has that from.

        ``last``: The last memory that counts.
        """
        shared = self.content.shared(said)
        most = self.content.bits(shared) / 2
        mine = self._archives.lines.sharing[key]
        behind = (
            line for line in mine if self.content.bits(shared.intersection(line.parts)) > most
        )
        return any(line.number <= last for line in behind)

    def passed_in(self, memory: Memory) -> str:
        """Return the part of a memory that says it."""
        text = memory.words or memory.text
        return self.content.part_said_in(text) or text

    # -- where it came from

    def _go_back(self) -> None:
        """Find where it began: what the sentence rests on and says, and so on."""
        waiting: list[tuple[str, Memory]] = [(self._key, self._memory)]
        seen: set[str | Place] = set()
        while waiting:
            key, memory = waiting.pop()
            place = memory.happening or (key, memory.number)
            if place in seen:
                continue
            seen.add(place)
            self._always.add(memory.happening)
            own = self._own(memory)
            sources = self._sources(*own) if own is not None else []
            waiting += sources
            if not sources:
                self._begin(key, memory)
        self._always.discard("")

    def _own(self, memory: Memory) -> tuple[str, Memory] | None:
        """Return the agent who said these words, and how it remembers them; None for nobody."""
        line = self._archives.lines.speaker_of(memory.happening)
        own = self._archives.lines.memory(line) if line is not None else None
        return (line.key, own) if line and own and own.own_words is not None else None

    def _begin(self, key: str, memory: Memory) -> None:
        """Note that it began with a happening."""
        own = self._own(memory)
        if own is not None:
            self._begun[memory.happening] = own[1].words
            return
        text = memory.words or memory.text
        self._begun[memory.happening] = text
        self._given.add((key, memory.number))
        spoken = Content(text, Rarity()) if memory.words else None
        for other, heard in self._happened(memory.happening):
            self._add(other, heard)
            # Who only sees that somebody whispers knows nothing of it.
            if spoken is None or spoken.is_verbatim_in(heard.words or heard.text):
                self._given.add((other, heard.number))

    def _sources(self, key: str, memory: Memory) -> list[tuple[str, Memory]]:
        """Return the speaker's earlier memories from which its words come."""
        name = self._archives.names[key]
        basis = self._archives.basis(key, memory.number)
        window = basis.last - basis.before
        # Mostly it is known on which they rest, and none of the others need to be read.
        rested = self._earlier(key, memory, rested_on(name, memory))
        surest = next(claims(name, memory, rested, basis))
        if found := passed_on(self._comes_from, memory, rested, surest, window):
            return [(key, rested[number]) for number in found]
        known = self._earlier(key, memory)
        for claim in claims(name, memory, known, basis):
            found = passed_on(self._comes_from, memory, known, claim, window)
            if found:
                # Of all that a prompt showed, what has most in common; of equals, the first.
                best = max(sorted(found), key=lambda number: self._in_common(known[number]))
                return [(key, known[best])]
        return []

    def _earlier(
        self, key: str, memory: Memory, numbers: Collection[int] | None = None
    ) -> Mapping[int, Memory]:
        """Return an agent's memories from before one that share words with it, or it rests on.

        ``numbers``: Those of the first that are wanted; None for all.
        """
        lines = self._archives.lines
        sharing = (
            line
            for line in lines.sharing[key]
            if line.number < memory.number and (numbers is None or line.number in numbers)
        )
        return {
            each.number: each
            for each in (
                *(each for _, each in lines.memories_of(sharing)),
                *lines.read(key, memory.rests_on),
            )
            if each.number < memory.number and each.verb not in TOOL_VERBS
            if not isinstance(each.what, Pose)  # a gesture tells nothing
        }

    def _comes_from(self, memory: Memory, basis: Memory, evidence: Evidence) -> bool:
        """Whether an earlier memory says what the sentence says.

        An answer has words of its question and says another thing.
        """
        del memory
        text = basis.words or basis.text
        if evidence.rests and not evidence.answers:
            return self.content.is_said_in(text, evidence.among, linked=True)
        said = self.content.is_said_in(text, evidence.shown)
        return said and (not evidence.answers or self.content.is_mostly_in(text))

    def _in_common(self, memory: Memory) -> float:
        return self.content.bits(self.content.shared(memory.words or memory.text))

    # -- who told it on

    def _look_for_tellings(self) -> None:
        """Add what may say it by its words, from when it began on."""
        lines = self._archives.lines
        for happening in self._always:
            self._add_happening(happening)
        began = min(
            (memory.time for some in self._found.values() for memory in some.values()),
            default=datetime.max,
        )
        may_say = cache(self._may_say)  # many lines share the same words
        bits = cache(self.content.bits)
        may = [
            line
            for sharing in lines.sharing.values()
            for line in sharing
            if may_say(line.parts) and not line.is_result
        ]
        may.sort(key=lambda line: bits(line.parts), reverse=True)
        self._cut = len(may) > MOST_CANDIDATES
        lines.find([line.happening for line in may[:MOST_CANDIDATES]])
        for line in may[:MOST_CANDIDATES]:
            memory = lines.memory(line)
            if memory is None or not memory.words:
                continue
            if memory.time < began and not self._is_told_before(memory):
                continue
            if line.is_own:
                self._add(line.key, memory)
                self._add_happening(memory.happening)
            elif lines.speaker_of(memory.happening) is None:
                self._hear_again(line, memory)

    def _is_told_before(self, memory: Memory) -> bool:
        """Whether who says the sentence says most of it, if they have no archive.

        From where they have it nobody knows. What they said before is an earlier telling; of a few
        of the same words it may be another story.
        """
        speaker = self._memory.source_id
        if not speaker or memory.source_id != speaker:
            return False
        content = self.content
        return 2 * content.bits(content.shared(memory.words)) >= content.bits(content.parts)

    def _may_say(self, parts: tuple[str, ...]) -> bool:
        """Whether words of the sentence are enough, if they may come from two memories."""
        return self.content.is_said_in(" ".join(self.content.parts[each] for each in parts), 2)

    def _hear_again(self, line: Line, memory: Memory) -> None:
        """Add words of somebody without an archive: of these nobody knows where they come from."""
        many = self._archives.lines.rarity.total
        if self.content.is_said_in(memory.words, many):
            self._add(line.key, memory)
            if not self.content.is_asked_in(memory.words, many):
                self._given.add((line.key, memory.number))

    def _happened(self, happening: str) -> Iterator[tuple[str, Memory]]:
        """Yield the memories of a happening, each with the key of its agent."""
        lines = self._archives.lines
        for key, memory in lines.memories_of(lines.of(happening)):
            if memory.happening == happening:
                yield key, memory

    def _add_happening(self, happening: str) -> None:
        for key, memory in self._happened(happening):
            self._add(key, memory)

    def _add(self, key: str, memory: Memory) -> None:
        self._found[key][memory.number] = memory

    def _traced(self) -> Tracer:
        """Follow it, and what rests on each telling, until no more is found."""
        tracer = self._trace()
        place = (self._key, self._memory.number)
        if place[1] not in tracer.known[place[0]] and place not in tracer.steps:
            # Where it comes from is not known to its speaker, as in an archive edited by hand.
            self._begin(self._key, self._memory)
            tracer = self._trace()
        for _ in range(_MOST_ROUNDS):
            new = [
                (key, number)
                for key, known in tracer.known.items()
                for basis in known
                for number in self._archives.pasts[key].resting_on(basis)
                if number not in self._found[key]
            ]
            if not new:
                break
            lines = self._archives.lines
            resting = [(key, each) for key, number in new for each in lines.read(key, [number])]
            lines.find([key_of(memory.happening) for _, memory in resting])
            for key, memory in resting:
                self._add(key, memory)
                if memory.own_words is not None:
                    self._add_happening(memory.happening)
            tracer = self._trace()
        return tracer

    def _trace(self) -> Tracer:
        self.witnesses = {
            key: Witness(
                self._archives.names[key],
                tuple(memories[number] for number in sorted(memories)),
                {n: self._archives.basis(key, n) for n, each in memories.items() if each.is_own},
            )
            for key, memories in self._found.items()
        }
        said = SaidSentence(
            self.content, self._begun, frozenset(self._given), frozenset(self._always)
        )
        tracer = Tracer(self.witnesses, said)
        tracer.run()
        return tracer
