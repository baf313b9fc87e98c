"""What the last compaction of an agent lost, in a few lines: how much, and what tells most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keepsake.archive.log import Archive
from keepsake.happening import HappeningKind
from keepsake.memory.history import compactions
from keepsake.tracing.content import told_in
from keepsake.tracing.kept import Kept
from keepsake.web import world
from keepsake.web.asked.lines import told
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.fact_shapes import LossesView, LossView
from keepsake.web.pasts.losses import losses
from keepsake.web.people.known import KnownAgent, errands_of

MOST = 2
"""The lost memories that are told, and as many private ones at the most."""


def lost(agent: KnownAgent, number: int | None = None) -> Sequence[AnswerLine]:
    """Return what a compaction of an agent lost; ``number``: its own, or None for the last.

    ``agent``: Its memory is open.
    """
    assert agent.mind is not None
    kept = agent.mind.memory
    archive = Archive(kept.folder / "archive", read_only=True)
    made = number or next((c.number for c in reversed(compactions(archive)) if not c.undone), None)
    if made is None:
        return (AnswerLine(label="Nothing", text="No compaction stands: prompts have it all."),)
    errands = errands_of(world.known_agents())
    found = losses(kept.folder, made, kept.name, books=agent.mind.books, errands=errands)
    return [*_lines(found, agent, archive)]


def _lines(found: LossesView, agent: KnownAgent, archive: Archive) -> Iterator[AnswerLine]:
    gone = [each for each in found.losses if each.kept is Kept.GONE]
    hidden = [each for each in found.losses if each.kept is Kept.WHISPERED]
    sure = "" if found.named else "probably "
    besides = f"{len(hidden):,} private ones are in no summary either; " if hidden else ""
    yield AnswerLine(
        label="Lost",
        text=f"{len(gone):,} of {len(found.losses):,} memories are {sure}gone.",
        aside=f"{besides}recall may still find them",
    )
    yield from _told("Tells most", _telling(gone)[:MOST], agent, archive)
    yield from _told("In private", _telling(hidden)[:1], agent, archive)


def _telling(some: Sequence[LossView]) -> Sequence[LossView]:
    """Return those first that others said and that tell something, the greatest loss first."""

    def weight(each: LossView) -> tuple[bool, bool]:
        memory = each.memory
        says = memory.form is HappeningKind.SPEECH and bool(memory.source)
        return not (says and told_in(memory.text)), each.errand

    return sorted(some, key=weight)


def _told(
    label: str, some: Sequence[LossView], agent: KnownAgent, archive: Archive
) -> Iterator[AnswerLine]:
    for each in some:
        for memory in archive.read(each.memory.number, each.memory.number):
            yield AnswerLine(
                label=label,
                text=told(memory, agent.name),
                private=memory.confidants is not None,
                number=memory.number,
            )
