"""Editing the files of an agent's books on the dashboard: checked, with versions, and undone."""

from __future__ import annotations

from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.line_types import LineType
from keepsake.books.entries import EntryOrigin
from keepsake.books.plan import Plan, PlanState
from keepsake.books.versions import MOST_VERSIONS, Versions
from keepsake.contrib.evennia.audit import AUDIT, newest
from tests.world.web_world import WebWorld


class TestEditing(WebWorld):
    """Mira has met Tom; she has a journal, notes, pins, promises and plans."""

    def setUp(self):
        super().setUp()
        self.ask("I am a baker by trade.", "> say Good evening, Tom.")
        self.mind.read_edits()

    def read(self, of, file, status=200):
        return self.get(self.of_mira("/file"), status, of=of, file=file)

    def edit(self, of, file, text, was=None, status=200):
        was = self.read(of, file)["text"] if was is None else was
        body = {"of": of, "file": file, "text": text, "was": was}
        return self.post(self.of_mira("/edit-file"), status, body=body)

    def restore(self, of, file, version):
        body = {"of": of, "file": file, "version": version}
        return self.post(self.of_mira("/restore-file"), body=body)

    def test_a_journal_is_edited_and_brought_back(self):
        books = self.mind.books
        entry = books.journal.write(
            "Tom is a baker.", importance=6, origin=EntryOrigin.TOLD, now=self.services.clock.now()
        )
        (page,) = self.get(self.of_mira("/book"), of="journal")
        before = self.read("journal", page["file"])
        assert before["versions"] == []
        assert self.edit("journal", page["file"], before["text"].replace("baker", "miller"))["done"]
        assert [each.text for each in books.journal.known] == ["Tom is a miller."]
        assert books.journal.known[0].id == entry.id
        now = self.read("journal", page["file"])
        assert [each["text"] for each in now["versions"]] == [before["text"]]
        assert self.restore("journal", page["file"], now["versions"][0]["id"])["done"]
        assert [each.text for each in books.journal.known] == ["Tom is a baker."]
        versions = self.read("journal", page["file"])["versions"]
        assert [each["text"] for each in versions] == [now["text"], before["text"]]
        assert newest(AUDIT, 1)[0]["line"].startswith("dashboard: restore journal/")

    def test_a_persons_page_stays_about_that_person(self):
        (page,) = self.get(self.of_mira("/book"), of="people")
        text = self.read("people", page["file"])["text"]
        assert self.edit("people", page["file"], f"{text}\n## Mine\n\nHe hums.\n")["done"]
        key = identity_of(self.char1)
        assert "He hums." in self.mind.books.people.known[key].by_hand
        other = self.edit("people", page["file"], text.replace(key, "9-9"), was=None)
        assert not other["done"]
        assert "Leave its key" in other["said"]
        assert self.mind.books.people.known.keys() == {key}
        assert not self.edit("people", page["file"], "No front matter")["done"]

    def test_plans_are_edited_and_the_archive_has_the_change(self):
        self.mind.books.plans.add(Plan(what="fetch honey"))
        text = self.read("plans", "plans.md")["text"]
        assert self.edit("plans", "plans.md", text.replace("[ ]", "[x]"))["done"]
        (plan,) = self.get(self.of_mira("/plans"))
        assert (plan["line"], plan["state"]) == ("fetch honey", PlanState.DONE)
        lines = self.mind.memory.memory.archive.backwards()
        recorded = [each["state"] for each in lines if each.get("type") == LineType.PLAN]
        assert recorded[0] == PlanState.DONE
        added = self.read("plans", "plans.md")["text"] + "- [ ] ask Tom for bread\n"
        assert self.edit("plans", "plans.md", added)["done"]
        assert [each["number"] for each in self.get(self.of_mira("/plans"))] == [1, 2]

    def test_notes_pins_and_promises_are_edited(self):
        self.post(self.of_mira("/note"), body={"title": "well", "text": "The cup lies there."})
        (note,) = self.get(self.of_mira("/book"), of="notes")
        text = self.read("notes", note["file"])["text"]
        assert self.edit("notes", note["file"], text.replace("cup", "bell"))["done"]
        assert self.mind.books.notes.find("well").text == "The bell lies there."
        assert self.edit("pins", "pinned.md", "- Tom keeps bees.\n- The ferry leaks.\n")["done"]
        assert self.mind.books.pinned.shown == ("Tom keeps bees.", "The ferry leaks.")
        assert self.edit("promises", "noticed.md", "- promise to Tom: soup\n")["done"]
        assert [each.text for each in self.mind.books.commitments.items] == ["soup"]

    def test_what_has_changed_meanwhile_is_refused(self):
        self.post(self.of_mira("/pin"), body={"text": "Tom keeps bees."})
        said = self.edit("pins", "pinned.md", "- Nothing.\n", was="- Tom keeps wasps.\n")
        assert not said["done"]
        assert "changed meanwhile" in said["said"]
        assert self.mind.books.pinned.shown == ("Tom keeps bees.",)

    def test_only_files_of_books_are_reached(self):
        for of, name in (
            ("notes", "../pinned.md"),
            ("journal", "../../Ada/journal/2026-05-01.md"),
            ("pins", "llm.md"),
            ("plans", "archive/0000000001.jsonl"),
            ("notes", "nothing.md"),
        ):
            assert "no file" in self.read(of, name, 404)["error"]
            assert not self.edit(of, name, "x", was="")["done"]
        body = {"of": "archive", "file": "x", "text": "", "was": ""}
        self.post(self.of_mira("/edit-file"), 400, body=body)

    def test_the_newest_versions_of_a_file_are_kept(self):
        for number in range(MOST_VERSIONS + 3):
            assert self.edit("pins", "pinned.md", f"- Line {number}.\n")["done"]
        versions = self.read("pins", "pinned.md")["versions"]
        assert len(versions) == MOST_VERSIONS
        assert versions[0]["text"] == f"- Line {MOST_VERSIONS + 1}.\n"
        assert not list(
            Versions(self.mind.memory.folder, "pins").of(self.mind.memory.folder / "pinned-2.md")
        )
