"""Ways from one room to another."""

from evennia.objects.objects import DefaultExit

from typeclasses.objects import ObjectParent


class Exit(ObjectParent, DefaultExit):
    """A way out of a room."""
