"""What somebody gives an agent, and what they only play: from the command to the page."""

from __future__ import annotations

from evennia.utils import create

from keepsake.agent.surroundings import identity_of
from keepsake.archive.log import Archive
from keepsake.archive.records import POSE
from keepsake.language.heard import GIVE
from tests.game.test_people_world import PeopleWorld
from typeclasses.objects import Object


class TestDeeds(PeopleWorld):
    """Tom gives a cup away, or says that he does."""

    def setUp(self):
        super().setUp()
        self.mira.db.paused = True
        self.char1.execute_cmd("say Good evening, Mira.")

    def deeds(self):
        return [line.text for line in self.page(self.char1).lines if not line.said]

    def test_a_played_gift_is_none(self):
        self.char1.execute_cmd("emote gives you a blue cup.")
        [pose] = self.mind.memory.context().window[-1:]
        assert (pose.text, pose.event) == ("Tom gives you a blue cup.", POSE)
        assert self.deeds() == []
        assert self.mind.diary.importance_of(pose).score < 6

    def test_a_gift_is_one_also_after_it_was_played(self):
        cup = create.create_object(Object, key="blue cup", location=self.char1)
        self.char1.execute_cmd("emote gives you a blue cup.")
        self.char1.execute_cmd("give blue cup to mira")
        assert cup.location == self.mira
        gift = self.mind.memory.context().window[-1]
        assert (gift.text, gift.event) == ("Tom gives you a blue cup.", GIVE)
        assert self.deeds() == ["gives you a blue cup."]
        assert self.mind.diary.importance_of(gift).score >= 7
        archive: Archive = self.mind.memory.memory.archive
        told = archive.read(gift.number, gift.number)
        assert [(m.event, m.source_id) for m in told] == [(GIVE, identity_of(self.char1))]
