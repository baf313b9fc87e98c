"""The services that an agent uses, as small Protocols.

Implementations are in :mod:`keepsake.models` (models, embedders) and in the game (clock). Tests use
their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

SYSTEM = "system"
USER = "user"
ASSISTANT = "assistant"


class FormName(StrEnum):
    """The name of a prompt form, as in ``llm.md``, and what a model client must know of it.

    The classes of :mod:`keepsake.tasks.forms` do everything else that depends on the form.

    Attributes:
        sends_messages: Whether the request is a list of messages for a chat endpoint.
        answer_tokens: The default limit of an answer: a chat model writes several lines, a model
            that continues text writes one.
    """

    sends_messages: bool
    answer_tokens: int

    def __new__(cls, name: str, sends_messages: bool = False, answer_tokens: int = 0) -> FormName:
        """Make a member, which is equal to its name."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.sends_messages = sends_messages
        made.answer_tokens = answer_tokens
        return made

    CHAT = ("chat", True, 400)
    DIALOGUE = ("dialogue", False, 60)
    SCRIPT = ("script", False, 60)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message for a chat endpoint."""

    role: str  # :data:`SYSTEM`, :data:`USER` or :data:`ASSISTANT`
    text: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model with tool calling may call: a verb such as ``give``."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # a JSON schema of an object


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in a model's answer."""

    name: str
    arguments: Mapping[str, Any]


