"""Memories that break in a world, by the name ``tests.game.broken_memories:Class``."""

import threading

from game.memories.windows import FullContext
from game.mind.errors import ModelUnavailable


class Breaks(FullContext):
    """Finds nothing but faults."""

    def recall(self, question, limit):
        raise ZeroDivisionError("of its own")


class Slow(FullContext):
    """Rests until it is let go."""

    gate = threading.Event()
    entered = threading.Event()
    closed = threading.Event()

    def rest(self, *, asleep):
        self.entered.set()
        assert self.gate.wait(60)

    def close(self):
        self.closed.set()


class Refuses(FullContext):
    """Cannot be opened."""

    def __init__(self, given):
        raise ModelUnavailable("Nothing embeds", "Start what does")
