"""What an agent said, newest first: each line leads to why it said so.

Runs in a view's thread, because it reads the archive from its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import islice
from pathlib import Path

from keepsake.agent.plans.past_plans import PastPlan, PlanChanges, plan_changes
from keepsake.agent.why.basis import matter_of
from keepsake.agent.why.causes import answered_by, set_off_by
from keepsake.agent.why.logged_thoughts import causes_of
from keepsake.agent.why.why import Why, why_memory
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.happening import HappeningKind, Speech, addressees_of, own_deed_of
from keepsake.language.perception import one_line
from keepsake.paths import Places
from keepsake.tracing.content import Content, Rarity
from keepsake.web.people.gist import answered
from keepsake.web.privacy import privacy_of
from keepsake.web.questions.bearing import promises_in, prompt_of, quoted_in, recalled_for
from keepsake.web.questions.grounded import NOT_KNOWN, Grounds, grounds
from keepsake.web.searching import MOST_BYTES, MemoryFilter, NewestMemories, words_of

MOST_LINES = 60
"""The most lines of a page; more are found by their words."""
MOST_CAUSES = 12
"""Of how many lines it is looked up what they answer: a screen has as many."""
MOST_RECALLED = 3
"""The most recalled memories of the newest line; the page of why has all."""
MOST_LOG = 8_000_000
"""The most bytes of the event log that are read for those lines: a tenth of a second."""


@dataclass(frozen=True, slots=True)
class SaidLine:
    """Something that an agent said or did.

    Attributes:
        number: The memory of it.
        to: The names of those to whom it was said.
        manner: ``say``, ``whisper`` …; empty for a deed.
        words: What was said; of a deed what it did, as somebody else would tell it.
        private: How it was private, in words; empty if anybody may know it.
        because: What led to it; None if that was not looked up.
    """

    number: int
    time: datetime
    to: str
    manner: str
    words: str
    private: str
    place: str
    because: Because | None = None


@dataclass(frozen=True, slots=True)
class Because:
    """What led to a line, in short.

    Attributes:
        cause: The memory that set it off; None if none did, or if that is not known.
        answered: Of its words the part that the act takes up.
        reason: The private reason that the agent gave; empty for none.
        by_rule: Whether a rule did it, and no model was asked.
        trigger: What set it off, in a word or two; empty if that is not known.
        plan: The agent's own plan that it belongs to; None for none.
        promises: Promises of its prompt that bear on it.
        quoted: What its prompt quoted of the page about whom it answers, the likeliest first.
        recalled: Memories that were recalled for it and have words of it, the best first.
        grounds: From where it has its words.
    """

    cause: Memory | None = None
    answered: str = ""
    reason: str = ""
    by_rule: bool = False
    trigger: str = ""
    plan: PastPlan | None = None
    promises: Sequence[Memory] = ()
    quoted: Sequence[Memory] = ()
    recalled: Sequence[Memory] = ()
    grounds: Grounds = NOT_KNOWN

    @property
    def brief(self) -> str:
        """What set it off, with the part of its words that the act takes up."""
        if self.cause is None or not self.answered:
            return ""
        return self.cause.text.replace(one_line(self.cause.words), self.answered)

    @property
    def open_promises(self) -> Sequence[Memory]:
        """The promises, if nothing that is likelier to bear on it is known."""
        grounds = self.grounds
        return () if grounds.motive or grounds.shown or grounds.goes_on else self.promises

    @property
    def folded_promises(self) -> Sequence[Memory]:
        """The others."""
        return () if self.open_promises else self.promises

    @property
    def folded(self) -> int:
        """How many lines of its prompt may bear on it, and are not known to: a few of a hundred."""
        return len(self.folded_promises) + len(self.quoted) + len(self.recalled)


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent said, as it was asked for; each list newest first.

    Attributes:
        whom: The names of the people whom the question names, and to whom something was said.
        to_them: What was said to them.
        others: Everything else that has the words.
        complete: Whether these are all that its archive has of the kind.
    """

    whom: str
    to_them: Sequence[SaidLine]
    others: Sequence[SaidLine]
    complete: bool


