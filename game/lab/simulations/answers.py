"""The answers of models in one hour of a simulation, written down so that they can be given again.

What a server counts as tokens is such an answer as well.

A scripted model answers the same as often as it is asked, so nothing is written of it. A real one
does not: what it has answered is in ``answers.jsonl`` of the home, one JSON object a line, and so
in the checkpoint behind that hour.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from keepsake import errors
from keepsake.errors import ModelError, ModelFailed
from keepsake.json_lines import parsed
from keepsake.ports import Generation, GenerationRequest, LanguageModel, ToolCall

ANSWERS = "answers.jsonl"


class Answers:
    """Writes answers into the file ``kept``, and gives those of the file ``given``; any thread."""

    def __init__(self, kept: Path, given: Path | None = None) -> None:
        self._kept, self._lock = kept, threading.Lock()
        self._given: defaultdict[str, deque[Any]] = defaultdict(deque)
        kept.unlink(missing_ok=True)  # of the hour before
        if given is not None and given.exists():
            for line in given.read_bytes().splitlines():
                record = parsed(line)
                self._given[str(record.get("asked"))].append(record)

    def ask(self) -> None:
        """From now on models are asked, whatever is given."""
        with self._lock:
            self._given.clear()

    def answer(self, asked: object, ask: Callable[[], Any]) -> Any:
        """What was answered to that, as it can be written in JSON; ``ask`` is called for the rest.

        Raises:
            ModelError: There was no answer, then or now.
        """
        key = hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()
        with self._lock:
            record = self._given[key].popleft() if self._given.get(key) else None
        if record is None:
            record = {"asked": key, **_outcome(ask)}
        line = json.dumps(record, ensure_ascii=False)
        with self._lock, self._kept.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        if "error" in record:
            raise getattr(errors, str(record["error"]), ModelFailed)(record["what"], record["cure"])
        return record["answer"]


def _outcome(ask: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"answer": ask()}
    except ModelError as error:
        return {"error": type(error).__name__, "what": error.what, "cure": error.cure}


class AnsweredModel:
    """A model that answers as it did once, where it is asked the same."""

    def __init__(self, inner: LanguageModel, profile: str, answers: Answers) -> None:
        self._inner, self._profile, self._answers = inner, profile, answers

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model."""
        values = [getattr(request, each.name) for each in fields(request) if each.compare]
        asked = [self._profile, *values]
        found = self._answers.answer(asked, lambda: asdict(self._inner.generate(request)))
        calls = tuple(ToolCall(**each) for each in found.get("tool_calls", ()))
        return Generation(**{**found, "tool_calls": calls})
