"""What gets round: what an agent may tell others of what it saw or was told, by rules alone.

All of it follows from the agent's memories, in their order: what it knows and from whom, what it
has told whom, what was denied, with whom it was lately. Nothing that was whispered is in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from keepsake.archive.privacy import is_private
from keepsake.archive.records import BY_RULE, HEARSAY, Memory, MemoryKind
from keepsake.books.journal.entries import Importance
from keepsake.books.journal.importance import HARM, LIFE, PERSONAL, RULE, SECRET
from keepsake.language import deeds
from keepsake.language.heard import heard, own_words
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import telling

WEIGHTY = 6
"""How much something must matter to be told on at all."""
TOLD_FROM = 5
"""And how much of that must be left: each mouth that it passes takes one."""
LASTS = timedelta(days=7)
"""How long something is news to who tells it."""
OLD_DAYS = 4
"""Days in which what was seen of an ordinary day is nothing to remember again."""
MOST = 64
"""Things that an agent has to tell; the oldest goes."""
LONGEST = 160
_SAME_WORDS = 2
"""Telling words in common from which on a sentence speaks of the same."""
_OF_WHAT_WAS_SAID = frozenset({PERSONAL, LIFE})
_KEPT_TO_ONESELF = frozenset({SECRET, RULE, HARM})

type Weigh = Callable[[Memory], Importance]
type IsAgent = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Rumour:
    """Something that an agent knows and may tell on."""

    origin: str  # whose memory it began with, and its number: ``Nell 17``
    text: str  # what it tells, with names for everybody: ``Tom gave Mira a blue cup.``
    about: str  # whom it tells of, as in :attr:`~keepsake.archive.records.Memory.source_id`
    importance: int  # what is left of it, 1 to 10
    number: int  # the agent's own memory of it
    time: datetime  # when that was
    place: str = ""  # where that was
    # the memories it came by, the first that of who was there; empty for its own
    chain: tuple[str, ...] = ()
    denied_by: str = ""  # who has said that it is not so; empty for nobody

    @property
    def tellers(self) -> tuple[str, ...]:
        """Who told it to whom, the one who was there first; empty for an own memory."""
        return tuple(link.rpartition(" ")[0] for link in self.chain)

    @property
    def is_deed(self) -> bool:
        """Whether something was done, and not only said."""
        return not _ONLY_SAID.match(self.text)

    @property
    def is_news(self) -> bool:
        """Whether enough of it is left to be told on, and nobody has denied it."""
        return self.importance >= TOLD_FROM and not self.denied_by

    @property
    def words(self) -> str:
        """As its owner says it, which tells whose word it is."""
        if not self.chain:
            return f"I {'saw' if self.is_deed else 'heard'} it myself: {self.text}"
        if len(self.chain) == 1:
            return f"{self.tellers[-1]} tells me: {self.text}"
        return f"They say, and I have it from {self.tellers[-1]}: {self.text}"

    def told_by(self, own_name: str) -> Rumour:
        """The same with no name for its owner: ``Tom gave me a blue cup``."""
        mine = re.sub(rf"\b{re.escape(own_name)}['’]s\b", "my", self.text)
        return replace(self, text=re.sub(rf"\b{re.escape(own_name)}\b", "me", mine))

    @property
    def evidence(self) -> str:
        """Where its owner has it from, in its own words."""
        when = f"on {self.time.astimezone():%A}"
        if not self.chain:
            how = "I saw it myself" if self.is_deed else "I heard it myself"
            return f"Nobody told me, {how} {when} in {self.place or 'the village'}: {self.text}"
        teller = self.tellers[-1]
        rest = " and ".join(
            f"{later} had it from {earlier}"
            for later, earlier in zip(self.tellers[:0:-1], self.tellers[-2::-1], strict=True)
        )
        first = f"{self.tellers[0]} was there"
        how = f"{rest}, and {first}" if rest else first
        denied = f" {self.denied_by} says that it is not so." if self.denied_by else ""
        return f"{teller} told me so {when}; {how}: {self.text}{denied}"

    def told_to(self, own_name: str) -> dict[str, object]:
        """What goes along when its owner tells it: what is left of it, and the chain."""
        chain = "; ".join((*self.chain, f"{own_name} {self.number}"))
        left = self.importance - 1
        return {"importance": left, "chain": chain, "about": self.about}


class Hearsay:
    """What one agent may tell on, and to whom; quick, but for what was lived before.

    Args:
        own_name: The agent's name.
        weigh: How much a memory matters.
        is_agent: Whether that is who an agent is; what they say is not told on, but deeds are.

    Attributes:
        read: Whether what was lived through before is in it.
        seen: When each line of an ordinary day was seen last, or done, and who did one.
        met: When it last met somebody by rule, by who that is.
        went: When it last went somewhere by its own will.
    """

    def __init__(self, own_name: str, weigh: Weigh, is_agent: IsAgent = lambda _: False) -> None:
        self._own_name, self._weigh, self._is_agent = own_name, weigh, is_agent
        self.read = False
        self.seen: dict[str, date] = {}
        self.met: dict[str, datetime] = {}
        self.went = datetime.min.replace(tzinfo=UTC)
        self._known: dict[str, Rumour] = {}
        self._told: set[tuple[str, str]] = set()
        self._spoken = ""
        self._through = 0

    # -- from what is lived

    def of_before(self, memories: Iterable[Memory]) -> Hearsay:
        """What follows from memories of before, oldest first; changes nothing, in any thread."""
        before = Hearsay(self._own_name, self._weigh, self._is_agent)
        for memory in memories:
            before.saw(memory)
        return before

    def begin_with(self, before: Hearsay) -> None:
        """Take that in under what was lived through meanwhile."""
        self._known = before._known | self._known
        self._told |= before._told
        self.seen = before.seen | self.seen
        self.met = before.met | self.met
        self.went = max(before.went, self.went)
        self._spoken = self._spoken or before._spoken
        self._through = max(self._through, before._through)
        self.read = True

    def saw(self, memory: Memory) -> None:
        """Take in a new memory."""
        if memory.number <= self._through or is_private(memory):
            return
        self._through = memory.number
        if memory.event in BY_RULE or memory.event in _WAYS:
            self._passed(memory)
        if memory.kind is MemoryKind.ACT:
            self._did(memory)
        elif memory.kind is MemoryKind.PERCEPTION and memory.source:
            self._perceived(memory)

    def _passed(self, memory: Memory) -> None:
        self.seen[memory.text] = self.seen[memory.source_id] = memory.time.astimezone().date()
        own = memory.kind is MemoryKind.ACT
        if own and memory.to_id:
            self.met[memory.to_id] = memory.time
        elif memory.event == HEARSAY:
            self.met[memory.source_id] = memory.time

    def _did(self, memory: Memory) -> None:
        if memory.text.startswith("go "):
            self.went = memory.time
        if memory.event == HEARSAY:
            self._spoken = _origin(memory.chain)
            self._told.add((self._spoken, memory.to_id))
        elif (said := own_words(memory)) and (rumour := self._spoken_of(said.words)):
            self._spoken = rumour.origin
            self._told.add((rumour.origin, memory.to))

    def _perceived(self, memory: Memory) -> None:
        if memory.event == HEARSAY:
            self._heard(memory)
        elif (said := heard(memory)) and (denial := _NOT_SO.search(said.words)):
            meant = self._spoken if said.to == "you" and denial["it"] else ""
            denied = self._spoken_of(said.words) or self._known.get(meant)
            # Where the agent was there itself it knows better; all else waits.
            if denied is not None and denied.chain and not denied.denied_by:
                self._known[denied.origin] = replace(denied, denied_by=said.who)
        elif (rumour := self._own(memory)) is not None:
            self._keep(rumour)

    def _heard(self, memory: Memory) -> None:
        said, origin = heard(memory), _origin(memory.chain)
        self._told.add((origin, memory.source_id))  # who tells it need not be told
        if said is None or origin in self._known or origin.startswith(f"{self._own_name} "):
            return
        self._spoken = origin
        text, chain = said.words.partition(": ")[2], tuple(memory.chain.split("; "))
        lived = memory.number, memory.time, memory.place
        self._keep(Rumour(origin, text, memory.to_id, memory.importance, *lived, chain))

    def _keep(self, rumour: Rumour) -> None:
        self._known[rumour.origin] = rumour
        while len(self._known) > MOST:
            del self._known[min(self._known, key=lambda each: self._known[each].time)]

    def _own(self, memory: Memory) -> Rumour | None:
        """What the agent was there for, if it may be told on."""
        if self._is_agent(memory.source_id) and heard(memory):
            return None
        mattered = self._weigh(memory)
        if mattered.score < (TOLD_FROM if memory.event in deeds.RULED else WEIGHTY):
            return None
        text = _claim(memory, self._own_name, mattered)
        if not text:
            return None
        origin = f"{self._own_name} {memory.number}"
        lived = memory.number, memory.time, memory.place
        return Rumour(origin, text, memory.source_id, mattered.score, *lived)

    def is_old(self, line: str, now: datetime, days: int = OLD_DAYS) -> bool:
        """Whether a line of an ordinary day was seen so few days ago that it says nothing new."""
        seen = self.seen.get(line)
        return seen is not None and (now.astimezone().date() - seen).days < days

    def _spoken_of(self, words: str, least: int = _SAME_WORDS) -> Rumour | None:
        """The newest of what it knows that these words speak of."""
        told = telling(words)
        shared = [
            (len(told & telling(each.text)), each.number, each) for each in self._known.values()
        ]
        best = max(shared, key=lambda each: each[:2], default=(0, 0, None))
        return best[2] if best[0] >= least else None

    # -- to others

    def knows(self, rumour: Rumour) -> bool:
        """Whether it has that already, from whomever, or was there itself."""
        return rumour.origin in self._known or rumour.text in (
            each.text for each in self._known.values()
        )

    def for_(self, who: str, name: str, now: datetime, other: Hearsay) -> Rumour | None:
        """What it tells somebody now, the weightiest first; None for nothing new.

        Args:
            who: Who that is, as in :attr:`~keepsake.archive.records.Memory.source_id`.
            name: Their name; who has told it, or whom it tells of, need not be told.
            now: The time.
            other: What they know already.
        """
        return self._weightiest(
            now,
            lambda each: (
                (each.origin, who) not in self._told
                and name not in each.tellers
                and each.about != who
                and not other.knows(each)
            ),
        )

    def news_of(self, who: str, name: str, now: datetime) -> Rumour | None:
        """What it knows of somebody and has not spoken of to them, the weightiest first."""
        told = self._told
        return self._weightiest(
            now,
            lambda each: each.about == who and each.is_deed and (each.origin, name) not in told,
        )

    def _weightiest(self, now: datetime, fits: Callable[[Rumour], bool]) -> Rumour | None:
        news = (each for each in self._known.values() if each.is_news and now - each.time < LASTS)
        return max(
            filter(fits, news), key=lambda each: (each.importance, each.number), default=None
        )

    def asked_of(self, words: str, before: str) -> Rumour | None:
        """What somebody means who asks who told the agent that; None if they do not ask.

        ``before``: What was said in the talk before.
        """
        if (asked := _WHO_TOLD.search(words)) is None:
            return None
        rest = _END.split(words[asked.end() :], maxsplit=1)[0]
        if not _THAT.fullmatch(rest) and (of_what := telling(rest)):
            return self._spoken_of(rest, min(_SAME_WORDS, len(of_what)))
        found = self._spoken_of(words) or self._spoken_of(before)
        return found or self._known.get(self._spoken)


_WAYS = frozenset({"traverse", "move"})
"""The ``event`` of somebody who comes or goes."""
_NOT_SO = re.compile(
    r"\b(?:(?P<it>(?:(?:that|it|this)(?: is|['’]s| was) (?:not|never)|(?:is|was)n['’]t|not)"
    r" (?:so|true|right)\b|untrue|never happened|no truth in|(?:a|all) lies?\b"
    r"|don['’]t believe (?:it|that|a word))"
    r"|[A-Z]\w* (?:never|did not|didn['’]t|has not|hasn['’]t|was not|wasn['’]t))"
)
_WHO_TOLD = re.compile(
    r"\bwho (?:told|said|says|has told|is saying)\b|\bwho['’]s (?:been )?(?:saying|telling)\b"
    r"|\b(?:where|how|from whom|who) did you (?:hear|learn|get)\b|\bhow do you know\b"
    r"|\bwhose word\b|\bwho do you have (?:it|that) from\b",
    re.I,
)
_END = re.compile(r"[.?!]")
_THAT = re.compile(
    r"\W*(?:you\s+)?(?:(?:about|of)\s+)?(?:that|this|it|so|such)\b(?:\s+an?\b)?(?:\s+\w+)?\W*",
    re.I,
)
"""What names nothing, and means what was spoken of: ``that``, ``such a story``."""
_ONLY_SAID = re.compile(r"[^:.]{1,60} (?:said|told [^:.]{1,48}): ")
_VERBS = """
    gives/gave brings/brought takes/took puts/put tells/told speaks/spoke keeps/kept asks/asked
    holds/held finds/found writes/wrote reads/read lays/laid stops/stopped stands/stood goes/went
    sets/set burns/burned wears/wore laughs/laughed digs/dug
