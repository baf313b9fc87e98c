"""`forget me`: afterwards no store has a word that only this player used."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import pytest
from django.conf import settings
from evennia.comms.models import Msg
from evennia.typeclasses.attributes import Attribute
from evennia.utils import create

from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import MemoryKind
from keepsake.archive.tiers import load_tiers
from keepsake.contrib.evennia import forgetting
from keepsake.erasure.logs import ReportCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from keepsake.recall.service import IndexService
from tests.forgetting import forget
from tests.memories import old_memory
from tests.sentences import table
from tests.unit.index.conftest import client
from tests.unit.llm.conftest import places_in, until
from tests.unit.mind.test_golden import GOLDEN
from tests.world.agents_world import Building
from tests.world.test_private_words import SECRETS, WHISPERED, PrivateWorld

TOLD = table("told by who is forgotten")
LOGGED = "Tom: the Marzipan drawer\nAnn: Bramblewick\n"
WORDS = (*(word for _, words in TOLD for word in words), *(each.casefold() for each in SECRETS))


class TestForgetMe(Building, PrivateWorld):
    """With vectors in a real Chroma server."""

    server: ClassVar[ChromaServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = Path(tempfile.mkdtemp(prefix="keepsake-chroma-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.server = ChromaServer(places_in(folder))
        cls.addClassCleanup(cls.server.stop)
        until(cls.server.watch)
        cls.chroma = cls.server.address

    def setUp(self) -> None:
        super().setUp()
        self.shown = self.capture(self.char1)
        for line, words in TOLD:
            self.replies = [f"The {words[0]}, you say, Tom!"]
            self.char1.execute_cmd(f"talk mira {line}")
            self.pass_time(4)
        self.ann.execute_cmd("talk mira My goat is called Bramblewick.")
        self.pass_time(4)
        self.char1.db.desc = "A man with an astrolabe."
        self.mira.db.former_profiles = ["You keep an inn. Tom brings you marzipan.", "Marzipan!"]
        create.create_message(self.account, "The marzipan is gone.", receivers=[self.account])
        for _ in range(2):
            self.chat(8)
            self.compact()
        self.mind.read_edits()
        self.run_night()
        logs = Path(self.services.places.logs)
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "agents.log").write_text(LOGGED)
        (logs / "events").mkdir(exist_ok=True)
        packed = logs / "events" / "events-2026-01-01-0000000001.jsonl.gz"
        packed.write_bytes(gzip.compress(LOGGED.encode()))

    def stores(self) -> Iterator[tuple[str, str]]:
        """Yield everything that is stored: the place and the text in lower case."""
        for folder in (self.services.places.agents, self.services.places.home):
            for path in Path(folder).rglob("*"):
                with suppress(FileNotFoundError, IsADirectoryError):  # journals come and go
                    data = path.read_bytes()
                    yield str(path), data.decode("utf-8", "replace").casefold()
        for number, row in enumerate(self.vectors()):
            yield f"vector {number}", json.dumps(row, ensure_ascii=False).casefold()
        for attribute in Attribute.objects.all():
            yield f"attribute {attribute.db_key}", str(attribute.db_value).casefold()
        for message in Msg.objects.all():
            yield "message", message.db_message.casefold()

    def vectors(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the keys of all vectors, and the data that Chroma stores with them."""
        chroma = Chroma(self.chroma, self.services.places)
        # The server has those of other tests, too.
        home = chroma._home
        rows = [
            each.get()
            for each in client(chroma).list_collections()
            if (each.metadata or {}).get("home") == home
        ]
        chroma.close()
        return [
            (key, dict(data))
            for row in rows
            for key, data in zip(row["ids"], row["metadatas"] or (), strict=True)
        ]

    def wait_for_index(self) -> None:
        """Wait until the index has all vectors."""
        indexes = self.services.indexes
        name = self.mind.memory.folder.name

        def whole() -> bool:
            indexes.follow()
            status = indexes.status().get(name)
            return status is not None and status.by_meaning and not status.waiting

        until(whole)

    def recalled_text(self) -> str:
        """Return the results of searches for all that was told, by words and by meaning."""
        questions = [line for line, _ in TOLD] + [line for line, _ in WHISPERED]
        shown = [self.type(f"@recall mira = {each}", "recalls") for each in questions]
        return "\n".join(each.partition("\n")[2] for each in shown).casefold()

    def stored_words(self, *words: str) -> set[str]:
        return {w for _, text in self.stores() for w in words if w.casefold() in text}

    def forget_me(self) -> int:
        """Delete the player's words; return the number of the last memory before that."""
        self.wait_for_index()
        last = self.mind.memory.memory.archive.last_number
        self.type_forget_me()
        self.settle(lambda: any("Your words have been deleted." in each for each in self.shown))
        self.wait_for_index()
        return last

    def test_the_first_step_only_asks_for_confirmation(self):
        self.wait_for_index()
        until(lambda: any(word in json.dumps(row) for row in self.vectors() for word in WORDS))
        self.char1.execute_cmd("forget me Tom")
        self.settle()
        assert self.stored_words(*WORDS) == set(WORDS)
        assert any(word in self.recalled_text() for word in WORDS)

    def test_nothing_of_theirs_is_left_and_what_others_said_stays(self):
        last = self.forget_me()
        self.check_nothing_is_left(last)
        assert self.stored_words("Bramblewick") == {"Bramblewick"}
        assert self.mira.db.former_profiles == ["You keep an inn."]
        self.check_after_a_start(last)

    def test_no_memory_is_missing_and_stones_stand_for_the_deleted_ones(self):
        last = self.forget_me()
        memory = self.mind.memory.memory
        assert memory.archive.last_number >= last
        everything = memory.archive.read(1, last)
        assert [each.number for each in everything] == list(range(1, last + 1)), "none is missing"
        assert not any(each.source_id == identity_of(self.char1) for each in everything)
        raw = next(self.mind.memory.folder.glob("archive/*.jsonl")).read_text().splitlines()
        stones = [r for r in map(json.loads, raw) if r.get("event") == MessageType.FORGOTTEN]
        assert stones
        assert all(len(each["sha256"]) == 64 for each in stones)

    def test_who_was_forgotten_is_answered_as_a_stranger(self):
        self.forget_me()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.fake.script = lambda _: " Good evening, stranger."
        self.char1.execute_cmd("talk mira Good evening.")
        self.pass_time(6)
        assert 'Mira says to you, "Good evening, stranger."' in self.shown

    def test_nothing_is_left_if_the_world_ends_before_the_index_is_updated(self):
        last = self.mind.memory.memory.archive.last_number
        with patch.object(IndexService, "_run_round"):  # as if killed before the round
            self.char1.execute_cmd("forget me")
            self.char1.execute_cmd("forget me Tom")
            self.settle(lambda: any("Your words have been deleted." in each for each in self.shown))
        self.check_after_a_start(last)

    def type_forget_me(self) -> None:
        self.char1.execute_cmd("forget me")
        self.char1.execute_cmd("forget me Tom")

    def answers(self, *, begin: str) -> list[str]:
        return [each for each in self.shown if each.startswith(begin)]

    def test_a_full_disk_is_no_deletion_and_it_may_be_typed_again_at_once(self):
        full = OSError(28, "No space left on device")
        with patch("keepsake.erasure.archives.replace_file", side_effect=full):
            self.type_forget_me()
            self.settle(lambda: bool(self.answers(begin="Not all could be deleted yet.")))
        last = self.mind.memory.memory.archive.last_number
        self.wait_for_index()  # it makes its collection anew meanwhile
        assert "marzipan" in self.stored_words("marzipan"), "the archive could not be written"
        self.type_forget_me()
        self.settle(lambda: bool(self.answers(begin="Your words have been deleted.")))
        self.wait_for_index()
        self.check_nothing_is_left(last)
        self.char1.execute_cmd("forget me")
        assert self.answers(begin="Your words were deleted within the last hour.")

    def test_a_full_disk_that_takes_no_request_deletes_nothing(self):
        full = OSError(28, "No space left on device")
        with patch("keepsake.erasure.request.ErasureRequest.save", side_effect=full):
            self.type_forget_me()
            self.settle(lambda: bool(self.answers(begin="Not all could be deleted yet.")))
        assert self.stored_words(*WORDS) == set(WORDS)

    def test_what_a_kill_interrupts_goes_on_at_the_next_start(self):
        last = self.mind.memory.memory.archive.last_number
        # Killed after the logs and before the archives.
        with patch.object(forgetting._Forgetting, "_clean_next_agent", lambda _: None):
            self.type_forget_me()
            self.settle()
        forgetting._running.clear()  # as in a new process
        assert self.char1.attributes.get(forgetting.FORGOTTEN_AT) is None
        assert "marzipan" in self.stored_words("marzipan")
        self.stop_services()
        self.services = self.start_services()
        forgetting.continue_requests()  # as the start of the game does
        self.settle(lambda: bool(self.char1.attributes.get(forgetting.FORGOTTEN_AT)))
        self.wait_for_index()
        self.check_nothing_is_left(last)

    def test_reports_of_the_player_are_deleted(self):
        self.char1.execute_cmd("report ann = She took my marzipan.")
        self.ann.execute_cmd("report He took my Bramblewick.")
        path = Path(settings.LOG_DIR, "reports.jsonl")
        cleaner = ReportCleaner(path)
        assert "marzipan" in path.read_text()
        with patch.object(forgetting, "_log_cleaners", lambda _: [cleaner]):
            self.type_forget_me()
            self.settle(lambda: bool(self.answers(begin="Your words have been deleted.")))
        left = path.read_text()
        assert "marzipan" not in left
        assert "took my" in left, "Ann's report stays"
        assert "Bramblewick" in left
        assert "Tom" not in left

    def check_after_a_start(self, last: int) -> None:
        self.stop_services()
        self.services = self.start_services()
        assert self.mind.memory.memory.archive.last_number >= last
        self.wait_for_index()
        self.check_nothing_is_left(last)

    def check_nothing_is_left(self, last: int) -> None:
        left = {(where, w) for where, text in self.stores() for w in WORDS if w in text}
        assert not left
        assert not any(word in self.recalled_text() for word in WORDS)
        everything = self.mind.memory.memory.archive.read(1, last)
        gone = {
            f"memory:{each.number}" for each in everything if each.event == MessageType.FORGOTTEN
        }
        assert gone
        assert not gone & {key for key, _ in self.vectors()}


