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
from keepsake.web.fact_shapes import MapRoom, OutsiderView, StrandView
from keepsake.web.now import rooms
from keepsake.web.pasts.followed import fact_now, near_now
from keepsake.web.pasts.who_shapes import KnowingView, NewsKind, NewsView
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
        texts = TEXTS.of(mind.memory.folder / "archive")
        weights = weights_in(texts, found.person.key, found.person.names)
        for line in knows(known.KnownByOne(found.person, each, names), weights)[:1]:
            # Its memory is another agent's than that of the answer.
            yield line.model_copy(update={"label": each.agent, "number": 0})


def _knowing(words: str) -> Sequence[AnswerLine]:
    """Return who knows of words, by when they came to know, and what else was said of it.

    If nobody said them, these are the lines near in meaning: one of them may be meant.
    """
    if not words:
        raise BadRequest("There is nothing to follow", "Give words")
    found = fact_now(words)
    who = found.who
    assert who is not None
    texts = {each.happening: each.text for each in found.tellings}
    began = next(iter(texts), "")
    lines = [(each.time, _outside(each, texts, began)) for each in found.outsiders]
    lines += [(each.time, _first(each, began)) for each in who.knowing]
    lines = sorted(lines, key=_when)[:MOST_KNOWING]
    if not lines and who.answer:
        near = near_now(words) if not found.tellings else ()
        return [AnswerLine(label="", text=who.answer), *map(_near, near)]
    return [*(line for _, line in lines), *map(_later, who.news)]


def _when(each: tuple[datetime, AnswerLine]) -> datetime:
    return each[0]


def _first(knowing: KnowingView, began: str) -> AnswerLine:
    """Return how an agent came to know it first, and what it has of it now.

    ``began``: The happening with which it began.
    """
    how = _from(knowing.way, knowing.source, first=knowing.happening == began)
    return AnswerLine(
        label=f"Perhaps {knowing.agent}" if knowing.doubtful else knowing.agent,
        text=short(f"{how}: {knowing.heard}"),
        aside=f"{_at(knowing.time)}; {knowing.now}",
        private=knowing.private,
    )


def _outside(known_to: OutsiderView, texts: Mapping[str, str], began: str) -> AnswerLine:
    """Return how somebody who is no agent came to know it first; ``began``: as for an agent."""
    how = _from(known_to.way, known_to.source, first=known_to.happening == began)
    return AnswerLine(
        label=known_to.name,
        text=short(": ".join(filter(None, (how, texts.get(known_to.happening, ""))))),
        aside=_at(known_to.time),
        private=known_to.private,
    )


_DEEDS: Mapping[Way, str] = {
    Way.DID: "did it",
    Way.GOT: "got it from {0}",
    Way.SAW: "saw it",
}
"""How somebody knows of what was done."""


def _from(way: Way | None, source: str, *, first: bool) -> str:
    """Return how somebody came to know it: ``from Anneke``; ``first``: by how it began."""
    if way is Way.OVERHEARD and source:
        return f"overheard {source}"
    if way is not None and way in _DEEDS:
        return _DEEDS[way].format(source)
    own = "said it first" if first else "said it, from whom is not known"
    return f"from {source}" if source else own


def _at(moment: datetime) -> str:
    return day_and_hour(moment, runtime().clock.now())


def _near(line: StrandView) -> AnswerLine:
    """Return a line that may be what was typed, in other words."""
    return AnswerLine(
        label="Near in meaning",
        text=short(f"{_speaker(line)}: {line.text}"),
        aside=_at(line.time),
        private=line.private,
    )


def _speaker(line: StrandView | NewsView) -> str:
    """Return who said a line, and to whom."""
    return f"{line.speaker}{f' to {", ".join(line.to)}' if line.to else ''}"


_NEWS: Mapping[NewsKind, str] = {
    NewsKind.TOLD: "Told again",
    NewsKind.ASKED: "Asked about it",
}


def _later(news: NewsView) -> AnswerLine:
    """Return what else was said of it."""
    return AnswerLine(
        label=_NEWS[news.kind],
        text=short(f"{_speaker(news)}: {news.text}"),
        aside=_at(news.time),
        private=news.private,
    )


_ANSWERS: Mapping[QuestionKind, Callable[[str], Sequence[AnswerLine] | Iterator[AnswerLine]]] = {
    QuestionKind.WHERE: _where,
    QuestionKind.KNOWS: _known,
    QuestionKind.WHO: _knowing,
}
