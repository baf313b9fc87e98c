"""Scripts."""

from evennia.scripts.scripts import DefaultScript


class Script(DefaultScript):
    """The base class of timers that are stored in the database."""
