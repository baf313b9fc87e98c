"""An agent's profile, its last prompt, and the tiers of its memory.

Everything here runs on the reactor thread, and is quick.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Any

from keepsake.agent.runtime import runtime
from keepsake.prompt.sections import TITLES
from keepsake.web.agent.shapes import ProfileView, PromptView, Stretch, TiersView
from keepsake.web.links import summary_with_links
from keepsake.web.world import agent_with, mind_with, on_reactor


@on_reactor
def profile(number: int) -> ProfileView:
    """Return the profile of an agent, and those before it."""
    runtime()  # raises an error with the cure if the agents are not running
    agent: Any = agent_with(number)
    former = tuple(map(str, agent.db.former_profiles or ()))
    return ProfileView(text=str(agent.db.profile or ""), former=former)


@on_reactor
def prompt(number: int) -> PromptView:
    """Return the last prompt since the server started; its time is None if there was none."""
    sent = mind_with(number).thinker.log.sent
    if sent is None:
        return PromptView(budget=runtime().compaction_config.budget)
    lines = groupby(sent.prompt.lines, itemgetter(1))
    answer = sent.answer
    cause = sent.impulse
    return PromptView(
        at=sent.time,
        sections=dict(sent.costs.sections),
        sent=tuple(
            Stretch(name=TITLES.get(section, section), text="\n".join(line for line, _ in of))
            for section, of in lines
        ),
        budget=sent.costs.budget,
        cached=answer.cached_tokens if answer else None,
        server_tokens=answer.prompt_tokens if answer else 0,
        trigger=f"{cause.kind}: {cause.source}" if cause.source else cause.kind,
        answer=answer.text if answer else "",
    )


@on_reactor
def tiers(number: int) -> TiersView:
    """Return the tiers of an agent's memory."""
    memory = mind_with(number).memory.memory
    context = memory.context()
    tiers = memory.tiers
    window = context.window[0].number if context.window else tiers.last_number + 1
    oldest = context.longterm or context.recent
    return TiersView(
        first=oldest.first if oldest else window,
        total=tiers.last_number,
        compaction=tiers.state.standing,
        since=tiers.state.time,
        longterm=summary_with_links(context.longterm),
        recent=summary_with_links(context.recent),
        window_first=window,
        window_tokens=memory.load().window,
    )


mind_of_agent = on_reactor(mind_with)
