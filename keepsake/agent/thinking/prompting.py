"""The prompt that an agent would send now, from its memory and what is around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from keepsake.agent.body import Body
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.services import Services
from keepsake.agent.surroundings import exits_of, looks_of, people_near, things_near
from keepsake.agent.tasks import Routine
from keepsake.archive.privacy import NOBODY, Audience, outward
from keepsake.archive.records import Memory, Summary
from keepsake.memory import MemoryContext
from keepsake.ports import Tokens
from keepsake.prompt.budget import Costs, PromptSection
from keepsake.prompt.marks import FRAME
from keepsake.prompt.template import PromptContext, Rendered, Situation, kept_script
from keepsake.prompt.verbs import COMPACT, STANDARD_VERBS, Verb
from keepsake.prompt.window_script import WindowScript, rendered
from keepsake.recall.related import Related, SearchResult, question

_WITHOUT_COMPACT = tuple(verb for verb in STANDARD_VERBS if verb.name != COMPACT)
_TITLES = {
    "profile": "who it is",
    "longterm_summary": "long-term summary",
    "recent_summary": "short-term summary",
    "journal": "what mattered",
    "people": "people here",
    "related_notes": "related notes",
    "related_experiences": "related past",
    "remembered": "called back",
    FRAME: "headings",
}
"""What the sections are called where the template's own name for them says too little."""


@dataclass(frozen=True, slots=True)
class PromptExtras:
    """What stands in a prompt beside the tiers of the memory."""

    pinned: tuple[str, ...] = ()  # facts that always stand there
    # rules that it was told and promises that it made, with their sources
    noticed: tuple[str, ...] = ()
    # notes and experiences that may matter to this thought
    related: Related = field(default_factory=Related)
    remembered: tuple[str, ...] = ()  # memories that the agent has called back
    examples: bool = True  # whether the lines that show its voice may stand there
    # what mattered most of what it wrote down, from before the window
    journal: tuple[str, ...] = ()
    people: tuple[str, ...] = ()  # what it knows of those who are there, and of the place
    called_back: tuple[int, ...] = ()  # the numbers of the memories that it has called back
    # the window as whoever is answered may hear it; None for anybody
    window: tuple[Memory, ...] | None = None
    context: tuple[str, ...] = ()  # what another memory than ours has in place of summaries

    def ever_less(self) -> Iterator[PromptExtras]:
        """This, and then with one more of what a thought can do without left out each time."""
        less = self
        yield less
        for without in ({"related": Related()}, *_DISPENSABLE):
            if (barer := replace(less, **without)) != less:
                yield (less := barer)


_DISPENSABLE: tuple[dict[str, Any], ...] = (
    {"remembered": (), "called_back": ()},
    {"journal": ()},
    {"people": ()},
    {"examples": False},
    {"context": ()},
)
"""What a prompt that is too large is built without, one after the other."""


def kept_by(
    agent: Body,
    mind: Remembering,
    found: SearchResult | None = None,
    audience: Audience = NOBODY,
) -> PromptExtras:
    """What the agent keeps, and what was found for this thought, as it is now.

    ``audience``: Whom the thought answers, and nobody else hears; private words of theirs alone
    are among it.
    """
    memory = mind.memory.context()
    window = memory.window
    if mind.plugged is not None:
        return PromptExtras(
            pinned=mind.keeper.shown_pins,
            window=mind.memory.private.heard_by(memory.shown, audience),
            context=mind.plugged.brought.context,
            related=mind.keeper.related(found),
            remembered=tuple(mind.keeper.remembered),
            called_back=mind.keeper.called_back,
        )
    return PromptExtras(
        pinned=mind.keeper.shown_pins,
        noticed=mind.memory.noticed_for(audience, window[0].number if window else None),
        window=mind.memory.private.heard_by(memory.shown, audience),
        journal=mind.diary.lines,
        people=mind.acquaintances.lines(agent),
        related=mind.keeper.related(found),
        remembered=tuple(mind.keeper.remembered),
        called_back=mind.keeper.called_back,
    )


