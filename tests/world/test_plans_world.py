"""Plans in a world: a character does later what it said that it would do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from keepsake.agent.sleep.sleeper import FARTHEST
from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.happening import Person
from keepsake.web.mine import plans_for
from tests.world.agents_world import AgentsWorld


class TestPlans(AgentsWorld):
    """Mira, who means to do something, at the inn and at the quay."""

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.add_exits(self.room1, "north", "south", self.quay)
        self.plans = self.mind.books.plans

    def pass_minutes(self, minutes: float) -> None:
        """Let time pass, on the wall clock and on the timers."""
        for _ in range(int(minutes * 4)):
            self.time.time += timedelta(seconds=15)
            self.pass_time(15)

    def promise_to_come(self):
        """Let Mira promise Tom to be at the quay in ten minutes; return the prompt."""
        (prompt,) = self.ask(
            "Meet me at the quay in ten minutes?",
            "I'll be there.\n> plan in 10 minutes, the Quay, Tom: show him the ferry",
        )[:1]
        return prompt

    def test_an_agent_that_promises_to_come_has_a_plan(self):
        assert "plan <when>, <where>, <whom>: <what>" in self.promise_to_come()
        (plan,) = self.plans.current
        assert (plan.where, plan.whom.id) == ("The Quay", identity_of(self.char1))

    def test_an_agent_keeps_an_appointment_and_says_when_it_is_done(self):
        self.promise_to_come()
        self.char1.move_to(self.quay)
        self.replies = ["> walk to the Quay", "There she lies, Tom.\n> done ferry", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(12)
        assert self.mira.location is self.quay
        woken, arrived, *_ = self.prompts()[before:]
        assert "It is time for what you mean to do: 1. " in woken
        assert "its time has come" in woken
        assert "You arrive: The Quay." in arrived
        (done,) = self.plans.items
        assert done.state is PlanState.DONE
        assert "~say There she lies, Tom." in self.lines()
        records = [
            line for line in self.mind.memory.memory.archive.backwards() if line["type"] == "plan"
        ]
        assert [line["change"] for line in records][::-1] == ["made", "doing", "done"]

    def test_a_promise_that_was_made_with_a_plan_is_kept_with_it(self):
        self.ask(
            "Meet me at the quay in ten minutes? And bring soup one day.",
            "I'll be there.\n> promise Tom: be at the Quay in ten minutes\n"
            "> plan in 10 minutes, the Quay, Tom: show him the ferry",
        )
        (promise,) = self.mind.books.commitments.items
        self.char1.move_to(self.quay)
        there = f"There she lies.\n> done ferry\n> kept {promise.number}"
        self.replies = ["> walk to the Quay", there, "> wait"]
        before = len(self.prompts())
        self.pass_minutes(12)
        for prompt in self.prompts()[before : before + 2]:
            assert f"also write > kept {promise.number})" in prompt
        assert self.mind.books.commitments.items == ()

    def test_a_plan_waits_for_somebody_to_come(self):
        self.char1.move_to(self.quay)
        now = self.services.clock.now()
        tom = Person("Tom", identity_of(self.char1))
        self.plans.add(read_plan("when Tom comes: give him the letter", now, people=[tom]))
        self.replies = ["Tom, your letter.", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(2)
        assert len(self.prompts()) == before
        self.char1.move_to(self.room1)
        self.pass_minutes(1)
        assert any("Tom is here" in prompt for prompt in self.prompts()[before:])

    def test_a_missed_plan_is_in_the_next_prompt(self):
        self.plans.add(read_plan("in 5 minutes: bake", self.services.clock.now()))
        self.mira.db.paused = True
        self.pass_minutes(25)
        self.mira.attributes.remove("paused")
        (missed,) = self.plans.items
        assert missed.state is PlanState.MISSED
        (prompt, *_) = self.ask("Good evening, Mira.", "Good evening.")
        assert "You meant to, and did not: 1. " in prompt
        (prompt, *_) = self.ask("Is it done?", "> done 1\nIt is baked at last.")
        assert self.plans.items[0].state is PlanState.DONE
        (prompt, *_) = self.ask("Good.", "It is.")
        assert "You meant to, and did not" not in prompt

    def test_a_whispered_plan_is_for_the_whisperer_alone(self):
        ada = self.add_player(2, "Ada")
        self.replies = ["I will.\n> plan in 10 minutes, the Quay, Tom: dig up the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig up the chest with me at the quay.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {identity_of(self.char1)}
        assert "chest" not in "".join(
            self.ask("What will you do today?", "This and that.", who=ada)
        )
        self.replies = ["To the quay.", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(11)
        assert any("dig up the chest" in prompt for prompt in self.prompts()[before:])
        assert "To the quay." not in "\n".join(self.lines(self.add_agent("Bram")))

    def has_a_whispered_plan(self) -> None:
        """Let Tom whisper, and Mira plan something for it that is due when he has gone."""
        self.replies = ["I will.\n> plan in 10 minutes: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.private == {identity_of(self.char1)}
        for each in (self.char1, self.char2):
            each.move_to(self.quay)

    def test_somebody_who_comes_in_while_a_whispered_plan_is_thought_of_is_shown_nothing(self):
        self.has_a_whispered_plan()
        gate = self.hold_answers()
        before = len(self.prompts())
        while len(self.prompts()) == before:
            self.time.time += timedelta(seconds=15)
            self.clock.advance(15)
            self.settle(lambda: self.is_thinking() or not self._at_work())
        assert "fetch the chest" in self.prompts()[-1]
        self.replies = [
            "*points at the chest*\nThe chest is here.\n> emote lifts the chest",
            "> wait",
        ]
        ada = self.add_player(2, "Ada")
        bram = self.add_agent("Bram")
        heard = self.capture(ada)
        gate.set()
        self.pass_time(5)
        assert not any("chest" in line for line in [*heard, *self.lines(bram)])
        public = [m.text for m in self.mind.memory.context().window if m.confidants is None]
        assert not any("chest" in text for text in public)

    def test_a_whispered_plan_that_was_begun_is_not_named_to_others(self):
        self.has_a_whispered_plan()
        self.replies = ["> wait"]
        self.pass_minutes(11)
        (plan,) = self.plans.current
        assert plan.is_begun
        ada = self.add_player(2, "Ada")
        prompts = self.ask("What will you do?", "> done the washing\n> cancel 1: no", who=ada)
        prompts += self.ask("And then?", "Nothing.", who=ada)
        assert not any("chest" in prompt for prompt in prompts)
        assert self.plans.current == (plan,)

    def test_a_whispered_plan_that_is_due_before_others_shows_and_tells_them_nothing(self):
        self.replies = ["I will.\n> plan in 10 minutes, Tom: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        self.char1.move_to(self.quay)
        ada = self.add_player(2, "Ada")
        heard = self.capture(ada)
        before = len(self.prompts())
        self.replies = ["The chest!\n*points at the willow*", "> wait"]
        self.pass_minutes(12)
        (prompt, *_) = [each for each in self.prompts()[before:] if "It is time for" in each]
        assert "under the willow" not in prompt
        assert "say nothing of it" in prompt
        assert not any("chest" in line or "willow" in line for line in heard)

    def test_a_whispered_plan_that_is_done_before_others_is_told_to_nobody_else(self):
        self.replies = ["I will.\n> plan in 10 minutes, Tom: fetch the chest", "> wait"]
        self.char1.execute_cmd("whisper Mira = Fetch the chest under the willow in ten minutes.")
        self.pass_time(5)
        self.char1.move_to(self.quay)
        ada = self.add_player(2, "Ada")
        self.replies = ["> done 1", "> wait"]
        self.pass_minutes(12)
        assert not self.plans.current
        before = len(self.prompts())
        self.replies = ["Nothing.", "> wait"]
        for line in ("Good morning.", "What have you done?"):
            ada.execute_cmd(f"talk Mira {line}")
            self.pass_time(6)
        asked = self.prompts()[before:]
        assert asked
        assert not any("chest" in prompt or "willow" in prompt for prompt in asked)

    def test_a_gesture_that_others_would_see_keeps_no_plan_open(self):
        self.add_player(2, "Ada")
        self.plans.add(Plan(what="mend the net"))
        self.replies = ["It is whole again.\n*nods*\n> done net", "> wait"]
        self.char1.execute_cmd("whisper Mira = Is the net whole?")
        self.pass_time(8)
        assert not self.plans.current

    def whisper_before(self) -> None:
        """Let Tom whisper something, alone with Mira."""
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        self.replies = ["I keep it to myself.", "> wait"]
        self.char1.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(5)

    def bram_and_ada_at_the_quay(self) -> list[str]:
        """Put Bram and Ada at the Quay; return what Ada is shown from now on."""
        self.bram = self.add_agent("Bram")
        self.bram.move_to(self.quay)
        self.bram.db.paused = True
        ada = self.add_player(2, "Ada")
        ada.move_to(self.quay)
        return self.capture(ada)

    def errand_after_a_whisper(self, *answers: str) -> list[str]:
        """Let Tom ask aloud for an errand after a whisper; return the prompts after the first."""
        before = len(self.prompts())
        self.replies = [*answers, "> wait"]
        self.char1.execute_cmd("talk Mira Ask Bram at the quay for honey, please.")
        self.pass_minutes(1)
        first, *others = self.prompts()[before:]
        assert "forged" in first, "the two are alone"
        return others

    def test_an_errand_given_aloud_after_a_whisper_takes_one_call_for_its_step(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        to_quay, *after = self.errand_after_a_whisper(
            "I will, as your brother the forger likes it.\n"
            "> plan now, the Quay, Bram: ask him for honey for the forger\n"
            "> walk to the Quay\n> talk Bram = Honey for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> wait for Bram",
        )
        assert 'Mira says to Bram, "Some honey, Bram?"' in heard
        asked = "what was asked for: Tom says to you, 'Ask Bram at the quay for honey, please.'"
        assert f"[You mean to: 1. at The Quay, with Bram: {asked}]" in to_quay
        due = f"1. at The Quay, with Bram: {asked} (begun)"
        assert f"It is time for what you mean to do: {due}" in to_quay
        assert not after
        (plan,) = self.plans.current
        assert (plan.private, plan.is_begun) == ({identity_of(self.char1)}, True)

    def test_words_to_somebody_else_that_a_whisper_forbids_are_said_from_an_open_prompt(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        others = self.errand_after_a_whisper(
            "I will.\n> walk to the Quay\n> talk Bram = Honey for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> done 1",
        )
        assert 'Mira says to Bram, "Some honey, Bram?"' in heard
        assert len(others) == 1
        assert not self.plans.current

    def test_plain_words_after_a_walk_to_somebody_else_are_said_from_an_open_prompt(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        self.errand_after_a_whisper(
            "I will.\n> walk to Bram\nHoney for the forger, Bram?",
            "> talk Bram = Some honey, Bram?\n> done 1",
        )
        assert [line for line in heard if "says" in line] == [
            'Mira says to Bram, "Some honey, Bram?"'
        ]

    def test_nobody_else_is_shown_what_the_agent_wrote_for_an_errand(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        before = len(self.prompts()) + 1
        self.errand_after_a_whisper(
            "Yes.\n> plan now, the Quay, Bram: ask him for honey for the forger of the seal\n"
            "> promise Tom: honey for the forger\n> walk to the Quay\n"
            "> whisper Bram = Tom's brother is a forger\n> wait for Bram, not the forger",
        )
        ada = next(each for each in self.quay.contents if each.key == "Ada")
        deeds = "> done nonsense\n> kept 99\n> cancel all: no"
        self.ask("What will you do?", deeds, who=ada)
        self.ask("And then?", "Nothing.", who=ada)
        self.pass_minutes(2)
        prompts = self.prompts()[before:]
        assert any("(you wait for Bram)" in each for each in prompts)
        assert len(prompts) > 2
        assert not any("forge" in each.replace("forget", "") for each in (*prompts, *heard))

    def whispered_plan_is_due(self, *answers: str) -> list[str]:
        """Let a plan of Tom's whisper come, that Mira begins so; return her prompts for it.

        ``self.heard`` is what Tom is shown at the Quay.
        """
        self.whisper_before()
        self.replies = ["I will.\n> plan in 2 minutes, the Quay, Tom: come alone", "> wait"]
        self.char1.execute_cmd("whisper Mira = Come to the quay in two minutes, alone.")
        self.pass_time(5)
        self.char1.move_to(self.quay, quiet=True)
        self.char2.move_to(self.room1, quiet=True)
        self.heard = self.capture(self.char1)
        before = len(self.prompts())
        self.replies = [*answers, "> wait"]
        self.pass_minutes(3)
        return self.prompts()[before:]

    def test_after_a_walk_for_a_private_plan_its_words_reach_who_knows_of_it(self):
        prompts = self.whispered_plan_is_due(
            "> walk to the Quay\n*bows*\nHere I am.\n> whisper Tom = As you said.\n"
            "> talk Tom = What is it?\n> wait for Tom"
        )
        assert "Others are here who may not know of this plan" in prompts[0]
        assert len(prompts) == 1
        assert [line for line in self.heard if line.startswith(("*", "Mira "))] == [
            "Mira arrives from The Inn.",
            "* Mira bows",
            'Mira says to you, "Here I am."',
            'Mira whispers to you, "As you said."',
            'Mira says to you, "What is it?"',
        ]

    def test_after_a_walk_for_a_private_plan_others_are_shown_nothing_of_it(self):
        others = self.bram_and_ada_at_the_quay()
        self.whispered_plan_is_due(
            "> walk to the Quay\n*hides the seal*\nI came for the seal.\n"
            "> talk Tom = Your seal.\n> talk Bram = His seal.\n> whisper Ada = His seal.\n> wait"
        )
        assert [line for line in self.heard if "whispers" in line] == [
            'Mira whispers to you, "I came for the seal."',
            'Mira whispers to you, "Your seal."',
        ]
        assert not any("seal" in line for line in others)

    def test_what_a_private_errand_hands_over_is_handed_over_where_its_walk_ends(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        cup = self.add_thing("cup")
        cup.location = self.mira
        before = len(self.prompts())
        self.replies = [
            "> walk to Bram\n*holds it out*\n> talk Bram = From the forger.\n> give cup to Bram",
            "> wait",
        ]
        self.char1.execute_cmd("whisper Mira = Take the cup to Bram, and not a word.")
        self.pass_minutes(1)
        assert "forged" in self.prompts()[before]
        assert cup.location is self.bram
        assert "Mira gives a cup to Bram." in heard
        assert not any("forger" in line or "holds" in line for line in heard)

    def test_a_confider_is_talked_to_by_name_and_nobody_else_hears_it(self):
        self.whisper_before()
        heard = self.capture(self.char1)
        told = "> talk Tom = The forged seal.\n> wait"
        self.ask("What was it?", told)
        ada = self.add_player(2, "Ada")
        others = self.capture(ada)
        self.replies = [told]
        self.char1.execute_cmd("whisper Mira = And what was it again?")
        self.pass_time(8)
        assert [line for line in heard if "seal" in line and line.startswith("Mira")] == [
            'Mira says to you, "The forged seal."',
            'Mira whispers to you, "The forged seal."',
        ]
        assert not any("seal" in line for line in others)

    def test_a_plan_that_words_said_aloud_do_not_explain_is_the_whisperers_alone(self):
        self.whisper_before()
        heard = self.bram_and_ada_at_the_quay()
        told = "> plan now, the Quay, Bram: tell him that the seal is forged"
        prompts = self.ask("You know what to do.", f"Yes.\n{told}\n> talk Bram = It is forged!")
        assert len(prompts) == 1
        (plan,) = self.plans.current
        assert (plan.private, plan.aloud) == ({identity_of(self.char1)}, None)
        before = len(self.prompts())
        self.replies = ["> walk to the Quay\n> talk Bram = It is forged!\nIt is forged!", "> wait"]
        self.pass_minutes(2)
        assert len(self.prompts()) > before
        assert not any("forged" in line for line in heard)

    def test_the_whisperer_alone_is_answered_with_the_whole_plan(self):
        self.whisper_before()
        self.bram_and_ada_at_the_quay()
        self.ask(
            "Ask Bram at noon tomorrow for honey.",
            "> plan tomorrow 12:00, the Quay, Bram: ask him for honey for the forger",
        )
        (prompt,) = self.ask("What do you mean to do?", "This and that.")[:1]
        assert "12:00, at The Quay, with Bram: ask him for honey for the forger" in prompt
        assert "what was asked for" not in prompt

    def test_others_are_shown_what_was_asked_for_aloud_in_the_place_of_a_promise(self):
        self.whisper_before()
        (prompt,) = self.ask(
            "Will you keep me a loaf?", "> promise Tom: keep a loaf for the forger's brother"
        )
        assert "forged" in prompt
        (promise,) = self.mind.books.commitments.items
        ada = self.add_player(2, "Ada")
        shown, *_ = self.ask("Good day.", f"> kept {promise.aloud.number}", who=ada)
        asked = "what was asked for: Tom says to you, 'Will you keep me a loaf?'"
        assert f"You promised Tom: {asked} (memory {promise.aloud.number})" in shown
        assert "forge" not in shown.replace("forget", "")
        assert not self.mind.books.commitments.items

    def test_an_answer_to_a_whisper_is_asked_once(self):
        self.replies = ["> plan in 9 minutes: dig", "> plan in 9 minutes: dig elsewhere", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig with me.")
        self.pass_time(5)
        (plan,) = self.plans.current
        assert plan.what == "dig"

    def test_what_one_hears_after_a_private_result_is_not_private_to_another(self):
        self.replies = ["> plan in 9 minutes: dig", "> wait"]
        self.char1.execute_cmd("whisper Mira = Dig with me.")
        self.pass_time(5)
        ada = self.add_player(2, "Ada")
        self.ask("Bake me a loaf?", "> plan in 9 minutes: bake her a loaf", who=ada)
        assert [each.private for each in self.plans.current if "loaf" in each.what] == [None]

    def test_a_prompt_lists_plans_by_time_and_what_was_done_for_them(self):
        self.ask("Do it.", "> plan Sunday 12:00: row\n> plan whistle")
        errand = "> plan in 3 minutes: ask Bram at the quay for honey; drop the cup here"
        cup = self.add_thing("cup")
        cup.location = self.mira
        self.ask("And this.", errand)
        (prompt,) = self.ask("Well?", "Soon.")[:1]
        assert all(f"[You mean to: {number}. " in prompt for number in (1, 2, 3))
        assert "[Still to do: 3; 1; 2.]" in prompt
        self.replies = ["> drop cup\n> get crown\n*nods*", "> walk to the Quay", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(4)
        woken, second, third, *_ = self.prompts()[before:]
        assert "(you did:" not in woken
        assert "(begun) (you did: > drop cup)" in second
        assert "(you did: > drop cup; > walk to the Quay)" in third

    def walk_for_tom(self, *replies):
        """Let Mira have a plan in three minutes, and carry it out so."""
        self.ask("Do it.", "> plan in 3 minutes: fetch the almanac")
        self.replies = [*replies, "> wait"]
        self.pass_minutes(4)

    def test_what_is_written_after_a_walk_is_done_where_it_ends(self):
        crown = self.add_thing("crown")
        crown.location = self.quay
        cup = self.add_thing("cup")
        before = len(self.prompts())
        self.walk_for_tom(
            "> walk to the Quay\n*looks about*\n> get crown\n> say Here it is!", "> done almanac"
        )
        assert cup.location is self.mira.home
        assert crown.location is self.mira
        arrived = next(n for n, line in enumerate(self.lines()) if "You arrive" in line)
        there = "\n".join(self.lines()[arrived:])
        parts = ("looks about", "crown", "Here it is!")
        assert sorted(parts, key=there.index) == [*parts]
        assert len(self.prompts()) - before == 3, "the promise; the walk and what follows; done"

    def test_who_is_spoken_to_on_the_way_answers_and_goes_on_with_the_plan(self):
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: see the mole")
        self.replies = ["> walk to the Mole\n> say The mole at last!", "> wait"]
        for _ in range(300):
            self.time.time += timedelta(seconds=1)
            self.pass_time(1)
            if self.mira.mind.sleeper.walking:
                break
        self.char1.move_to(self.mira.location, quiet=True)
        before = len(self.prompts())
        self.ask("A word, Mira?", "Yes?")
        assert any("Yes?" in line for line in self.lines()), "a walk does not keep a player waiting"
        assert "A word, Mira?" in self.prompts()[before]
        self.replies = ["> walk to the Mole\n> say Here I am.\n> done mole", "> wait"]
        self.pass_minutes(3)
        assert self.mira.location is far
        assert not any("The mole at last!" in line for line in self.lines())
        assert any("Here I am." in line for line in self.lines())

    def test_a_walk_that_is_broken_off_is_known_and_its_plan_goes_on(self):
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: see the mole")
        self.replies = ["> walk to the Mole", "> wait"]
        for _ in range(300):
            self.time.time += timedelta(seconds=1)
            self.pass_time(1)
            if self.mira.mind.sleeper.walking:
                break
        self.char1.move_to(self.mira.location, quiet=True)
        self.ask("A word, Mira?", "Yes?")
        assert any("You did not get there" in line for line in self.lines())
        self.replies = ["> walk to the Mole", "> done mole", "> wait"]
        before = len(self.prompts())
        self.pass_minutes(3)
        assert self.mira.location is far
        told = [prompt for prompt in self.prompts()[before:] if "(you did not get there)" in prompt]
        assert told == self.prompts()[before : before + 1], "its next thought, and no later one"

    def walk_after_tom(self, *replies):
        """Let Mira set out to Tom at the quay; return the mole behind it, and when she is there."""
        far = self.add_room("The Mole")
        self.add_exits(self.quay, "out", "in", far)
        self.ask("Do it.", "> plan in 3 minutes: give Tom his almanac")
        self.char1.move_to(self.quay, quiet=True)
        self.replies = [*replies, "> wait"]
        for _ in range(300):
            self.time.time += timedelta(seconds=1)
            self.pass_time(1)
            if self.mind.sleeper.walking:
                break
        return far

    def test_a_walk_to_somebody_goes_on_after_them_and_ends_where_they_are(self):
        far = self.walk_after_tom("> walk to Tom\n> say Your almanac, Tom.\n> done almanac")
        self.char1.move_to(far, quiet=True)
        self.pass_minutes(1)
        assert self.mira.location is far
        assert "You arrive: The Mole." in self.lines()
        assert "~say Your almanac, Tom." in self.lines()
        assert self.plans.items[0].state is PlanState.DONE

    def test_who_cannot_be_reached_is_told_and_nothing_is_said_to_the_air(self):
        self.walk_after_tom("> walk to Tom\n> say Your almanac, Tom.\n> done almanac")
        self.char1.move_to(self.add_room("The Moon"), quiet=True)
        before = len(self.prompts())
        self.pass_minutes(1)
        assert "You did not reach Tom; you are at The Inn." in self.lines()
        assert not any("Your almanac" in line for line in self.lines())
        assert "(you did not reach Tom)" in self.prompts()[before]
        assert self.plans.items[0].state is PlanState.DOING

    def test_what_could_not_be_done_after_a_missed_walk_begins_no_plan(self):
        bram = self.add_agent("Bram")
        bram.db.paused = True
        bram.move_to(self.quay)
        cup = self.add_thing("cup")
        cup.location = self.mira
        errand = "> walk to Bram\n> plan now: give Bram his cup\n> give cup to Bram"
        self.ask("Take Bram his cup, please.", errand, seconds=2)
        bram.move_to(self.add_room("The Moon"), quiet=True)
        missed = "You did not reach Bram; you are at The Inn."
        for _ in range(100):
            self.pass_time(0.5)
            if missed in self.lines():
                break
        assert missed in self.lines()
        (plan,) = self.plans.current
        assert plan.state is PlanState.OPEN
        before = len(self.prompts())
        self.pass_minutes(1)
        assert "It is time for what you mean to do: 1. " in self.prompts()[before]

    def test_somebody_who_moves_on_and_on_is_given_up(self):
        far = self.walk_after_tom("> walk to Tom", "> wait")
        pier = self.add_room("The Pier")
        self.add_exits(far, "east", "west", pier)
        self.add_exits(pier, "south", "north", self.room1)
        ring = [self.room1, self.quay, far, pier]
        for _ in range(8 * FARTHEST):
            opposite = ring[ring.index(self.mira.location) - 2]
            self.char1.move_to(opposite, quiet=True)
            self.pass_time(0.5)
            if not self.mind.sleeper.walking:
                break
        assert not self.mind.sleeper.walking
        assert any("You did not reach Tom" in line for line in self.lines())

    def test_a_walk_that_cannot_begin_does_not_end_the_plan(self):
        self.ask("Do it.", "> plan in 3 minutes: see the moon")
        self.replies = ["> walk to the Moon", "I know no moon.\n> done moon", "> wait"]
        self.pass_minutes(5)
        assert any("(you did not set off)" in prompt for prompt in self.prompts())
        assert self.plans.items[0].state is PlanState.DONE

    def test_a_walk_to_somebody_who_is_here_says_so(self):
        self.ask("Do it.", "> plan in 3 minutes: greet Tom")
        self.replies = ["> walk to Tom", "Tom!\n> done Tom", "> wait"]
        self.pass_minutes(5)
        assert any("You tried to walk to Tom: Tom is here" in line for line in self.lines())
        assert self.plans.items[0].state is PlanState.DONE

    def test_shortly_before_a_plan_the_ordinary_day_waits(self):
        self.ask("Come at ten past?", "> plan in 10 minutes, Tom: show him the ferry")
        clock = self.mind.plans
        assert not clock.occupies
        self.time.time += timedelta(minutes=6)
        assert clock.occupies
        self.plans.set_state(self.plans.current[0], PlanState.DROPPED, "he left")
        assert not clock.occupies

    def test_who_has_come_early_to_a_plan_stays(self):
        self.ask("Come to the quay?", "> plan in 40 minutes, the Quay, Tom: show him the ferry")
        clock = self.mind.plans
        assert not clock.occupies
        self.mira.move_to(self.quay)
        assert clock.occupies

    def test_players_see_what_is_planned_with_them_and_no_surprise(self):
        tom = Person("Tom", "12-1")
        quay = {"whom": tom, "where": "The Quay"}
        plans = [
            Plan(what="row", **quay),
            Plan(what="dig", whom=tom, where="The Mole", private=frozenset({tom.id})),
            Plan(what="bake him a cake", **quay, private=frozenset({"13-1"})),
            Plan(what="find out what he hides", whom=tom),
            Plan(what="sweep"),
        ]
        met = ("at The Quay, with Tom", "at The Mole, with Tom")
        assert plans_for(plans, {tom.id}) == met
        assert plans_for(plans, {"13-1"}) == ()

    def test_builders_see_plans_and_add_to_them(self):
        shown = self.capture(self.char1)
        self.char1.execute_cmd("@agent/plans Mira = in 10 minutes: sweep the floor")
        self.settle(lambda: any("sweep the floor" in each for each in shown))
        assert self.plans.current

    def test_a_time_that_cannot_be_read_comes_back_as_a_result(self):
        self.ask("Come at swine o'clock?", "> plan : .")
        assert any("Write: plan tomorrow" in line or "say what" in line for line in self.lines())
