"""mem0 from its own package (`mem0ai`, Chhikara et al. 2025): a model extracts what to remember.

Its model calls go through the harness: the writer's profile extracts, the chosen embedder embeds,
and answers are cached. The package is not installed with Keepsake.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.lab.memories.plain import NewestLines, settings_of
from keepsake.lab.memories.retrieval import RagSettings
from keepsake.language.perception import writable
from keepsake.memory.protocol import MemoryArguments, RecalledLine, dated
from keepsake.ports import ChatMessage, GenerationRequest

_BATCH = 2
"""Lines per extraction, as in its authors' evaluation."""
_MOST_TOKENS = 2000
"""The most tokens an extraction may write, as in mem0's own clients."""

_DATED = "Each line begins with the date on which it was said. That date is its Observation Date."
"""Added to the prompt, because the package otherwise dates every line to today."""


class Mem0(NewestLines):
    """A memory that recalls what mem0 has extracted, and shows the newest lines.

    Raises:
        KeepsakeError: mem0 is not installed, or the model or the embedder is missing.
    """

    def __init__(self, given: MemoryArguments) -> None:
        super().__init__(given, settings_of(RagSettings, given.settings).window)
        if given.model is None or given.embedder is None:
            cure = "Name a profile of llm.md with --writer, and do not use --embedder none"
            raise KeepsakeError("mem0 needs a model that extracts, and an embedder", cure)
        # mem0 reads both at import: the folder of its files, and whether it sends telemetry.
        os.environ |= {"MEM0_DIR": str(given.folder), "MEM0_TELEMETRY": "False"}
        try:
            mem0 = import_module("mem0")
        except ImportError as error:
            cure = "Install it beside Keepsake: python -m pip install 'mem0ai[nlp]'"
            raise KeepsakeError(f"The package mem0ai cannot be imported ({error})", cure) from error
        size = len(given.embedder.embed(["size"])[0])
        vectors = {"path": str(given.folder / "vectors"), "embedding_model_dims": size}
        unused = {"provider": "openai", "config": {"api_key": "is never used"}}
        self._mem0 = mem0.Memory.from_config(
            {
                "llm": unused,
                "embedder": unused,
                "vector_store": {"provider": "qdrant", "config": vectors},
                "history_db_path": str(given.folder / "history.db"),
            }
        )
        embed = given.embedder.embed
        self._model = given.model
        self._mem0.llm = SimpleNamespace(generate_response=self._generate)
        self._mem0.embedding_model = SimpleNamespace(
            embed=lambda text, *_: [*map(float, embed([text])[0])],
            embed_batch=lambda texts, *_: [[*map(float, each)] for each in embed(texts)],
        )
        self._user = {"user_id": given.agent or "listener"}
        self._waiting: list[Memory] = []

    def perceive(self, memory: Memory) -> None:
        """Keep the line; every second line starts an extraction by the model.

        Raises:
            Exception: The model does not answer. mem0 decides which exception it is.
        """
        super().perceive(memory)
        self._waiting.append(memory)
        if len(self._waiting) == _BATCH:
            self._extract()

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return what mem0 finds, each with the numbers of the lines it was extracted from."""
        self._extract()
        asked = writable(question).strip() or "?"
        found = self._mem0.search(asked, top_k=limit, filters=self._user)["results"]
        return [
            RecalledLine(f"{of['day']}, {each['memory']}", tuple(of["numbers"]), each["score"])
            for each in found
            if (of := each["metadata"])
        ]

    def rest(self, *, asleep: bool) -> None:
        """Extract from the waiting lines."""
        self._extract()

    def close(self) -> None:
        """Close mem0 and its vector store."""
        self._mem0.close()
        self._mem0.vector_store.client.close()

    def _extract(self) -> None:
        if waiting := self._waiting:
            said = [{"role": "user", "content": writable(dated(each))} for each in waiting]
            day = f"{waiting[-1].time:%-d %B %Y}"
            about = {"numbers": [each.number for each in waiting], "day": day}
            self._mem0.add(said, metadata=about, prompt=_DATED, **self._user)
            self._waiting = []

    def _generate(self, messages: Sequence[Mapping[str, str]], **_: Any) -> str:
        """Answer mem0's request through our model client."""
        asked = tuple(ChatMessage(each["role"], each["content"]) for each in messages)
        text = "\n\n".join(each.text for each in asked)
        request = GenerationRequest(text, _MOST_TOKENS, temperature=0.0, messages=asked)
        return self._model.generate(request).text
