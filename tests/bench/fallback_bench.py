"""The talk of the shipped base model: how many of 60 questions the rules answer rightly.

Each talk is indexed by words and meaning, and each question searched by the recall of the agents.
A question is right as ``fallback_questions.yaml`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import yaml

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.persona import open_lines
from keepsake.lab.memories.plain import LocalVectors
from keepsake.language.heard import heard
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.ports import Embedder, FixedClock
from keepsake.recall.documents import Document, DocumentKind, Hit, text_of
from keepsake.recall.search import MemorySearch
from keepsake.recall.words import WordIndex
from keepsake.tasks.fallback import STOCK, FallbackLine, answer
from tests.bench.figures import Figure

TALKS = REPOSITORY / "tests" / "data" / "fallback_questions.yaml"
_BEGAN = datetime(2026, 5, 1, 18, tzinfo=UTC)
_MARKUP = frozenset('~<>|{}[]*_#`\\^@="')
_HITS = 8


@dataclass(frozen=True, slots=True)
class FallbackAnswer:
    """A question of the file, and what was said to it."""

    agent: str
    who: str
    asked: str
    said: str
    right: bool

    @property
    def has_markup(self) -> bool:
        """Whether anything was spoken that is no speech."""
        return not _MARKUP.isdisjoint(self.said) or f"{self.agent}:" in self.said


def measure() -> Iterator[Figure]:
    """The share of right answers, and how many had markup."""
    found = answers()
    right = sum(each.right for each in found)
    markup = sum(each.has_markup for each in found)
    yield Figure("fallback: questions answered rightly", len(found), right, "of 60", "30")
    yield Figure("fallback: answered wrongly", len(found), len(found) - right, "of 60")
    yield Figure("fallback: markup or prompt spoken", len(found), markup, "of 60", "0")


def answers() -> list[FallbackAnswer]:
    """What is said to all questions of the file."""
    embedder = MiniLMEmbedder(threads=2)
    talks = yaml.safe_load(TALKS.read_text(encoding="utf-8"))
    return [each for talk in talks for each in _answers(talk, embedder)]


def _answers(talk: Mapping[str, Any], embedder: Embedder) -> Iterator[FallbackAnswer]:
    lived = _lived(talk["said"])
    recall = _recall(lived, embedder, talk["agent"])
    persona = [FallbackLine(each) for each in open_lines(talk["persona"])]
    before: list[str] = []
    for each in talk["asks"]:
        hits = recall.search(each["ask"], limit=_HITS, asker=each["who"]) or []
        said = answer(
            each["ask"],
            agent=talk["agent"],
            partner=each["who"],
            said_before=before,
            lines=[*persona, *_lines(hits, lived)],
            rng=Random(7),
        )
        before.append(said)
        yield FallbackAnswer(talk["agent"], each["who"], each["ask"], said, _is_right(said, each))


def _lived(said: Sequence[Sequence[str]]) -> list[Memory]:
    """The memories of a talk."""
    return [
        Memory(
            number,
            _BEGAN + timedelta(minutes=number),
            MemoryKind.PERCEPTION,
            f'{who} says to you, "{words}"',
            "The Kettle",
            who,
            event="talk",
        )
        for number, (who, words) in enumerate(said, 1)
    ]


def _recall(lived: Sequence[Memory], embedder: Embedder, agent: str) -> MemorySearch:
    documents = [_document(each) for each in lived]
    index, vectors = WordIndex(), LocalVectors()
    index.add(documents)
    vectors.add(documents, embedder.embed([text_of(each, agent) for each in documents]))
    names = {each.source for each in lived} | {agent}
    clock = FixedClock(_BEGAN + timedelta(hours=2))
    return MemorySearch(index, vectors, embedder, names=lambda: names, clock=clock, agent=agent)


def _document(memory: Memory) -> Document:
    return Document(
        key=f"{DocumentKind.MEMORY}:{memory.number}",
        kind=DocumentKind.MEMORY,
        text=memory.text,
        time=memory.time,
        first=memory.number,
        last=memory.number,
        speaker=memory.source,
        place=memory.place,
    )


def _lines(hits: Sequence[Hit], lived: Sequence[Memory]) -> Iterator[FallbackLine]:
    for hit in hits:
        memory = lived[hit.document.first - 1]
        said = heard(memory)
        if said is not None:
            yield FallbackLine(said.words, said.who, memory.number, hit.score)


def _is_right(said: str, question: Mapping[str, Any]) -> bool:
    held = said.casefold()
    if any(word.casefold() in held for word in question.get("not", ())):
        return False
    if "right" in question:
        return all(word.casefold() in held for word in question["right"])
    unknown = (each for stock in STOCK.values() for each in stock["unknown"])
    return said in [each.format(who=question["who"]) for each in unknown]
