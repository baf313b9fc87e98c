"""What may stand in the prompt of a reply: plain sentences about people who have names.

Everything that an agent has comes down to one kind of thing here, a :class:`Sentence`: what its
profile says, what somebody told it (in the window or found by recall), notes, pins, summaries, what
was promised, the room. Which of them are worth their place is decided in
:mod:`keepsake.prompt.reply.worth`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache

from keepsake.archive.privacy import is_private
from keepsake.archive.records import SCENE, Memory, MemoryKind
from keepsake.books.hearsay import Rumour
from keepsake.books.profiles.observing import HEARSAY
from keepsake.books.profiles.profile import Profile
from keepsake.language import deeds
from keepsake.language.heard import Utterance, heard, without_hello
from keepsake.language.patterns import pattern
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.pronouns import in_first_person
from keepsake.language.questions import tells_nothing, without_asking
from keepsake.language.words import (
    DAY,
    MONTHS,
    listed,
    sentences,
    spelled_out,
    telling,
    words,
)
from keepsake.memory import MemoryContext
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.related import SearchResult

LONGEST = 220
"""Characters of one sentence, or of one quotation."""
_SHORT = 4
"""Fewer words of which one says something tell nothing by themselves."""
_TIES = "Others you know."
_LONGEST_NAME = 40
_REFERENCE = re.compile(r"\s*\(memor(?:y|ies) \d[\d ,–-]*\)")
_ASIDE = re.compile(r"\([^()]*\)")
_LIST_MARK = re.compile(r"^\s*(?:[-*•#>]+\s*|\d{1,3}[.)]\s+)+")
_WEIGHED = re.compile(r"^\[[^\]]{1,60}\] ")
"""What stands before a line of the journal: its day, and how much it mattered."""
_DATED = re.compile(rf"^(?:[-*•] )?(?:{DAY}: )?")
_DAY_AHEAD = re.compile(
    rf"^\W*(?P<day>\d{{1,2}}) (?P<month>{'|'.join(month[:3] for month in MONTHS)})\b"
)
_PROMISED = re.compile(r'(?:You|I) promised(?P<to> [^:,"]{1,48})?[:,] "?(?P<words>[^"]+)"?$')
_TOLD = re.compile(
    r"(?P<who>[^:,\"]{1,48}?) (?:said|told|asked|whispered|shouted)"
    r"(?: to)?(?: (?P<to>[^:,\"]{1,48}))?"
    r"(?:: (?P<plain>[^\"].*)|[:,] \"(?P<words>.+)\")$",
    re.S,
)
"""How profiles, journal and summaries keep what somebody said."""
_I_AM = re.compile(r"^(?:I['’]m|I am|My name is)\b", re.I)
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class SentenceOrigin(StrEnum):
    """Where a sentence comes from."""

    SELF = "who it is"
    TIE = "others it knows"
    PLACE = "situation"
    PARTNER = "told by the speaker"
    OTHER = "told by others"
    KEPT = "notes and pins"
    SUMMARY = "summaries"
    EVERYDAY = "an ordinary day"
    COMPANY = "who is there"
    WAYS = "ways out"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something that can stand in the prompt of a reply."""

    text: str  # as the prompt shows it
    bare: str  # what is compared with the question: the words alone, without who said them
    origin: SentenceOrigin  # where it comes from
    who: str = ""  # who said it; empty for nobody
    time: datetime = _BEGINNING  # when it was said; the beginning of time for what always holds
    number: int = 0  # the memory that it stands in; 0 for none
    # as the profile has it, in words to the agent: "You take your tea with sugar."
    written: str = ""
    confided: bool = False  # whether it was whispered, and the answer is for somebody else
    overheard: bool = False  # whether it was said to somebody else
    aside: bool = False  # whether it was said beside a question, and leads to that

    @property
    def is_quoted(self) -> bool:
        """Whether it is what somebody said, and not what they did."""
        return bool(self.who) and self.bare != self.text

    @property
    def to_agent(self) -> str:
        """As chat messages show it, in which the agent is "you"."""
        if self.who:
            return self.text.replace(f"{self.who} told me", f"{self.who} told you", 1)
        return self.written or self.text


