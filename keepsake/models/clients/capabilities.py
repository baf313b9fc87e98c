"""What a model server takes beyond plain text, and which form of prompt its model was made for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from keepsake.models.profiles import (
    CHAT,
    DIALOGUE,
    LLAMA_CPP,
    OLLAMA_SERVER,
    OTHER,
    SCRIPT,
    SCRIPTED,
    VLLM,
)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one model behind one server takes."""

    kind: str  # ``llama.cpp``, ``vllm``, ``ollama``, ``other`` or ``scripted``
    known: bool = False  # whether the server was asked; until then the rest is a careful guess
    # the prompt that the model was made for: ``chat``, ``dialogue`` or ``script``
    format: str = DIALOGUE
    grammar: bool = False  # it holds an answer to a GBNF grammar
    thinks: bool = False  # the model thinks aloud and cannot be asked not to
    slots: int = 0  # prompts that it works on at once; 0 where it does not say

    def learned(self, *, chat: bool, thinks: bool = False, slots: int = 0) -> Capabilities:
        """The same, now that the server was asked for its model's form."""
        form = CHAT if chat else DIALOGUE
        return replace(self, known=True, format=form, thinks=thinks, slots=slots)


_KINDS = {
    LLAMA_CPP: Capabilities(LLAMA_CPP, grammar=True),
    VLLM: Capabilities(VLLM, grammar=True),
    OLLAMA_SERVER: Capabilities(OLLAMA_SERVER),
    OTHER: Capabilities(OTHER),
    SCRIPTED: Capabilities(SCRIPTED, known=True, format=SCRIPT),
}


def of_kind(kind: str) -> Capabilities:
    """What servers of that kind take, before one is asked; unknown kinds are ``other``."""
    return _KINDS.get(kind, _KINDS[OTHER])


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


def is_ollama_chat(template: str) -> bool:
    """Whether an Ollama template does more than hand the prompt on, as base models' do."""
    return _bare(template) not in ("", "{{.Prompt}}", "{{-.Prompt}}", "{{.Prompt-}}")


def _bare(template: str) -> str:
    # Real line ends inside the template's strings and written ones mean the same.
    return "".join(template.replace("\\n", "").split())
