"""Builds the prompt of a turn. A turn, a builder's preview and a warm-up use the same function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from keepsake.agent.attention import Impulse
from keepsake.agent.memory.related import SearchResult
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.surroundings import Body, place_of
from keepsake.agent.turns.context import TurnContext, context_of
from keepsake.agent.turns.scene import recall_for_turn, scene_of
from keepsake.archive.privacy import is_private, is_redacted
from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, Speech
from keepsake.prompt.sections import Rendered
from keepsake.tasks.forms.form import Prompt, PromptForm


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt, and what it was made from.

    Attributes:
        form: The form that made it.
        made_from: What it was made from, as fields of the event.
        private: The numbers of memories in it that may hold private words: those of the window
            that do, and all recalled ones.
    """

    prompt: Prompt
    form: PromptForm
    made_from: Mapping[str, Any]
    private: tuple[int, ...] = ()


def prompt_of(
    agent: Body,
    turn: TurnContext,
    tools: MemoryTools,
    services: Runtime,
    *,
    form: PromptForm,
    found: SearchResult | None = None,
    extra: Memory | None = None,
    refused: str = "",
) -> BuiltPrompt:
    """Return the prompt of a turn for one model.

    Args:
        form: The form of the model's prompts.
        found: The result of recall.
        extra: A memory to show as the newest one, for a preview or a warm-up.
        refused: Why the last answer was refused; empty at the first attempt.

    Raises:
        KeepsakeError: The memory or a template cannot be read.
    """
    now = services.clock.now()
    scene, made_from = scene_of(agent, turn, tools, found, now, extra=extra, refused=refused)
    private = {m.number for m in scene.window if is_private(m) and not is_redacted(m)}
    for excerpt in (*scene.recalled, *scene.told):
        private.update(excerpt.numbers)
    return BuiltPrompt(form.render(scene), form, made_from, tuple(sorted(private)))


async def preview(
    agent: Body, impulse: Impulse, words: str, tools: MemoryTools, services: Runtime
) -> tuple[Rendered, int]:
    """Return the prompt as if the source of an impulse had just said ``words``, and its budget.

    Raises:
        KeepsakeError: The memory or a template cannot be read, or no model can be asked.
    """
    turn = context_of(agent, impulse, tools.memory)
    said = supposed(agent, turn.partner, words, tools, services)
    if said is not None:
        turn = replace(turn, words=words)
    found = await recall_for_turn(agent, turn, tools, by="builder")
    form = services.prompt_form(services.gateway.model(PROFILE)[0].resolved())
    built = prompt_of(agent, turn, tools, services, form=form, found=found, extra=said)
    return built.prompt.rendered, built.prompt.budget


def supposed(
    agent: Body, partner: Person | None, words: str, tools: MemoryTools, services: Runtime
) -> Memory | None:
    """Return the memory of the partner saying ``words``; None if there is no partner."""
    if partner is None:
        return None
    shown = f'{partner.name} says to you, "{words}"'
    speech = Speech(speaker=partner, words=words, to=(ME,), shown=shown)
    number = tools.memory.newest + 1
    return Memory(number, services.clock.now(), speech, place=place_of(agent))
