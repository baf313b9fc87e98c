"""Agents' journals in prompts and in builders' commands."""

from __future__ import annotations

from keepsake.books.entries import EntryOrigin
from keepsake.happening import KnownVerb, Result
from tests.world.agents_world import SMALL_WINDOWS, AgentsWorld, Building

PROMISE = "Mira, I promise to bring you the blue cup on Sunday, after church."
CHATTER = tuple(
    f"The {what} {did} once more, as {what}s do on such a long grey afternoon by the river."
    for what in ("cart", "dog", "goose", "wheel", "bench", "kettle", "door", "wind")
    for did in ("creaked", "moved")
)


class JournalWorld(AgentsWorld):
    """Mira has a window of four memories, and Tom talks."""

    COMPACTION = SMALL_WINDOWS

    @property
    def journal(self):
        return self.mind.books.journal

    def number_of(self, words):
        """Return the number of the memory with these words."""
        archive = self.mind.memory.memory.archive
        found = [m for m in archive.read(1, archive.last_number) if words in m.text]
        return next(m.number for m in found if m.kind == "perception")


class TestWriting(JournalWorld):
    def test_an_earlier_versions_entry_about_a_whisper_is_in_no_prompt(self):
        self.mira.db.paused = True
        self.char1.execute_cmd("whisper mira = The brass key lies below the third stone.")
        number = self.number_of("whispers to you")
        facts = {"origin": EntryOrigin.TOLD, "now": self.services.clock.now()}
        for text, memories in (("The key lies below a stone.", (number,)), ("Tom is here.", ())):
            self.journal.write(text, importance=9, memories=memories, **facts)
        past = self.mind.memory.newest + 1  # the beginning of the window at that point
        [line] = self.mind.books.journal_lines(self.mind.memory.private, past)
        assert "Tom is here." in line

    def test_an_entry_is_shown_until_the_window_has_all_that_it_is_about(self):
        facts = {"origin": EntryOrigin.TOLD, "now": self.services.clock.now(), "importance": 6}
        self.journal.write("Tom asks too much.", memories=(3, 9), **facts)
        self.journal.write("Tom came by.", memories=(5, 9), **facts)
        (line,) = self.mind.books.journal_lines(self.mind.memory.private, 4)
        assert "asks too much" in line


class TestMasked(AgentsWorld):
    def test_the_entry_about_a_result_that_the_window_shortens_is_shown(self):
        told = "the crack under the handle is mended with three brass staples and blue wax"
        shown = (
            f"Cup. It stands on the shelf. It has seen better days, as all here has, and {told}."
        )
        look = Result(verb=KnownVerb.EXAMINE, shown=f"{shown} {'It is a plain cup. ' * 8}")
        number = self.mind.memory.remember(look)
        self.mind.books.journal.write(
            f"I saw that {told}.",
            importance=6,
            memories=(number,),
            origin=EntryOrigin.SEEN,
            now=self.services.clock.now(),
        )
        (before,) = self.ask("Good day.", "Good day.")[:1]
        assert before.count("brass staples") == 1, "the window has it in full"
        self.say(*CHATTER, *(f"{each} So it goes." for each in CHATTER))
        memory = self.mind.memory.memory
        memory.window.mask_all_allowed()
        (after,) = self.ask("And now?", "Well.")[:1]
        assert f"(memory {number})" in after, "the window has the beginning alone"
        assert f"I saw that {told}." in after


class TestBuilders(Building, JournalWorld):
    """The builders' command @journal."""

    def setUp(self):
        super().setUp()
        self.say(PROMISE, *CHATTER)
        facts = {"importance": 5, "now": self.services.clock.now()}
        cup = {"memories": [self.number_of("blue cup")], "origin": EntryOrigin.TOLD}
        self.journal.write("Tom said that he has my blue cup.", **facts, **cup)

    def test_entries_are_shown_with_their_memories_and_their_origin(self):
        shown = self.type("@journal mir")
        assert "Mira's journal, 1 of 1 file" in shown
        assert "blue cup" in shown
        assert "told to me" in " ".join(shown.split())
        assert f"**memories**: {self.number_of('blue cup')}" in shown

    def test_entries_are_found_by_words(self):
        assert "blue cup" in self.type("@journal Mira = blue CUP")
        assert "0 of 1 file" in self.type("@journal Mira zeppelin")

    def test_an_entry_edited_by_hand_is_shown_as_it_is_now(self):
        [path] = self.journal.folder.glob("2*.md")
        path.write_text(path.read_text().replace("blue cup", "green cup"))
        assert "green cup" in self.type("@journal Mira")

    def test_a_file_that_cannot_be_read_is_named_and_kept(self):
        broken = self.journal.folder / "2020-01-01.md"
        broken.write_bytes(b"\xff\xfe\x00")
        assert "2020-01-01.md" in self.type("@journal Mira")
        assert broken.read_bytes() == b"\xff\xfe\x00"
