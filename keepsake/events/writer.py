"""Turns events into lines, numbers them, and writes them to files that rotate.

Whatever the disk refuses is an OSError, and waits to be written.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake.errors import EventLogInUse
from keepsake.events.files import LineWriter
from keepsake.events.prompts import PromptWriter
from keepsake.events.secrets import SHORTEST, Scrubber
from keepsake.events.subscribers import WrittenEvent
from keepsake.events.types import Event, Fault, Thought, World, to_record
from keepsake.json_lines import Record, claim

STEM = "events"
FILE_BYTES = 16_000_000
_PROMPTS_BYTES = 8_000_000
"""The most of a file of prompts, which is read whole to find one of them."""
LONGEST = 20_000
"""Characters of a text that is no prompt: more is an error page of a server, or a fault."""
_OURS = ("v", "seq", "t", "kind")
"""Fields that nobody has said."""
_NO_WORDS = frozenset({int, float, bool, type(None)})
"""Values in which nothing can be said."""
_LOCK = ".lock"
"""What the lines of the agents' log begin with: ``[Memory]``."""


type Taken = tuple[Event, datetime, int]
"""An event that waits to be written, when it happened, and its agent's id; no class, for speed."""


class EventWriter:
    """Writes events; for one thread, but for :meth:`sync`."""

    def __init__(
        self,
        folder: Path,
        scrubber: Scrubber,
        limit: int,
        written: Callable[[Sequence[WrittenEvent]], None] = lambda _: None,
    ) -> None:
        self._written = written
        self._folder, self._scrubber, self._limit = folder, scrubber, limit
        self._lines: LineWriter | None = None
        self._prompts: PromptWriter | None = None
        self._lock = -1
        self._number = 0
        self._agents: dict[str, int] = {}
        """Who was named in this process, with the newest id of that name."""

    def write(self, waiting: deque[Taken]) -> None:
        """Write what waits, and take out of ``waiting`` what is written.

        Raises:
            OSError: The disk refused; what is left waits.
            EventLogInUse: Another process writes this log.
        """
        if not waiting:
            return
        lines, prompts = self._opened(waiting)
        while waiting:
            chunk, day = bytearray(), waiting[0][1].astimezone(UTC).date()
            told: list[WrittenEvent] = []
            for event, taken, agent_id in waiting:
                time = taken.astimezone(UTC)
                number = self._number + len(told) + 1
                line, today = self._line(event, time, number, agent_id, prompts), time.date()
                size = len(chunk) + len(line.line) + 1
                if told and (today != day or lines.begins_new(day, size)):
                    break
                chunk += line.line + b"\n"
                told.append(line)
            lines.write(bytes(chunk), day, self._number + 1)
            self._number += len(told)
            for _ in told:
                waiting.popleft()
            self._written(told)

    def sync(self) -> None:
        """Bring what was written to the disk; from any thread."""
        for lines in self._files():
            lines.sync()

    def close(self) -> None:
        """Bring all to the disk and let go of the folder; a second call does nothing."""
        try:
            for lines in self._files():
                lines.close()
        finally:
            self._lines = self._prompts = None
            if self._lock >= 0:
                os.close(self._lock)
            self._lock = -1

    def _opened(self, waiting: deque[Taken]) -> tuple[LineWriter, PromptWriter]:
        if self._lines is not None and self._prompts is not None:
            return self._lines, self._prompts
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self._lock < 0:
            self._lock = self._claim()
        if self._prompts is None:
            self._prompts = PromptWriter(self._folder, min(self._limit, _PROMPTS_BYTES))
        lines = LineWriter(self._folder, STEM, self._limit)
        self._number = lines.last_number()
        if lines.mended:
            text = f"a torn last line of {lines.mended} bytes was cut off"
            mended = World(op="mended", n=lines.mended, text=text)
            waiting.appendleft((mended, waiting[0][1], 0))
        self._lines = lines
        return lines, self._prompts

    def _claim(self) -> int:
        if (fd := claim(self._folder / _LOCK, 0o600)) is None:
            raise EventLogInUse(
                f"another process writes the event log in {self._folder}",
                "Stop the other copy of Keepsake, or give this one its own KEEPSAKE_HOME",
            )
        return fd

    def _files(self) -> list[LineWriter]:
        prompts, lines = self._prompts, self._lines
        return [each for each in (prompts.lines if prompts else None, lines) if each is not None]

    def _line(
        self, event: Event, time: datetime, number: int, agent_id: int, prompts: PromptWriter
    ) -> WrittenEvent:
        try:
            record = self._record(event, time, number, agent_id, prompts)
            text = _json(record)
        except (TypeError, ValueError, AttributeError) as error:
            # An event that is none must not keep all the others out of the log.
            fault = Fault(level="error", text=f"An event could not be logged: {error!r}")
            record = to_record(fault, time, number)
            text = _json(record)
        line = text.encode("utf-8", "replace")
        return WrittenEvent(number, str(record["kind"]), record.get("agent_id", 0), line)

    def _record(
        self, event: Event, time: datetime, number: int, agent_id: int, prompts: PromptWriter
    ) -> Record:
        record = to_record(event, time, number)
        if isinstance(event, Thought) and event.prompt:
            text = self._scrubber.clean(str(event.prompt))
            record["prompt"] = prompts.store(event.agent, text, time.date(), number)
        for each in record.get("recalled", ()):
            each["why"] = self._scrubber.clean_words(each["why"])
        for name, value in record.items():
            if type(value) not in _NO_WORDS and name not in _OURS:
                record[name] = self._clean(value)
        if isinstance(event, Fault) and not event.agent:
            record["agent"] = self._concerned(event.text)
            record["agent_id"] = self._agents.get(record["agent"], 0)
        elif agent := record.get("agent"):
            record["agent_id"] = record["agent_id"] or agent_id
            self._agents[str(agent)] = record["agent_id"]
        return record

    def _clean(self, value: Any) -> Any:
        """A value without secrets, whatever it is made of, and no longer than it may be."""
        if isinstance(value, str):
            # First without secrets, then cut: half a secret would not be known for one.
            text = self._scrubber.clean(value) if len(value) >= SHORTEST else value
            if len(text) <= LONGEST:
                return text
            return f"{text[:LONGEST]}… ({len(value):,} characters)"
        if isinstance(value, dict):
            kept = value.items()
            return {k: each if type(each) in _NO_WORDS else self._clean(each) for k, each in kept}
        if isinstance(value, list):
            return [self._clean(each) for each in value]
        return value

    def _concerned(self, text: str) -> str:
        """Whom a fault concerns: its text begins with the name, behind what kind it is."""
        while text.startswith("[") and "] " in text:
            text = text.partition("] ")[2]
        names = [name for name in self._agents if text.startswith((f"{name}:", f"{name} "))]
        return max(names, key=len, default="")


_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
