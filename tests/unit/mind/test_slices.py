"""Agents' work on the reactor thread is done in slices, so that players are served meanwhile."""

import time
from types import SimpleNamespace

from keepsake.agent.slices import SLICE_SECONDS, Slices


def test_work_runs_in_order_one_slice_per_turn_despite_errors() -> None:
    due = []
    done = []
    reactor = SimpleNamespace(callFromThread=due.append, callLater=lambda _, f: due.append(f))
    slices = Slices(reactor)
    for number in range(3):
        slices(lambda: 1 / 0)
        slices(lambda number=number: (time.sleep(SLICE_SECONDS), done.append(number)))
    while due:
        before = len(done)
        due.pop(0)()
        assert len(done) <= before + 1  # the rest waits for the reactor's next turn
    assert done == [0, 1, 2]
    slices(lambda: done.append(3))
    due.pop()()
    assert done[-1] == 3
