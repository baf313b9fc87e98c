"""Characters: whatever perceives and acts, played by a person or an agent."""

from evennia.objects.objects import DefaultCharacter

from typeclasses.objects import ObjectParent


class Character(ObjectParent, DefaultCharacter):
    """Somebody in the world; people play one of these."""
