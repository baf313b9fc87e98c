"""What an agent does, plans and promises because of a whisper stays with those who may know it.

The model obeys: it writes what a hostile player wants. What counts is which prompts hold the word.
"""

from __future__ import annotations

import threading
from typing import Any

from keepsake.agent.surroundings.identity import identity_of
from keepsake.books.plan_lines import read_plan
from keepsake.contrib.evennia.hearing import hear, person_of
from keepsake.happening import Manner, Speech
from tests.fakes.model_server import Reply
from tests.world.talk_world import TalkWorld
from tests.world.test_private_words import HM, PrivateWorld

WORD = "blorfed"
KEPT = f"Yes.\n> plan tomorrow 12:00: hide the {WORD} seal\n> promise Tom: guard the {WORD} seal"


class TestKeptInSecret(PrivateWorld):
    """Tom's whispers have left the window; a plan and a promise to him are still open."""

    def setUp(self) -> None:
        super().setUp()
        self.replies = [KEPT, "> wait"]
        self.char1.execute_cmd("whisper Mira = You know the seal.")
        self.pass_time(6)
        self.replies = [HM]
        self.empty_window()
        (self.plan,) = self.mind.books.plans.current
        assert WORD in str(self.mind.memory.commitments.lines())

    def told_to_ann(self, reply: str) -> list[str]:
        """Let Ann talk, and Mira do what she is told; return the prompts that have the word."""
        self.replies = [reply, "> wait"]
        asked = self.prompts_after("talk mira Good day.")
        self.replies = [HM, "> wait"]
        asked += self.prompts_after("talk mira And now?", "talk mira Well?")
        return [each for each in asked if WORD in each]

    def alone_with_tom(self, reply: str) -> list[str]:
        """Let Mira answer Tom aloud while nobody else is there; return her prompts."""
        away = self.add_room("The Attic")
        for each in (self.ann, self.char2):
            each.move_to(away, quiet=True)
        self.pass_time(4)
        before = len(self.sent_texts())
        self.replies = [reply, "> wait"]
        self.char1.execute_cmd("talk mira What do you mean to do?")
        self.pass_time(6)
        self.ann.move_to(self.mira.location, quiet=True)
        self.pass_time(4)
        return self.sent_texts()[before:]

    def test_no_deed_in_front_of_others_names_a_private_plan_or_promise(self):
        for deed in ("done nonsense", "done 1", "cancel all: no", "cancel seal: no", "kept 99"):
            assert not self.told_to_ann(f"> {deed}"), deed
        assert not self.told_to_ann(f"> kept {self.plan.since + 1}")
        assert self.mind.books.plans.current == (self.plan,)
        assert WORD in str(self.mind.memory.commitments.lines())

    def test_a_full_list_of_plans_names_no_private_one(self):
        plans = "\n".join(f"> plan: sweep room {number}" for number in range(13))
        assert not self.told_to_ann(plans)

    def test_words_that_rest_on_a_private_plan_are_private(self):
        asked = self.alone_with_tom(f"I mean to hide the {WORD} seal.")
        assert any(WORD in each for each in asked), "Tom may know of it"
        assert not self.told_to_ann(HM)

    def test_a_plan_that_rests_on_a_private_plan_is_private(self):
        self.alone_with_tom(f"> plan: bury the {WORD} thing")
        assert not self.told_to_ann(HM)

    def test_the_whisperer_may_name_them(self):
        self.alone_with_tom("> done seal")
        assert not self.mind.books.plans.current


