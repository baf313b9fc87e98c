"""The process in which a world of the lab lives, from both sides.

Outside, :class:`WorldProcess` starts it, listens to it and ends it. Inside, it tells how far it is
on standard output, one JSON object a line, and does each piece of work in a child of its own
(:func:`in_child`), which begins as if the process had just been started. It ends at once when
whoever started it is gone.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self, cast

from game.cli.world.ports import free_base
from game.lab.simulations.plan import Lab, SimulationPlan
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, REPOSITORY, Ports

LOG = "worker.log"
OVER, REFUSED = "over", "refused"
_GRACE = 10.0
_FIRST_BASE = 26000
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_REFUSED, _BROKE = 1, 3


# -- outside


class WorldProcess:
    """A process that runs ``module`` on the folder of a world; ended by leaving the context."""

    def __init__(
        self, lab: Lab, module: str, plan: SimulationPlan, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.lab = lab
        self._module = module
        # For a model in a process of its own, beside those of a world that may be running.
        self.ports = Ports(free_base(_FIRST_BASE))
        self._environ = {
            **environ,
            **dict.fromkeys(_ONE_THREAD, "1"),
            "KEEPSAKE_HOME": str(lab.home),
            "KEEPSAKE_VAULT": str(lab.vault),
            "KEEPSAKE_LISTEN": "127.0.0.1",
            DATABASE_URL: "",  # a database of its own, in its home
            "KEEPSAKE_PORT_BASE": str(self.ports.base),
            "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONHASHSEED": "0",
            "TZ": plan.zone,
        }
        self._process: subprocess.Popen[str]  # once the context is entered
        self._over = False

    def __enter__(self) -> Self:
        path = self.lab.folder / LOG
        cure = "Run it as the user who made it, or mend the permissions"
        with refusing(f"{path} could not be written", cure):
            log = path.open("a", encoding="utf-8")
        with log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self.lab.folder)],
                cwd=REPOSITORY,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        return self

    def __exit__(self, *_: object) -> None:
        """End it: by itself if it is over, else at once, with all its children."""
        process = self._process
        try:
            process.wait(_GRACE if self._over else 0.0)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own group: it was started as one
            process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                cast("IO[str]", stream).close()

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def stop_soon(self) -> None:
        """Have it end at the next checkpoint."""
        with suppress(BrokenPipeError):  # it is over already
            cast("IO[str]", self._process.stdin).write("stop\n")
            cast("IO[str]", self._process.stdin).flush()

    def lines(self, otherwise: Callable[[], KeepsakeError]) -> Iterator[dict[str, Any]]:
        """What it tells, up to and with that it is over.

        Raises:
            KeepsakeError: It could not go on; ``otherwise`` where it has not said why.
        """
        for line in cast("IO[str]", self._process.stdout):
            try:
                told = json.loads(line)
            except ValueError:  # something that some library printed
                continue
            self._over = told.get("op") in {OVER, REFUSED}
            if told.get("op") == REFUSED:
                raise KeepsakeError(told["what"], told["cure"])
            yield told
            if self._over:
                return
        raise otherwise()


# -- inside


def work_in(live: Callable[[Lab], None]) -> None:
    """The whole of such a process: do it in the folder that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it decides what Ctrl-C means
    try:
        live(Lab(Path(sys.argv[1])))
    except KeepsakeError as error:
        tell({"op": REFUSED, "what": error.what, "cure": error.cure})
        sys.exit(1)


def tell(what: dict[str, Any]) -> None:
    """Tell whoever started this."""
    print(json.dumps(what), flush=True)


def in_child(work: Callable[[], None], broke: Callable[[str], KeepsakeError]) -> None:
    """Do it in a child process that is a copy of this one.

    Raises:
        KeepsakeError: What the work raised there; ``broke``, told by what it ended, for all else.
    """
    sys.stdout.flush()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads that might hold a lock: the one there is belongs to onnxruntime,
        # which has nothing to do before a model is loaded.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        code = _BROKE
        try:
            code = _worked(work, writing)
        finally:
            os._exit(code)  # whatever happens: it must never go on as if it were the other one
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        _wait_for(child, reading)
        said = file.read()
    _, status = os.waitpid(child, 0)
    if said:
        raise KeepsakeError(*json.loads(said))
    if status:
        raise broke(f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "a fault")


def _worked(work: Callable[[], None], writing: int) -> int:
    """In the child: do it; what went wrong is told through the pipe."""
    try:
        work()
    except KeepsakeError as error:
        os.write(writing, json.dumps([error.what, error.cure]).encode())
        return _REFUSED
    except BaseException:  # the end of the process: nobody else will tell of it
        with suppress(OSError):  # the disk may be too full for that as well
            traceback.print_exc()
        return _BROKE
    sys.stdout.flush()
    return 0


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


_stop = False
_deaf = False


def asked_to_stop() -> bool:
    """Whether a line was said on standard input; ends where nobody is there any more."""
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
