"""What an agent had reason to think of when it acted: what was told in private, promised, planned.

What set an act off says what it answers, but not why it answers so. Of all that an agent keeps to
itself that is found which has most in common with what it was asked, with who asked, and with what
it did: an agent that was told of a present speaks otherwise of the hay in which it lies. Without
any, its own earlier words may say what it means. That is a guess, so it must be surer than chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from keepsake.agent.why.basis import matter_of
from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.books.persona import SECRET
from keepsake.happening import Deed, KnownVerb, Manner, Speech, addressees_of
from keepsake.json_lines import parsed
from keepsake.language.languages import ENGLISH
from keepsake.language.perception import sentences
from keepsake.tracing.content import Content, Rarity, parts_of, told_in
from keepsake.tracing.texts import SegmentTexts
from keepsake.web.people.gist import beginning, gist
from keepsake.web.people.telling import Telling, newest_lines
from keepsake.web.privacy import kept_for, privacy_of
from keepsake.web.questions.bearing import lines_back

MOST_LOOKED = 400
"""The newest private memories, and the newest own words, among which it is looked for."""
_SURE = 4.0
"""Bits by which what it shares with what an act is about must be rarer than chance: it is chance
once in sixteen times. Of 314 acts of two evenings 62 have something at this, and of these 49 bear
on the act; with three bits more do not."""
_TOGETHER = 2
"""The words besides names that it shares at least with what an act is about: one is chance."""
_MASKED = "its prompt had only that it was whispered"
"""What is said of a motive of which the prompt did not have the words."""
_PRIVATE = (f'"manner":"{Manner.WHISPER}"'.encode(), b'"witnesses":[')
"""What the line of a private memory has."""
_OWN_WORDS = b'"kind":"act"'
_PROMISE = f'"verb":"{KnownVerb.PROMISE}"'.encode()


class MotiveKind(StrEnum):
    """From where an agent knows what it had reason to think of."""

    TOLD = "told"
    """It was told so in private."""
    PROMISED = "promised"
    PLANNED = "planned"
    SECRET = "secret"
    """It is a secret of who it is."""
    SAID = "said"
    """It had said so itself."""


_LABELS = {
    MotiveKind.TOLD: "It keeps",
    MotiveKind.PROMISED: "It had promised",
    MotiveKind.PLANNED: "It means to",
    MotiveKind.SECRET: "Its secret",
    MotiveKind.SAID: "It had said",
}


@dataclass(frozen=True, slots=True)
class Motive:
    """What an agent had reason to think of.

    Attributes:
        text: What was told, promised, planned or said, or what is a secret.
        part: The part of it that bears most on the act.
        memory: The memory that it is; None for a plan and a secret of who it is.
        masked: Whether its prompt had only that somebody whispered, and not the words.
        private: Whether not everybody may know of it.
    """

    kind: MotiveKind
    text: str
    memory: Memory | None = None
    part: str = ""
    masked: bool = False
    private: bool = True

    @property
    def label(self) -> str:
        """What it is, in a word or two."""
        return _LABELS[self.kind]

    @property
    def is_quoted(self) -> bool:
        """Whether somebody said so, or it is written in who the agent is."""
        return self.kind not in (MotiveKind.PROMISED, MotiveKind.PLANNED)

    @property
    def privacy(self) -> str:
        """How it is private, in words; empty if anybody may know of it."""
        if not self.private:
            return ""
        return privacy_of(self.memory) if self.memory is not None else kept_for(())

    @property
    def note(self) -> str:
        """What is to be said of it besides; empty for nothing."""
        return _MASKED if self.masked else ""

    @property
    def teller(self) -> str:
        """The name of who told it; empty if it was nobody else."""
        return self.memory.source if self.memory is not None else ""

    @property
    def line(self) -> str:
        """The part of it that bears most on the act, with who told it."""
        return self.told(self.part)

    def told(self, words: str) -> str:
        """Return words of it as a line shows them, with who told it."""
        by = f"{self.teller}: " if self.teller else ""
        return f"{by}“{words}”" if self.is_quoted else words


def motive_of(
    archive: Archive, why: Why, prompt: str, segments: Sequence[SegmentTexts], *, grounded: bool
) -> Motive | None:
    """Return what an agent had reason to think of when it acted; None if nothing bears on it.

    Args:
        archive: The agent's.
        prompt: The text that was sent; empty if it is not known.
        segments: What the agent's memories say.
        grounded: Whether it is known from which line of its prompt the act has its words: then its
            own earlier words say nothing more.
    """
    if why.by_rule:
        return None
    asked = f"{why.cause.source}: {why.cause.words or why.cause.text}" if why.cause else ""
    to = " ".join(each.name for each in addressees_of(why.act.what))
    about = f"{asked} {to} {matter_of(why.act)} {why.reason}"
    named = f"{why.agent} {why.cause.source if why.cause else ''} {to}"
    kept = [*_told(archive, why), *_promised(archive, why), *_planned(why), *_secrets(prompt)]
    lines = [*newest_lines(segments)]
    found = _kept_of(about, named, kept, lines)
    if found is not None or grounded:
        return found
    return _said_again(why, [*_said(archive, why)], lines)


def _kept_of(about: str, named: str, kept: Sequence[Motive], lines: Sequence[str]) -> Motive | None:
    """Return what has most of what an act is about; None if each may have as much by chance.

    Args:
        named: The names of who speaks, and to whom: they alone say nothing of what it is about.
        lines: What the agent's memories say.
    """
    contents = [Content(each.text, Rarity(), people=(each.teller,)) for each in kept]
    shared = {part for each in contents for part in each.shared(about)}
    tellers = {part for each in contents for name in each.people for part in _parts(name)}
    rarity = Rarity.of(shared | tellers, lines)
    best = _SURE
    found = None
    for each, content in zip(kept, contents, strict=True):
        counted = Content(content.text, rarity, content.language, content.people)
        bits = counted.beyond_chance(about, len(kept))
        matter = counted.shared(about) - counted.shared(f"{named} {each.teller}")
        if bits >= best and len(matter) >= _TOGETHER:
            best = bits
            found = replace(each, part=_part(counted, about))
    return found


def _said_again(why: Why, said: Sequence[Motive], lines: Sequence[str]) -> Motive | None:
    """Return the agent's own earlier words that it said again; None if it is by chance."""
    own = Content(matter_of(why.act), Rarity())
    counted = Content(own.text, Rarity.of(own.parts.keys(), lines, own.language), own.language)
    told = [(counted.beyond_chance(each.text, len(said)), each) for each in said]
    bits, best = max(told, key=lambda each: each[0], default=(0.0, None))
    if best is None or bits < _SURE:
        return None
    return replace(best, part=_part(Content(best.text, counted.rarity), own.text))


