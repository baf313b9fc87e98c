"""Memories as pages show them: an act that ends a plan by its number has the plan's words.

Reading an archive for them blocks, for about a tenth of a second at 100,000 memories. Nothing is
read unless an act names a plan by number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from keepsake.agent.plans.past_plans import plan_changes
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.plan import Plan
from keepsake.happening import Deed, KnownVerb
from keepsake.tracing.texts import Texts
from keepsake.web.shapes import MemoryView

TEXTS = Texts()
"""What the memories of all agents say, kept for all pages."""

type PlanWords = Callable[[Memory, int], str]
"""Returns what the plan of that number was at the time of a memory; empty if that is not known."""

_ENDS = frozenset({KnownVerb.DONE, KnownVerb.CANCEL})
"""The verbs that name a plan: ``done 3``, ``cancel 3: the ferry has gone``."""
_NUMBER = re.compile(r"(\d{1,9})(?:: |$)")
"""A plan's number, at the end or before the reason. Other words say themselves which plan it is."""


def words_in_book(plans: Iterable[Plan]) -> PlanWords:
    """Return the words of the plans that the agent's file has: all open ones, the last ended."""
    known = {each.number: each for each in plans}

    def words(memory: Memory, number: int) -> str:
        plan = known.get(number)
        return _shown(plan.what, plan.private is not None, memory) if plan else ""

    return words


def words_in_archive(archive: Archive) -> PlanWords:
    """Return the words of all plans that an agent ever had; the archive is read when needed."""
    changes = cache(lambda: plan_changes(archive))

    def words(memory: Memory, number: int) -> str:
        earlier = (plan for time, plan in changes() if time <= memory.time)
        known = [plan for plan in earlier if plan.number == number]
        return _shown(known[-1].what, known[-1].private, memory) if known else ""

    return words


def view_of(memory: Memory, words: PlanWords) -> MemoryView:
    """Return a memory as pages show it."""
    view = MemoryView.model_validate(memory)
    number = _plan_named(memory)
    return view.model_copy(update={"plan_words": words(memory, number)}) if number else view


def views_of(archive: Archive, memories: Iterable[Memory]) -> tuple[MemoryView, ...]:
    """Return memories of an archive as pages show them; blocks."""
    words = words_in_archive(archive)
    return tuple(view_of(each, words) for each in memories)


def _plan_named(memory: Memory) -> int:
    """Return the number of the plan that an own act ends; 0 if it ends none, or names it in words.

    A result has a verb, too, but its words are the game's.
    """
    what = memory.what
    if not (memory.is_own and isinstance(what, Deed) and what.verb in _ENDS and what.objects):
        return 0
    found = _NUMBER.match(what.objects[0])
    return int(found[1]) if found else 0


def _shown(words: str, private: bool, memory: Memory) -> str:
    """Return a plan's words, but not those of a private plan in a line that is marked for all."""
    return "" if private and memory.confidants is None else words