@lru_cache(maxsize=256)
def of_profile(profile: str) -> tuple[Sentence, ...]:
    """The sentences of a profile, in the first person; its ties to others behind them."""
    own, _, ties = profile.partition(_TIES)
    found = [(in_first_person(each), each) for each in _sentences(own)]
    known = [(_tie(in_first_person(each)), _tie(each)) for each in _sentences(ties)]
    names = [name for each in _sentences(ties) if (name := _tied(each))]
    if len(names) > 1:  # "Who lives here?" is answered by no single tie
        everybody = f"The people I know who live here are {listed(names)}."
        known.append((everybody, everybody.replace(" I ", " you ")))
    return (
        *(Sentence(text, text, SentenceOrigin.SELF, written=each) for text, each in found),
        *(Sentence(text, text, SentenceOrigin.TIE, written=each) for text, each in known),
    )


def _tied(text: str) -> str:
    """Whom a tie is to; empty if it names nobody."""
    name, colon, _ = text.partition(": ")
    return name if colon and len(name) <= _LONGEST_NAME else ""


def _tie(text: str) -> str:
    """A tie as one says it: "Bram brings apples" for "Bram: he brings apples"."""
    name, _, what = text.partition(": ")
    if not _tied(text):
        return text
    first, _, rest = what.partition(" ")
    if first.casefold() in ("he", "she", "they", "it"):
        return f"{name} {rest}"
    own = first in ("I", "I'm", "I’m") or first.casefold() in _OWNERS
    return f"As for {name}, {what}" if own else f"{name} is {what}"


_OWNERS = frozenset({"my", "your", "you", "you're", "you’re", "his", "her", "their"})


def of_place(
    description: str, company: Sequence[str], name: str = "", ways: Sequence[str] = ()
) -> tuple[Sentence, ...]:
    """What the room looks like, its ways out, and who is there beside those who talk."""
    here = f"{listed(company)} {'are' if len(company) > 1 else 'is'} here with me."
    here = here if company else "Nobody is here but you and me."
    found = [Sentence(each, each, SentenceOrigin.PLACE) for each in _sentences(description)]
    if ways:
        text = f"The ways out of {name}: {' and '.join(ways)}."
        found.append(Sentence(text, text, SentenceOrigin.WAYS))
    return (*found, Sentence(here, here, SentenceOrigin.COMPANY))


def of_home(name: str, description: str) -> tuple[Sentence, ...]:
    """What the agent's home looks like, while it is elsewhere."""
    told = [
        f"{each[:-1]}, in {name}." if each.endswith(".") else f"{each} So it is in {name}."
        for each in _sentences(description)
    ]
    return tuple(Sentence(each, each, SentenceOrigin.PLACE) for each in told)


class WindowReader:
    """Reads a window that slides: a line once for each partner, as long as it is in there."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Memory, dict[str, list[Sentence]]]] = {}

    def read(self, window: Iterable[Memory], partner: str) -> list[Sentence]:
        """What others said in the window, as it is told to ``partner``."""
        before, self._read = self._read, {}
        found: list[Sentence] = []
        for memory in window:
            read = before.get(memory.number)
            if read is None or read[0] != memory:  # it was edited, or forgotten in part
                read = (memory, {})
            self._read[memory.number] = read
            if partner not in read[1]:
                read[1][partner] = of_memory(memory, partner)
            found += read[1][partner]
        return found


def of_memory(memory: Memory, partner: str) -> list[Sentence]:
    """What somebody else said or did in one memory, as sentences that name them."""
    if memory.kind is not MemoryKind.PERCEPTION:
        return []
    said = heard(memory)
    if said is not None:
        return list(_said(said, memory, partner))
    if memory.event in ("give", "pose", *deeds.RULED) and memory.source:
        text = closed(in_first_person(for_prompt(memory.told, limit=LONGEST)))
        origin = SentenceOrigin.PARTNER if memory.source == partner else SentenceOrigin.OTHER
        return [Sentence(text, text, origin, memory.source, memory.time, memory.number)]
    return []


def of_observations(profile: Profile | None, partner: str) -> list[Sentence]:
    """What a profile keeps of what somebody said, and of what others said of them.

    It reaches back beyond the window, and does not depend on the words of the question.
    """
    found: list[Sentence] = []
    for each in profile.observations if profile is not None else ():
        if (said := _told(each.text.removeprefix(HEARSAY))) is not None:
            memory = Memory(each.number, each.time, MemoryKind.PERCEPTION, "")
            found += _said(replace(said, to=said.to or "you"), memory, partner)
    return found


def _told(text: str) -> Utterance | None:
    """Who said what to whom, in a line that is kept of it."""
    told = _TOLD.match(text)
    if told is None:
        return None
    to = "you" if told["to"] == "me" else told["to"] or ""
    return Utterance(told["who"], told["plain"] or told["words"], to)


def of_rumour(rumour: Rumour, *, asked: bool) -> Sentence:
    """What the agent knows of somebody by sight or hearsay; who told it that, if that is asked."""
    if asked or not rumour.chain:
        text = rumour.evidence if asked else rumour.words
        return Sentence(text, text, SentenceOrigin.KEPT, time=rumour.time, number=rumour.number)
    teller, told = rumour.tellers[-1], rumour.text
    text = f'{teller} told me, "{told}"'
    return Sentence(text, told, SentenceOrigin.OTHER, teller, rumour.time, rumour.number)


def of_found(found: SearchResult | None, partner: str, own_name: str) -> list[Sentence]:
    """What recall found: raw memories of others' words, and notes."""
    if found is None:
        return []
    hits = (*found.memories, *found.notes)
    return [s for hit in hits for s in _of_document(hit.document, partner, own_name)]


