"""Ends everything that one copy of Keepsake started."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from game.cli.world import client, home, processes
from game.cli.world.processes import Component, Running
from keepsake.archive.spill import Spill
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

STOP_SECONDS = 60.0
_ASK_SECONDS = 10.0
_EVENNIA = {Component.PORTAL, Component.SERVER}
_ROUNDS = 5
_LOOKS = 4
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Stopped:
    """A world that does not run."""

    anything: bool  # something ran before
    waiting: dict[str, int]  # by agent how many memories wait for archives that cannot be written


def stop(here: Places, say: Callable[[str], None], *, force: bool = False) -> Stopped:
    """End the world.

    Args:
        here: The copy.
        say: Shows what is being done.
        force: Also when memories would be lost by it.

    Raises:
        KeepsakeError: A process cannot be ended, or memories would be lost.
    """
    with home.alone(here):
        anything = bool(processes.running(here))
        here = processes.actual(here)
        if not force:
            _refuse_to_lose(here)
        end_all(here, say)
    waiting = Spill(here.spill).waiting()
    return Stopped(anything, {agent: len(lines) for agent, lines in waiting.items()})


def _refuse_to_lose(here: Places) -> None:
    """Raise where memories are in RAM alone, since nothing can be written."""
    try:
        found = client.ask(here, "waiting", seconds=5)
    except KeepsakeError:  # it does not run, or does not answer: there is nothing to wait for
        return
    if unkept := {each["name"]: each["unkept"] for each in found if each["unkept"]}:
        names = ", ".join(f"{number} of {name}" for name, number in unkept.items())
        raise KeepsakeError(
            f"Memories would be lost ({names}): neither the vault nor {here.home} can be written",
            "Make room on the disk and try again, or lose them: `keepsake stop --force`",
        )


def end_all(here: Places, say: Callable[[str], None], *, ask: bool = True) -> None:
    """End whatever runs, kindly first, and remove what it leaves lying about.

    Args:
        here: The copy.
        say: Shows what is being done.
        ask: Whether Evennia is asked first; one that has just failed to start would not answer.

    Raises:
        KeepsakeError: A process cannot be ended.
    """
    if ask and _halves(here) == _EVENNIA:
        _ask_evennia(here, say)
    _end_the_rest(here, say)
    processes.forget_dead(here)
    here.control_socket.unlink(missing_ok=True)


def _ask_evennia(here: Places, say: Callable[[str], None]) -> None:
    """Let Evennia save and say goodbye; what will not is ended by signal afterwards."""
    say("Stopping Evennia")
    try:
        client.ask(here, "stop", seconds=_ASK_SECONDS)
    except KeepsakeError as error:
        return say(f"Evennia does not stop by itself: {error.what}")
    deadline = time.monotonic() + STOP_SECONDS
    while _halves(here) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _halves(here: Places) -> set[Component]:
    return {each.component for each in processes.running(here)} & _EVENNIA


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
