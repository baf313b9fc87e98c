"""Words that somebody typed to ask about agents: whom they name, a time, and which question.

Names say who is meant, and words that a question has itself say which question. The rest is what it
is about. The order of the words does not matter, but the agent named first is asked about.
"""

from __future__ import annotations

from calendar import day_name
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import dropwhile

from keepsake.agent.runtime import runtime
from keepsake.errors import KeepsakeError
from keepsake.language.day_names import names_day
from keepsake.language.perception import COMMON_WORDS, stems
from keepsake.web.asked.answering import moment_meant
from keepsake.web.asked.shapes import QuestionKind
from keepsake.web.people.agents import KnownAgent
from keepsake.web.questions.clock import as_shown
from keepsake.web.searching import words_of

_LONGEST_PHRASE = 4
"""The most words of a time: ``last Thursday at 19:30``."""
_BEGUN = 2
"""The letters from which on a word may be a name that is being typed."""
_SURE = 1.0
"""How many words of its own show that a question was typed, and no other."""
_MARKS = " ?!.,;:…？！。“”„«»\"'"
"""What stands around words, and is none: the end of a question, a quotation."""

_WORDS: Mapping[QuestionKind, str] = {
    QuestionKind.SAID: "Why did say? because reason said told answer",
    QuestionKind.KNOWS: "What does know of? about person knows heard",
    QuestionKind.LOST: ("What did last compaction lose? lost forget forgot forgotten gone summary"),
    QuestionKind.THEN: "What did remember at? remembered memory then mind",
    QuestionKind.NEXT: "What will do next, and tomorrow? plan plans today later",
    QuestionKind.WHO: "Who knows of, and from whom?",
    QuestionKind.WHERE: "Where? whereabouts",
}
"""The words by which a question is known: its own, and some that people type instead."""
_BESIDE: Mapping[QuestionKind, str] = {
    QuestionKind.KNOWS: "who is all agents do everybody everyone",
    QuestionKind.LOST: "the",
    QuestionKind.WHO: "everybody",
    QuestionKind.WHERE: "is are now everybody everyone all",
}
"""Words that stand in a question and do not tell it from others."""


class Typed:
    """Words that somebody typed, and what they name.

    Args:
        text: The words.
        agents: All agents.
        here: The number of the agent on whose page they were typed; None elsewhere.
    """

    def __init__(self, text: str, agents: Sequence[KnownAgent], here: int | None) -> None:
        self._text = " ".join(text.split()).strip(_MARKS)
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
        drop = self._named | {*words_of(_WORDS[asked]), *words_of(_BESIDE.get(asked, ""))}
        if people:
            drop = drop | {word for each in self.people for word in words_of(each)}
        kept = [each for each in self._text.split() if not {*words_of(each)} <= drop]
        if asked is QuestionKind.SAID and not self.weights[asked]:
            return " ".join(kept).strip(_MARKS)  # a quotation
        # "the mouse" is about a mouse.
        told = dropwhile(lambda each: each.casefold() in COMMON_WORDS, kept)
        return " ".join(told).strip(_MARKS)

    def means(self, asked: QuestionKind) -> bool:
        """Whether the words are plainly those of a question."""
        return self.weights[asked] >= _SURE and self._best is asked

    def means_other(self, asked: QuestionKind) -> bool:
        """Whether the words are plainly those of another question."""
        return self.weights[self._best] >= _SURE and self._best is not asked

    @cached_property
    def _best(self) -> QuestionKind:
        return max(self.weights, key=lambda each: self.weights[each])

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
        today = _today()
        for length in range(min(len(words), _LONGEST_PHRASE), 0, -1):
            for start in range(len(words) - length + 1):
                phrase = " ".join(words[start : start + length])
                tomorrow = today + timedelta(days=1)
                if names_day(phrase, today, tomorrow) and not _is_weekday(phrase, tomorrow):
                    return None
                try:
                    return phrase, moment_meant(agent, phrase)
                except KeepsakeError:
                    continue
        return None

    def is_coming_day(self, phrase: str) -> bool:
        """Whether a phrase is one word that names a day to come: tomorrow, or a day of the week.

        A question about plans means the next such day of the week, one about memories the last.
        """
        week = (_today() + timedelta(days=far) for far in range(1, len(day_name) + 1))
        return len(phrase.split()) == 1 and any(names_day(phrase, _today(), day) for day in week)


def _today() -> date:
    return as_shown(runtime().clock.now()).date()


def _is_weekday(phrase: str, day: date) -> bool:
    """Whether a phrase has the name of a day of the week, and not only a word such as tomorrow."""
    return names_day(phrase, day - timedelta(days=2), day)
