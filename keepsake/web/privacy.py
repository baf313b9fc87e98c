"""How pages say that something is private, in words that are true of how it happened.

*Whispered*: only its speaker and who was addressed heard it. *Alone with Bob*, *nobody but Bob
there*: it was said or done so that everybody could hear or see it, but nobody else was there.
*Keeps it for Bob*: the agent
keeps it to itself, because it rests on what only Bob may know. All three are one colour.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Annotated

from pydantic import BeforeValidator

from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.happening import UNKNOWN, Manner, Pose, Result, Speech, What, addressees_of

WHISPERED = "whispered"
ALONE = "alone"
FOR_IT_ALONE = "for it alone"
"""For what was shown to the agent and to nobody else."""
KEPT = "keeps it"
"""What stands before the names of those who may know."""
NOBODY = "to itself"
SOMEHOW = "keeps it private"
"""For what is private in a way that is not known."""


def _in_words(given: object) -> object:
    if isinstance(given, bool):
        return SOMEHOW if given else ""
    return given


type Privacy = Annotated[str, BeforeValidator(_in_words)]
"""How something is private; empty if anybody may know it."""


class _People:
    """The names of people by identity; nobody has one until a world gives them."""

    def __init__(self) -> None:
        self.name_of: Callable[[str], str] = lambda _: ""


people = _People()


def privacy_of(memory: Memory) -> str:
    """Return how a memory is private; empty if anybody may know it."""
    return how_private(memory.what, memory.confidants, own=memory.is_own)


def how_private(what: What, confidants: Collection[str] | None, *, own: bool) -> str:
    """Return how something that happened is private; empty if anybody may know it.

    Args:
        what: What happened.
        confidants: The identities of those who may know, besides the agent; None for everybody.
        own: Whether the agent itself said or did it.
    """
    if confidants is None:
        return ""
    if isinstance(what, Speech) and what.manner is Manner.WHISPER:
        return WHISPERED
    if not isinstance(what, Speech | Pose):
        return kept_for(confidants) if own or isinstance(what, Result) else FOR_IT_ALONE
    to = {each.id for each in addressees_of(what)}
    names = _names(confidants)
    if not own:
        return ALONE
    # Who was there is known to be among these, and that each of them was only if it was for them.
    return f"{ALONE} with {names}" if names and {*confidants} <= to else _nobody_but(names)


def _nobody_but(names: str) -> str:
    return f"nobody but {names} there" if names else ALONE


def kept_for(confidants: Collection[str] | None) -> str:
    """Return that the agent keeps something for those who may know; empty for None: anybody."""
    if confidants is None:
        return ""
    names = _names(confidants)
    return f"{KEPT} for {names}" if names else f"{KEPT} {NOBODY}"


def kept_by(private: PrivateWords, numbers: Iterable[int]) -> str:
    """Return how an agent keeps what rests on some memories; empty if none is known to be private.

    As long as its archive is not read, none is.
    """
    return kept_for(private.confidants_of(numbers)) if private.is_known else ""


def _names(confidants: Collection[str]) -> str:
    """Return names in words: Ann, Bob and Cid; empty if none is known."""
    known = sorted(filter(None, _known(confidants)))
    *first, last = known or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _known(confidants: Collection[str]) -> Iterator[str]:
    for each in confidants:
        if each != UNKNOWN:
            yield people.name_of(each)
