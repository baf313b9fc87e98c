"""Channels."""

from evennia.comms.comms import DefaultChannel


class Channel(DefaultChannel):
    """A channel on which players talk across the world."""