def look_up(agent: Body, mind: Remembering, done: Callable[[PromptExtras], None]) -> None:
    """Make ready what a thought of the agent would be given now, and hand it over."""

    async def looked_up() -> PromptExtras:
        asking = question_of(agent, mind.memory.context())
        found = await mind.keeper.relate(asking, scene=False, by="builder")
        return kept_by(agent, mind, found)

    Routine(looked_up(), done).run()


def verbs_of(services: Services) -> tuple[Verb, ...]:
    """What agents can do now: they compact their memory only where the configuration lets them."""
    return STANDARD_VERBS if services.compaction.current.on_agent else _WITHOUT_COMPACT


def question_of(agent: Body, memory: MemoryContext) -> str:
    """What a thought of the agent asks its memory."""
    place = agent.location.key if agent.location else ""
    return question(memory, place, [person.key for person in people_near(agent)])


def script_of_window() -> WindowScript:
    """Keeps the lines of one agent's window from one prompt to the next."""
    return kept_script(lambda memory: rendered(memory, memory.time.astimezone()))


def prompt_for(
    agent: Body,
    memory: MemoryContext,
    services: Services,
    kept: PromptExtras,
    nudge: str = "",
    *,
    script: WindowScript | None = None,
) -> Rendered:
    """The text that the model is to continue, and where each of its lines comes from.

    Raises:
        ConfigError: The template fails, and there was never a good one.
    """
    context = PromptContext(
        name=agent.key,
        profile=str(agent.db.profile or ""),
        examples=examples_of(agent) if kept.examples else (),
        commands=tuple(f"{verb.usage}: {verb.help}" for verb in verbs_of(services)),
        pinned=kept.pinned,
        noticed=kept.noticed,
        journal=kept.journal,
        longterm_summary=_text(memory.longterm),
        recent_summary="\n".join(kept.context) or _text(memory.recent),
        window=(script or script_of_window()).of(
            kept.window if kept.window is not None else tuple(map(outward, memory.shown)),
            agent.key,
        ),
        people=kept.people,
        related_notes=kept.related.notes,
        related_experiences=kept.related.experiences,
        remembered=kept.remembered,
        situation=situation_of(agent),
        nudge=nudge,
    )
    return services.template().current.rendered(context)


def costs_of(prompt: Rendered, tokens: Tokens, budget: int) -> Costs:
    """What each section of a prompt costs, in the order in which they begin; quick."""
    spent: dict[str, int] = {}
    # A line is counted with its end. A blank one behind it only makes that a longer run of
    # line ends, and a run is one token: it costs nothing.
    costs = tokens.each([text for text, _ in prompt.lines])
    for (_, section), cost in zip(prompt.lines, costs, strict=True):
        spent[section] = spent.get(section, 0) + cost
    sections = [PromptSection(title_of(name), cost) for name, cost in spent.items()]
    return Costs(tuple(sections), budget, tokens.source)


def title_of(section: str) -> str:
    """What a section of the prompt is called, by the template's name for it."""
    return _TITLES.get(section, section)


def situation_of(agent: Body) -> Situation:
    """Where the agent is, and who and what is there."""
    place = agent.location
    if place is None:
        return Situation(place="nowhere")
    return Situation(
        place=place.key,
        description=looks_of(agent, agent.location),
        exits=tuple(exits_of(agent)),
        present=tuple(_shown(each) for each in (*people_near(agent), *things_near(agent))),
        carried=tuple(dict.fromkeys(str(thing.key) for thing in agent.contents)),
    )


def examples_of(agent: Body) -> tuple[str, ...]:
    """The example lines; one example may have several."""
    return tuple(line for each in agent.db.examples or () for line in str(each).splitlines())


def _text(summary: Summary | None) -> str:
    return summary.text if summary else ""


def _shown(somebody: Any) -> str:
    """The name of somebody or something here, and that they sleep, as everybody can see."""
    return f"{somebody.key} (asleep)" if getattr(somebody, "is_asleep", False) else somebody.key
