"""The questions that typed words may mean: ``Mira Hilde``, ``Mira 19:30``, ``Nell tomorrow``.

Names say who is meant, and words that a question has itself say which question. The rest is what it
is about. The order of the words does not matter, but the agent named first is asked about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import dropwhile, islice
from urllib.parse import urlencode

from keepsake.agent.runtime import runtime
from keepsake.archive.records import MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.happening import HappeningKind
from keepsake.language.day_names import names_day
from keepsake.language.perception import COMMON_WORDS, stems
from keepsake.web import world
from keepsake.web.asked.answering import moment_meant
from keepsake.web.asked.shapes import OfferView, QuestionKind
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown
from keepsake.web.searching import MemoryFilter, NewestMemories, words_of

MOST = 6
"""The most questions that are offered."""
_LONGEST_PHRASE = 4
"""The most words of a time: ``last Thursday at 19:30``."""
_BEGUN = 2
"""The letters from which on a word may be a name that is being typed."""
_SURE = 1.0
"""How many words of its own show that a question was typed, and no other."""
_MOST_SPEAKERS = 3
"""The most agents whose line is offered if words name none."""
MOST_BYTES = 64_000_000
"""The most bytes of all archives in which a line is looked for, shared equally: half a second."""

_WORDS: Mapping[QuestionKind, str] = {
    QuestionKind.SAID: "Why did say? because reason said told answer",
    QuestionKind.KNOWS: "What does know of? about person knows heard",
    QuestionKind.LOST: "What did the last compaction lose? lost forgot forgotten gone summary",
    QuestionKind.THEN: "What did remember at? remembered memory then mind",
    QuestionKind.NEXT: "What will do next, and tomorrow? plan plans today later",
    QuestionKind.WHO: "Who knows of, and from whom? everybody",
}
"""The words by which a question is known: its own, and some that people type instead."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """A question, with how likely it is meant."""

    weight: float
    offer: OfferView


class Typed:
    """Words that somebody typed, and what they name.

    Args:
        text: The words.
        agents: All agents.
        here: The number of the agent on whose page they were typed; None elsewhere.
    """

    def __init__(self, text: str, agents: Sequence[KnownAgent], here: int | None) -> None:
        self._text = " ".join(text.split()).strip("“”\"'")
        self._words = words_of(self._text)
        self.agents = agents
        named = [each for each in agents if self._has(each.name)]
        named.sort(key=self._place)
        at_home = [each for each in agents if each.id == here]
        self.agent = next(iter(named or at_home), None)
        self.people = self._people({each.name for each in named[1:]})
        self._named = {word for each in (*named[:1], *at_home) for word in words_of(each.name)}
        if named and not {*self._words[-1:]} & self._named:
            self._named |= {each for each in self._words[-1:] if self._begins(each)}

    def _place(self, agent: KnownAgent) -> int:
        """Return where in the words an agent is named; a name that was only begun is the last."""
        first = words_of(agent.name)[0]
        return self._words.index(first) if first in self._words else len(self._words)

    def _begins(self, word: str) -> bool:
        """Whether a word is the beginning of an agent's name."""
        names = (part for each in self.agents for part in words_of(each.name))
        return len(word) >= _BEGUN and any(name.startswith(word) for name in names)

    def _has(self, name: str) -> bool:
        """Whether a name was typed, or begun by the last word, as while one types."""
        wanted = words_of(name)
        last = self._words[-1] if self._words else ""
        return bool(wanted) and all(
            each in self._words or (len(last) >= _BEGUN and each.startswith(last))
            for each in wanted
        )

    def _people(self, agents: Collection[str]) -> Sequence[str]:
        """Return the names of those besides the agent that is asked about, the longest first.

        These have a page, or have just spoken.
        """
        found = set(agents)
        for mind in filter(None, (each.mind for each in self.agents)):
            known = {each.name for each in mind.books.people.known.values()}
            with suppress(KeepsakeError):  # its archive cannot be read
                window = mind.memory.context().window
                known.update(each.source for each in window if each.heard is not None)
            found.update(filter(self._has, known))
        found -= {self.agent.name} if self.agent else set()
        return sorted(found, key=lambda each: (-len(each), each))

    def rest(self, asked: QuestionKind, *, people: bool = False) -> str:
        """Return the words that are neither the agent's name nor of the question, as typed.

        ``people``: Whether names of other people are left out, too.
        """
        drop = self._named | {*words_of(_WORDS[asked])}
        if people:
            drop = drop | {word for each in self.people for word in words_of(each)}
        kept = [each for each in self._text.split() if not {*words_of(each)} <= drop]
        if asked is QuestionKind.SAID and not self.weights[asked]:
            return " ".join(kept)  # a quotation
        # "the mouse" is about a mouse.
        return " ".join(dropwhile(lambda each: each.casefold() in COMMON_WORDS, kept))

    def means_other(self, asked: QuestionKind) -> bool:
        """Whether the words are plainly those of another question."""
        best = max(self.weights, key=lambda each: self.weights[each])
        return self.weights[best] >= _SURE and best is not asked

    @cached_property
    def weights(self) -> Mapping[QuestionKind, float]:
        """How many of the typed words each question has; a word counts less that several have."""
        own = {asked: stems(words) for asked, words in _WORDS.items()}
        had = Counter(stem for some in own.values() for stem in some)
        typed = stems(self._text)
        return {asked: sum(1 / had[each] for each in typed & some) for asked, some in own.items()}

    @cached_property
    def moment(self) -> tuple[str, datetime] | None:
        """The time in the past that some of the words name, and these; None for none."""
        agent = self.agent
        if agent is None or agent.mind is None:
            return None
        words = self.rest(QuestionKind.THEN, people=True).split()
        today = as_shown(runtime().clock.now()).date()
        for length in range(min(len(words), _LONGEST_PHRASE), 0, -1):
            for start in range(len(words) - length + 1):
                phrase = " ".join(words[start : start + length])
                if names_day(phrase, today, today + timedelta(days=1)):
                    return None
                try:
                    return phrase, moment_meant(agent, phrase)
                except KeepsakeError:
                    continue
        return None


