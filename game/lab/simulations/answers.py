"""The answers of models in one hour of a simulation, written down so that they can be given again.

A scripted model answers the same as often as it is asked, so nothing is written of it. A real one
does not: what it has answered is in ``answers.jsonl`` of the home, one JSON object a line, and so
in the checkpoint behind that hour.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import defaultdict, deque
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from game.mind import errors
from game.mind.errors import ModelError, ModelFailed
from game.mind.json_lines import parsed
from game.mind.ports import Generation, GenerationRequest, LanguageModel

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

    def given(self, key: str) -> Generation | ModelError | None:
        """The next answer that was given to that request; None if a model is to be asked."""
        with self._lock:
            record = self._given[key].popleft() if self._given.get(key) else None
        if record is None:
            return None
        if "error" in record:
            kind = getattr(errors, str(record["error"]), ModelFailed)
            error: ModelError = kind(record["what"], record["cure"])
            return error
        return Generation(**record["answer"])

    def keep(self, key: str, answer: Generation | ModelError) -> None:
        """Write an answer down."""
        record: dict[str, Any] = {"asked": key}
        if isinstance(answer, Generation):
            record["answer"] = asdict(answer)
        else:
            record |= {"error": type(answer).__name__, "what": answer.what, "cure": answer.cure}
        line = json.dumps(record, ensure_ascii=False)
        with self._lock, self._kept.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class AnsweredModel:
    """A model that answers as it did once, where it is asked the same."""

    def __init__(self, inner: LanguageModel, profile: str, answers: Answers) -> None:
        self._inner, self._profile, self._answers = inner, profile, answers

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model."""
        key = _key(self._profile, request)
        answer = self._answers.given(key)
        if answer is None:
            try:
                answer = self._inner.generate(request)
            except ModelError as error:
                answer = error
        self._answers.keep(key, answer)
        if isinstance(answer, ModelError):
            raise answer
        return answer


def _key(profile: str, request: GenerationRequest) -> str:
    values = {each.name: getattr(request, each.name) for each in fields(request)}
    asked = json.dumps([profile, values], default=str)
    return hashlib.sha256(asked.encode()).hexdigest()
