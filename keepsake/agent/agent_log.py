"""The agents' log: lines for whoever looks after the world."""

from __future__ import annotations

import logging
import logging.handlers
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keepsake.errors import ConfigError, KeepsakeError

AGENTS_LOG_BYTES = 5_000_000
_logger = logging.getLogger("keepsake.agents")
_everything = logging.getLogger("keepsake")  # the model clients' own lines too


def log(line: str) -> None:
    """Write one line to the agents' log; may be called from any thread."""
    _logger.info(line)


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
