"""The prompt that an agent would send now, from its memory and what is around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from game.mind.memory import MemoryContext
from game.mind.prompt import PromptContext, Situation
from game.mind.records import Memory, MemoryKind, Summary
from game.mind.script import RenderedMemory
from game.mind.verbs import STANDARD_VERBS
from typeclasses.components.surroundings import exits_of, people_near, things_near
from typeclasses.services import Services

if TYPE_CHECKING:
    from typeclasses.agents import Agent

_COMMANDS = tuple(f"{verb.usage}: {verb.help}" for verb in STANDARD_VERBS)


def prompt_for(agent: Agent, memory: MemoryContext, services: Services, nudge: str = "") -> str:
    """The text that the model is to continue.

    Args:
        agent: Who thinks.
        memory: What it remembers.
        services: Where the template comes from.
        nudge: Why its last answer was refused, if it was.

    Raises:
        ConfigError: The template fails, and there was never a good one.
    """
    context = PromptContext(
        name=agent.key,
        profile=str(agent.db.profile or ""),
        examples=_examples(agent),
        commands=_COMMANDS,
        longterm_summary=_text(memory.longterm),
        recent_summary=_text(memory.recent),
        window=tuple(_rendered(each) for each in memory.window),
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
