"""A transcript with questions about it, from a benchmark or made up."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from keepsake.archive.records import Memory


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """One question, its asker and its time."""

    id: str
    text: str
    time: datetime  # what was lived up to then may be known
    kind: str = "all"  # the category of its benchmark
    answers: tuple[str, ...] = ()  # any of them is right, in these or other words
    evidence: frozenset[int] = frozenset()  # numbers of the memories that answer it
    # patterns, whatever the case: an answer with one of ``wrong`` is none, else one of ``right``
    # makes it right; none where words are compared with ``answers``
    right: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    asker: str = ""
    # who hears the answer, as in :attr:`Memory.source_id`: what was whispered is for its two alone
    audience: frozenset[str] = frozenset()
    delay: timedelta | None = None  # since the last of its evidence; None where it was not planned
    # what it asks for, where others ask for the same: their answers depend on each other
    about: str = ""
    answerable: bool = True  # whether the life holds the answer; else not knowing is right


@dataclass(frozen=True, slots=True)
class Trial:
    """One life and what is asked about it."""

    name: str  # what tables call it
    agent: str  # whose life it is; empty for a talk that is only listened to
    memories: tuple[Memory, ...]  # in the order lived, numbered from 1
    questions: tuple[TrialQuestion, ...] = field(default=())
    load: int = 0  # memories a day beside what is asked about; 0 where it was not planned
