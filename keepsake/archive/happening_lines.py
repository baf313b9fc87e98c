"""What happened, as fields of an archive line, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keepsake.happening import (
    ME,
    Deed,
    HappeningKind,
    Manner,
    Person,
    Pose,
    Result,
    Sight,
    Speech,
    What,
    actor_of,
    addressees_of,
    kind_of,
)

_ACT = "act"
"""The ``kind`` of a line about an own act of the agent."""


def fields_of(what: What) -> dict[str, Any]:
    """Return the fields of an archive line that say what happened, besides kind and text."""
    fields: dict[str, Any] = {"what": kind_of(what).value}
    actor = actor_of(what)
    if actor is not None and actor != ME:
        fields |= {"source": actor.name} | ({"source_id": actor.id} if actor.id else {})
    if to := addressees_of(what):
        fields["to"] = [[each.name, each.id] for each in to]
    match what:
        case Speech():
            fields |= {"words": what.words, "manner": what.manner.value}
        case Pose():
            fields |= {"gesture": what.gesture} if what.gesture else {}
            fields |= {"by_agent": True} if what.by_agent else {}
        case Deed():
            fields |= {"verb": what.verb}
            fields |= {"objects": list(what.objects)} if what.objects else {}
            fields |= {"outcome": what.outcome} if what.outcome else {}
        case Result():
            fields |= {"verb": what.verb} if what.verb else {}
            fields |= {"act": what.act} if what.act else {}
            fields |= {} if what.done else {"done": False}
    return fields


def what_in(record: Mapping[str, Any]) -> What:
    """Read back what :func:`fields_of` wrote.

    Raises:
        ValueError: The kind of happening is unknown: a newer version wrote it.
        KeyError: A field that every line has is missing.
    """
    shown = str(record["text"])
    name = str(record.get("source", ""))
    identity = str(record.get("source_id", ""))
    somebody = Person(name, identity) if name or identity else None
    actor = ME if record["kind"] == _ACT else somebody or Person("")
    to = tuple(_person(each) for each in record.get("to", ()))
    match record["what"]:
        case HappeningKind.SPEECH:
            words = str(record.get("words", ""))
            manner = Manner(record.get("manner", Manner.SAY))
            return Speech(speaker=actor, words=words, to=to, manner=manner, shown=shown)
        case HappeningKind.DEED:
            return Deed(
                actor=actor,
                verb=str(record.get("verb", "")),
                objects=tuple(map(str, record.get("objects", ()))),
                to=to,
                outcome=str(record.get("outcome", "")),
                shown=shown,
            )
        case HappeningKind.POSE:
            gesture = str(record.get("gesture", ""))
            by_agent = bool(record.get("by_agent", False))
            return Pose(actor=actor, gesture=gesture, by_agent=by_agent, to=to, shown=shown)
        case HappeningKind.RESULT:
            return Result(
                verb=str(record.get("verb", "")),
                act=int(record.get("act", 0)),
                done=bool(record.get("done", True)),
                shown=shown,
            )
        case HappeningKind.SIGHT:
            return Sight(source=somebody, shown=shown)
        case other:
            raise ValueError(f"unknown kind of happening: {other!r}")


def _person(pair: Iterable[Any]) -> Person:
    name, identity = map(str, pair)
    return ME if identity == ME.id else Person(name, identity)
