"""Agents use notes, searches and pins, with a scripted model over HTTP.

The index of words is real; the search by meaning is tested elsewhere.
"""

from __future__ import annotations

import os
import re
import threading
from itertools import pairwise
from typing import ClassVar
from unittest.mock import patch

from django.test import override_settings

from keepsake.agent.settings import RecallConfig
from keepsake.archive.summaries import Tier
from keepsake.books.plan_lines import read_plan
from keepsake.contrib.evennia import apps
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.paths import LANGUAGE
from keepsake.recall.service import IndexService
from keepsake.recall.stores import NONE
from tests.world.agents_world import SMALL_WINDOWS, AgentsWorld, Building, FixedConfig

FACTS = (
    "My brother Edwin mends nets in Ostrey.",
    "I lost a brass key at the old mill.",
    "The ferry leaves at dawn on Fridays.",
    "Bram owes me six pence for the barley.",
)
CHATTER = ("It rains.", "The soup is hot.", "Nice fire.", "Long day.", "The dog sleeps.", "Hm.")
NOTES = "[Your notes:"
PAST = "[You recall, oldest first:"


class RecallWorld(AgentsWorld):
    """Mira has an index and a window of four memories."""

    COMPACTION = SMALL_WINDOWS
    chroma: ClassVar[str] = NONE

    def start_services(self):
        new = super().start_services()
        config = RecallConfig(chroma=self.chroma)
        new.recall = FixedConfig(config)
        new.indexes = IndexService(new.places, self.chroma, MiniLMEmbedder())
        new.indexes.start()
        return new

    def say(self, *lines, who=None):
        super().say(*lines, who=who)
        # Wait for the indexing thread: a search meanwhile uses the index as it is.
        last = self.mind.memory.context().window[-1].number
        folder = self.mind.books.notes.folder
        words = self.services.indexes.open(folder.parent.name, folder).words
        self.services.indexes.follow()
        self.settle(lambda: bool(words.get([f"memory:{last}"])))

    def section(self, prompt, heading):
        """Return the lines under a heading of a prompt."""
        assert heading in prompt, prompt
        return prompt.split(f"{heading}\n")[1].split("\n]\n")[0].splitlines()

    def edit_summary(self, text, *tiers):
        """Edit summaries by hand; by default the short-term one."""
        memory = self.mind.memory.memory
        now = memory.context()
        said = {Tier.RECENT: now.recent, Tier.LONGTERM: now.longterm}
        for tier in tiers or (Tier.RECENT,):
            path = self.mind.memory.summaries.path(tier)
            path.write_text(path.read_text("utf-8").replace(said[tier].text, text), "utf-8")
        memory.adopt_edits()
        assert memory.context().recent.text == text


class TestRelated(RecallWorld):
    """Memories that a prompt gets without a tool call."""

    def test_recall_brings_back_what_left_the_window_and_bears_on_the_question(self):
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")
        prompt = self.ask("Where is my brother Edwin?", "> say In Ostrey.")[0]
        past = self.section(prompt, PAST)
        assert [line for line in past if "mends nets in Ostrey" in line]
        assert any("The Inn]" in line for line in past)
        window = [m for m in self.mind.memory.context().window if m.number < len(FACTS)]
        assert not any(m.words in line for m in window for line in past if m.words)

    def test_of_a_long_story_the_passage_that_answers_is_shown(self):
        road = [
            f"On day {n} we slept in a barn near the farm of the tall widow." for n in range(13)
        ]
        self.say(" ".join([*road, "At the end we sold our grey mule to a tinker in Lund."]))
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")
        prompt = self.ask("To whom did you sell your grey mule?", "> say A tinker.")[0]
        (line,) = [each for each in self.section(prompt, PAST) if "tinker in Lund" in each]
        assert "On day 3 we slept" not in line

    def test_what_a_summary_says_is_not_recalled(self):
        self.say(*FACTS, *CHATTER)
        prompt = self.ask("Where is my brother Edwin?", "> say In Ostrey.")[0]
        assert "mends nets in Ostrey" in self.mind.memory.context().recent.text
        assert prompt.count("mends nets in Ostrey") <= 2, "in the summary, and on Tom's page"
        assert PAST not in prompt

    def test_the_prompt_of_a_due_plan_recalls_what_bears_on_the_plan(self):
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")
        plan = read_plan("now: look for the brass key", self.services.clock.now())
        self.mind.books.plans.add(plan)
        made = len(self.prompts())
        self.mind.plans.check()
        self.pass_time(3)
        past = self.section(self.prompts()[made], PAST)
        assert any("I lost a brass key at the old mill." in line for line in past)

    def test_a_search_that_hangs_costs_half_a_second(self):
        self.say(*FACTS, *CHATTER)
        self.ask("Good day.", "> say Good day.")  # the first search may take longer
        before = len(self.prompts())
        gate = threading.Event()
        self.mind.tools.recaller.recall_blocking = lambda *_, **__: gate.wait(60) and None
        self.addCleanup(gate.set)
        self.char1.execute_cmd("talk Mira Where is Edwin?")
        self.clock.advance(1.0)  # comes back, though the search does not
        assert len(self.prompts()) == before
        self.clock.advance(0.5)
        self.settle(lambda: not self.is_thinking())
        assert PAST not in self.prompts()[before]

    def test_the_first_search_after_a_start_may_load_a_model(self):
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")
        recaller = self.mind.tools.recaller
        recall = recaller.recall_blocking
        gate = threading.Event()
        recaller.recall_blocking = lambda *given, **more: gate.wait(60) and recall(*given, **more)
        self.addCleanup(gate.set)
        self.char1.execute_cmd("talk Mira Where is my brother Edwin?")
        self.clock.advance(3.0)
        assert self.prompts() == []
        gate.set()
        self.settle(lambda: not self.is_thinking())
        assert PAST in self.prompts()[0]


