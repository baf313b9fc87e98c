"""What agents have promised to a player, as that player may know it.

Runs in a view's thread, because it reads the archives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from keepsake.agent.mind import Mind
from keepsake.agent.runtime import now
from keepsake.archive.log import Archive
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.books.kept_lines import Commitment, CommitmentKind, promised_after, promised_in
from keepsake.happening import PersonId
from keepsake.prompt.results import PROMISE_KEPT
from keepsake.web import world
from keepsake.web.agent.promised import promises
from keepsake.web.asked.lines import short_date
from keepsake.web.pasts.archives import past_of
from keepsake.web.questions.clock import as_shown
from keepsake.web.shapes import PromiseRow

MOST_KEPT = 3
"""The most promises of an agent that were kept that are shown, the newest first."""
_READ = 60
"""The newest lines about promises among which those that were kept are looked for."""


@dataclass(frozen=True, slots=True)
class PromisedTo:
    """A promise to a player.

    Attributes:
        text: What is promised.
        due: For when, in words: ``Tue 1 Dec, 06:00``; empty if it is for no certain time.
        is_past: Whether that has passed.
        kept: The day on which it was kept, in words; empty for an open one.
        private: Whether only some people may know of it.
    """

    text: str
    due: str = ""
    is_past: bool = False
    kept: str = ""
    private: bool = False


def promised_to(
    minds: Mapping[int, Mind], keys: Collection[PersonId]
) -> Mapping[int, Sequence[PromisedTo]]:
    """Return the promises to a player by agent: the open ones, then those that were kept.

    Args:
        minds: Those of the agents, by number.
        keys: The identities of the player's characters.
    """
    rows = promises([each for each in world.folders() if each[0] in minds])
    found: dict[int, list[PromisedTo]] = {each: [] for each in minds}
    for number, mind in minds.items():
        mine = {(each.number, each.text): each for each in _open(mind, keys)}
        for row in (each for each in rows if each.id == number):
            if (promise := mine.get((row.memory, row.text))) is not None:
                found[number].append(_as_known(row, promise, mind, keys))
        found[number] += _kept(mind.memory.folder, mind.memory.private, keys)
    return found


def may_know(confidants: Collection[PersonId] | None, keys: Collection[PersonId]) -> bool:
    """Return whether a player may know what only these people may; None stands for everybody."""
    return confidants is None or any(each in confidants for each in keys)


def _open(mind: Mind, keys: Collection[PersonId]) -> Iterator[Commitment]:
    """Yield the open promises to a player that the player may know of."""
    for each in mind.books.commitments.items:
        if each.kind is CommitmentKind.PROMISE and each.key in keys and _shown(each, mind, keys):
            yield each


def _shown(promise: Commitment, mind: Mind, keys: Collection[PersonId]) -> Commitment | None:
    """Return a promise as the player may know it; None if it is kept from the player."""
    private = mind.memory.private
    if not private.is_known:  # until the archive is read, nothing is known to be open
        return None
    return promise.as_known_to(lambda number: may_know(private.confidants_of((number,)), keys))


def _as_known(
    row: PromiseRow, promise: Commitment, mind: Mind, keys: Collection[PersonId]
) -> PromisedTo:
    shown = _shown(promise, mind, keys) or promise
    if shown is not promise or row.at is None:  # what was said aloud has a time of its own
        return PromisedTo(shown.text, private=bool(row.private))
    at = as_shown(row.at)
    hour = row.part if row.whole_day else f"{at:%H:%M}"
    today = as_shown(now())
    is_past = at.date() < today.date() if row.whole_day else at < today
    due = ", ".join(filter(None, [short_date(at.date()), hour]))
    return PromisedTo(row.dated or promise.text, due, is_past, private=bool(row.private))


def _kept(folder: Path, private: PrivateWords, keys: Collection[PersonId]) -> Iterator[PromisedTo]:
    """Yield the promises to a player that were kept last, by the agent's own word."""
    past = past_of(folder)
    archive = Archive(folder / "archive", read_only=True)
    results = archive.read_each(past.commitments_until(past.last_number)[-_READ:])
    ends = [each for each in results.values() if each.text.startswith(PROMISE_KEPT)]
    lines = {each.number: each.text.removeprefix(PROMISE_KEPT) for each in ends}
    rests = archive.read_each(filter(None, (promised_after(line) for line in lines.values())))
    shown = 0
    for each in sorted(ends, key=lambda one: one.number, reverse=True):
        basis = rests.get(promised_after(lines[each.number]))
        if basis is None or not _is_with(basis, keys) or not may_know(each.confidants, keys):
            continue
        if not may_know(private.confidants_of((basis.number,)), keys) or shown == MOST_KEPT:
            continue
        shown += 1
        text = promised_in(lines[each.number])[1]
        yield PromisedTo(
            text, kept=short_date(as_shown(each.time).date()), private=each.confidants is not None
        )


def _is_with(memory: Memory, keys: Collection[PersonId]) -> bool:
    people = (memory.actor, memory.addressee)
    return any(each is not None and each.id in keys for each in people)
