"""Channels."""

from evennia.comms.comms import DefaultChannel


class Channel(DefaultChannel):
    """A line people talk on across the world."""
