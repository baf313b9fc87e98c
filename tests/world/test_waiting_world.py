"""Whose words a turn answers: those that wait for the agent, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import MemoryFacts
from keepsake.happening import ME, Person, Sight, Speech
from tests.world.agents_world import AgentsWorld

ASIDE = "This was not said to you"


class TestWaiting(AgentsWorld):
    """Mira and Oswin at the inn, with Tom."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9, pause_notice=0)
        self.oswin = self.add_agent("Oswin")
        self.oswin.db.paused = True
        self.pass_time(10)

    def hears(self, speaker: Any, words: str, event: str = "") -> int:
        """Let Mira remember words to her that are no reason to think; return their number."""
        who = Person(str(speaker.key), identity_of(speaker))
        shown = f'{who.name} says to you, "{words}"'
        speech = Speech(speaker=who, words=words, to=(ME,), shown=shown)
        return self.mind.memory.remember(speech, **MemoryFacts(place="The Inn", event=event))

    def test_an_open_question_after_a_whisper_is_answered_openly(self):
        heard = self.capture(self.char2)
        self.char2.location = self.room1
        self.replies = ["On the quay, then.", "> wait"]
        before = len(self.prompts())
        self.char1.execute_cmd("whisper Mira = Not a word about Gerrit.")
        self.clock.advance(0.1)
        self.char1.execute_cmd("talk Mira Will you meet me on the quay?")
        self.pass_time(6)
        (prompt, *_) = self.prompts()[before:]
        assert 'Will you meet me on the quay?"\n' in prompt
        assert prompt.endswith("[Tom waits for your answer.]")
        assert any("On the quay, then." in line for line in heard)

    def test_who_calls_the_agent_from_another_room_is_said_to_do_so(self):
        quay = self.add_room("The Quay")
        self.add_exits(self.room1, "south", "north", quay)
        self.char1.move_to(quay, quiet=True)
        self.pass_time(10)
        self.replies = ["> walk to Tom\nYou called?", "> wait"]
        before = len(self.prompts())
        self.char1.execute_cmd("shout Mira! Come and look at this eel!")
        self.pass_time(20)
        (prompt, *_) = self.prompts()[before:]
        assert "[Tom calls you from another place" in prompt
        assert ASIDE not in prompt
        assert self.mira.location == quay

    def test_an_open_question_while_a_whisper_is_about_to_be_asked_is_answered_openly(self):
        heard = self.capture(self.char2)
        self.char2.location = self.room1
        self.while_it_recalls(
            lambda: self.char1.execute_cmd("talk Mira Will you meet me on the quay?")
        )
        self.replies = ["On the quay, then.", "> wait"]
        before = len(self.prompts())
        self.char1.execute_cmd("whisper Mira = Not a word about Gerrit.")
        self.pass_time(8)
        (prompt, *_) = self.prompts()[before:]
        assert 'Will you meet me on the quay?"\n' in prompt
        assert prompt.endswith("[Tom waits for your answer.]")
        assert "Gerrit" not in prompt
        assert any("On the quay, then." in line for line in heard)

    def test_a_question_from_which_the_agent_has_gone_away_waits_no_longer(self):
        number = self.hears(self.oswin, "Was it the tide that held you?")
        for place in ("The Quay", "The Inn"):
            self.mind.memory.remember(Sight(shown="A gull cries."), place=place)
        before = len(self.prompts())
        who = identity_of(self.oswin)
        self.mind.thinker.notice(Impulse(ImpulseKind.ADDRESSED, False, "Oswin", number, who))
        self.pass_time(12)
        assert self.prompts()[before:] == []

    def while_it_recalls(self, happen: Callable[[], object]) -> None:
        """Let something happen once, when Mira's next turn has begun and is to be asked."""
        recall = self.mind.tools.recaller.recall
        waiting = [happen]

        def slow(*args: object, **options: object) -> object:
            while waiting:
                waiting.pop()()
            return recall(*args, **options)

        self.mind.tools.recaller.recall = slow

    def test_words_to_the_agent_are_never_an_aside(self):
        """Words that were no reason to think, since agents talk too much, are answered so."""
        self.hears(self.oswin, "When does the first ferry go?")
        before = len(self.prompts())
        who = identity_of(self.oswin)
        self.mind.thinker.notice(Impulse(ImpulseKind.HEARD, False, "Oswin", 0, who))
        self.replies = ["Half past six.", "> wait"]
        self.pass_time(12)
        (prompt, *_) = self.prompts()[before:]
        assert prompt.endswith("[Oswin waits for your answer.]")
        assert ASIDE not in prompt
        said = [each for each in self.mind.memory.context().window if each.said is not None]
        assert said[-1].to_id == who

    def test_words_to_the_agent_that_come_while_it_looks_up_what_it_knows_are_no_aside(self):
        before = len(self.prompts())
        # What is overheard recalls nothing.
        self.mind.thinker.notice(Impulse(ImpulseKind.IDLE, False, ""))
        self.while_it_recalls(lambda: self.hears(self.oswin, "When does the first ferry go?"))
        self.replies = ["Half past six.", "> wait"]
        self.pass_time(12)
        (prompt, *_) = self.prompts()[before:]
        assert prompt.endswith("[Oswin waits for your answer.]")
        assert ASIDE not in prompt

    def test_a_scene_by_rule_asks_nothing(self):
        number = self.hears(self.oswin, "Soup, Mira?", event=MessageType.SCENE)
        before = len(self.prompts())
        who = identity_of(self.oswin)
        self.mind.thinker.notice(Impulse(ImpulseKind.HEARD, False, "Oswin", number, who))
        self.pass_time(12)
        (prompt,) = self.prompts()[before:]
        assert "waits for your answer" not in prompt

    def test_an_agent_that_keeps_silent_is_not_asked_again_for_what_others_do(self):
        self.hears(self.oswin, "When does the first ferry go?")
        who = identity_of(self.oswin)
        before = len(self.prompts())
        for _ in range(2):
            self.mind.memory.remember(
                Speech(speaker=Person("Oswin", who), words="Hm.", shown='Oswin says, "Hm."'),
                place="The Inn",
            )
            self.mind.thinker.notice(Impulse(ImpulseKind.HEARD, False, "Oswin", 0, who))
            self.pass_time(12)
        first, second = self.prompts()[before:]
        assert "waits for your answer" in first
        assert "waits for your answer" not in second
        assert ASIDE in second
        assert "You have not answered" not in second
