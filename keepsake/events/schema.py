"""The JSON schema of the event log, made from the dataclasses in :mod:`keepsake.events.types`."""

from __future__ import annotations

import inspect
import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from keepsake.events.types import KINDS, OPERATIONS, VERSION, MemoryChange, Recalled

_OF_ALL = {
    "v": {"const": VERSION, "description": "Version of the schema."},
    "seq": {"type": "integer", "description": "Number of the event: 1, 2, 3 … without a gap."},
    "t": {"type": "string", "format": "date-time", "description": "When, in UTC."},
}


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """The JSON schema of one line."""
    classes: tuple[type[Any], ...] = (*KINDS.values(), Recalled)
    _, shapes = TypeAdapter.json_schemas(
        [(each.__name__, "serialization", TypeAdapter[Any](each)) for each in classes],
        schema_generator=_Untitled,
    )
    for each in classes:
        shape, told = shapes["$defs"][each.__name__], _told(each)
        fields = {
            name: of | {"description": told[name]} for name, of in shape["properties"].items()
        }
        if each is MemoryChange:
            operations = "; ".join(f"{op}: {what}" for op, what in OPERATIONS.items())
            fields["op"]["description"] += f" {operations}."
        if each is not Recalled:
            kind = {"const": each.kind, "description": "The kind of event."}
            fields = {**_OF_ALL, "kind": kind, **fields}
        shape["properties"], shape["required"] = fields, [*fields]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"An event of Keepsake's log, version {VERSION}",
        "description": "One line of logs/events/events-*.jsonl; docs/events.md tells the rest. "
        "Further fields and kinds may be added without a new version.",
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS.values()],
        **shapes,
    }


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
