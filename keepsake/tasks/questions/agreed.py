"""Asks a small model whether the words of a character agree to do a deed.

A model that writes no commands says "Yes, take it", and nothing would happen. No pattern decides
what its words mean: the model that wrote them is asked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from keepsake.events.values import Assent
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.questions.notes import request_of
from keepsake.tasks.task import AnswerRefused, Prompts

_ANSWER_TOKENS = 8
"""The most tokens of an answer: one word in quotation marks."""
_STUB = ":"
"""What ends the part of a note that names the deed: the answer follows it."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """The task of saying whether an answer agrees to do a deed at once.

    Attributes:
        who: The character.
        partner: Who spoke to it.
        words: What they said.
        answer: What the character said.
        deed: The deed, as a command: ``give jar of honey to Tom``.
    """

    prompts: Prompts
    who: str
    partner: str
    words: str
    answer: str
    deed: str
    name: str = "agreed"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt, whose answer is one of three words."""
        said = {"name": self.who, "partner": self.partner, "words": self.words}
        schema = {"type": "string", "enum": [each.value for each in Assent]}
        return request_of(
            self.prompts,
            "question",
            said | {"answer": self.answer, "deed": self.deed},
            stop=("\n",),
            max_tokens=_ANSWER_TOKENS,
            stub=_STUB,
            schema=schema,
        )

    def read(self, answer: str) -> Assent:
        """Return the word of the answer.

        Raises:
            AnswerRefused: It is none of the three.
        """
        word = answer.strip().partition(")")[0]
        try:
            return Assent(json.loads(word))
        except (ValueError, RecursionError):
            raise AnswerRefused(f"{word[:40]!r} is none of {', '.join(Assent)}") from None

    def fallback(self) -> Assent:
        """Return that nothing was asked for, if the model does not answer."""
        return Assent.TALK
