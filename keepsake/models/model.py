"""The model of a profile behind a server: asked, asked again after what may pass, learnt about."""

from __future__ import annotations

import json
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from httpx import ReadTimeout

from keepsake.errors import (
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.language.perception import LAST_COMMA
from keepsake.models.capabilities import ROLES, TOOLS, WHOLE, Capabilities, alternating, size_of
from keepsake.models.http import ServerWords, named_errors
from keepsake.models.profiles import AUTO, CHAT, LLAMA_CPP, OLLAMA, YES, ModelProfile
from keepsake.models.scripted import ScriptedModel
from keepsake.models.thoughts import AnswerText
from keepsake.ports import Generation, GenerationRequest, Tool, ToolCall
from keepsake.prompt.tokens import CHARACTERS_PER_TOKEN

log = logging.getLogger("keepsake.models")

THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""
LOOK_SECONDS = 10.0
"""What a question about the server itself may take."""
EVALUATE_SECONDS = 2.0
"""What the evaluation of the new part of a prompt may take."""
LEAST_TAIL, LEAST_PROMPT = 256, 1024
"""Tokens that may be new in a prompt, and those of a prompt, however slow the server is."""
_ATTEMPTS = 2
"""Calls in all, where an error may pass."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 5.0
_LOOK_SECONDS = 0.1
"""How often a call that waits looks whether its answer is still wanted."""


@dataclass(slots=True)
class SentAnswer:
    """What a server sent beside the words of its answer."""

    thought: bool = False
    finish: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    evaluation_seconds: float = 0.0
    model: str = ""
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)  # of tools: name and arguments


class ServerModel(ABC):
    """Continues text and chats by one server. Safe to use from several threads.

    What may pass (no answer, or the server broke) is asked once more. A server that is busy (it
    loads its model, or is asked too often) is waited for as long as the time allows, with pauses
    that grow, and is left alone for as long as it says. An empty answer is asked for again as well,
    unless a fixed seed would give the same one. A time-out is not: it has cost all the time there
    was. Neither is an answer of which a part was handed on.

    Args:
        profile: Which model is asked, and how.
        host: The address of its server.
        server: How errors speak of it.
        kind: What the server is, as far as it is known.
        ready: Waits until the model's process answers; raises ModelUnavailable.

    Attributes:
        capabilities: What it takes, as far as that is known.
        down: Why its server was gone when it was last looked at, or wants to be left alone for
            longer than a call may take; None if neither. Until the next look calls fail at once.
        family: The form that suits its family, if its server says another; may be set later.
    """

    def __init__(
        self,
        profile: ModelProfile,
        host: str,
        server: ServerWords,
        kind: str,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.profile, self.host, self.server = profile, host, server
        self.capabilities = Capabilities(kind)
        self.down: ModelError | None = None
        self.family = ""
        self._ready, self._learning = ready, threading.Lock()
        self._asked: dict[str | None, str] = {}  # the last prompt of each agent

    def suited(self) -> ModelProfile:
        """The profile as prompts are made for it, as far as its model is known."""
        takes = self.capabilities
        contexts = filter(None, (self.profile.context_tokens, takes.context))
        found = self.profile.suited(self.family or takes.form, min(contexts, default=0))
        limits = takes.room, takes.evaluates * 3 // 4
        room, tail = min([found.prompt_tokens, *filter(None, limits)]), 0
        if takes.rate:  # also a prompt of which the server has nothing is to be answered in time
            room = min(room, max(int(takes.rate * found.time_limit / 2), LEAST_PROMPT))
            tail = max(int(takes.rate * EVALUATE_SECONDS), LEAST_TAIL)
        offers = takes.tools if found.tools == AUTO else found.tools == YES
        return replace(
            found,
            prompt_tokens=room,
            tail_tokens=tail if tail < room else 0,
            takes_tools=offers and found.form == CHAT and TOOLS not in takes.refused,
        )

    def learn(self) -> None:
        """Ask what the model takes, unless that is known; blocks.

        Raises:
            ModelError: It could not be asked.
        """
        with self._learning:
            if not self.capabilities.known:
                if self.down is not None:
                    raise self.down
                self._ready()
                self.check()

    def check(self) -> None:
        """See that the server answers and has the model; learns what it takes.

        Raises:
            ModelError: It does not, or it has not.
        """
        try:
            rows = self._rows()
            names = [str(each.get("id")) for each in rows]
            if not self._has(names):
                has = f"it has {', '.join(names[:8]) or 'none'}"
                what = f"{self.server.name} has no model {self.profile.model!r}"
                raise ModelMissing(what, f"{self.server.cure_missing}; {has}")
        except ModelError:  # it may come back another
            self.capabilities = replace(self.capabilities, known=False)
            raise
        if not self.capabilities.known:
            with suppress(ModelError):  # it serves all the same, and is asked again
                self.capabilities = self._learnt(rows)

    # -- one call

    def generate(self, request: GenerationRequest) -> Generation:
        """Continue ``request.prompt`` or answer ``request.messages``; blocks.

        What an error shows of the server is remembered, and the request sent in another shape.

        Raises:
            ModelError: The last one, with the cure in its message.
        """
        may_pass = (ModelUnavailable, ModelFailed, *((BadAnswer,) if request.seed is None else ()))
        until, pause, left = time.monotonic() + self.profile.time_limit, _FIRST_PAUSE, _ATTEMPTS
        if self.down is not None:
            raise self.down
        self._ready()
        while True:
            takes, words, began = self.capabilities, AnswerText(request.on_text), time.monotonic()
            try:
                return self._call(request, takes, words, until)
            except (ModelTimeout, CallGivenUp) as error:
                # The prompt was not read. Of others no answer would ever tell that they are quick.
                timed = takes.kind in (OLLAMA, LLAMA_CPP)
                if timed and isinstance(error, ModelTimeout) and not words.text:
                    self.capabilities = takes.evaluated(size_of(request), time.monotonic() - began)
                raise
            except ModelError as error:
                if words.told:
                    what = f"The answer ended amid its words: {error.what}"
                    raise BadAnswer(what, error.cure) from error
                self.capabilities = self.capabilities.after(error, request)
                if self.capabilities.refused != takes.refused:
                    continue
                self.down = error if error.until >= until else self.down
                left -= not isinstance(error, ModelBusy)
                again = max(time.monotonic() + pause, error.until)
                if again >= until or not left or not isinstance(error, may_pass):
                    raise
            _wait(again, request.given_up)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _call(
        self, request: GenerationRequest, takes: Capabilities, words: AnswerText, until: float
    ) -> Generation:
        """Send a request in the shape that the server takes, and take its answer in as it comes."""
        began, sent, messages = time.monotonic(), SentAnswer(), request.messages
        folded = alternating(messages) if ROLES in takes.refused else messages
        shaped = replace(request, messages=folded)
        if request.messages and takes.thinks:
            # A stop string in a thought would end the thought: the answer is cut here in its place.
            shaped = replace(shaped, stop=(), max_tokens=request.max_tokens + THOUGHT_TOKENS)
            words.stop, words.hold = request.stop, True
        with (
            named_errors(self.server, self.profile.time_limit),
            closing(self._pieces(shaped, takes, sent, until)) as pieces,  # type: ignore[type-var]
        ):
            for piece in pieces:
                if time.monotonic() > until:
                    raise ReadTimeout("the answer came too slowly")
                words.feed(piece)
                if words.ended:
                    break
                if request.given_up is not None and request.given_up():
                    raise CallGivenUp("The call was given up", "Nobody wants its answer")
        if not (sent.finish or words.ended):
            what = f"{self.server.name} broke off amid its answer"
            raise ModelUnavailable(what, self.server.cure_absent)
        words.feed("", whole=True)
        thought, cached = words.thought or sent.thought, min(sent.cached_tokens, sent.prompt_tokens)
        # Ollama counts what it had cached as if it had read it: first prompts alone tell.
        before = self._asked.get(request.cache_key, "")
        self._asked[request.cache_key] = request.prompt
        if request.cache_key is None or not before or takes.kind != OLLAMA:
            takes = takes.evaluated(sent.prompt_tokens - cached, sent.evaluation_seconds)
        thinks = takes.thinks or (thought and bool(request.messages))
        self.capabilities = replace(takes, thinks=thinks)
        characters = sent.prompt_tokens * CHARACTERS_PER_TOKEN
        if takes.evaluates or characters < WHOLE * len(request.prompt):
            self._doubt(request.prompt, before, sent.prompt_tokens)
        if not (words.text.strip() or sent.calls):
            cure = "Raise max_tokens in llm.md, or use a model that does not think"
            what, cure = ("a thought and no", cure) if thought else ("an empty", "Ask again")
            raise BadAnswer(f"{self.server.name} sent {what} answer", cure)
        return Generation(
            text=words.text,
            finish_reason="length" if sent.finish == "length" else "stop",
            prompt_tokens=sent.prompt_tokens,
            cached_tokens=cached,
            completion_tokens=sent.completion_tokens,
            seconds=time.monotonic() - began,
            model=sent.model or self.profile.model,
            tool_calls=tuple(self._tool_call(each) for each in sent.calls.values()),
        )

    def _doubt(self, prompt: str, before: str, tokens: int) -> None:
        """Learn how many tokens it evaluates from its low count of those of a prompt."""
        takes = self.capabilities
        found = takes.counted(prompt, before, tokens)
        if new := found.evaluates > takes.evaluates:
            loaded = self._loaded()  # of which Ollama evaluates the half, if a prompt is longer
            if tokens < loaded * CHARACTERS_PER_TOKEN < len(prompt):
                found = replace(found, evaluates=loaded)
        self.capabilities = found
        if new:
            log.warning("[Model] %s", self.shortage)

    @property
    def shortage(self) -> str:
        """That it evaluates a part of long prompts, and the cure; empty if it does not."""
        if not (most := self.capabilities.evaluates):
            return ""
        return (
            f"{self.server.name} evaluates {most:,} tokens of a prompt and leaves the rest out:"
            " prompts are made to fit. Give the model a larger context there, and reload the game"
        )

    def _tool_call(self, sent: Mapping[str, Any]) -> ToolCall:
        """A call of a tool as a server sent it; BadAnswer for one that cannot be read."""
        name, arguments = sent.get("name"), sent.get("arguments") or {}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(LAST_COMMA.sub(r"\1", arguments), strict=False)
            except (ValueError, RecursionError):
                arguments = None
        if not isinstance(name, str) or not name or not isinstance(arguments, dict):
            said = self.server.quoted(str(sent))
            what = f"{self.server.name} sent a call of a tool that cannot be read ({said})"
            raise BadAnswer(what, "Ask again, or write tools: no in llm.md")
        return ToolCall(name, arguments)

    @abstractmethod
    def _rows(self) -> list[Mapping[str, Any]]:
        """The models that the server lists, by ``id``; may raise ModelError."""

    @abstractmethod
    def _has(self, names: Sequence[str]) -> bool:
        """Whether the model is among those that the server lists."""

    @abstractmethod
    def _learnt(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        """What the server takes, as it says; may raise ModelError."""

    def _loaded(self) -> int:
        """Tokens that the loaded model looks at, if the server says so; 0 if not."""
        return 0

    @abstractmethod
    def _pieces(
        self, request: GenerationRequest, takes: Capabilities, sent: SentAnswer, until: float
    ) -> Iterator[str]:
        """The words of the answer as they are written; what else came is put into ``sent``."""


def _wait(until: float, given_up: Callable[[], bool] | None) -> None:
    while time.monotonic() < until:
        if given_up is not None and given_up():
            raise CallGivenUp("The call was given up", "Nobody wants its answer")
        time.sleep(_LOOK_SECONDS)


def tools_as_sent(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools, as every server takes them."""
    named = [
        {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
        for each in tools
    ]
    return [{"type": "function", "function": each} for each in named]


type Model = ServerModel | ScriptedModel
"""What is asked for a profile."""
