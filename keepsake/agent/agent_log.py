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


def of_game(agent: Any, hook: str, form: Any, otherwise: Any, *args: Any) -> Any:
    """What a game's own hook returns; ``otherwise`` where it fails or has another form: logged."""
    try:
        if not isinstance(found := getattr(agent, hook)(*args), form):
            raise TypeError(f"it returned {found!r}")
    except Exception:
        _logger.exception(f"[Error] {agent.key}: {hook} of {type(agent).__name__} failed")
        return otherwise
    return found


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


DROPPED, OUTCOMES = "dropped", 20
"""The outcome that is no failure and no success; how many of the newest outcomes are kept."""
TOO_LARGE = "too large"
FAILED = ("refused", "no answer", TOO_LARGE, "broke off")
"""Outcomes of which nothing came in the world; see :class:`keepsake.events.types.Thought`."""


@dataclass(slots=True)
class Sent:
    """What was sent for a thought, and when."""

    time: datetime
    impulse: Impulse  # what the thought was about
    prompt: Rendered  # the prompt, with the section of each line
    request: GenerationRequest
    costs: Costs  # what its sections cost
    wait: float  # seconds that it had waited in the queue
    basis: Mapping[str, Any]  # what the prompt was made from, by the field of the event
    answer: Generation | None = None  # what came; None until it has


class ThoughtLog:
    """Records the thoughts of one agent and logs them; on the reactor thread.

    Args:
        name: The agent's name in the logs.
        events: Takes what happens.

    Attributes:
        outcomes: How many thoughts ended in which way since the server started.
        guarded: How many answers, or parts of one, a guard ``altered``, ``refused``, ``dropped``.
        recent: How its last :data:`OUTCOMES` thoughts ended, the newest last; without ``dropped``.
        sent: The last prompt that was sent; None before the first.
        problem: What is wrong with its thinking now; empty if nothing is.
    """

    def __init__(self, name: str, events: Events) -> None:
        self.outcomes, self.guarded = Counter[str](), Counter[str]()
        self.recent = deque[str](maxlen=OUTCOMES)
        self.problem = ""
        self.sent: Sent | None = None
        self.name, self._events = name, events

    def ended(self, event: Thought, refusals: Iterable[str]) -> None:
        """Keep and tell of a thought that has ended, or of one of its answers."""
        self._events.emit(event)
        self.outcomes[event.outcome] += 1
        if event.outcome == DROPPED:
            return
        again = event.outcome in [*self.recent][-1:]
        self.recent.append(event.outcome)
        wrong = event.outcome in FAILED[1:]  # one wrong command is everyday life
        self.problem = (event.problem or event.outcome) if wrong else ""
        if event.outcome == TOO_LARGE and not again:
            warn(f"[Thinker] {self.name} cannot think. {self.problem}")
        done = filter(None, [event.command, *(f"(refused: {each})" for each in refusals)])
        told = "; ".join(done) or event.outcome
        log(f"[Thinker] {self.name}: {event.trigger} -> {told} ({event.latency:.2f} s)")

    def guard(self, impulse: Impulse, op: str, before: str, reason: str) -> None:
        """Tell the logs that an answer was not spoken as it was written."""
        self.guarded[op] += 1
        task = "talk" if impulse.kind in ANSWERED else "act"
        name, cause = self.name, impulse.memory
        event = Guard(agent=name, task=task, op=op, before=before, reason=reason, cause=cause)
        self._events.emit(event)
        log(f"[Thinker] {name}: An answer was {op}: {reason}")
