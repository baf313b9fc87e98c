"""The child process that serves the embedded model: llama.cpp on loopback.

    python -m game.llm.embedded_server --port 4007 --model FILE --pid-file FILE
        --watch-pid 123 --watch-file portal.pid

It lives on its own, so that a reload of the game does not lose the model's warm
caches, and ends on its own when nobody that it serves is left.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

EXIT_LOCKED, EXIT_PORT, EXIT_MODEL, EXIT_ALONE = 3, 4, 5, 0
LOCK_SECONDS = 5.0
CHECK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What the process was told on its command line.

    Attributes:
        port: Where to listen, on loopback only.
        model: The weights' file.
        pid_file: Locked while this process lives; holds its id.
        watch_pids: Processes that it serves.
        watch_files: Files that hold the id of a process that it serves.
        grace: Seconds to wait with nobody left before ending.
        context: Tokens of context for one agent.
        pool: Tokens of context that all slots share.
        slots: Prompts kept ready at once.
        threads: Threads that read prompts.
        writers: Threads that write answers.
        cache_mib: Memory for prompts that lost their slot, in MiB.
        nice: How far to step back behind the game.
    """

    port: int
    model: Path
    pid_file: Path
    watch_pids: tuple[int, ...]
    watch_files: tuple[Path, ...]
    grace: float
    context: int
    pool: int
    slots: int
    threads: int
    writers: int
    cache_mib: int
    nice: int


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end, or until nobody is left to serve; the exit status."""
    settings = _settings(arguments)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(settings.nice)
    lock = _locked(settings.pid_file)
    if lock is None:
        return _complain(EXIT_LOCKED, "another embedded model server of this home is running")
    if not _port_free(settings.port):
        return _complain(EXIT_PORT, f"port {settings.port} is used by another program")
    try:
        server = _serve(settings)
    except Exception as error:  # the binding raises bare C++ errors of several types
        return _complain(EXIT_MODEL, f"llama.cpp could not load the model: {error}")
    print(f"listening on {server.listening_address}", flush=True)
    _wait(Watched(settings.watch_pids, settings.watch_files), settings.grace)
    _end()
    return EXIT_ALONE


def _settings(arguments: Sequence[str] | None) -> Settings:
    parser = argparse.ArgumentParser(prog="game.llm.embedded_server")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--pid-file", type=Path, required=True)
    parser.add_argument("--watch-pid", type=int, action="append", default=[])
    parser.add_argument("--watch-file", type=Path, action="append", default=[])
    parser.add_argument("--grace", type=float, default=20.0)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--pool", type=int, default=24576)
    parser.add_argument("--slots", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--writers", type=int, default=1)
    parser.add_argument("--cache-mib", type=int, default=1024)
    parser.add_argument("--nice", type=int, default=5)
    given = vars(parser.parse_args(arguments))
    given["watch_pids"] = tuple(given.pop("watch_pid"))
    given["watch_files"] = tuple(given.pop("watch_file"))
    return Settings(**given)


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


def _port_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _serve(settings: Settings) -> Any:
    """Load the model and start llama.cpp's own HTTP server in threads of this process."""
    # Imported here as it takes a second, which comes after the lock; it has no stubs.
    import xllamacpp  # type: ignore[import-untyped]  # noqa: PLC0415

    return xllamacpp.Server(_parameters(settings, xllamacpp.CommonParams()))


def _parameters(settings: Settings, params: Any) -> Any:
    """How llama.cpp runs so that agents who take turns keep their cached prompts.

    Gemma looks back only 512 tokens in most layers; llama.cpp then keeps only
    those, and cannot go back to the end of a shared head. ``swa_full`` keeps all.
    The slots share one pool, which costs a third of the memory of one pool each.
    A prompt that loses its slot goes to ``cache_ram_mib`` and comes back from there.

    Reading a prompt gains from every core. Writing does not: its threads meet some
    hundred times a token and spin until all are there, so when anything else wants
    a core, two threads write a tenth as fast as one and burn ten times the time.
    """
    params.model.path = str(settings.model)
    params.model_alias = {settings.model.stem}
    params.hostnames = ["127.0.0.1"]
    params.port = settings.port
    params.n_parallel = settings.slots
    params.n_ctx = settings.pool
    params.kv_unified = True
    params.kv_unified_per_slot = settings.context
    params.swa_full = True
    params.cache_ram_mib = settings.cache_mib
    params.cpuparams.n_threads = settings.writers
    params.cpuparams_batch.n_threads = settings.threads
    params.cpuparams.poll = params.cpuparams_batch.poll = 0
    params.n_threads_http = settings.slots + 4
    # A page in the user's browser must not be able to ask, and nobody reads the slots.
    params.cors_origins, params.cors_credentials = "http://127.0.0.1", False
    params.endpoint_slots = params.ui = False
    params.verbosity = 2
    return params


def _wait(watched: Watched, grace: float) -> None:
    """Return when nobody has been there for ``grace`` seconds."""
    last_seen = time.monotonic()
    while time.monotonic() - last_seen <= grace:
        if watched.alive():
            last_seen = time.monotonic()
        time.sleep(CHECK_SECONDS)
    print("nobody is left to serve", flush=True)


def _end(*_: object) -> None:
    """End at once: there is nothing to save, and llama.cpp's own shutdown waits for calls."""
    sys.stdout.flush()
    os._exit(EXIT_ALONE)


def _complain(status: int, reason: str) -> int:
    print(reason, file=sys.stderr, flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
