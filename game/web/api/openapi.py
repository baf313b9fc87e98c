"""What the API is, for programs: an OpenAPI 3.1 document, made from the shapes of its answers.

``python -m game.web.api.openapi > docs/openapi.json`` writes it; a test holds the file to it, and
each answer of the API to the document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from game.web.api import shapes

VERSION = "1"
_REF = "#/components/schemas/{model}"
_AGENT = "/agents/{id}"

type Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an address.

    Attributes:
        name: What it is called.
        help: What it means.
        schema: What it may be.
        required: Whether it has to be given.
    """

    name: str
    help: str
    schema: Mapping[str, Any]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One address of the API.

    Attributes:
        path: The address, below ``/agents/api``.
        method: How it is asked for.
        help: What it gives or does.
        answer: The shape of the answer; None for this very document.
        parameters: What may be given besides the agent's number.
        body: Names of yes-or-no fields that a JSON body may have, with their meaning.
    """

    path: str
    method: Literal["get", "post"]
    help: str
    answer: type[shapes.Shape] | None
    parameters: tuple[Parameter, ...] = ()
    body: Mapping[str, str] | None = None


def _whole(name: str, help: str, default: int | None, most: int | None = None) -> Parameter:
    schema: Schema = {"type": "integer", "minimum": 1}
    schema |= {"maximum": most} if most is not None else {}
    schema |= {"default": default} if default is not None else {}
    return Parameter(name, help, schema)


_WORDS = Parameter(
    "q", "What to search for.", {"type": "string", "minLength": 1, "maxLength": 1000}, True
)
_FIRST = _whole("first", "The first memory; without it the newest are given.", None)
_LAST = _whole("last", "The last memory; at most 200 are given.", None)
_HITS = _whole("limit", "How many at most.", 12, 50)
_HOURS = _whole("hours", "How many hours, until now; at most a week.", 1, 168)
_NEWEST = _whole("limit", "How many, the newest first.", 20, 100)
_OLDER = _whole("before", "Only those older than the compaction of this number.", None)
_NTH = _whole("n", "Which of its last acts, 1 for the very last.", 1, 1000)
_ALL = Parameter(
    "all",
    "1 to count what came to nothing as well: waiting, refused answers, no answer.",
    {"type": "integer", "minimum": 0, "maximum": 1, "default": 0},
)
_HERE = {"here": "Lie down where it is, instead of going home."}

_ALL_OPERATIONS = (
    Operation("/agents", "get", "All agents at a glance, and the model servers.", shapes.Overview),
    Operation(_AGENT, "get", "One agent at a glance.", shapes.AgentRow),
    Operation(f"{_AGENT}/prompt", "get", "What was last sent for it.", shapes.PromptView),
    Operation(f"{_AGENT}/tiers", "get", "Which memory is where.", shapes.TiersView),
    Operation(
        f"{_AGENT}/memories", "get", "Raw memories by number.", shapes.Memories, (_FIRST, _LAST)
    ),
    Operation(f"{_AGENT}/recall", "get", "A search by hand.", shapes.RecallView, (_WORDS, _HITS)),
    Operation(
        f"{_AGENT}/compactions", "get", "Its compactions.", shapes.Compactions, (_NEWEST, _OLDER)
    ),
    Operation(f"{_AGENT}/series", "get", "Its last hours, for charts.", shapes.Series, (_HOURS,)),
    Operation(f"{_AGENT}/why", "get", "Why it did what it did.", shapes.WhyView, (_NTH, _ALL)),
    Operation(f"{_AGENT}/pause", "post", "It perceives, but does not think.", shapes.Done),
    Operation(f"{_AGENT}/resume", "post", "It thinks again.", shapes.Done),
    Operation(f"{_AGENT}/compact", "post", "Compact its memory now.", shapes.Done),
    Operation(f"{_AGENT}/sleep", "post", "Send it to bed.", shapes.Done, body=_HERE),
    Operation(f"{_AGENT}/wake", "post", "Wake it.", shapes.Done),
    Operation("/openapi.json", "get", "This document.", None),
)
OPERATIONS: Mapping[str, Operation] = {each.path: each for each in _ALL_OPERATIONS}
"""By their address, each of which has one method."""
_ERRORS = {
    "400": "A parameter or the body cannot be used, or names what is not told of here.",
    "403": "It is not for whoever asks, or the request lacks its token.",
    "404": "There is no such agent, or no such act.",
    "405": "That method is not for this address.",
    "413": "The body is too long.",
    "415": "The body is no JSON.",
    "502": "The world went away before it had answered, as it does while it is being reloaded.",
    "503": "The world is stopping, too busy, or its disk cannot be read.",
}
_ABOUT = (
    "What the dashboard at /agents/ shows, as JSON, for staff accounts. Log in at /auth/login/ "
    "and send the session's cookie; what changes anything is a POST and needs the cookie "
    "`csrftoken` in the header `X-CSRFToken` as well. To anybody else every address answers 403, "
    "whether there is anything behind it or not. What happens is told live by /agents-live. An "
    "agent's number stays when it is renamed, and charts, reasons, prompts and live events of its "
    "former names are its own, for as long as it bore each."
)


def document() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Keepsake's agents", "version": VERSION, "description": _ABOUT},
        "servers": [{"url": "/agents/api"}],
        "security": [{"session": []}],
        "paths": {path: {each.method: _operation(each)} for path, each in OPERATIONS.items()},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "session": {"type": "apiKey", "in": "cookie", "name": "sessionid"},
                "token": {"type": "apiKey", "in": "header", "name": "X-CSRFToken"},
            },
        },
    }


def _operation(operation: Operation) -> Schema:
    schema = _ref(operation.answer) if operation.answer else {"type": "object"}
    errors = {code: _answer(said, _ref(shapes.Refused)) for code, said in _ERRORS.items()}
    made: Schema = {
        "operationId": _id(operation),
        "summary": operation.help,
        "responses": {"200": _answer("What was asked for.", schema), **errors},
    }
    if parameters := [*_number(operation), *map(_parameter, operation.parameters)]:
        made["parameters"] = parameters
    if operation.method == "post":
        made["security"] = [{"session": [], "token": []}]
    if operation.body:
        made["requestBody"] = {"content": {"application/json": {"schema": _body(operation.body)}}}
    return made


def _id(operation: Operation) -> str:
    return operation.path.strip("/").replace("agents/{id}", "agent").replace("/", "_")


def _number(operation: Operation) -> list[Schema]:
    if "{id}" not in operation.path:
        return []
    number = {"type": "integer", "minimum": 0}
    return [_parameter(Parameter("id", "The agent's database number.", number, True), "path")]


def _parameter(parameter: Parameter, where: str = "query") -> Schema:
    return {
        "name": parameter.name,
        "in": where,
        "required": parameter.required,
        "description": parameter.help,
        "schema": dict(parameter.schema),
    }


def _body(flags: Mapping[str, str]) -> Schema:
    properties = {
        name: {"type": "boolean", "default": False, "description": said}
        for name, said in flags.items()
    }
    return {"type": "object", "properties": properties}


def _ref(shape: type) -> Schema:
    return {"$ref": _REF.format(model=shape.__name__)}


def _answer(said: str, schema: Schema) -> Schema:
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _schemas() -> Schema:
    """The models' schemas by name, as Pydantic makes them from what is answered."""
    shapes_used = {each.answer for each in OPERATIONS.values() if each.answer} | {shapes.Refused}
    _, made = models_json_schema(
        [(each, "serialization") for each in sorted(shapes_used, key=lambda each: each.__name__)],
        ref_template=_REF,
        schema_generator=_Plain,
    )
    return dict(sorted(made["$defs"].items()))


class _Plain(GenerateJsonSchema):
    """Without a title for each field, which says its name once more, and without defaults."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def default_schema(self, schema: WithDefaultSchema) -> Schema:
        return self.generate_inner(schema["schema"])


def text() -> str:
    """The document as it stands in ``docs/openapi.json``."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