class TestAsides(RecallWorld):
    """What others say to each other, and an almost full prompt leaves out."""

    COMPACTION = "**immediate_window**: 500\n**recent_window**: 500\n"

    def test_an_aside_that_the_prompt_leaves_out_is_recalled(self):
        page = self.models_page(prompt_tokens=3500)
        (self.services.places.config / "llm.md").write_text(page)
        self.services.update_limits()
        self.ask("Good day.", "> say Good day.")
        told = "My brother Edwin mends nets in Ostrey."
        self.char1.execute_cmd(f"talk {self.char2.key} {told}")
        memory = self.mind.memory.memory
        number = 0
        while memory.load().share < 0.95:
            number += 1
            line = f"Boat {number} lies deep in the water, and her master wants {number} casks."
            self.char1.execute_cmd(f"talk {self.char2.key} {line}")
            assert number < 500
        self.say("It rains.")
        prompt = self.ask("Where does my brother Edwin mend nets?", "> say In Ostrey.")[0]
        assert memory.context().asides_through
        assert "Boat 9 lies deep" not in prompt
        assert any(told in line for line in self.section(prompt, PAST))
        assert prompt.count(told) == 1


class TestShortLines(RecallWorld):
    """A talk of many short lines: what a chat template adds costs more tokens than their words."""

    COMPACTION = "**immediate_window**: 500\n**recent_window**: 500\n**min_saving_tokens**: 90000\n"

    def test_what_the_window_has_no_room_for_is_told_elsewhere_in_the_prompt(self):
        page = self.models_page(prompt_tokens=2000)
        (self.services.places.config / "llm.md").write_text(page)
        self.services.update_limits()
        told = "My brother Edwin mends nets in Ostrey."
        self.ask(told, "> say Ah.")
        for number in range(100):
            prompt = self.ask(f"Boat {number} in?", "> say Aye.")[0]
            assert told in prompt, f"it stands nowhere since line {number}"
        assert f'"{told}"' not in prompt, "the window has no room for it any more"


class TestWithoutAMemory(RecallWorld):
    """A question outside the game, as if a memory were gone."""

    def asked(self, without=()):
        """Return the prompt and the answer of the question where Edwin is."""
        made = len(self.prompts())
        self.replies = ["In Ostrey."]
        asked = self.mind.ask_aside("Where is my brother Edwin?", without)
        self.settle(lambda: bool(asked.called))
        return self.prompts()[made], asked.result

    def test_what_is_left_out_is_not_recalled_and_a_summary_that_covers_it_is_named(self):
        self.set_thinking(idle_interval=1e9)
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")  # what it says would not be recalled
        (number,) = (
            m.number for m in self.mind.memory.memory.archive.read(1, 99) if FACTS[0] in m.text
        )
        told = "mends nets in Ostrey"
        whole, answer = self.asked()
        assert any(told in line for line in self.section(whole, PAST))
        assert answer.summarised == ()
        lacking, answer = self.asked(without=(number,))
        assert PAST not in lacking or not any(told in line for line in self.section(lacking, PAST))
        assert (answer.words, answer.summarised) == ("In Ostrey.", (number,))
        again, _ = self.asked()
        assert again == whole  # nothing was forgotten


