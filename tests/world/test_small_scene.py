"""What the prompt of a small model shows of the place, and of who has come."""

from __future__ import annotations

from datetime import datetime

from keepsake.agent.surroundings.sights import detail_named
from keepsake.tasks.forms.form import LAST_LINES
from tests.world.agents_world import AgentsWorld
from tests.world.built_world import BuiltWorld
from typeclasses.agents import Agent
from world.source import find


class TestAtTheFerryStage(BuiltWorld, AgentsWorld):
    """Joss with a small model, and Tom, who comes from the quay."""

    FORM = "dialogue"
    START = datetime(2026, 5, 4, 12).astimezone()

    def make_mira(self) -> Agent:
        joss = find("agent", "joss")
        assert isinstance(joss, Agent)
        return joss

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.mira.move_to(find("room", "ferry_stage"), quiet=True)
        self.char1.move_to(find("room", "quay"), quiet=True)
        self.char1.move_to(find("room", "ferry_stage"))
        self.pass_time(20)

    def prompt_for(self, words: str) -> str:
        """Return the prompt of Joss' answer to words of Tom."""
        self.fake.script = lambda prompt: f" {len(prompt)} times no."
        self.char1.execute_cmd(f"talk Joss {words}")
        self.pass_time(6)
        end = f"{words}\nJoss:"
        return next(each for each in reversed(self.fake.prompts()) if each.endswith(end))

    def scene_in(self, prompt: str) -> str:
        """Return the line of a prompt that shows where Joss is."""
        return next(line for line in prompt.splitlines() if "Here: " in line)

    def test_one_sentence_of_the_place_is_shown_and_the_one_that_is_asked_about(self):
        prompt = self.prompt_for("Good day.")
        assert prompt.count("The planks run out over the channel") == 1, "he has just seen it"
        for number in range(LAST_LINES):
            self.prompt_for(f"I count {number}.")
        scene = self.scene_in(self.prompt_for("How do you do?"))
        assert "The planks run out over the channel" in scene
        assert "A bell hangs" not in scene
        scene = self.scene_in(self.prompt_for("When are the crossings?"))
        assert "The planks run out" not in scene
        assert "a board beneath it gives the crossings in chalk" in scene
        assert "Every time was wiped out and written again four minutes later" in scene

    def test_where_somebody_came_from_is_not_shown_as_where_they_are_from(self):
        came = next(each for each in reversed(self.fake.prompts()) if "Tom arrives" in each)
        assert "(Tom arrives from The Quay.)" in came
        talk = self.prompt_for("Who am I?").rpartition("Captain")[2]
        assert "Tom: Who am I?" in talk
        assert "from The Quay" not in talk

    def test_what_a_person_told_is_shown_however_many_questions_they_asked_since(self):
        told = ("I make rope, or I did until the walk burned.", "My sister Greta was in it.")
        for words in told:
            self.prompt_for(words)
        for number in range(2 * LAST_LINES):
            self.prompt_for(f"What is {number} and {number}?")
        prompt = self.prompt_for("What do you remember about me?")
        talk = prompt.rpartition("(Monday")[0].rpartition("Captain")[2]
        assert not any(words in talk for words in told)
        scene = self.scene_in(prompt)
        assert all(words in scene for words in told)

    def known_in(self, prompt: str) -> list[str]:
        """Return the lines of what Joss knows of those whom he is asked about."""
        return [line for line in prompt.splitlines() if line.startswith("(Joss knows ")]

    def test_whom_a_question_names_the_prompt_says_once_more_right_before_it(self):
        prompt = self.prompt_for("What do you think of Mira?")
        line = "(Joss knows Mira, keeper of the Kettle, the inn; you owe her for nineteen bowls"
        assert prompt.splitlines()[-3].startswith(line)
        assert self.known_in(self.prompt_for("Who keeps the bees and the orchard?")) == [
            "(Joss knows Bram, who keeps the orchard and the bees.)"
        ]
        for words in ("I met Mira.", "Where is the soup?", "What did I say of Mira?"):
            assert self.known_in(self.prompt_for(words)) == []

    def test_what_is_secret_is_not_said_again(self):
        self.mira.db.profile = (
            "You are Joss. Mira: (secret) you took her cup. Oswin: the clockmaker. (secret) He "
            "wound the bell."
        )
        known = self.known_in(self.prompt_for("Is it true that Mira and Oswin fell out?"))
        assert known == ["(Joss knows Oswin, the clockmaker.)"]

    def test_the_ordinary_day_is_not_read_anew_at_every_turn(self):
        usual = self.mira.usual_day()
        assert usual
        assert usual not in self.prompt_for("Good day.")


class TestDetails(AgentsWorld):
    """What a look at a detail shows, where somebody asks about it."""

    def test_a_detail_is_told_unless_the_agent_has_more_to_say_of_it(self):
        self.room1.db.details = {"hook": "A bare hook. It is old.", "clock": "It is slow. Or not."}
        self.mira.db.examples = ["~Tom> say What is that hook?", "~Mira> say My mother's cup."]
        assert detail_named(self.mira, "Is the clock right?") == "It is slow."
        assert not detail_named(self.mira, "What is it about that hook?")
        assert not detail_named(self.mira, "Good day.")
