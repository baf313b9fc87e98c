"""Ends everything that one copy of Keepsake started."""

from __future__ import annotations

import time
from collections.abc import Callable

from game.cli.world import home, launcher, processes
from game.cli.world.processes import Component, Running
from game.mind.errors import KeepsakeError
from game.paths import Places

STOP_SECONDS = 60.0
_ROUNDS = 5
_LOOKS = 4
_LOOK_SECONDS = 0.1


def stop(here: Places, say: Callable[[str], None]) -> bool:
    """End the world.

    Raises:
        KeepsakeError: A process cannot be ended.
    """
    with home.alone(here):
        anything = bool(processes.running(here))
        end_all(here, say)
    return anything


def end_all(here: Places, say: Callable[[str], None]) -> None:
    """End whatever runs, kindly first, and remove what it leaves lying about.

    Raises:
        KeepsakeError: A process cannot be ended.
    """
    alive = {each.component for each in processes.running(here)}
    if {Component.PORTAL, Component.SERVER} <= alive:
        _ask_evennia(here, say)
    _end_the_rest(here, say)
    processes.forget_dead(here)
    here.control_socket.unlink(missing_ok=True)


def _ask_evennia(here: Places, say: Callable[[str], None]) -> None:
    """Let Evennia save and say goodbye; what will not is ended by signal afterwards."""
    try:
        launcher.run(here, "stop", say).wait(STOP_SECONDS, lambda: None)
    except KeepsakeError as error:
        say(f"Evennia does not stop by itself: {error.what.splitlines()[0]}")


def _end_the_rest(here: Places, say: Callable[[str], None]) -> None:
    """End by signal; again, because a Portal may have started one more Server meanwhile."""
    for _ in range(_ROUNDS):
        if not (left := _left(here)):
            return
        names = ", ".join(f"{each.component} (process {each.pid})" for each in left)
        say(f"Ending {names}")
        processes.end(left)
    if left := _left(here):
        numbers = " ".join(str(each.pid) for each in left)
        raise KeepsakeError("Some processes do not end", f"End them with `kill -9 {numbers}`")


def _left(here: Places) -> list[Running]:
    """What still runs, looked for more than once.

    A process that is just going into the background forks and exits, twice; one look
    can miss the one and the other.
    """
    for _ in range(_LOOKS):
        if found := processes.running(here):
            return found
        time.sleep(_LOOK_SECONDS)
    return []
