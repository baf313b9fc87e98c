"""What an agent's own words and deeds rest on, and who people are if names are reused."""

from __future__ import annotations

from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.records import Memory
from keepsake.happening import Person
from tests.fakes.model_server import llm_page
from tests.world.talk_world import TalkWorld


class RestsWorld(TalkWorld):
    def own(self) -> list[Memory]:
        """Return Mira's own words and deeds."""
        return [each for each in self.mind.memory.context().window if each.is_own]

    def said_by(self, who: object) -> list[int]:
        """Return the numbers of what somebody said."""
        window = self.mind.memory.context().window
        return [each.number for each in window if each.source_id == identity_of(who)]


class TestRestsOn(RestsWorld):
    def test_words_and_deeds_rest_on_what_they_answer(self):
        self.ask("Come with me!", "With pleasure.\n> follow Tom\n> talk Char2 = Farewell.")
        words, follows, farewell = self.own()
        asked = self.said_by(self.char1)[:1]
        assert [list(each.rests_on) for each in (words, follows, farewell)] == [asked] * 3

    def test_a_tool_call_after_a_whisper_is_known_to_the_two_alone(self):
        self.replies = ["> recall the key", "Under the mat.", "> wait"]
        self.char1.execute_cmd("whisper Mira = Where is the key that I gave you?")
        self.pass_time(6)
        recalls, whispers = self.own()
        both = frozenset({identity_of(self.char1)})
        window = self.mind.memory.context().window
        (result,) = (each for each in window if each.number > 1 and each.kind == "result")
        assert recalls.confidants == result.confidants == whispers.confidants == both
        assert recalls.rests_on == tuple(self.said_by(self.char1))

    def test_a_deed_in_sight_of_all_is_no_secret(self):
        self.replies = ["> follow Tom", "> wait"]
        self.char1.execute_cmd("whisper Mira = Come with me.")
        self.pass_time(6)
        follows = self.own()[0]
        assert follows.confidants is None
        assert self.mind.memory.private.confidants_of(follows.rests_on) is not None

    def test_words_to_a_second_person_rest_on_that_persons_words_too(self):
        ann = self.add_player(2, "Ann")
        ann.execute_cmd("emote shakes out an umbrella.")
        self.pass_time(10)
        self.ask("Is there soup?", "Leek.\n> talk Ann = There is a rag by the door.")
        _, rag = [each for each in self.own() if each.said]
        assert set(rag.rests_on) >= {self.said_by(ann)[-1], self.said_by(self.char1)[-1]}

    def test_a_question_of_somebody_who_steps_out_and_back_is_answered(self):
        quay = self.add_room("The Quay")
        self.add_exits(self.room1, "north", "south", quay)
        self.replies = ["Plant it.", "> wait"]
        self.char1.execute_cmd("talk Mira What should I do with the seed?")
        self.char1.move_to(quay)
        self.pass_time(2)
        self.char1.move_to(self.room1)
        self.pass_time(6)
        assert any("Plant it." in line for line in self.lines())


class TestDeedsAsWritten(RestsWorld):
    def test_the_next_prompt_shows_own_deeds_as_they_were_written(self):
        ann = self.add_player(2, "Ann")
        self.ask("Come with me!", "With pleasure.\n> follow Tom\n> talk Ann = Farewell, Ann.")
        (after, *_) = self.ask("Where are we going?", "You know best.")
        (own,) = (each["content"] for each in after if each["role"] == "assistant")
        assert own == "With pleasure.\n> follow Tom\n> talk Ann = Farewell, Ann."
        assert self.own()[2].to_id == identity_of(ann)


class TestPeople(RestsWorld):
    def test_what_is_answered_is_the_partners_though_others_speak_meanwhile(self):
        ilse = self.add_player(2, "Ilse")
        gate = self.hold_answers()
        self.replies = ["In the pot.", "On its hook, Tom.", "> wait"]
        ilse.execute_cmd("talk Mira Where is the ladle?")
        self.clock.advance(2)
        self.settle(lambda: len(self.fake.calls("/api/chat")) == 1)
        self.char1.execute_cmd("talk Mira Where is the cup?")
        ilse.execute_cmd("talk Mira And the soup?")
        gate.set()
        self.pass_time(12)
        last = self.fake.calls("/api/chat")[1].body["messages"][-1]["content"]
        assert "[Your plain lines are spoken to Tom.]" in last
        assert last.endswith("[Tom still waits for your answer to: Where is the cup?]")
        assert self.own()[1].to_id == identity_of(self.char1)

    def test_a_renamed_player_is_still_known_to_a_promise(self):
        self.char1.execute_cmd("talk Mira Will you keep my key?")
        self.pass_time(4)
        asked = self.said_by(self.char1)[0]
        self.char1.key = "Thomas"
        command = Person("Thomas", identity_of(self.char1))
        tools = self.mind.tools.commitments
        basis = tools._basis_of_promise(command)
        assert basis is not None
        assert basis.number >= asked
        assert tools._basis_of_promise(Person("Tom", "99-20200101000000")) is None


class TestRules(RestsWorld):
    def test_a_new_character_is_not_told_what_another_one_of_its_name_said(self):
        page = llm_page(agent="provider=none", summarizer="provider=none")
        (self.services.places.config / "llm.md").write_text(page)
        self.ask("My boat is blue.", seconds=6)
        self.ask("What colour is my boat?", seconds=6)
        assert any("'My boat is blue.'" in each.words for each in self.own())
        self.char1.key = "Thomas"
        self.ask("What colour is my boat?", seconds=6)
        assert "'My boat is blue.'" in self.own()[-1].words, "a renamed one is still known"
        before = len(self.own())
        self.char1.location = None
        new = self.add_player(2, "Tom")
        new.execute_cmd("talk Mira What colour is my boat?")
        self.pass_time(6)
        assert len(self.own()) > before
        assert not any("blue" in each.words for each in self.own()[before:])
