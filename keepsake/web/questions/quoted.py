"""Which words come from a quotation: their prompt had it, though neither window nor summary did.

An agent's pages about people, its notes and its promises quote what it was told. Only the event log
has the prompts, so without it this is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from keepsake.agent.turns.prompts.held import has_words_of
from keepsake.agent.why.logged_thoughts import prompts_of
from keepsake.archive.records import Memory
from keepsake.tracing.bases import Link
from keepsake.tracing.facts import Fact, Telling, Way

MOST_LOG = 16_000_000
"""The most bytes of the event log that are read for one agent, from its end."""
_GUESSED = frozenset({Link.SUMMARY, Link.EARLIER})
"""Links that say only that an agent had heard it before its window."""

type Remembered = Callable[[str, int], Memory | None]
"""Returns the memory of an agent, by its key and number; None if there is none."""


def with_quotations(fact: Fact, log: Path, remembered: Remembered) -> Fact:
    """Return a fact of whose tellings is said which rest on a quotation in their prompt; blocks.

    Args:
        fact: The fact, as the archives tell it.
        log: The folder of the event log.
        remembered: Finds the memories on which tellings rest.

    Raises:
        OSError: The log cannot be read.
    """
    wanted = defaultdict[str, dict[int, Telling]](dict)
    for telling in fact.tellings:
        if telling.link in _GUESSED:
            wanted[telling.agent][_own(telling)] = telling
    quoted = set[str]()
    for agent, by_act in wanted.items():
        for act, prompt in prompts_of(log, int(agent), by_act.keys(), MOST_LOG):
            telling = by_act[act]
            memory = remembered(agent, telling.rests_on)
            if memory is not None and has_words_of(prompt, memory):
                quoted.add(telling.happening)
    tellings = (
        replace(each, link=Link.QUOTED) if each.happening in quoted else each
        for each in fact.tellings
    )
    return replace(fact, tellings=tuple(tellings))


def _own(telling: Telling) -> int:
    """Return the speaker's memory of a telling."""
    return next(each.memory for each in telling.hearings if each.way is Way.SAID)
