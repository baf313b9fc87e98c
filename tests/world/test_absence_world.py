"""While a player was away: what they read when they come back."""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.agent.surroundings import identity_of
from keepsake.books.commitments import Commitment, CommitmentKind
from tests.world.agents_world import AgentsWorld


class TestAbsence(AgentsWorld):
    def setUp(self) -> None:
        super().setUp()
        self.mira.db.paused = True
        self.tom, self.ada = self.char1, self.guest(31, "Ada")
        self.account.permissions.add("Player")
        self.heard = self.hears(self.tom)

    def leave(self) -> None:
        self.account.unpuppet_object(self.session)

    def come_back(self) -> list[str]:
        """The lines of what they are told."""
        self.heard.clear()
        self.account.puppet_object(self.session, self.tom)
        self.settle()
        told = [text for text in map(strip_ansi, self.heard) if text.startswith("While you were")]
        return told[0].splitlines()[1:] if told else []

    def test_who_asked_after_them_and_spoke_of_them_in_their_words(self):
        self.ada.execute_cmd("talk mira Tom was kind to me once.")  # he is there
        self.tom.execute_cmd("whisper mira = Will you mend my net?")
        number, key = self.mira.mind.memory.newest, identity_of(self.tom)
        promise = Commitment(CommitmentKind.PROMISE, "Tom", "mend the net", number, key=key)
        self.mira.mind.memory.commitments.add(promise)
        self.leave()
        self.ada.execute_cmd("talk mira Good evening. Have you seen Tom? I miss him.")
        self.ada.execute_cmd("say Tom owes me six pence.")
        self.ada.execute_cmd("say Tomorrow it rains.")
        lines = self.come_back()
        assert lines == [
            '  Mira promised you: "mend the net"',
            '  Ada asked Mira after you in The Inn: "Have you seen Tom?"',
            '  Ada spoke of you in The Inn: "Tom owes me six pence."',
        ]
        self.leave()
        assert self.come_back() == lines[:1], "the rest is told once"

    def test_no_whisper_no_pose_and_nobody_they_ignore(self):
        eve = self.guest(32, "Eve")
        self.tom.execute_cmd("ignore eve")
        self.leave()
        self.ada.execute_cmd("whisper mira = Tom has a secret.")
        self.ada.execute_cmd("emote says, Tom is a thief.")
        eve.execute_cmd("say Tom is a fool.")
        eve.execute_cmd("talk mira Is Tom a fool?")
        self.ada.execute_cmd("say Eve says that Tom is a fool.")
        assert self.come_back() == []
