"""What a mind needs from outside, as small Protocols.

Implementations live in :mod:`game.llm` (models, embedders) and in the game
(clock); tests bring their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message for a chat endpoint.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One text to continue, or one chat to answer.

    Attributes:
        prompt: The raw text; no chat template is put around it. With ``messages`` it is the
            same in words, for logs and token counts, and is not sent.
        messages: What a chat endpoint is sent in place of ``prompt``; empty for completion.
        stop: Strings that end the answer; they are not part of it.
        repeat_penalty: 1.0 is none.
        dry_multiplier: How strongly runs of words that stand in the prompt already are held
            back (DRY sampling), 0 is not at all; only llama.cpp reads it.
        json_schema: JSON schema the answer must match, where the server can.
        grammar: GBNF grammar the answer must match; only llama.cpp reads it.
        cache_key: Who asks; calls with one key share a prompt cache slot where
            the server has them.
    """

    prompt: str
    max_tokens: int = 128
    stop: tuple[str, ...] = ()
    temperature: float = 0.7
    seed: int | None = None
    repeat_penalty: float = 1.0
    dry_multiplier: float = 0.0
    json_schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    cache_key: str | None = None
    messages: tuple[ChatMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """What came back.

    Attributes:
        text: The answer, never empty.
        finish_reason: ``stop`` (an end or a stop string) or ``length``.
        prompt_tokens: Tokens of the whole prompt, cached ones included; 0 if the
            server does not say.
        cached_tokens: Those of them that were not evaluated again.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float
    model: str


class LanguageModel(Protocol):
    """Continues text. Raises :class:`game.mind.errors.ModelError` and nothing else."""

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt``; blocks, so never call it on the reactor thread."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors. Raises :class:`game.mind.errors.ModelError`."""

    @property
    def model_name(self) -> str:
        """The name that the index keeps beside its vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, all of one dimension; blocks."""
        ...


class Tokens(Protocol):
    """Knows what a text costs in a prompt; quick, and safe in any thread."""

    @property
    def source(self) -> str:
        """Who counts: ``model server``, ``tiktoken``, ``heuristic``."""
        ...

    def of(self, text: str) -> int:
        """Tokens of ``text``: the count if it is known, else an estimate."""
        ...

    def each(self, texts: Sequence[str]) -> list[int]:
        """The same of each of several, in their order."""
        ...


class Clock(Protocol):
    """Where a mind gets its time from."""

    def now(self) -> datetime:
        """The present time, with time zone."""
        ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """The present time in UTC."""
        return datetime.now(UTC)
