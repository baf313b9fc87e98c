"""The agents' log: lines for the operator, and the record of each thought."""

from __future__ import annotations

import logging
import logging.handlers
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.agent.attention import ANSWERED, Impulse
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.events.secrets import secrets_in
from keepsake.events.types import Events, Fault, Guard, Thought
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from keepsake.prompt.sections import Costs, Rendered

AGENTS_LOG_BYTES = 5_000_000
_logger = logging.getLogger("keepsake.agents")
_everything = logging.getLogger("keepsake")  # the model clients' own lines too


log = _logger.info
"""Writes one line to the agents' log; may be called from any thread."""


def warn(line: str) -> None:
    """Write a warning, for a problem that the operator should look at."""
    _logger.warning(f"[Warning] {line}")


@contextmanager
def logged(what: str) -> Iterator[None]:
    """Log an exception from the block, and suppress it: ``Mira: Housekeeping failed``.

    For threads whose futures are not checked, and for steps whose failure must not stop others.
    """
    try:
        yield
    except Exception as error:
        log(f"[Error] {what}: {error!r}")


def call_hook(agent: Any, hook: str, expected: Any, default: Any, *args: Any) -> Any:
    """Call a game's hook; if it fails or returns no ``expected``, log it and return ``default``."""
    try:
        if not isinstance(found := getattr(agent, hook)(*args), expected):
            raise TypeError(f"it returned {found!r}")
    except Exception:
        _logger.exception(f"[Error] {agent.key}: {hook} of {type(agent).__name__} failed")
        return default
    return found


def report(problem: KeepsakeError) -> None:
    """Log a problem, and how to solve it."""
    kind = "Config" if isinstance(problem, ConfigError) else "Error"
    log(f"[{kind}] {problem}")


def open_log(path: Path, *beside: logging.Handler) -> None:
    """Log to this file from now on, and also to the handlers ``beside``."""
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
    # The agents have a log file of their own, so that Evennia's log stays readable.
    _everything.propagate = False


_LEVELS = {"[Config]": "config", "[Error]": "error"}
"""Prefixes of lines that report a fault, with its level. They are logged at level INFO."""


class FaultHandler(logging.Handler):
    """Emits an event for every warning or error in the agents' log."""

    def __init__(self, events: Events) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        """Emit an event for a warning, an error, or a problem in a configuration file."""
        text = record.getMessage()
        level = _LEVELS.get(text.partition(" ")[0])
        if level is None and record.levelno >= logging.WARNING:
            level = "error" if record.levelno >= logging.ERROR else "warning"
        if level is not None:
            fault = f"{text} ({record.exc_info[1]!r})" if record.exc_info else text
            self._events.emit(Fault(level=level, text=fault))


def known_secrets(places: Places) -> list[str]:
    """Return the secrets to hide from logs and exports: keys, tokens, the admin's password."""
    found = list(secrets_in(os.environ))
    for path in (places.admin_password, places.secret_key):
        with suppress(OSError, UnicodeDecodeError):
            found.append(path.read_text(encoding="utf-8"))
    return found


DROPPED = "dropped"
OUTCOMES = 20
"""The outcome that is neither failure nor success; how many recent outcomes are kept."""
TOO_LARGE = "too large"
FAILED = ("refused", "no answer", TOO_LARGE, "broke off")
"""Outcomes without an act in the world; see :class:`keepsake.events.types.Thought`."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The request that was sent for a thought, and when.

    Attributes:
        impulse: What the thought is about.
        prompt: The prompt, with the section of each line.
        costs: The tokens of each of its sections.
        wait: Seconds in the model queue.
        made_from: What the prompt was made from: fields of the event.
        answer: The model's answer; None until it has come.
    """

    time: datetime
    impulse: Impulse
    prompt: Rendered
    request: GenerationRequest
    costs: Costs
    wait: float
    made_from: Mapping[str, Any]
    answer: Generation | None = None


class ThoughtLog:
    """Records the thoughts of one agent and logs them; on the reactor thread.

    Args:
        events: Receives the events.

    Attributes:
        outcomes: How many thoughts had each outcome since the server started.
        guarded: How many answers (or parts) a guard ``altered``, ``refused`` or ``dropped``.
        recent: The last :data:`OUTCOMES` outcomes, newest last, without ``dropped``.
        sent: The last request that was sent; None before the first.
        problem: Why the last thought failed; empty if it did not.
    """

    def __init__(self, name: str, events: Events) -> None:
        self.outcomes = Counter[str]()
        self.guarded = Counter[str]()
        self.recent = deque[str](maxlen=OUTCOMES)
        self.problem = ""
        self.sent: Sent | None = None
        self.name = name
        self._events = events

    def begin(self, sent: Sent) -> None:
        """Record the request that is sent for a thought."""
        self.sent = sent

    def ended(self, event: Thought, refusals: Iterable[str]) -> None:
        """Record and log a thought that has ended, or one of its answers."""
        self._events.emit(event)
        self.outcomes[event.outcome] += 1
        if event.outcome == DROPPED:
            return
        again = event.outcome in [*self.recent][-1:]
        self.recent.append(event.outcome)
        wrong = event.outcome in FAILED[1:]  # a refused command is normal, and no problem to report
        self.problem = (event.problem or event.outcome) if wrong else ""
        if event.outcome == TOO_LARGE and not again:
            warn(f"[Thinker] {self.name} cannot think. {self.problem}")
        done = filter(None, [event.command, *(f"(refused: {each})" for each in refusals)])
        told = "; ".join(done) or event.outcome
        log(f"[Thinker] {self.name}: {event.trigger} -> {told} ({event.latency:.2f} s)")

    def guard(self, impulse: Impulse, op: str, before: str, reason: str) -> None:
        """Log that an answer was altered, refused or dropped instead of being spoken as written."""
        self.guarded[op] += 1
        task = "talk" if impulse.kind in ANSWERED else "act"
        name = self.name
        cause = impulse.memory
        event = Guard(agent=name, task=task, op=op, before=before, reason=reason, cause=cause)
        self._events.emit(event)
        log(f"[Thinker] {name}: An answer was {op}: {reason}")