def of_summaries(
    context: MemoryContext, partner: str, now: datetime | None = None
) -> list[Sentence]:
    """The sentences of both summaries, older ones first; dated lines with their day."""
    texts = [each.text for each in (context.longterm, context.recent) if each is not None]
    lines = [line for text in texts for line in text.splitlines()]
    return [s for line in lines for s in _of_line(line, partner, SentenceOrigin.SUMMARY, now)]


def of_kept(lines: Iterable[str], partner: str, now: datetime | None = None) -> list[Sentence]:
    """Pins, the journal, and what was noticed: rules, promises; dated ones with their day."""
    return [s for line in lines for s in _of_line(line, partner, SentenceOrigin.KEPT, now)]


def _of_line(
    line: str, partner: str, origin: SentenceOrigin, now: datetime | None
) -> list[Sentence]:
    """A line that is kept: what somebody said as all that was said is, once and with its speaker.

    Nothing of what the agent said itself.
    """
    day = _day_of(line, now) if now is not None else _BEGINNING
    line = _WEIGHED.sub("", for_prompt(line, limit=4 * LONGEST))
    bare = _DATED.sub("", _REFERENCE.sub("", line))
    if own := _PROMISED.match(bare):  # in its own words, whose pronouns are right
        text = shorten(f'I promised{own["to"] or ""}, "{own["words"]}', LONGEST) + '"'
        return [Sentence(text, text, origin)]
    said = _told(bare.rstrip(" ."))
    if said is None:
        one = [in_first_person(line)] if origin is SentenceOrigin.KEPT else sentences(line)
        return [Sentence(each, each, origin) for each in map(_plain, one) if each]
    if said.who in ("I", "You"):
        return []
    return list(_said(said, Memory(0, day, MemoryKind.PERCEPTION, ""), partner))


def _day_of(line: str, now: datetime) -> datetime:
    """The last such day before ``now`` that a line begins with, or the beginning of time."""
    if (found := _DAY_AHEAD.match(line)) is None:
        return _BEGINNING
    month = [each[:3] for each in MONTHS].index(found["month"]) + 1
    for year in (now.year, now.year - 1):
        with suppress(ValueError):  # 29 February
            if (day := datetime(year, month, int(found["day"]), tzinfo=UTC)) <= now:
                return day
    return _BEGINNING


def without_superseded(found: Iterable[Sentence], people: Iterable[Profile]) -> list[Sentence]:
    """``found`` without what somebody has since told otherwise: a former home or work."""
    ended = [fact for profile in people for fact in profile.facts if not fact.holds and fact.value]
    over = [(number, fact.value.casefold()) for fact in ended for number in fact.numbers]
    return [
        each
        for each in found
        if not any(each.number == n and value in each.bare.casefold() for n, value in over)
    ]


