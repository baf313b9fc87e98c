"""Who knows a fact, in a sentence or two: how many, of whom, and who perhaps does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from keepsake.tracing.facts import Way
from keepsake.web.fact_shapes import FactView, OutsiderView, StrandView
from keepsake.web.pasts.who_shapes import FirstTellingView, KnowingView
from keepsake.web.questions.clock import as_shown

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
    perhaps = [one for each in sources if not each.counted for one in _people_of(each)]
    what = f"“{fact.words}”" if fact.words else "it"
    if fact.words and not fact.tellings:
        return _untold(fact, what, perhaps)
    if not (knowing or fact.noted or fact.echoes):
        return ""
    sure = [each for each in knowing if not each.doubtful]
    doubtful = [each.agent for each in knowing if each.doubtful]
    rest = [*doubtful, *perhaps, *_in_part(fact, agents, knowing)]
    doubt = f" Perhaps {_names(rest)} too." if rest else ""
    origin = _origin(sure, fact.outsiders, sources)
    known = [each for each in sure if each.agent != origin]
    others = [each for each in fact.outsiders if each.name != origin]
    who, one = _who(known, others, len(agents))
    if fact.tellings and all(each.asks for each in fact.tellings):
        asks = f"{origin} only asked" if origin else "it was only asked"
        return f"Nobody is known to have told {what}: {asks}. {who} heard that.{doubt}"
    if not (known or others) and origin:
        who, one, origin = f"Only {origin}", True, ""
    if sure and fact.words and _is_judged(fact, chosen=chosen):
        who = f"Probably {who[0].lower() if who.startswith('Only') else who[0]}{who[1:]}"
    verb = "knows" if one else "know"
    if fact.words:
        verb = f"{verb} of"
        if _is_unsure(fact, chosen=chosen):
            verb = f"{'has' if one else 'have'} heard lines that may be of"
    source = f", from {origin}" if origin else ""
    return f"{who} {verb} {what}{source}{_day(sure, now)}.{doubt}"


def _people_of(step: FirstTellingView) -> Sequence[str]:
    """Return who came to know it by a step: if nobody else, then who said it."""
    return [each.name for each in step.to] or [step.source]


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
        *(each.source for each in steps if each.counted and each.way in _SEEN),
    }
    return began.pop() if len(began) == 1 else ""


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
