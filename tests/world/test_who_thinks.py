"""Who thinks when a player speaks in a room with several agents: a line costs one call."""

from __future__ import annotations

from keepsake.agent.surroundings.identity import is_agent
from keepsake.contrib.evennia.characters import greeter
from keepsake.contrib.evennia.reacting import CALLED_SECONDS
from keepsake.happening import KnownVerb, Manner
from keepsake.tasks.deed import spoken_to
from tests.world.agents_world import AgentsWorld


class TestWhoThinks(AgentsWorld):
    """Mira, Bram and Wren at the inn, with Tom and Ada."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.agents = [self.mira, self.add_agent("Bram"), self.add_agent("Wren")]
        self.ada = self.add_player(2, "Ada")
        self.pass_time(30)
        self.replies = ["> wait"]

    def calls(self, line: str) -> list[str]:
        """Let Tom type a line; return the prompts of the agents' thoughts about it."""
        before = len(self.prompts())
        self.char1.execute_cmd(line)
        self.pass_time(30)
        return self.prompts()[before:]

    def test_words_to_nobody_are_thought_about_by_one_and_remembered_by_all(self):
        assert all(map(is_agent, self.agents))
        assert len(self.calls("say What a morning.")) == 1
        for agent in self.agents:
            assert any("What a morning." in line for line in self.lines(agent))

    def test_words_to_one_are_thought_about_by_that_one(self):
        (prompt,) = self.calls("talk bram Good day.")
        assert prompt.startswith("You are Bram.")

    def test_who_comes_and_speaks_to_one_is_greeted_by_nobody_else(self):
        quay = self.add_room("The Quay")
        for host in self.agents:
            for each in self.agents:
                each.db.talkativeness = 1.0 if each is host else 0.1
            self.clock.advance(700)  # later than the last greeting
            for addressed in self.agents:
                self.char1.move_to(quay, quiet=True)
                self.pass_time(30)
                self.char1.move_to(self.room1)
                self.settle()
                (prompt,) = self.calls(f"talk {addressed.key} Good day.")
                assert prompt.startswith(f"You are {addressed.key}")

    def test_who_comes_and_speaks_to_the_room_is_answered_once_and_greeted_by_nobody(self):
        quay = self.add_room("The Quay")
        mira, bram, _ = self.agents
        bram.home = quay
        self.calls("talk bram Good day.")
        self.char1.move_to(quay, quiet=True)
        self.pass_time(100)
        assert greeter(self.room1, self.char1) is mira
        self.char1.move_to(self.room1)
        (prompt,) = self.calls("say What a morning.")
        assert prompt.startswith("You are Bram."), "with whom he talked a moment ago"

    def test_a_greeting_that_waits_for_the_model_is_dropped_if_the_guest_speaks(self):
        quay = self.add_room("The Quay")
        mira, bram, _ = self.agents
        self.char1.move_to(quay, quiet=True)
        self.pass_time(30)
        bram.home = quay
        assert greeter(self.room1, self.char1) is mira
        gate = self.hold_answers()
        before = len(self.prompts())
        for each in ("Bram", "Wren"):
            self.ada.execute_cmd(f"talk {each} Are the bees asleep?")
        self.clock.advance(3)
        self.settle(lambda: len(self.prompts()) > before + 1, seconds=5)
        self.char1.move_to(self.room1)
        for _ in range(20):
            self.clock.advance(0.5)
            self.settle(self.posted.empty)
        assert mira.mind.thinker.turn is not None, "she means to greet him"
        self.char1.execute_cmd("say What a morning.")
        gate.set()
        self.pass_time(30)
        assert not any("who has come" in each for each in self.prompts()[before:])

    def test_after_that_words_to_nobody_are_for_the_same_one(self):
        self.calls("talk bram Good day.")
        (prompt,) = self.calls("say What a morning.")
        assert prompt.startswith("You are Bram.")

    def test_words_to_nobody_are_for_who_has_spoken_to_the_player_last(self):
        self.calls("talk bram Good day.")
        wren = self.agents[2]
        speaks = spoken_to(KnownVerb.TALK, "Tom", "The story, Tom!")
        wren.mind.actor.do(wren, speaks)
        self.pass_time(10)
        (prompt,) = self.calls("say A true story, then.")
        assert prompt.startswith("You are Wren.")

    def said_by_mira(self, line: str) -> tuple[str, str, Manner]:
        """Let Tom type a line that Mira answers; return her words, to whom, and how."""
        self.replies = ["It is a fine one.", "> wait"]
        (prompt,) = self.calls(line)
        assert prompt.startswith("You are Mira,")
        said = self.mind.memory.memory.context().window[-1].said
        assert said is not None
        return said.words, said.to_name, said.manner

    def test_an_answer_to_words_to_nobody_is_to_who_spoke_whoever_spoke_to_the_agent_before(self):
        self.agents[1].execute_cmd("talk Mira The bees are asleep.")
        self.pass_time(30)
        said = self.said_by_mira("say What a morning.")
        assert said == ("It is a fine one.", "Tom", Manner.SAY)

    def test_words_that_were_whispered_before_make_no_whisper_of_an_answer_to_words_aloud(self):
        self.agents[1].execute_cmd("whisper Mira = The queen is old.")
        self.pass_time(30)
        said = self.said_by_mira("say What a morning.")
        assert said == ("It is a fine one.", "Tom", Manner.SAY)

    def test_an_answer_to_the_words_of_two_to_nobody_is_to_all(self):
        self.replies = ["Good morning, both.", "> wait"]
        self.ada.execute_cmd("say What a morning.")
        self.clock.advance(1)
        (_,) = self.calls("say A fine one.")
        said = self.mind.memory.memory.context().window[-1]
        assert (said.text, said.to) == ("say Good morning, both.", "")

    def test_an_alias_is_a_name_and_an_abbreviation_is_none(self):
        self.agents[2].aliases.add(["captain", "a"])
        self.calls("talk bram Good day.")
        (prompt,) = self.calls("say A true story, Captain: the ferry sank.")
        assert prompt.startswith("You are Wren.")
        self.calls("talk bram Good day to you.")
        (prompt,) = self.calls("say A fine day.")
        assert prompt.startswith("You are Bram.")

    def test_whoever_is_named_thinks(self):
        prompts = self.calls("say I wonder what Wren would say.")
        assert any(each.startswith("You are Wren.") for each in prompts)

    def test_a_gesture_to_nobody_is_thought_about_by_one_at_most(self):
        assert len(self.calls("emote looks out of the window.")) <= 1

    def test_an_agents_gesture_is_seen_and_asks_for_no_thought(self):
        bram, wren = self.agents[1:]
        before = len(self.prompts())
        bram.execute_cmd("emote looks out of the window.")
        self.pass_time(30)
        assert len(self.prompts()) == before
        assert any("looks out of the window" in line for line in self.lines(wren))
        bram.execute_cmd("emote nods to Wren.")
        self.pass_time(30)
        assert len(self.prompts()) == before
        assert any("nods to Wren" in line for line in self.lines(wren))

    def test_an_agents_statement_is_remembered_and_a_question_is_answered(self):
        bram, wren = self.agents[1:]
        before = len(self.prompts())
        for line in ("talk Wren The bees are asleep.", "say The bees are asleep."):
            bram.execute_cmd(line)
            self.pass_time(30)
        assert len(self.prompts()) == before
        assert any('Bram says to you, "The bees are asleep."' in x for x in self.lines(wren))
        bram.execute_cmd("talk Wren Are the bees asleep?")
        self.pass_time(30)
        (prompt,) = self.prompts()[before:]
        assert prompt.startswith("You are Wren.")

    def test_an_agent_who_comes_is_seen_and_a_player_is_greeted(self):
        quay = self.add_room("The Quay")
        bram = self.agents[1]
        bram.move_to(quay, quiet=True)
        self.pass_time(10)
        before = len(self.prompts())
        bram.move_to(self.room1)
        self.pass_time(30)
        assert len(self.prompts()) == before
        assert any("Bram arrives" in line for line in self.lines())
        self.ada.move_to(quay, quiet=True)
        self.ada.move_to(self.room1)
        self.pass_time(30)
        assert len(self.prompts()) == before + 1


