"""The questions that typed words may mean: ``Mira Hilde``, ``Mira 19:30``, ``Nell tomorrow``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode

from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import HappeningKind
from keepsake.language.perception import shorten
from keepsake.web import world
from keepsake.web.asked.shapes import OfferView, QuestionKind
from keepsake.web.asked.typed import Typed
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown
from keepsake.web.searching import MemoryFilter, NewestMemories, words_of

MOST = 6
"""The most questions that are offered."""
_MOST_SPEAKERS = 3
"""The most agents whose line is offered if words name none."""
MOST_BYTES = 64_000_000
"""The most bytes of all archives in which a line is looked for, shared equally: half a second."""
_MOST_OF_ONE = MOST_BYTES // 4
"""The most of one agent's: its questions are asked for at each pause in typing."""
_LONGEST_QUOTATION = 80
"""The most characters of a quotation that were not typed."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """A question, with how likely it is meant.

    Attributes:
        whole: Whether it takes in all that was typed. A question that leaves something out is no
            reading of the words, only what else may be asked.
    """

    weight: float
    offer: OfferView
    whole: bool = True


def offers(text: str, here: int | None = None) -> list[OfferView]:
    """Return the questions that typed words may mean, the likeliest first; blocks.

    Args:
        text: The words.
        here: The number of the agent on whose page they were typed; None elsewhere.
    """
    return [each.offer for each in _found(text, here)]


def readings(text: str, here: int | None = None) -> tuple[list[OfferView], bool]:
    """Return what :func:`offers` does, and whether only the first of them is what words say."""
    found = _found(text, here)
    whole = [each for each in found if each.whole]
    return [each.offer for each in found], len(whole) == 1 and whole == found[:1]


def _found(text: str, here: int | None) -> list[_Offer]:
    if not text.strip():
        return []
    typed = Typed(text, world.known_agents(), here)
    found = [
        replace(each, whole=each.whole and not _misses(typed, each.offer.asked))
        for each in (_of_agent(typed) if typed.agent else _of_all(typed))
    ]
    found.sort(key=lambda each: -each.weight)
    return found[:MOST]


def _misses(typed: Typed, asked: QuestionKind) -> bool:
    """Whether words are plainly those of another question; where a thing is, is who knows of it."""
    is_thing = asked is QuestionKind.WHO and typed.means(QuestionKind.WHERE) and not typed.people
    return typed.means_other(asked) and not is_thing


def _of_agent(typed: Typed) -> Iterator[_Offer]:
    """Yield the questions about the agent that is named."""
    agent = typed.agent
    assert agent is not None
    if typed.means(QuestionKind.WHERE):
        yield _where(typed, next(iter(typed.people), agent.name), 2.0)
    yield from _with_words(typed, agent)
    day = typed.rest(QuestionKind.NEXT)
    whole = not day or typed.is_coming_day(day)
    yield _offer(typed, QuestionKind.NEXT, agent, weight=0.5, whole=whole)
    yield _offer(
        typed, QuestionKind.LOST, agent, weight=0.3, whole=not typed.rest(QuestionKind.LOST)
    )
    if not typed.people:
        whole = not typed.rest(QuestionKind.SAID)
        yield _offer(typed, QuestionKind.SAID, agent, weight=0.4, whole=whole)


def _with_words(typed: Typed, agent: KnownAgent) -> Iterator[_Offer]:
    """Yield those that are about what else was typed: a person, a time, or words."""
    person = next(iter(typed.people), "")
    if person:
        whole = not typed.rest(QuestionKind.KNOWS, people=True)
        yield _offer(typed, QuestionKind.KNOWS, agent, person, weight=1.5, whole=whole)
    if typed.moment and not typed.means_other(QuestionKind.THEN):  # "two" may be a day
        phrase = typed.moment[0]
        whole = typed.rest(QuestionKind.THEN) == phrase
        # Beside other words it is more likely one of them: "half past five", as somebody said it.
        yield _offer(
            typed, QuestionKind.THEN, agent, phrase, weight=1.4 if whole else 0.1, whole=whole
        )
        if whole:
            return
    yield from _said(typed, agent)
    for asked, weight in ((QuestionKind.KNOWS, 0.9), (QuestionKind.WHO, 0.2)):
        words = typed.rest(asked)
        if not words or typed.means_other(asked):
            continue
        if asked is QuestionKind.WHO:
            yield _who(typed, words, weight)
        elif not person:
            yield _offer(typed, asked, agent, words, weight=weight)


def _said(typed: Typed, agent: KnownAgent) -> Iterator[_Offer]:
    """Yield why the agent said what was typed, if it said it, or if that is what is asked."""
    words = typed.rest(QuestionKind.SAID)
    if not words or typed.means_other(QuestionKind.SAID):
        return
    question = ""
    if words not in typed.people and agent.mind is not None:
        line = _newest(typed, agent.mind.memory.folder, agent.name, words, _MOST_OF_ONE)
        if line is None and not typed.means(QuestionKind.SAID):
            return
        question = _why(typed, agent.name, words, line)
    yield _offer(typed, QuestionKind.SAID, agent, words, weight=1.0, question=question)


def _of_all(typed: Typed) -> Iterator[_Offer]:
    """Yield the questions about nobody in particular."""
    place = typed.means(QuestionKind.WHERE)
    words = typed.rest(QuestionKind.WHERE if place else QuestionKind.WHO)
    for person in typed.people[:1]:
        if not typed.means_other(QuestionKind.WHERE):
            yield _where(typed, person, 2.5)
        yield _known_to_all(typed, person)
    if place and not words:
        yield _where(typed, "", 2.5)
        return
    if words:
        yield _who(typed, words, 2.0)
        said = "" if typed.means_other(QuestionKind.SAID) else typed.rest(QuestionKind.SAID)
        for agent, line in _speakers(typed, said):
            question = _why(typed, agent.name, said, line)
            yield _offer(typed, QuestionKind.SAID, agent, said, weight=1.0, question=question)


def _known_to_all(typed: Typed, person: str) -> _Offer:
    offer = OfferView(
        asked=QuestionKind.KNOWS,
        id=None,
        about=person,
        question=f"What do all agents know of {person}?",
        address=f"/agents/person?{urlencode({'name': person})}",
    )
    return _of_everybody(typed, offer, 3.0)


def _where(typed: Typed, name: str, weight: float) -> _Offer:
    """Return where somebody is; ``name``: empty for everybody."""
    query = f"?{urlencode({'who': name})}" if name else ""
    offer = OfferView(
        asked=QuestionKind.WHERE,
        id=None,
        about=name,
        question=f"Where is {name or 'everybody'}?",
        address=f"/agents/world/{query}",
    )
    return _of_everybody(typed, offer, weight)


def _of_everybody(typed: Typed, offer: OfferView, weight: float) -> _Offer:
    """Rank a question that is about all agents, or about somebody who may be none."""
    whole = not typed.rest(offer.asked, people=True)
    return _Offer(weight + typed.weights[offer.asked], offer, whole)


def _speakers(typed: Typed, words: str) -> Iterator[tuple[KnownAgent, Memory]]:
    """Yield the agents that said words, each with its newest such line, the newest of all first."""
    folders = world.folders()
    most = MOST_BYTES // max(len(folders), 1)
    by_number = {each.id: each for each in typed.agents}
    found = list[tuple[datetime, KnownAgent, Memory]]()
    for number, name, folder in folders if words else ():
        line = _newest(typed, folder, name, words, most)
        if line is not None and number in by_number:
            found.append((line.time, by_number[number], line))
    found.sort(key=lambda each: each[0], reverse=True)
    yield from ((agent, line) for _, agent, line in found[:_MOST_SPEAKERS])


def _newest(typed: Typed, folder: Path, name: str, words: str, most: int) -> Memory | None:
    """Return the newest that an agent said with all of these words, or to a person of that name."""
    person = words if words in typed.people else ""
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=HappeningKind.SPEECH, person=person)
    given = () if person else words_of(words)
    newest = NewestMemories(folder / "archive", name, given, wanted, most)
    # Its line has the name of whom it spoke to, too.
    said = (each for each in newest if {*given} <= {*words_of(each.words)})
    return next(islice(said, 1), None)


def _why(typed: Typed, name: str, words: str, line: Memory | None) -> str:
    """Return the question why an agent said a line, with words that it has."""
    if words in typed.people:
        return _question(typed, QuestionKind.SAID, name, words)
    if line is not None and words.casefold() not in line.words.casefold():
        words = shorten(line.words, _LONGEST_QUOTATION)
    return f"Why did {name} say “{words}”?"


def _who(typed: Typed, words: str, weight: float) -> _Offer:
    offer = OfferView(
        asked=QuestionKind.WHO,
        id=None,
        about=words,
        question=f"Who knows of “{words}”, and from whom?",
        address=f"/agents/fact?{urlencode({'q': words})}",
    )
    return _Offer(weight + typed.weights[QuestionKind.WHO], offer)


def _offer(
    typed: Typed,
    asked: QuestionKind,
    agent: KnownAgent,
    about: str = "",
    *,
    weight: float,
    question: str = "",
    whole: bool = True,
) -> _Offer:
    offer = OfferView(
        asked=asked,
        id=agent.id,
        about=about,
        question=question or _question(typed, asked, agent.name, about),
        address=_address(asked, agent.id, about),
    )
    return _Offer(weight + typed.weights[asked], offer, whole)


def _question(typed: Typed, asked: QuestionKind, name: str, about: str) -> str:
    """Return a question about an agent in words."""
    match asked:
        case QuestionKind.SAID if about in typed.people:
            return f"Why did {name} say what it said to {about}?"
        case QuestionKind.SAID:
            return f"Why did {name} say {f'“{about}”' if about else 'what it said last'}?"
        case QuestionKind.KNOWS:
            return f"What does {name} know of {about}?"
        case QuestionKind.THEN if typed.moment:
            return f"What did {name} remember on {as_shown(typed.moment[1]):%a %-d %b, %H:%M}?"
        case QuestionKind.LOST:
            return f"What did the last compaction of {name} lose?"
    return f"What will {name} do next, and tomorrow?"


_PAGES: Mapping[QuestionKind, tuple[str, str]] = {
    QuestionKind.SAID: ("said", "words"),
    QuestionKind.KNOWS: ("of", "of"),
    QuestionKind.LOST: ("lost", ""),
    QuestionKind.THEN: ("then", "at"),
    QuestionKind.NEXT: ("next", ""),
}
"""The page of each question about an agent, and the name of the field that says what about."""


def _address(asked: QuestionKind, number: int, about: str) -> str:
    """Return the page with the whole answer to a question about an agent."""
    path, field = _PAGES[asked]
    given = {field: about} if field and about else {}
    return f"/agents/ask/{path}?{urlencode({'agent': number, **given})}"
