"""The memory of Park et al., *Generative Agents: Interactive Simulacra of Human Behavior* (2023).

A stream holds memories and the insights drawn from them. Recall ranks its entries by recency,
importance and relevance together. When enough importance has added up, a model reflects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import yaml

from keepsake.archive.records import Memory
from keepsake.books.journal import importance
from keepsake.errors import ModelError
from keepsake.lab.memories.plain import settings_of, within_budget
from keepsake.lab.memories.retrieval import Rag, RagSettings
from keepsake.language.perception import writable
from keepsake.markdown_config import between
from keepsake.memory.protocol import MemoryArguments, RecalledLine, line_of
from keepsake.ports import GenerationRequest, LanguageModel
from keepsake.recall.documents import Document, DocumentKind

MOST_QUESTIONS = 3
MOST_INSIGHTS = 5
"""The most questions of a reflection, and the most insights from each, as in its authors' code."""
_PROMPTS: Mapping[str, str] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
_LIST_MARKS = "0123456789.):-*• "
"""The characters that can begin a list item."""
_NUMBER = re.compile(r"\d{1,4}")
DECAY = 0.995
"""The factor by which recency falls per hour."""
_REFLECTION_ENTRIES = 100
_RECALL_ENTRIES = 30
"""The number of newest entries that reflection asks about, and of entries recalled per question."""


@dataclass(frozen=True, slots=True)
class StreamSettings(RagSettings):
    """The parameters of the paper; the weights are those of the released code."""

    threshold: int = between(150, low=1, high=100_000)  # summed importance that starts reflection
    recency: float = between(0.5, low=0.0, high=100.0)  # weights of the three parts of a score
    importance: float = between(2.0, low=0.0, high=100.0)
    relevance: float = between(3.0, low=0.0, high=100.0)


@dataclass(slots=True)
class StreamEntry:
    """A memory or an insight in the stream."""

    text: str  # the text that a model rates
    accessed: datetime  # when it was made or last recalled
    importance: int  # 1 to 10
    rated: bool = False  # whether a model has rated its importance


