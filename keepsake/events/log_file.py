"""The agents' log file, for people, and the handler that makes faults of warnings and errors."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, override

from keepsake.errors import KeepsakeError
from keepsake.events.secrets import Scrubber
from keepsake.events.types import Events, Fault
from keepsake.events.values import FaultLevel
from keepsake.logs import ROOT, Subsystem, fields_of, get_logger

log = get_logger(Subsystem.EVENTS)

AGENTS_LOG_BYTES = 5_000_000
"""The most bytes of one file of the agents' log; five older ones are kept."""
_HEAD = ("subsystem", "agent")
"""Fields that stand before the message."""


class LineFormatter(logging.Formatter):
    """Makes one line of an event, and an indented traceback below it.

    ``2026-11-28 22:04:11 ERROR compaction Mira: The compaction failed reason=count``

    Nothing that a player or a model wrote can begin a line: line breaks become a backslash and an
    n, other control characters a dot. For one thread at a time, like the handler that uses it.

    Args:
        secrets: Values that must never be in the log.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__(datefmt="%Y-%m-%d %H:%M:%S")
        self._scrubber = Scrubber(secrets)

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with the traceback if there is one."""
        fields = fields_of(record)
        agent = fields.get("agent")
        # Secrets go first: in an escaped text a log-in command is no longer at a word's beginning.
        said = self._scrubber.clean(record.getMessage())
        head = [self.formatTime(record, self.datefmt), record.levelname]
        head.append(str(fields.get("subsystem", "")))
        head += [f"{_one_line(str(agent))}:"] if agent else []
        further = (
            f"{name}={_value(self._cleaned(value))}"
            for name, value in fields.items()
            if name not in _HEAD
        )
        line = " ".join([*head, _one_line(said), *further])
        if record.exc_info and record.exc_info[1] is not None:
            told = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            # Not splitlines(): a separator inside a text must not begin a line either.
            below = self._scrubber.clean(told).split("\n")
            line = "\n".join([line, *(f"    {_one_line(each)}" for each in below)])
        return line

    def _cleaned(self, value: Any) -> Any:
        """Remove secrets from a field that is text; an error counts as its text."""
        if isinstance(value, BaseException):
            value = error_text(value)
        return self._scrubber.clean(value) if isinstance(value, str) else value


class FaultHandler(logging.Handler):
    """Emits a :class:`Fault` event for every warning and error in the agents' log."""

    def __init__(self, events: Events) -> None:
        super().__init__(logging.WARNING)
        self._events = events

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Emit the event of a warning or an error."""
        fields = fields_of(record)
        text = record.getMessage()
        # Not escaped: the event log finds a log-in command only at the beginning of a line or word.
        told = ", ".join(f"{name}={each}" for name, each in fields.items() if name not in _HEAD)
        text = f"{text} ({told})" if told else text
        error = record.exc_info[1] if record.exc_info else None
        # A message that is the error itself is not repeated.
        if error is not None and str(error) not in text:
            text = f"{text}: {error_text(error)}"
        fault = Fault(
            level=FaultLevel.ERROR if record.levelno >= logging.ERROR else FaultLevel.WARNING,
            subsystem=str(fields.get("subsystem", "")),
            agent=str(fields.get("agent") or ""),
            text=text,
        )
        self._events.emit(fault)


class AgentsLogFile(logging.handlers.RotatingFileHandler):
    """Writes a log file, and rotates it.

    If the disk refuses, lines may be lost, but only whole ones: of a line that could be written in
    part, nothing stays. Python would print a traceback for each of them, into the log of the game's
    server, which is mostly on the same disk. Instead, the log says it once, as soon as it can be
    written again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=AGENTS_LOG_BYTES, backupCount=5, encoding="utf-8", errors="replace"
        )
        self._problem = ""  # why the last line could not be written; empty if it could
        self._whole = self._size()  # the bytes of the whole lines in the file

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; say afterwards if those before could not be written."""
        problem = self._problem
        self._problem = ""
        super().emit(record)
        if not self._problem:
            self._whole = self._size()
        if problem and not self._problem:
            log.warning(f"This log could not be written ({problem}). It may lack lines")

    @override
    def doRollover(self) -> None:
        """Begin a new file."""
        super().doRollover()
        self._whole = 0

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        """Note what the disk refused; print any other error, as it is a bug."""
        error = sys.exception()
        if isinstance(error, OSError):
            self._problem = str(error)
            self._drop_torn_line()
        else:
            super().handleError(record)

    def _drop_torn_line(self) -> None:
        """Take a line that was written in part out of the file, and out of Python's buffer.

        The next line opens the file again.
        """
        stream = self.stream
        self.stream = None  # as after logging.FileHandler.close
        if stream is not None:
            with suppress(OSError):
                stream.close()
        with suppress(OSError):
            if self._size() > self._whole:
                os.truncate(self.baseFilename, self._whole)

    def _size(self) -> int:
        """Return the bytes of the file; 0 without one."""
        try:
            return Path(self.baseFilename).stat().st_size
        except FileNotFoundError:
            return 0


def open_log(path: Path, secrets: Iterable[str] = (), *beside: logging.Handler) -> None:
    """Log to this file from now on, and also to the handlers ``beside``.

    ``secrets``: Values that must never be in the file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = AgentsLogFile(path)
    handler.setFormatter(LineFormatter(secrets))
    everything = logging.getLogger(ROOT)
    for old in list(everything.handlers):
        everything.removeHandler(old)
        old.close()
    for each in (handler, *beside):
        everything.addHandler(each)
    everything.setLevel(logging.INFO)
    # The agents have a log file of their own, so that Evennia's log stays readable.
    everything.propagate = False


def error_text(error: BaseException) -> str:
    """Return an error for people: what is wrong and the cure, or a foreign error with its class.

    Unlike ``repr`` it keeps line breaks, after which secrets are searched for.
    """
    if isinstance(error, KeepsakeError):
        return str(error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _one_line(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\n", "\\n")
    return text if text.isprintable() else "".join(c if c.isprintable() else "·" for c in text)


def _value(value: Any) -> str:
    """Return a field's value: quoted unless it is a number or one word."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, BaseException):
        value = error_text(value)
    text = _one_line(str(value))
    plain = text and not any(char in ' "=' for char in text)
    return text if plain else json.dumps(text, ensure_ascii=False).replace("\\\\n", "\\n")
