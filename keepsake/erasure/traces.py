"""What a person left behind: how their memories, and texts made from them, are recognised.

Who said or did something is known by identity. A name decides only where an archive of an early
version has no identity, and in texts without fields (summaries, journals, notes). A name that is an
everyday word, such as Will, never decides anything.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keepsake.archive.records import Memory
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.phrases import Phrase, PhraseSet, quotable, terms
from keepsake.happening import ME, Deed, Person, Pose, Result, Speech, actor_of, addressees_of
from keepsake.language.citations import citations_in
from keepsake.language.everyday import everyday_words, is_everyday
from keepsake.language.perception import COMMON_WORDS
from keepsake.language.perception import names as is_named
from keepsake.prompt.verbs import PRIVATE, VERBS

SHORTEST = 4
"""The fewest letters of a word that can be a person's own."""
_SHOWN = 3
"""The fewest words of a line on a screen that is searched for: ``Tom says, "Hello."``."""
_LABELS = """
    asked created importance meetings memories memory model names notes place promise reason rule
    source tags through title told updated whispered written
"""
_FORMAT_WORDS = COMMON_WORDS.union(_LABELS.split(), (verb.name for verb in VERBS))
"""Words that are nobody's own, because Keepsake writes them itself, and names of commands."""
_MOST_ROUNDS = 6
"""The most agents in a row through whom words are followed: Otto told Mira, Mira told Joss …"""


@dataclass(frozen=True, slots=True)
class AgentMemories:
    """The memories of one agent, for a search.

    Attributes:
        agent: The agent's folder. It identifies the agent in :class:`Traces`.
        name: The agent's name, as it stands in :attr:`Memory.chain`.
        read: Reads all its memories from the disk, oldest first; deleted ones are left out.
        profile: The agent's persona: its words are nobody's own.
    """

    agent: str
    name: str
    read: Callable[[], Iterable[Memory]]
    profile: str = ""


