"""What a model behind a server takes: as the server says, and as its refusals show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from keepsake.errors import ModelBusy, ModelError, ModelUnavailable, PromptTooLong
from keepsake.models.profiles import CHAT
from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage, GenerationRequest
from keepsake.prompt.tokens import Heuristic, estimate_tokens

ROLES, TOOLS = "roles", "tools"
"""Parts of a request that a model may refuse: several messages of one role in a row or a system
message, and tools."""
_LEAST_ROOM = 192
WHOLE, _LEAST_CUT = 0.7, 512
"""A server that counts a smaller share of our tokens has read a part of the prompt only. No context
is smaller than the second number: a server that counts fewer tokens leaves out cached ones."""
_NEW_TOKENS, _WEIGHT = 128, 0.3
"""Tokens that an evaluation must have had to tell how fast it is; how much one tells."""
_NOBODY_SPOKE = "…"
_REFUSALS = {
    "stream_options": ("stream_options",),
    "max_tokens": ("use 'max_completion_tokens'",),
    "temperature": ("'temperature' does not support",),
    ROLES: (
        *("system role", "system message", "system prompt"),
        *("alternate", "only user and assistant", "only support user and assistant"),
    ),
    # of a call that the model wrote wrong servers say "tool call": that may pass
    TOOLS: ("tools", "tool choice", "tool_choice", "tool-choice", "tool_calls"),
}
"""Parts of a request that can be left out or sent otherwise, and what servers and templates say
that refuse one."""
LLAMA_CPP_DEFAULT_TEMPLATE = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content +"
    " '<|im_end|>\\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}"
    "{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
"""What llama.cpp's ``/props`` shows for a model that has no chat template of its own."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model behind one server takes."""

    kind: str  # ``llama.cpp``, ``vllm``, ``ollama``, ``other`` or ``scripted``
    known: bool = False  # whether the server was asked; until then the rest is a guess
    form: str = CHAT  # the prompt that the model was made for: ``chat``, ``dialogue``, ``script``
    context: int = 0  # tokens of prompt and answer that it looks at; 0 where nobody says
    tools: bool = False  # it can call tools
    thinks: bool = False  # it thinks aloud and cannot be asked not to, or does so all the same
    # -- what its refusals and its answers have shown
    refused: frozenset[str] = frozenset()  # parts of a request that it does not take
    room: int = 0  # tokens of a prompt, after one was too long; 0 if none was
    rate: float = 0.0  # tokens of a prompt that it evaluates in a second; 0 while not known
    evaluates: int = 0  # tokens at most, as its count of a longer prompt says; 0 if it had all

    def after(self, error: ModelError, request: GenerationRequest) -> Capabilities:
        """With what an error shows of how that request must be sent; the same if nothing."""
        if isinstance(error, PromptTooLong):
            half = size_of(request) // 2
            return replace(self, room=max(min(half, self.room or half), _LEAST_ROOM))
        if isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy):
            return replace(self, known=False)  # it may come back another
        said, there = error.said.lower(), {ROLES: request.messages, TOOLS: request.tools}
        for part, phrases in _REFUSALS.items():
            new = part not in self.refused and there.get(part, True)
            if new and any(each in said for each in phrases):
                return replace(self, refused=self.refused | {part})
        return self

    def evaluated(self, tokens: int, seconds: float) -> Capabilities:
        """With its rate corrected: so many new tokens of a prompt took this long."""
        if tokens < _NEW_TOKENS or seconds <= 0:
            return self
        seen = tokens / seconds
        return replace(self, rate=self.rate + _WEIGHT * (seen - self.rate) if self.rate else seen)

    def counted(self, text: str, before: str, tokens: int) -> Capabilities:
        """With what the server's count of a prompt's tokens shows of how many it evaluates.

        Args:
            text: The prompt.
            before: The one before it of the same agent, which may be cached and not counted.
            tokens: The server's count.
        """
        if tokens <= 1.1 * self.evaluates:
            return self
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(text, before, strict=False))
        parts = text, text[sum(1 for _ in pairs) :]
        least, fresh = (min(Heuristic().of(each), estimate_tokens(each)) for each in parts)
        # More than the fresh part by far: the cached part is counted, and still some is missing.
        cut = _LEAST_CUT <= tokens < WHOLE * least
        cut = cut and (tokens < WHOLE * fresh or tokens > 2 * fresh + _LEAST_CUT)
        return replace(self, evaluates=tokens if cut else 0)


def size_of(request: GenerationRequest) -> int:
    """Tokens of a prompt, as we count."""
    return Heuristic().of("\n".join(each.text for each in request.messages) or request.prompt)


def alternating(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The messages for a template that refuses some: user and assistant in turn."""
    rest = [ChatMessage(USER if e.role == SYSTEM else e.role, e.text) for e in messages]
    if rest and rest[0].role == ASSISTANT:  # templates begin with the user
        rest.insert(0, ChatMessage(USER, _NOBODY_SPOKE))
    return tuple(
        ChatMessage(role, "\n\n".join(each.text for each in of_one))
        for role, of_one in groupby(rest, key=lambda each: each.role)
    )


def is_chat_template(template: str) -> bool:
    """Whether a Jinja template, as llama.cpp or a GGUF file shows it, is the model's own."""
    bare = _bare(template)
    return bool(bare) and bare != _bare(LLAMA_CPP_DEFAULT_TEMPLATE)


def thinks_aloud(template: str) -> bool:
    """Whether a model with this template thinks and its template has no switch for it."""
    return "<think>" in template and "enable_thinking" not in template


def is_ollama_chat(template: str) -> bool:
    """Whether an Ollama template does more than hand the prompt on, as base models' do."""
    return _bare(template) not in ("", "{{.Prompt}}", "{{-.Prompt}}", "{{.Prompt-}}")


def _bare(template: str) -> str:
    # Real line ends inside the template's strings and written ones mean the same.
    return "".join(template.replace("\\n", "").split())
