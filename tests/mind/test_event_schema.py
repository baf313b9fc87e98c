"""Whose an event is, and the schema of all of them."""

import json
from contextlib import closing, suppress
from dataclasses import fields
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from keepsake.archive.log import Archive
from keepsake.errors import KeepsakeError
from keepsake.events.agent_names import Names
from keepsake.events.log import EventLog
from keepsake.events.reader import events
from keepsake.events.recent_activity import lately
from keepsake.events.schema import columns, json_schema
from keepsake.events.types import KINDS, Fault, Thought
from keepsake.events.why import why_did
from keepsake.paths import REPOSITORY

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
OLD_LINES = (
    (1, "Mira", "say I am the first Mira."),
    (2, "Oswin", "say I am Oswin."),
    (3, "Myra", "say I am called Myra now."),
    (4, "Mira", "say I am another Mira."),
)
"""As an earlier version wrote them: Mira became Myra at 12:02:30, and somebody else Mira."""
MYRA = Names.after([("Mira", NOON + timedelta(seconds=150))], "Myra", None, agent_id=7)
MIRA = Names.after([], "Mira", NOON + timedelta(seconds=200), agent_id=8)


def old_log(folder):
    folder.mkdir()
    lines = [
        {
            **{"v": 1, "seq": seq, "t": (NOON + timedelta(minutes=seq)).isoformat()},
            **{"kind": "thought", "agent": agent, "trigger": "idle", "priority": "idle"},
            **{"outcome": "acted", "command": command, "sections": {"window": seq}},
        }
        for seq, agent, command in OLD_LINES
    ]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / "events-2026-05-01-0000000001.jsonl").write_text(text)


def thought(agent):
    command = f"say I am {agent}."
    return Thought(
        agent=agent, trigger="idle", priority="idle", outcome="acted", command=command, total=1
    )


def acts(folder, names):
    found = []
    with closing(Archive(folder.parent / "archive")) as archive, suppress(KeepsakeError):
        for n in range(1, 10):
            found.append(why_did(folder, names, archive, n).command)
    return found


def test_an_old_log_is_read_by_the_names_of_then(tmp_path):
    old_log(tmp_path / "events")
    assert acts(tmp_path / "events", MYRA) == [OLD_LINES[2][2], OLD_LINES[0][2]]
    assert acts(tmp_path / "events", MIRA) == [OLD_LINES[3][2]]
    before = NOON + timedelta(hours=1)
    myra, mira = lately(tmp_path / "events", [MYRA, MIRA], before)
    assert (myra.act, mira.act) == (OLD_LINES[2][2], OLD_LINES[3][2])


def test_the_id_decides_where_there_is_one(tmp_path):
    old_log(tmp_path / "events")
    ids = {"Mira": 7}
    log = EventLog(tmp_path / "events", agent_ids=ids)
    log.emit(thought("Mira"))
    ids |= {"Myra": 7, "Mira": 8}
    log.emit(thought("Myra"))
    log.emit(thought("Mira"))
    log.emit(Fault(level="error", text="Mira: something is wrong"))
    log.close()
    new = [each for each in events(tmp_path / "events") if "agent_id" in each]
    assert [each["agent_id"] for each in new] == [7, 7, 8, 8]
    # Whoever is asked for by the id is found, whatever times its names are said to have held.
    assert acts(tmp_path / "events", Names.after([], "Myra", None, agent_id=7))[:2] == [
        "say I am Myra.",
        "say I am Mira.",
    ]
    assert acts(tmp_path / "events", MIRA)[0] == "say I am Mira."
    myra, mira = lately(tmp_path / "events", [MYRA, MIRA], datetime.now(UTC))
    assert (myra.act, mira.act) == ("say I am Myra.", "say I am Mira.")


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


def test_what_is_none_is_refused():
    validator = jsonschema.Draft202012Validator(json_schema())
    good = {"v": 1, "seq": 1, "t": "2026-05-01T12:00:00+00:00", "kind": "world", "op": "starts"}
    good |= {"n": 0, "text": ""}
    assert validator.is_valid(good)
    assert not validator.is_valid(good | {"seq": "1"})
    assert not validator.is_valid(good | {"v": 2})
    assert not validator.is_valid(good | {"kind": "worlds"})
    assert not validator.is_valid({key: good[key] for key in good if key != "op"})
