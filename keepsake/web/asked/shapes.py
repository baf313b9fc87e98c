"""What is asked about agents, and the short answers."""

from __future__ import annotations

from enum import StrEnum

from keepsake.web.privacy import Privacy
from keepsake.web.shapes import Shape


class QuestionKind(StrEnum):
    """What is asked."""

    SAID = "said"
    """Why an agent said something."""
    KNOWS = "knows"
    """What an agent knows of somebody, or of something."""
    LOST = "lost"
    """What its last compaction lost."""
    THEN = "then"
    """What it remembered at a time."""
    NEXT = "next"
    """What it will do next, and tomorrow."""
    WHO = "who"
    """Who knows of something, and from whom."""
    WHERE = "where"
    """Where somebody is, or everybody."""


class AnswerLine(Shape):
    """A line of a short answer."""

    label: str
    """What it is, in a word or two: ``Tomorrow, 08:00``."""
    text: str
    whole: str = ""
    """All of it, if ``text`` is only the part that tells most."""
    part: str = ""
    """That part as it stands in ``whole``, without marks."""
    aside: str = ""
    """What is said besides, in a few words: ``Hilde asked``; empty for nothing."""
    private: Privacy = ""
    """How it is private, in words: ``whispered``, ``alone with Bob``, ``keeps it for Bob``; empty
    if anybody may know it."""
    number: int = 0
    """The memory that it is, of the agent that is asked about; 0 if it is none, or of another."""


class AnswerView(Shape):
    """A short answer."""

    asked: QuestionKind
    id: int | None
    """The agent's number; null if it is not about one agent."""
    agent: str
    """Its name; empty likewise."""
    about: str
    """Whom or what is asked about: words, a person, a time; empty for nothing."""
    lines: tuple[AnswerLine, ...]
    """What matters most stands first; empty if nothing is known."""


class OfferView(Shape):
    """A question that typed words may mean."""

    asked: QuestionKind
    id: int | None
    """The agent's number; null if it is not about one agent."""
    about: str
    """As in :class:`AnswerView`."""
    question: str
    """It in words: ``What does Mira know of Hilde?``"""
    address: str
    """The page that answers it."""
