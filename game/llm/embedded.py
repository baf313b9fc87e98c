"""Starts, watches, restarts and ends the child process of the embedded model.

Everything here blocks now and then, so it runs in a thread, never on the reactor.
"""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from game.llm import weights
from game.llm.embedded_server import EXIT_LOCKED, EXIT_PORT, read_pid
from game.mind.errors import ModelError, ModelUnavailable
from game.paths import REPOSITORY, Places

log = logging.getLogger("keepsake.llm")

MODULE = "game.llm.embedded_server"
_HEALTH_SECONDS = 2.0
_LOG_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the supervisor waits for what, in seconds.

    Attributes:
        first_retry: Before the first restart; doubles each time.
        last_retry: The longest time between two restarts.
        start: Until a child that was just started must answer.
        hang: How long a child that answered may be silent.
        steady: How long it must answer before earlier deaths are forgotten.
    """

    first_retry: float = 1.0
    last_retry: float = 60.0
    start: float = 90.0
    hang: float = 60.0
    steady: float = 30.0


class Embedded:
    """The child process that serves the embedded model of one home.

    Args:
        places: Folders and ports of this copy.
        watch_pid: A process that the child serves; it ends when this one and the
            one in ``portal.pid`` are gone.
        grace: Seconds that the child waits for them to come back.
        patience: See :class:`Patience`.

    Attributes:
        problem: Why no model answers now; None when one does.
        starts: How often a child was started.
    """

    def __init__(
        self,
        places: Places,
        watch_pid: int | None = None,
        *,
        grace: float = 20.0,
        patience: Patience | None = None,
    ) -> None:
        self.problem: ModelError | None = ModelUnavailable("The embedded model is not started")
        self.starts = 0
        self._places = places
        self._watch_pid = os.getpid() if watch_pid is None else watch_pid
        self._grace = grace
        self._patience = patience or Patience()
        self._child: subprocess.Popen[bytes] | None = None
        self._ready = threading.Event()
        self._lock = threading.Lock()
        self._stopped = False
        self._deaths = 0
        self._next_start = 0.0
        self._silent_since = 0.0
        self._steady_since = 0.0

    @property
    def address(self) -> str:
        """Where the child answers."""
        return f"http://127.0.0.1:{self._places.ports.model}"

    @property
    def pid_file(self) -> Path:
        """Holds the child's id; the child locks it while it lives."""
        return self._places.home / "model.pid"

    @property
    def log_file(self) -> Path:
        """What the child says; the last child's words are beside it, in ``model.log.1``."""
        return self._places.logs / "model.log"

    @property
    def pid(self) -> int | None:
        """The child's id, ours or one adopted from before a reload; None if there is none."""
        if self._child is not None and self._child.poll() is None:
            return self._child.pid
        pid = read_pid(self.pid_file)
        return pid if pid and self._is_ours(pid) else None

    def ready(self) -> bool:
        """Whether the child answered when it was last looked at."""
        return self._ready.is_set()

    def wait_ready(self, seconds: float) -> bool:
        """Wait until the child answers, ``seconds`` at most; whether it does."""
        return self._ready.wait(seconds)

    def watch(self, *, wanted: bool = True) -> bool:
        """One look at the child: start, restart or adopt it as needed; whether it answers.

        Call it every second or so, from a thread. Failures are logged once and kept
        in :attr:`problem`; the next look tries again, later each time. A child that
        is not ``wanted`` is ended.
        """
        with self._lock:
            if self._stopped or not wanted:
                self._put_away("The embedded model is not in use")
            elif self.pid is None:
                self._missing()
            elif self._healthy():
                self._answers()
            else:
                self._silent()
            return self._ready.is_set()

    def stop(self, seconds: float = 5.0) -> None:
        """End the child for good, by force when it does not go in ``seconds``."""
        with self._lock:
            self._stopped = True
            self._put_away("The embedded model was stopped", seconds)

    def _put_away(self, why: str, seconds: float = 5.0) -> None:
        self._ready.clear()
        self.problem = ModelUnavailable(why, "Name it as a provider in llm.md and start the game")
        self._end(seconds)

    def _missing(self) -> None:
        self._ready.clear()
        if self._child is not None:
            self._mourn(self._child.returncode)
            self._child = None
        if time.monotonic() < self._next_start:
            return
        self._steady_since = 0.0
        try:
            self._start()
        except (ModelError, OSError) as error:
            self._failed(_as_model_error(error))

    def _start(self) -> None:
        model = weights.ensure(self._places.models)
        self._places.logs.mkdir(parents=True, exist_ok=True)
        if self.log_file.exists():
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        with self.log_file.open("wb") as output:
            self._child = subprocess.Popen(
                self._command(model),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._places.home,
                env=os.environ | {"PYTHONPATH": str(REPOSITORY), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        self.starts += 1
        self._silent_since = time.monotonic()
        self.problem = ModelUnavailable("The embedded model is being loaded", "Wait a little")
        log.info("[Model] Starting the embedded model server on port %d", self._places.ports.model)

    def _command(self, model: Path) -> list[str]:
        cores = os.cpu_count() or 1
        settings = {
            "--port": self._places.ports.model,
            "--model": model,
            "--pid-file": self.pid_file,
            "--watch-pid": self._watch_pid,
            "--watch-file": self._places.home / "portal.pid",
            "--grace": self._grace,
            "--threads": max(1, min(4, cores)),
            "--writers": max(1, min(4, cores // 2)),
        }
        words = [str(word) for pair in settings.items() for word in pair]
        return [sys.executable, "-m", MODULE, *words]

    def _answers(self) -> None:
        now = time.monotonic()
        self._silent_since = 0.0
        self._steady_since = self._steady_since or now
        if now - self._steady_since >= self._patience.steady:
            self._deaths = 0
        if not self._ready.is_set():
            log.info("[Model] The embedded model answers at %s", self.address)
            self.problem = None
            self._ready.set()

    def _silent(self) -> None:
        """Alive and without an answer: still loading, busy, or hanging."""
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        patience = self._patience.hang if self._ready.is_set() else self._patience.start
        if now - self._silent_since > patience:
            self._end(seconds=2.0)
            self._failed(
                ModelUnavailable(
                    f"The embedded model server gave no answer for {patience:g} s and was ended",
                    f"See {self.log_file}",
                )
            )

    def _mourn(self, status: int) -> None:
        if status == EXIT_PORT:
            problem = ModelUnavailable(
                f"Port {self._places.ports.model}, meant for the embedded model, is in use",
                "End the program that uses it, or set KEEPSAKE_PORT_BASE",
            )
        elif status == EXIT_LOCKED:
            problem = ModelUnavailable(
                f"Another embedded model server holds {self.pid_file}", "End it, then wait a little"
            )
        else:
            problem = ModelUnavailable(
                f"The embedded model server ended with status {status} ({self._last_words()})",
                f"It will be started again; see {self.log_file}",
            )
        self._failed(problem)

    def _failed(self, problem: ModelError) -> None:
        self._ready.clear()
        wait = min(self._patience.first_retry * 2**self._deaths, self._patience.last_retry)
        self._deaths += 1
        self._next_start = time.monotonic() + wait
        self.problem = problem
        log.error("[Model] %s (next try in %g s)", problem, wait)

    def _end(self, seconds: float) -> None:
        pid = self.pid
        if pid is None:
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            process.terminate()
            try:
                process.wait(seconds)
            except psutil.TimeoutExpired:
                process.kill()
                process.wait(seconds)
        if self._child is not None:
            self._child.wait()
            self._child = None

    def _is_ours(self, pid: int) -> bool:
        """Whether ``pid`` is a model server of this home, and no zombie or stranger."""
        try:
            process = psutil.Process(pid)
            words = process.cmdline()
            zombie = process.status() == psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False
        return not zombie and MODULE in words and str(self.pid_file) in words

    def _healthy(self) -> bool:
        connection = http.client.HTTPConnection(
            "127.0.0.1", self._places.ports.model, timeout=_HEALTH_SECONDS
        )
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _last_words(self) -> str:
        try:
            tail = self.log_file.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        except OSError:
            return "no log"
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        return lines[-1][:200] if lines else "it said nothing"


def _as_model_error(error: ModelError | OSError) -> ModelError:
    if isinstance(error, ModelError):
        return error
    return ModelUnavailable(
        f"The embedded model server could not be started ({error.strerror})",
        "See whether the disk is full or KEEPSAKE_HOME read-only",
    )
