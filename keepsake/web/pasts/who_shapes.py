"""Answers of the API about who knows a fact, and from whom."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from keepsake.tracing.facts import Way
from keepsake.tracing.standing import Hold
from keepsake.web.privacy import Privacy
from keepsake.web.shapes import Shape


class KnowingView(Shape):
    """How an agent came to know a fact first, and what it has of it now."""

    id: int
    agent: str
    n: int
    """The memory by which it came to know it."""
    time: datetime
    way: Way | None
    """Null if that is not known."""
    source: str
    """From whom it has it; empty if it said it itself, or from nobody."""
    heard: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    happening: str
    """The telling; empty if it is not among those that are shown."""
    doubtful: bool
    """Whether it heard only lines in which the typed words may mean something else."""
    hold: Hold
    now: str
    """What it has of it now, in words: ``has it in its short-term summary``."""


class PersonOfFact(Shape):
    """Somebody who had a part in a telling of a fact."""

    id: int | None
    """The number of the agent; null if it is none."""
    key: str
    """The identity of somebody who is no agent; else empty."""
    name: str
    way: Way | None = None
    """How they know of this telling; null if that is not known."""
    knew: bool = False
    """Whether they had come to know the fact before."""


class FirstTellingView(Shape):
    """A telling by which some came to know a fact, or by which a thing went to somebody."""

    source: str
    """Who told it, or did it; empty if nobody did."""
    source_id: int | None
    """The number of the agent who told it; null if it was none."""
    to: tuple[PersonOfFact, ...]
    """Who came to know it so, those to whom it was told first; and those to whom it was told though
    they knew it. Without the source, who may be the only one who is known to know it."""
    way: Way | None
    """As of the first of them; of the source, if there is nobody else."""
    time: datetime
    happening: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    doubtful: bool
    """Whether it perhaps tells something else: the typed words may have another sense in it."""
    text: str
    id: int
    n: int
    """An agent, and its memory of the line: by it the sentence can be followed."""
    asks: bool = False
    """Whether it only asks about it: nothing else is known to tell it."""


class NewsKind(StrEnum):
    """How a line bears on a fact."""

    TOLD = "told"
    """It tells it again."""
    ASKED = "asked"
    """It asks about it, and tells nothing of it."""


class NewsView(Shape):
    """Another line about a fact, by which nobody came to know it."""

    id: int
    n: int
    """An agent, and its memory of the line: by it the sentence can be followed."""
    time: datetime
    speaker: str
    to: tuple[str, ...]
    text: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    kind: NewsKind


class WhoView(Shape):
    """Who knows a fact, and from whom: the short answer."""

    answer: str
    """In a sentence or two; empty if nothing is known of it."""
    knowing: tuple[KnowingView, ...]
    """As ``knowers`` of the fact, in the same order."""
    sources: tuple[FirstTellingView, ...]
    """Who told whom first, and who gave whom what it is about, the earliest first; those in doubt
    are last."""
    news: tuple[NewsView, ...]
    """What else was said of it, in order: told again, or asked."""
