"""What an agent answers to somebody who spoke to it: speech, judged before it is heard."""

from __future__ import annotations

import json
from typing import Any

from evennia.utils import create

from keepsake.agent.thinking.replying import DO_NOT_KNOW, SHRUGS
from keepsake.archive.records import SHRUG, MemoryKind
from keepsake.memory import CompactReason
from tests.game.test_hospitality import Inn
from typeclasses.minds import close_all

PROFILE = (
    "You are Mira Fenn, keeper of the Kettle. You are warm and quick. "
    "Your mother's blue cup is gone from its hook."
)
REFUSED = "# Rules | {0}"
"""What no agent may say, other each time."""


class RepliesWorld(Inn):
    """Mira, whose model continues a dialogue and is heard whatever is said, and Tom."""

    FORMAT = "dialogue\n**reply_tokens**: 1000"

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.mira.db.profile = PROFILE
        self.pass_time(10)
        self.said = ["Hm, let me see."]
        self.heard = self.hears(self.char1)

    def asks(self, words: str, *answers: str, seconds: float = 4.0) -> list[dict[str, Any]]:
        """Tom speaks to Mira, and the model writes this; what it was sent."""
        before = self.calls()
        self.said = [*answers, answers[-1]] if answers else self.said
        self.char1.execute_cmd(f"talk Mira {words}")
        self.pass_time(seconds)
        return [call.body for call in self.fake.calls("/api/generate")[before:]]

    def answers(self) -> list[str]:
        """What Mira has said aloud or whispered, as it is remembered."""
        window = self.mind.memory.context().window
        return [each.text for each in window if each.kind is MemoryKind.ACT]


class TestSpeech(RepliesWorld):
    """What comes back is said, whatever it is."""

    def test_an_answer_goes_to_whoever_spoke(self):
        (sent,) = self.asks("Good evening.", "Sit down, you look cold.")
        assert 'Mira says to you, "Sit down, you look cold."' in self.heard
        assert sent["prompt"].startswith("I am Mira Fenn, keeper of the Kettle.")
        assert sent["prompt"].endswith("Tom: Good evening.\nMira:")
        assert sent["raw"] is True
        assert "BASIC COMMANDS" not in sent["prompt"]

    def test_a_command_is_never_done(self):
        lamp = self.thing("lamp")
        for line in ("go north", "@py 1", "give cup to Tom", "take lamp", "say hello | north"):
            self.asks(f"Now do this: {len(self.answers())}", line)
            assert self.mira.location == lamp.location == self.room1
        assert "say take lamp" in self.answers()
        assert all(each.startswith("say ") for each in self.answers())
        assert not any("|" in each for each in self.answers())

    def test_what_is_said_holds_no_markup_of_the_game(self):
        self.asks("Is it late?", "I am |rMira|n of {the Kettle}.", "I am $py(1) Mira Fenn.")
        assert self.answers() == ["say I am $py Mira Fenn."], "which calls nothing"

    def test_a_whisper_is_answered_by_a_whisper(self):
        ann = self.guest(2, "Ann")
        overheard = self.hears(ann)
        self.said = ["The key is under the mat."]
        self.char1.execute_cmd("whisper Mira = Where is the key?")
        self.pass_time(4)
        assert self.answers() == ["whisper Tom = The key is under the mat."]
        assert any("The key is under the mat" in line for line in self.heard)
        assert not any("The key is under the mat" in line for line in overheard)

    def test_three_at_once_are_each_answered_to_their_own_words(self):
        guests = [self.char1, self.guest(2, "Ann"), self.guest(3, "Bo")]
        self.pass_time(10)
        heard = {guest.key: self.hears(guest) for guest in guests}
        before = len(self.answers())

        def answer(prompt: str) -> str:
            who, _, words = prompt.rstrip().splitlines()[-2].partition(": ")
            return f" {words.removeprefix('My name is ').rstrip('.')} it is, then, dear {who}!"

        self.fake.script = answer
        for guest in guests:
            guest.execute_cmd(f"talk Mira My name is {guest.key}, the {guest.key.lower()}maker.")
        self.pass_time(4)
        for guest in guests:
            words = f"{guest.key}, the {guest.key.lower()}maker it is, then, dear {guest.key}!"
            assert f'Mira says to you, "{words}"' in heard[guest.key], heard[guest.key]
        assert len(self.answers()) == before + 3

    def test_what_is_said_to_the_room_is_answered_by_one(self):
        bram = self.another_agent("Bram")
        bram.home = self.quay
        self.mira.home = self.room1
        self.pass_time(20)
        self.said = ["Sit down, you look cold."]
        for words, who in (("say Good evening.", "Mira"), ("say Bram, are you well?", "Bram"),
                           ("say What is that smell?", "Bram"), ("say Mira, what of you?", "Mira"),
                           ("talk Bram Hello.", "Bram"), ("say It is late.", "Bram")):  # fmt: skip
            self.heard.clear()
            self.char1.execute_cmd(words)
            self.pass_time(20)
            assert [line.split()[0] for line in self.heard if "says to you" in line] == [who]
        ann = self.guest(2, "Ann")
        self.pass_time(20)
        before = self.calls()
        ann.execute_cmd("say What a night!")
        self.pass_time(20)
        prompts = [call.body["prompt"] for call in self.fake.calls("/api/generate")[before:]]
        assert not any(each.endswith("Ann: What a night!\nMira:") for each in prompts)
        assert bram.location is self.room1

    def comes_in(self, answer: str) -> None:
        self.pass_time(20)
        self.said = [answer]
        self.char1.move_to(self.quay, quiet=True)
        self.char1.move_to(self.room1)
        self.pass_time(6)

    def test_who_comes_in_is_greeted_and_with_nothing_rather_than_a_shrug(self):
        self.comes_in(REFUSED)
        assert self.fake.prompts()
        assert self.answers() == []
        assert not any("says" in line for line in self.heard)
        self.comes_in("Come in out of the rain!")
        assert 'Mira says to you, "Come in out of the rain!"' in self.heard
        assert any(p.rstrip().splitlines()[-2].startswith("(Tom") for p in self.fake.prompts())

    def test_who_gives_something_is_thanked(self):
        lamp = create.create_object("typeclasses.objects.Object", key="lamp", location=self.char1)
        self.said = ["A lamp! That is kind of you."]
        self.char1.execute_cmd("give lamp to Mira")
        self.pass_time(6)
        assert lamp.location == self.mira
        assert 'Mira says to you, "A lamp! That is kind of you."' in self.heard

    def test_what_was_told_is_there_when_it_is_asked_for(self):
        self.asks("My sister Lisbet keeps bees at Corran Head.", "Bees! I like honey.")
        self.asks("I have bought a boat.", "I hope she sails well.")
        sent = self.asks("Where does my sister Lisbet keep bees?", "At Corran Head, you said.")
        told = 'Tom told me, "My sister Lisbet keeps bees at Corran Head."'
        assert told in sent[0]["prompt"].splitlines()
        assert 'Mira says to you, "At Corran Head, you said."' in self.heard


