"""Agents perceive, think, act and remember; the model behind them is scripted over HTTP."""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.agent.attention.presence import AgentState
from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.characters import LEFT, show_absence_news
from keepsake.errors import ArchiveUnwritable
from tests.fakes.model_server import Reply
from tests.log_lines import LogLines
from tests.world.agents_world import AgentsWorld


class World(AgentsWorld):
    def calls(self):
        return self.fake.calls("/api/chat")


class TestPerceiving(World):
    """What a player would see on the screen becomes a memory."""

    def test_speech_is_remembered_with_its_source_and_place_and_repeats_fold(self):
        self.char1.execute_cmd("say |rGood|n evening!")
        memory = self.mind.memory.context().window[-1]
        assert (memory.source, memory.place) == ("Tom", "The Inn")
        assert memory.text.startswith('Tom says, "')
        assert "Good" in memory.text
        assert "\x1b" not in memory.text
        for _ in range(3):
            self.char1.execute_cmd("say Hello?")
        assert self.lines()[1:] == ['Tom says, "Hello?" (repeated 3×)']


class TestThinking(World):
    """When an agent thinks, and what its model is asked."""

    def test_an_answer_is_shown_to_the_speaker_without_its_reason(self):
        heard = self.capture(self.char1)
        self.ask("Good evening", "> say Sit down, you look cold. | he shivers")
        assert 'Mira says to you, "Sit down, you look cold."' in heard
        assert not any("shivers" in line for line in heard)
        told = 'Tom says to you, "Good evening"'
        assert self.lines() == [told, "~say Sit down, you look cold."]
        assert self.mind.memory.context().window[-1].reason == "he shivers"

    def test_a_prompt_begins_with_the_persona_and_ends_with_what_is_answered(self):
        (prompt,) = self.ask("Good evening", "Sit down.")
        roles = [each["role"] for each in self.calls()[0].body["messages"]]
        assert roles == ["system", "user"]
        assert prompt.startswith("You are Mira, an innkeeper.")
        assert "> whisper <name> = <words>; " in prompt
        assert prompt.index("You carry: ") < prompt.index('Tom says to you, "Good evening"')
        assert prompt.endswith("[Tom waits for your answer.]")

    def test_paused_it_remembers_but_does_not_think(self):
        self.mira.db.paused = True
        self.ask("hello")
        assert self.lines() == ['Tom says to you, "hello"']
        assert self.calls() == []
        assert self.mind.presence.state is AgentState.PAUSED
        heard = self.capture(self.char1)
        self.replies = ["> say Hello."]
        self.mind.resume(self.mira)
        self.pass_time(4)
        assert 'Mira says to you, "Hello."' in heard, "the answer to what was said meanwhile"

    def test_two_agents_alone_fall_silent(self):
        self.char1.location = None
        bram = self.add_agent("Bram")
        numbers = iter(range(1000))
        self.fake.script = lambda _: f"Number {next(numbers)}."
        self.mira.execute_cmd("say Bram, are you there?")
        self.pass_time(120)
        spoken = [x for x in (*self.lines(bram), *self.lines()) if x.startswith("~say Number")]
        assert 1 <= len(spoken) <= self.services.thinking.current.chatter_turns

    def test_a_pause_is_shown_and_a_deleted_or_paused_agent_drops_its_answer(self):
        gate = self.hold_answers()
        heard = self.capture(self.char1)
        self.replies = ["> say Too late."]
        self.char1.execute_cmd("talk Mira hello")
        self.clock.advance(1.0)
        self.settle(lambda: len(self.calls()) == 1)
        assert "Mira pauses, thinking." not in heard
        self.clock.advance(2.1)
        assert "Mira pauses, thinking." in heard
        self.mira.db.paused = True
        gate.set()
        self.settle(lambda: self.mind.thinker.turn is None)
        self.mira.attributes.remove("paused")
        gate = self.hold_answers()
        self.char1.execute_cmd("talk Mira hello again")
        self.clock.advance(1.0)
        self.settle(lambda: len(self.calls()) == 2)
        self.mira.delete()
        gate.set()
        self.settle(lambda: self.services.gateway.used_servers()[0].running == [])
        assert not any("Too late" in line for line in heard)

    def test_an_agent_does_not_think_while_a_builder_plays_it(self):
        self.account.is_superuser = True
        gate = self.hold_answers()
        self.char1.execute_cmd("talk Mira hello")
        self.clock.advance(1.0)
        self.settle(lambda: len(self.calls()) == 1)
        self.account.unpuppet_object(self.session)
        self.account.puppet_object(self.session, self.mira)
        gate.set()
        self.char2.execute_cmd("talk Mira Who are you?")
        self.pass_time(4)
        assert len(self.calls()) == 1
        assert not any("You become" in line or line.startswith("~") for line in self.lines())
        self.account.unpuppet_object(self.session)
        assert self.mira.location == self.room1


