"""What a model on a server accepts, learned from what the server says and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from keepsake.errors import ModelBusy, ModelError, ModelUnavailable, PromptTooLong
from keepsake.language.tokens import Heuristic, estimate_tokens
from keepsake.models.profiles import CHAT
from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage, GenerationRequest

ROLES = "roles"
TOOLS = "tools"
"""Parts of a request that a model may refuse. ``roles``: system messages, or consecutive messages
with the same role."""
THINKING_SWITCH = "chat_template_kwargs"
"""The field that asks a template not to let the model think. Some servers then take the whole
answer for a thought: vLLM whose reasoning parser expects one, for example. Others refuse it."""
_LEAST_LIMIT = 192
"""No limit of a prompt is set below this many tokens, whatever a server reports."""
WHOLE = 0.7
"""A server that counts a smaller share of our tokens has read only a part of the prompt."""
_LEAST_CUT = 512
"""A count below this means that cached tokens were left out: no context is that small."""
_NEW_TOKENS = 128
"""A speed is measured only with at least this many new tokens."""
_WEIGHT = 0.3
"""The weight of one measurement in the speed; the rest is that of earlier ones."""
_SILENCE = "…"
_REFUSALS = {
    "stream_options": ("stream_options",),
    "max_tokens": ("use 'max_completion_tokens'",),
    "temperature": ("'temperature' does not support",),
    THINKING_SWITCH: (THINKING_SWITCH, "enable_thinking"),
    ROLES: (
        "system role",
        "system message",
        "system prompt",
        "alternate",
        "only user and assistant",
        "only support user and assistant",
    ),
    # "tool call" is not listed: servers say it of a malformed call, where a retry can succeed
    TOOLS: ("tools", "tool choice", "tool_choice", "tool-choice", "tool_calls"),
}
"""Parts of a request that can be left out or sent in another form, each with the phrases by which
servers and templates refuse it."""
LLAMA_CPP_DEFAULT_TEMPLATE = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content +"
    " '<|im_end|>\\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}"
    "{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
"""What llama.cpp's ``/props`` shows for a model that has no chat template of its own."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model on one server accepts."""

    kind: str  # ``llama.cpp``, ``vllm``, ``ollama``, ``other`` or ``scripted``
    known: bool = False  # whether the server was asked; until then the rest is a guess
    form: str = CHAT  # the prompt that the model was made for: ``chat``, ``dialogue``, ``script``
    context: int = 0  # context window in tokens, prompt and answer; 0 if unknown
    slots: int = 0  # how many prompts the server keeps in its cache; 0 if it does not say
    tools: bool = False  # the model can call tools
    thinks: bool = False  # the model thinks aloud, and this cannot be switched off
    # -- learned from refusals and answers
    refused: frozenset[str] = frozenset()  # parts of a request that it refuses
    limit: int = 0  # limit of a prompt in tokens, set after one was too long; 0 if none was
    rate: float = 0.0  # prompt tokens evaluated per second; 0 if unknown
    evaluates: int = 0  # the most prompt tokens that the server evaluates; 0 if it evaluates all

    def updated_by(self, error: ModelError, request: GenerationRequest) -> Capabilities:
        """Return the capabilities updated by an error; unchanged if it shows nothing new."""
        if isinstance(error, PromptTooLong):
            half = size_of(request) // 2
            return replace(self, limit=max(min(half, self.limit or half), _LEAST_LIMIT))
        if isinstance(error, ModelUnavailable) and not isinstance(error, ModelBusy):
            return replace(self, known=False)  # another model may be there when it is back
        said = error.said.lower()
        chat = bool(request.messages)
        there = {ROLES: chat, THINKING_SWITCH: chat, TOOLS: bool(request.tools)}
        for part, phrases in _REFUSALS.items():
            new = part not in self.refused and there.get(part, True)
            if new and any(each in said for each in phrases):
                return replace(self, refused=self.refused | {part})
        return self

    def with_rate(self, tokens: int, seconds: float) -> Capabilities:
        """Return the capabilities with the rate updated by one measurement of new tokens."""
        if tokens < _NEW_TOKENS or seconds <= 0:
            return self
        seen = tokens / seconds
        return replace(self, rate=self.rate + _WEIGHT * (seen - self.rate) if self.rate else seen)

    def with_count(self, text: str, before: str, tokens: int) -> Capabilities:
        """Infer from the server's token count of a prompt how many tokens it evaluates.

        Args:
            before: The same agent's previous prompt. The server may have cached and not counted it.
            tokens: The server's count.
        """
        if tokens <= 1.1 * self.evaluates:
            return self
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(text, before, strict=False))
        parts = text, text[sum(1 for _ in pairs) :]
        least, fresh = (min(Heuristic().of(each), estimate_tokens(each)) for each in parts)
        # A count far above the fresh part includes the cached part: then tokens are missing.
        cut = _LEAST_CUT <= tokens < WHOLE * least
        cut = cut and (tokens < WHOLE * fresh or tokens > 2 * fresh + _LEAST_CUT)
        return replace(self, evaluates=tokens if cut else 0)


def size_of(request: GenerationRequest) -> int:
    """Return our own estimate of the tokens of a prompt."""
    return Heuristic().of("\n".join(each.text for each in request.messages) or request.prompt)


def alternating(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Merge messages so that user and assistant alternate, for templates that require it."""
    rest = [ChatMessage(USER if e.role == SYSTEM else e.role, e.text) for e in messages]
    if rest and rest[0].role == ASSISTANT:  # these templates require the user first
        rest.insert(0, ChatMessage(USER, _SILENCE))
    return tuple(
        ChatMessage(role, "\n\n".join(each.text for each in of_one))
        for role, of_one in groupby(rest, key=lambda each: each.role)
    )


def is_chat_template(template: str) -> bool:
    """Whether a Jinja template, from llama.cpp or a GGUF file, is the model's own."""
    bare = _bare(template)
    return bool(bare) and bare != _bare(LLAMA_CPP_DEFAULT_TEMPLATE)


def thinks_aloud(template: str) -> bool:
    """Whether a template makes the model think and has no switch to turn that off."""
    return "<think>" in template and "enable_thinking" not in template


def is_ollama_chat(template: str) -> bool:
    """Whether an Ollama template is a chat template. Those of base models only pass the prompt."""
    return _bare(template) not in ("", "{{.Prompt}}", "{{-.Prompt}}", "{{.Prompt-}}")


def _bare(template: str) -> str:
    # Line ends in the template's strings are equal whether literal or escaped.
    return "".join(template.replace("\\n", "").split())
