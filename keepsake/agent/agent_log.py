"""The agents' log: lines for whoever looks after the world."""

from __future__ import annotations

import logging
import logging.handlers
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.secrets import secrets_in
from keepsake.events.types import Events, Fault
from keepsake.paths import Places

AGENTS_LOG_BYTES = 5_000_000
_logger = logging.getLogger("keepsake.agents")
_everything = logging.getLogger("keepsake")  # the model clients' own lines too


log = _logger.info
"""Writes one line to the agents' log; may be called from any thread."""


def warn(line: str) -> None:
    """The same, for what somebody should look at."""
    _logger.warning(f"[Warning] {line}")


@contextmanager
def logged(what: str) -> Iterator[None]:
    """Let nothing that breaks inside get out, but write it down: ``Mira: Measuring broke off``.

    For work in threads, whose futures nobody looks at, and for what must not hold others up.
    """
    try:
        yield
    except Exception as error:
        log(f"[Error] {what}: {error!r}")


class Complaints:
    """Logs what is wrong with one thing (``[Notes] Mira``), once until something else is."""

    def __init__(self, prefix: str) -> None:
        self._prefix, self._last = prefix, ""

    def __call__(self, problem: str) -> None:
        """Say so; from any thread."""
        if problem != self._last:
            log(f"{self._prefix}: {problem}")
        self._last = problem


def report(problem: KeepsakeError) -> None:
    """Tell the log what is wrong and how to mend it."""
    kind = "Config" if isinstance(problem, ConfigError) else "Error"
    log(f"[{kind}] {problem}")


def open_log(path: Path, *beside: logging.Handler) -> None:
    """Write to that file from now on, and to the handlers ``beside`` it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=AGENTS_LOG_BYTES, backupCount=5, encoding="utf-8", errors="replace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    for old in list(_everything.handlers):
        _everything.removeHandler(old)
        old.close()
    for each in (handler, *beside):
        _everything.addHandler(each)
    _everything.setLevel(logging.INFO)
    # The agents' lines have a file of their own; Evennia's log stays readable.
    _everything.propagate = False


_LEVELS = {"[Config]": "config", "[Error]": "error"}
"""How the lines begin that tell of a fault, though they are logged like any other."""


class FaultHandler(logging.Handler):
    """Emits an event for every warning or error in the agents' log."""

    def __init__(self, events: Events) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """Emit a warning, an error, and what is wrong in a configuration file."""
        text = record.getMessage()
        level = _LEVELS.get(text.partition(" ")[0])
        if level is None and record.levelno >= logging.WARNING:
            level = "error" if record.levelno >= logging.ERROR else "warning"
        if level is not None:
            fault = f"{text} ({record.exc_info[1]!r})" if record.exc_info else text
            self._events.emit(Fault(level=level, text=fault))


def known_secrets(places: Places) -> list[str]:
    """What nobody may be shown: keys, tokens, the admin's password."""
    found = list(secrets_in(os.environ))
    for path in (places.admin_password, places.secret_key):
        with suppress(OSError, UnicodeDecodeError):
            found.append(path.read_text(encoding="utf-8"))
    return found
