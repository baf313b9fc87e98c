"""What set an act off, or what it answers, from the archive."""

from __future__ import annotations

from keepsake.agent.why.basis import memory_of
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import addressees_of


def answered_by(archive: Archive, act: Memory, cause: Memory | None) -> Memory | None:
    """Return what an act answers: newer words of its addressee on which it rests, if any; blocks.

    A thought that somebody's coming set off answers what was said before its prompt was sent. An
    act without an addressee answers newer words of who set it off. What they said to others, which
    the agent overheard, it does not answer.

    ``cause``: What set the thought off.
    """
    if cause is None:
        return None
    people = {each.id for each in addressees_of(act.what)} or {cause.source_id}
    for number in sorted(act.rests_on, reverse=True):
        said = memory_of(archive, number) if number > cause.number else None
        heard = said.heard if said is not None else None
        if heard is not None and heard.is_to_me_or_all and heard.speaker.id in people - {""}:
            return said
    return cause


def set_off_by(archive: Archive, act: Memory) -> Memory | None:
    """Return what the act answers, from the archive alone: the newest memory it rests on; blocks.

    None if it rests on nothing that somebody else said or did.
    """
    rests_on = (memory_of(archive, number) for number in sorted(act.rests_on, reverse=True))
    return next((each for each in rests_on if each is not None and not each.is_own), None)