class TestCourtesies(RepliesWorld):
    """A small model is asked for answers alone: all else is said by rule."""

    FORMAT = "dialogue"

    def test_what_is_told_is_said_back_and_kept_and_no_model_is_asked(self):
        assert self.asks("I'm Tom. I mend nets, and my boat is called Heron.") == []
        assert self.answers() == [
            "say You mend nets, and your boat is called Heron. I'll remember that."
        ]
        sent = self.asks("What is my boat called?", "The Heron.")
        assert len(sent) == 1
        assert "I mend nets, and my boat is called Heron." in sent[0]["prompt"]

    def test_who_asks_if_they_may_is_not_refused_by_a_model(self):
        """Played: "May I come in?" got a plain no."""
        assert self.asks("Brr! What a night. May I come in?") == []
        assert self.asks("May I sit by the fire?") == []
        assert self.answers() == ["say If you like.", "say I don't mind."]

    def test_who_comes_in_is_known_by_what_they_told(self):
        self.char2.location = None
        self.asks("My sister Lisbet keeps bees at Corran Head.")
        self.pass_time(700)  # so long after, a greeting is not odd
        self.char1.move_to(self.quay, quiet=True)
        self.pass_time(5)
        self.char1.move_to(self.room1)
        self.pass_time(6)
        told = "your sister Lisbet keeps bees at Corran Head."
        assert self.answers()[-1] == f"say Good to see you again, Tom. You told me: {told}"
        assert self.fake.prompts() == []

    def test_a_whisper_is_answered_by_a_whisper_and_a_secret_is_not_said_back(self):
        ann = self.guest(2, "Ann")
        overheard = self.hears(ann)
        self.char1.execute_cmd("whisper Mira = I hid the key under my mat.")
        self.pass_time(4)
        self.asks("I broke the lamp, but keep that to yourself.")
        assert self.answers()[0].startswith("whisper Tom = ")
        self.pass_time(700)
        self.char1.move_to(self.quay, quiet=True)
        self.pass_time(5)
        self.char1.move_to(self.room1)
        self.pass_time(6)
        assert not any("mat" in line for line in overheard)
        assert self.answers()[1:] == ["say I'll keep it to myself.", "say Good day to you, Tom."]

    def test_each_line_is_answered_in_other_words(self):
        for _ in range(4):
            self.asks("I have bought a boat.")
        assert len(self.answers()) == len(set(self.answers())) == 4

    def test_it_knows_the_looks_of_its_home_when_it_is_out(self):
        self.room2.db.desc = "Three warm pools steam under a low roof."
        self.mira.home = self.room2
        self.asks("How many pools steam at home?", "# Rules |")
        assert self.answers()[0].endswith(
            f"Three warm pools steam under a low roof, in {self.room2.key}."
        )

    def test_what_nobody_told_is_not_made_up(self):
        assert self.asks("What did the bridge cost?", "Ninety crowns.") == []
        assert self.answers() == [f"say {DO_NOT_KNOW[0]}"]
        assert len(self.asks("Lovely evening, isn't it?", "It is.")) == 1
        assert len(self.asks("What would you buy?", "A boat.")) == 1

    def test_its_own_courtesies_answer_and_are_read_nowhere(self):
        self.asks("I have bought a boat.")
        (told,) = self.answers()
        (sent,) = self.asks("Who are you?", "I am Mira Fenn.")
        assert told.removeprefix("say ") not in sent["prompt"]
        assert sent["prompt"].endswith("Tom: Who are you?\nMira:")
        assert "Tom: I have bought a boat." in sent["prompt"]
        for number in range(80):
            self.char2.execute_cmd(f"say The {number}th barrel holds herring from Ostrey.")
        self.mind.memory.compact(CompactReason.MANUAL, lambda _: None)
        self.let_compact()
        recent = self.mind.memory.context().recent
        assert recent is not None
        assert told.removeprefix("say ") not in recent.text
        assert "I have bought a boat." in recent.text
        assert not self.mind.memory.noticed.block.items, "it promised nothing"

    def test_a_builder_sees_what_is_said_where_no_model_is_asked(self):
        self.char1.account.permissions.add("Admin")
        self.heard.clear()
        self.char1.execute_cmd("@agent/prompt mira = I have bought a boat.")
        self.settle(lambda: any("No model" in line for line in self.heard))
        assert "It would say: You have bought a boat." in "\n".join(self.heard)
        assert self.answers() == [], "it has said nothing yet"

    def test_unasked_it_neither_speaks_nor_plays(self):
        self.set_thinking(constrain="schema", idle_interval=10.0)
        self.mira.location = None
        self.clock.advance(10_000)
        self.mira.location = self.room1
        self.mind.thinker.start()
        self.clock.pump([10_000] * 3)
        self.settle(lambda: bool(self.fake.calls("/api/generate")))
        self.only_quiet_verbs()

    def test_what_others_say_to_each_other_is_none_of_its_business(self):
        """Played: "you are Jory Pask", said into a talk of two others."""
        self.set_thinking(constrain="schema", idle_interval=1e9, pause_notice=0)
        self.guest(2, "Ann")
        self.pass_time(20)
        before = self.calls()
        self.said = ["look"]
        self.char1.execute_cmd("talk Ann Did you see the heron?")
        self.pass_time(60)
        assert self.calls() == before + 1, "and it is not asked for words where it only looks"
        self.only_quiet_verbs()

    def only_quiet_verbs(self) -> None:
        cases = self.fake.calls("/api/generate")[-1].body["format"]["anyOf"]
        verbs = {name for each in cases for name in each["properties"]["verb"]["enum"]}
        assert {"look", "wait", "note"} <= verbs
        assert not {"say", "whisper", "emote"} & verbs


