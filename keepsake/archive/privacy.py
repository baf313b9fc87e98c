"""The one rule of privacy: who may hear a memory of words that were whispered.

A whisper is for its speaker and its addressees; a line that a game sent to one person alone is for
that person, and for who sent it. A prompt contains such words only if its audience consists of
those people; else :func:`redacted` gives a substitute.
Text that is made from memories and shown to anybody (summaries, journal, dreams, reflections) is
made from these substitutes. Texts that cite memories by number (facts, observations, rules, recall
results) are checked against the archive with :class:`PrivateWords`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.happening import UNKNOWN, Deed, Manner, Pose, Result, Sight, Speech, What, shown_as
from keepsake.json_lines import parsed

type Audience = frozenset[str]  # ids of those who hear the answer to a prompt, as in ``source_id``

NO_PRIVATE_WORDS: Audience = frozenset()
"""The audience of what may hold no private words at all, because anybody may read it."""


def is_private(memory: Memory) -> bool:
    """Return whether the memory holds words that nobody else could hear."""
    return memory.confidants is not None


def is_redacted(memory: Memory) -> bool:
    """Return whether its private words were left out, as :func:`redacted` does."""
    return is_private(memory) and memory == redacted(memory)


@lru_cache(maxsize=4096)
def redacted(memory: Memory) -> Memory:
    """Return the memory as anybody may know it: that something was whispered, without the words."""
    if not is_private(memory):
        return memory
    who = memory.source or "Somebody"
    what: What
    match memory.what:
        case Speech() as speech if memory.is_own:
            whispered = speech.manner is Manner.WHISPER
            how = "whisper to" if whispered else "speak alone with"
            shown = f"You {how} {memory.to or 'somebody'}."
            what = replace(speech, words="", shown=shown)
            return replace(memory, what=what, reason="")
        case Speech() as speech:
            return replace(memory, what=replace(speech, words="", shown=f"{who} whispers to you."))
        case Result():
            return memory.shown_as("You remember something that was whispered.")
        case Deed() as deed:
            what = replace(deed, objects=(), outcome="")
        case Pose() as pose:
            what = replace(pose, gesture="")
        case Sight() as what:
            pass
    shown = f"{who} shows you something that is for you alone."
    if memory.is_own:
        shown = f"{memory.verb} …"
    return replace(memory, what=shown_as(what, shown), reason="")


class PrivateWords:
    """The private memories of one agent, and with whom each is shared; for any thread.

    Reading them takes time in proportion to the archive. Until they are read, every memory that the
    archive had before counts as private, and nobody may hear a text that rests on one.

    Args:
        unread: The number of the newest memory that is not read yet; 0 if there is none.
    """

    def __init__(self, unread: int = 0) -> None:
        self._unread = unread
        self._read: Mapping[int, Audience] = {}  # from the archive
        self._added: dict[int, Audience] = {}  # archived since
        # all different sets of people who share something with the agent: some dozens
        self._groups: frozenset[Audience] = frozenset()

    @classmethod
    def of(cls, archive: Archive) -> PrivateWords:
        """Load from the whole archive; blocks."""
        found = cls()
        for memory in memories_in(map(parsed, archive.lines_back())):
            found.add(memory)
        return found

    @property
    def is_known(self) -> bool:
        """Whether the private memories of the archive were read."""
        return not self._unread

    def learn(self, read: Mapping[int, Audience]) -> None:
        """Take over what was read from the archive: by number, who else knows a private memory."""
        self._read = read
        self._groups |= frozenset(read.values())
        self._unread = 0  # last, because another thread may be looking something up

    def add(self, memory: Memory) -> None:
        """Register a newly archived memory."""
        if (confidants := memory.confidants) is not None:
            self._added[memory.number] = confidants
            self._groups |= {confidants}

    def confidants(self, number: int) -> Audience | None:
        """Return the identities of those who know a memory; None if anybody may."""
        if 1 <= number <= self._unread:
            return _NOBODY_KNOWN
        added = self._added.get(number)
        return self._read.get(number) if added is None else added  # nobody is no reason to look on

    def is_whispered(self, number: int) -> bool:
        """Return whether a memory is known to be private: for marks on pages, not to keep secrets.

        False as long as the archive is not read; :meth:`confidants` then takes all for private.
        """
        return self.is_known and self.confidants(number) is not None

    def without(self, numbers: Collection[int]) -> PrivateWords:
        """Return the same, for a prompt in which nothing may rest on the memories ``numbers``."""
        return _WithoutMemories(self, frozenset(numbers)) if numbers else self

    def shares_with(self, audience: Audience) -> bool:
        """Return whether a prompt for that audience may hold private words."""
        return not self.is_known or any(_covers(each, audience) for each in self._groups)

    def may_hear(self, numbers: Iterable[int], audience: Audience) -> bool:
        """Return whether all of the audience may hear a text that rests on all those memories."""
        for number in numbers:  # most are not private, and a search asks for hundreds
            confidants = self.confidants(number)
            if confidants is not None and not _covers(confidants, audience):
                return False
        return True

    def confidants_of(self, numbers: Iterable[int]) -> Audience | None:
        """Return who knows all the private ones of those memories; None if none is private."""
        shared = [each for number in numbers if (each := self.confidants(number)) is not None]
        return frozenset.intersection(*shared) if shared else None

    def heard_by(self, memories: Iterable[Memory], audience: Audience) -> tuple[Memory, ...]:
        """Return the memories as the audience may hear them. Each says itself who knows it."""
        return tuple(each if _may_hear(each, audience) else redacted(each) for each in memories)


class PrivateShown:
    """What a prompt may show to its audience, and which private memories it shows.

    Attributes:
        numbers: The numbers of the private memories on which allowed texts rest.
    """

    def __init__(self, private: PrivateWords, audience: Audience) -> None:
        self.numbers: set[int] = set()
        self._private = private
        self._audience = audience

    def may_hear(self, numbers: Iterable[int]) -> bool:
        """Return whether the prompt may show a text that rests on these memories; note them."""
        given = tuple(numbers)
        allowed = self._private.may_hear(given, self._audience)
        if allowed:
            self.numbers.update(n for n in given if self._private.confidants(n) is not None)
        return allowed


class _WithoutMemories(PrivateWords):
    """The private memories of an agent that is asked as if it lacked some of its memories."""

    def __init__(self, of: PrivateWords, numbers: frozenset[int]) -> None:
        super().__init__()
        self._of = of
        self._numbers = numbers

    @property
    def is_known(self) -> bool:
        return self._of.is_known

    def confidants(self, number: int) -> Audience | None:
        return _NOBODY_KNOWN if number in self._numbers else self._of.confidants(number)

    def shares_with(self, audience: Audience) -> bool:
        return self._of.shares_with(audience)

    def heard_by(self, memories: Iterable[Memory], audience: Audience) -> tuple[Memory, ...]:
        kept = (each for each in memories if each.number not in self._numbers)
        return super().heard_by(kept, audience)


_NOBODY_KNOWN: Audience = frozenset({UNKNOWN})
"""The confidants of a memory about which nothing is known yet."""


def _may_hear(memory: Memory, audience: Audience) -> bool:
    confidants = memory.confidants
    return confidants is None or _covers(confidants, audience)


def _covers(confidants: Audience, audience: Audience) -> bool:
    """Return whether everybody who hears the answer knows the words, and somebody does."""
    return UNKNOWN not in confidants and bool(audience) and audience <= confidants
