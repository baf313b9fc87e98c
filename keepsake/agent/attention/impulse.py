"""What gives an agent a reason to think: an impulse."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from keepsake.events.values import Urgency
from keepsake.happening import Person, PersonId


class ImpulseKind(StrEnum):
    """Why an agent may think."""

    ADDRESSED = "addressed"  # spoken to
    NAMED = "named"  # mentioned by name
    GIVEN = "given"
    ARRIVAL = "arrival"  # a person whom the agent greets has come
    HEARD = "heard"  # somebody spoke or acted without an addressee
    PLAN = "plan"  # a plan of the agent is due
    OTHER = "other"
    IDLE = "idle"  # nothing happened for a long time


DIRECT = (ImpulseKind.NAMED, ImpulseKind.GIVEN, ImpulseKind.ADDRESSED)
"""Kinds that address the agent itself, ordered by urgency, the most urgent last."""
ANSWERED = frozenset({*DIRECT, ImpulseKind.ARRIVAL})
"""Kinds that are answered with words to a person. All others are reasons to act."""
PLAN_SLOT = "plan"
"""The key of the slot of plans that are due. No identity is such a word."""
SHARED_SLOT = ""
"""The key of the slot shared by all impulses that are not answered to one person."""


@dataclass(frozen=True)
class Impulse:
    """An event that gives an agent a reason to think.

    Attributes:
        who: The identity of the person who caused it, or the name if that is not known.
        priority: Its urgency; a player who waits for an answer comes first.
        key: Its slot in the queue. All impulses of one person share a slot.
    """

    kind: ImpulseKind  # what happened
    from_player: bool  # whether a player caused it
    source: str  # who caused it, by name; empty for the world itself
    memory_number: int = 0  # number of its memory; 0 if that is not known
    source_id: str = ""  # identity of the source; empty if that is not known
    aside: bool = False  # whether it is meant for somebody else here, and so no reason to think
    plan: int = 0  # the number of the plan that is due; 0 for none
    # why the plan is due; what an idle thought may begin something from; or on what plan, promise
    # or wish of the agent the words of others bear
    why: str = ""
    confided: frozenset[str] | None = None  # who alone may know of the plan; None for anybody
    failed: bool = False  # whether a model was asked for it before, and gave no answer
    earlier: int = 0  # number of the memory of the same person's words just before; 0 for none
    errand: bool = False  # whether an agent says it for a plan, and waits for the answer
    others: tuple[Person, ...] = ()  # who else has come, and is greeted with the source
    to_all: bool = False  # whether it asks everybody here, so that another agent may answer it too
    tried: frozenset[PersonId] = frozenset()  # the agents that could not answer such a question
    from_afar: bool = False  # whether words from another room call the agent by its name
    called: PersonId = ""  # who is called in such a question, and may answer it first
    who: str = field(init=False)
    priority: Urgency = field(init=False)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        who = self.source_id or self.source
        player = self.from_player and self.kind in DIRECT
        other = Urgency.IDLE if self.kind is ImpulseKind.IDLE else Urgency.EVENT
        key = who if self.kind in ANSWERED else SHARED_SLOT
        if self.kind is ImpulseKind.PLAN:
            key = PLAN_SLOT
        self.__dict__.update(who=who, priority=Urgency.PLAYER if player else other, key=key)

    @property
    def person(self) -> Person:
        """Who caused it; without a name for the world itself."""
        return Person(self.source, self.source_id)


IDLE = Impulse(ImpulseKind.IDLE, from_player=False, source="")


def merged(old: Impulse, new: Impulse) -> Impulse:
    """Merge two impulses of one person: keep the newer one, unless the older is more urgent."""
    asks = new if _urgency(new) >= _urgency(old) else old
    number = asks.memory_number or old.memory_number or new.memory_number
    return replace(
        asks,
        memory_number=number,
        earlier=old.memory_number if old.memory_number != number else asks.earlier,
        others=old.others,
        errand=old.errand or new.errand,
        failed=old.failed and new.failed,
    )


def _urgency(impulse: Impulse) -> int:
    """Return the rank of an impulse among those of one slot: what asks something comes first."""
    if impulse.kind in DIRECT:
        return DIRECT.index(impulse.kind)
    return -1 if impulse.to_all or impulse.why else -2