class TargetModel(Protocol):
    """The properties of the model that a task depends on; a profile of ``llm.md`` has them."""

    @property
    def form(self) -> str:
        """``chat`` (messages), ``dialogue`` (raw text to continue) or ``script`` (a transcript)."""

    @property
    def prompt_tokens(self) -> int:
        """The most tokens of a prompt."""

    @property
    def tail_tokens(self) -> int:
        """The most tokens of a prompt that may differ from the last prompt; 0 for no limit."""

    @property
    def takes_tools(self) -> bool:
        """Whether the model can call tools."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One text to continue, or one chat to answer."""

    # the raw text; no chat template is applied. With ``messages`` it has the same words, for logs
    # and token counts, and is not sent
    prompt: str = ""
    max_tokens: int = 0  # most tokens of the answer; 0 for the profile's
    stop: tuple[str, ...] = ()  # strings that end the answer; they are not part of it
    temperature: float | None = None  # None for the profile's
    seed: int | None = None
    repeat_penalty: float = 1.0  # 1.0 is none
    # JSON schema that the answer must match, if the server supports it
    json_schema: Mapping[str, Any] | None = None
    # the caller; calls with the same key share a prompt cache slot if the server has them
    cache_key: str | None = None
    # sent to a chat endpoint in place of ``prompt``; empty for completion
    messages: tuple[ChatMessage, ...] = ()
    tools: tuple[Tool, ...] = ()  # functions that the model may call; only with ``messages``
    # called with each piece of the answer while it is generated, thoughts left out, in the calling
    # thread; None to wait for the whole answer. There is no retry after the first piece
    on_text: Callable[[str], None] | None = field(default=None, compare=False, repr=False)
    # called with the characters that were generated so far, after each piece, in the calling thread
    on_progress: Callable[[int], None] | None = field(default=None, compare=False, repr=False)
    # returns whether the caller no longer needs the answer; fast, called in the waiting thread
    is_cancelled: Callable[[], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Generation:
    """The result of a request."""

    text: str  # the answer, thoughts left out; empty only with ``tool_calls``
    finish_reason: str  # ``stop`` (an end or a stop string) or ``length``
    # tokens of the whole prompt, cached ones included; 0 if the server does not say
    prompt_tokens: int
    # prompt tokens that came from the server's cache; None if the server does not say
    cached_tokens: int | None
    completion_tokens: int
    seconds: float
    model: str
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def cached_share(self) -> float | None:
        """The share of the prompt's tokens that was cached, 0 to 1; None if it is not known."""
        if self.cached_tokens is None or not self.prompt_tokens:
            return None
        return self.cached_tokens / self.prompt_tokens


class RefusedAnswer(NamedTuple):
    """An answer of a model that a task could not use."""

    task: str
    answer: str
    reason: str


class LanguageModel(Protocol):
    """A model that continues text. It raises only :class:`keepsake.errors.ModelError`."""

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt``; blocks, so never call it on the reactor thread."""


PROBE = "The ferry leaves at noon, and my sister waits by the lighthouse with bread."
"""A text whose vector tells models apart. If it changes, another model answers under the same name,
and no new vector can be compared with the stored ones."""
_LEAST_ALIKE = 0.9
"""The least cosine between two vectors of :data:`PROBE` by the same model. Another processor or
another quantization changes it by 0.01 or 0.02; two models have nothing to do with each other."""


def is_same_model(before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether two vectors of :data:`PROBE`, both of length 1, are by the same model."""
    return len(before) == len(now) and math.sumprod(before, now) >= _LEAST_ALIKE


class Embedder(Protocol):
    """A model that turns texts into vectors. It raises :class:`keepsake.errors.ModelError`."""

    @property
    def model_name(self) -> str:
        """The name that the index stores with its vectors."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector for each text, all of one dimension and of length 1; blocks.

        A cache returns an old vector of :data:`PROBE` for some seconds only.
        """


def likens_questions(embedder: Embedder) -> bool:
    """Return whether an embedder finds any question near every other by their form.

    One that says so has the attribute ``likens_questions``. Recall then takes the mean of usual
    questions from the vector of a question.
    """
    return getattr(embedder, "likens_questions", False) is True


type WordVector = tuple[str, Sequence[float]]
"""A word in lower case and its vector in its context; a rare word is several, one for each part."""


class WordEmbedder(Embedder, Protocol):
    """An embedder that also makes vectors of words, in the pass that makes that of their text."""

    def embed_words(self, texts: Sequence[str]) -> Sequence[Sequence[WordVector]]:
        """Return the vectors of the words of each text, in order; blocks."""


def as_word_embedder(embedder: Embedder) -> WordEmbedder | None:
    """Return the embedder if it also makes vectors of words."""
    return cast(WordEmbedder, embedder) if getattr(embedder, "embed_words", None) else None


class Tokens(Protocol):
    """A token counter; fast, and safe in any thread.

    Attributes:
        factor: Changes whenever the token counts of texts change.
    """

    factor: float

    def of(self, text: str) -> int:
        """Return the tokens of ``text`` as one line."""

    def each(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, in order."""


class Cancellable(Protocol):
    """A call that is scheduled."""

    def cancel(self) -> None:
        """Cancel the call; does nothing if it has run or was cancelled."""


class Scheduler(Protocol):
    """Runs calls in the one thread that owns the game's objects: the reactor thread.

    All waiting on that thread goes through it. A simulation's scheduler has its own time and no
    other threads. Work that blocks belongs to a worker thread, which returns by :meth:`soon`;
    :meth:`keepsake.agent.runtime.Runtime.in_thread` does both.
    """

    def seconds(self) -> float:
        """Return the seconds of a monotonic clock; from any thread."""

    def later(self, delay: float, call: Callable[[], object]) -> Cancellable:
        """Call the function once after ``delay`` seconds; only on the scheduler's thread."""

    def every(self, interval: float, call: Callable[[], object]) -> Cancellable:
        """Call the function every ``interval`` seconds until it is cancelled.

        An error is logged and does not end it. Only on the scheduler's thread.
        """

    def soon(self, call: Callable[[], object]) -> None:
        """Call the function soon, in the order of these calls, never during this one.

        The only method that other threads may use, besides :meth:`seconds`.
        """


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the current time, with time zone."""


class SystemClock:
    """The machine's clock, in UTC."""

    now = staticmethod(partial(datetime.now, UTC))


class FixedClock:
    """A clock that shows ``time`` until it is set again."""

    def __init__(self, time: datetime) -> None:
        self.time = time

    def now(self) -> datetime:
        """Return the time that was set."""
        return self.time
