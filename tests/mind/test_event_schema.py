"""The schema of the event log is that of the classes, and documented."""

import json
from dataclasses import fields

import jsonschema
import pytest

from keepsake.events.schema import columns, json_schema
from keepsake.events.types import KINDS, OPERATIONS
from keepsake.paths import REPOSITORY

DOCS = REPOSITORY / "docs"


def test_the_schema_beside_the_page_is_the_one_of_the_classes():
    """If not: ``python -m keepsake.events.schema > docs/events.schema.json``."""
    assert json.loads((DOCS / "events.schema.json").read_text(encoding="utf-8")) == json_schema()


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_field_is_described_and_the_page_has_every_kind(kind):
    assert f"| `{kind.kind}` |" in (DOCS / "events.md").read_text(encoding="utf-8")
    assert {field.name for field in fields(kind)} <= {each.name for each in columns(kind)}
    for column in columns(kind):
        assert column.help, column.name


@pytest.mark.parametrize(("op", "told"), OPERATIONS.items(), ids=list(OPERATIONS))
def test_the_schema_describes_every_operation_on_a_memory(op, told):
    (memory,) = (each for each in json_schema()["oneOf"] if each["title"] == "memory")
    assert f"{op}: {told}" in memory["properties"]["op"]["description"]


def test_what_is_none_is_refused():
    validator = jsonschema.Draft202012Validator(json_schema())
    good = {"v": 1, "seq": 1, "t": "2026-05-01T12:00:00+00:00", "kind": "world", "op": "starts"}
    good |= {"n": 0, "text": ""}
    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"seq": "1"})
    assert not validator.is_valid(good | {"v": 2})
    assert not validator.is_valid(good | {"kind": "worlds"})
    assert not validator.is_valid({key: good[key] for key in good if key != "op"})