class TestGone(AgentsWorld):
    """Somebody leaves before the answer comes."""

    def test_words_for_somebody_who_has_left_are_not_spoken_and_the_agent_knows_it(self):
        ada = self.add_player(2, "Ada")
        heard = self.capture(ada)
        gate = self.hold_answers()
        self.replies = ["There is a supper on Sunday.", "> wait"]
        self.char1.execute_cmd("talk Mira What is on?")
        self.clock.advance(3)
        self.settle(lambda: bool(self.prompts()))
        self.char1.move_to(self.add_room("The Quay"))
        gate.set()
        self.pass_time(4)
        assert not any("supper" in line for line in heard)
        assert any("You did not say it: Tom has gone" in line for line in self.lines())


class TestQuestionToAll(AgentsWorld):
    """Tom asks everybody in the room, where Ada is too, and who would listen cannot answer."""

    QUESTION = "say Does anybody know when the ferry goes?"

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.add_exits(self.room1, "south", "north", self.quay)
        self.bram = self.add_agent("Bram")
        self.wren = self.add_agent("Wren")
        self.ada = self.add_player(2, "Ada")
        self.pass_time(30)
        self.replies = ["At seven.", "> wait"]

    def asked_of(self, *, seconds: float = 10) -> list[str]:
        """Return who thinks from now on, by name, in order."""
        before = len(self.prompts())
        self.pass_time(seconds)
        return [each.split(".")[0].removeprefix("You are ") for each in self.prompts()[before:]]

    def ask_all(self) -> list[str]:
        self.char1.execute_cmd(self.QUESTION)
        return self.asked_of()

    def test_it_is_thought_about_by_one_whose_prompt_says_so(self):
        assert self.ask_all() == ["Mira, an innkeeper"]
        prompt = self.prompts()[-1]
        assert "[Tom asked everybody here." in prompt
        assert "This was not said to you" not in prompt

    def test_it_is_for_another_one_if_who_would_listen_is_walking_away(self):
        self.mind.walker.follow_routine(self.quay, lambda: None)
        assert self.ask_all() == ["Bram"]

    def test_the_partner_of_a_talk_who_walks_away_is_not_held_up(self):
        self.char1.execute_cmd("talk wren Good day.")
        self.pass_time(10)
        arrived = []
        self.wren.mind.walker.go_on_errand(self.quay, lambda: arrived.append(self.wren.location))
        assert self.ask_all() == ["Mira, an innkeeper"]
        assert arrived == [self.quay]

    def test_it_falls_to_the_next_one_if_who_listens_falls_asleep(self):
        self.char1.execute_cmd(self.QUESTION)
        self.mira.db.asleep = self.services.clock.now().isoformat()
        assert self.asked_of() == ["Bram"]

    def test_it_falls_to_the_next_one_if_who_listens_leaves(self):
        self.char1.execute_cmd(self.QUESTION)
        self.mira.move_to(self.quay, quiet=True)
        assert self.asked_of() == ["Bram"]
        assert "[Tom asked everybody here." in self.prompts()[-1]

    def test_it_falls_to_the_next_one_if_who_listens_turns_to_somebody_else(self):
        self.char1.execute_cmd(self.QUESTION)
        self.ada.execute_cmd("talk mira Soup, please.")
        assert sorted(self.asked_of()) == ["Bram", "Mira, an innkeeper"]

    def test_it_is_for_one_who_is_not_busy_with_somebody_else(self):
        gate = self.hold_answers()
        self.ada.execute_cmd("talk mira Soup, please.")
        self.clock.advance(2)
        self.settle(lambda: bool(self.prompts()))
        self.char1.execute_cmd(self.QUESTION)
        before = len(self.prompts())
        self.clock.advance(4)
        self.settle(lambda: len(self.prompts()) > before)
        gate.set()
        assert self.prompts()[before].startswith("You are Bram.")

    def test_it_ends_with_the_last_one_who_could_answer(self):
        self.char1.execute_cmd(self.QUESTION)
        for each in (self.mira, self.bram, self.wren):
            each.db.asleep = self.services.clock.now().isoformat()
        assert self.asked_of() == []

    def test_without_other_players_it_falls_to_the_next_one_too(self):
        self.ada.move_to(self.quay, quiet=True)
        self.char1.execute_cmd(self.QUESTION)
        self.mira.move_to(self.quay, quiet=True)
        assert self.asked_of() == ["Bram"]
        assert any("Bram says" in line or "At seven" in line for line in self.lines(self.wren))