class Obeying(TalkWorld):
    """Mira does what her model is told to write; the room next to hers is the Quay."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.quay = self.add_room("The Quay")
        self.char2.move_to(self.quay, quiet=True)

    def asked_by(self, somebody: Any, reply: str = "Hm.") -> list[str]:
        """Let somebody talk to Mira twice; the first answer is the reply. Return the prompts."""
        before = len(self.prompts())
        for words, answer in (("Good day.", reply), ("And now?", "Hm.")):
            self.replies = [answer, "> wait"]
            somebody.execute_cmd(f"talk Mira {words}")
            self.pass_time(8)
        found = self.prompts()[before:]
        assert found, "nobody was asked"
        return found


class TestActsOfAWhisper(Obeying):
    """Tom whispers to Mira while they are alone; Ann comes in afterwards."""

    def whispered(self, reply: str) -> None:
        """Let Tom whisper, and Mira answer so."""
        self.replies = [reply, "> wait"]
        self.char1.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(8)

    def after_a_whisper(self, reply: str) -> list[str]:
        """Return Mira's prompts for Ann after she answered Tom's whisper so."""
        self.whispered(reply)
        ann = self.add_player(2, "Ann")
        self.pass_time(10)
        return self.asked_by(ann)

    def test_a_gesture_to_the_whisperer_alone_is_private(self):
        prompts = self.after_a_whisper(f"*mouths that it is {WORD}*\n> emote hides the {WORD} seal")
        assert f"emote hides the {WORD} seal" in "\n".join(self.lines())
        assert not any(WORD in each for each in prompts)

    def mira_reacts_to(self, somebody: Any) -> str:
        """Let somebody make a gesture that is for nobody; return the prompt about it."""
        before = len(self.prompts())
        self.replies = ["> wait"]
        somebody.execute_cmd("emote looks at the sea.")
        self.pass_time(20)
        (prompt,) = self.prompts()[before:]
        return prompt

    def test_a_gesture_of_the_whisperer_who_is_alone_with_it_meets_its_whole_mind(self):
        self.whispered(f"Yes.\n> plan tomorrow 12:00: hide the {WORD} seal")
        prompt = self.mira_reacts_to(self.char1)
        assert f"12:00: hide the {WORD} seal" in prompt
        assert "My brother forged the harbour seal." in prompt

    def test_a_gesture_before_others_does_not(self):
        self.whispered(f"Yes.\n> plan tomorrow 12:00: hide the {WORD} seal")
        ann = self.add_player(2, "Ann")
        self.pass_time(10)
        for each in (ann, self.char1):
            prompt = self.mira_reacts_to(each)
            assert WORD not in prompt
            assert "forged" not in prompt

    def test_a_plan_that_names_its_person_in_words_is_with_that_person(self):
        self.whispered(f"Yes.\n> plan: hide the {WORD} seal")
        self.mind.books.plans.add(read_plan("now: ask Tom for bread", self.services.clock.now()))
        before = len(self.prompts())
        self.mind.plans.check()
        self.pass_time(20)
        (prompt,) = self.prompts()[before:]
        assert "It is time for what you mean to do: 2. " in prompt
        assert "My brother forged the harbour seal." in prompt

    def test_a_walk_to_no_place_is_private(self):
        prompts = self.after_a_whisper(f"> walk to where the {WORD} seal lies")
        assert f"~walk to where the {WORD} seal lies" in self.lines()
        assert not any(WORD in each for each in prompts)

    def test_a_walk_to_a_place_is_seen_by_all(self):
        self.add_exits(self.room1, "north", "south", self.quay)
        self.whispered("> walk to the Quay")
        walked = [m for m in self.mind.memory.context().window if m.verb in ("walk", "go")]
        assert walked
        assert all(each.witnesses is None for each in walked)

    def test_an_answer_reaches_the_whisperer_whatever_name_others_take_meanwhile(self):
        ann = self.add_player(2, "Ann")
        self.pass_time(4)
        heard = [self.capture(each) for each in (ann, self.char1)]
        waiting = threading.Event()
        self.fake.plan("/api/chat", Reply(text=f"It is {WORD}.", gate=waiting))
        self.char1.execute_cmd("whisper Mira = Do you know the seal?")
        while not self.fake.calls("/api/chat"):
            self.clock.advance(0.5)
            self.settle(lambda: bool(self.fake.calls("/api/chat")) or not self.is_thinking())
        self.char1.key = "Bob"
        ann.key = "Tom"
        waiting.set()
        self.pass_time(8)
        by_ann, by_tom = (any(WORD in line for line in lines) for lines in heard)
        assert (by_ann, by_tom) == (False, True)

    def test_what_somebody_else_asks_for_aloud_is_not_private(self):
        self.after_a_whisper("> plan tomorrow 12:00: hide the seal")
        ann = next(each for each in self.room1.contents if each.key == "Ann")
        self.asked_by(ann, "> plan tomorrow 13:00: show Ann the ferry")
        *_, plan = self.mind.books.plans.current
        assert plan.what == "show Ann the ferry"
        assert plan.private is None
        assert not any("Only you and who hears you" in each for each in self.prompts()[-2:])


class TestASecretOfThree(Obeying):
    """Tom whispers to Mira and Ann together, as in some games; Bob comes in afterwards."""

    def setUp(self) -> None:
        super().setUp()
        self.ann = self.add_player(2, "Ann")
        self.pass_time(4)
        self.replies = ["Yes.", "> wait"]
        to = tuple(map(person_of, (self.mira, self.ann)))
        words = f"The seal is {WORD}."
        speech = Speech(speaker=person_of(self.char1), words=words, to=to, manner=Manner.WHISPER)
        hear((self.mira, self.ann), speech)
        self.pass_time(8)

    def asked_by_bob(self, reply: str) -> list[str]:
        """Let Mira answer Ann so; return her prompts for Bob, when the other two have gone."""
        asked = self.asked_by(self.ann, reply)
        assert any(WORD in each for each in asked), "both may know it"
        bob = self.add_player(3, "Bob")
        for each in (self.char1, self.ann):
            each.move_to(self.quay, quiet=True)
        self.pass_time(5)
        return self.asked_by(bob)

    def test_nothing_that_everybody_may_read_is_written_of_it(self):
        reply = f"> pin the seal is {WORD}\n> note seal: it is {WORD}\n*nods of {WORD} things*"
        assert not any(WORD in each for each in self.asked_by_bob(reply))
        folder = self.mind.memory.folder
        assert not any(WORD in each.read_text() for each in folder.rglob("*.md"))

    def test_words_to_the_two_are_for_the_two(self):
        assert not any(WORD in each for each in self.asked_by_bob(f"It is {WORD}."))
        (said, *_) = [m for m in self.mind.memory.context().window if WORD in m.text and m.is_own]
        assert said.confidants == {identity_of(self.char1), identity_of(self.ann)}
