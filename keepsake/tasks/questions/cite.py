"""Asks a model which memories the sentences of a summary tell, where its writer did not say so.

Words alone do not tell: a sentence about the same people and things may tell of another moment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepsake.archive.records import Memory
from keepsake.language.perception import UNSPACED, telling
from keepsake.language.tokens import estimate_tokens
from keepsake.memory.summary_text import numbered
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.task import AnswerRefused, Prompts

_MOST_SHARE = 2
_FEW = 8
"""A sentence that names more than one in two of all memories names none: see ``sourced_text``."""
_TOKENS_OF_SENTENCE = 60
"""The most tokens of an answer about one sentence: its form, and some ten numbers."""
_SPARE_TOKENS = 40
"""Prompt tokens that are kept free, because a chat template adds some."""


@dataclass(slots=True)
class Cite:
    """The task of naming the memories that each sentence of a summary tells.

    Attributes:
        agent: The agent's name.
        sentences: Those of the summary, in order.
        memories: Those that the summary covers. As many are shown as fit.
        taken: How many were shown.
    """

    prompts: Prompts
    agent: str
    sentences: Sequence[str]
    memories: Sequence[Memory]
    name: str = "cite"
    taken: int = field(init=False, default=0)

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt with as many of the memories as fit, at least one."""
        answer = _TOKENS_OF_SENTENCE * len(self.sentences)
        frame = estimate_tokens(self._rendered((), refused))
        room = target.prompt_tokens - frame - _SPARE_TOKENS
        self.taken = 0
        for line in numbered(self.memories):
            room -= estimate_tokens(line) + 1
            if room < 0 and self.taken:
                break
            self.taken += 1
        text = self._rendered(numbered(self.memories[: self.taken]), refused)
        schema = _schema(len(self.sentences))
        return GenerationRequest(text, max_tokens=answer, temperature=0.0, json_schema=schema)

    def _rendered(self, memories: Sequence[str], refused: str) -> str:
        return self.prompts.render(
            "question",
            agent=self.agent,
            memories=[*memories],
            sentences=[*self.sentences],
            refused=refused,
        )

    def read(self, answer: str) -> Mapping[str, tuple[int, ...]]:
        """Return the memories of each sentence that names some.

        Raises:
            AnswerRefused: It is no JSON of that form, or names none of the memories, or mostly such
                as have no word of their sentences.
        """
        known = {each.number for each in self.memories[: self.taken]}
        most = max(len(known) // _MOST_SHARE, _FEW)
        found: dict[str, tuple[int, ...]] = {}
        for place, numbers in _named(answer):
            told = tuple(sorted(known.intersection(numbers)))
            if 0 < place <= len(self.sentences) and 0 < len(told) <= most:
                found[self.sentences[place - 1]] = told
        if not found:
            raise AnswerRefused("it names none of the memories by their numbers")
        if not self._fits(found):
            raise AnswerRefused("most of its numbers are of memories about something else")
        return found

    def _fits(self, found: Mapping[str, tuple[int, ...]]) -> bool:
        """Whether half of the memories have a word of their sentences, besides the people's names.

        A small model counts on from the numbers of the example. Of what a capable model names, nine
        in ten have such a word; of numbers at random, two in ten. Without spaces between words, it
        is not known.
        """
        if any(UNSPACED.search(sentence) for sentence in found):
            return True
        memories = {each.number: each for each in self.memories[: self.taken]}
        names = telling(" ".join({each.source for each in memories.values()}))
        shared = [
            telling(sentence) & telling(memories[number].line) - names
            for sentence, numbers in found.items()
            for number in numbers
        ]
        return 2 * sum(map(bool, shared)) >= len(shared)

    def fallback(self) -> Mapping[str, tuple[int, ...]]:
        """Without an answer nothing is known."""
        return {}


def _schema(sentences: int) -> Mapping[str, Any]:
    """Return the form of an answer about so many sentences."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    named = {
        "type": "object",
        "properties": {"sentence": {"type": "integer"}, "memories": numbers},
        "required": ["sentence", "memories"],
    }
    # Without a limit a small model goes on until the answer is cut off.
    found = {"type": "array", "maxItems": sentences, "items": named}
    return {"type": "object", "properties": {"sentences": found}, "required": ["sentences"]}


def _named(answer: str) -> Iterator[tuple[int, Sequence[int]]]:
    """Yield the number of each sentence of an answer, and the numbers that it names.

    Raises:
        AnswerRefused: The answer is no JSON of that form.
    """
    start = answer.find("{")
    end = answer.rfind("}")
    try:
        for each in json.loads(answer[start : end + 1])["sentences"]:
            yield int(each["sentence"]), [*map(int, each["memories"])]
    except (ValueError, TypeError, KeyError) as error:
        raise AnswerRefused("it is no JSON of the form that was asked for") from error