class TestPlayerNamed(AgentsWorld):
    """Tom speaks to the room, where Mira, Bram and the player Ada are, and names Ada."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.bram = self.add_agent("Bram")
        self.ada = self.add_player(2, "Ada")
        self.pass_time(30)
        self.replies = ["On the hook.", "> wait"]

    def says(self, words: str, seconds: float = 10) -> list[str]:
        """Let Tom say words; return the prompts of whoever thinks from then on."""
        before = len(self.prompts())
        self.char1.execute_cmd(f"say {words}")
        return self.later(before, seconds)

    def later(self, before: int, seconds: float) -> list[str]:
        self.pass_time(seconds)
        return self.prompts()[before:]

    def test_a_question_about_a_player_is_a_question_to_everybody(self):
        for question in (
            "Has anyone seen Ada's hat?",
            "Who is Ada?",
            "Hat jemand Adas oder Ada seine Tasse gegeben?",
            "¿Alguien sabe dónde duerme Ada?",
        ):
            (prompt,) = self.says(question)
            assert "[Tom asked everybody here." in prompt
            assert "This was not said to you" not in prompt
            self.char1.ndb.spoken_to = None  # else the next one is for who has answered

    def test_a_question_that_calls_a_player_is_for_that_player_first(self):
        for question in (
            "Ada, has anyone seen my cup?",
            "Has anyone seen my cup, Ada?",
            "Good morning Ada, has anyone seen my cup?",
            "Ada, sit down. Has anyone seen my cup?",
            "Ada：誰か見ましたか？",
        ):
            before = len(self.prompts())
            assert self.says(question) == []
            (prompt,) = self.later(before, CALLED_SECONDS)
            assert "[Tom asked everybody here." in prompt

    def test_what_the_player_who_is_called_answers_is_the_answer(self):
        before = len(self.prompts())
        self.says("Ada, has anyone seen my cup?", seconds=5)
        self.ada.execute_cmd("talk Tom It is on the hook.")
        assert self.later(before, 30) == []

    def test_what_another_agent_has_answered_meanwhile_is_not_asked_again(self):
        before = len(self.prompts())
        self.says("Ada, has anyone seen my cup?", seconds=5)
        self.bram.execute_cmd("talk Tom It is on the hook.")
        assert self.later(before, 30) == []

    def test_who_has_left_meanwhile_gets_no_answer(self):
        before = len(self.prompts())
        self.says("Ada, has anyone seen my cup?", seconds=5)
        self.char1.move_to(self.add_room("The Quay"), quiet=True)
        assert self.later(before, 30) == []

    def test_it_falls_to_who_is_still_there(self):
        before = len(self.prompts())
        self.says("Ada, has anyone seen my cup?", seconds=5)
        self.mira.move_to(self.add_room("The Quay"), quiet=True)
        (prompt,) = self.later(before, 30)
        assert prompt.startswith("You are Bram.")

    def test_words_that_call_a_player_and_ask_nothing_are_for_that_player(self):
        self.ask("Good day.")
        for words in ("Ada, sit down.", "Good morning Ada, it is late.", "Thank you, Ada."):
            assert self.says(words, seconds=30) == []

    def test_in_a_talk_words_that_only_name_a_player_are_for_the_partner(self):
        self.ask("Good day.")
        (prompt,) = self.says("I had this hat of Ada.")
        assert prompt.endswith("[Tom waits for your answer.]")

    def test_without_a_talk_words_that_only_name_a_player_ask_nobody_else(self):
        assert self.says("A fine morning Ada.", seconds=30) == []

    def test_a_sleeper_who_is_named_does_not_answer_for_all(self):
        self.mira.db.asleep = self.services.clock.now().isoformat()
        (prompt,) = self.says("Does anybody know what Mira puts into the soup?")
        assert prompt.startswith("You are Bram.")
