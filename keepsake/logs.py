"""Loggers whose lines have fields: a subsystem, the agent, and further ones by name.

The lines go to the standard library's loggers below ``keepsake``, so a game's own handlers work,
too. :mod:`keepsake.events.log_file` writes them to ``agents.log``, and makes events of warnings
and errors.

Example::

    log = get_logger(Subsystem.COMPACTION)
    log.error("The compaction failed", agent=name, exc_info=error)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, override

ROOT = "keepsake"
"""The logger above all others of the library."""
_STANDARD = frozenset({"exc_info", "stack_info", "stacklevel", "extra"})
"""Keywords that the standard library's loggers take; all others are fields."""


class Subsystem(StrEnum):
    """The part of the library that a line or a fault is about."""

    ACTING = "acting"  # what an agent does in the world
    AGENTS = "agents"  # creating, opening and renaming agents
    ARCHIVE = "archive"  # opening, appending, syncing
    BOOKS = "books"  # notes, pins, promises, journal, persona
    COMMANDS = "commands"  # builders' and players' commands
    COMPACTION = "compaction"  # with its undo
    CONFIG = "config"  # files in ``vault/config``
    DETECTION = "detection"  # finding a model
    EMBEDDING = "embedding"  # vectors for the index, and Chroma's server
    ERASURE = "erasure"  # ``forget me``
    EVENTS = "events"  # the event log itself
    HOOKS = "hooks"  # the game's hooks, such as ``at_agent_heard``
    HOUSEKEEPING = "housekeeping"  # the round every two seconds
    INDEX = "index"  # the word index and its rounds
    LAB = "lab"  # evaluations
    MODELS = "models"  # model servers and their clients
    NEWS = "news"  # what a player missed
    NIGHT = "night"  # an agent's work while it sleeps
    PLANS = "plans"  # what an agent means to do
    PEOPLE = "people"  # pages about people
    RECALL = "recall"  # searches
    SERVICE = "service"  # ``keepsake serve``
    SIMULATION = "simulation"
    SLEEP = "sleep"  # falling asleep, walking home, waking
    THOUGHTS = "thoughts"
    TOOLS = "tools"  # an agent's tool calls on its own memory
    TRACING = "tracing"  # OpenTelemetry
    WAITING = "waiting memories"  # memories that the archive could not take yet
    WARM_UP = "warm-up"  # reading a prompt in advance
    WEB = "web"  # the dashboard
    WORLD = "world"  # the game's own rules: deeds


class Log(logging.LoggerAdapter[logging.Logger]):
    """A logger of one subsystem; every keyword that the standard library does not know is a field.

    Fields by convention: ``agent``, the name of the agent concerned; ``subsystem``, to log for
    another part. ``exc_info=error`` keeps the traceback.

    What players or models wrote is a field where possible, not a part of the message.
    """

    @override
    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        """Move the fields to where :func:`fields_of` finds them."""
        fields = dict(self.extra or {})
        fields |= {name: value for name, value in kwargs.items() if name not in _STANDARD}
        standard = {name: value for name, value in kwargs.items() if name in _STANDARD}
        return msg, {**standard, "extra": {"fields": fields}}


def get_logger(subsystem: Subsystem) -> Log:
    """Return the logger of a subsystem; safe to use from any thread."""
    return Log(logging.getLogger(f"{ROOT}.{subsystem}"), {"subsystem": subsystem})


def fields_of(record: logging.LogRecord) -> Mapping[str, Any]:
    """Return a line's fields; of a line that was not logged by a :class:`Log` its logger's name."""
    found: Mapping[str, Any] | None = getattr(record, "fields", None)
    return found or {"subsystem": record.name.removeprefix(f"{ROOT}.")}


@contextmanager
def logged(log: Log, what: str, **fields: Any) -> Iterator[None]:
    """Log an exception from the block with its traceback, and suppress it.

    For threads whose futures are not checked, and for steps whose failure must not stop others.
    """
    try:
        yield
    except Exception as error:
        log.error(what, exc_info=error, **fields)
