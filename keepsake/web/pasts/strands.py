"""Typed words as facts: what was said of a thing, line by line, each with who knows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from keepsake.archive.records import Memory
from keepsake.tracing.facts import Telling
from keepsake.tracing.tellings import telling_in
from keepsake.tracing.typed.choice import LineChoice
from keepsake.tracing.typed.gathering import Line
from keepsake.tracing.typed.meant import People
from keepsake.tracing.typed.strands import Strand
from keepsake.tracing.wording import Wording
from keepsake.web.access import BadRequest
from keepsake.web.fact_shapes import StrandKnower, StrandView
from keepsake.web.people.agents import KnownAgent
from keepsake.web.privacy import privacy_of

MOST_SHOWN = 30
"""The most strands of typed words that an answer has."""


def choice_of(meant: str, other: str) -> LineChoice:
    """Return the choice that an address has: agents and their memories, as ``48-27,50-12``.

    Args:
        meant: Lines that are about what was typed.
        other: Lines that are about something else.

    Raises:
        BadRequest: One of them is no such list.
    """
    return LineChoice(tuple(_lines(meant)), tuple(_lines(other)))


def _lines(chosen: str) -> Iterator[Line]:
    for each in filter(None, chosen.split(",")):
        agent, _, number = each.partition("-")
        if not (agent.isdecimal() and number.isdecimal()):
            cure = "Give an agent's number and a memory's: `48-27,50-12`"
            raise BadRequest(f"{each[:40]!r} names no line", cure)
        yield agent, int(number)


def said_in(strand: Strand, names: Mapping[str, str], most: int) -> str:
    """Return the lines of a strand, the first ``most`` of them, each with who said it to whom."""
    tellings = (telling_in(happening, told, names) for happening, told in _happenings(strand))
    return " / ".join(
        f"{names.get(each.agent, each.speaker) or 'Somebody'}"
        f"{f' to {", ".join(each.to)}' if each.to else ''}: {each.text}"
        for each in islice(tellings, most)
    )


def people_of(agents: Sequence[KnownAgent]) -> People:
    """Return the people whom agents know, and the agents, as typed words may name them."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for agent in agents:
        names[agent.key][agent.name] = None
        for page in agent.mind.books.people.known.values() if agent.mind else ():
            names[page.key].update(dict.fromkeys(page.names))
    return People(
        {key: tuple(of) for key, of in names.items()}, {str(each.id): each.key for each in agents}
    )


def strand_views(
    strands: Sequence[Strand], words: str, names: Mapping[str, str], chosen: Collection[Line] = ()
) -> tuple[StrandView, ...]:
    """Return what was said of typed words, what counts first.

    Args:
        words: What was typed.
        names: The agents' names, by key.
        chosen: Lines that somebody said are about it.
    """
    if not strands:
        return ()
    wording = Wording.of(words)
    ordered = sorted(strands, key=lambda each: not each.likely)
    return tuple(_view(each, names, wording, chosen) for each in ordered[:MOST_SHOWN])


def _view(
    strand: Strand, names: Mapping[str, str], wording: Wording, chosen: Collection[Line]
) -> StrandView:
    key, lead = strand.lead
    tellings = [telling_in(happening, told, names) for happening, told in _happenings(strand)]
    shown = next(each for each in tellings if _has(each, key, lead))
    return StrandView(
        id=int(key),
        n=lead.number,
        time=lead.time,
        speaker=names.get(shown.agent, shown.speaker),
        to=shown.to,
        text=shown.text,
        private=privacy_of(lead) if shown.private else "",
        likely=strand.likely,
        refused=strand.refused,
        written=any(
            wording.is_written_in(each.text, names.get(each.agent, each.speaker))
            for each in tellings
        ),
        tellings=len(tellings),
        happenings=tuple(each.happening for each in tellings),
        chosen=tuple(f"{each[0]}-{each[1]}" for each in chosen if strand.has_any([each])),
        knowers=tuple(_knowers(tellings, names)),
    )


def _happenings(strand: Strand) -> Iterator[tuple[str, Sequence[tuple[str, Memory]]]]:
    """Yield the happenings of a strand with who remembers each, oldest first."""
    told: dict[str, list[tuple[str, Memory]]] = defaultdict(list)
    for key, memories in strand.memories.items():
        for memory in memories:
            told[memory.happening or f"{key} {memory.number}"].append((key, memory))
    yield from sorted(told.items(), key=lambda each: each[1][0][1].time)


def _has(telling: Telling, key: str, memory: Memory) -> bool:
    return any((each.agent, each.memory) == (key, memory.number) for each in telling.hearings)


def _knowers(tellings: Sequence[Telling], names: Mapping[str, str]) -> Iterator[StrandKnower]:
    """Yield who knows of it, each with how and from whom it came to know first."""
    there: set[str] = set()
    for telling in tellings:
        for each in telling.hearings:
            if each.agent in there:
                continue
            there.add(each.agent)
            source = names.get(telling.agent, telling.speaker)
            yield StrandKnower(
                id=int(each.agent),
                agent=names[each.agent],
                n=each.memory,
                way=each.way,
                source="" if each.way.is_own else source,
            )
