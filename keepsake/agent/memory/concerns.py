"""What an agent means to do, has promised or waits for, and whether words of others bear on it.

Words that are not said to an agent are no reason for it to think. They are one if they bear on
something that it means to do. Rules decide that from data: a plan has a person for whom it waits,
and plans and promises have words. So most of what is said costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from keepsake.agent.memory.shown_plans import line_of
from keepsake.books.kept_lines import Commitment, CommitmentKind
from keepsake.books.plan import Plan
from keepsake.language.languages import foreign_stop_words
from keepsake.language.perception import COMMON_WORDS, names, stem, words

SHARED = 2
"""How many telling words of a plan or promise must be said. One alone, such as the name of somebody
in the village, is in most talk."""


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that an agent means to do or waits for.

    Attributes:
        key: What makes it the same concern.
        text: The concern, as a prompt shows it.
        awaited: The words in which a plan says for whom or what it waits; empty for nobody.
        words: The stems of its telling words.
        things: The names of things that the agent waits for.
    """

    key: str
    text: str
    awaited: str = ""
    words: frozenset[str] = frozenset()
    things: tuple[str, ...] = ()


def concerns_of(
    plans: Iterable[Plan],
    waits: Mapping[int, str],
    promises: Iterable[Commitment],
    wishes: Collection[str],
) -> Iterator[Concern]:
    """Yield what an agent means to do, has promised and waits for.

    Args:
        plans: Its current plans that anybody may know of.
        waits: What plans that were begun wait for, by number.
        promises: Its promises that anybody may know of.
        wishes: The names of things that it waits for.
    """
    for plan in plans:
        meeting = plan.when.meeting if plan.when is not None else ""
        after = plan.when.after if plan.when is not None else ""
        whom = plan.whom.name if plan.whom is not None else ""
        yield Concern(
            key=f"plan {plan.number}",
            text=f"what you mean to do ({line_of(plan)})",
            awaited=f"{meeting} {waits.get(plan.number, '')}".strip(),
            words=_telling(f"{plan.what} {whom} {after}"),
        )
    for promise in promises:
        if promise.kind is CommitmentKind.PROMISE:
            words = _telling(f"{promise.text} {promise.who}")
            yield Concern(f"promise {promise.number}", f"a promise ({promise.line})", words=words)
    for wish in wishes:
        yield Concern(f"wish {wish}", f"what you wait for ({wish})", things=(wish,))


def bears_on(said: str, concern: Concern, absent: Collection[str]) -> bool:
    """Return whether words bear on a concern.

    Args:
        said: What somebody said.
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
    return len(concern.words & told) >= SHARED


@lru_cache(maxsize=2048)  # plans are compared with each line that is said beside their agent
def _telling(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that are stop words of no language."""
    return frozenset(stem(each) for each in words(text) if _tells(each.casefold()))


def _tells(word: str) -> bool:
    return word not in COMMON_WORDS and word not in foreign_stop_words()
