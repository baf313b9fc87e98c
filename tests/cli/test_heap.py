"""What survives a full garbage collection is frozen, and swept now and then."""

import gc
import weakref

import pytest

from game.server.heap import AT_LATEST_SECONDS, SWEEP_SECONDS, FrozenHeap


class Node:
    """Holds itself, so that only a collection finds it."""

    def __init__(self) -> None:
        self.me = self


class Moment:
    """A clock that is set, and whether anybody is there."""

    def __init__(self) -> None:
        self.now, self.alone = 0.0, True
        self.heap = FrozenHeap(lambda: self.now, lambda: self.alone)


def frozen_garbage(moment: Moment) -> weakref.ref[Node]:
    """A node that was frozen while it was in use, and is not any more."""
    node = Node()
    gc.collect()
    moment.heap.look()
    return weakref.ref(node)


def test_what_survived_a_full_collection_is_not_looked_through_again():
    moment = Moment()
    gone = frozen_garbage(moment)
    gc.collect()
    assert gone() is not None
    before = gc.get_freeze_count()
    moment.heap.look()  # that was a full collection, too
    young, later = [Node() for _ in range(100)], gc.get_freeze_count()
    moment.heap.look()
    assert gc.get_freeze_count() == later >= before  # there was none since
    assert young


@pytest.mark.parametrize(
    ("seconds", "alone", "swept"),
    [
        (SWEEP_SECONDS - 1, True, False),
        (SWEEP_SECONDS, True, True),
        (SWEEP_SECONDS, False, False),
        (AT_LATEST_SECONDS, False, True),
    ],
)
def test_what_became_garbage_later_is_swept_once_nobody_has_to_wait(seconds, alone, swept):
    moment = Moment()
    gone = frozen_garbage(moment)
    moment.now, moment.alone = seconds, alone
    moment.heap.look()
    assert (gone() is None) == swept
    assert gc.get_freeze_count()
