"""Answers of the API about how memories grew and shrank, and a memory as of a time.

Times in long lists are whole seconds since 1970, so that a page of 50 agents stays small.
"""

from __future__ import annotations

from datetime import datetime

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.archive.line_types import LineType
from keepsake.archive.summaries import Summary
from keepsake.web.privacy import Privacy
from keepsake.web.shapes import MemoryView, Shape

type PastTiers = tuple[int, LineType, int, int, int, int]
"""The tiers from one moment on; see :attr:`PastAgent.tiers`."""


class PastAgent(Shape):
    """The past of one agent, for a scrubber: where it was, and how its memory grew and shrank."""

    id: int
    agent: str
    moves: tuple[tuple[int, int], ...]
    """When it came to another place, by its archive and the newest part of the event log, and the
    index of the place in ``places``."""
    counts: tuple[tuple[int, int], ...]
    """When memories were archived, and their numbers; some hundred, evenly spread, the first and
    the last among them."""
    changes: int
    """How often its summaries changed."""
    tiers: tuple[PastTiers, ...]
    """The tiers from some moments on, oldest first; all changes, unless there are very many. Each
    is a time; what changed them; the compaction that made the summaries, 0 for none; the first
    memory in any tier; the last one of the long-term summary, one less than the first without it;
    the last one of the short-term summary, after which the window begins."""


class PastView(Shape):
    """The past of all agents."""

    first: int
    """The time of the oldest memory; the present time if there is none."""
    now: int
    places: tuple[str, ...]
    """The names of places."""
    agents: tuple[PastAgent, ...]
    may_act: bool
    """Whether whoever asks may pin, edit and so on."""


class PastPromise(Shape):
    """A promise that was not kept yet."""

    line: str
    """It in words, as a prompt shows it."""
    memory: int
    """The memory of its being noted."""
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    whom: str = ""
    """The name of the person to whom it was promised; empty if that is not known."""
    text: str = ""
    """What was promised, in the agent's own words."""
    plan: int = 0
    """The number of the open plan that was made with it, to keep it; 0 if there was none."""


class AsOfView(Shape):
    """The memory of an agent as it was at some moment."""

    time: datetime
    number: int
    """The newest memory then; 0 if there was none."""
    place: str
    """Where it was, as far as its memories say; empty if they do not."""
    compaction: int
    since: datetime | None
    """From when on prompts had its summaries; null if there were none. A summary's own time is when
    its writing began, or when somebody edited it."""
    longterm: Summary | None
    recent: Summary | None
    window_first: int
    """The first memory of the window; ``number`` + 1 if the window was empty."""
    window: tuple[MemoryView, ...]
    """The newest memories of the window, oldest first; at most 50."""
    plans: tuple[PastPlan, ...]
    """The plans that had not ended, in the order in which they were made."""
    promises: tuple[PastPromise, ...]
    """The promises that it had made by then and not kept, as its archive says."""
