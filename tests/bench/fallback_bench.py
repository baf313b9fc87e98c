"""The talk of the shipped base model: how many of 60 questions the rules answer rightly.

Each talk is indexed by words and meaning, and each question searched by the recall of the agents.
A question is right as ``fallback_questions.yaml`` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import yaml

from keepsake.books.persona import open_lines
from keepsake.lab.conversation import Conversation, ConversationTurn
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.paths import REPOSITORY
from keepsake.tasks.fallback import STOCK, FallbackLine, answer
from tests.bench.figures import Figure

TALKS = REPOSITORY / "tests" / "data" / "fallback_questions.yaml"
_MARKUP = frozenset('~<>|{}[]*_#`\\^@="')
_HITS = 8


def measure() -> Iterator[Figure]:
    """The share of right answers, and how many had markup."""
    conversation, right, markup = Conversation(MiniLMEmbedder(threads=2)), list[bool](), 0
    for talk in yaml.safe_load(TALKS.read_text(encoding="utf-8")):
        for question, said in _answers(talk, conversation):
            right.append(_is_right(said, question))
            markup += not _MARKUP.isdisjoint(said) or f"{talk['agent']}:" in said
    yield Figure("fallback: questions answered rightly", len(right), sum(right), "of 60", "30")
    yield Figure("fallback: markup or prompt spoken", len(right), markup, "of 60", "0")


def _answers(
    talk: Mapping[str, Any], conversation: Conversation
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The questions of a talk, and what is said to each."""
    conversation.ingest([
        ConversationTurn(
            id=str(number), speaker=who, time=f"2026-05-01 18:{number:02}", text=words,
            place="The Kettle",
        )
        for number, (who, words) in enumerate(talk["said"], 1)
    ])  # fmt: skip
    persona = [FallbackLine(each) for each in open_lines(talk["persona"])]
    before: list[str] = []
    for each in talk["asks"]:
        hits = conversation.recall.search(each["ask"], limit=_HITS, asker=each["who"]) or []
        told = ((hit.document, hit.score) for hit in hits)
        said = answer(
            each["ask"],
            agent=talk["agent"],
            partner=each["who"],
            said_before=before,
            lines=[*persona, *(FallbackLine(d.text, d.speaker, d.first, s) for d, s in told)],
            rng=Random(7),
        )
        before.append(said)
        yield each, said


def _is_right(said: str, question: Mapping[str, Any]) -> bool:
    held = said.casefold()
    if any(word.casefold() in held for word in question.get("not", ())):
        return False
    if "right" in question:
        return all(word.casefold() in held for word in question["right"])
    unknown = (each for stock in STOCK.values() for each in stock["unknown"])
    return said in [each.format(who=question["who"]) for each in unknown]
