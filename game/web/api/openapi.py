"""What the API takes and answers, and the same for programs: an OpenAPI 3.1 document.

``python -m game.web.api.openapi > docs/openapi.json`` writes it; a test holds the file to it, and
each answer of the API to the document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from game.web.api import shapes
from keepsake.errors import KeepsakeError

VERSION = "1"
EARLIEST = date(1970, 1, 1)
"""Days long before it have no beginning in some time zones."""
_REF = "#/components/schemas/{model}"

type Schema = dict[str, Any]


class BadRequest(KeepsakeError):
    """A parameter or a body that cannot be used."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something that an address takes."""

    name: str  # what it is called
    help: str  # what it means
    schema: Schema  # what it may be
    # its value by what the address says, which is empty without it; raises BadRequest
    read: Callable[[str], int | str | None]
    required: bool = False


def _number(
    name: str, help: str, default: int | None = None, most: int | None = None, least: int = 1
) -> Parameter:
    """A whole number; ``most`` is None for any that a JSON number can be."""
    bounds = {"minimum": least, "maximum": most, "default": default}
    schema = {"type": "integer"} | {name: of for name, of in bounds.items() if of is not None}
    largest = most if most is not None else 2**53

    def read(given: str) -> int | None:
        if not given:
            return default
        readable = given.isascii() and given.isdecimal() and len(given) <= 16
        if readable and least <= int(given) <= largest:
            return int(given)
        cure = f"Give a whole number, {least} to {largest}"
        raise BadRequest(f"{name} cannot be {given[:40]!r}", cure)

    return Parameter(name, help, schema, read)


def _words(name: str, help: str, most: int) -> Parameter:
    """A text of at most ``most`` characters that an address needs, without blanks around it."""

    def read(given: str) -> str:
        text = given.strip()
        if not text:
            raise BadRequest(f"{name} is not given", f"Add it to the address: ?{name}=…")
        if len(text) > most:
            raise BadRequest(f"{name} has {len(text)} characters", f"Give at most {most}")
        return text

    schema = {"type": "string", "minLength": 1, "maxLength": most}
    return Parameter(name, help, schema, read, required=True)


def _choice(name: str, help: str, words: Sequence[str], *, required: bool = True) -> Parameter:
    """One of a few words."""

    def read(given: str) -> str:
        if given in words:
            return given
        raise BadRequest(f"{name} cannot be {given[:40]!r}", f"Give one of: {', '.join(words)}")

    return Parameter(name, help, {"type": "string", "enum": [*words]}, read, required)


def _day(name: str, help: str) -> Parameter:
    """A day such as ``2026-05-04``; without it that of now."""

    def read(given: str) -> str | None:
        if not given:
            return None
        try:
            found = date.fromisoformat(given)
        except ValueError:
            found = date.min
        if found < EARLIEST:
            raise BadRequest(f"{name} cannot be {given[:40]!r}", "Write it so: 2026-05-04")
        return found.isoformat()

    return Parameter(name, help, {"type": "string", "format": "date"}, read)


