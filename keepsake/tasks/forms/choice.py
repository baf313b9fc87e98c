"""Chooses the prompt form for a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from keepsake.ports import FormName, TargetModel
from keepsake.tasks.forms.chat import ChatForm
from keepsake.tasks.forms.dialogue import DialogueForm
from keepsake.tasks.forms.form import PromptForm
from keepsake.tasks.forms.script import ScriptForm
from keepsake.tasks.task import Prompts

_FORMS: Mapping[FormName, type[PromptForm]] = {
    each.name: each for each in (ChatForm, DialogueForm, ScriptForm)
}


def form_of(
    target: TargetModel,
    talk: Prompts,
    act: Prompts,
    count: Callable[[Sequence[str]], int],
    memory_tokens: int = 0,
) -> PromptForm:
    """Return the form in which a model is asked; see :class:`PromptForm` for the arguments."""
    return _FORMS[FormName(target.form)](target, talk, act, count, memory_tokens)
