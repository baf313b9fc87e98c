"""The tellings of a fact: every happening in which it was said or shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from keepsake.archive.records import Memory
from keepsake.happening import (
    Deed,
    KnownVerb,
    Manner,
    Result,
    Speech,
    What,
    addressees_of,
    is_me,
)
from keepsake.language.addressing import addresses
from keepsake.tracing.facts import Hearing, Telling, Way
from keepsake.tracing.paths import Tracer, Witness


def text_of(memory: Memory) -> str:
    """Return the words of a memory, or its whole text if it has none."""
    return memory.words or memory.text


def tellings_of(witnesses: Mapping[str, Witness], tracer: Tracer) -> tuple[Telling, ...]:
    """Return the tellings that a tracer found, oldest first."""
    grouped: dict[str, list[tuple[str, Memory]]] = defaultdict(list)
    for key, witness in witnesses.items():
        for memory in witness.memories:
            if memory.number in tracer.known[key] or (key, memory.number) in tracer.steps:
                grouped[memory.happening or f"{key} {memory.number}"].append((key, memory))
    names = {key: witness.name for key, witness in witnesses.items()}
    made = (_telling(happening, told, tracer, names) for happening, told in grouped.items())
    whom = dict(_receivers(witnesses))
    with_them = (
        replace(each, to=whom.get(each.happening, ())) if each.is_gift and not each.to else each
        for each in made
    )
    return tuple(sorted(with_them, key=lambda each: each.time))


def _receivers(witnesses: Mapping[str, Witness]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield to whom agents gave things, by happening, as their own acts have it."""
    for witness in witnesses.values():
        for memory in witness.memories:
            if memory.is_own and is_gift(memory.what):
                yield memory.happening, tuple(addressed(memory, witness.name))


def _telling(
    happening: str,
    told: Sequence[tuple[str, Memory]],
    tracer: Tracer,
    names: Mapping[str, str],
) -> Telling:
    own = next(((key, memory) for key, memory in told if memory.is_own), None)
    agent, memory = own or told[0]
    step = tracer.steps.get((agent, memory.number)) if own else None
    return replace(
        telling_in(happening, told, names),
        rests_on=step.rests_on if step else 0,
        link=step.link if step else None,
        came_from=_came_from(agent, memory, tracer),
    )


def telling_in(
    happening: str, told: Sequence[tuple[str, Memory]], names: Mapping[str, str]
) -> Telling:
    """Return a happening as a telling of which nobody knows where it comes from.

    Args:
        told: Who remembers it, by key, and the memories; at least one.
        names: The agents' names, by key.
    """
    own = next(((key, memory) for key, memory in told if memory.is_own), None)
    doer = next((key for key, memory in told if did(memory)), "")
    agent, memory = own or _seen_best(told)
    return Telling(
        happening=happening,
        time=memory.time,
        place=memory.place,
        speaker="" if own or doer else memory.source,
        agent=agent if own else doer,
        to=tuple(addressed(memory, names[agent])),
        manner=memory.manner,
        text=text_of(memory),
        private=memory.confidants is not None,
        hearings=tuple(Hearing(key, each.number, _way(each, names[key])) for key, each in told),
        is_gift=any(is_gift(each.what) or each.gave_something for _, each in told),
    )


def is_gift(what: What) -> bool:
    """Return whether somebody gives a thing to somebody."""
    return isinstance(what, Deed) and what.verb == KnownVerb.GIVE


def did(memory: Memory) -> bool:
    """Return whether it is what came of the agent's moving a thing."""
    what = memory.what
    moves = (KnownVerb.GET, KnownVerb.DROP)
    return memory.gave_something or (isinstance(what, Result) and what.done and what.verb in moves)


def _seen_best(told: Sequence[tuple[str, Memory]]) -> tuple[str, Memory]:
    """Return who of those that remember a happening saw it from without; else any who saw it.

    Who does something, or has it done to them, reads it as *you*.
    """
    seen = [each for each in told if isinstance(each[1].what, Deed)]
    by_others = (each for each in seen if not any(map(is_me, addressees_of(each[1].what))))
    return next(by_others, next(iter(seen), told[0]))


def addressed(memory: Memory, name: str) -> Iterator[str]:
    """Yield the names of those to whom something was said; ``name``: who remembers it."""
    for each in addressees_of(memory.what):
        shown = name if is_me(each) else each.name
        if shown:
            yield shown


def _came_from(agent: str, memory: Memory, tracer: Tracer) -> str:
    """Return the happening before a telling, on its way."""
    known = tracer.known[agent]
    step = tracer.steps.get((agent, memory.number))
    if step is not None:
        told = tracer.steps.get((agent, step.rests_on))
        if told is not None:
            return told.happening
        return known[step.rests_on][-1].happening if step.link else ""
    path = known.get(memory.number, ())
    *before, last = path
    return before[-1].happening if before and last.happening == memory.happening else ""


def _way(memory: Memory, name: str) -> Way:
    """Return how an agent came to know of what it remembers; ``name``: its own."""
    heard = memory.heard
    if heard is None:
        return _way_of_deed(memory)
    if heard.manner is Manner.WHISPER or memory.confidants is not None:
        return Way.WHISPERED
    to_it = heard.is_to_me_or_all or addresses(heard.words, name)
    return Way.TOLD if to_it else Way.OVERHEARD


def _way_of_deed(memory: Memory) -> Way:
    if memory.is_own:
        return Way.SAID if isinstance(memory.what, Speech) else Way.DID
    if did(memory):
        return Way.DID
    return Way.GOT if memory.gift_to_me else Way.SAW
