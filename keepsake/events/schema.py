"""The schema of the event log, made from the dataclasses in :mod:`keepsake.events.types`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeAliasType, get_args, get_origin, get_type_hints

from keepsake.events.prompts import HASH_SIGNS
from keepsake.events.types import KINDS, OPERATIONS, VERSION, Counts, Event, MemoryChange, Numbers

type ColumnType = Literal[
    "string", "integer", "number", "boolean", "counts", "numbers", "time", "integers", "list"
]

_TYPES: Mapping[Any, ColumnType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    Counts: "counts",
    Numbers: "numbers",
    datetime: "time",
    Sequence[int]: "integers",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One field of the events of a kind."""

    name: str  # what it is called
    type: ColumnType  # what stands in it
    nullable: bool = False  # whether nothing may stand in it
    help: str = ""  # what it means
    items: tuple[Column, ...] = ()  # of a list: the fields of each of its objects


_COMMON = (
    Column("v", "integer", help="Version of the schema."),
    Column("seq", "integer", help="Number of the event: 1, 2, 3 … without a gap."),
    Column("t", "time", help="When, in UTC."),
    Column("kind", "string", help="What kind of event it is."),
)


def columns(kind: type[Event]) -> tuple[Column, ...]:
    """The fields of one kind of event, in the order of a line."""
    return (*_COMMON, *fields_of(kind))


def fields_of(kind: type[Any]) -> tuple[Column, ...]:
    """The fields of a dataclass whose comments say what they mean, as columns."""
    hints, told = get_type_hints(kind), _told(kind)
    return tuple(_column(f.name, hints[f.name], told) for f in fields(kind))


def json_schema() -> dict[str, Any]:
    """The JSON schema of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"An event of Keepsake's log, version {VERSION}",
        "description": "One line of logs/events/events-*.jsonl; docs/events.md tells the rest. "
        "Further fields and kinds may be added without a new version.",
        "oneOf": [_object(each) for each in KINDS.values()],
    }


def _object(kind: type[Event]) -> dict[str, Any]:
    found = columns(kind)
    properties = {column.name: _property(column) for column in found}
    properties["v"] = {"const": VERSION, "description": properties["v"]["description"]}
    properties["kind"] = {"const": kind.kind}
    if kind is MemoryChange:
        told = "; ".join(f"{op}: {what}" for op, what in OPERATIONS.items())
        properties["op"]["description"] += f" {told}."
    if "prompt" in properties:
        properties["prompt"] |= {"pattern": f"^([0-9a-f]{{{HASH_SIGNS}}})?$"}
    return {
        "title": kind.kind,
        "description": (inspect.getdoc(kind) or "").partition("\n")[0],
        "type": "object",
        "properties": properties,
        "required": [column.name for column in found],
    }


def _property(column: Column) -> dict[str, Any]:
    made: dict[str, Any] = {"type": column.type}
    if column.type == "integers":
        return {"type": "array", "items": {"type": "integer"}, "description": column.help}
    if column.type in ("counts", "numbers"):
        inner = "integer" if column.type == "counts" else "number"
        made = {"type": "object", "additionalProperties": {"type": inner}}
    elif column.type == "time":
        made = {"type": "string", "format": "date-time"}
    elif column.type == "list":
        properties = {each.name: _property(each) for each in column.items}
        item = {"type": "object", "properties": properties, "required": list(properties)}
        made = {"type": "array", "items": item}
    if column.nullable:
        made["type"] = [made["type"], "null"]
    return made | ({"description": column.help} if column.help else {})


def _column(name: str, hint: Any, told: Mapping[str, str]) -> Column:
    nullable = False
    if get_origin(hint) is Sequence and hint not in _TYPES:
        return Column(name, "list", help=told.get(name, ""), items=fields_of(get_args(hint)[0]))
    if not isinstance(hint, TypeAliasType) and type(None) in get_args(hint):
        nullable = True
        hint = next(each for each in get_args(hint) if each is not type(None))
    return Column(name, _TYPES[hint], nullable, told.get(name, ""))


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
