"""Things, and what everything in the world has in common."""

from evennia.objects.objects import DefaultObject


class ObjectParent:
    """Mixed into every typeclass that stands somewhere in the world."""


class Object(ObjectParent, DefaultObject):
    """A thing that can be looked at, taken and given."""
