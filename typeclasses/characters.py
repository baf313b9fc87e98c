"""Characters: whatever perceives and acts, played by a person or an agent."""

from evennia.objects.objects import DefaultCharacter

from typeclasses.appearance import CharacterAppearance
from typeclasses.objects import ObjectParent


class Character(CharacterAppearance, ObjectParent, DefaultCharacter):
    """Somebody in the world; people play one of these."""

    @property
    def is_agent(self) -> bool:
        """True for agents, False for people."""
        return False
