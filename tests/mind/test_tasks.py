"""Coroutines over call-backs: results that come at once or later, cancelling, and faults."""

import pytest

from keepsake.agent.tasks import Once, Routine


async def added(first, second, seen):
    seen.append(await first)
    seen.append(await second)
    return sum(seen)


def test_it_goes_on_with_each_result_whenever_it_comes():
    first, second, seen, over = Once(), Once(), [], []
    second(2)
    Routine(added(first, second, seen), over.append).run()
    assert seen == []
    first(1)
    first(7)
    assert (seen, over) == ([1, 2], [3])


def test_what_has_come_is_handed_over_at_once():
    came, seen = Once(), []
    came(1)
    came.then(seen.append)
    assert seen == [1]


def test_a_cancelled_one_cleans_up_and_ends_nothing():
    waiting, cleaned, over = Once(), [], []

    async def work():
        try:
            await waiting
        finally:
            cleaned.append(True)

    routine = Routine(work(), over.append)
    routine.run()
    routine.cancel()
    waiting(1)
    assert (cleaned, over) == ([True], [])


@pytest.mark.parametrize("waits", [False, True])
def test_one_that_cancels_itself_ends_where_it_would_wait_or_return(waits):
    seen, over = [], []

    async def work():
        routine.cancel()
        seen.append("goes on")
        if waits:
            await Once()
            seen.append("never")

    routine = Routine(work(), over.append)
    routine.run()
    assert (seen, over) == (["goes on"], [])


def test_a_fault_is_told_and_raised_on():
    waiting, over, failed = Once(), [], []

    async def work():
        await waiting
        raise ValueError("broken")

    Routine(work(), over.append, failed.append).run()
    with pytest.raises(ValueError, match="broken"):
        waiting(1)
    assert over == []
    assert [str(each) for each in failed] == ["broken"]
