"""Memories: what happened, as one agent perceived it, and how it becomes an archive line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, TypedDict

from keepsake.archive import old_lines
from keepsake.archive.happening_lines import fields_of, what_in
from keepsake.archive.line_types import LineType
from keepsake.archive.message_types import STOCK
from keepsake.happening import (
    ME,
    UNKNOWN,
    Deed,
    HappeningKind,
    KnownVerb,
    Manner,
    Person,
    PersonId,
    Pose,
    Result,
    Speech,
    What,
    actor_of,
    addressees_of,
    is_me,
    kind_of,
    shown_as,
)


class MemoryKind(StrEnum):
    """The origin of a memory."""

    PERCEPTION = "perception"  # something the agent saw or heard
    ACT = "act"  # an action of the agent: its command, without the cursor
    RESULT = "result"  # the result of its own act: a look, a failure, a tool result


class MemoryFacts(TypedDict, total=False):
    """Optional fields of a :class:`Memory`."""

    place: str
    reason: str
    happening: str
    event: str
    about: PersonId
    importance: int
    chain: str
    origins: tuple[str, ...]
    told: str
    answers: int
    plan: int
    rests_on: tuple[int, ...]
    witnesses: tuple[PersonId, ...] | None
    allowed_by: tuple[PersonId, ...]
    errand: str


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of an agent: something that happened, as this agent perceived it.

    Attributes:
        number: 1, 2, 3 … in order of time; unique for one agent.
        time: When it happened, with time zone.
        what: What happened: speech, a deed, a pose, a sight, or the result of an own act.
        place: Where it happened: the name of the room.
        happening: The id of what happened. It is the same in the archives of all who perceived
            it; empty if that is not known.
        event: The type of the game's message: ``say``, ``give``, ``scene``, ``move`` …; empty if
            the game gave none, or the archive is old.
        reason: Why the agent did it, in its own words; nobody else gets to know it.
        repeats: How many times the same happened in a row.
        about: For hearsay and deeds of the world: the identity of the person concerned.
        importance: 1 to 10 if the world itself rates it, as for a deed; else 0.
        chain: For hearsay: the memories it rests on, ``Nell 17; Joss 41``, the eyewitness first.
        origins: For hearsay: the ids of what happened with which that chain began.
        told: For hearsay: what is told, without where the speaker has it from.
        answers: For an own act: the newest memory in the prompt that it answers, if more memories
            came while it was written; else 0.
        plan: For an own act: the number of the plan that the agent was about; 0 for none.
        rests_on: For an own act: the numbers of the memories that its prompt showed because they
            bear on it. For the result of a tool call: that act, and the memories that it shows.
        witnesses: Who else perceived it, by identity, if it was not for everybody here; None if
            it was. A whisper needs no list: its speaker and its addressees are the witnesses.
        allowed_by: For own words whose prompt held what others told the agent in private: the
            identities of those who allowed that they be said to their addressee. Of such a whisper
            the witnesses know, too.
        errand: For a whisper that an agent carries for somebody, and for what is answered to it
            by an agent that knows so: which errand it is. It does not tell who sent the agent. Of
            such a whisper the witnesses know, too. Empty for all others.
    """

    number: int
    time: datetime
    what: What
    place: str = ""
    happening: str = ""
    event: str = ""
    reason: str = ""
    repeats: int = 1
    about: PersonId = ""
    importance: int = 0
    chain: str = ""
    origins: tuple[str, ...] = ()
    told: str = ""
    answers: int = 0
    plan: int = 0
    rests_on: tuple[int, ...] = ()
    witnesses: tuple[PersonId, ...] | None = None
    allowed_by: tuple[PersonId, ...] = ()
    errand: str = ""

    # -- what the agent perceived, said or did

    @property
    def kind(self) -> MemoryKind:
        """Whether it is a perception, an own act, or the result of an own act."""
        if isinstance(self.what, Result):
            return MemoryKind.RESULT
        return MemoryKind.ACT if self.is_own else MemoryKind.PERCEPTION

    @property
    def heard(self) -> Speech | None:
        """What somebody else said; None if nobody else spoke."""
        return self.what if isinstance(self.what, Speech) and not self.is_own else None

    @property
    def said(self) -> Speech | None:
        """What the agent itself said, including stock phrases; None if it did not speak."""
        return self.what if isinstance(self.what, Speech) and self.is_own else None

    @property
    def own_words(self) -> Speech | None:
        """What :attr:`said` is, but None for stock phrases, which state nothing."""
        return None if self.event in STOCK else self.said

    @property
    def is_own(self) -> bool:
        """Whether the agent itself spoke or acted."""
        return is_me(actor_of(self.what))

    @property
    def verb(self) -> str:
        """The verb of an own act or of the act behind a result; empty for a perception."""
        match self.what:
            case Speech(manner=Manner.SHOUT) if self.is_own:
                return KnownVerb.SHOUT
            case Speech(manner=Manner.WHISPER) if self.is_own:
                return KnownVerb.WHISPER
            case Speech() if self.is_own:
                return KnownVerb.SAY
            case Pose() if self.is_own:
                return KnownVerb.EMOTE
            case Deed() if self.is_own:
                return self.what.verb
            case Result():
                return self.what.verb
        return ""

    @property
    def gift_to_me(self) -> str:
        """The thing that somebody gave to the agent, ``a blue cup``; empty if none."""
        what = self.what
        given = (
            isinstance(what, Deed)
            and what.verb == KnownVerb.GIVE
            and ME in what.to
            and not self.is_own
        )
        return ", ".join(what.objects) if given and isinstance(what, Deed) else ""

    @property
    def gave_something(self) -> bool:
        """Whether it is the result of a gift that the agent made."""
        what = self.what
        return isinstance(what, Result) and what.verb == KnownVerb.GIVE and what.done

    @property
    def form(self) -> HappeningKind:
        """The type of what happened."""
        return kind_of(self.what)

    @property
    def words(self) -> str:
        """What was said, by the agent or by somebody else; empty if nobody spoke."""
        return self.what.words if isinstance(self.what, Speech) else ""

    @property
    def manner(self) -> str:
        """How it was said; empty if nobody spoke."""
        return self.what.manner.value if isinstance(self.what, Speech) else ""

    # -- who

    @property
    def actor(self) -> Person | None:
        """Who else caused it; None for an own act, a result, or if nobody is known."""
        somebody = actor_of(self.what)
        return None if is_me(somebody) else somebody

    @property
    def source(self) -> str:
        """The name of :attr:`actor`; empty if there is none."""
        somebody = self.actor
        return somebody.name if somebody is not None else ""

    @property
    def source_id(self) -> PersonId:
        """The identity of :attr:`actor`; empty if there is none, or it is not known."""
        somebody = self.actor
        return somebody.id if somebody is not None else ""

    @property
    def key(self) -> str:
        """The identity of :attr:`actor`; ``name:NAME`` if it is not known, empty for nobody."""
        somebody = self.actor
        return somebody.key if somebody is not None and (somebody.name or somebody.id) else ""

    @property
    def addressee(self) -> Person | None:
        """The first other person whom an own act is directed at; None if there is none."""
        to = addressees_of(self.what) if self.is_own else ()
        return to[0] if to else None

    @property
    def to(self) -> str:
        """The name of :attr:`addressee`; empty if there is none."""
        return self.addressee.name if self.addressee else ""

    @property
    def to_id(self) -> PersonId:
        """The identity of :attr:`addressee`; empty if there is none, or it is not known."""
        return self.addressee.id if self.addressee else ""

    @property
    def confidants(self) -> frozenset[PersonId] | None:
        """The identities of those who perceived it besides the agent; None if anybody may know.

        :data:`UNKNOWN` stands for somebody whom an early archive does not identify.
        """
        what = self.what
        if isinstance(what, Speech) and what.manner is Manner.WHISPER:
            people = (what.speaker, *what.to)
            found = frozenset(each.id or UNKNOWN for each in people if each != ME)
            is_shared = bool(self.allowed_by or self.errand)
            known = frozenset(self.witnesses or ()) if is_shared else frozenset()
            return found | known or frozenset({UNKNOWN})
        return None if self.witnesses is None else frozenset(self.witnesses)

    # -- how it is shown

    @property
    def text(self) -> str:
        """The line as the agent read or wrote it."""
        return self.what.shown

    def shown_as(self, text: str) -> Memory:
        """Return the same memory with another line to show."""
        return replace(self, what=shown_as(self.what, text))

    def repeated(self, times: int) -> Memory:
        """Return the same memory with ``times`` occurrences in a row."""
        return replace(self, repeats=times)

    @property
    def line(self) -> str:
        """The text as shown outside the archive, with the number of repeats.

        A player's pose is marked as one: the player chooses its words, and they may read like
        speech or a departure. No other input of a player comes out as ``Tom poses: …``. A gesture
        of an agent is shown as everybody saw it.
        """
        text = self.text
        if isinstance(self.what, Pose) and not (self.is_own or self.what.by_agent):
            played = self.what.gesture or text
            text = f"{self.source or 'Somebody'} poses: {played}".replace('"', "'")
        return f"{text} (repeated {self.repeats}×)" if self.repeats > 1 else text

    # -- as an archive line

    def to_record(self) -> dict[str, Any]:
        """Return the archive line; empty fields are omitted."""
        return {"type": LineType.MEMORY, "n": self.number, **self.to_line()}

    def to_line(self) -> dict[str, Any]:
        """Return the archive line without type and number."""
        line: dict[str, Any] = {"t": self.time.isoformat(), "kind": self.kind.value}
        line |= {"text": self.text, **fields_of(self.what)}
        line |= {name: value for name in _OPTIONAL if (value := getattr(self, name))}
        if self.origins:
            line["origins"] = list(self.origins)
        if self.rests_on:
            line["rests_on"] = list(self.rests_on)
        if self.witnesses is not None:
            line["witnesses"] = list(self.witnesses)
        if self.allowed_by:
            line["allowed_by"] = list(self.allowed_by)
        return line

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Memory:
        """Read an archive line of type ``memory``, of this or an earlier version.

        Raises:
            KeyError, ValueError, TypeError: The line lacks a field or holds a wrong one.
        """
        MemoryKind(record["kind"])  # an unknown kind is an error
        if "what" in record:
            what = what_in(record)
            about = str(record.get("about", ""))
            given = record.get("witnesses")
            witnesses = None if given is None else tuple(map(str, given))
        else:
            what = old_lines.what_of({**record, "text": str(record["text"])})
            about = old_lines.about_of(record)
            witnesses = old_lines.witnesses_of(record)
        return cls(
            number=int(record["n"]),
            time=datetime.fromisoformat(record["t"]),
            what=what,
            place=str(record.get("place", "")),
            happening=str(record.get("happening", "")),
            event=str(record.get("event", "")),
            reason=str(record.get("reason", "")),
            about=about,
            importance=int(record.get("importance", 0)),
            chain=str(record.get("chain", "")),
            origins=tuple(map(str, record.get("origins", ()))),
            told=str(record.get("told", "")) or old_lines.told_in(what, record),
            answers=int(record.get("answers", 0)),
            plan=int(record.get("plan", 0)),
            rests_on=tuple(map(int, record.get("rests_on", ()))),
            witnesses=witnesses,
            allowed_by=tuple(map(str, record.get("allowed_by", ()))),
            errand=str(record.get("errand", "")),
        )


_OPTIONAL = (
    "place",
    "happening",
    "event",
    "reason",
    "about",
    "importance",
    "chain",
    "told",
    "answers",
    "plan",
    "errand",
)
"""Fields of a memory that its archive line omits if empty."""


def memories_in(records: Iterable[Mapping[str, Any]]) -> Iterator[Memory]:
    """Yield the memories among archive lines; skip damaged lines, which are reported elsewhere."""
    for record in records:
        if record.get("type") == LineType.MEMORY:
            with suppress(KeyError, ValueError, TypeError):
                yield Memory.from_record(record)
