"""Runs :mod:`game.cli.world.evennia_entry` as a child process and listens to it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from game.cli.world.evennia_entry import CHECKED, STEP
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, REPOSITORY, Places

NO_BYTE_CODE = "PYTHONDONTWRITEBYTECODE"
_LISTEN_SECONDS = 5.0
_SHOWN_LINES = 15


def run(here: Places, operation: str, on_step: Callable[[str], None], seconds: float) -> list[str]:
    """Run an operation to its end; gives the lines that it has printed.

    Raises:
        KeepsakeError: It failed, or took longer than ``seconds``.
    """
    lines: list[str] = []
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
    listened = (process.stdout, lines, here.logs / f"{operation}.log", on_step)
    listener = threading.Thread(target=_listen, args=listened, daemon=True)
    listener.start()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise KeepsakeError(f"Evennia did nothing for {seconds:.0f} seconds") from error
    finally:
        process.kill()  # where it has ended, nothing
        process.wait()
    listener.join(_LISTEN_SECONDS)  # the last lines may not have been read yet
    if process.returncode or CHECKED not in lines:
        raise KeepsakeError("Evennia did not start:\n" + "\n".join(lines[-_SHOWN_LINES:]))
    return lines


def _listen(output: IO[str], lines: list[str], log: Path, on_step: Callable[[str], None]) -> None:
    with suppress(OSError):  # without room for its log the child goes on all the same
        log.write_text("", encoding="utf-8")
    with output:
        for line in output:
            lines.append(line.rstrip())
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