def offers(text: str, here: int | None = None) -> list[OfferView]:
    """Return the questions that typed words may mean, the likeliest first; blocks.

    Args:
        text: The words.
        here: The number of the agent on whose page they were typed; None elsewhere.
    """
    typed = Typed(text, world.known_agents(), here)
    found = [*_of_agent(typed)] if typed.agent else [*_of_all(typed, text)]
    found.sort(key=lambda each: -each.weight)
    return [each.offer for each in found[:MOST]]


def _of_agent(typed: Typed) -> Iterator[_Offer]:
    """Yield the questions about the agent that is named."""
    agent = typed.agent
    assert agent is not None
    yield from _with_words(typed, agent)
    yield _offer(typed, QuestionKind.NEXT, agent, weight=0.5)
    if not typed.people:
        yield _offer(typed, QuestionKind.SAID, agent, weight=0.4)
    yield _offer(typed, QuestionKind.LOST, agent, weight=0.3)


def _with_words(typed: Typed, agent: KnownAgent) -> Iterator[_Offer]:
    """Yield those that are about what else was typed: a person, a time, or words."""
    person = next(iter(typed.people), "")
    if person:
        yield _offer(typed, QuestionKind.KNOWS, agent, person, weight=1.5)
    if typed.moment:
        yield _offer(typed, QuestionKind.THEN, agent, typed.moment[0], weight=1.4)
        return
    for asked, weight in (
        (QuestionKind.SAID, 1.0),
        (QuestionKind.KNOWS, 0.9),
        (QuestionKind.WHO, 0.2),
    ):
        words = typed.rest(asked)
        if not words or typed.means_other(asked):
            continue
        if asked is QuestionKind.WHO:
            yield _who(typed, weight)
        elif asked is QuestionKind.SAID or not person:
            yield _offer(typed, asked, agent, words, weight=weight)


def _of_all(typed: Typed, text: str) -> Iterator[_Offer]:
    """Yield the questions about nobody in particular."""
    for person in typed.people[:1]:
        address = f"/agents/person?{urlencode({'name': person})}"
        question = f"What do all agents know of {person}?"
        yield _Offer(
            3.0 + typed.weights[QuestionKind.KNOWS],
            OfferView(
                asked=QuestionKind.WHO, id=None, about=person, question=question, address=address
            ),
        )
    if typed.rest(QuestionKind.WHO):
        yield _who(typed, 2.0)
        said = typed.rest(QuestionKind.SAID)
        for agent in _speakers(typed, said):
            yield _offer(typed, QuestionKind.SAID, agent, said, weight=1.0)


def _speakers(typed: Typed, words: str) -> Iterator[KnownAgent]:
    """Yield the agents that said words, those that said them last first."""
    folders = world.folders()
    most = MOST_BYTES // max(len(folders), 1)
    wanted = MemoryFilter(kind=MemoryKind.ACT, form=HappeningKind.SPEECH)
    found = dict[int, datetime]()
    for number, name, folder in folders if words else ():
        newest = NewestMemories(folder / "archive", name, words_of(words), wanted, most)
        found.update((number, each.time) for each in islice(newest, 1))
    spoke = sorted((each for each in typed.agents if each.id in found), key=lambda a: found[a.id])
    yield from reversed(spoke[-_MOST_SPEAKERS:])


def _who(typed: Typed, weight: float) -> _Offer:
    words = typed.rest(QuestionKind.WHO)
    return _Offer(
        weight + typed.weights[QuestionKind.WHO],
        OfferView(
            asked=QuestionKind.WHO,
            id=None,
            about=words,
            question=f"Who knows of “{words}”, and from whom?",
            address=f"/agents/fact?{urlencode({'q': words})}",
        ),
    )


def _offer(
    typed: Typed, asked: QuestionKind, agent: KnownAgent, about: str = "", *, weight: float
) -> _Offer:
    offer = OfferView(
        asked=asked,
        id=agent.id,
        about=about,
        question=_question(typed, asked, agent.name, about),
        address=_address(asked, agent.id, about),
    )
    return _Offer(weight + typed.weights[asked], offer)


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
