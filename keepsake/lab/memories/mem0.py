"""mem0 (https://github.com/mem0ai/mem0) as a memory: the real package, with our embedder and model.

Its store is Qdrant on disk in the memory's folder; nothing is sent anywhere. Install it with
``pip install "keepsake[mem0]"``.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from keepsake.archive.records import Memory
from keepsake.books.files import replace_file
from keepsake.errors import KeepsakeError
from keepsake.lab.memories.windows import MOST_LINES, Newest, settings_of
from keepsake.language.words import writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, line_of
from keepsake.ports import ChatMessage, Embedder, GenerationRequest, LanguageModel

_UNUSED = {"api_key": "unused"}
"""mem0 wants to be told of an embedder and a model; ours take their places before any is asked."""
_EXTRACTED = {
    "type": "object",
    "properties": {
        "memory": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            },
        }
    },
    "required": ["memory"],
}
"""What mem0 asks a model for, as far as it reads it."""


@dataclass(frozen=True, slots=True)
class Mem0Settings:
    """What can be set."""

    window: int = between(16, low=0, high=MOST_LINES)  # newest memories that stand in every prompt
    batch: int = between(10, low=1, high=1000)  # lines from which the model draws facts at a time
    answer_tokens: int = between(800, low=50, high=100_000)  # what it may write for them


class Mem0Memory(Newest):
    """Facts that a model draws from each batch of lines; the lines themselves without a model.

    A fact rests on all lines of its batch. What was taken in is in mem0's store and in
    ``taken.json``; lines that wait for their batch to be full are handed over again.
    """

    def __init__(self, given: Surroundings) -> None:
        self._settings = settings_of(Mem0Settings, given.settings)
        super().__init__(given, self._settings.window)
        if given.embedder is None:
            raise KeepsakeError("mem0 needs an embedder", "Let llm.md name one")
        self._given, self._file = given, given.folder / "taken.json"
        self._user = given.agent or "listener"
        self._waiting: list[Memory] = []
        self._taken = self._read()
        self._newest = self._taken
        self._client, self._mem0 = _opened(given, given.embedder, self._settings.answer_tokens)

    def perceive(self, memory: Memory) -> None:
        """Keep the line until its batch is full; a repeat says nothing new.

        Raises:
            KeepsakeError: mem0 could not take the batch in; its lines go on waiting.
        """
        again = memory.number == self._newest
        super().perceive(memory)
        if again:
            return
        self._waiting.append(memory)
        # After a failure it is tried again with the next full batch, not with every line.
        if len(self._waiting) % self._settings.batch == 0:
            self._take_in()

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """What mem0 finds; lines that wait are taken in before."""
        self._take_in()
        asked = writable(question).strip()
        if not asked:
            return ()
        with _quietly():
            found = self._mem0.search(asked, top_k=limit, filters={"user_id": self._user})
        return [_recalled(each) for each in found["results"]]

    def rest(self, *, asleep: bool) -> None:
        """Take in what waits."""
        self._take_in()

    def state(self) -> Mapping[str, Figure]:
        """How many lines it has been handed, and how many of them wait."""
        return {"lines": self._newest, "waiting": len(self._waiting)}

    def close(self) -> None:
        """Let go of the store."""
        self._write()
        self._mem0.close()
        self._client.close()

    # -- inside

    def _take_in(self) -> None:
        """Hand what waits to mem0, in batches, the oldest first."""
        while batch := self._waiting[: self._settings.batch]:
            with _quietly():
                self._add(batch)
            del self._waiting[: len(batch)]
            self._taken = batch[-1].number
            self._write()

    def _add(self, batch: Sequence[Memory]) -> None:
        if self._given.model is None:
            for each in batch:
                self._tell([each], infer=False)
        else:
            self._tell(batch, infer=True)

    def _tell(self, batch: Sequence[Memory], *, infer: bool) -> None:
        told = [{"role": "user", "content": line} for each in batch if (line := _line(each))]
        about = {"numbers": [m.number for m in batch], "day": f"{batch[-1].time:%-d %B %Y}"}
        if not told:
            return
        try:
            self._mem0.add(told, user_id=self._user, metadata=about, infer=infer)
        except Exception as error:  # its own, ours through it, those of its store
            told_so = f"mem0 could not take in what was lived ({error})"
            raise KeepsakeError(told_so, "See that the model of its profile answers") from error

    def _read(self) -> int:
        """The last line that was taken in; the shown lines up to it are shown again."""
        try:
            kept = json.loads(self._file.read_text(encoding="utf-8"))
            self._lines = {int(number): line for number, line in kept["lines"].items()}
            return int(kept["taken"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0

    def _write(self) -> None:
        lines = {n: line for n, line in self._lines.items() if n <= self._taken}
        kept = {"taken": self._taken, "lines": lines}
        replace_file(self._file, json.dumps(kept, ensure_ascii=False))


class Mem0Embedding:
    """Our embedder, as mem0 asks one."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One vector."""
        return list(self._embedder.embed([text])[0])

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        """One vector a text."""
        return [list(vector) for vector in self._embedder.embed(list(texts))]


class Mem0Model:
    """Our model, as mem0 asks one: by messages, for JSON."""

    def __init__(self, model: LanguageModel | None, most: int) -> None:
        self._model, self._most = model, most

    def generate_response(
        self, messages: Sequence[Mapping[str, str]], response_format: Any = None, **_: Any
    ) -> str:
        """The answer's text."""
        if self._model is None:
            raise KeepsakeError("mem0 asks for a model and was given none", "Name a profile's")
        sent = tuple(ChatMessage(each["role"], each["content"]) for each in messages)
        request = GenerationRequest(
            "\n\n".join(each.text for each in sent),
            max_tokens=self._most,
            temperature=0.0,
            json_schema=_EXTRACTED if response_format else None,
            messages=sent,
        )
        return self._model.generate(request).text


def _opened(given: Surroundings, embedder: Embedder, most: int) -> tuple[Any, Any]:
    """Qdrant in the memory's folder, and mem0 over it.

    Raises:
        KeepsakeError: mem0 is not installed.
    """
    memory_class, client_class = _imported(given.folder)
    with _quietly():
        client = client_class(
            path=str(given.folder / "qdrant"), force_disable_check_same_thread=True
        )
        store = {
            "client": client,
            "collection_name": "lived",
            "embedding_model_dims": len(embedder.embed(["a"])[0]),
        }
        opened = memory_class.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": dict(_UNUSED)},
                "llm": {"provider": "openai", "config": dict(_UNUSED)},
                "history_db_path": str(given.folder / "history.db"),
            }
        )
    opened.embedding_model = Mem0Embedding(embedder)
    opened.llm = Mem0Model(given.model, most)
    return client, opened


def _imported(folder: Path) -> tuple[Any, Any]:
    # Read when it is imported: whether it sends figures to its makers, and where it keeps a file.
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", str(folder / "mem0"))
    try:
        with _quietly():
            found = import_module("mem0"), import_module("qdrant_client")
    except ImportError as error:
        told = f"mem0 is not installed ({error})"
        raise KeepsakeError(told, 'Install it: pip install "keepsake[mem0]"') from error
    return found[0].Memory, found[1].QdrantClient


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what it warns its own makers of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _line(memory: Memory) -> str:
    return writable(line_of(memory)).strip()


def _recalled(found: Mapping[str, Any]) -> RecalledLine:
    about = found.get("metadata") or {}
    numbers = tuple(int(each) for each in about.get("numbers", ()))
    text = f"{about.get('day', '')}, {found['memory']}".lstrip(", ")
    return RecalledLine(text, numbers, float(found.get("score") or 0.0))