@pytest.mark.parametrize("who", [("12-20261101090000", "Tom"), ("none", "Ada")])
def test_an_archive_stays_whole_and_forgetting_again_changes_nothing(tmp_path: Path, who):
    folder = tmp_path / "life"
    shutil.copytree(GOLDEN / "life", folder)
    before = numbers(folder / "archive")
    texts = []
    for _ in range(2):
        forget(folder, ForgottenPerson(*who))
        assert numbers(folder / "archive") == before
        texts.append(sorted(p.read_text() for p in folder.rglob("*.jsonl")))
    assert texts[0] == texts[1]


def numbers(folder: Path) -> tuple[list[int], int]:
    archive = Archive(folder)
    try:
        found = [each.number for each in archive.read(1, archive.last_number)]
        return found, load_tiers(archive).state.summarised
    finally:
        archive.close()


OTTO = ForgottenPerson("9-1", "Otto", agents=frozenset({"5-1"}))
ACT = MemoryKind.ACT
HEARD = MemoryKind.PERCEPTION


def archived(folder: Path, *lines: tuple[MemoryKind, str, str, str, dict[str, str]]) -> None:
    """Make an archive of memories: kind, source, source's identity, text, other fields."""
    archive = Archive(folder / "archive")
    now = datetime(2026, 11, 20, tzinfo=UTC)
    for number, (kind, who, key, text, more) in enumerate(lines, 1):
        facts = {"source": who, "source_id": key, **more}
        archive.append(old_memory(number, now, kind, text, "Inn", **facts).to_record())
    archive.close()


