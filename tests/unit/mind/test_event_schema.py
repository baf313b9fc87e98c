"""Whose an event is, and the schema of all of them."""

import json
from dataclasses import fields

import jsonschema
import pytest

from keepsake.events.files import events
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.schema import columns, json_schema
from keepsake.events.types import KINDS, Fault, Thought
from keepsake.paths import REPOSITORY


def thought(agent):
    command = f"say I am {agent}."
    return Thought(
        agent=agent, trigger="idle", priority="idle", outcome="acted", command=command, total=1
    )


def test_the_id_says_whose_an_event_is_whatever_they_are_called(tmp_path):
    subscribers = Subscribers()
    subscribers.agent_ids["Mira"] = 7
    log = EventLog(tmp_path, subscribers=subscribers)
    log.emit(thought("Mira"))
    subscribers.agent_ids |= {"Myra": 7, "Mira": 8}
    log.emit(thought("Myra"))
    log.emit(thought("Mira"))
    log.emit(Fault(level="error", text="Mira: something is wrong"))
    log.close()
    assert [each["agent_id"] for each in events(tmp_path)] == [7, 7, 8, 8]


DOCS = REPOSITORY / "docs"


def test_the_schema_beside_the_page_is_the_one_of_the_classes():
    """If not: ``python -m keepsake.events.schema > docs/events.schema.json``."""
    assert json.loads((DOCS / "events.schema.json").read_text(encoding="utf-8")) == json_schema()
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_field_is_described_and_the_page_has_every_kind(kind):
    assert f"| `{kind.kind}` |" in (DOCS / "events.md").read_text(encoding="utf-8")
    assert {field.name for field in fields(kind)} <= columns(kind).keys()
    assert all(each["description"] for each in columns(kind).values())
