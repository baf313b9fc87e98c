"""The event log of the running world: opened, and told of what the agents' log is told."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

from keepsake.agent.agent_log import log
from keepsake.events.log import EventLog
from keepsake.events.secrets import secrets_in
from keepsake.events.subscribers import Taps
from keepsake.events.types import Events, Fault
from keepsake.paths import Places
from keepsake.ports import Clock

_LEVELS = {"[Config]": "config", "[Error]": "error"}
"""How the lines begin that tell of a fault, though they are logged like any other."""


def opened(places: Places, clock: Clock, taps: Taps) -> EventLog:
    """The event log of this copy, without its secrets; taps are told of each written line."""
    return EventLog(
        places.events,
        clock=clock,
        secrets=known_secrets(places),
        told=lambda line: log(f"[Error] {line}"),
        written=taps.written,
        agent_ids=taps.agent_ids,
    )


def known_secrets(places: Places) -> list[str]:
    """What must stand in nothing that anybody is shown: keys, tokens, the admin's password."""
    return [*secrets_in(os.environ), *_files(places)]


def _files(places: Places) -> Iterator[str]:
    for path in (places.admin_password, places.secret_key):
        try:
            yield path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):  # there is none, or none that could be said
            continue


class FaultHandler(logging.Handler):
    """Has an event told of every line of the agents' log that tells of a fault."""

    def __init__(self, events: Events) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of a warning, of an error, and of what is wrong in a configuration file."""
        text = record.getMessage()
        level = _LEVELS.get(text.partition(" ")[0])
        if level is None and record.levelno >= logging.WARNING:
            level = "error" if record.levelno >= logging.ERROR else "warning"
        if level is not None:
            fault = f"{text} ({record.exc_info[1]!r})" if record.exc_info else text
            self._events.emit(Fault(level=level, text=fault))