class Traces:
    """What a person left behind in the archives of all agents.

    Attributes:
        person: The person.
        numbers: The numbers of the memories that are deleted, by agent.
        theirs: The numbers of those in which the person spoke or acted, by agent.
        sources: The numbers of what other agents passed on, by agent. An answer that rests on them
            or on :attr:`theirs` may hold what the person said.
        happenings: The ids of what happened in those memories, the same in all archives.
        own: Words that only this person used, in lower case, everyday words included.
        rare: Those of them that are no everyday words.
        names: The names that mean this person in a text: no everyday words, and nobody else's.
        quoted: Sentences and runs of words that only this person used.
        lines: The lines of the deleted memories as they were read on screens, and the sentences in
            them that others said, such as answers to this person.
    """

    def __init__(self, person: ForgottenPerson) -> None:
        self.person = person
        self.numbers: dict[str, set[int]] = defaultdict(set)
        self.theirs: dict[str, set[int]] = defaultdict(set)
        self.sources: dict[str, set[int]] = defaultdict(set)
        self.happenings: set[str] = set()
        self.links: set[str] = set()  # ``Nell 17``, as in :attr:`Memory.chain`
        self.own: set[str] = set()
        self.rare: set[str] = set()
        self.quoted = PhraseSet()
        self.lines = PhraseSet()
        self.names: set[str] = set()
        self._known_as: set[str] = {person.name}
        self._others: set[str] = set()
        # the names of people with another identity; they mean nobody for certain
        self._namesakes: set[str] = set()
        self._settle()

    # -- collecting

    def collect(self, archives: Iterable[AgentMemories]) -> None:
        """Add what the archives hold of the person; reads each of them several times, and blocks.

        Call it before anything is deleted: texts are recognised by what the archives hold.

        Raises:
            OSError: An archive cannot be read.
        """
        archives = list(archives)
        self._collect_names(archives)
        self._follow(archives)
        self._collect_words(archives)
        # Quotations can be recognised now, and lines that go on from a quotation.
        self._follow(archives)

    def _collect_names(self, archives: Iterable[AgentMemories]) -> None:
        """Find the names by which the person was known, and those of others."""
        for archive in archives:
            for memory in archive.read():
                actor = actor_of(memory.what)
                for each in _people(memory):
                    if each.id == self.person.key:
                        self._known_as.add(each.name)
                    elif each.id or each == actor:
                        self._others.add(each.name)
                        if each.id and each != ME:
                            self._namesakes.add(each.name)
        self._settle()

    def _settle(self) -> None:
        """Derive what is looked up often."""
        mine = {self.person.name, *(self._known_as - self._others)} - self._namesakes - {""}
        self.names = {name for name in mine if not is_everyday(name)}
        self.rare = self.own - everyday_words()
        # Old Tom is not Tom.
        longer = self._others - mine
        longer = {each for each in longer if any(is_named(each, name) for name in self.names)}
        self._longer = sorted(longer, key=len, reverse=True)

    def _follow(self, archives: Iterable[AgentMemories]) -> None:
        """Find the memories of the person, and those through which agents passed them on."""
        archives = list(archives)
        for _ in range(_MOST_ROUNDS):
            before = self._count()
            for archive in archives:
                for memory in archive.read():
                    if self.involves(archive.agent, memory):
                        self.add(archive.agent, memory, archive.name)
            if self._count() == before:
                return

    def _count(self) -> int:
        return sum(map(len, self.numbers.values())) + len(self.happenings)

    def add(self, agent: str, memory: Memory, name: str = "") -> None:
        """Add a memory of the person that the agent has."""
        self.numbers[agent].add(memory.number)
        if self._is_by(memory) or memory.about == self.person.key:
            self.theirs[agent].add(memory.number)
        to_them = any(map(self._is_person, addressees_of(memory.what)))
        if memory.source_id in self.person.agents and not to_them:
            self.sources[agent].add(memory.number)
        if memory.happening:
            self.happenings.add(memory.happening)
        if name:
            self.links.add(f"{name} {memory.number}")

    def _collect_words(self, archives: Iterable[AgentMemories]) -> None:
        """Find the words and phrases that only this person used."""
        archives = list(archives)
        said = _FirstUses()
        lines = set[Phrase]()
        for archive in archives:
            self._add_words(archive, said, lines)
        for archive in archives:
            self._drop_common_words(archive, said, lines)
        self.own |= {word for word in said.words if len(word) >= SHORTEST} - _FORMAT_WORDS
        for phrase in said.phrases:
            self.quoted.add(phrase)
        for line in lines:
            self.lines.add(line)
        self._settle()

    def _add_words(self, archive: AgentMemories, said: _FirstUses, lines: set[Phrase]) -> None:
        """Add the words in the person's memories: what the person said, and the lines."""
        for memory in archive.read():
            if memory.number not in self.numbers[archive.agent]:
                continue
            # Overheard words and the agent's answers are not the person's.
            if memory.number in self.theirs[archive.agent] and not memory.is_own:
                said.add(_words_of(memory), memory.time)
            else:
                lines.update(quotable(_words_of(memory)))
            shown = terms(memory.text)
            if len(shown) >= _SHOWN:
                lines.add(shown)

    def _drop_common_words(
        self, archive: AgentMemories, said: _FirstUses, lines: set[Phrase]
    ) -> None:
        """Drop what is not the person's own, because it is in other memories, too."""
        said.drop(archive.profile)
        for memory in archive.read():
            if memory.number in self.numbers[archive.agent]:
                continue
            text = _words_of(memory) if memory.words or memory.is_own else memory.text
            lines.difference_update(quotable(text))
            lines.discard(terms(memory.text))
            # An agent may have the words from the person, unless it used them first. What it
            # said to other agents is in its own archive, after the words that it had heard.
            if memory.source_id not in self.person.agents:
                said.drop(text, memory.time if memory.is_own else None)

    # -- recognising memories

    def involves(self, agent: str, memory: Memory) -> bool:
        """Return whether a memory of an agent is deleted.

        It is if the person said or did it, was addressed, or is who it is about; if it is of the
        same happening as a deleted memory, or hearsay that rests on one; or if an agent passed on
        what they said.
        """
        if memory.number in self.numbers[agent]:
            return True
        if memory.happening and memory.happening in self.happenings:
            return True
        if self.person.key == memory.about or self.links.intersection(memory.chain.split("; ")):
            return True
        if any(map(self._is_person, _people(memory))):
            return True
        if isinstance(memory.what, Result):
            # What a tool of the memory said of an act; a look may show the person's name.
            of_tool = memory.verb in PRIVATE
            return of_tool and (
                memory.what.act in self.numbers[agent] or self._passes_on(agent, memory)
            )
        is_agents = memory.is_own or memory.source_id in self.person.agents
        return is_agents and self._passes_on(agent, memory)

    def _passes_on(self, agent: str, memory: Memory) -> bool:
        """Return whether an agent's line or act passes on what the person said or did."""
        text = f"{_words_of(memory)} {memory.reason}"
        knows = bool(self.numbers[agent])  # else the name may be anybody's
        if knows and self.named(text):
            return True
        found = terms(text)
        if self.quoted.is_in(found):
            return True
        cited = (self.theirs[agent] | self.sources[agent]).intersection(memory.rests_on)
        if cited and (len(cited) == len(memory.rests_on) or self.own.intersection(found)):
            return True
        # An early archive has no ids of happenings: a word that is rare decides.
        return knows and not memory.happening and not self.rare.isdisjoint(found)

    def _is_by(self, memory: Memory) -> bool:
        actor = actor_of(memory.what)
        return actor is not None and self._is_person(actor)

    def _is_person(self, somebody: Person) -> bool:
        if somebody.id:
            return somebody.id == self.person.key
        return somebody.name in self.names

    # -- recognising texts

    def named(self, text: str) -> bool:
        """Return whether ``text`` contains their name, other than as part of another name."""
        text = text.replace("’", "'")
        for longer in self._longer:
            text = re.sub(rf"(?<!\w){re.escape(longer)}(?!\w)", " ", text, flags=re.I)
        return any(is_named(text, name) for name in self.names)

    def matches(self, text: str, agent: str) -> bool:
        """Return whether a text of an agent contains their name or words, or cites a memory."""
        if self.person.is_named_by_key(text):
            return True
        known = self.numbers[agent]  # if empty, the agent does not know them: the name is anybody's
        if known and (self.named(text) or _cites(text, known)):
            return True
        found = terms(text)
        return (
            not self.rare.isdisjoint(found) or self.quoted.is_in(found) or self.lines.is_in(found)
        )

    # -- as plain data

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object, for :meth:`from_record`."""
        return {
            "person": [self.person.key, self.person.name, sorted(self.person.agents)],
            "numbers": {agent: sorted(found) for agent, found in self.numbers.items() if found},
            "theirs": {agent: sorted(found) for agent, found in self.theirs.items() if found},
            "sources": {agent: sorted(found) for agent, found in self.sources.items() if found},
            "happenings": sorted(self.happenings),
            "links": sorted(self.links),
            "own": sorted(self.own),
            "quoted": sorted(self.quoted),
            "lines": sorted(self.lines),
            "names": sorted(self._known_as),
            "others": sorted(self._others),
            "namesakes": sorted(self._namesakes),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Traces:
        """Read what :meth:`to_record` made.

        Raises:
            KeyError, ValueError, TypeError: A field is missing or wrong.
        """
        key, name, agents = record["person"]
        traces = cls(ForgottenPerson(key, name, frozenset(agents)))
        for agent, found in record["numbers"].items():
            traces.numbers[agent] |= set(found)
        for agent, found in record["theirs"].items():
            traces.theirs[agent] |= set(found)
        for agent, found in record["sources"].items():
            traces.sources[agent] |= set(found)
        traces.happenings |= set(record["happenings"])
        traces.links |= set(record["links"])
        traces.own |= set(record["own"])
        traces.quoted = PhraseSet(map(tuple, record["quoted"]))
        traces.lines = PhraseSet(map(tuple, record["lines"]))
        traces._known_as |= set(record["names"])
        traces._others |= set(record["others"])
        traces._namesakes |= set(record.get("namesakes", ()))  # of an earlier version's request
        traces._settle()
        return traces

    def add_all(self, earlier: Traces) -> None:
        """Add what was collected earlier for the same person."""
        for agent, found in earlier.numbers.items():
            self.numbers[agent] |= found
        for agent, found in earlier.theirs.items():
            self.theirs[agent] |= found
        for agent, found in earlier.sources.items():
            self.sources[agent] |= found
        self.happenings |= earlier.happenings
        self.links |= earlier.links
        self.own |= earlier.own
        for phrase in earlier.quoted:
            self.quoted.add(phrase)
        for phrase in earlier.lines:
            self.lines.add(phrase)
        self._known_as |= earlier._known_as
        self._others |= earlier._others
        self._namesakes |= earlier._namesakes
        self._settle()


def _cites(text: str, numbers: Collection[int]) -> bool:
    """Return whether a text cites a memory with one of the numbers, alone or in a range."""
    return any(
        any(cited.first <= number <= cited.last for number in numbers)
        for cited in citations_in(text)
    )


def _people(memory: Memory) -> Iterator[Person]:
    """Yield the people in the fields of a memory, without the agent itself."""
    actor = actor_of(memory.what)
    for each in (*((actor,) if actor else ()), *addressees_of(memory.what)):
        if each != ME and (each.name or each.id):
            yield each


def _words_of(memory: Memory) -> str:
    """Return what was said, or the text without the verb of an own act."""
    match memory.what:
        case Speech(words=words) if words:
            return memory.told or words
        case Pose(gesture=gesture) if gesture:
            return gesture
        case Deed(objects=objects) if memory.is_own:
            return " ".join([*objects, memory.to])
    return memory.text


class _FirstUses:
    """Words and phrases of a person, and when the person first used them."""

    def __init__(self) -> None:
        self.words: dict[str, datetime] = {}
        self.phrases: dict[Phrase, datetime] = {}

    def add(self, text: str, time: datetime) -> None:
        """Add the words and phrases of a text."""
        for word in terms(text):
            self.words[word] = min(time, self.words.get(word, time))
        for phrase in quotable(text):
            self.phrases[phrase] = min(time, self.phrases.get(phrase, time))

    def drop(self, text: str, time: datetime | None = None) -> None:
        """Drop what somebody else used: at any time, or at ``time`` if that was before."""
        for word in terms(text):
            if (first := self.words.get(word)) and (time is None or time < first):
                del self.words[word]
        for phrase in quotable(text):
            if (first := self.phrases.get(phrase)) and (time is None or time < first):
                del self.phrases[phrase]