class GenerativeAgents(Rag):
    """A memory that ranks by recency, importance and relevance, each scaled to 0 to 1, added up.

    Without a model, importance comes from the rules of :mod:`keepsake.books.journal`, and it never
    reflects.
    """

    def __init__(self, given: MemoryArguments) -> None:
        self._settings = settings_of(StreamSettings, given.settings)
        super().__init__(given, self._settings)
        self._given = given
        self._unreflected = 0  # summed importance since the last reflection
        self._stream: dict[str, StreamEntry] = {}

    def perceive(self, memory: Memory) -> None:
        """Add the memory to the stream; a model rates its importance later."""
        super().perceive(memory)
        key = f"{DocumentKind.MEMORY}:{memory.number}"
        score = importance(memory, self._given.agent)
        self._unreflected += score
        self._stream[key] = StreamEntry(writable(line_of(memory)), memory.time, score)

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return the best entries; the first 30, which the paper would show, count as accessed now.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.flush()
        found = self.rank(question)[:limit]
        for key, _ in found[:_RECALL_ENTRIES]:
            self._stream[key].accessed = self._given.clock.now()
        return [RecalledLine(*self._entries[key], score) for key, score in found]

    def rest(self, *, asleep: bool) -> None:
        """Let the model rate new entries, and reflect if the threshold is reached.

        Raises:
            ModelError: Nothing could be embedded.
        """
        self._index.flush()
        if (model := self._given.model) is not None:
            with suppress(ModelError):  # the next rest tries again
                self._rate(model)
                if self._unreflected >= self._settings.threshold:
                    self._reflect(model)

    # -- the score

    def rank(self, question: str) -> list[tuple[str, float]]:
        """Return keys and scores of the stream's entries, best first.

        Raises:
            ModelError: Nothing could be embedded.
        """
        entries = list(self._stream.values())
        now = self._given.clock.now()
        near = self.scores(question)
        weights = self._settings
        hours = [max((now - each.accessed) / timedelta(hours=1), 0.0) for each in entries]
        parts = (
            (weights.recency, [DECAY**each for each in hours]),
            (weights.importance, [float(each.importance) for each in entries]),
            (weights.relevance, [near.get(key, 0.0) for key in self._stream]),
        )
        weighted = [[weight * each for each in normalised(values)] for weight, values in parts]
        scores = map(sum, zip(*weighted, strict=True))
        return sorted(zip(self._stream, scores, strict=True), key=lambda each: -each[1])

    # -- what a model adds

    def _rate(self, model: LanguageModel) -> None:
        for entry in self._stream.values():
            if not entry.rated:
                score = _poignancy(model, entry.text) or entry.importance
                self._unreflected += score - entry.importance
                entry.importance = score
                entry.rated = True

    def _reflect(self, model: LanguageModel) -> None:
        """Make questions from the newest entries, and add the insights that answer them."""
        newest = list(self._stream.values())[-_REFLECTION_ENTRIES:]
        now = self._given.clock.now()
        for question in _questions(model, self._fit(reversed(newest))):
            self._index.flush()
            basis = [key for key, _ in self.rank(question)[:_RECALL_ENTRIES]]
            statements = self._fit(self._stream[key] for key in basis)
            for text, cited in _insights(model, self._given.agent, statements):
                of = [basis[place] for place in sorted(cited)]
                numbers = tuple(dict.fromkeys(n for each in of for n in self._entries[each][1]))
                score = _poignancy(model, text) or max(self._stream[e].importance for e in of)
                key = f"insight:{len(self._stream)}"
                self._stream[key] = StreamEntry(text, now, score, rated=True)
                self._entries[key] = f"{now:%-d %B %Y}, {text}", numbers
                self._index.add(Document(key, DocumentKind.NOTE, text, now))
        self._unreflected = 0

    def _fit(self, entries: Iterable[StreamEntry]) -> list[str]:
        """Return the texts of the first entries that fit into half of a prompt."""
        texts = (each.text for each in entries)
        return list(within_budget(texts, self._given.budget // 2, self._given.tokens))


def normalised(values: Sequence[float]) -> list[float]:
    """Return the values scaled to 0 (smallest) to 1 (largest); all 0 if they are equal."""
    low = min(values, default=0.0)
    high = max(values, default=0.0)
    return [(each - low) / (high - low) if high > low else 0.0 for each in values]


# -- requests to the model


def _poignancy(model: LanguageModel, line: str) -> int | None:
    """Return the model's rating of a line, 1 to 10; None if its answer has no such number."""
    answer = _answer(model, _PROMPTS["rate"].format(line=line), 8, "\n")
    found = next(map(int, _NUMBER.findall(answer)), 0)
    return found if 1 <= found <= 10 else None


def _questions(model: LanguageModel, lines: Sequence[str]) -> list[str]:
    """Return the questions that the model finds worth asking about these lines."""
    prompt = _PROMPTS["ask"].format(statements="\n".join(lines), most=MOST_QUESTIONS)
    answer = _answer(model, prompt, 160).splitlines()
    return [item.lstrip(_LIST_MARKS).rstrip() for item in answer if "?" in item][:MOST_QUESTIONS]


def _insights(model: LanguageModel, agent: str, lines: Sequence[str]) -> list[tuple[str, set[int]]]:
    """Return the insights from these lines, each with the places (from 0) of its evidence."""
    listed = "\n".join(f"{place}. {line}" for place, line in enumerate(lines, 1))
    prompt = _PROMPTS["infer"].format(agent=agent or "them", statements=listed, most=MOST_INSIGHTS)
    found = []
    for item in _answer(model, prompt, 320).splitlines():  # insight (because of 1, 5, 3)
        text, _, because = item.lstrip(_LIST_MARKS).rpartition("(")
        places = {int(n) - 1 for n in _NUMBER.findall(because)} & {*range(len(lines))}
        if places and text:
            found.append((text.rstrip(), places))
    return found[:MOST_INSIGHTS]


def _answer(model: LanguageModel, prompt: str, most: int, stop: str = "\n\n") -> str:
    request = GenerationRequest(prompt, max_tokens=most, stop=(stop,), temperature=0.0)
    return model.generate(request).text