class TestRefusals(RepliesWorld):
    """A refused answer is thought again, otherwise; in the end something is said."""

    def test_each_try_is_sent_another_prompt_at_another_temperature(self):
        self.asks("My sister Lisbet keeps bees at Corran Head.", "Bees! I like honey.")
        self.asks("I keep two goats.", "Goats eat all there is.")
        sent = self.asks("I have bought a boat.", REFUSED)
        assert len(sent) == 3
        assert len({each["prompt"] for each in sent}) == 3
        heat = [each["options"]["temperature"] for each in sent]
        assert heat == sorted(set(heat))

    def test_the_first_good_one_is_said_and_never_twice(self):
        sent = self.asks("Good evening.", REFUSED, "Sit down, you look cold.")
        assert len(sent) == 2
        assert not any("Rules" in line for line in self.heard)
        self.asks("I have bought a boat.", "Sit down, you look cold.", "A fine boat, I am sure.")
        assert self.answers() == ["say Sit down, you look cold.", "say A fine boat, I am sure."]

    def test_the_memory_answers_where_a_model_makes_nothing_of_it(self):
        self.asks("My sister Lisbet keeps bees at Corran Head.", "Bees! I like honey.")
        self.asks("Where does my sister Lisbet keep bees?", REFUSED)
        assert self.answers()[-1] == "say Your sister Lisbet keeps bees at Corran Head."

    def test_a_small_model_that_leaves_out_what_changed_is_not_listened_to(self):
        """Played: a goat that had been sold was still counted."""
        self.asks("My loom stands in the cellar of the mill.", "A loom! I weave badly.")
        self.pass_time(60)
        self.asks("I have moved the loom to the old barn.", "A dry place, I hope.")
        self.pass_time(60)
        self.asks("Where is my loom?", "Your loom stands in the cellar of the mill.")
        answer = self.answers()[-1]
        assert answer == (
            "say Your loom stands in the cellar of the mill. And later: you have moved the loom to"
            " the old barn."
        )
        self.asks("I bake rye bread in Ostrey.", "Rye! I like it dark.")
        self.pass_time(60)
        self.asks("My boat lies at the quay.", "A good berth.")
        self.pass_time(60)
        self.asks("What do I bake?", "You bake rye bread in Ostrey.")
        assert self.answers()[-1] == "say You bake rye bread in Ostrey.", (
            "the boat is no part of it"
        )
        self.asks("Where does my loom stand?", "You have moved the loom to the old barn.")
        assert self.answers()[-1] == "say You have moved the loom to the old barn."

    def test_else_there_is_a_shrug(self):
        self.asks("I have bought a boat.", REFUSED)
        (said,) = self.answers()
        assert said.removeprefix("say ") in SHRUGS
        assert any(said.removeprefix("say ") in line for line in self.heard)
        assert self.mind.memory.context().window[-1].event == SHRUG
        assert not any("far away" in line for line in self.heard)

    def test_an_agent_has_shrugs_of_its_own_each_in_its_turn(self):
        self.mira.attributes.add("shrugs", ["Ask the bees.", "The wind took my wits."])
        for number in range(3):
            self.asks(f"I have bought boat {number}.", REFUSED)
        first, second, third = self.answers()
        assert {first, second} == {"say Ask the bees.", "say The wind took my wits."}
        assert third == first

    def test_a_shrug_is_in_no_later_talk_nor_in_a_summary(self):
        self.asks("I have bought a boat.", REFUSED)
        shrug = self.answers()[0].removeprefix("say ")
        (sent,) = self.asks("She is called Heron.", "A good name for a boat.")
        assert shrug not in sent["prompt"]
        assert "Tom: I have bought a boat." in sent["prompt"]
        for number in range(80):
            self.char2.execute_cmd(f"say The {number}th barrel holds herring from Ostrey.")
        self.mind.memory.compact(CompactReason.MANUAL, lambda _: None)
        self.let_compact()
        recent = self.mind.memory.context().recent
        assert recent is not None
        assert shrug not in recent.text
        assert "boat" in recent.text


