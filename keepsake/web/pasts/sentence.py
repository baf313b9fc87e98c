"""Who knows a fact, in a sentence or two: how many, of whom, and who perhaps does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from keepsake.web.fact_shapes import FactView, StrandView
from keepsake.web.pasts.who_shapes import FirstTellingView, KnowingView
from keepsake.web.questions.clock import as_shown

NAMED = 12
"""The most people that a sentence names."""


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
    perhaps = [one.name for each in sources if not each.counted for one in each.to]
    what = f"“{fact.words}”" if fact.words else "it"
    if fact.words and not fact.tellings:
        return _untold(fact, what, perhaps)
    if not (knowing or fact.noted or fact.echoes):
        return ""
    sure = [each for each in knowing if not each.doubtful]
    players = len(fact.outsiders)
    number = f"{len(sure):,} of {len(agents):,}" if sure else f"None of the {len(agents):,}"
    if sure and fact.words and _is_judged(fact, chosen=chosen):
        number = f"Probably {number}"
    of = "agent" if len(agents) == 1 else "agents"
    others = f" and {players:,} player{'' if players == 1 else 's'}" if players else ""
    one = len(sure) + players == 1
    verb = "knows" if one else "know"
    if fact.words:
        may = "lines that may be of" if _is_unsure(fact, chosen=chosen) else "of"
        verb = f"{'has' if one else 'have'} heard {may}"
    doubtful = [each.agent for each in knowing if each.doubtful]
    rest = [*doubtful, *perhaps, *_in_part(fact, agents, knowing)]
    doubt = f" Perhaps {_names(rest)} too." if rest else ""
    return f"{number} {of}{others} {verb} {what}{_day(sure, now)}.{doubt}"


def _day(sure: Sequence[KnowingView], now: datetime | None) -> str:
    """Return the day on which all came to know it, if it was one and is not today."""
    days = {as_shown(each.time).date() for each in sure}
    if now is None or len(days) != 1 or as_shown(now).date() in days:
        return ""
    return f", on {days.pop():%a %-d %b}"


def _untold(fact: FactView, what: str, perhaps: Sequence[str]) -> str:
    if perhaps:
        return (
            f"Perhaps {_names(perhaps)} {'has' if len(perhaps) == 1 else 'have'} heard of {what}."
        )
    if not fact.strands:
        return "Nobody said these words."
    lines = "1 line" if len(fact.strands) == 1 else f"{len(fact.strands):,} lines"
    return f"Nobody said these words together: {lines} may mean them."


def _is_unsure(fact: FactView, *, chosen: bool) -> bool:
    """Whether the words alone say which lines count, and some may mean something else."""
    likely = [each for each in fact.strands if each.likely]
    return len(likely) > 1 and not chosen and any(not (e.judged or e.written) for e in likely)


def _is_judged(fact: FactView, *, chosen: bool) -> bool:
    """Whether some lines count by what they probably mean, not by the words as they were typed."""
    likely = (each for each in fact.strands if each.likely)
    return not chosen and any(each.judged and not each.written for each in likely)


def _in_part(
    fact: FactView, agents: Mapping[int, str], knowing: Sequence[KnowingView]
) -> Iterator[str]:
    """Yield the agents that know only lines with a part of typed words, which nothing judged."""
    known = {each.id for each in knowing}
    for number, name in agents.items():
        heard = next((each for each in fact.strands if _is_part(each, number)), None)
        if number not in known and heard is not None and not heard.judged:
            yield name


def _is_part(strand: StrandView, number: int) -> bool:
    other = not strand.likely and not strand.refused and (strand.perhaps or not strand.judged)
    return other and any(each.id == number for each in strand.knowers)


def _names(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    *first, last = [*names[:NAMED], f"{rest:,} more"] if rest > 0 else names
    return f"{', '.join(first)} and {last}" if first else last
