"""What a model behind a server takes: as the server says, and as its refusals show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from keepsake.errors import ModelError
from keepsake.models.profiles import CHAT
from keepsake.ports import ChatMessage, GenerationRequest

PROMPT_SHARE = 0.75
"""The share of a model's context that a prompt may fill."""
SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
NO_SYSTEM = 2
"""The level of :attr:`Capabilities.roles` from which on no system message is sent."""
_LEAST_ROOM = 192
_NEW_TOKENS, _WEIGHT = 128, 0.3
"""Tokens that an evaluation must have had to tell how fast it is; how much one tells."""
_NOBODY_SPOKE = "…"
_SYSTEM_REFUSED = ("system role", "system message", "system prompt")
_ROLES_REFUSED = ("alternate", "only user and assistant", "only support user and assistant")
"""What templates say that take no system message, or no two messages of one role in a row."""
_PARTS = {
    "stream_options": "stream_options",
    "max_tokens": "Use 'max_completion_tokens'",
    "temperature": "'temperature' does not support",
}
"""Parts of a request that may be left out, and what a server says that refuses one."""
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
    # how messages are sent: 0 as they are, 1 with roles that alternate, 2 without a system message
    roles: int = 0
    refused: frozenset[str] = frozenset()  # parts of a request that it does not take
    room: int = 0  # tokens of a prompt, after one was too long; 0 if none was
    rate: float = 0.0  # tokens of a prompt that it evaluates in a second; 0 while not known

    def after(self, error: ModelError, request: GenerationRequest) -> Capabilities:
        """With what a refusal shows of how that request must be sent; the same if nothing."""
        said = error.said.lower()
        for part, refusal in _PARTS.items():
            if refusal.lower() in said:
                return replace(self, refused=self.refused | {part})
        no_system = any(each in said for each in _SYSTEM_REFUSED)
        refused = no_system or any(each in said for each in _ROLES_REFUSED)
        if request.messages and self.roles < NO_SYSTEM and refused:
            return replace(self, roles=NO_SYSTEM if no_system else self.roles + 1)
        if request.tools and "tool" in said:
            return replace(self, refused=self.refused | {"tools"})
        return self

    def too_long(self, limit: int, sent: int) -> Capabilities:
        """With less room for prompts: one was too long.

        Args:
            limit: Tokens of prompt and answer that the server takes; 0 if it did not say.
            sent: Tokens of the prompt, as we count.
        """
        # If our counts are too low for it, a prompt within the limit was refused.
        room = int(min(limit or sent, sent) * PROMPT_SHARE)
        return replace(self, room=max(min(room, self.room or room), _LEAST_ROOM))

    def evaluated(self, tokens: int, seconds: float) -> Capabilities:
        """With its rate corrected: so many new tokens of a prompt took this long."""
        if tokens < _NEW_TOKENS or seconds <= 0:
            return self
        seen = tokens / seconds
        return replace(self, rate=self.rate + _WEIGHT * (seen - self.rate) if self.rate else seen)


def alternating(messages: Sequence[ChatMessage], level: int) -> tuple[ChatMessage, ...]:
    """The messages for a template that refuses some.

    Args:
        messages: As they were written.
        level: 0 for all as they are; 1 for user and assistant in turn, after one system message
            at most; 2 for the same without it.
    """
    if not level:
        return tuple(messages)
    head = [each for each in messages[:1] if each.role == SYSTEM and level < NO_SYSTEM]
    rest = [
        ChatMessage(USER if each.role == SYSTEM else each.role, each.text)
        for each in messages[len(head) :]
    ]
    if rest and rest[0].role == ASSISTANT:  # templates begin with the user
        rest.insert(0, ChatMessage(USER, _NOBODY_SPOKE))
    merged = [
        ChatMessage(role, "\n\n".join(each.text for each in of_one))
        for role, of_one in groupby(rest, key=lambda each: each.role)
    ]
    return (*head, *merged)


# -- chat templates


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