def said(folder: Path, agent: str, question: str, *, deeds: bool = False) -> Said:
    """Return what an agent said to whom, or with words, that a question names; empty: its newest.

    Args:
        folder: The agent's.
        agent: Its name.
        question: All its words must stand in ``Mira says to Bob, "…"``, whole or as prefixes.
        deeds: Whether what it did besides speaking is wanted, too.
    """
    words = words_of(question)
    form = None if deeds else HappeningKind.SPEECH
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=form)
    memories = NewestMemories(folder / "archive", agent, words, wanted, MOST_BYTES)
    found = [*islice(memories, MOST_LINES + 1)]
    shown = found[:MOST_LINES]
    to_them = [each for each in shown if _named(each, words)]
    whom = dict.fromkeys(name for each in to_them for name in _named(each, words))
    return Said(
        whom=", ".join(whom),
        to_them=[_line(each, agent) for each in to_them],
        others=[_line(each, agent) for each in shown if each not in to_them],
        complete=memories.complete and len(found) <= MOST_LINES,
    )


def with_causes(
    found: Said,
    archive: Archive,
    agent: str,
    agent_id: int,
    *,
    places: Places,
    folders: Sequence[tuple[int, str, Path]],
) -> Said:
    """Return the lines with what led to them: briefly for the newest few, more for the newest.

    Args:
        archive: The agent's.
        agent: The agent's name.
        agent_id: The agent's id in the log.
        places: Where the event log and the settings are.
        folders: Number, name and folder of each agent.
    """
    log = places.events
    lines = [*found.to_them, *found.others]
    newest = sorted((each.number for each in lines), reverse=True)[:MOST_CAUSES]
    causes: dict[int, Because | None] = {}
    with suppress(KeepsakeError, OSError):  # the log cannot be read: the lines stand without causes
        set_off = causes_of(log, agent_id, newest, MOST_LOG)
        plans = cache(lambda: plan_changes(archive))  # read once, and only if an act is for a plan
        causes = {act: _briefly(archive, act, set_off.get(act, 0), plans) for act in newest}
        if lines:
            first = lines[0].number
            why = why_memory(log, archive, agent, agent_id, first)
            prompt = prompt_of(why, log)
            promises = promises_in(archive, why, prompt)
            own = grounds(archive, why, prompt, agent_id, folders=folders, config=places.config)
            causes[first] = _because(why, promises, quoted_in(archive, why, prompt), own)

    def told(some: Sequence[SaidLine]) -> list[SaidLine]:
        return [replace(each, because=causes.get(each.number)) for each in some]

    return replace(found, to_them=told(found.to_them), others=told(found.others))


def _because(
    why: Why, promises: Sequence[Memory], quoted: Sequence[Memory], own: Grounds
) -> Because:
    sources, explaining = recalled_for(why)
    recalled = [each.memory for each in sources[:explaining] if each.memory is not None]
    return Because(
        cause=why.cause,
        answered=_answered(why),
        reason=why.reason,
        by_rule=why.by_rule,
        trigger=why.trigger,
        plan=why.plan,
        promises=promises,
        quoted=quoted,
        recalled=recalled[:MOST_RECALLED],
        grounds=own,
    )


def _answered(why: Why) -> str:
    """Return the part of what set an act off that has most words of the act."""
    act = Content(matter_of(why.act), Rarity())
    words = why.cause.words if why.cause else ""
    return answered(words, lambda part: len(act.shared(part)))


def _briefly(
    archive: Archive, number: int, cause: int, plans: Callable[[], PlanChanges]
) -> Because | None:
    """Return what set an act off: by the log, else by what the archive says that it rests on.

    An act for a plan that nothing else set off was set off by the plan.
    """
    act = _one(archive, number)
    if act is None:
        return None
    found = answered_by(archive, act, _one(archive, cause))
    if act.plan and found is None:
        known = [each for time, each in plans() if time <= act.time and each.number == act.plan]
        if known:
            return Because(plan=known[-1])
    found = found or set_off_by(archive, act)
    return Because(found) if found is not None else None


def _one(archive: Archive, number: int) -> Memory | None:
    return next(iter(archive.read(number, number)), None) if number else None


def _named(memory: Memory, words: Sequence[str]) -> list[str]:
    """Return the names of those whom it addresses that have one of the words."""
    names = (each.name for each in addressees_of(memory.what))
    return [name for name in names if not set(words_of(name)).isdisjoint(words)]


def _line(memory: Memory, agent: str) -> SaidLine:
    spoken = memory.what if isinstance(memory.what, Speech) else None
    return SaidLine(
        number=memory.number,
        time=memory.time,
        to=", ".join(each.name for each in addressees_of(memory.what)),
        manner=spoken.manner.value if spoken else "",
        words=spoken.words if spoken else own_deed_of(memory.what, agent),
        private=privacy_of(memory),
        place=memory.place,
    )
