"""A deletion that a full disk or a crash interrupts is continued, with the same word list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from keepsake.erasure import archives
from keepsake.erasure.archives import memories_of
from keepsake.erasure.erasure import Erasure
from keepsake.erasure.folder import AgentCleaner
from keepsake.erasure.logs import LogCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.request import request_for, requests_in
from keepsake.happening import ME, Person, Speech

OTTO = Person("Otto", "9-2")
PERSON = ForgottenPerson(OTTO.id, OTTO.name)
WORDS = "I breed axolotls in the old mill."


@pytest.fixture
def world(village, write) -> Path:
    said = Speech(speaker=OTTO, words=WORDS, to=(ME,), shown=f'Otto says, "{WORDS}"')
    village.live("mira", [(said, {})])
    write(village.folder / "mira" / "recent.md", f"{WORDS}\n")
    root: Path = village.folder.parent
    write(root / "logs" / "agents.log", f"Otto: {WORDS}\n")
    return root


def begin(world: Path) -> Erasure:
    erasure = Erasure(request_for(world / "forgetting", PERSON))
    erasure.begin([memories_of(world / "agents" / "mira")])
    return erasure


def left(world: Path, word: bytes = b"axolotls") -> set[str]:
    """Return the names of the files with the word."""
    files = [path for path in world.rglob("*") if path.is_file()]
    return {path.name for path in files if word in path.read_bytes()}


def test_the_word_list_is_on_the_disk_before_anything_is_deleted(world):
    begin(world)
    assert "9-2.json" in left(world)
    assert (world / "forgetting" / "9-2.json").stat().st_mode & 0o077 == 0


def test_a_full_disk_keeps_the_request_and_its_word_list(world, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    erasure = begin(world)
    monkeypatch.setattr(archives, "replace_file", full)
    erasure.run([AgentCleaner(world / "agents" / "mira")])
    assert not erasure.end()
    assert "No space left" in erasure.problems[0]
    assert "9-2.json" in left(world)
    monkeypatch.undo()
    again = begin(world)
    again.run([LogCleaner(world / "logs"), AgentCleaner(world / "agents" / "mira")])
    assert again.end()
    assert left(world) == set()


def test_logs_are_cleaned_by_the_old_word_list_after_the_archive_is_blank(world):
    """As if killed after the archives, before the logs."""
    erasure = begin(world)
    erasure.run([AgentCleaner(world / "agents" / "mira")])
    assert left(world) == {"agents.log", "9-2.json"}
    (request,) = requests_in(world / "forgetting")  # the next start
    again = Erasure(request)
    again.begin([memories_of(world / "agents" / "mira")])
    again.run([LogCleaner(world / "logs")])
    assert again.end()
    assert left(world) == set()
    assert not list(requests_in(world / "forgetting"))


def test_a_torn_request_is_not_read(world):
    folder = world / "forgetting"
    folder.mkdir()
    (folder / "9-2.json").write_text(json.dumps({"person": ["9-2", "Otto", []]})[:-9])
    (folder / "9-2.new").write_text("axolotls")
    assert not list(requests_in(folder))
    assert not (folder / "9-2.new").exists()
