"""What a mind needs from outside, as small Protocols.

Implementations live in :mod:`keepsake.models` (models, embedders) and in the game
(clock); tests bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message for a chat endpoint."""

    role: str  # :data:`SYSTEM`, :data:`USER` or :data:`ASSISTANT`
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model with tool calling may call: a verb, ``give``."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # a JSON schema of an object


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model has answered with."""

    name: str
    arguments: Mapping[str, Any]


class TargetModel(Protocol):
    """What a task knows of the model that will answer; a profile of ``llm.md`` is one."""

    @property
    def form(self) -> str:
        """``chat`` (messages), ``dialogue`` (raw text to continue) or ``script`` (a transcript)."""

    @property
    def prompt_tokens(self) -> int:
        """The most tokens that a prompt may have."""

    @property
    def tail_tokens(self) -> int:
        """The most tokens that may be new in a prompt since the last one; 0 for any number."""

    @property
    def takes_tools(self) -> bool:
        """Whether the model can call tools."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One text to continue, or one chat to answer."""

    # the raw text; no chat template is put around it. With ``messages`` it is the same in words,
    # for logs and token counts, and is not sent
    prompt: str = ""
    max_tokens: int = 0  # tokens of the answer; 0 for the profile's
    stop: tuple[str, ...] = ()  # strings that end the answer; they are not part of it
    temperature: float | None = None  # None for the profile's
    seed: int | None = None
    repeat_penalty: float = 1.0  # 1.0 is none
    # JSON schema the answer must match, where the server can
    json_schema: Mapping[str, Any] | None = None
    # who asks; calls with one key share a prompt cache slot where the server has them
    cache_key: str | None = None
    # what a chat endpoint is sent in place of ``prompt``; empty for completion
    messages: tuple[ChatMessage, ...] = ()
    tools: tuple[Tool, ...] = ()  # what the model may call; only with ``messages``
    # called with each piece of the answer while it is written, thoughts left out, in the thread
    # that asks; None to wait for the whole. A request is not retried once a piece has come
    on_text: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    # whether nobody wants the answer any more; quick, asked in the thread that waits for it
    given_up: Callable[[], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Generation:
    """What came back."""

    text: str  # the answer, thoughts left out; empty only beside ``tool_calls``
    finish_reason: str  # ``stop`` (an end or a stop string) or ``length``
    # tokens of the whole prompt, cached ones included; 0 if the server does not say
    prompt_tokens: int
    cached_tokens: int  # those of them that were not evaluated again
    completion_tokens: int
    seconds: float
    model: str
    tool_calls: tuple[ToolCall, ...] = ()


class LanguageModel(Protocol):
    """Continues text. Raises :class:`keepsake.errors.ModelError` and nothing else."""

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt``; blocks, so never call it on the reactor thread."""


class Embedder(Protocol):
    """Turns texts into vectors. Raises :class:`keepsake.errors.ModelError`."""

    @property
    def model_name(self) -> str:
        """The name that the index keeps beside its vectors."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of one dimension and of length 1; blocks."""


class Tokens(Protocol):
    """Knows what a text costs in a prompt; quick, and safe in any thread.

    Attributes:
        factor: Changes whenever the costs of texts change.
    """

    factor: float

    def of(self, text: str) -> int:
        """Tokens of ``text`` as a line."""

    def each(self, texts: Sequence[str]) -> list[int]:
        """The same of each of several, in their order."""


class Clock(Protocol):
    """Where a mind gets its time from."""

    def now(self) -> datetime:
        """The present time, with time zone."""


class SystemClock:
    """The machine's clock, in UTC."""

    now = staticmethod(partial(datetime.now, UTC))


class FixedClock:
    """Stands still at ``time`` until that is set anew."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def now(self) -> datetime:
        """The time it was put to."""
        return self.time
