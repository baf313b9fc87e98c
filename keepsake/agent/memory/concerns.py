"""What an agent waits for, and whether words of others bear on it.

Words that are not said to an agent are no reason for it to think. They are one if they bear on
something that it waits for. Rules decide that from data, so most of what is said costs nothing. A
plan that has a time comes by itself, and one that was begun goes on by itself: neither waits for
words, unless it waits for somebody who is not here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from keepsake.agent.plans.shown_plans import line_of, promise_of
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan
from keepsake.happening import Person
from keepsake.language.languages import foreign_stop_words
from keepsake.language.perception import COMMON_WORDS, names, stem, words

SHARED = 2
"""How many telling words of a plan or promise must be said. One alone, such as the name of somebody
in the village, is in most talk. What a plan waits for may have fewer: then all of them."""


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that an agent waits for, or has yet to do at no set time.

    Attributes:
        key: What makes it the same concern.
        text: The concern, as a prompt shows it.
        awaited: The words in which a plan says for whom or what it waits; empty for nobody.
        words: Words of which :data:`SHARED` telling ones must be said; empty for none.
        whom: Whom it is for; None for nobody. While they are here, words among others tell the
            agent nothing that it could not ask them.
        things: The names of things that the agent waits for.
    """

    key: str
    text: str
    awaited: str = ""
    words: str = ""
    things: tuple[str, ...] = ()
    whom: Person | None = None


def concerns_of(
    plans: Sequence[Plan],
    ended: Sequence[Plan],
    waits: Mapping[int, str],
    promises: Sequence[Commitment],
    wishes: Collection[str],
) -> Iterator[Concern]:
    """Yield what an agent waits for, or has yet to do at no set time.

    Args:
        plans: Its current plans that anybody may know of.
        ended: Its plans that have ended. What was promised with one is no concern any more.
        waits: What plans that were begun wait for, by number.
        promises: Its promises that anybody may know of.
        wishes: The names of things that it waits for.
    """
    for plan in plans:
        when = plan.when
        meeting = when.meeting if when is not None else ""
        words = ""
        if not plan.is_begun and when is not None:
            words = when.after or (plan.waits_for if when.leaving else "")
        elif not plan.is_begun:
            words = f"{plan.what} {plan.whom.name if plan.whom is not None else ''}"
        yield Concern(
            key=f"plan {plan.number}",
            text=f"what you mean to do ({line_of(plan)})",
            awaited=f"{meeting} {waits.get(plan.number, '')}".strip(),
            words=words,
            whom=plan.whom,
        )
    planned = {promise_of(plan, promises) for plan in (*plans, *ended)}
    for promise in promises:
        if promise.kind is CommitmentKind.PROMISE and promise not in planned:
            yield Concern(
                key=f"promise {promise.number}",
                text=f"a promise ({promise.line})",
                words=f"{promise.text} {promise.who}",
                whom=Person(promise.who, promise.key) if promise.who else None,
            )
    for wish in wishes:
        yield Concern(f"wish {wish}", f"what you wait for ({wish})", things=(wish,))


def bears_on(
    said: str, concern: Concern, *, here: Sequence[Person], absent: Collection[str]
) -> bool:
    """Return whether words bear on a concern.

    Args:
        said: What somebody said.
        here: The people who are here. Talk among them names them for other reasons.
        absent: The names of people who are not here. A plan that waits for somebody who is here
            goes on without that.
    """
    told = _telling(said)
    if not told.isdisjoint(_telling(concern.awaited)) and any(
        names(concern.awaited, each) and names(said, each) for each in absent
    ):
        return True
    if any(names(said, each) for each in concern.things):
        return True
    if concern.whom is not None and any(map(concern.whom.is_same, here)):
        return False
    wanted = _telling(concern.words)
    shared = (wanted & told).difference(*(_telling(each.name) for each in here))
    return bool(shared) and len(shared) >= min(SHARED, len(wanted))


@lru_cache(maxsize=2048)  # plans are compared with each line that is said beside their agent
def _telling(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are stop words of no language."""
    return frozenset(stem(each) for each in words(text) if _tells(each.casefold()))


def _tells(word: str) -> bool:
    return word not in COMMON_WORDS and word not in foreign_stop_words()
