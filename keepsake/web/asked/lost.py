"""What the last compaction of an agent lost, in a few lines: how much, and what tells most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from keepsake.archive.log import Archive
from keepsake.happening import Speech
from keepsake.language.perception import words
from keepsake.memory.history import PastCompaction, compactions
from keepsake.tracing.content import told_in
from keepsake.tracing.kept import Kept
from keepsake.tracing.losses import Loss, losses
from keepsake.web import world
from keepsake.web.access import NotFound
from keepsake.web.asked.lines import line_of, told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.pasts.loss_sorts import LossSort, sort_of
from keepsake.web.pasts.losses import MOST_LOSSES
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.gist import beginning, gist
from keepsake.web.people.known_by import errands_of
from keepsake.web.privacy import privacy_of

_BESIDES = {
    LossSort.ERRANDS: "that asked for something to be done",
    LossSort.OWN: "own words and deeds",
    LossSort.PASSING: "comings, goings and gestures",
}
"""The other sorts, which are a smaller loss."""
MOST = 2
"""The lost memories that are told; of the private ones it is the one that tells most."""


def lost(agent: KnownAgent, number: int | None = None) -> Sequence[AnswerLine]:
    """Return what a compaction of an agent lost; blocks.

    Args:
        agent: Its memory is open.
        number: That of the compaction; None for the last that stands.

    Raises:
        NotFound: There is no such compaction.
    """
    assert agent.mind is not None
    archive = Archive(agent.mind.memory.folder / "archive", read_only=True)
    past = reversed(compactions(archive))
    made = next((c for c in past if (number == c.number if number else not c.undone)), None)
    if made is None and number:
        raise NotFound(f"There is no compaction {number}", "GET …/compactions lists all")
    if made is None:
        return (AnswerLine(label="Nothing", text="No compaction stands: prompts have it all."),)
    first, last = made.covered or (1, 0)
    memories = archive.read(first, min(last, first + MOST_LOSSES - 1))
    found = losses(made, memories, agent.name)
    return [*_lines(made, found, agent.name, errands_of(world.known_agents()))]


def _lines(
    made: PastCompaction, found: Sequence[Loss], name: str, errands: Collection[str]
) -> Iterator[AnswerLine]:
    """Yield how much is lost, and what tells most of it; ``errands``: what asked for a deed."""
    gone = [each for each in found if each.kept is Kept.GONE]
    hidden = [each for each in found if each.kept is Kept.WHISPERED]
    named = made.after.recent is not None and bool(made.after.recent.sources)
    yield _headline(found, gone, errands, "" if named else "probably ")
    yield from (_memory("Tells most", each, name) for each in _telling(gone, errands)[:MOST])
    if hidden:
        one = len(hidden) == 1
        stand, them = ("private one stands", "it") if one else ("private ones stand", "them")
        yield AnswerLine(
            label="Not lost",
            text=f"{len(hidden):,} {stand} in no summary: the archive keeps {them} word for word.",
            aside=f"recall finds {them} for those who may know",
        )
    yield from (_memory("For example", each, name) for each in _telling(hidden, errands)[:1])


def _headline(
    found: Sequence[Loss], gone: Sequence[Loss], errands: Collection[str], perhaps: str
) -> AnswerLine:
    """Return how many things that others told or gave are lost, and how many memories in all.

    Both figures stand on the page of the compaction, too.
    """
    of_all = Counter(sort_of(each.memory, errands) for each in found)
    lost_of = Counter(sort_of(each.memory, errands) for each in gone)
    number = lost_of[LossSort.OTHERS]
    besides = [f"{lost_of[sort]:,} {words}" for sort, words in _BESIDES.items() if lost_of[sort]]
    all_of_it = f"{len(gone):,} of all {len(found):,} memories"
    asides = [f"besides {', '.join(besides)}: {all_of_it}"] if besides else []
    asides += ["recall may still find them"] if gone else []
    some = f"{number:,} of" if number else "None of the"
    verb = "are" if number > 1 else "is"
    return AnswerLine(
        label="Lost",
        text=f"{some} {of_all[LossSort.OTHERS]:,} things that others told or gave "
        f"{verb} {perhaps}gone.",
        aside="; ".join(asides),
    )


def _memory(label: str, loss: Loss, name: str) -> AnswerLine:
    memory = loss.memory
    part = gist(memory.words, lambda part: (float(len(_missing(part, loss))), 0.0))
    return line_of(
        label,
        memory.words or memory.text,
        part or beginning(memory.words or memory.text),
        partial(told, memory, name),
        private=privacy_of(memory),
        number=memory.number,
    )


def _missing(part: str, loss: Loss) -> set[str]:
    """Return the words that are lost which a part of a memory has."""
    return {*words(part)} & {*loss.missing}


def _telling(some: Sequence[Loss], errands: Collection[str]) -> Sequence[Loss]:
    """Return those first that others said and that tell something, the greatest loss first."""

    def weight(each: Loss) -> tuple[bool, bool]:
        memory = each.memory
        said = isinstance(memory.what, Speech) and not memory.is_own
        return not (said and told_in(memory.words)), memory.happening in errands

    return sorted(some, key=weight)
