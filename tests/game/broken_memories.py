"""Memories that break in a world, by the name ``tests.game.broken_memories:Class``."""

from game.memories.windows import FullContext
from game.mind.errors import ModelUnavailable


class Breaks(FullContext):
    """Finds nothing but faults."""

    def recall(self, question, limit):
        raise ZeroDivisionError("of its own")


class Refuses(FullContext):
    """Cannot be opened."""

    def __init__(self, given):
        raise ModelUnavailable("Nothing embeds", "Start what does")
