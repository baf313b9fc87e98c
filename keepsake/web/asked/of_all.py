"""Short answers to questions that are about no agent in particular; each blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from keepsake.agent.runtime import runtime
from keepsake.tracing.facts import Way
from keepsake.web import world
from keepsake.web.access import BadRequest
from keepsake.web.asked.knows import knows
from keepsake.web.asked.lines import day_and_hour, short
from keepsake.web.asked.shapes import AnswerLine, AnswerView, QuestionKind
from keepsake.web.fact_shapes import (
    FactView,
    HearingView,
    KnowerView,
    MapRoom,
    OutsiderView,
    TellingView,
)
from keepsake.web.now import rooms
from keepsake.web.pasts.followed import fact_now
from keepsake.web.people import known
from keepsake.web.people.telling import weights_in
from keepsake.web.remembered import TEXTS

MOST_KNOWING = 8
"""The most agents of which something is told."""


def answer_of_all(asked: QuestionKind, about: str = "") -> AnswerView:
    """Return the short answer to a question about nobody in particular.

    Args:
        asked: What is asked.
        about: Whom or what it is about: of ``where`` a name, or nothing for everybody; of ``knows``
            a name; of ``who`` words.

    Raises:
        BadRequest: The question is about an agent, or there is nothing to follow.
        NotFound: No agent knows such a person.
    """
    if asked not in _ANSWERS:
        raise BadRequest(f"{asked.value!r} is asked of an agent", "GET …/agents/N/answer")
    lines = tuple(_ANSWERS[asked](about.strip()))
    return AnswerView(asked=asked, id=None, agent="", about=about, lines=lines)


def _where(name: str) -> Iterator[AnswerLine]:
    """Yield in which room somebody is, or everybody; then who has left the game."""
    found = rooms.map_of_world()
    now = runtime().clock.now()
    for room in found.rooms:
        here = _people_in(room)
        if not name and here:
            yield AnswerLine(label=room.name, text=", ".join(here))
        for each in here if name else ():
            if _is(each, name):
                others = ", ".join(other for other in here if other != each)
                aside = f"with {others}" if others else "alone"
                yield AnswerLine(label=each, text=room.name, aside=aside)
    for player in found.away:
        if not name or _is(player.name, name):
            left = f"left the game at {player.place}" if player.place else "is not in the game"
            aside = f"last met {day_and_hour(player.last_met, now)}"
            yield AnswerLine(label=player.name, text=left, aside=aside)


def _people_in(room: MapRoom) -> list[str]:
    return [*(name for _, name in room.agents), *room.players]


def _is(name: str, wanted: str) -> bool:
    return name.casefold() == wanted.casefold()


def _known(name: str) -> Iterator[AnswerLine]:
    """Yield of each agent what tells most of a person."""
    agents = world.known_agents()
    found = known.person(agents, name=name)
    minds = {each.id: each.mind for each in agents}
    names = {each.name for each in agents}
    for each in found.agents[:MOST_KNOWING]:
        mind = minds[each.id]
        if mind is None:
            continue
        weights = weights_in(TEXTS.of(mind.memory.folder / "archive"))
        for line in knows(known.KnownByOne(found.person, each, names), weights)[:1]:
            # Its memory is another agent's than that of the answer.
            yield line.model_copy(update={"label": each.agent, "number": 0})


def _knowing(words: str) -> Sequence[AnswerLine]:
    """Return who knows of words, in the order in which they came to know, and what perhaps is."""
    if not words:
        raise BadRequest("There is nothing to follow", "Give words")
    found = fact_now(words)
    told = {
        (each.id, each.n): (telling, each)
        for telling in found.tellings
        for each in telling.hearings
    }
    lines = [(knower.path[-1].time, _first(knower, told)) for knower in found.knowers]
    lines += [(each.time, _outside(each, found.tellings)) for each in found.outsiders]
    lines = [*sorted(lines, key=_when)[:MOST_KNOWING], *_perhaps(found)]
    return [line for _, line in sorted(lines, key=_when)]


def _when(each: tuple[datetime, AnswerLine]) -> datetime:
    return each[0]


type _Told = Mapping[tuple[int, int], tuple[TellingView, HearingView]]


def _first(knower: KnowerView, told: _Told) -> AnswerLine:
    """Return how an agent came to know it first."""
    last = knower.path[-1]
    telling, hearing = told.get((last.id, last.n), (None, None))
    way = hearing.way if hearing is not None else None
    return AnswerLine(
        label=knower.agent,
        text=short(f"{_from(way, knower.source)}: {telling.text if telling else knower.heard}"),
        aside=_at(last.time),
        private=telling is not None and telling.private,
    )


def _outside(known_to: OutsiderView, tellings: Sequence[TellingView]) -> AnswerLine:
    """Return how somebody who is no agent came to know it first."""
    text = next((each.text for each in tellings if each.happening == known_to.happening), "")
    return AnswerLine(
        label=known_to.name,
        text=short(": ".join(filter(None, (_from(known_to.way, known_to.source), text)))),
        aside=_at(known_to.time),
        private=known_to.private,
    )


def _from(way: Way | None, source: str) -> str:
    """Return how somebody came to know it: ``from Anneke``."""
    if way is Way.OVERHEARD and source:
        return f"overheard {source}"
    return f"from {source}" if source else "said it first"


def _at(moment: datetime) -> str:
    return day_and_hour(moment, runtime().clock.now())


def _perhaps(found: FactView) -> Iterator[tuple[datetime, AnswerLine]]:
    """Yield the line that perhaps tells it too and that was said first."""
    perhaps = (each for each in found.strands if each.perhaps and not each.likely)
    first = min(perhaps, key=lambda each: each.time, default=None)
    if first is None:
        return
    to = f" to {', '.join(first.to)}" if first.to else ""
    line = AnswerLine(
        label="Perhaps",
        text=short(f"{first.speaker}{to}: {first.text}" if first.speaker else first.text),
        aside=_at(first.time),
        private=first.private,
    )
    yield first.time, line


_ANSWERS: Mapping[QuestionKind, Callable[[str], Sequence[AnswerLine] | Iterator[AnswerLine]]] = {
    QuestionKind.WHERE: _where,
    QuestionKind.KNOWS: _known,
    QuestionKind.WHO: _knowing,
}
