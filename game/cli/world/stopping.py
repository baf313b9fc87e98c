"""Ends everything that one copy of Keepsake started."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from game.cli.world import client, home, processes
from keepsake.archive.spill import Spill
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

STOP_SECONDS = 60.0
_ASK_SECONDS = 10.0
_ROUNDS, _LOOKS = 5, 4
"""How often is ended, and looked for, what has just forked: one look can miss it."""
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
    if ask and processes.whole(processes.halves(here)):
        say("Stopping Evennia")
        try:
            client.ask(here, "stop", seconds=_ASK_SECONDS)
            deadline = time.monotonic() + STOP_SECONDS
            while processes.halves(here) and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
        except KeepsakeError as error:
            say(f"Evennia does not stop by itself: {error.what}")
    for _ in range(_ROUNDS):
        for _ in range(_LOOKS):
            if left := processes.running(here):
                break
            time.sleep(_LOOK_SECONDS)
        if not left:
            break
        say("Ending " + ", ".join(f"{each.component} (process {each.pid})" for each in left))
        processes.end(left)
    else:
        numbers = " ".join(str(each.pid) for each in left)
        raise KeepsakeError("Some processes do not end", f"End them with `kill -9 {numbers}`")
    processes.forget_dead(here)
    here.control_socket.unlink(missing_ok=True)