def _said(said: Utterance, memory: Memory, partner: str) -> Iterator[Sentence]:
    """What was said, cut into quotations that stand by themselves; no questions, no greetings."""
    confided = is_private(memory) and said.who != partner
    told = "told me in confidence" if confided else "told me"
    how = told if said.to == "you" else "said" if not said.to else f"told {said.to}"
    origin = SentenceOrigin.PARTNER if said.who == partner else SentenceOrigin.OTHER
    origin = SentenceOrigin.EVERYDAY if memory.event == SCENE else origin
    plain = spelled_out(for_prompt(said.words, limit=4 * LONGEST))
    words_said = without_asking(plain.replace('"', "'"), agreed=True)
    aside = "?" in words_said
    for quotation in _quotations(words_said):
        part = without_name(without_hello(quotation), said.who)
        if telling(_I_AM.sub("", part)) <= telling(said.who):
            continue  # "I'm Ann." tells nothing of Ann
        yield Sentence(
            f'{said.who} {how}, "{part}"',
            part,
            origin,
            said.who,
            memory.time,
            memory.number,
            confided=confided,
            overheard=said.to not in ("", "you"),
            aside=aside,
        )


def without_name(part: str, who: str) -> str:
    """Without "My name is Ann and" at its beginning: whose words they are stands before them."""
    name, i = re.escape(who), r"(?=I(?:['’]m)?\b)"
    named = rf"^(?:and )?my name(?: is|['’]s) {name}(?:,? and|[,.;]) (?:{i}|(?=my\b))"
    named += (
        rf"|^(?:and )?I(?: am|['’]m) {name}(?:,? and|[,.;]) {i}"  # not "I'm Ann, my father's …"
    )
    bare = pattern(named, re.I).sub("", part)
    return part if bare == part else f"{bare[0].upper()}{bare[1:]}"


def _quotations(said: str) -> Iterator[str]:
    """What was told, without greetings and questions; whole where all of it is told.

    A word or two belong to what was told before them: "I can't on Sunday. Make it Wednesday."
    """
    told: list[str] = []
    whole, goes_on = True, False
    for each in sentences(said):
        short = _is_short(each)
        if tells_nothing(each) or (short and not goes_on):
            whole = goes_on = False
        elif short:
            told[-1] = f"{told[-1]} {each}"
        else:
            told.append(each)
            goes_on = True
    if whole and len(said) <= LONGEST:
        yield said
    else:
        yield from (shorten(each, LONGEST) for each in told)


def _is_short(sentence: str) -> bool:
    says = len(telling(sentence))
    return not says or (says == 1 and len(words(sentence)) < _SHORT)


def _of_document(document: Document, partner: str, own_name: str) -> list[Sentence]:
    if document.kind is DocumentKind.NOTE:
        text = _plain(f"{document.title}: {document.text}")
        return [Sentence(text, text, SentenceOrigin.KEPT, time=document.time)] if text else []
    if document.speaker == own_name:  # what it said itself is no evidence
        return []
    lived = (document.first, document.time, MemoryKind.PERCEPTION, document.text)
    return of_memory(Memory(*lived, source=document.speaker), partner)


def _sentences(text: str) -> list[str]:
    return [plain for line in text.splitlines() for s in sentences(line) if (plain := _plain(s))]


def _plain(text: str) -> str:
    """One sentence without list marks and numbers of memories, which a small model would say."""
    bare = _LIST_MARK.sub("", _REFERENCE.sub("", for_prompt(text, limit=LONGEST)))
    says = any(c.isalpha() for c in _ASIDE.sub("", bare))
    return closed(" ".join(bare.split())) if says else ""


def closed(text: str) -> str:
    """``text`` with a full stop, if nothing ends it."""
    return text if text.endswith((".", "!", "?", "…", '"', "”", "'")) else f"{text}."


def numbers_of(chosen: Sequence[Sentence]) -> tuple[int, ...]:
    """The memories that stand in a prompt."""
    return tuple(dict.fromkeys(each.number for each in chosen if each.number))


def hits_of(found: SearchResult | None, chosen: Sequence[Sentence]) -> tuple[Hit, ...]:
    """Those of what recall found that stand in a prompt."""
    if found is None:
        return ()
    numbers, texts = set(numbers_of(chosen)), {each.text for each in chosen}
    return tuple(
        hit
        for hit in found.hits
        if hit.document.first in numbers
        or _plain(f"{hit.document.title}: {hit.document.text}") in texts
    )
