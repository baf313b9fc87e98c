"""Why agents have their plans: who asked for them, and when.

Runs in a view's thread, because it reads the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from keepsake.agent.surroundings.identity import number_of
from keepsake.agent.why.causes import set_off_by
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.aloud import REQUESTED
from keepsake.happening import Speech
from keepsake.language.perception import is_question
from keepsake.tracing.content import Content, Rarity
from keepsake.tracing.texts import key_of
from keepsake.web.agent.shapes import OwnPlan
from keepsake.web.pasts.archives import past_of
from keepsake.web.privacy import kept_for
from keepsake.web.remembered import TEXTS, view_of, words_in_archive
from keepsake.web.shapes import PlanRow

_BACK = 40
"""The memories before a plan among which its person may have asked for it: those of a talk."""
_ASKED = 8.0
"""Bits by which words must be more than chance in what a person asked, as for other lines. Of the
88 plans of two evenings, four rested on nobody's words or on another's, and are put right."""


type Agents = Iterable[tuple[int, str, Path]]
"""Number, name and folder of each agent."""


def with_causes(rows: Sequence[PlanRow], archive: Archive, agents: Agents) -> list[OwnPlan]:
    """Return plans with what led to them, also to those that ended.

    The archive is read twice, however many plans there are: all that rest on a memory, then all
    that those memories rest on.

    Args:
        archive: That of the agent whose plans they are.
        agents: All agents: one of them may only have carried what somebody asked.
    """
    folders = {number: folder for number, _, folder in agents}
    memories = archive.read_each(each.memory for each in rows if each.memory)
    own = (each.rests_on for each in memories.values() if each.is_own)
    before = archive.read_each(chain.from_iterable(own))
    words = words_in_archive(archive)
    found = []
    for row in rows:
        memory = memories.get(row.memory)
        cause = next(_causes_of(memory, before), None) if memory else None
        if memory and memory.is_own and not (row.whom and cause and cause.source == row.whom):
            cause = _asked_by(row, memory, archive, cause)
        view = view_of(cause, words) if cause else None
        sender = _sender_of(cause, folders) if cause else None
        found.append(
            OwnPlan(
                **row.model_dump()
                | {"what": _told(row.what, cause), "private": secret_of(row.private, sender)},
                cause=view,
                sender=sender.source if sender else "",
                sender_id=sender.source_id if sender else "",
            )
        )
    return found


def secret_of(private: str, sender: Memory | None) -> str:
    """Return for whom a plan is kept: who told the secret, and not who only carried it.

    Args:
        private: How the plan is private; empty if anybody may know of it.
        sender: What asked for it first; None if it was not carried.
    """
    if not private or sender is None or sender.confidants is None:
        return private
    return kept_for((sender.source_id,))


def senders(numbers: Iterable[int], archive: Archive, agents: Agents) -> Mapping[int, Memory]:
    """Return what asked for plans first, where other agents carried it.

    Args:
        numbers: Those of the memories on which the plans rest.
        archive: That of the agent whose plans they are.
        agents: All agents.
    """
    folders = {number: folder for number, _, folder in agents}
    memories = archive.read_each(filter(None, numbers))
    before = archive.read_each(chain.from_iterable(x.rests_on for x in memories.values()))
    causes = {n: next(_causes_of(each, before), None) for n, each in memories.items()}
    found = {n: _sender_of(cause, folders) for n, cause in causes.items() if cause is not None}
    return {n: sender for n, sender in found.items() if sender is not None}


def _told(what: str, cause: Memory | None) -> str:
    """Return what is planned; what the game made of somebody's words, as a person would tell it.

    Such a plan has these words in the place of the agent's own.
    """
    if not what.startswith(REQUESTED) or cause is None or not isinstance(cause.what, Speech):
        return what
    head = "answer" if is_question(cause.words) else "do as asked by"
    return f"{head} {cause.source}: “{cause.words}”"


def with_causes_of_all(rows: Sequence[PlanRow], agents: Agents) -> list[OwnPlan]:
    """Return plans of several agents with what led to them, in their order.

    Plans of others are left out.
    """
    agents = [*agents]
    folders = {number: folder for number, _, folder in agents}
    plans = dict[int, Iterator[OwnPlan]]()
    for number in {each.id for each in rows} & folders.keys():
        archive = Archive(folders[number] / "archive", read_only=True)
        plans[number] = iter(
            with_causes([each for each in rows if each.id == number], archive, agents)
        )
    return [next(plans[each.id]) for each in rows if each.id in plans]


def _causes_of(memory: Memory, before: dict[int, Memory]) -> Iterator[Memory]:
    """Yield what led to a plan, the newest first: its memory, or what its own act rests on."""
    if not memory.is_own:
        yield memory
        return
    for number in sorted(memory.rests_on, reverse=True):
        each = before.get(number)
        if each is not None and not each.is_own:
            yield each


def _sender_of(cause: Memory, folders: Mapping[int, Path]) -> Memory | None:
    """Return what asked for something that an agent only carried on, as a plan of its own.

    It may have come through several. None if it came from who said it.
    """
    sender: Memory | None = None
    carried = set[str]()
    while cause.happening not in carried and (folder := folders.get(number_of(cause.source_id))):
        carried.add(cause.happening)
        before = _errand_behind(cause, folder)
        if before is None:
            break
        sender = cause = before
    return sender


def _errand_behind(said: Memory, folder: Path) -> Memory | None:
    """Return what asked an agent for the plan about which it said something; None if nothing did.

    ``folder``: That of the agent who said it.
    """
    archive = Archive(folder / "archive", read_only=True)
    key = key_of(said.happening)
    texts = TEXTS.of(folder / "archive")
    told = (each for one in texts for each in one.memories(one.places_of(key)))
    own = next((each for each in told if each.is_own), None)
    if own is None or not own.plan:
        return None
    plans = past_of(folder).plans_when(own.number)
    since = next((int(each["memory"]) for each in plans if each.get("id") == own.plan), 0)
    made = archive.read_each([since]).get(since)
    asked = set_off_by(archive, made) if made and made.is_own else made
    return asked if asked is not None and not asked.is_own and asked.source else None


def _asked_by(
    row: PlanRow, memory: Memory, archive: Archive, given: Memory | None
) -> Memory | None:
    """Return what was said for a plan, where its act rests on other words.

    A thought begins with the newest words, and may plan what somebody asked a line before. Of a
    plan with somebody, they are that person's words.

    Args:
        memory: That of the plan.
        given: What the act rests on; None if that is not known.
    """
    number = memory.number
    talk = archive.read(max(number - _BACK, 1), number - 1)
    said = [each for each in talk if isinstance(each.what, Speech) and not each.is_own]
    rarity = Rarity.among(each.words for each in said)
    content = Content(row.what, rarity)

    def bits(each: Memory) -> float:
        return content.bits(content.shared(each.words or each.text))

    asked = [each for each in said if not row.whom or each.source == row.whom]
    best = max(asked, key=lambda each: (bits(each), each.number), default=None)
    if best is None or content.beyond_chance(best.words, len(said)) < _ASKED:
        return given
    return best if given is None or bits(best) >= 2 * bits(given) else given
