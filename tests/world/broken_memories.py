"""Memories that break in a world, by the name ``tests.world.broken_memories:Class``."""

import threading

from keepsake.lab.memories.plain import FullContext


class Breaks(FullContext):
    """Finds nothing but faults."""

    def recall(self, question, limit):
        raise ZeroDivisionError("of its own")


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
