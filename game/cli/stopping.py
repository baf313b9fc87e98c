"""Ends everything that one copy of Keepsake started."""

from __future__ import annotations

from collections.abc import Callable

from game.cli import entry, home, processes
from game.cli.processes import Component
from game.mind.errors import KeepsakeError
from game.paths import Places

STOP_SECONDS = 60.0
_ROUNDS = 5


def stop(here: Places, say: Callable[[str], None]) -> bool:
    """End the world.

    Returns:
        Whether anything ran.

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
        entry.run(here, "stop", say).wait(STOP_SECONDS, lambda: None)
    except KeepsakeError as error:
        say(f"Evennia does not stop by itself: {error.what.splitlines()[0]}")


def _end_the_rest(here: Places, say: Callable[[str], None]) -> None:
    """End by signal; again, because a Portal may have started one more Server meanwhile."""
    for _ in range(_ROUNDS):
        if not (left := processes.running(here)):
            return
        names = ", ".join(f"{each.component} (process {each.pid})" for each in left)
        say(f"Ending {names}")
        processes.end(left)
    if left := processes.running(here):
        numbers = " ".join(str(each.pid) for each in left)
        raise KeepsakeError("Some processes do not end", f"End them with `kill -9 {numbers}`")
