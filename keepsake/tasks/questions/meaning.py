"""Asks a model which of some lines mean what somebody typed.

No pattern decides what a word means in a line: *Bob's watch* is none if somebody keeps watch for
Bob.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepsake.language.perception import for_prompt
from keepsake.language.tokens import estimate_tokens
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.task import AnswerRefused, Prompts

_LONGEST = 600
"""The most characters of a line: a few sentences of one talk."""
_LONGEST_WORDS = 300
_ANSWER_TOKENS = 200
"""The most tokens of an answer: its form, and some thirty numbers."""
_SPARE_TOKENS = 40
"""Prompt tokens that are kept free, because a chat template adds some."""
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"lines": {"type": "array", "items": {"type": "integer"}}},
    "required": ["lines"],
}


@dataclass(slots=True)
class Meaning:
    """The task of naming the lines that mean what was typed.

    Attributes:
        words: What was typed.
        lines: What was said. As many are shown as fit, at least one.
        taken: How many were shown.
    """

    prompts: Prompts
    words: str
    lines: Sequence[str]
    name: str = "meaning"
    taken: int = field(init=False, default=0)

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt with as many of the lines as fit."""
        room = target.prompt_tokens - estimate_tokens(self._rendered((), refused)) - _SPARE_TOKENS
        shown = list[str]()
        for number, each in enumerate(self.lines, 1):
            line = f"{number}. {for_prompt(each, limit=_LONGEST)}"
            room -= estimate_tokens(line) + 1
            if room < 0 and shown:
                break
            shown.append(line)
        self.taken = len(shown)
        return GenerationRequest(
            self._rendered(shown, refused),
            max_tokens=_ANSWER_TOKENS,
            temperature=0.0,
            json_schema=_SCHEMA,
        )

    def _rendered(self, lines: Sequence[str], refused: str) -> str:
        words = for_prompt(self.words, limit=_LONGEST_WORDS)
        return self.prompts.render("question", words=words, lines=[*lines], refused=refused)

    def read(self, answer: str) -> frozenset[int]:
        """Return the places of the lines that mean it, from 0.

        Raises:
            AnswerRefused: It is no JSON of that form, or names lines that are none.
        """
        start = answer.find("{")
        end = answer.rfind("}")
        try:
            named = [int(each) for each in json.loads(answer[start : end + 1])["lines"]]
        except (ValueError, TypeError, KeyError) as error:
            raise AnswerRefused("it is no JSON of the form that was asked for") from error
        if any(not 0 < each <= self.taken for each in named):
            raise AnswerRefused(f"the lines have the numbers 1 to {self.taken}")
        return frozenset(each - 1 for each in named)

    def fallback(self) -> frozenset[int]:
        """Without an answer nothing is known."""
        return frozenset()