class TestNames(World):
    """Names are unique, and each agent has its own archive."""

    def test_a_renamed_agent_keeps_its_archive_to_itself(self):
        before = self.mind.memory.folder
        self.char1.execute_cmd("say before")
        self.mira.key = "Zora"
        self.char1.execute_cmd("say after")
        assert self.lines() == ['Tom says, "before"', 'Tom says, "after"']
        assert self.mind.memory.name == "Zora"
        self.char1.execute_cmd("talk Zora hello")
        self.pass_time(3)
        assert "You are Zora. You live in this world" in self.prompts()[-1]
        assert self.add_agent("Mira").mind.memory.folder != before
        for name in ("Tom", "a/b", "|rRed"):
            self.mira.key = name
            assert self.mira.key == self.mind.memory.name == "Zora"


class TestTrouble(World):
    """The disk is full or an archive is damaged: the world stays up and loses nothing."""

    def test_while_the_disk_is_full_memories_wait_and_nobody_is_asked(self):
        self.char1.execute_cmd("say before")
        self.mind.memory.memory.archive.append = _full
        self.ask("during")
        assert len(self.mind.memory.waiting) == 1
        assert self.mind.presence.state is AgentState.UNWRITABLE
        assert self.calls() == []

    def test_a_waiting_memory_is_kept_until_it_is_on_the_disk(self):
        memory = self.mind.memory
        archive = memory.memory.archive
        append = archive.append
        sync = archive.sync
        archive.append = _full
        self.ask("during")
        archive.append = append
        archive.sync = _full
        assert not memory.save_backlog()
        assert len(self.services.spill.of("Mira")) == 1
        archive.sync = sync
        assert memory.save_backlog()
        assert self.services.spill.waiting() == {}

    def test_a_disk_that_was_full_loses_nothing(self):
        self.char1.execute_cmd("say before")
        memory = self.mind.memory
        archive = memory.memory.archive
        append = archive.append
        archive.append = _full
        self.ask("during")
        archive.append = append
        until = self.services.clock.now()
        assert memory.save_backlog()
        assert self.lines() == ['Tom says, "before"', 'Tom says to you, "during"']
        assert memory.context().window[-1].time < until, "when it happened, not when it was saved"
        assert self.mind.presence.state is AgentState.IDLE

    def test_memories_that_wait_for_the_disk_are_saved_after_a_restart(self):
        self.char1.execute_cmd("say before")
        archive = self.mind.memory.memory.archive
        archive.append = _full
        for number in range(3):
            self.char1.execute_cmd(f"say {number}")
        self.char1.execute_cmd("say 2")
        self.stop_services()
        self.services = self.start_services()
        assert self.mind.memory.save_backlog()
        told = [f'Tom says, "{each}' for each in ('before"', '0"', '1"', '2" (repeated 2×)')]
        assert self.lines() == told
        assert self.services.spill.waiting() == {}
        self.stop_services()
        self.services = self.start_services()
        assert self.lines() == told

    def test_a_prompt_after_a_restart_begins_like_the_one_before_it(self):
        (before,) = self.ask("Good evening.", "Sit down.")
        self.stop_services()
        self.services = self.start_services()
        (after, *_) = self.ask("And to you.", "Well then.")
        told = before.partition("The Inn. Here: ")[0].rpartition("\n[")[0]
        assert after.startswith(told.rstrip())
        assert after.count("\n[You carry: ") == 1

    def test_a_damaged_archive_does_not_affect_other_agents(self):
        segment = self.services.places.agents / "Bram" / "archive" / "0000000001.jsonl"
        segment.parent.mkdir(parents=True)
        segment.write_text('{"type":"memory","n":1,"t":"never"}\n{"type":"compaction"}\n')
        bram = self.add_agent("Bram")
        self.char1.execute_cmd("say one")
        assert self.lines()[-1] == 'Tom says, "one"'
        assert "cannot be read" in str(bram.mind.memory.problem)
        assert bram.mind.presence.state is AgentState.UNWRITABLE
        assert len(bram.mind.memory.waiting) == 2
        with LogLines() as logged:
            bram.mind.read_edits()  # as each minute
            self.char1.attributes.add(LEFT, "2026-01-01T00:00:00+00:00")
            show_absence_news(self.char1)  # as at each log-in
            self.settle()
        assert logged.lines == [], "the log has the reason already"


def _full(record=None):
    raise ArchiveUnwritable("the disk is full", "Free some space")


class TestAfterARestart(World):
    def test_a_player_who_waited_for_an_answer_during_a_reload_gets_it(self):
        self.hold_answers()
        self.char1.execute_cmd("talk Mira What soup is there?")
        self.clock.advance(2)
        self.settle(self.prompts)
        self.stop_services()
        while not self.posted.empty():
            self.posted.get()
        self.services = self.start_services()
        self.addCleanup(runtime.stop, reload=True)
        runtime.open_agents(self.services)
        for path in ("/api/chat", "/api/chat"):
            self.fake.always(path, Reply())
        self.replies = ["> say The soup is leek.", "> wait"]
        heard = self.capture(self.char1)
        self.settle()
        self.pass_time(4)
        assert strip_ansi("\n".join(heard)).count("The soup is leek.") == 1
        assert not self.mira.db.owed
