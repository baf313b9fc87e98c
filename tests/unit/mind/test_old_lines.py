"""Archives of earlier versions open, say what they said, and stay as they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.archive.tiers import load_tiers
from keepsake.archive.transcript import about_memory
from keepsake.happening import Sight
from tests.unit.mind.fake_agent import FakeAgent
from tests.unit.mind.memory_log import file_contents

GOLDEN = Path(__file__).parents[2] / "data" / "golden"
LIFE = GOLDEN / "life"
"""An archive of 22 November 2026: lines of text alone."""
VILLAGE = GOLDEN / "village"
"""The folders of four villagers of 28 November 2026, from a game with the version before happenings
were data."""
FIRST_FIELDS = GOLDEN / "first_fields"
"""A folder that the version wrote in which happenings became data, an hour later. It has every kind
of happening, an edited summary, and a compaction that was undone."""
AGENTS = (
    *(VILLAGE / name for name in ("Joss", "Mira", "Nell", "Wren")),
    FIRST_FIELDS / "Mira",
)
"""Folders of agents. The file ``expected.json`` beside them has what the version that wrote them
read in each line: speech, gifts, privacy."""


def named(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def expected(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder.parent / "expected.json").read_text("utf-8"))
    return read[folder.name]


def read_as(memory: Memory) -> dict[str, Any]:
    """Return what a memory says, as the version that wrote the lines said it."""
    heard = memory.heard
    # A whisper in a form of its own has no words; that version did not count it as speech.
    heard = heard if heard and heard.words else None
    said = memory.said
    return {
        "heard": heard and [heard.speaker.name, heard.words, heard.to_name],
        "spoken": said and ["", said.words, said.to_name],
        "is_private": is_private(memory),
        "given_to_me": memory.gift_to_me,
        "gave_something": memory.gave_something,
        "key_of": memory.key,
        "about_memory": about_memory(memory),
        "line": memory.line,
    }


@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_lines_of_an_earlier_version_say_what_they_said(agent):
    archive = Archive(agent / "archive", read_only=True)
    wanted = {int(number): each for number, each in expected(agent)["memories"].items()}
    found = {each.number: read_as(each) for each in archive.read(1, archive.last_number)}
    assert list(found) == list(wanted)
    for number, each in found.items():
        assert each == wanted[number], number


@pytest.mark.parametrize("agent", AGENTS, ids=named)
def test_tiers_of_an_earlier_version_are_the_same(agent):
    tiers = load_tiers(Archive(agent / "archive", read_only=True))
    wanted = expected(agent)["tiers"]
    spans = [
        each and [each.first, each.last] for each in (tiers.state.longterm, tiers.state.recent)
    ]
    assert spans == [wanted["longterm"], wanted["recent"]]
    assert [memory.number for memory in tiers.window] == wanted["window"]


@pytest.mark.parametrize("folder", [LIFE, *AGENTS], ids=named)
def test_opening_an_archive_of_an_earlier_version_changes_no_byte(folder, tmp_path):
    copy = tmp_path / "Mira"
    shutil.copytree(folder, copy)
    archive = copy / "archive"
    before = file_contents(archive)
    agent = FakeAgent(copy)
    agent.open().close()
    assert file_contents(archive) == before
    memory = agent.open()
    memory.append(Sight(shown="The clock strikes."))
    memory.close()
    after = file_contents(archive)
    assert after.keys() == before.keys()
    assert all(after[path].startswith(text) for path, text in before.items())
