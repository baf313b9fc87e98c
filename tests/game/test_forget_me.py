"""`forget me`: after it, no word that only this player ever used is found in any store."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from evennia.comms.models import Msg
from evennia.typeclasses.attributes import Attribute
from evennia.utils import create
from hypothesis import given, settings
from hypothesis import strategies as st

from game.agent.surroundings import identity_of
from game.mind.archive.forgetting import FORGOTTEN, ForgottenPerson, forget
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory, MemoryKind
from game.mind.archive.tiers import load_tiers
from tests.game.test_private_words import SECRETS, PrivateWorld
from tests.mind.golden_life import GOLDEN

TOLD = (
    (
        "My sister Lisbet keeps pelargoniums at Corranhead.",
        ("lisbet", "pelargoniums", "corranhead"),
    ),
    ("Never open the marzipan drawer, Mira.", ("marzipan",)),
    ("I promise to bring the astrolabe tomorrow.", ("astrolabe",)),
)
WORDS = (*(word for _, words in TOLD for word in words), *(each.casefold() for each in SECRETS))


class TestForgetMe(PrivateWorld):
    def setUp(self) -> None:
        super().setUp()
        self.shown = self.hears(self.char1)
        for line, words in TOLD:
            self.said = [f"The {words[0]}, you say, Tom!"]
            self.char1.execute_cmd(f"talk mira {line}")
            self.pass_time(4)
        self.ann.execute_cmd("talk mira My goat is called Bramblewick.")
        self.pass_time(4)
        self.char1.db.desc = "A man with an astrolabe."
        create.create_message(self.account, "The marzipan is gone.", receivers=[self.account])
        for _ in range(2):
            self.chatters(8)
            self.compacts()
        self.learns()
        self.sleeps()
        logs = Path(self.services.places.logs)
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "agents.log").write_text("Tom: the Marzipan drawer\nAnn: Bramblewick\n")

    def stores(self) -> Iterator[tuple[str, str]]:
        """Everything that is kept, as text, and where."""
        for folder in (self.services.places.agents, self.services.places.home):
            for path in Path(folder).rglob("*"):
                if path.is_file():
                    yield str(path), path.read_bytes().decode("utf-8", "replace").casefold()
        for attribute in Attribute.objects.all():
            yield f"attribute {attribute.db_key}", str(attribute.db_value).casefold()
        for message in Msg.objects.all():
            yield "message", message.db_message.casefold()

    def found(self, *words: str) -> set[str]:
        return {w for _, text in self.stores() for w in words if w.casefold() in text}

    def test_nothing_is_left_and_what_others_said_is(self):
        assert self.found(*WORDS) == set(WORDS), "they are there before"
        key, last = identity_of(self.char1), self.mind.memory.memory.archive.last_number
        self.char1.execute_cmd("forget me Tom")
        self.settle()
        assert self.found(*WORDS) == set(WORDS), "it was not asked for"
        self.char1.execute_cmd("forget me")
        self.char1.execute_cmd("forget me Tom")
        self.settle(lambda: any("You are forgotten here." in each for each in self.shown))
        assert self.services.indexes.wait_idle(60)
        left = {(where, w) for where, text in self.stores() for w in WORDS if w in text}
        assert not left
        assert self.found("Bramblewick") == {"Bramblewick"}
        memory = self.mind.memory.memory
        assert memory.archive.last_number >= last
        everything = memory.archive.read(1, last)
        assert [each.number for each in everything] == list(range(1, last + 1)), "none is missing"
        assert not any(each.source_id == key for each in everything)
        raw = next(self.mind.memory.folder.glob("archive/*.jsonl")).read_text().splitlines()
        stones = [r for r in map(json.loads, raw) if r.get("event") == FORGOTTEN]
        assert stones
        assert all(len(each["sha256"]) == 64 for each in stones)
        self.fake.script = lambda _: " Good evening, stranger."
        self.char1.execute_cmd("talk mira Good evening.")
        self.pass_time(6)
        assert 'Mira says to you, "Good evening, stranger."' in self.shown


@given(st.sampled_from(["Tom", "Ada", "Nobody"]), st.integers(1, 2))
@settings(max_examples=6, deadline=None)
def test_a_life_stays_whole_and_doing_it_again_changes_nothing(
    tmp_path_factory, name: str, times: int
):
    folder = tmp_path_factory.mktemp("life") / "life"
    shutil.copytree(GOLDEN / "life", folder)
    with_archive = folder / "archive"
    before = numbers(with_archive)
    texts = []
    for _ in range(times + 1):
        forget(folder, ForgottenPerson({"Tom": "12-20261101090000"}.get(name, "none"), name))
        assert numbers(with_archive) == before
        texts.append(sorted(p.read_text() for p in folder.rglob("*.jsonl")))
    assert texts[0] == texts[-1]


def numbers(folder: Path) -> tuple[list[int], int]:
    archive = Archive(folder)
    try:
        tiers = load_tiers(archive)
        found = [each.number for each in archive.read(1, archive.last_number)]
        return found, tiers.summarised
    finally:
        archive.close()


def test_a_whisper_of_ones_own_goes_too(tmp_path: Path):
    archive = Archive(tmp_path / "archive")
    now = datetime(2026, 11, 20, tzinfo=UTC)
    for number, (text, to_id) in enumerate([("whisper Tom = The oriole.", "9-1"), ("say Hm.", "")]):
        archive.append_memory(Memory(number + 1, now, MemoryKind.ACT, text, to_id=to_id))
    archive.close()
    assert forget(tmp_path, ForgottenPerson("9-1", "Otto"))
    left = (tmp_path / "archive" / "0000000001.jsonl").read_text()
    assert "oriole" not in left
    assert "say Hm." in left
