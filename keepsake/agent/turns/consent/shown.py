"""What a prompt held in private and a person does not know, as lines for a model.

Only those who know all of it can allow that it reaches that person. So a whisper that says "tell it
to everybody" lets out at most what its own speaker told, whatever a model makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from keepsake.agent.turns.attempt import TurnDropped
from keepsake.agent.turns.consent.replies import asker_of, is_said_for
from keepsake.agent.turns.consent.wanted import WordsFor
from keepsake.agent.turns.state import Turn
from keepsake.archive.privacy import Audience, PrivateWords
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import ME, UNKNOWN, KnownVerb, Manner, PersonId, Result
from keepsake.logs import Subsystem, get_logger
from keepsake.tasks.conversation import asks
from keepsake.tasks.questions.passing_on import unquoted

READ_SECONDS = 5.0
"""The longest time for reading older memories from the archive."""
_MEANT = frozenset({KnownVerb.PLAN, KnownVerb.PROMISE})
"""Verbs of own deeds that repeat what was told: what the agent means to do for somebody."""

log = get_logger(Subsystem.THOUGHTS)


@dataclass(frozen=True, slots=True)
class Untold:
    """What a prompt held in private and a person does not know.

    Attributes:
        lines: Who said what, oldest first.
        numbers: The memory of each line; 0 for the plan that is due.
        heard: The memories of what others said or did among them.
        givers: The identities of those who know all of it; never empty.
        sent: The places of the lines, from 0, with which that person has sent the agent.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    heard: tuple[int, ...]
    givers: Audience
    sent: tuple[int, ...]


async def untold_to(turn: Turn, wanted: WordsFor) -> Untold | None:
    """Return what the prompt of the attempt held and whom words are for does not know.

    With what was asked aloud, if these words are said aloud.

    Returns:
        None if nobody knows all of it, so that nobody can allow it; if a part of it cannot be read;
        and for a person without an identity.
    """
    to = wanted.to
    private = turn.tools.memory.private
    known = {number: private.confidants(number) for number in turn.attempt.basis.private}
    unknown = {n: who for n, who in known.items() if who is not None and to.id not in who}
    confided = turn.attempt.impulse.confided
    is_plan = confided is not None and to.id not in confided
    groups = [*unknown.values(), *([confided] if is_plan and confided is not None else [])]
    givers = frozenset.intersection(*groups) if groups else frozenset()
    if not (to.id and givers) or UNKNOWN in givers:
        return None
    memories = await _read(turn, unknown)
    if memories is None:
        return None
    memories = {
        number: each
        for number, each in memories.items()
        if not (_has_ended(each, turn) and _is_repeated(each, memories, private))
    }
    meant = [each for each in memories.values() if each.is_own and each.verb in _MEANT]
    aloud = turn.attempt.basis.aloud
    open_request = {aloud.number} if wanted.aloud and aloud is not None else set[int]()
    evident = {
        *known,
        *open_request,
        *(n for each in meant for n in each.rests_on),
    } - unknown.keys()
    read = await _read(turn, (n for n in evident if _knows(private.confidants(n), givers))) or {}
    requests = open_request.union(_request_of(each, read) for each in meant)
    said = ((n, read[n]) for n in read if n in known or n in requests)
    # What that person said is no reason to let them know more.
    memories |= {
        n: each for n, each in said if (each.heard or each.said) and each.source_id != to.id
    }
    lines = {number: _line(memory, turn) for number, memory in sorted(memories.items())}
    if is_plan:
        lines[0] = _line_of_plan(turn)
    shown = {number: line for number, line in lines.items() if line}
    heard = (n for n, each in memories.items() if each.kind is MemoryKind.PERCEPTION)
    sent = {n for n, each in memories.items() if to.id in _senders(each, turn)}
    return Untold(
        lines=tuple(shown.values()),
        numbers=tuple(shown),
        heard=tuple(sorted(heard)),
        givers=givers,
        sent=tuple(place for place, n in enumerate(shown) if n in sent),
    )