def _part(content: Content, text: str) -> str:
    """Return the part of a content that has most of the words that a text has of it, too."""
    shared = content.shared(text)

    def tells(part: str) -> Telling:
        parts = {each for each, _ in parts_of(part, content.language)}
        return content.bits(parts & shared), content.bits(parts)

    return gist(content.text, tells) or beginning(content.text)


def _parts(name: str) -> Iterable[str]:
    return (part for part, _ in parts_of(name, ENGLISH))


def _told(archive: Archive, why: Why) -> Iterator[Motive]:
    """Yield what the agent was told in private before it acted, the newest first."""
    told = (
        each
        for line in lines_back(archive)
        if any(mark in line for mark in _PRIVATE)
        for each in memories_in([parsed(line)])
        if _is_private_speech(each) and each.number < why.act.number
    )
    cause = why.cause.number if why.cause else 0
    for each in islice(told, MOST_LOOKED):
        words = told_in(each.words)  # what only asks tells nothing that could be kept
        if words and each.number != cause:
            masked = each.number in (why.masked or ())
            yield Motive(MotiveKind.TOLD, words, each, masked=masked)


def _is_private_speech(memory: Memory) -> bool:
    told = isinstance(memory.what, Speech) and not memory.is_own
    return told and memory.confidants is not None


def _promised(archive: Archive, why: Why) -> Iterator[Motive]:
    for line in lines_back(archive):
        for each in memories_in([parsed(line)]) if _PROMISE in line else ():
            if each.is_own and each.number < why.act.number and isinstance(each.what, Deed):
                private = each.confidants is not None
                words = " ".join(each.what.objects)
                yield Motive(MotiveKind.PROMISED, words, each, private=private)


def _planned(why: Why) -> Iterator[Motive]:
    """Yield the plans of its prompt but the one that the act belongs to, which is known."""
    own = why.plan.number if why.plan else 0
    for each in why.plans or ():
        if each.number != own:
            yield Motive(MotiveKind.PLANNED, each.what, private=each.private)


def _secrets(prompt: str) -> Iterator[Motive]:
    """Yield the sentences of a prompt that say of the agent what it tells nobody."""
    for line in prompt.splitlines():
        for each in sentences(line) if SECRET in line else ():
            if each.startswith(SECRET):
                yield Motive(MotiveKind.SECRET, each.removeprefix(SECRET).strip())


def _said(archive: Archive, why: Why) -> Iterator[Motive]:
    """Yield what the agent said itself before it acted, all that answers one thing together."""
    said = (
        each
        for line in lines_back(archive)
        if _OWN_WORDS in line
        for each in memories_in([parsed(line)])
        if isinstance(each.what, Speech) and each.number < why.act.number
    )
    together: list[Memory] = []
    for each in islice(said, MOST_LOOKED):
        if together and (not each.rests_on or each.rests_on != together[-1].rests_on):
            yield from _utterance(together, why)
            together = []
        together.append(each)
    yield from _utterance(together, why)


def _utterance(newest_first: Sequence[Memory], why: Why) -> Iterator[Motive]:
    """Yield an answer of the agent as one; none if the act is of the same answer."""
    rests_on = newest_first[0].rests_on if newest_first else ()
    if newest_first and not (rests_on and rests_on == why.act.rests_on):
        first = newest_first[-1]
        words = " ".join(each.words for each in reversed(newest_first))
        private = any(each.confidants is not None for each in newest_first)
        yield Motive(MotiveKind.SAID, words, first, private=private)