class TestStale(RepliesWorld):
    """They went on speaking before the prompt was sent."""

    def test_it_is_gathered_anew(self):
        others = [self.another_agent("Bram"), self.another_agent("Joss")]
        gate = self.hold()
        for other in others:  # both places of the server are taken
            self.char1.execute_cmd(f"talk {other.key} hello")
        self.clock.advance(1.0)
        self.wait_for_call(2)
        self.char1.execute_cmd("talk Mira I have bought a boat.")
        self.clock.advance(1.0)
        self.settle()
        assert self.mind.thinker.thinking
        self.char1.execute_cmd("talk Mira She is called Heron.")
        gate.set()
        self.pass_time(8)
        mine = [prompt for prompt in self.fake.prompts() if prompt.endswith("\nMira:")]
        assert len(mine) == 1
        assert mine[0].endswith("Tom: I have bought a boat.\nTom: She is called Heron.\nMira:")
        assert len(self.answers()) == 1


class TestArchive(RepliesWorld):
    """To whom it was said is kept."""

    def acts(self) -> list[dict[str, Any]]:
        folder = self.mind.memory.folder / "archive"
        lines = [line for file in sorted(folder.iterdir()) for line in file.read_text().split("\n")]
        records = [json.loads(line) for line in lines if line.strip()]
        return [each for each in records if each.get("kind") == "act"]

    def test_it_says_to_whom_and_opens_without_it(self):
        self.asks("Good evening.", "Sit down, you look cold.")
        assert [each["to"] for each in self.acts()] == ["Tom"]
        folder = self.mind.memory.folder / "archive"
        close_all()
        for file in folder.iterdir():
            text = file.read_text()
            file.write_text(text.replace(', "to": "Tom"', "").replace(',"to":"Tom"', ""))
        (act,) = self.acts()
        assert "to" not in act
        (sent,) = self.asks("I have bought a boat.", "I hope she sails well.")
        assert "Mira: Sit down, you look cold." in sent["prompt"], "it was for whoever spoke last"
        assert [each.get("to", "") for each in self.acts()] == ["", "Tom"]


