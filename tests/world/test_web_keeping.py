"""The web API for search, an agent's books, and changes by builders."""

from __future__ import annotations

from types import SimpleNamespace

from keepsake.contrib.evennia.audit import AUDIT, newest
from keepsake.contrib.evennia.commands.compaction import compaction_result
from keepsake.events.values import CompactionOutcome
from keepsake.memory.history import compactions
from tests.world.web_world import WRITING, WebWorld


class TestKept(WebWorld):
    """Search in all memories, and an agent's notes, pins and pages about people."""

    def test_words_are_found_in_all_memories(self):
        self.add_agent("Ada")
        self.add_memories(30)
        found = self.get("/search", q="BARREL herring 203")
        assert [(each["id"], each["agent"]) for each in found["hits"]] == [(self.mira.id, "Mira")]
        assert "Barrel 29 holds 203" in found["hits"][0]["memory"]["text"]
        assert found["complete"]
        few = self.get("/search", q="barrel", limit=4)
        assert [hit["memory"]["number"] for hit in few["hits"]] == [31, 30, 29, 28]
        # The words of a memory are searched, not the names of its fields.
        assert self.get("/search", q="perception")["hits"] == []

    def test_notes_pins_and_people_are_shown(self):
        self.ask("I am a baker by trade.", "> say Good evening, Tom.")
        self.post(self.of_mira("/note"), body=WRITING["/note"])
        self.post(self.of_mira("/pin"), body=WRITING["/pin"])
        (note,) = self.get(self.of_mira("/book"), of="notes")
        assert (note["title"], note["text"]) == ("well", "The cup lies there.")
        kept = self.get(self.of_mira("/book"), of="kept")
        assert "- Tom keeps bees." in next(e["text"] for e in kept if e["file"] == "pinned.md")
        self.mind.read_edits()
        (tom,) = self.get(self.of_mira("/book"), of="people")
        assert tom["title"] == "Tom"
        assert "I am a baker by trade." in tom["text"]

    def test_earlier_prompts_are_still_there(self):
        for number in range(3):
            self.ask(f"Good evening {number}.", f"> say Good evening for the {number}. time.")
        told = self.get("/events", agent=self.mira.id)["events"]
        first = next(each for each in told if each["kind"] == "thought" and each["prompt"])
        shown = self.get(self.of_mira("/prompt"), seq=first["seq"])
        assert "Good evening 0." in shown["sent"][0]["text"]
        assert "Good evening 2." not in shown["sent"][0]["text"]
        assert "no prompt" in self.get(self.of_mira("/prompt"), 404, seq=999_999)["error"]


class TestChanging(WebWorld):
    """Changes by builders, with the functions that the commands use."""

    def test_a_compaction_is_made_and_undone(self):
        self.add_memories(100)
        self.post(self.of_mira("/compact"))
        self.wait_for_compaction()
        assert self.get(self.of_mira("/tiers"))["recent"]["text"]
        assert self.post(self.of_mira("/undo"))["done"]
        self.wait_for_compaction()
        assert compactions(self.mind.memory.memory.archive)[-1].undone is not None
        assert compaction_result(SimpleNamespace(outcome=CompactionOutcome.NOTHING, detail=""))[
            0
        ], "no error"
        vain = SimpleNamespace(
            outcome=CompactionOutcome.FIRST, detail="", tokens_before=9, tokens_after=9
        )
        assert compaction_result(vain) == (False, "No tokens saved: ; 9 tokens before, 9 now")

    def test_the_audit_log_says_who_did_what(self):
        self.post(self.of_mira("/pin"), body={"text": "Tom keeps bees."})
        self.web.defaults["HTTP_X_FORWARDED_FOR"] = "192.0.2.7"  # set by the Portal
        self.post(self.of_mira("/pause"))
        lines = newest(AUDIT, 2)
        assert lines[1]["address"] == "192.0.2.7"
        assert [each["line"] for each in lines] == [
            "dashboard: pin 'Tom keeps bees.' for Mira",
            "dashboard: pause Mira",
        ]
        assert {each["who"] for each in lines} == {"Bea"}
