"""Scripts."""

from evennia.scripts.scripts import DefaultScript


class Script(DefaultScript):
    """The base of what runs on a timer in the database."""
