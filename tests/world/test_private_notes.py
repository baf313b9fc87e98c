"""A fact that an agent keeps of a talk in private is found again by those alone who may know it."""

from __future__ import annotations

from typing import Any

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.surroundings.identity import identity_of
from keepsake.archive.transcript import about_memory
from tests.world.plans_world import PlansWorld


class TestPrivateNotes(PlansWorld):
    """Tom tells Mira something while they are alone; she keeps it."""

    def setUp(self) -> None:
        super().setUp()
        self.whisper_before()
        self.ask(
            "I was born on the nineteenth of May.",
            "I shall bake.\n> remember On the nineteenth of May Tom wants plum cake",
        )

    def test_it_is_kept_and_no_note_has_it(self):
        assert not any("You tried to remember" in line for line in self.lines())
        assert self.mind.books.notes.all() == []
        (act,) = [x for x in self.memory.memory.context().window if x.is_own and "plum" in x.text]
        assert act.confidants == {identity_of(self.char1)}
        assert not about_memory(act), "recall finds it"

    def test_who_told_it_is_answered_from_it_and_nobody_else(self):
        assert "plum cake" in self.asked()[-1]
        ann = self.add_player(2, "Ann")
        self.char1.move_to(self.quay, quiet=True)
        assert not any("plum cake" in each for each in self.asked(ann))

    def asked(self, who: Any = None) -> list[str]:
        """Return the prompts of an answer that looks it up."""
        before = len(self.prompts())
        self.ask("Whose birthday is in May?", "> recall birthday in May", "Wait.", who=who)
        return self.prompts()[before:]

    @property
    def memory(self) -> MemoryComponent:
        return self.mind.memory
