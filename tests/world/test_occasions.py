"""What agents begin of their own accord: not without a reason, and with each other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from keepsake.agent.runtime import Runtime
from keepsake.agent.surroundings.identity import identity_of
from keepsake.agent.unprompted.pair_speakers import IN_PRIVATE
from keepsake.books.entries import EntryOrigin
from keepsake.books.plan import Plan
from keepsake.books.plan_lines import read_plan
from keepsake.events.files import events
from keepsake.happening import ME, Deed, Manner, Person, Speech
from tests.world.agents_world import FixedConfig, LoggedWorld, next_of

IDLE = "Nobody has turned to you."
TALK = "Write their talk"


class Beginning(LoggedWorld):
    """Mira at the inn, on a day whose hour does not change."""

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.mind.thinker.schedule()

    def start_services(self) -> Runtime:
        """Start the services with idle thoughts that come soon, also without a player."""
        new = super().start_services()
        idle = replace(new.thinking.current, idle_interval=60.0, idle_away_factor=1.0)
        new.thinking = FixedConfig(idle)
        return new

    def idle_prompts(self) -> list[str]:
        return [each for each in self.prompts() if IDLE in each]

    def pass_idle(self) -> None:
        """Let so much time pass that more than one idle thought is due."""
        self.pass_time(400)


class TestOccasions(Beginning):
    def test_an_idle_thought_needs_a_reason_and_each_is_used_once(self):
        self.pass_idle()
        first, *more = self.idle_prompts()
        assert "You have not spoken with Tom today." in first
        assert "It is afternoon now." in first
        assert more == []

    def test_an_open_plan_is_a_reason(self):
        self.pass_idle()
        before = len(self.idle_prompts())
        plan = read_plan("mend the sign", self.services.clock.now())
        self.mind.books.plans.add(plan)
        self.pass_idle()
        (asked,) = self.idle_prompts()[before:]
        assert "You have time for what you mean to do: 1. mend the sign" in asked

    def has_a_whispered_plan(self) -> list[str]:
        """Let Mira mean to do what Tom whispered; return the prompts of her next free time."""
        self.pass_idle()
        before = len(self.prompts())
        private = frozenset({identity_of(self.char1)})
        self.mind.books.plans.add(Plan(what="dig up the chest", private=private))
        self.pass_idle()
        return self.prompts()[before:]

    def test_a_whispered_plan_is_a_reason_alone_with_the_whisperer(self):
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        (asked,) = self.has_a_whispered_plan()
        assert "It is time for what you mean to do: 1. dig up the chest (you have time" in asked

    def test_a_whispered_plan_is_no_reason_before_others(self):
        self.add_player(2, "Ada")
        assert not any("dig up the chest" in each for each in self.has_a_whispered_plan())

    def test_a_plan_that_waits_for_its_time_is_none(self):
        self.pass_idle()
        before = len(self.idle_prompts())
        plan = read_plan("in 5 hours: mend the sign", self.services.clock.now())
        self.mind.books.plans.add(plan)
        self.pass_idle()
        assert self.idle_prompts()[before:] == []

    def test_another_part_of_the_day_is_a_reason(self):
        self.pass_idle()
        before = len(self.idle_prompts())
        self.time.time += timedelta(hours=7)
        self.pass_idle()
        asked = self.idle_prompts()[before:]
        assert len(asked) == 1
        assert "It is evening now." in asked[0]

    def test_the_hour_is_none_for_an_agent_with_a_plan_for_later_today(self):
        self.mind.books.plans.add(read_plan("in 9 hours: mend the sign", self.services.clock.now()))
        self.pass_idle()
        before = len(self.idle_prompts())
        self.time.time += timedelta(hours=7)
        self.pass_idle()
        assert self.idle_prompts()[before:] == []

    def test_the_hour_is_none_for_an_agent_that_has_just_answered(self):
        self.ask("Good day, Mira.", "And to you, Tom.")
        self.pass_idle()
        assert "It is afternoon now." not in "\n".join(self.idle_prompts())

    def test_night_is_none(self):
        self.pass_idle()
        before = len(self.idle_prompts())
        self.time.time += timedelta(hours=11)
        self.pass_idle()
        assert "It is night now." not in "\n".join(self.idle_prompts()[before:])

    def test_a_player_is_told_only_what_matters(self):
        self.say("The ferry sank this morning.")
        self.char1.move_to(self.add_room("The Quay"))
        self.add_player(2, "Ada")
        self.pass_idle()
        assert "Ada may not know" not in "\n".join(self.idle_prompts())

    def test_news_is_for_those_who_did_not_hear_it(self):
        self.say("The ferry sank this morning.", "Did you know?")
        number = self.mind.memory.newest - 1
        self.mind.books.journal.write(
            "The ferry sank.",
            importance=8,
            origin=EntryOrigin.TOLD,
            memories=[number],
            now=self.services.clock.now(),
        )
        self.char1.move_to(self.add_room("The Quay"))
        self.add_player(2, "Ada")
        self.pass_idle()
        asked = "\n".join(self.idle_prompts())
        assert "Ada may not know this yet: " in asked
        assert "The ferry sank" in asked
        assert 'Ada may not know this yet: Tom says, "Did you know?"' not in asked
        assert "Tom may not know" not in asked

    def test_who_is_here_and_has_not_come_since_heard_it(self):
        ada = self.add_player(2, "Ada")
        ada.move_to(self.room1, quiet=True)
        self.pass_time(2)
        self.say("The ferry sank this morning.")
        number = self.mind.memory.newest
        self.mind.books.journal.write(
            "The ferry sank.",
            importance=8,
            origin=EntryOrigin.TOLD,
            memories=[number],
            now=self.services.clock.now(),
        )
        self.pass_idle()
        assert "Ada may not know" not in "\n".join(self.idle_prompts())

    def test_a_whisper_is_no_news(self):
        self.mira.db.paused = True
        self.char1.execute_cmd("whisper Mira = The ferry sank.")
        self.mira.attributes.remove("paused")
        self.char1.move_to(self.add_room("The Quay"))
        self.add_player(2, "Ada")
        self.pass_idle()
        assert "ferry" not in "\n".join(self.idle_prompts())


class PairTalkWorld(Beginning):
    """Mira and Bram, whom a model lets talk with each other."""

    def setUp(self) -> None:
        super().setUp()
        self.bram = self.add_agent("Bram")
        self.talk: list[dict[str, Any]] = []
        self.fake.script = self.answer

    def answer(self, prompt: str) -> str:
        """Return the lines of the talk, or the next reply."""
        if TALK in prompt:
            return json.dumps({"lines": self.talk})
        return next_of(self.replies)

    def logged_talks(self) -> list[dict[str, Any]]:
        assert self.log.flush(60)
        return [each for each in events(self.log.folder) if each["kind"] == "pair_talk"]

    def talks(self) -> list[str]:
        return [each for each in self.prompts() if TALK in each]

    def tell_mira(self, words: str) -> int:
        """Let Tom tell Mira something where Bram does not hear it, and go; return its number."""
        self.bram.move_to(self.add_room("The Orchard"))
        self.say(words)
        number = self.mind.memory.newest
        self.char1.move_to(self.add_room("The Quay"))
        self.bram.move_to(self.room1, quiet=True)
        return number


class TestPairTalk(PairTalkWorld):
    def talk_of_the_ferry(self):
        """Let the two talk of what Tom told Mira; return the number of that memory."""
        number = self.tell_mira("The ferry sank this morning.")
        self.talk = [
            {"by": "Mira", "says": "Tom says the ferry sank.", "memories": [number]},
            {"by": "Bram", "says": "Then I keep my apples.", "plan": "in 3 hours: sell cider"},
            {"by": "Mira", "does": "shrugs."},
        ]
        self.pass_idle()
        return number

    def test_one_call_makes_a_talk_and_is_logged(self):
        number = self.talk_of_the_ferry()
        (asked,) = self.talks()
        assert f"{number}. Tom says, " in asked
        assert not any(each.startswith("You are Mira") for each in self.idle_prompts())
        (logged,) = self.logged_talks()
        assert (logged["agent"], logged["other"]) == ("Mira", "Bram")
        assert (logged["lines"], logged["calls"], logged["problem"]) == (3, 1, "")

    def test_both_remember_a_talk_with_what_it_rests_on(self):
        number = self.talk_of_the_ferry()
        mine = [each for each in self.mind.memory.context().window if each.said]
        his = [each for each in self.bram.mind.memory.context().window if each.heard]
        assert [each.said.words for each in mine] == ["Tom says the ferry sank."]
        assert number in mine[0].rests_on
        (heard,) = [each for each in his if "ferry" in each.words]
        assert heard.happening == mine[0].happening
        assert heard.chain == f"Mira {number}"
        assert [each.what for each in self.bram.mind.books.plans.current] == ["sell cider"]

    def test_two_agents_talk_once_in_a_part_of_the_day_whoever_begins(self):
        number = self.tell_mira("The ferry sank this morning.")
        self.talk = [{"by": "Mira", "says": "Tom says the ferry sank.", "memories": [number]}]
        self.pass_idle()
        self.talk = []
        self.mira.move_to(self.add_room("The Cellar"), quiet=True)
        self.char1.move_to(self.room1, quiet=True)
        self.say("The bridge has burned.")
        self.char1.move_to(self.add_room("The Pier"))
        self.mira.move_to(self.room1, quiet=True)
        self.bram.mind.thinker.schedule()
        self.pass_idle()
        assert len(self.talks()) == 1
        self.time.time += timedelta(hours=7)
        self.pass_idle()
        assert len(self.talks()) > 1

    def test_what_was_told_on_may_be_told_on_again(self):
        number = self.tell_mira("The ferry sank this morning.")
        self.talk = [{"by": "Mira", "says": "Tom says the ferry sank.", "memories": [number]}]
        self.pass_idle()
        self.talk = []
        self.mira.move_to(self.add_room("The Cellar"), quiet=True)
        wren = self.add_agent("Wren")
        wren.db.paused = True
        self.time.time += timedelta(hours=1)
        self.pass_idle()
        assert "Wren may not know this yet: Mira says to you, " in "\n".join(self.idle_prompts())

    def news_for_wren(self, *said: tuple[str, str]) -> list[str]:
        """Let Tom say lines beside Mira while Bram is there; return what Wren may not know then."""
        self.mira.db.paused = True
        self.bram.db.paused = True
        for whom, words in said:
            self.char1.execute_cmd(f"talk {whom} {words}" if whom else f"say {words}")
        self.char1.move_to(self.add_room("The Quay"))
        self.bram.move_to(self.add_room("The Orchard"), quiet=True)
        wren = self.add_agent("Wren")
        wren.db.paused = True
        self.mira.attributes.remove("paused")
        self.pass_idle()
        prompts = "\n".join(self.idle_prompts())
        return [each.split('"')[0] for each in prompts.split("Wren may not know this yet: ")[1:]]

    def test_what_others_said_to_each_other_is_no_news(self):
        assert self.news_for_wren(("Bram", "The cheese was kind, Bram."), ("", "Thank you!")) == []

    def test_what_is_about_the_hearer_and_what_was_planned_comes_first(self):
        number = self.tell_mira("There is cider tonight, for all.")
        self.mind.memory.remember(
            Deed(actor=ME, verb="promise", shown="promise Tom: come"), rests_on=(number,)
        )
        self.char1.move_to(self.room1, quiet=True)
        said = (("Mira", "The tide is late."), ("Bram", "Wren has your red glass."))
        heard = self.news_for_wren(*said)
        assert heard == ["Tom says to Bram, ", "Tom says, ", "Tom says to you, "]

    def test_what_was_said_to_the_hearer_is_no_news_though_its_window_has_lost_it(self):
        self.bram.move_to(self.add_room("The Orchard"), quiet=True)
        wren = self.add_agent("Wren")
        wren.db.paused = True
        tom, to = (Person(each.key, identity_of(each)) for each in (self.char1, wren))
        for words in ("That was a kind deed with the ferry.", "Thank you for it."):
            line = f'Tom says to Wren, "{words}"'
            self.mind.memory.remember(Speech(speaker=tom, words=words, to=(to,), shown=line))
        self.char1.move_to(self.add_room("The Quay"))
        self.pass_idle()
        assert "You have not spoken with Wren today." in "\n".join(self.idle_prompts())
        assert "Wren may not know" not in "\n".join(self.idle_prompts())

    def test_a_player_who_comes_in_interrupts_it(self):
        number = self.tell_mira("The ferry sank this morning.")
        self.talk = [
            {"by": "Mira", "says": "Tom says the ferry sank.", "memories": [number]},
            {"by": "Bram", "says": "Then I keep my apples."},
        ]
        for _ in range(400):
            if any("ferry sank." in each for each in self.lines(self.bram)):
                break
            self.pass_time(1)
        self.char1.move_to(self.room1)
        self.pass_time(20)
        assert not any("apples" in each for each in self.lines())
        assert self.mind.thinker.unprompted.talks_to == ""
        assert self.bram.mind.thinker.unprompted.talks_to == ""

    def test_nobody_is_asked_what_was_whispered(self):
        self.bram.move_to(self.add_room("The Orchard"))
        self.mira.db.paused = True
        self.char1.execute_cmd("whisper Mira = The ferry sank.")
        self.mira.attributes.remove("paused")
        self.bram.move_to(self.room1, quiet=True)
        self.pass_idle()
        assert self.talks()
        assert "ferry" not in "\n".join(self.talks())

    def test_that_the_two_spoke_in_private_is_said_and_not_of_what(self):
        self.tell_mira("The ferry sank this morning.")
        bram = Person("Bram", identity_of(self.bram))
        for words, manner in (("Was it you?", Manner.SAY), ("It was me.", Manner.WHISPER)):
            speaker = ME if manner is Manner.SAY else bram
            said = Speech(
                speaker=speaker, words=words, to=(bram if speaker == ME else ME,), manner=manner
            )
            self.mind.memory.remember(said)
        self.pass_idle()
        (asked,) = self.talks()
        assert f"Mira: Was it you?\n{IN_PRIVATE}\n" in asked
        assert "It was me" not in asked

    def test_a_line_that_rests_on_a_memory_of_somebody_else_is_asked_again(self):
        self.talk = [{"by": "Bram", "says": "I heard it.", "memories": [999]}]
        self.pass_idle()
        _, second, *_ = self.talks()
        assert "Bram has no memory 999 in the list" in second
        (logged,) = self.logged_talks()
        assert (logged["lines"], logged["calls"]) == (0, 2)
        assert "Bram has no memory 999" in logged["problem"]
        assert not any("I heard it" in each for each in self.lines())
        assert identity_of(self.bram) not in self.mind.thinker.unprompted.talks_to
