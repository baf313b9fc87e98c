"""Answers of the API about people: what each agent knows of one person."""

from __future__ import annotations

from datetime import datetime

from keepsake.archive.summaries import Tier
from keepsake.web.agent.shapes import PromiseLine
from keepsake.web.privacy import Privacy
from keepsake.web.shapes import MemoryView, PlanRow, Shape


class PersonRow(Shape):
    """Somebody whom agents know."""

    key: str
    """The identity, which a new name does not change."""
    name: str
    """The name by which the agent that met them last knows them; of an agent its name."""
    names: tuple[str, ...]
    """All names by which agents know them or knew them, ``name`` included."""
    id: int | None
    """The number of the agent; null for a player and anybody else."""
    known_by: tuple[int, ...]
    """The numbers of the agents that have a page about them."""
    last_met: datetime | None
    """When any agent met them last; null for an agent that nobody has met."""


class KnownLine(Shape):
    """Something that a person said, or did."""

    text: str
    """Their words; or what they did, without their name at its beginning."""
    said: bool
    """Whether it is their own words."""
    time: datetime
    numbers: tuple[int, ...]
    """The agent's memories of it."""
    private: Privacy
    """How it was told: ``whispered``, ``alone with Bob``; empty if anybody may know it."""
    weight: float
    """How much it tells besides what other lines tell, in bits; 0 for a question."""
    told: str = ""
    """What of it tells something: without its questions."""
    to: tuple[str, ...] = ()
    """The names of those to whom it was said, if that was not the agent."""
    errand: bool = False
    """Whether a promise or a plan answers it: it asks for something to be done. Only known of the
    agent that was asked for with ``by``."""


class MentionLine(Shape):
    """A line of an agent's summaries or journal that is about a person."""

    text: str
    tier: Tier | None
    """The summary that has it; null for the journal."""
    time: datetime
    """When it was written."""
    numbers: tuple[int, ...]
    """The memories that it cites."""
    private: Privacy
    """How all of the line is private, in words; empty if anybody may know some of it."""
    private_sentences: tuple[str, ...] = ()
    """Else those of its sentences that rest on private memories, in their order."""


class PromiseTo(PromiseLine):
    """A promise to a person, or a rule that they gave."""

    done: bool = False
    """Whether a plan that reminded of it is done."""

    private: Privacy
    """How it is private, in words; empty if anybody may know it."""


class PinAbout(Shape):
    """A pinned line of an agent that names a person."""

    text: str
    numbers: tuple[int, ...]
    """The memories that it cites."""
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""


class NoteAbout(Shape):
    """A note of an agent that names a person."""

    title: str
    text: str
    time: datetime
    """When it was written last."""
    numbers: tuple[int, ...]
    """The memories that it cites."""
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""


class KnownBy(Shape):
    """What one agent knows of a person."""

    id: int
    agent: str
    names: tuple[str, ...]
    """The names by which it knows them, the present one last; empty if they have not met."""
    file: str
    """The name of the page's file; empty if there is none."""
    first_met: datetime | None
    last_met: datetime | None
    meetings: int
    portrait: str
    """What it makes of them, in its own words; empty if nothing is written yet."""
    studied: int = 0
    """The number of the last memory of theirs that ``portrait`` is based on; 0 without one."""
    remarks: str
    """What people wrote into the page by hand."""
    lines: tuple[KnownLine, ...]
    """What they said to it and did, oldest first."""
    overheard: tuple[KnownLine, ...] = ()
    """What they said to others in its hearing, what tells most first; at most 12, and only of the
    agent that was asked for with ``by``."""
    pins: tuple[PinAbout, ...]
    """What it has always before it that names them."""
    notes: tuple[NoteAbout, ...]
    """Its own notes that name them, the one that it wrote last first."""
    promises: tuple[PromiseTo, ...]
    plans: tuple[PlanRow, ...]
    """What it means to do with them or for them."""
    ended: tuple[PlanRow, ...] = ()
    """Its plans that have ended and for which they had asked, the last one last. Only known of the
    agent that was asked for with ``by``."""
    mentions: tuple[MentionLine, ...]
    """Passages of its summaries about them, and the newest of its journal that are about them."""
    memories: tuple[MemoryView, ...]
    """Its newest memories about them that are not in ``lines``: of what they said to others, and of
    who named them; at most 10."""
    more_memories: int
    """How many there are besides, in the part of the archive that was read."""
    complete: bool
    """False if the archive is so long that only its newest part was read for them."""


class PersonView(Shape):
    """One person, and what each agent knows of them."""

    person: PersonRow
    others: tuple[PersonRow, ...]
    """Other people of the same name."""
    agents: tuple[KnownBy, ...]
    """The agents that know anything of them, the one that met them last first."""
    strangers: tuple[str, ...]
    """The names of the agents that know nothing of them."""
