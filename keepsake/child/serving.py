"""The child's side: one process a home, low priority, gone when nobody is left to serve.

A child lives on its own, so that a reload of the game does not lose what it holds, and
ends on its own when the processes that it serves are gone.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil

from keepsake.child import free_port

EXIT_LOCKED, EXIT_PORT, EXIT_FAILED, EXIT_ALONE = 3, 4, 5, 0
LOCK_SECONDS = 5.0
CHECK_SECONDS = 1.0


class CannotServe(Exception):
    """The server did not come up; says why, for the child's log."""


@dataclass
class Watched:
    """Processes that this one serves; a reused id does not count as the same one."""

    pids: tuple[int, ...]
    files: tuple[Path, ...]
    _born: dict[int, float] = field(default_factory=dict)

    def alive(self) -> bool:
        """Whether one of them is still there."""
        return any([self._lives(pid) for pid in (*self.pids, *map(read_pid, self.files))])

    def _lives(self, pid: int) -> bool:
        if pid <= 0:
            return False
        try:
            process = psutil.Process(pid)
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            born = process.create_time()
            return self._born.setdefault(pid, born) == born
        except psutil.NoSuchProcess:
            return False


def read_pid(path: Path) -> int:
    """The process id in a pid file; 0 when there is none."""
    try:
        return int(path.read_text().strip() or 0)
    except (OSError, ValueError):
        return 0


def parser(program: str) -> argparse.ArgumentParser:
    """A command line with what ties a child to the game, the same for every kind of child."""
    made = argparse.ArgumentParser(prog=program)
    made.add_argument("--port", type=int, required=True, help="on loopback")
    made.add_argument("--pid-file", type=Path, required=True, help="locked while it lives")
    made.add_argument("--watch-pid", type=int, action="append", default=[], help="whom it serves")
    made.add_argument("--watch-file", type=Path, action="append", default=[], help="as a pid file")
    made.add_argument("--grace", type=float, default=20.0, help="seconds to wait for them")
    made.add_argument("--nice", type=int, default=5, help="how far to step back")
    return made


def serve(name: str, tied: argparse.Namespace, start: Callable[[], str]) -> int:
    """Serve until told to end, or until nobody is left to serve.

    Args:
        name: What this process is, for its log.
        tied: What :func:`parser` read.
        start: Brings the server up in threads of its own and says where it listens;
            raises :class:`CannotServe`.

    Returns:
        The exit status; after a server that came up this never returns.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(tied.nice)
    lock = _locked(tied.pid_file)
    if lock is None:
        return _complain(EXIT_LOCKED, f"another {name} of this home is running")
    if free_port.refusal(free_port.LOOPBACK, tied.port):
        return _complain(EXIT_PORT, f"port {tied.port} is used by another program")
    try:
        print(start(), flush=True)
    except CannotServe as error:
        return _complain(EXIT_FAILED, str(error))
    _wait(Watched(tuple(tied.watch_pid), tuple(tied.watch_file)), tied.grace)
    _end()
    return EXIT_ALONE


def give_up(reason: str) -> None:
    """End this process at once, from any thread, with the reason in its log."""
    _complain(EXIT_FAILED, reason)
    os._exit(EXIT_FAILED)


def _locked(path: Path) -> IO[str] | None:
    """The pid file, locked and holding our id; None while another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("a+", encoding="utf-8")
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return None
            time.sleep(0.1)
        else:
            handle.truncate(0)
            handle.write(f"{os.getpid()}\n")
            handle.flush()
            return handle


def _wait(watched: Watched, grace: float) -> None:
    """Return when nobody has been there for ``grace`` seconds."""
    last_seen = time.monotonic()
    # Looked at before it is judged: a grace shorter than the sleep must not end a child
    # whose game is there.
    while (alive := watched.alive()) or time.monotonic() - last_seen <= grace:
        last_seen = time.monotonic() if alive else last_seen
        time.sleep(CHECK_SECONDS)
    print("nobody is left to serve", flush=True)


def _end(*_: object) -> None:
    """End at once: what must be saved is saved, and a server's own shutdown waits for calls."""
    sys.stdout.flush()
    os._exit(EXIT_ALONE)


def _complain(status: int, reason: str) -> int:
    print(reason, file=sys.stderr, flush=True)
    return status
