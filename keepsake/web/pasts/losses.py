"""What a compaction kept and lost, as an answer of the API."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from keepsake.agent.memory.books import Books
from keepsake.archive.log import Archive
from keepsake.memory.history import compactions
from keepsake.tracing.kept import Kept
from keepsake.tracing.losses import losses as find_losses
from keepsake.tracing.losses import summary_losses
from keepsake.tracing.unfounded import unfounded
from keepsake.web.access import NotFound
from keepsake.web.pasts.archives import Folders
from keepsake.web.pasts.elsewhere import elsewhere
from keepsake.web.pasts.loss_shapes import LossesView, LossView, SentenceLossView, UnfoundedView
from keepsake.web.pasts.loss_sorts import sort_of
from keepsake.web.remembered import view_of, words_in_archive

MOST_LOSSES = 1000
"""The most memories or sentences of a compaction that an answer has."""


def losses(
    folder: Path,
    number: int,
    name: str,
    *,
    books: Books | None = None,
    others: Folders = (),
    errands: Collection[str] = (),
) -> LossesView:
    """Return what a compaction kept and lost.

    Args:
        folder: The agent's, as are ``name`` and ``books``.
        number: That of the compaction.
        others: The other agents, who may still have what it lost.
        errands: The ids of what happened that asked for something to be done.

    Raises:
        NotFound: There is no such compaction.
    """
    archive = Archive(folder / "archive", read_only=True)
    made = next((each for each in compactions(archive) if each.number == number), None)
    if made is None:
        raise NotFound(f"There is no compaction {number}", "GET …/compactions lists all")
    first, last = made.covered or (1, 0)
    memories = archive.read(first, min(last, first + MOST_LOSSES - 1))
    sentences = summary_losses(made)
    words = words_in_archive(archive)
    became = find_losses(made, memories, name)
    gone = [each.memory for each in became if each.kept is Kept.GONE]
    places = elsewhere(gone, books, others)
    return LossesView(
        losses=tuple(
            LossView(
                memory=view_of(each.memory, words),
                kept=each.kept,
                missing=each.missing,
                told=each.told,
                named=each.named,
                elsewhere=places.get(each.memory.number, ()),
                sort=sort_of(each.memory, errands),
            )
            for each in became
        ),
        sentences=tuple(map(SentenceLossView.model_validate, sentences[:MOST_LOSSES])),
        unfounded=tuple(map(UnfoundedView.model_validate, unfounded(made, memories, name))),
        named=bool(made.after.recent and made.after.recent.sources),
        complete=last - first < MOST_LOSSES and len(sentences) <= MOST_LOSSES,
    )
