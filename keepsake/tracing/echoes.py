"""Summaries that say a fact though no memory of their agent has it.

A model may write into a summary what it knows from elsewhere, such as from the prompts of another
agent: it knows too much. Or it tells memories in other words, and says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from keepsake.archive.summaries import Summary
from keepsake.tracing.kept import Kept
from keepsake.tracing.past import Past
from keepsake.tracing.standing import TIERS, Standing

type SaidIn = Callable[[str, Summary], tuple[Kept, str]]
"""Returns how much a summary of an agent, by its key, has of a fact, and the sentence that says it;
:attr:`Kept.GONE` also if a memory of the agent may be where it has the sentence from."""


@dataclass(frozen=True, slots=True)
class Echo:
    """A summary that says a fact of which its agent has no memory.

    Attributes:
        agent: The key of the agent.
        standing: Which summary.
        said: The sentence that says it.
        compaction: The compaction that made the summary.
        memories: Those that the sentence tells, as its writer said; empty if that is not known.
    """

    agent: str
    standing: Standing
    said: str
    compaction: int
    memories: tuple[int, ...] = ()


def echoes(pasts: Mapping[str, Past], said_in: SaidIn) -> Iterator[Echo]:
    """Yield the summaries of now that say a fact.

    ``pasts``: Those of the agents that have no memory of it, by key.
    """
    for key, past in pasts.items():
        state = past.state_now
        for tier, standing in TIERS.items():
            summary = state.summary(tier)
            if summary is None:
                continue
            kept, said = said_in(key, summary)
            if kept in (Kept.VERBATIM, Kept.SHORTER, Kept.LIKELY):
                memories = summary.cited.get(said, ())
                yield Echo(key, standing, said, state.standing, memories)
                break
