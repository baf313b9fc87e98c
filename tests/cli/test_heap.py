"""What survives a full garbage collection is frozen, and swept once much more is."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from game.server.heap import FREEZE_SECONDS, OPENING_SECONDS, FrozenHeap


class Node:
    """Holds itself, so that only a collection finds it."""

    def __init__(self) -> None:
        self.me = self


class Moment:
    """A clock that is set, and a heap that was just swept."""

    def __init__(self, *, is_open: bool = True) -> None:
        self.now, self.is_open = 0.0, is_open
        self.heap = FrozenHeap(lambda: self.now, lambda: self.is_open)
        self.heap.look()

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        self.heap.look()


@pytest.fixture
def moment() -> Iterator[Moment]:
    yield Moment()
    gc.freeze()  # as tests find it


@pytest.mark.parametrize("is_open", [True, False])
def test_nothing_is_frozen_before_the_world_is_open(is_open):
    moment = Moment(is_open=False)
    node = Node()
    gone = weakref.ref(node)
    gc.collect()
    moment.is_open = is_open
    moment.pass_by(FREEZE_SECONDS)
    del node
    gc.collect()
    assert (gone() is None) != is_open


@pytest.mark.parametrize("is_open", [True, False])
def test_no_garbage_is_looked_for_until_all_is_open_or_for_two_minutes(is_open):
    moment = Moment(is_open=False)
    moment.heap.hold()
    try:
        moment.pass_by(OPENING_SECONDS / 2)
        assert not gc.isenabled()
        moment.is_open = is_open
        moment.pass_by(OPENING_SECONDS / 4)
        assert gc.isenabled() == is_open
        moment.pass_by(OPENING_SECONDS / 4)
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.freeze()  # as tests find it


def test_what_survived_a_full_collection_is_not_looked_through_again(moment):
    node = Node()
    gone = weakref.ref(node)
    gc.collect()
    moment.pass_by(FREEZE_SECONDS)
    del node
    gc.collect()
    assert gone() is not None
    moment.heap.sweep()
    assert gone() is None


def test_it_is_not_frozen_too_often_nor_before_a_full_collection(moment):
    frozen = gc.get_freeze_count()
    kept = [Node() for _ in range(1000)]
    moment.pass_by(FREEZE_SECONDS)
    assert gc.get_freeze_count() <= frozen
    gc.collect()
    moment.pass_by(FREEZE_SECONDS)
    assert gc.get_freeze_count() >= frozen + len(kept)
    more = [Node() for _ in range(1000)]
    gc.collect()
    moment.pass_by(FREEZE_SECONDS - 1)
    assert gc.get_freeze_count() < frozen + len(kept) + len(more)


def test_much_garbage_that_was_frozen_is_swept(moment):
    node = Node()
    node.held = [[i] for i in range(gc.get_freeze_count())]
    gone = weakref.ref(node)
    gc.collect()
    moment.heap._freeze()  # as it would be had it been little
    del node
    gc.collect()
    assert gone() is not None
    moment.pass_by(FREEZE_SECONDS)
    assert gone() is None
