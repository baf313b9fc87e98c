"""Short answers to questions about one agent; each blocks, because it reads archives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice

from keepsake.agent.runtime import runtime
from keepsake.happening import HappeningKind
from keepsake.web import world
from keepsake.web.access import BadRequest, NotFound
from keepsake.web.asked.ahead import ahead
from keepsake.web.asked.knows import knows
from keepsake.web.asked.lines import day_and_hour, line_of, told
from keepsake.web.asked.lost import lost
from keepsake.web.asked.said import why_said
from keepsake.web.asked.shapes import AnswerLine, AnswerView, QuestionKind
from keepsake.web.asked.then import then
from keepsake.web.pasts import scrubber
from keepsake.web.pasts.archives import span_of
from keepsake.web.people.agents import KnownAgent
from keepsake.web.people.gist import answered
from keepsake.web.people.known import known_by_one
from keepsake.web.people.telling import weights_in
from keepsake.web.privacy import privacy_of
from keepsake.web.questions.clock import meant_by
from keepsake.web.remembered import TEXTS
from keepsake.web.searching import MemoryFilter, NewestMemories, words_of

MOST_BYTES = 16_000_000
"""The most bytes of an archive that are read for words, from its end: a tenth of a second."""
MOST_HEARD = 3
"""The most lines about some words that are shown: the newest that it heard or said."""


def answer(number: int, asked: QuestionKind, about: str = "") -> AnswerView:
    """Return the short answer to a question about an agent.

    Args:
        number: The agent's.
        asked: What is asked.
        about: Whom or what it is about: of ``knows`` a person's name or identity, or words; of
            ``said`` whom it spoke to, or words; of ``then`` a time, such as ``19:34``, or a memory,
            ``m17``; of ``lost`` the number of a compaction, or nothing for the last.

    Raises:
        BadRequest: ``about`` cannot be read as such, or the question is not about an agent.
        NotFound: There is no such agent, or no such memory or compaction.
    """
    found = next((each for each in world.known_agents() if each.id == number), None)
    if found is None:
        raise NotFound(f"There is no agent {number}", "GET /agents/api/agents lists all")
    world.mind_of_agent(number)  # says why its memory is not open
    if asked not in _ANSWERS:
        raise BadRequest(f"{asked.value!r} is asked of all agents", "GET /agents/api/fact")
    lines = tuple(_ANSWERS[asked](found, about.strip()))
    return AnswerView(asked=asked, id=number, agent=found.name, about=about, lines=lines)


def _knows(agent: KnownAgent, about: str) -> Sequence[AnswerLine]:
    """Return what an agent knows of a person; of anything else the newest lines that have it."""
    agents = world.known_agents()
    found = known_by_one(agents, agent.id, key=about) if about else None
    found = found or (known_by_one(agents, agent.id, name=about) if about else None)
    if found is not None:
        assert agent.mind is not None
        texts = TEXTS.of(agent.mind.memory.folder / "archive")
        person = found.person
        return knows(found, weights_in(texts, person.key, person.names))
    return _heard_of(agent, about)


def _heard_of(agent: KnownAgent, about: str) -> Sequence[AnswerLine]:
    wanted = MemoryFilter(form=HappeningKind.SPEECH)
    words = words_of(about)
    assert agent.mind is not None
    folder = agent.mind.memory.folder / "archive"
    now = runtime().clock.now()
    if not words:
        return ()
    newest = NewestMemories(folder, agent.name, words, wanted, MOST_BYTES)
    return [
        line_of(
            "Said" if each.is_own else "Heard",
            each.words,
            answered(each.words, lambda part: len({*words_of(part)}.intersection(words))),
            partial(told, each, agent.name),
            aside=day_and_hour(each.time, now),
            private=privacy_of(each),
            number=each.number,
        )
        for each in islice(newest, MOST_HEARD)
    ]


def _lost(agent: KnownAgent, about: str) -> Sequence[AnswerLine]:
    return lost(agent, int(about) if about.isdecimal() else None)


def _then(agent: KnownAgent, about: str) -> Sequence[AnswerLine]:
    assert agent.mind is not None
    folder = agent.mind.memory.folder
    memory = about.removeprefix("m")
    if about != memory and memory.isdecimal():
        return then(agent, scrubber.as_of_memory(folder, int(memory)))
    when = moment_meant(agent, about)
    return then(agent, scrubber.as_of(folder, when))


def moment_meant(agent: KnownAgent, phrase: str) -> datetime:
    """Return the moment that a phrase means for an agent, whose memory is open.

    Raises:
        BadRequest: It names no time in the past.
    """
    assert agent.mind is not None
    span = span_of(agent.mind.memory.folder)
    if phrase.isdecimal() and len(phrase) > 8:  # seconds since 1970, as the page's address has it
        return datetime.fromtimestamp(int(phrase)).astimezone()
    return meant_by(phrase, runtime().clock.now(), span)


_ANSWERS: Mapping[QuestionKind, Callable[[KnownAgent, str], Sequence[AnswerLine]]] = {
    QuestionKind.SAID: why_said,
    QuestionKind.KNOWS: _knows,
    QuestionKind.LOST: _lost,
    QuestionKind.THEN: _then,
    QuestionKind.NEXT: lambda agent, _: ahead(agent),
}
