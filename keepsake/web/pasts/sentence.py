"""Who knows a fact, in a sentence or two: how many, of whom, and of whom that is in doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from keepsake.tracing.facts import Way
from keepsake.web.fact_shapes import FactView, OutsiderView
from keepsake.web.pasts.who_shapes import FirstTellingView, KnowingView
from keepsake.web.questions.clock import as_shown

_UNTOLD = "Nobody said this in these words."
_SEEN = (Way.GOT, Way.SAW)
NAMED = 12
"""The most people that perhaps know it that a sentence names."""
FEW = 6
"""The most people that know it who are named, and not counted: they fit into one line."""


def sentence(
    fact: FactView,
    agents: Mapping[int, str],
    knowing: Sequence[KnowingView],
    sources: Sequence[FirstTellingView],
    *,
    chosen: bool,
    now: datetime | None = None,
) -> str:
    """Return the sentence; empty if nothing is known of the fact.

    Args:
        fact: Where it went.
        agents: The names of all agents, by number.
        knowing: Those who know it.
        sources: Who told whom.
        chosen: Whether somebody said which of the lines mean the typed words.
        now: The present time; None if the day need not be said.
    """
    what = f"“{fact.words}”" if fact.words else "it"
    if fact.words and not fact.tellings:
        return _UNTOLD
    if not (knowing or fact.noted or fact.echoes):
        return ""
    sure = [each for each in knowing if not each.doubtful]
    doubtful = [each.agent for each in knowing if each.doubtful]
    doubt = f" Perhaps {_names(doubtful)} too." if doubtful else ""
    origin = _origin(sure, fact.outsiders, sources)
    # Lines that were chosen are of one fact, so the earliest is where it is from.
    first = sources[0].source if chosen and sources and not origin else ""
    known = [each for each in sure if each.agent != origin]
    others = [each for each in fact.outsiders if each.name != origin]
    who, one = _who(known, others, len(agents))
    if fact.tellings and all(each.asks for each in fact.tellings):
        asks = f"{origin} only asked" if origin else "it was only asked"
        return f"Nobody told {what} in these words: {asks}. {who} heard that.{doubt}"
    if not (known or others) and origin:
        who = f"Only {origin}"
        one = True
        origin = ""
    verb = "knows" if one else "know"
    if fact.words:
        verb = f"{verb} of"
        if _is_unsure(fact, chosen=chosen):
            verb = f"{'has' if one else 'have'} heard a sentence with the words"
    if origin and _is_passed_on(origin, known, others):
        first = origin
    source = f", first from {first}" if first else f", from {origin}" if origin else ""
    return f"{who} {verb} {what}{source}{_day(sure, now)}.{doubt}"


def _origin(
    sure: Sequence[KnowingView],
    outsiders: Sequence[OutsiderView],
    steps: Sequence[FirstTellingView],
) -> str:
    """Return who began it, if it was one alone: they need not be counted among those who know.

    Empty if several did, or nobody; and if some saw another do something, who told nobody of it.
    """
    began = {
        *(each.agent for each in sure if each.way is not None and each.way.is_own),
        *(each.name for each in outsiders if each.way.is_own),
        *(each.source for each in steps if each.way in _SEEN),
    }
    return began.pop() if len(began) == 1 else ""


def _is_passed_on(
    origin: str, known: Sequence[KnowingView], others: Sequence[OutsiderView]
) -> bool:
    """Whether somebody has it from somebody else than who began it."""
    sources = {*(each.source for each in known), *(each.source for each in others)}
    return bool(sources - {"", origin})


def _who(
    known: Sequence[KnowingView], others: Sequence[OutsiderView], agents: int
) -> tuple[str, bool]:
    """Return who they are: a few by name, more in numbers; and whether it is one alone."""
    number = len(known) + len(others)
    if 0 < number <= FEW:
        names = [*(each.agent for each in known), *(each.name for each in others)]
        return _names(names), number == 1
    some = f"{len(known):,} of {agents:,}" if known else f"None of the {agents:,}"
    players = f" and {len(others):,} player{'' if len(others) == 1 else 's'}" if others else ""
    return f"{some} agent{'' if agents == 1 else 's'}{players}", False


def _day(sure: Sequence[KnowingView], now: datetime | None) -> str:
    """Return the day on which all came to know it, if it was one and is not today."""
    days = {as_shown(each.time).date() for each in sure}
    if now is None or len(days) != 1 or as_shown(now).date() in days:
        return ""
    return f", since {days.pop():%a %-d %b}"


def _is_unsure(fact: FactView, *, chosen: bool) -> bool:
    """Whether a line has the words, but not side by side: it may mean something else with them."""
    return not chosen and any(each.likely and not each.written for each in fact.strands)


def _names(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    *first, last = [*names[:NAMED], f"{rest:,} more"] if rest > 0 else names
    return f"{', '.join(first)} and {last}" if first else last
