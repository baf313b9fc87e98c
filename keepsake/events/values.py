"""The values that fields of events can have: outcomes, reasons, operations, authors.

``keepsake.web.kinds`` writes them for the dashboard's pages. Logs of other versions may have values
that are not here, so reading a log never turns one of its values into one of these enums without
checking that it exists (:func:`known`).
"""

from __future__ import annotations

from enum import StrEnum


class ThoughtOutcome(StrEnum):
    """How a thought ended."""

    ACTED = "acted"
    REFUSED = "refused"
    """The answer held no act that may be done."""
    NO_ANSWER = "no answer"
    TOO_LARGE = "too large"
    """The prompt does not fit the model."""
    DROPPED = "dropped"
    """It was no longer needed; neither a failure nor a success."""
    BROKE_OFF = "broke off"
    """An error in this program."""

    @property
    def failed(self) -> bool:
        """Whether it ended without an act although one was wanted."""
        return self not in (ThoughtOutcome.ACTED, ThoughtOutcome.DROPPED)


class Urgency(StrEnum):
    """How urgent a thought is: its priority in the model queue."""

    PLAYER = "player"
    """A player waits for an answer."""
    EVENT = "event"
    IDLE = "idle"
    """Nothing happened for a long time."""


class Assent(StrEnum):
    """What the words of an agent do with a request."""

    AGREED = "agreed"
    REFUSED = "refused"
    TALK = "talk"
    """There was no request, or the model did not say."""


class Consented(StrEnum):
    """Whether words may reach somebody who does not know what their prompt held in private."""

    NO = "no"
    """Nobody has asked for it, or the model did not say."""
    ASKED = "asked"
    """Those who said it in private have asked for it."""
    NOTHING = "nothing"
    """The words hold nothing of it."""


class GuardOp(StrEnum):
    """What was done with a part of a model's answer that is not used as it was written."""

    ALTERED = "altered"
    """Labels or marks were removed."""
    REFUSED = "refused"
    """The model was asked again."""
    DROPPED = "dropped"
    """The rest of the answer was spoken."""


class MemoryOp(StrEnum):
    """What changed in an agent's memory or books."""

    APPEND = "append"
    """A memory was archived."""
    REPEAT = "repeat"
    """The last memory happened again."""
    UNDO = "undo"
    """A compaction was undone."""
    EDIT = "edit"
    """A person edited a summary; with a problem if that came too late."""
    REINDEX = "reindex"
    """The index of recall was rebuilt."""
    NOTE = "note"
    UNNOTE = "unnote"
    """A note was put away."""
    PIN = "pin"
    UNPIN = "unpin"
    NOTICED = "noticed"
    """A promise or a rule began."""
    CLOSED = "closed"
    """A promise or a rule ended."""
    PLAN = "plan"
    """A plan was made, or has another state."""
    JOURNAL = "journal"
    """The agent wrote an entry into its journal."""
    MET = "met"
    """The agent has its first page about a person."""
    PROFILE = "profile"
    """The page about a person got lines."""
    CONCLUDED = "concluded"
    """The agent concluded something about a person."""
    RENAMED = "renamed"
    """A person, or the agent itself, has another name."""
    BEGINS = "begins"
    """The agent's archive begins."""
    ENDS = "ends"
    """The agent is deleted; its archive ends."""


class Author(StrEnum):
    """Who changed an agent's memory or books."""

    AGENT = "agent"
    BUILDER = "builder"
    RULES = "rules"
    """The library, without a model."""
    NIGHT = "night"
    """The agent's model, while the agent sleeps."""
    HAND = "hand"
    """A person, in the file itself."""
    WORLD = "world"
    """The world's clock: the time of a plan has passed."""
    LAB = "lab"
    """A measurement, which gives agents something to remember or to plan."""


class RecallPurpose(StrEnum):
    """What a search in a memory is for."""

    TALK = "talk"
    """An answer in words."""
    THOUGHT = "thought"
    """Any other thought."""
    AGENT = "agent"
    """The agent asked, with its verb ``recall``."""
    BUILDER = "builder"
    FURTHER = "further"
    """What a model would still search for, after it read what another search found."""
    INTERVIEW = "interview"
    """A question that the agent answers aside; the world does not hear of it."""


class RecalledKind(StrEnum):
    """What a search in a memory finds."""

    MEMORY = "memory"
    SUMMARY = "summary"
    """A short-term summary."""
    NOTE = "note"


class CompactReason(StrEnum):
    """Why a compaction is made."""

    COUNT = "count"
    """The window reached its size."""
    HIGH = "high"
    """The prompt passed the high mark."""
    SLEEP = "sleep"
    """The agent sleeps, and the prompt is over the sleep mark."""
    EMERGENCY = "emergency"
    """The prompt passed the emergency mark just before a thought."""
    MANUAL = "manual"
    """A builder asked."""

    @property
    def asked(self) -> bool:
        """Whether a person asked for it. Then it is made, whatever it saves."""
        return self is CompactReason.MANUAL


class CompactionOutcome(StrEnum):
    """How a compaction ended."""

    FIRST = "first summary"
    WATERFALL = "waterfall"
    """The short-term summary was merged into the long-term one, and a new one was written."""
    SHORTENED = "summaries shortened"
    NOTHING = "nothing to compact"
    FAILED = "failed"
    """Only in events: nothing was written, and the archive has no line of it."""


class SleepOp(StrEnum):
    """What happened in an agent's night, or what was done of its work by day."""

    FALLS_ASLEEP = "falls asleep"
    WAKES = "wakes"
    STEP = "step"
    """A step of the night's work was done."""
    THINKS_OVER = "thinks over a talk"
    """A step of a night was done by day, because a talk is over."""


class WorldOp(StrEnum):
    """What happened to the world, or to the log."""

    STARTS = "starts"
    STOPS = "stops"
    RELOADS = "reloads"
    LOST = "lost"
    """Events were lost, because the log could not be written for a long time."""


class FaultLevel(StrEnum):
    """How bad a fault is."""

    WARNING = "warning"
    """What failed works again, or works in a simpler way."""
    ERROR = "error"


def known[E: StrEnum](kind: type[E], value: object) -> E | None:
    """Return the member of an enum with a value from a log; None if this version has no such."""
    return next((each for each in kind if each == value), None)
