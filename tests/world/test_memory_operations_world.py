"""Whatever the game does to a memory is told to its event log: verbs, commands, nights, hands."""

from __future__ import annotations

from keepsake.books.commitments import Commitment, CommitmentKind
from keepsake.contrib.evennia.minds import close_all
from keepsake.events.types import OPERATIONS
from tests.world.test_events_world import EventsWorld


class HandsTest(EventsWorld):
    """Reads what was told of memories since it last asked."""

    def setUp(self) -> None:
        super().setUp()
        self.seen = 0

    def ops(self) -> list[tuple[str, str, str, str]]:
        """Operation, of what, about whom or with what title, and by whom; what is lived apart."""
        found = [each for each in self.logged("memory", "Mira") if each["seq"] > self.seen]
        self.seen = max([self.seen, *(each["seq"] for each in found)])
        assert {each["op"] for each in found} <= set(OPERATIONS)
        return [
            (each["op"], each["of"], each["about"] or each["title"], each["by"])
            for each in found
            if each["op"] not in ("append", "repeat", "profile")
        ]

    def test_what_a_person_changes_in_the_files_is_looked_for_every_few_minutes(self):
        self.mira.db.paused = True
        self.char1.execute_cmd("say I work as a miller, Mira.")
        rule = Commitment(CommitmentKind.RULE, "Tom", "never sell the mill", 2)
        self.mind.memory.commitments.add(rule)
        keeper, folder = self.mind.keeper, self.mind.memory.folder
        keeper.write_note("mill", "It is Tom's.", place="", by="builder")
        keeper.pinned.add("The mill is Tom's.")
        self.mind.diary.write("Tom works at the mill.")
        self.mind.acquaintances.settle()
        self.mind.look()
        self.ops()
        (note,) = folder.glob("notes/*.md")
        (day,) = folder.glob("journal/*.md")
        (tom,) = folder.glob("people/Tom-*.md")
        for path in (note, day, tom, folder / "pinned.md", folder / "noticed.md"):
            path.write_text(path.read_text().replace("mill", "forge"))
        self.mind.look()
        told = self.ops()
        assert sorted(told) == [
            ("edit", "journal", day.name, "hand"),
            ("edit", "note", note.name, "hand"),
            ("edit", "person", tom.name, "hand"),
            ("edit", "pins", "pinned.md", "hand"),
            ("edit", "promises", "noticed.md", "hand"),
        ]
        self.mind.look()
        assert self.ops() == []

        note.unlink()
        self.clock.pump([30.0] * 12)
        self.settle(lambda: ("edit", "note", note.name, "hand") in self.ops())

    def test_a_torn_line_is_mended(self):
        archive = self.mind.memory.memory.archive
        number, folder = archive.last_number, archive.folder
        close_all()
        (segment,) = folder.glob("*.jsonl")
        with segment.open("a") as file:
            file.write('{"type":"mem')
        self.ops()
        assert self.mind.memory.memory.archive.last_number >= number
        assert self.ops() == [("mended", "", "", "")]
        mended = next(each for each in self.logged("memory") if each["op"] == "mended")
        assert (mended["n"], mended["size"]) == (number, 12)
