"""What the last compaction of an agent lost, in a few lines: how much, and what tells most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from keepsake.archive.log import Archive
from keepsake.happening import Speech
from keepsake.memory.history import PastCompaction, compactions
from keepsake.tracing.content import told_in
from keepsake.tracing.kept import Kept
from keepsake.tracing.losses import Loss, losses
from keepsake.web import world
from keepsake.web.access import NotFound
from keepsake.web.asked.lines import told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.pasts.losses import MOST_LOSSES
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.known_by import errands_of
from keepsake.web.privacy import privacy_of

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
    noun = "memory" if len(found) == 1 else "memories"
    verb = "is" if len(gone) == 1 else "are"
    yield AnswerLine(
        label="Lost",
        text=f"{len(gone):,} of {len(found):,} {noun} {verb} {'' if named else 'probably '}gone.",
        aside="recall may still find them" if gone else "",
    )
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


def _memory(label: str, loss: Loss, name: str) -> AnswerLine:
    memory = loss.memory
    hidden = privacy_of(memory)
    return AnswerLine(label=label, text=told(memory, name), private=hidden, number=memory.number)


def _telling(some: Sequence[Loss], errands: Collection[str]) -> Sequence[Loss]:
    """Return those first that others said and that tell something, the greatest loss first."""

    def weight(each: Loss) -> tuple[bool, bool]:
        memory = each.memory
        said = isinstance(memory.what, Speech) and not memory.is_own
        return not (said and told_in(memory.words)), memory.happening in errands

    return sorted(some, key=weight)
