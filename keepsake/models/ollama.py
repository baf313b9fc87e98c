"""Ollama, by its official client.

Messages go to ``/api/chat``, and text to continue to ``/api/generate`` with ``raw``, without a
template around it. What the model was made for comes from ``/api/show``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from keepsake.errors import BadAnswer
from keepsake.models.capabilities import (
    Capabilities,
    Lessons,
    is_chat_template,
    is_ollama_chat,
    thinks_aloud,
)
from keepsake.models.client import (
    LOOK_SECONDS,
    HttpModel,
    RawAnswer,
    as_sent,
    count,
    tools_as_sent,
)
from keepsake.models.http import (
    ServerWords,
    client_settings,
    from_status,
    in_time,
    named_errors,
    shown,
)
from keepsake.models.profiles import CHAT, DIALOGUE, LARGEST_PROMPT, OLLAMA
from keepsake.ports import GenerationRequest

if TYPE_CHECKING:
    from ollama import ChatResponse, Client, GenerateResponse

DEFAULT_PORT = 11434
KEEP_ALIVE = "30m"
"""How long a model stays loaded after a call."""
_STEP = 1024


def ollama_host(host: str = "", environ: Mapping[str, str] = os.environ) -> str:
    """The address to use: the profile's, else ``OLLAMA_HOST``, else Ollama's own default."""
    found = host or environ.get("OLLAMA_HOST", "").strip() or "127.0.0.1"
    if "//" not in found:
        found = f"http://{found}" if ":" in found else f"http://{found}:{DEFAULT_PORT}"
    # 0.0.0.0 is where a server listens, not where a client connects.
    return found.replace("//0.0.0.0", "//127.0.0.1")


def words(host: str, model: str) -> ServerWords:
    """How errors speak of the Ollama at ``host``."""
    return ServerWords(
        f"Ollama at {shown(host)}",
        "Start it with: ollama serve; or correct host in llm.md",
        f"Fetch the model with: ollama pull {model}",
        os.environ.get("OLLAMA_API_KEY", ""),  # which the client sends by itself
    )


def connected(host: str, server: ServerWords) -> Client:
    """The official client, limited in time; connects to nothing yet."""
    import ollama  # noqa: PLC0415 - a tenth of what a start loads, and few profiles name it

    return ollama.Client(host, **client_settings(server))


@contextmanager
def asked(server: ServerWords, seconds: float) -> Iterator[None]:
    """Limit a call to this many seconds, and give what the client raises a name.

    Raises:
        ModelError: In place of its errors.
    """
    import ollama  # noqa: PLC0415 - as above

    try:
        with named_errors(server, seconds):
            yield
    except ollama.ResponseError as error:  # amid a stream
        raise from_status(500, str(error.error), server) from error
    except (TypeError, AttributeError) as error:
        what = f"{server.name} sent what is not Ollama's protocol ({str(error)[:120]})"
        raise BadAnswer(what, "Check that host in llm.md is an Ollama") from error


class OllamaModel(HttpModel):
    """Continues text and chats by Ollama; see :class:`HttpModel`.

    Args:
        host: Base address.
        model: The model's name, such as ``llama3.2:1b``.
        time_limit: Seconds an answer may take.
        context_tokens: Tokens that it is to look at; None for as many as prompts need.
        prompt_tokens: The most tokens of a prompt.
        lessons: What calls have shown of the model so far.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        time_limit: float = 60.0,
        context_tokens: int | None = None,
        prompt_tokens: int = 0,
        lessons: Lessons | None = None,
    ) -> None:
        super().__init__(words(host, model), model, OLLAMA, lessons)
        self._client, self._time_limit = connected(host, self.server), time_limit
        self._context_tokens = context_tokens
        # A quarter is left for the answer. In steps, as the model is loaded anew for another size.
        self._needed = -(-(prompt_tokens or LARGEST_PROMPT) * 4 // 3 // _STEP) * _STEP
        self._may_think = False

    def close(self) -> None:
        """Close the kept connections."""
        self._client.close()  # type: ignore[no-untyped-call]  # it has no annotations

    def _rows(self) -> list[Mapping[str, Any]]:
        with asked(self.server, LOOK_SECONDS):
            return [{"id": each.model} for each in self._client.list().models]

    def _has(self, names: Sequence[str]) -> bool:
        return self.model in names or f"{self.model}:latest" in names

    def _learn(self, rows: Sequence[Mapping[str, Any]]) -> Capabilities:
        with asked(self.server, LOOK_SECONDS):
            said = self._client.show(self.model)
        can, info = said.capabilities or [], said.modelinfo or {}
        own = str(info.get("tokenizer.chat_template", ""))
        # A model that takes tools or thinks was made for chat, whatever renders its prompt.
        chat = is_ollama_chat(said.template or "") or is_chat_template(own)
        self._may_think = "thinking" in can
        return replace(
            self.capabilities,
            known=True,
            form=CHAT if chat or "tools" in can or self._may_think else DIALOGUE,
            context=self._context(info, said.parameters or ""),
            tools="tools" in can,
            thinks=not self._may_think and thinks_aloud(own),
        )

    def _context(self, info: Mapping[str, Any], parameters: str) -> int:
        """Tokens that it is told to look at: as the profile or its own file says, or as needed."""
        rows = (line.split() for line in parameters.splitlines())
        written = {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}
        if own := self._context_tokens or written.get("num_ctx"):
            return own
        sizes = [count(size) for name, size in info.items() if name.endswith(".context_length")]
        return min([self._needed, *(size for size in sizes if size)])

    def _pieces(self, request: GenerationRequest) -> Iterator[RawAnswer]:
        chat = bool(request.messages)
        question: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "options": self._options(request),
            "keep_alive": KEEP_ALIVE,
            "format": request.json_schema and dict(request.json_schema),
        }
        if chat:
            question["messages"] = as_sent(request.messages)
            question["tools"] = tools_as_sent(request.tools)
            # Only a model that can think may be asked not to: the others answer with HTTP 400.
            question["think"] = False if self._may_think else None
        else:
            question |= {"prompt": request.prompt, "raw": True}
        question = {key: it for key, it in question.items() if key not in self.lessons.refused}
        ask: Any = self._client.chat if chat else self._client.generate
        with asked(self.server, self._time_limit), closing(ask(**question)) as came:
            for each in in_time(came):
                yield _answer(each, chat=chat)

    def _options(self, request: GenerationRequest) -> dict[str, Any]:
        options = {
            "temperature": request.temperature,
            "num_predict": request.max_tokens,
            "repeat_penalty": request.repeat_penalty,
            "stop": list(request.stop) or None,
            "seed": request.seed,
            "num_ctx": self.capabilities.context or self._context_tokens or self._needed,
        }
        return {name: value for name, value in options.items() if value is not None}


def _answer(body: GenerateResponse | ChatResponse, *, chat: bool) -> RawAnswer:
    message: Any = getattr(body, "message", None)
    calls = [each.function.model_dump() for each in (message and message.tool_calls) or ()]
    return RawAnswer(
        text=message.content if chat else getattr(body, "response", None),
        thought=message.thinking if chat else None,
        finish_reason=body.done_reason or ("stop" if body.done else None),
        # Ollama says how many it was given and is silent about its cache.
        prompt_tokens=body.prompt_eval_count,
        cached_tokens=0,
        completion_tokens=body.eval_count,
        evaluation_seconds=body.prompt_eval_duration and body.prompt_eval_duration / 1e9,
        model=body.model,
        tool_calls=calls,
    )
