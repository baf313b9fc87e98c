"""What may answer a question, as a ranking needs it: each document's traits, and what is near it.

The traits of a document are the same for every question, so they are found once for many.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise

from keepsake.archive.records import Memory
from keepsake.language.languages import language_of, length_in_words
from keepsake.language.perception import is_question, stem
from keepsake.recall.documents import SAME_SCENE, Document, DocumentKind
from keepsake.recall.query import RecallQuery, saying, searched, terms_in_searched
from keepsake.recall.ranking.floor import expected_best
from keepsake.recall.ranking.long_texts import need, passages_to_rank
from keepsake.recall.ranking.usefulness import concerns_agent

REACH = 3
"""The distance, in memories, up to which lines of one talk tell what a line is about."""
_FULL_LINE = 15
"""The fewest words of a line that is not short; "Thank you!" answers nothing."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_SCENE_TICKS = SAME_SCENE // _TICK
_NO_MEANING: Mapping[int, float] = {}
"""The similarities of a candidate that was not found by meaning."""


class Traits:
    """What is so of one document for every question.

    Attributes:
        texts: Its passages, as they were embedded.
        asks: Whether it is a memory that ends with a question.
        length: How near it is to a line that is not short, 0 to 1.
        speaker: Its speaker in the form in which names are compared; empty for nobody.
    """

    def __init__(self, document: Document, agent: str) -> None:
        self._document = document
        self.texts = passages_to_rank(document, agent)
        self.asks = document.kind is DocumentKind.MEMORY and is_question(document.text)
        words = min(int(length_in_words(document.text)), _FULL_LINE) + 1
        self.length = min(words / _FULL_LINE, 1.0)
        self.speaker = document.speaker.casefold()

    @cached_property
    def share(self) -> float:
        """The share that one passage has of the text.

        It weighs what a text has by chance the more often, the longer it is: a rare word, a date.
        """
        return 1.0 / len(self.texts)

    @cached_property
    def chance(self) -> float:
        """What its best passage has by chance, in standard deviations."""
        return expected_best(len(self.texts))

    @cached_property
    def need(self) -> float:
        """How much it needs its neighbours to be understood, 0 to 1."""
        return need(self._document)

    @cached_property
    def moment(self) -> int:
        """When it happened, in whole microseconds, which are faster to compare than dates."""
        return (self._document.time - _EPOCH) // _TICK

    @cached_property
    def memory(self) -> Memory | None:
        """The memory; None for a summary or a note."""
        return self._document.memory() if self._document.kind is DocumentKind.MEMORY else None

    @cached_property
    def heard(self) -> bool:
        """Whether it is speech of the agent, to the agent, or to everybody."""
        return concerns_agent(self._document)

    @cached_property
    def language(self) -> str:
        """The language of its words."""
        return language_of(self._document.said or self._document.text)

    @cached_property
    def searched(self) -> str:
        """Text and title in the form in which terms are looked for."""
        return searched(f"{self._document.text} {self._document.title}")


@lru_cache(maxsize=16_384)  # searches see the same documents again
def traits_of(document: Document, agent: str) -> Traits:
    """Return the traits of a document, as the agent's index has it."""
    return Traits(document, agent)


class CandidateList:
    """What may answer a question. A candidate is its index ("place") in these lists.

    Args:
        question: What is asked.
        found: The candidates by row number.
        meaning: The cosine similarities of passages by their number, by row number.
        agent: The agent; empty for none.

    Attributes:
        question: What is asked.
        rows: The row numbers.
        documents: The documents.
        traits: What is so of each for every question.
        likes: The similarities of passages by their number.
        roots: The stem of each term of the question.
        runs: The places of memories of one scene that are near each other, in order of time.
        beside: The direct neighbours of each memory that has any.
    """

    def __init__(
        self,
        question: RecallQuery,
        found: Mapping[int, Document],
        meaning: Mapping[int, Mapping[int, float]],
        agent: str,
    ) -> None:
        self.question = question
        self.rows = [*found]
        self.documents = [*found.values()]
        self.traits = [traits_of(document, agent) for document in self.documents]
        self.likes = [meaning.get(row, _NO_MEANING) for row in self.rows]
        self.roots = {term: stem(term) for term in question.terms}
        self.runs = self._in_runs()
        self.beside = self._neighbours()
        self._matched: dict[int, Sequence[str]] = {}

    def matched(self, place: int) -> Sequence[str]:
        """Return the question's terms in a document, without stop words of its own language."""
        found = self._matched.get(place)
        if found is None:
            document = self.documents[place]
            own = self.traits[place]
            found = terms_in_searched(own.searched, self.roots, own.language)
            if found:
                found = saying(found, document.said or document.text)
            self._matched[place] = found
        return found

    def memories_after(self, numbers: Iterable[int], reach: int) -> Mapping[int, Memory]:
        """Return memories of these numbers, and those candidates that come soon after them.

        ``reach``: How many numbers after each.
        """
        near = {number + step for number in numbers for step in range(reach + 1)}
        found = (
            own.memory
            for own, d in zip(self.traits, self.documents, strict=True)
            if d.first in near
        )
        return {each.number: each for each in found if each is not None}

    def _in_runs(self) -> Sequence[Sequence[int]]:
        memory = DocumentKind.MEMORY
        memories = [(d.first, n) for n, d in enumerate(self.documents) if d.kind is memory]
        runs = list[list[int]]()
        last = -math.inf
        before = 0
        for number, place in sorted(memories):
            moment = self.traits[place].moment
            if number - last > REACH or abs(moment - before) > _SCENE_TICKS:
                runs.append([])
            runs[-1].append(place)
            last = number
            before = moment
        return runs

    def _neighbours(self) -> Mapping[int, Sequence[int]]:
        beside = defaultdict[int, list[int]](list)
        documents = self.documents
        for run in self.runs:
            for one, other in pairwise(run):
                if documents[other].first - documents[one].first == 1:
                    beside[one].append(other)
                    beside[other].append(one)
        return beside