def left_in(folder: Path) -> str:
    return (folder / "archive" / "0000000001.jsonl").read_text()


def test_whispers_to_them_and_hearsay_about_them_are_deleted(tmp_path: Path):
    told_on = {"event": MessageType.HEARSAY, "to": "Joss", "to_id": "7-1"}
    archived(
        tmp_path,
        (ACT, "", "", "whisper Tom = The oriole.", {"to_id": "9-1"}),
        (ACT, "", "", "say Hm.", {}),
        (ACT, "", "", "give whistle to Otto", {}),
        (ACT, "", "", "say Nell tells me: Otto gave Nell a kite.", {**told_on, "chain": "Nell 1"}),
        (ACT, "", "", "say Nell tells me: Ann gave Nell a sled.", {**told_on, "chain": "Nell 2"}),
    )
    assert forget(tmp_path, OTTO)
    left = left_in(tmp_path)
    assert "oriole" not in left
    assert "kite" not in left
    assert "whistle" not in left
    assert "say Hm." in left
    assert "Nell tells me: Ann gave Nell a sled." in left


def test_an_agents_own_words_and_verbs_are_kept(tmp_path: Path):
    to_ann = {"to": "Ann", "to_id": "5-1"}
    promises = tmp_path / "noticed.md"
    heard = 'Otto says to you, "Whisper promise importance kettle astrolabe!"'
    promises.write_text("- promise to Ann: eels (memory 1)\n- promise to Ann: an astrolabe\n")
    archived(
        tmp_path,
        (ACT, "", "", "whisper Ann = Come into the warm Kettle.", to_ann),
        (HEARD, "Otto", "9-1", heard, {}),
        (ACT, "", "", "say Come into the warm Kettle; take more.", {"to_id": "9-1"}),
        (ACT, "", "", "whisper Ann = Take more soup.", to_ann),
        (ACT, "", "", "whisper Ann = I know of an astrolabe.", to_ann),
    )
    assert forget(tmp_path, OTTO)
    left = left_in(tmp_path)
    assert "whisper Ann = Come into the warm Kettle." in left, "the agent used the word first"
    assert "whisper Ann = Take more soup." in left, "the agent's own words are not Otto's"
    assert "astrolabe" not in left
    assert promises.read_text().strip() == "- promise to Ann: eels (memory 1)"