class TestTools(RecallWorld):
    """Tool calls: the act and its result are remembered; the room sees nothing."""

    def setUp(self):
        super().setUp()
        self.heard = self.capture(self.char1)

    def kinds(self):
        return [(m.kind.value, m.text) for m in self.mind.memory.context().window[-4:]]

    KEPT = "After Tom spoke (memory 2): Tom owes me six pence."

    def note_debts(self):
        self.ask("Remember my debt.", "> note debts: Tom owes me six pence. | he may forget")

    def test_a_note_is_kept_with_its_occasion_and_its_reason(self):
        self.note_debts()
        note = self.mind.books.notes.find("debts")
        assert (note.text, note.reason) == (self.KEPT, "he may forget")
        assert self.kinds()[-1] == ("result", "Kept as your note 'debts'")

    def test_a_note_that_bears_on_a_question_is_in_the_part_of_the_prompt_that_changes(self):
        self.note_debts()
        self.say(*CHATTER, *CHATTER)
        prompt = self.ask("Who has debts of six pence?", "> wait")[0]
        assert self.section(prompt, NOTES) == [f"- debts: {self.KEPT}"]
        assert prompt.index(", The Inn. Here: ") < prompt.index(NOTES)

    def test_a_pin_whose_part_of_the_window_has_gone_is_told_again(self):
        self.ask("I am Tom.", "> pin Tom keeps bees.")
        self.ask("Good.", "> wait")
        self.say(*CHATTER, *CHATTER)
        prompt = self.ask("Who am I?", "> unpin 1")[0]
        assert prompt.count("[Always remember: After Tom spoke") == 1

    def test_each_remembered_fact_is_a_note_of_its_own_with_its_day(self):
        self.ask("I keep bees.", "> remember Tom keeps bees.")
        self.ask("And goats.", "> remember Tom keeps goats.")
        notes = {note.title: note.text for note in self.mind.books.notes.all()}
        first, second = sorted(notes)
        assert first.startswith("Remembered on ")
        assert second == f"{first} (2)"
        assert notes[first].endswith("Tom keeps bees.")
        assert notes[second].endswith("Tom keeps goats.")

    def test_what_is_remembered_or_noted_twice_stands_in_one_note_and_the_agent_is_told(self):
        for asked in ("I keep bees.", "Bees, remember!"):
            self.ask(asked, "> remember Tom keeps bees.\n> note tom: He keeps bees.")
        notes = self.mind.books.notes.all()
        assert [note.text.count("bees") for note in notes] == [1, 1]
        title = next(note.title for note in notes if note.title != "tom")
        told = [text for kind, text in self.kinds() if kind == "result"]
        known = [f"You have that already, in your note {each!r}" for each in (title, "tom")]
        assert told[-2:] == known

    def test_a_forgotten_note_is_moved_aside(self):
        self.note_debts()
        self.ask("Still?", "> forget debts")
        notes = self.mind.books.notes
        assert "six pence" in (notes.folder / "forgotten" / "debts.md").read_text()
        assert notes.find("debts") is None

    def test_notes_and_pins_are_shown_to_nobody(self):
        self.note_debts()
        self.ask("I am Tom.", "> pin Tom keeps bees.")
        assert not any("bees" in line or "note" in line for line in self.heard)

    def test_the_result_of_recall_is_in_the_next_prompt(self):
        self.say(*FACTS, *CHATTER)
        prompts = self.ask("You know that thing?", "> recall brass key", "> say At the old mill!")
        assert len(prompts) == 2
        act, result = prompts[1].split("> recall brass key\n")
        assert act.endswith('Tom says to you, "You know that thing?"\n\n')
        assert "\nYou recall: [" in result
        assert "(memory 3)" in result
        assert "I lost a brass key at the old mill." in result
        assert "~say At the old mill!" in self.lines()
        assert not any("recall" in line for line in self.heard)

    def test_several_things_are_searched_for_by_themselves_and_found_together(self):
        self.say(*FACTS, *CHATTER)
        asked = "> recall the brass key; when the ferry leaves"
        prompts = self.ask("You know both?", asked, "> say The mill. At dawn.")
        result = prompts[1].split("\nYou recall: [")[1]
        assert "I lost a brass key at the old mill." in result
        assert "The ferry leaves at dawn on Fridays." in result

    def test_an_answer_rests_on_what_recall_found(self):
        self.say(*FACTS, *CHATTER)
        self.ask("You know that thing?", "> recall brass key", "> say At the old mill!")
        own = [each for each in self.mind.memory.context().window if each.is_own]
        search, answer = own[-2:]
        assert search.verb == "recall"
        assert 3 not in search.rests_on
        assert answer.verb == "say"
        assert 3 in answer.rests_on
        self.ask("Sure?", "> say As sure as the mill stands.")
        assert 3 not in self.mind.memory.context().window[-1].rests_on

    def test_recall_knows_names_if_prompts_recall_nothing(self):
        self.services.recall = FixedConfig(RecallConfig(chroma=self.chroma, budget=0))
        ann = self.add_player(2, "Ann")
        self.say("Tom owes me a boat, that Tom, this boat of Tom.", who=ann)
        self.say("My boat is blue and it leaks like a sieve.", *CHATTER, *CHATTER)
        self.ask("You know that thing?", "> recall Tom's boat", "> wait")
        (result,) = [each for each in self.mind.memory.context().window if each.kind == "result"]
        first = result.text.partition(";")[0]
        assert "My boat is blue" in first


