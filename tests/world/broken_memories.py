"""Memories that break in a world, by the name ``tests.world.broken_memories:Class``."""

import threading

from keepsake.errors import ModelUnavailable
from keepsake.lab.memories.plain import FullContext


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


class Stumbles(FullContext):
    """Cannot take in one line."""

    made = 0

    def __init__(self, given):
        super().__init__(given)
        Stumbles.made += 1

    def perceive(self, memory):
        super().perceive(memory)
        if "Nice fire." in memory.text:
            raise ModelUnavailable("Nothing rates", "Start what does")


class Keeps(FullContext):
    """Rests until it is let go, and writes down what it knows at its end."""

    gate = threading.Event()
    entered = threading.Event()
    closed = threading.Event()

    def __init__(self, given):
        super().__init__(given)
        self.file = given.folder / "kept.txt"

    def rest(self, *, asleep):
        self.entered.set()
        assert self.gate.wait(60)

    def close(self):
        self.closed.set()
        self.file.write_text("\n".join(self.context(10_000)))
