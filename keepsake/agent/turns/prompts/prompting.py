"""Builds the prompt of a turn. A turn, a builder's preview and a warm-up use the same function."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.body import Body
from keepsake.agent.memory.confidences import IN_CONFIDENCE
from keepsake.agent.memory.present import present_only
from keepsake.agent.memory.tools import MemoryTools
from keepsake.agent.runtime import PROFILE, Runtime
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.turns.abilities import available_verbs
from keepsake.agent.turns.consent.carried import TOLD
from keepsake.agent.turns.context import TurnContext, context_of
from keepsake.agent.turns.prompts.recalling import (
    found_by,
    made_from,
    recall_for_turn,
    with_recalled,
)
from keepsake.agent.turns.prompts.scene import scene_of
from keepsake.agent.turns.prompts.setting import with_deeds
from keepsake.archive.privacy import Audience, is_private, is_redacted
from keepsake.archive.records import Memory
from keepsake.events.values import RecallPurpose
from keepsake.happening import ME, Person, Speech
from keepsake.prompt.sections import Rendered
from keepsake.recall.finding import SearchResult
from keepsake.tasks.forms.form import Prompt, PromptForm

CONFIDED = f"Here you were told things in confidence before: > recall {IN_CONFIDENCE} finds them."
"""Said alone with somebody who confided in the agent before the window and speaks openly now. The
words themselves would make everything private that the agent says and does then."""


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt, and what it was made from.

    Attributes:
        form: The form that made it.
        made_from: What it was made from, as fields of the event.
        private: The numbers of memories in it that may hold private words: those of the window
            that do, those behind promises, plans and pages, and all recalled ones.
    """

    prompt: Prompt
    form: PromptForm
    made_from: Mapping[str, Any]
    private: tuple[int, ...] = ()


def prompt_of(
    agent: Body,
    context: TurnContext,
    tools: MemoryTools,
    services: Runtime,
    *,
    form: PromptForm,
    recalled: SearchResult | None = None,
    extra: Sequence[Memory] = (),
    refused: str = "",
) -> BuiltPrompt:
    """Return the prompt of a turn for one model.

    Args:
        form: The form of the model's prompts.
        recalled: The result of recall; None without one.
        extra: Memories to show as the newest ones, for a preview or a warm-up.
        refused: Why the last answer was refused; empty at the first attempt.

    Raises:
        KeepsakeError: The memory or a template cannot be read.
    """
    now = services.clock.now()
    scene = scene_of(agent, context, tools, now, extra=extra, refused=refused)
    if recalled is not None:
        # The turn may have become one about another plan, with somebody else, since the search.
        recalled = recalled.heard_by(tools.memory.private, context.audience)
    shown = tools.to_show(recalled, now, form.beside(scene))
    nearest = recalled.numbers if recalled is not None else ()
    scene = with_recalled(scene, agent, context, tools, shown, now=now, nearest=nearest)
    basis = made_from(tools, shown, found_by(scene, context.looked_up))
    if not tools.has_memory:
        scene, basis = present_only(scene, basis)
    private = {m.number for m in scene.window if is_private(m) and not is_redacted(m)}
    private.update(scene.private)
    for excerpt in (*scene.recalled, *scene.told):
        private.update(excerpt.numbers)
    # Without private words in the prompt, the deeds are those among others, whoever is here.
    holds = tools.memory.private.confidants_of(private) is not None
    verbs, options = available_verbs(agent, context, tools, holds=holds)
    scene = with_deeds(scene, agent, verbs, options, withheld=tools.withheld)
    if not context.whispered and form.writes_deeds and tools.confided(context.audience):
        scene = replace(scene, facts=(*scene.facts, CONFIDED))
    if context.errand and context.partner is not None and form.writes_deeds:
        scene = replace(scene, facts=(*scene.facts, TOLD.format(context.partner.name)))
    return BuiltPrompt(form.render(scene), form, basis, tuple(sorted(private)))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer, in a talk that nobody in the game has."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class SupposedTurn:
    """A turn that would come if somebody said something now. Nothing of it is remembered.

    Attributes:
        said: The memory of the words, as the newest one, after what was said before it; empty if
            nobody says them.
        recalled: The result of recall.
    """

    context: TurnContext
    said: tuple[Memory, ...]
    recalled: SearchResult | None

    def prompt(
        self,
        agent: Body,
        tools: MemoryTools,
        services: Runtime,
        *,
        form: PromptForm,
        refused: str = "",
    ) -> BuiltPrompt:
        """Return its prompt; see :func:`prompt_of`."""
        return prompt_of(
            agent,
            self.context,
            tools,
            services,
            form=form,
            recalled=self.recalled,
            extra=self.said,
            refused=refused,
        )


async def suppose(
    agent: Body,
    impulse: Impulse,
    words: str,
    tools: MemoryTools,
    services: Runtime,
    *,
    purpose: RecallPurpose,
    audience: Audience | None = None,
    without: Collection[int] = (),
    before: Sequence[Exchange] = (),
) -> SupposedTurn:
    """Return the turn that would come if the source of an impulse said ``words``, after recall.

    Args:
        purpose: What the search is for; logged with it.
        audience: Who hears the answer; None for those who are here.
        without: The numbers of memories that the prompt leaves out.
        before: What was asked and answered before in the same supposed talk.

    Raises:
        KeepsakeError: The memory cannot be read.
    """
    context = context_of(agent, impulse, tools.memory)
    if audience is not None:
        context = replace(context, audience=audience)
    context = replace(context, without=frozenset(without))
    said = supposed(agent, context.partner, words, tools, services, before=before)
    if said:
        context = replace(context, words=words)
    recalled = await recall_for_turn(agent, context, tools, purpose)
    if recalled is not None:
        recalled = recalled.without(context.without)
    return SupposedTurn(context, said, recalled)


async def preview(
    agent: Body, impulse: Impulse, words: str, tools: MemoryTools, services: Runtime
) -> tuple[Rendered, int]:
    """Return the prompt as if the source of an impulse had just said ``words``, and its budget.

    Raises:
        KeepsakeError: The memory or a template cannot be read, or no model can be asked.
    """
    turn = await suppose(agent, impulse, words, tools, services, purpose=RecallPurpose.BUILDER)
    form = services.prompt_form(services.gateway.model(PROFILE)[0].resolved())
    built = turn.prompt(agent, tools, services, form=form)
    return built.prompt.rendered, built.prompt.budget


def supposed(
    agent: Body,
    partner: Person | None,
    words: str,
    tools: MemoryTools,
    services: Runtime,
    *,
    before: Sequence[Exchange] = (),
) -> tuple[Memory, ...]:
    """Return the memory of the partner saying ``words``, after those of what was said ``before``.

    It is empty if there is no partner.
    """
    if partner is None:
        return ()
    spoken = list[Speech]()
    for exchange in before:
        spoken += [_said_by(partner, exchange.question), _said_to(partner, exchange.answer)]
    spoken.append(_said_by(partner, words))
    now = services.clock.now()
    first = tools.memory.newest + 1
    place = place_of(agent)
    return tuple(Memory(first + i, now, each, place=place) for i, each in enumerate(spoken))


def _said_by(partner: Person, words: str) -> Speech:
    shown = f'{partner.name} says to you, "{words}"'
    return Speech(speaker=partner, words=words, to=(ME,), shown=shown)


def _said_to(partner: Person, words: str) -> Speech:
    return Speech(speaker=ME, words=words, to=(partner,), shown=f"say {words}")