def _request_of(meant: Memory, read: Mapping[int, Memory]) -> int:
    """Return the words to the agent that a plan or promise answers; 0 for none.

    It rests on recalled lines, too, which ask for nothing.
    """
    asked = (n for n in meant.rests_on if n in read and read[n].heard and asks(read[n]))
    return max(asked, default=0)


def _has_ended(memory: Memory, turn: Turn) -> bool:
    """Return whether a memory is the making of a plan that has ended."""
    if not memory.is_own or memory.verb != KnownVerb.PLAN:
        return False
    plans = turn.tools.books.plans.items
    return any(each.since == memory.number and each.state.has_ended for each in plans)


def _is_repeated(memory: Memory, shown: Mapping[int, Memory], private: PrivateWords) -> bool:
    """Return whether all that a memory rests on in private stands in lines of its own."""
    told = [n for n in memory.rests_on if private.confidants(n) is not None]
    return bool(told) and all(n in shown and shown[n].heard is not None for n in told)


def _knows(confidants: Audience | None, givers: Audience) -> bool:
    """Return whether all who can allow it know a memory with those confidants."""
    return confidants is None or givers <= confidants


def _line_of_plan(turn: Turn) -> str:
    """Return the plan that is due as a line; empty if it has ended."""
    plans = turn.tools.plans
    plan = plans.named(turn.attempt.impulse.plan) if plans is not None else None
    return f"{turn.agent.key} means to: {plan.line}" if plan is not None else ""


async def _read(turn: Turn, numbers: Iterable[int]) -> dict[int, Memory] | None:
    """Return memories by their numbers; None if one of them cannot be read."""
    wanted = {*numbers}
    archived = turn.tools.memory.memory
    window: Mapping[int, Memory] = {each.number: each for each in archived.context().window}
    found = {number: window[number] for number in wanted & window.keys()}
    older = wanted - window.keys()
    if not older:
        return found
    try:
        read = turn.services.in_thread(lambda: archived.archive.read_each(older), READ_SECONDS)
        found |= await turn.wait(read)
    except TurnDropped:
        raise
    except Exception as error:
        told = "What was whispered cannot be read"
        log.warning(told, agent=turn.thoughts.name, exc_info=error)
        return None
    return found if wanted <= found.keys() else None


def _line(memory: Memory, turn: Turn) -> str:
    """Return a memory as a line: ``Tom whispers to Mira: "Ask Bram."``."""
    name = str(turn.agent.key)
    said = memory.heard or memory.said
    if said is None:
        return _line_of_deed(memory, name)
    who = name if memory.is_own else said.speaker.name
    is_to_agent = not memory.is_own and ME in said.to
    whom = name if is_to_agent else said.to_name or "everybody"
    how = "whispers" if said.manner is Manner.WHISPER else "says"
    names = {each.id: each.name for each in turn.tools.people_known}
    sent = " and ".join(names[each] for each in _senders(memory, turn) if each in names)
    how = f", sent by {sent}, {how}" if sent else f" {how}"
    return f'{who}{how} to {whom}: "{unquoted(said.words)}"'


def _line_of_deed(memory: Memory, name: str) -> str:
    """Return a memory of no words as a line; empty for an own one that tells nothing of others."""
    what = memory.what
    if isinstance(what, Result):
        # What a search brought; else it tells what became of an own deed.
        brings = what.verb == KnownVerb.RECALL and {*memory.rests_on} - {what.act}
        return memory.line if brings else ""
    if memory.is_own:
        return f"{name}: > {memory.text}" if memory.verb in _MEANT else ""
    return memory.line


def _senders(memory: Memory, turn: Turn) -> tuple[PersonId, ...]:
    """Return who sent the agent to say own words: who alone knows of their plan, or asked aloud."""
    plans = turn.tools.books.plans.items
    plan = next((each for each in plans if memory.plan and each.number == memory.plan), None)
    if plan is None or memory.said is None:
        return ()
    if plan.private is None and not memory.allowed_by:
        window = turn.tools.memory.memory.context().window
        asker = asker_of(plan, window) if is_said_for(memory, plan) else ""
        return (asker,) if asker and asker != memory.to_id else ()
    is_theirs = plan.private is not None and plan.private.issuperset(memory.allowed_by)
    return memory.allowed_by if is_theirs else ()
