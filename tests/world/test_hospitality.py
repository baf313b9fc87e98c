"""Agents as hosts: who answers, who is greeted, and who keeps the inn."""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.contrib.evennia import lifecycle
from tests.fakes.model_server import llm_page
from tests.world.agents_world import AgentsWorld

NAMES = ("Ann", "Bob", "Cy")


class Inn(AgentsWorld):
    """Mira and her guests: Tom and other players."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.add_exits(self.room1, "north", "south", self.quay)

    def calls(self) -> int:
        return len(self.fake.calls("/api/chat"))


class TestFromAfar(Inn):
    """Speech from another room, or to somebody else."""

    def test_a_shout_is_answered_and_talk_between_others_is_not(self):
        self.char1.move_to(self.quay)
        self.pass_time(10)
        self.char1.execute_cmd("shout Mira!")
        self.pass_time(10)
        assert self.calls() == 1
        assert not self.mind.presence.in_talk
        self.char1.move_to(self.room1)
        bram = self.add_agent("Bram")
        self.pass_time(20)
        before = self.calls()
        bram.execute_cmd("talk Tom Good evening.")
        self.pass_time(10)
        assert self.calls() == before
        assert 'Bram says to Tom, "Good evening."' in self.lines()

    def test_only_the_addressed_one_of_three_agents_thinks(self):
        bram, joss = (self.add_agent(name) for name in ("Bram", "Joss"))
        self.pass_time(20)
        for line in (
            "talk Bram Is the ferry late?",
            "whisper Bram = Is it?",
            "say Bram, is it?",
            "pose waves to Bram.",
        ):
            before = self.calls()
            thoughts = dict(bram.mind.thinker.log.outcomes)
            self.char1.execute_cmd(line)
            self.pass_time(20)
            assert self.calls() == before + 1, line
            assert bram.mind.thinker.log.outcomes != thoughts
        assert any("Is the ferry late" in line for line in self.lines(joss)), "all heard it"


class TestGreetings(Inn):
    """An arrival gets at most one greeting."""

    def arrive(self, *says: str) -> list[str]:
        """Let Tom arrive; return what is said then by a model that answers this."""
        self.pass_time(20)
        self.replies = [*says, "> wait"]
        self.char1.move_to(self.quay, quiet=True)
        heard = self.capture(self.char1)
        self.char1.move_to(self.room1)
        self.pass_time(6)
        return [line for line in heard if "says" in line]

    def test_one_of_several_agents_greets(self):
        bram = self.add_agent("Bram")
        bram.home = self.quay
        bram.db.talkativeness = 1.0
        assert self.arrive("> say Come in!", "> say Come in, Tom!") == [
            'Mira says to you, "Come in!"'
        ], "she is at home here"

    def test_the_prompt_of_a_greeting_says_who_has_come(self):
        self.arrive("> say Come in!")
        assert "[You turn to Tom now, who has come.]" in self.prompts()[0]
        before = len(self.prompts())
        self.ask("Is there soup?", "There is.")
        assert "who has come" not in self.prompts()[before]

    def test_nobody_is_greeted_again_soon_and_departures_cause_no_thoughts(self):
        self.char1.move_to(self.quay)
        self.pass_time(20)
        assert self.calls() == 0
        assert len(self.arrive("> say Come in!")) == 1
        assert self.arrive("> say Come in again!") == []

    def test_who_was_greeted_before_a_start_comes_back_soon_and_is_not_greeted_again(self):
        assert len(self.arrive("> say Come in!")) == 1
        self.stop_services()
        self.services = self.start_services()
        self.addCleanup(lifecycle.stop, reload=True)
        lifecycle.open_agents(self.services)
        self.settle(lambda: not self.mind.opening)
        assert self.arrive("> say Come in again!") == []
        self.pass_time(700)
        assert len(self.arrive("> say There you are!")) == 1


class TestHosts(Inn):
    """The host of the inn is there, or the room says where she is."""

    def look(self) -> str:
        return str(self.char1.at_look(self.room1))

    def test_she_comes_back_when_a_player_enters_and_the_room_says_how_to_wake_her(self):
        self.mira.db.keeps = True
        self.char1.move_to(self.quay, quiet=True)
        cellar = self.add_room("The Cellar")
        self.add_exits(self.room1, "down", "up", cellar)
        self.mira.move_to(cellar, quiet=True)
        heard = self.capture(self.char1)
        self.replies = ["> say Come in!", "> wait"]
        self.char1.move_to(self.room1)
        assert "who keeps" not in "\n".join(heard), "she is on her way"
        self.pass_time(6)
        assert self.mira.location == self.room1
        assert any("Mira arrives from The Cellar" in line for line in heard)
        assert 'Mira says to you, "Come in!"' in heard
        assert "who keeps" not in self.look()
        self.mira.db.asleep = True
        assert "Mira, who keeps this place, is asleep. To wake Mira: |wwake mira|n" in self.look()
        self.mira.location = self.quay
        assert "Mira, who keeps this place, sleeps at The Quay." in self.look()


class TestAbsence(AgentsWorld):
    def setUp(self) -> None:
        super().setUp()
        self.mira.db.paused = True
        self.tom = self.char1
        self.ada = self.add_player(31, "Ada")
        self.account.permissions.add("Player")
        self.heard = self.capture(self.tom)

    def leave(self) -> None:
        self.account.unpuppet_object(self.session)

    def come_back(self) -> list[str]:
        """Let Tom come back; return the lines that tell what he missed."""
        self.heard.clear()
        self.account.puppet_object(self.session, self.tom)
        self.settle()
        told = [text for text in map(strip_ansi, self.heard) if text.startswith("While you were")]
        return told[0].splitlines()[1:] if told else []

    def test_players_read_who_spoke_about_them_while_they_were_away(self):
        self.ada.execute_cmd("talk mira Tom was kind to me once.")  # Tom is still there
        self.leave()
        self.ada.execute_cmd("talk mira Good evening. Have you seen Tom? I miss him.")
        self.ada.execute_cmd("say Tom owes me six pence.")
        self.ada.execute_cmd("say Tomorrow it rains.")
        lines = self.come_back()
        assert lines == [
            '  Ada spoke of you to Mira at The Inn: "Have you seen Tom?"',
            '  Ada spoke of you at The Inn: "Tom owes me six pence."',
        ]
        self.leave()
        assert self.come_back() == [], "it is told once"

    def test_whispers_poses_and_ignored_players_are_left_out(self):
        eve = self.add_player(32, "Eve")
        self.tom.execute_cmd("ignore eve")
        self.leave()
        self.ada.execute_cmd("whisper mira = Tom has a secret.")
        self.ada.execute_cmd("emote says, Tom is a thief.")
        eve.execute_cmd("say Tom is a fool.")
        eve.execute_cmd("talk mira Is Tom a fool?")
        self.ada.execute_cmd("say Eve says that Tom is a fool.")
        assert self.come_back() == []


class TestSeveralGuests(Inn):
    """Three players who come within seconds get one greeting."""

    def setUp(self) -> None:
        super().setUp()
        self.char1.location = None
        self.char2.location = None
        self.guests = [self.add_player(number, name) for number, name in enumerate(NAMES, 2)]
        for each in self.guests:
            each.location = self.quay
        self.pass_time(20)
        self.replies = ["Good evening, all three of you.", "> wait"]

    def come(self, *guests, apart: float = 1.0) -> None:
        for each in guests:
            each.move_to(self.room1)
            self.pass_time(apart)

    def test_one_prompt_names_them_all(self):
        self.come(*self.guests)
        self.pass_time(30)
        (prompt,) = self.prompts()
        assert "[You turn to Ann now, who has come with Bob, Cy: one greeting" in prompt

    def test_without_a_model_one_stock_line_names_them_all(self):
        page = llm_page(agent="provider=none", summarizer="provider=none")
        (self.services.places.config / "llm.md").write_text(page)
        heard = self.capture(self.guests[0])
        self.come(*self.guests)
        self.pass_time(30)
        (greeting,) = [line for line in heard if "Mira says" in line]
        assert "Ann, Bob, Cy" in greeting

    def test_those_who_have_left_again_are_not_named(self):
        self.come(*self.guests)
        self.guests[1].move_to(self.quay)
        self.pass_time(30)
        (prompt,) = self.prompts()
        assert "who has come with Cy: one greeting" in prompt

    def test_the_others_are_greeted_if_the_first_one_leaves_at_once(self):
        self.come(*self.guests)
        self.guests[0].move_to(self.quay)
        self.pass_time(30)
        (prompt,) = self.prompts()
        assert "[You turn to Bob now, who has come with Cy" in prompt

    def test_nobody_of_them_is_greeted_again(self):
        self.come(*self.guests)
        self.pass_time(30)
        for each in self.guests:
            each.move_to(self.quay)
        self.pass_time(200)
        self.come(*self.guests)
        self.pass_time(30)
        assert self.calls() == 1

    def test_who_speaks_is_answered_and_the_others_need_no_greeting(self):
        self.come(*self.guests, apart=0.5)
        self.guests[2].execute_cmd("talk Mira Soup, please.")
        self.pass_time(30)
        (prompt,) = self.prompts()
        assert prompt.endswith("[Cy waits for your answer.]")

    def test_who_comes_later_gets_a_greeting_of_their_own(self):
        ann, bob, _ = self.guests
        self.come(ann)
        self.pass_time(10)
        ann.move_to(self.quay)
        self.pass_time(10)
        self.come(bob)
        self.pass_time(30)
        assert [prompt.rpartition("[You turn to ")[2].split()[0] for prompt in self.prompts()] == [
            "Ann",
            "Bob",
        ]
