"""The agents' log: lines for whoever looks after the world."""

from __future__ import annotations

import logging
import logging.handlers
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from keepsake.archive.records import Memory
from keepsake.errors import CompactionError, ConfigError, KeepsakeError
from keepsake.events.secrets import secrets_in
from keepsake.events.types import Compaction, Events, Fault, Guard, MemoryChange, Recall
from keepsake.memory.types import CompactionResult, CompactReason, Undone
from keepsake.paths import Places
from keepsake.recall.documents import Hit

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


def searched(
    name: str,
    by: str,
    question: str,
    hits: Sequence[Hit] | None,
    *,
    seconds: float,
    before: int | None,
) -> Recall:
    """The event of a search; ``hits`` is None if it could not be searched, or not in time."""
    return Recall(
        agent=name,
        by=by,
        question=question,
        searched=hits is not None,
        found=len(hits or ()),
        best=round(max((hit.score for hit in hits or ()), default=0.0), 4),
        seconds=round(seconds, 6),
        window_first=before or 0,
    )


def remembered(name: str, memory: Memory) -> MemoryChange:
    """The event of a memory that was archived; of the words only how many signs they have."""
    return MemoryChange(
        agent=name,
        op="append" if memory.repeats == 1 else "repeat",
        n=memory.number,
        of=memory.kind.value,
        size=len(memory.text),
        times=memory.repeats,
    )


def undone(name: str, outcome: Undone | CompactionError) -> MemoryChange:
    """The event of a compaction that was taken back, or could not be."""
    if isinstance(outcome, CompactionError):
        return MemoryChange(agent=name, op="undo", n=0, by="builder", problem=str(outcome))
    return MemoryChange(agent=name, op="undo", n=outcome.number, by="builder")


def not_used(name: str, refused: Iterable[tuple[str, str, str]]) -> Iterator[Guard]:
    """The events of answers, each with its task and why it was not used."""
    for task, answer, reason in refused:
        yield Guard(agent=name, task=task, op="refused", before=answer, reason=reason)


def compacted(
    name: str, reason: CompactReason, outcome: CompactionResult | CompactionError
) -> Compaction:
    """The event of a compaction, however it ended."""
    if isinstance(outcome, CompactionError):
        return Compaction(agent=name, reason=reason.value, outcome="failed", problem=str(outcome))
    first, last = outcome.covered or (0, 0)
    return Compaction(
        agent=name,
        reason=outcome.reason.value,
        outcome=outcome.outcome.value,
        number=outcome.number,
        first=first,
        last=last,
        kept=outcome.kept,
        tokens_before=outcome.tokens_before,
        tokens_after=outcome.tokens_after,
        seconds=round(outcome.seconds, 6),
        calls=outcome.calls,
        prompt_tokens=outcome.prompt_tokens,
        completion_tokens=outcome.completion_tokens,
        model=outcome.model,
        rungs={step.rung.value: step.tokens_before - step.tokens_after for step in outcome.steps},
    )