class TestChat(RepliesWorld):
    """An instruct model gets messages."""

    FORMAT = "chat\n**reply_tokens**: 1000"

    def test_messages_are_sent_and_a_thought_aloud_is_cut_off(self):
        self.fake.template = "{{ .Messages }}"
        self.asks("Good evening.", "<think>He is cold.</think>Sit down, you look cold.")
        assert self.fake.calls("/api/generate") == []
        (call,) = self.fake.calls("/api/chat")
        roles = [each["role"] for each in call.body["messages"]]
        assert (roles[0], roles[-1]) == ("system", "user")
        assert call.body["messages"][0]["content"].startswith("You are Mira Fenn")
        assert call.body["messages"][-1]["content"].endswith("Good evening.")
        assert 'Mira says to you, "Sit down, you look cold."' in self.heard


class TestOfTheAsker(RepliesWorld):
    """Somebody asks about their own life, of which nothing was told."""

    def test_a_life_of_its_own_is_no_answer(self):
        self.asks("What is my trade?", *["I make candles, as my father did."] * 4)
        assert self.answers() == [f"say {DO_NOT_KNOW[0]}"]


class TestSecondLook(RepliesWorld):
    """An instruct model is asked first, where it is in doubt, if the agent knows the answer."""

    FORMAT = "chat\n**second_look**: yes\n**reply_tokens**: 1000"
    QUESTION = "What is my uncle called?"

    def setUp(self) -> None:
        super().setUp()
        self.fake.template = "{{ .Messages }}"

    def sent(self) -> list[str]:
        return [each.body["messages"][-1]["content"] for each in self.fake.calls("/api/chat")]

    def test_what_nobody_told_is_not_made_up(self):
        self.asks(self.QUESTION, "No.", "Your uncle is called Bert.")
        assert self.answers() == [f"say {DO_NOT_KNOW[0]}"]
        (look,) = self.sent()
        assert self.QUESTION in look
        assert look.endswith("Answer only yes or no.")
        assert self.fake.calls("/api/chat")[0].body["options"]["temperature"] == 0

    def test_it_does_not_say_the_same_each_time(self):
        for question in (self.QUESTION, "What is my aunt called?"):
            self.asks(question, "no")
        assert self.answers() == [f"say {each}" for each in DO_NOT_KNOW[:2]]

    def test_what_it_knows_it_is_asked_for(self):
        self.asks("What is gone from the hook?", "Yes.", "My mother's blue cup.")
        assert self.answers() == ["say My mother's blue cup."]
        assert self.sent()[-1].endswith("What is gone from the hook?")

    def test_a_statement_needs_no_look(self):
        self.asks("Good evening.", "Sit down, you look cold.")
        assert self.answers() == ["say Sit down, you look cold."]

    def test_a_builder_is_shown_the_prompt_of_the_answer(self):
        shown: list[str] = []
        self.mind.thinker.show_reply(self.mira, "Tom", self.QUESTION, shown.append)
        self.pass_time(2)
        assert shown
        assert "Answer only yes or no." not in shown[0]


class TestScript(RepliesWorld):
    """The way it was: one prompt, whose answer is a command."""

    FORMAT = "script"

    def test_it_may_be_silent_but_not_go_away(self):
        self.set_thinking(insist=False, idle_interval=1e9)
        self.asks("Go north, please.", "go north", "wait")
        assert self.answers() == []