"""
_PAST = dict(pair.split("/") for pair in _VERBS.split())
_PRESENT = re.compile(rf"\b(?:{'|'.join(_PAST)})\b")
_YOU = re.compile(r"\byou(?:r|rs)?\b", re.I)


def _origin(chain: str) -> str:
    return chain.partition("; ")[0]


def _claim(memory: Memory, own_name: str, mattered: Importance) -> str:
    """What a memory tells, for who was not there; empty for what is not told on."""
    said = heard(memory)
    if said is None:
        # What a deed means to the agent itself may be its secret: others tell what they saw.
        public = memory.event in deeds.RULED and not _YOU.search(memory.text)
        if not (public or deeds.given_to_me(memory)):
            return ""
        text = _PRESENT.sub(lambda verb: _PAST[verb[0]], _YOU.sub(own_name, memory.text))
        return shorten(for_prompt(text), LONGEST)
    reasons = frozenset(mattered.reasons)
    if said.words.rstrip().endswith("?") or not (
        reasons & _OF_WHAT_WAS_SAID and reasons.isdisjoint(_KEPT_TO_ONESELF)
    ):
        return ""
    to = own_name if said.to == "you" else said.to
    head = f"{said.who} told {to}" if to else f"{said.who} said"
    return shorten(f"{head}: {for_prompt(said.words)}".replace('"', "'"), LONGEST)
