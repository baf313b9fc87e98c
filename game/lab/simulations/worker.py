"""The process in which a simulated world lives: ``python -m game.lab.simulations.worker <folder>``.

It loads Evennia once and then lives each hour in a child of its own, which begins as if the
process had just been started: so a simulation that is broken off and resumed goes through the very
same states as one that is not. Between two hours it takes a checkpoint.

It tells on standard output how far it is, one JSON object a line, and ends at the next checkpoint
when it reads a line on standard input; at once, when whoever started it is gone.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import signal
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from game.lab.simulations import checkpoints, world
from game.lab.simulations.plan import Lab, SimulationPlan
from game.lab.simulations.played import refuse_if_running
from game.mind.errors import KeepsakeError

LOCK = ".lock"
_LOOK_SECONDS = 0.05
_BROKE = 3


def main() -> None:
    """Live the simulation in the folder that the command line names."""
    lab = Lab(Path(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides what Ctrl-C means
    try:
        with _alone(lab):
            _simulate(lab, lab.plan())
    except KeepsakeError as error:
        _tell({"op": "refused", "what": error.what, "cure": error.cure})
        sys.exit(1)


def _simulate(lab: Lab, plan: SimulationPlan) -> None:
    refuse_if_running(lab)
    if lab.unsettled.exists():
        _tell({"op": "going back"})
        checkpoints.go_back(lab)
        checkpoints.settle(lab)
    _tell({"op": "setting up"})
    world.set_up()
    if not lab.made:
        checkpoints.begin(lab)
        _tell({"op": "making"})
        _in_child(lab, lambda: world.make(lab, plan))
        checkpoints.take(lab)
    elif not checkpoints.there(lab):  # a fork has none yet
        checkpoints.take(lab)
    stop = False
    while lab.lived() < plan.seconds and not stop:
        checkpoints.begin(lab)
        _in_child(lab, lambda: world.live_on(lab, plan, lambda at: _tell({"op": "at", **at})))
        checkpoints.take(lab)
        _tell({"op": "checkpoint", "seconds": lab.lived()})
        stop = _asked_to_stop()
    checkpoints.settle(lab)
    _tell({"op": "over", "seconds": lab.lived()})


def _in_child(lab: Lab, work: Callable[[], None]) -> None:
    """Do it in a child process that is a copy of this one.

    Raises:
        KeepsakeError: It could not be done; says why.
    """
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = _forked()
    if child == 0:
        os.close(reading)
        code = _BROKE
        try:
            code = _worked(lab, work, writing)
        finally:
            os._exit(code)  # whatever happens: it must never go on as if it were the other one
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        _wait_for(child, reading)
        said = file.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise _failure(lab, said, status)


def _forked() -> int:
    with warnings.catch_warnings():
        # Python warns of threads that might hold a lock: the one there is belongs to onnxruntime,
        # which has nothing to do before a model is loaded.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _worked(lab: Lab, work: Callable[[], None], writing: int) -> int:
    """In the child: do it; what went wrong is told through the pipe."""
    try:
        work()
    except KeepsakeError as error:
        os.write(writing, json.dumps([error.what, error.cure]).encode())
        return 1
    except BaseException as error:  # the end of the process: nobody else will tell of it
        full = _is_full(error)
        if full:
            cure = f"Free some disk space, then go on: keepsake simulate --resume {lab.folder.name}"
            os.write(writing, json.dumps([f"The simulation broke off ({error})", cure]).encode())
        with suppress(OSError):  # the disk may be too full for that as well
            traceback.print_exc()
        return 1 if full else _BROKE
    sys.stdout.flush()
    return 0


def _is_full(error: BaseException) -> bool:
    """Whether there was no room on the disk, whoever says so: the system, or SQLite."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = error.__cause__ or error  # Django wraps what SQLite raises
    return isinstance(reason, sqlite3.Error) and "disk is full" in str(reason)


def _wait_for(child: int, reading: int) -> None:
    """Wait for its end; end it when nobody listens any more."""
    while True:
        ready, _, _ = select.select([reading, *_listened_to()], [], [])
        if reading in ready:
            return  # it has said what went wrong, or closed its end
        if not _stdin_line():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            sys.exit(1)


def _failure(lab: Lab, said: str, status: int) -> KeepsakeError:
    if said:
        what, cure = json.loads(said)
        return KeepsakeError(what, cure)
    ended = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "a fault"
    log = lab.folder / "worker.log"
    return KeepsakeError(
        f"The process of the world ended by {ended}",
        f"See {log}; `keepsake simulate --resume {lab.folder.name}` goes on at the last checkpoint",
    )


_stop = False
_deaf = False


def _asked_to_stop() -> bool:
    while not _stop and _listened_to() and select.select([0], [], [], 0)[0]:
        if not _stdin_line():
            sys.exit(1)
    return _stop


def _listened_to() -> list[int]:
    return [] if _deaf else [0]


def _stdin_line() -> bool:
    """Take in what was said on standard input; False when nobody is there any more."""
    global _stop, _deaf  # noqa: PLW0603 - one standard input a process
    if not os.read(0, 1024):
        _deaf = True
        return False
    _stop = True
    return True


@contextmanager
def _alone(lab: Lab) -> Iterator[None]:
    """Hold the simulation; the hour that is lived holds it too.

    Raises:
        KeepsakeError: Another process has it.
    """
    try:
        descriptor = os.open(lab.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise KeepsakeError(
            f"{lab.folder / LOCK} could not be opened ({error.strerror or error})",
            "Run it as the user who made it, or mend the permissions",
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise KeepsakeError(
            f"The simulation {lab.folder.name!r} is running already", "Wait for it, or end it"
        ) from error
    try:
        yield
    finally:
        os.close(descriptor)


def _tell(what: dict[str, object]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main()