@dataclass(frozen=True, slots=True)
class Operation:
    """One address of the API."""

    path: str  # the address, below ``/agents/api``
    help: str  # what it gives or does
    answer: type[shapes.Shape] | None  # the shape of the answer; None for this very document
    parameters: tuple[Parameter, ...] = ()  # what may be given besides the agent's number
    method: Literal["get", "post"] = "get"  # how it is asked for
    # names of yes-or-no fields that a JSON body may have, with their meaning
    body: Mapping[str, str] = field(default_factory=dict)
    # names of texts that it must have, with their meaning
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Its name, which is that of the view as well."""
        return self.path.strip("/").replace("agents/{id}", "agent").replace("/", "_")


FORMS = ("json", "csv")
"""In which form an answer may be asked for; a table has a row for each of what it lists."""
FORM = "format"
_FIRST = _number("first", "The first memory; without it the newest are given.")
_LAST = _number("last", "The last memory; at most 200 are given.")
_WORDS = _words("q", "What to search for.", 1000)
_HITS = _number("limit", "How many at most.", 12, 50)
_HITS_OF_ALL = _number("limit", "How many at most.", 100, 500)
_HOURS = _number("hours", "How many hours, until now; at most a week.", 1, 168)
_NEWEST = _number("limit", "How many, the newest first.", 20, 100)
_OLDER = _number("before", "Only those older than the compaction of this number.")
_NTH = _number("n", "Which of its last acts, 1 for the very last.", 1, 1000)
_FORM = _choice(FORM, "``csv`` for a table of what is listed.", FORMS, required=False)
_BOOKS = ("journal", "people", "notes", "nights", "kept")
_BOOK = _choice("of", "Which book; ``kept`` is what always stands in its prompts.", _BOOKS)
_PAGES = _number("limit", "How many pages at most.", 30, 200)
_SKIP = _number("skip", "How many of the newest to leave out.", 0, least=0)
_SEQ = _number("seq", "Of the thought with this number in the event log; the last without it.")
_BEFORE = _number("before", "Only those of thoughts with a smaller number.")
_SENT = _number("limit", "How many at most.", 20, 100)
_DAY = _day("day", "Which day, by the world's own time zone; today without it.")
_ALL = _number(
    "all",
    "1 to count what came to nothing as well: waiting, refused answers, no answer.",
    default=0,
    most=1,
    least=0,
)


def _look(rest: str, help: str, answer: type[shapes.Shape], *parameters: Parameter) -> Operation:
    return Operation(f"/agents/{{id}}{rest}", help, answer, parameters)


def _do(rest: str, help: str, **body: str) -> Operation:
    return Operation(f"/agents/{{id}}/{rest}", help, shapes.Done, (), "post", body)


def _write(rest: str, help: str, **texts: str) -> Operation:
    return Operation(f"/agents/{{id}}/{rest}", help, shapes.Done, (), "post", {}, texts)


OPERATIONS = (
    Operation("/agents", "All agents at a glance, and the model servers.", shapes.Overview),
    Operation("/world", "The map, and one day of all agents.", shapes.WorldView, (_DAY,)),
    Operation(
        "/search", "Words in all agents' memories.", shapes.SearchView, (_WORDS, _HITS_OF_ALL)
    ),
    Operation("/acquaintances", "Who knows whom.", shapes.TiesView),
    _look("", "One agent at a glance.", shapes.AgentRow),
    _look("/prompt", "What was sent for it.", shapes.PromptView, _SEQ),
    _look("/prompts", "What was sent for it before.", shapes.SentPrompts, _BEFORE, _SENT),
    _look("/book", "What it keeps beside its memories.", shapes.Book, _BOOK, _PAGES, _SKIP),
    _look("/tiers", "Which memory is where.", shapes.TiersView),
    _look("/memories", "Raw memories by number.", shapes.Memories, _FIRST, _LAST),
    _look("/recall", "A search by hand.", shapes.RecallView, _WORDS, _HITS),
    _look("/compactions", "Its compactions.", shapes.Compactions, _NEWEST, _OLDER),
    _look("/series", "Its last hours, for charts.", shapes.Series, _HOURS),
    _look("/why", "Why it did what it did.", shapes.WhyView, _NTH, _ALL),
    _do("pause", "It perceives, but does not think."),
    _do("resume", "It thinks again."),
    _do("compact", "Compact its memory now."),
    _do("sleep", "Send it to bed.", here="Lie down where it is, instead of going home."),
    _do("wake", "Wake it."),
    _do("undo", "Take its last compaction back."),
    _write("pin", "Pin a line: it always stands in its prompts.", text="The line."),
    _write("unpin", "Take a pinned line out.", text="The line, or its number."),
    _write("note", "Write a note, or add to it.", title="The note's title.", text="What to add."),
    _write(
        "summary",
        "Change a summary that stands in its prompts.",
        kind="``longterm`` or ``recent``.",
        at="When the one that is changed was written, as it was told: another is left alone.",
        text="All of its new words.",
    ),
    Operation("/openapi.json", "This document.", None),
)
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
        "paths": {each.path: {each.method: _operation(each)} for each in OPERATIONS},
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
        "operationId": operation.id,
        "summary": operation.help,
        "responses": {"200": _answer("What was asked for.", schema), **errors},
    }
    if parameters := [*_parameters(operation)]:
        made["parameters"] = parameters
    if operation.method == "post":
        made["security"] = [{"session": [], "token": []}]
    if operation.body or operation.texts:
        flags = {
            name: {"type": "boolean", "default": False, "description": said}
            for name, said in operation.body.items()
        }
        texts = {
            name: {"type": "string", "description": said} for name, said in operation.texts.items()
        }
        body: Schema = {"type": "object", "properties": flags | texts}
        if texts:
            body["required"] = [*texts]
        made["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return made


def _parameters(operation: Operation) -> Iterator[Schema]:
    taken = [("query", each) for each in operation.parameters]
    if operation.method == "get" and operation.answer:
        taken.append(("query", _FORM))
    if "{id}" in operation.path:
        taken.insert(0, ("path", _number("id", "The agent's database number.", least=0)))
    for where, each in taken:
        yield {
            "name": each.name,
            "in": where,
            "required": each.required or where == "path",
            "description": each.help,
            "schema": each.schema,
        }


def _ref(shape: type) -> Schema:
    return {"$ref": _REF.format(model=shape.__name__)}


def _answer(said: str, schema: Schema) -> Schema:
    return {"description": said, "content": {"application/json": {"schema": schema}}}


def _schemas() -> Schema:
    """The models' schemas by name, as Pydantic makes them from what is answered."""
    shapes_used = {each.answer for each in OPERATIONS if each.answer} | {shapes.Refused}
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
