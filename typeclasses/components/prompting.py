"""The prompt that an agent would send now, from its memory and what is around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from game.mind.memory import MemoryContext
from game.mind.prompt import PromptContext, Situation
from game.mind.recall.related import Found, Related, question
from game.mind.records import Memory, MemoryKind, Summary
from game.mind.script import RenderedMemory
from game.mind.verbs import STANDARD_VERBS
from typeclasses.components.surroundings import exits_of, people_near, things_near
from typeclasses.services import Services

if TYPE_CHECKING:
    from typeclasses.agents import Agent
    from typeclasses.components.keeper import Keeper

_COMMANDS = tuple(f"{verb.usage}: {verb.help}" for verb in STANDARD_VERBS)


@dataclass(frozen=True, slots=True)
class Kept:
    """What stands in a prompt beside the tiers of the memory.

    Attributes:
        pinned: Facts that always stand there.
        related: Notes and experiences that may matter to this thought.
        remembered: Memories that the agent has called back.
    """

    pinned: tuple[str, ...] = ()
    related: Related = field(default_factory=Related)
    remembered: tuple[str, ...] = ()


def kept_by(keeper: Keeper, found: Found | None = None) -> Kept:
    """What the agent keeps, and what was found for this thought, as it is now."""
    return Kept(keeper.shown_pins, keeper.related(found), tuple(keeper.remembered))


def question_of(agent: Agent, memory: MemoryContext) -> str:
    """What a thought of the agent asks its memory."""
    place = agent.location.key if agent.location else ""
    return question(memory, place, [person.key for person in people_near(agent)])


def prompt_for(
    agent: Agent, memory: MemoryContext, services: Services, kept: Kept, nudge: str = ""
) -> str:
    """The text that the model is to continue.

    Args:
        agent: Who thinks.
        memory: What it remembers.
        services: Where the template comes from.
        kept: Pins, notes and experiences.
        nudge: Why its last answer was refused, if it was.

    Raises:
        ConfigError: The template fails, and there was never a good one.
    """
    context = PromptContext(
        name=agent.key,
        profile=str(agent.db.profile or ""),
        examples=_examples(agent),
        commands=_COMMANDS,
        pinned=kept.pinned,
        longterm_summary=_text(memory.longterm),
        recent_summary=_text(memory.recent),
        window=tuple(_rendered(each) for each in memory.window),
        related_notes=kept.related.notes,
        related_experiences=kept.related.experiences,
        remembered=kept.remembered,
        situation=situation_of(agent),
        nudge=nudge,
    )
    return services.template().current.render(context)


def situation_of(agent: Agent) -> Situation:
    """Where the agent is, and who and what is there."""
    place = agent.location
    if place is None:
        return Situation(place="nowhere")
    return Situation(
        place=place.key,
        description=str(place.db.desc or ""),
        exits=tuple(exits_of(agent)),
        present=tuple(each.key for each in (*people_near(agent), *things_near(agent))),
    )


def _examples(agent: Agent) -> tuple[str, ...]:
    """The example lines; one example may have several."""
    return tuple(line for each in agent.db.examples or () for line in str(each).splitlines())


def _text(summary: Summary | None) -> str:
    return summary.text if summary else ""


def _rendered(memory: Memory) -> RenderedMemory:
    own = memory.kind is MemoryKind.ACT
    text = f"{memory.text} | {memory.reason}" if own and memory.reason else memory.line
    return RenderedMemory(text, memory.time.astimezone(), own)  # the machine's own time zone
