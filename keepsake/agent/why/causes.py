"""What set an act off, or what it answers, from the archive."""

from __future__ import annotations

from keepsake.agent.why.basis import memory_of
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import addressees_of


def answered_by(archive: Archive, act: Memory, cause: Memory | None) -> Memory | None:
    """Return what an act answers: its addressee's words, if they are newer than its cause; blocks.

    A thought that somebody's coming set off answers what was said before its prompt was sent.

    ``cause``: What set the thought off.
    """
    people = {each.id for each in addressees_of(act.what)} - {""}
    if cause is None or not people:
        return cause
    for number in sorted(act.rests_on, reverse=True):
        said = memory_of(archive, number) if number > cause.number else None
        if said is not None and said.heard is not None and said.source_id in people:
            return said
    return cause


def set_off_by(archive: Archive, act: Memory) -> Memory | None:
    """Return what the act answers, from the archive alone: the newest memory it rests on; blocks.

    None if it rests on nothing that somebody else said or did.
    """
    rests_on = (memory_of(archive, number) for number in sorted(act.rests_on, reverse=True))
    return next((each for each in rests_on if each is not None and not each.is_own), None)
