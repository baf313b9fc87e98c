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
def test_every_field_is_told_of(kind):
    page = (DOCS / "events.md").read_text(encoding="utf-8")
    assert f"### {kind.kind}" in page
    section = page.partition(f"### {kind.kind}")[2].partition("\n###")[0]
    for column in columns(kind):
        assert column.help, column.name
    for field in fields(kind):
        column = next(each for each in columns(kind) if each.name == field.name)
        assert f"| `{field.name}` |" in section, field.name
        assert f"| {column.help} |" in section, field.name


@pytest.mark.parametrize(("op", "told"), OPERATIONS.items(), ids=list(OPERATIONS))
def test_every_operation_on_a_memory_is_told_of(op, told):
    page = (DOCS / "events.md").read_text(encoding="utf-8")
    assert f"| `{op}` | {told} |" in page.partition("### memory")[2].partition("\n###")[0]


def test_what_is_none_is_refused():
    validator = jsonschema.Draft202012Validator(json_schema())
    good = {"v": 1, "seq": 1, "t": "2026-05-01T12:00:00+00:00", "kind": "world", "op": "starts"}
    good |= {"n": 0, "text": ""}
    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"seq": "1"})
    assert not validator.is_valid(good | {"v": 2})
    assert not validator.is_valid(good | {"kind": "worlds"})
    assert not validator.is_valid({key: good[key] for key in good if key != "op"})
