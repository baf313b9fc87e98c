"""Runs :mod:`game.cli.world.evennia_entry` as a child process and listens to it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from game.cli.world.evennia_entry import STEP
from game.mind.errors import KeepsakeError
from game.paths import DATABASE_URL, REPOSITORY, Places

NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
_POLL_SECONDS = 0.1
_LISTEN_SECONDS = 5.0


@dataclass(slots=True)
class LauncherOperation:
    """One operation of Evennia's launcher, at work.

    Attributes:
        process: The child.
        lines: What it has printed, all of it.
        listener: The thread that reads it.
    """

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    listener: threading.Thread | None = None

    def wait(self, seconds: float) -> None:
        """Wait for its end.

        Raises:
            KeepsakeError: It failed, or took too long.
        """
        deadline = time.monotonic() + seconds
        try:
            while self.process.poll() is None:
                if time.monotonic() > deadline:
                    raise KeepsakeError(f"Evennia did nothing for {seconds:.0f} seconds")
                time.sleep(_POLL_SECONDS)
        finally:
            self._end()
        if self.listener is not None:  # the last lines may not have been read yet
            self.listener.join(_LISTEN_SECONDS)
        if self.process.returncode:
            raise KeepsakeError("Evennia did not start:\n" + "\n".join(self.lines[-15:]))

    def _end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def run(here: Places, operation: str, on_step: Callable[[str], None]) -> LauncherOperation:
    """Start an operation."""
    process = subprocess.Popen(
        [sys.executable, "-m", "game.cli.world.evennia_entry", operation],
        cwd=REPOSITORY,
        env=_environment(here),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to handle, not the Portal's
    )
    entry = LauncherOperation(process)
    log = here.logs / f"{operation}.log"
    entry.listener = threading.Thread(target=_listen, args=(entry, log, on_step), daemon=True)
    entry.listener.start()
    return entry


def _listen(entry: LauncherOperation, log: Path, on_step: Callable[[str], None]) -> None:
    output = entry.process.stdout
    if output is None:
        raise AssertionError("the child was started with a pipe")
    with suppress(OSError):  # without room for its log the child goes on all the same
        log.write_text("", encoding="utf-8")
    with output:
        for line in output:
            entry.lines.append(line.rstrip())
            if line.startswith(STEP):
                on_step(line.removeprefix(STEP).strip())
            with suppress(OSError), log.open("a", encoding="utf-8") as file:
                file.write(line)


def _environment(here: Places) -> dict[str, str]:
    """The child's environment: the same places, whatever folder it runs in.

    Containers often forbid Python its byte code; each process of a world then compiles two thousand
    modules anew, which is more than half of a start.
    """
    tls = here.certificate
    own = {name: value for name, value in os.environ.items() if name != NO_BYTE_CODE}
    return {
        **own,
        **({"KEEPSAKE_TLS_CERT": str(tls.cert), "KEEPSAKE_TLS_KEY": str(tls.key)} if tls else {}),
        "KEEPSAKE_HOME": str(here.home),
        "KEEPSAKE_VAULT": str(here.vault),
        DATABASE_URL: here.database_url,
        "PYTHONUNBUFFERED": "1",
    }