def test_what_others_said_to_them_is_deleted(tmp_path: Path):
    archived(
        tmp_path, *((HEARD, *line, {"event": "talk"}) for line in table("said to who is forgotten"))
    )
    (tmp_path / "people").mkdir()
    page = tmp_path / "people" / "Mira-5-1.md"
    page.write_text("- Mira said to Otto: eat no onions.\n- Mira said: the soup is ready.\n")
    traces = forget(tmp_path, OTTO)
    assert traces is not None
    assert traces.numbers[tmp_path.name] == {1, 2, 3}
    assert "onions" in traces.own
    assert "ready" not in traces.own, "what others say is not theirs"
    left = page.read_text() + left_in(tmp_path)
    assert "onions" not in left
    assert "bookbinder" not in left
    assert left.count("soup is ready") == 3, "the page, and the text and words of one memory"
    assert "Otto has a long beard." in left, "what another player says in words of their own"


@pytest.mark.parametrize("name", ["Otto", "O'Brien"])
def test_people_whose_names_contain_theirs_are_not_forgotten(tmp_path, name):
    said = f'Old {name} says, "My boat\u2028is red."'
    waves = (HEARD, "Jory", "9-1", "Jory waves.", {})  # under an earlier name
    archived(tmp_path, waves, (HEARD, f"Old {name}", "8-1", said, {}))
    page = tmp_path / "people" / f"Old-{name}-8-1.md"
    pins = tmp_path / "pinned.md"
    page.parent.mkdir()
    page.write_text(f"Old {name} has a red boat.\n")
    owes = f"- {name.replace(chr(39), '’')} owes me six crowns.\n- Jory is late.\n"
    pins.write_text(f"- Ask Old {name}.\n{owes}")
    assert forget(tmp_path, ForgottenPerson("9-1", name))
    assert page.exists()
    assert pins.read_text() == f"- Ask Old {name}.\n"
    assert said in left_in(tmp_path).replace('\\"', '"')


def test_quotes_of_their_words_citations_and_torn_lines_are_deleted(tmp_path: Path):
    others = 'Ann says, "Trees grow. Leave the boats. The willow: under it."'
    archived(
        tmp_path,
        (HEARD, "Otto", "9-1", 'Otto says, "Boats leave under willow trees."', {"event": "say"}),
        (HEARD, "Ann", "7-1", others, {"event": "say"}),
    )
    note = tmp_path / "notes" / "boats.md"
    note.parent.mkdir()
    held = "Boats leave under willow trees, I hear.\nSo it was (memory 1).\n"
    note.write_text(f"{held}Trees grow by the willow.\n")
    (tmp_path / "archive" / "torn-1.txt").write_text("Boats")
    (tmp_path / "memories").mkdir()
    traces = forget(tmp_path, OTTO)
    assert traces is not None
    assert not traces.rare
    assert note.read_text() == "Trees grow by the willow.\n"
    left = {path.name for path in tmp_path.rglob("*")}
    assert left == {"archive", "0000000001.jsonl", ".lock", "notes", "boats.md"}


def test_unreadable_lines_with_their_words_are_deleted(tmp_path: Path):
    """A torn line goes whole; of a page that cannot be parsed, only lines with their words."""
    archived(
        tmp_path,
        (HEARD, "Otto", "9-1", 'Otto says to you, "I breed axolotls."', {}),
        (HEARD, "Ann", "7-1", 'Ann says to you, "It rains."', {}),
    )
    segment = tmp_path / "archive" / "0000000001.jsonl"
    first, second, *_ = segment.read_text().splitlines()
    segment.write_text(f"{first}\n{second}\n{first[: first.index('axolotl') + 8]}\n")
    page = tmp_path / "notes" / "pets.md"
    page.parent.mkdir()
    page.write_text("---\ntitle: [\n---\nAxolotls are bred here.\nIt rains.\n")
    assert forget(tmp_path, OTTO)
    assert "axolotl" not in left_in(tmp_path).casefold()
    assert second in segment.read_text()
    assert page.read_text() == "---\ntitle: [\n---\nIt rains.\n"


def test_a_journal_entry_about_them_alone_is_deleted_with_its_fields(tmp_path: Path):
    archived(tmp_path, (HEARD, "Otto", "9-1", 'Otto says to you, "I breed axolotls."', {}))
    day = tmp_path / "journal" / "2026-11-20.md"
    day.parent.mkdir()
    other = "## 20261120-2, 10:00\n\nIt rains.\n\n- **memories**: 2\n"
    theirs = "## 20261120-1, 09:00\n\nOtto breeds axolotls.\n\n- **memories**: 1\n\n"
    day.write_text(f"# 20 November 2026\n\n{theirs}{other}")
    assert forget(tmp_path, OTTO)
    assert day.read_text() == f"# 20 November 2026\n\n{other}"
