"""What a model behind a server takes, and what calls have shown of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from keepsake.models.profiles import CHAT

log = logging.getLogger("keepsake.models")

PROMPT_SHARE = 0.75
"""The share of a model's context that a prompt may fill."""
_SMALLER = 0.75
"""What that share shrinks by when a prompt that was small enough was refused all the same."""
_LEAST_CONTEXT, _LEAST_CUT = 256, 2048
_NEW_TOKENS, _WEIGHT = 128, 0.3
"""Tokens that an evaluation must have had to tell how fast it is; how much one tells."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model behind one server takes."""

    kind: str  # ``llama.cpp``, ``vllm``, ``ollama``, ``other`` or ``scripted``
    known: bool = False  # whether the server was asked; until then the rest is a guess
    form: str = CHAT  # the prompt that the model was made for: ``chat``, ``dialogue``, ``script``
    context: int = 0  # tokens of prompt and answer that it looks at; 0 where nobody says
    tools: bool = False  # it can call tools
    thinks: bool = False  # it thinks aloud and cannot be asked not to


@dataclass(slots=True)
class Lessons:
    """What calls have shown of one model at one server; outlives the clients that ask it."""

    capabilities: Capabilities | None = None  # what the server said last
    # tokens that it was seen to look at, where it said more or nothing; 0 if it kept its word
    context: int = 0
    share: float = PROMPT_SHARE  # of the context, that a prompt may fill
    # how messages are sent: 0 as they are, 1 with roles that alternate, 2 without a system message
    roles: int = 0
    thinks: bool = False  # it thought though it was asked not to
    refused: set[str] = field(default_factory=set)  # parts of a request that it does not take
    rate: float = 0.0  # tokens of a prompt that it evaluates in a second; 0 while not known
    note: str = ""  # what people should know of it

    def evaluated(self, tokens: int, seconds: float) -> None:
        """This many new tokens of a prompt took this long."""
        if tokens >= _NEW_TOKENS and seconds > 0:
            seen = tokens / seconds
            self.rate = self.rate + _WEIGHT * (seen - self.rate) if self.rate else seen

    def too_long(self, limit: int, sent: int) -> None:
        """A prompt was too long.

        Args:
            limit: Tokens of prompt and answer that the server takes; 0 if it did not say.
            sent: Tokens of the prompt, as we count.
        """
        known = self.context or (self.capabilities.context if self.capabilities else 0)
        limit = max(limit or sent, _LEAST_CONTEXT)
        if limit == self.context or limit * self.share >= sent * _SMALLER:
            self.share *= _SMALLER  # our counts are too low for it
        self.context = min(limit, known or limit)
        self.note = f"a prompt was too long: the model looks at {self.context:,} tokens"
        log.warning("[Model] %s; prompts get %d tokens", self.note, self.context * self.share)

    def cut(self, looked_at: int, sent: int) -> None:
        """The server evaluated far fewer tokens than the prompt had, and did not say so."""
        self.context = max(ceil(looked_at / self.share), _LEAST_CUT)
        self.note = f"it looked at {looked_at:,} of about {sent:,} tokens of a prompt"
        log.warning("[Model] %s: prompts are kept that small", self.note)

    def forget(self) -> None:
        """The server was gone: it may come back with another context or template."""
        self.context, self.share, self.note = 0, PROMPT_SHARE, ""
        self.roles, self.refused = 0, set()


LLAMA_CPP_DEFAULT_TEMPLATE = (
    "{%- for message in messages -%}{{- '<|im_start|>' + message.role + '\\n' + message.content +"
    " '<|im_end|>\\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}"
    "{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)
"""What llama.cpp's ``/props`` shows for a model that has no chat template of its own."""


def is_chat_template(template: str) -> bool:
    """Whether a Jinja template, as llama.cpp or a GGUF file shows it, is the model's own."""
    bare = _bare(template)
    return bool(bare) and bare != _bare(LLAMA_CPP_DEFAULT_TEMPLATE)


def thinks_aloud(template: str) -> bool:
    """Whether a model with this template thinks and its template has no switch for it."""
    return "<think>" in template and "enable_thinking" not in template


def takes_tools(template: str, caps: Mapping[str, Any]) -> bool:
    """Whether a model with this Jinja template calls tools; ``caps`` is what llama.cpp found."""
    return bool(caps.get("supports_tools", "tools" in template))


def is_ollama_chat(template: str) -> bool:
    """Whether an Ollama template does more than hand the prompt on, as base models' do."""
    return _bare(template) not in ("", "{{.Prompt}}", "{{-.Prompt}}", "{{.Prompt-}}")


def _bare(template: str) -> str:
    # Real line ends inside the template's strings and written ones mean the same.
    return "".join(template.replace("\\n", "").split())
