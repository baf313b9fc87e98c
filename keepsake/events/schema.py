"""The JSON schema of the event log, made from the dataclasses in :mod:`keepsake.events.types`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, get_args, get_origin, get_type_hints

from keepsake.events.prompts import HASH_SIGNS
from keepsake.events.types import KINDS, OPERATIONS, VERSION, Counts, Event, MemoryChange, Numbers

type Shape = dict[str, Any]
"""What may stand in a field, as JSON schema says it."""

_SHAPES: Mapping[Any, Shape] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Counts: {"type": "object", "additionalProperties": {"type": "integer"}},
    Numbers: {"type": "object", "additionalProperties": {"type": "number"}},
    Sequence[int]: {"type": "array", "items": {"type": "integer"}},
}


def columns(kind: type[Event]) -> dict[str, Shape]:
    """The fields of one kind of event, in the order of a line."""
    time = {"type": "string", "format": "date-time"}
    number = "Number of the event: 1, 2, 3 … without a gap."
    found: dict[str, Shape] = {
        "v": {"type": "integer", "const": VERSION, "description": "Version of the schema."},
        "seq": {"type": "integer", "description": number},
        "t": {**time, "description": "When, in UTC."},
        "kind": {"type": "string", "const": kind.kind, "description": "The kind of event."},
        **_fields_of(kind),
    }
    if kind is MemoryChange:
        told = "; ".join(f"{op}: {what}" for op, what in OPERATIONS.items())
        found["op"]["description"] += f" {told}."
    if "prompt" in found:
        found["prompt"]["pattern"] = f"^([0-9a-f]{{{HASH_SIGNS}}})?$"
    return found


def json_schema() -> Shape:
    """The JSON schema of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"An event of Keepsake's log, version {VERSION}",
        "description": "One line of logs/events/events-*.jsonl; docs/events.md tells the rest. "
        "Further fields and kinds may be added without a new version.",
        "oneOf": [
            {
                "title": kind.kind,
                "description": (inspect.getdoc(kind) or "").partition("\n")[0],
                **_object(columns(kind)),
            }
            for kind in KINDS.values()
        ],
    }


def _object(properties: dict[str, Shape]) -> Shape:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _fields_of(kind: type[Any]) -> dict[str, Shape]:
    """The fields of a dataclass whose comments say what they mean."""
    hints, told = get_type_hints(kind), _told(kind)
    names = [each.name for each in fields(kind)]
    return {name: _shape(hints[name]) | {"description": told[name]} for name in names}


def _shape(hint: Any) -> Shape:
    if hint in _SHAPES:
        return _SHAPES[hint]
    if get_origin(hint) is Sequence:
        return {"type": "array", "items": _object(_fields_of(get_args(hint)[0]))}
    (known,) = (_SHAPES[each] for each in get_args(hint) if each is not type(None))
    return known | {"type": [known["type"], "null"]}


def _told(kind: type[Any]) -> dict[str, str]:
    """What the comments of the class say of each field: ``#:``, behind it or above it."""
    told: dict[str, str] = {}
    above: list[str] = []
    # Of its base class too.
    source = "".join(map(inspect.getsource, reversed(kind.__mro__[:-1])))
    for line in source.splitlines():
        before, _, said = line.partition("#: ")
        above += [said] if said else []
        name, sign, _ = before.removeprefix("    ").partition(": ")
        if sign and name.isidentifier():
            told[name] = " ".join(above).replace("``", "")
        if before.strip():
            above = []
    return told


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=1, ensure_ascii=False))