class TestPins(AgentsWorld):
    """What is pinned and let go, in a window that is not compacted."""

    def test_a_pin_stands_in_the_conversation_and_changes_nothing_before_it(self):
        before = self.messages("I am Tom.", "> pin Tom keeps bees.")
        pinned = self.messages("Who am I?", "> unpin 1")
        unpinned = self.messages("And now?", "> wait")
        later = self.messages("Still?", "> wait")
        told = r"\[Always remember: (After Tom spoke \(memory \d+\): Tom keeps bees\.)\]\n"
        (line,) = re.findall(told, pinned[-1])
        assert f"[No longer to be remembered: {line}]\n" in unpinned[-1]
        for one, other in pairwise((before, pinned, unpinned, later)):
            assert one[:-1] == other[: len(one) - 1]
        assert "\n".join(later).count(f": {line}]") == 2

    def messages(self, line, *answers):
        """Ask, and return the messages of the prompt."""
        before = len(self.fake.calls("/api/chat"))
        self.ask(line, *answers)
        asked = self.fake.calls("/api/chat")[before]
        return [str(each["content"]) for each in asked.body["messages"]]


class TestPrivacy(RecallWorld):
    """No command shows an agent's memory to other agents; players: test_builder_commands."""

    def test_other_agents_see_nothing(self):
        bram = self.add_agent("Bram")
        self.mind.books.notes.write("secret", "xyzzy", now=self.services.clock.now())
        for line in ("@notes Mira", "notes", "recall xyzzy", "@recall Mira = xyzzy"):
            bram.execute_cmd(line)
            self.settle()
        self.replies = ["> recall xyzzy", "> notes", "> wait"]
        self.char1.execute_cmd("talk Bram hello")
        self.pass_time(4)
        assert not any(
            "xyzzy" in m.text
            for m in bram.mind.memory.context().window
            if m.kind == "result" and "nothing about" not in m.text
        )


class TestBuilders(Building, RecallWorld):
    """Builders' commands on memories."""

    def setUp(self):
        super().setUp()
        self.say(*FACTS, *CHATTER)

    def test_a_search_shows_each_memory_with_its_score_and_why(self):
        head, first, why, *_ = self.type("@recall mir = where is the brass key?").splitlines()
        assert "without the" in head
        assert "memory 3" in first
        assert "I lost a brass key" in first
        assert float(first.split()[0]) > 0
        assert "brass" in why.split("why: ")[1]

    def test_a_note_is_written_and_a_missing_one_is_named(self):
        self.type("@agent/note Mira/well = It is deep.")
        (note,) = self.mind.books.notes.all()
        assert note.title == "well"
        assert "It is deep." in note.text
        assert "Without words, all are shown" in self.type("@agent/note Mira/nosuch")

    def test_memories_are_shown_by_number(self):
        assert "memories 1-11 of 11" in self.type("@memories Mira")
        shown = self.type("@memories Mira 2-3")
        assert "brass key" in shown
        assert "ferry" not in shown

    def test_a_summary_edited_by_hand_is_adopted_and_found(self):
        (path,) = self.mind.books.notes.folder.parent.glob("summaries/recent.md")
        head, _, _ = path.read_text().rpartition("---\n")
        path.write_text(f"{head}---\n\nEdwin keeps a parrot in Ostrey.\n")
        shown = self.type("@memory-status Mira", "Integrity")
        assert "Edwin keeps a parrot in Ostrey." in shown
        assert "by words" in shown
        assert "(memories 1-5, edited by hand, " in shown
        # A search leaves new words out while another thread reads them.
        self.settle(lambda: "keeps a parrot" in self.type("@recall Mira = parrot"))


def test_the_language_of_a_game_is_its_language_code_unless_the_environment_names_another():
    elsewhere = {name: value for name, value in os.environ.items() if name != LANGUAGE}
    with override_settings(LANGUAGE_CODE="de"):
        with patch.dict(os.environ, elsewhere, clear=True):
            assert apps.places().language == "de"
        with patch.dict(os.environ, {LANGUAGE: "ja"}):
            assert apps.places().language == "ja"
