"""Asks a small model with which words a character passes on what somebody has asked for.

It is shown the request alone, which was said aloud, and nothing else that the character knows: so
the words can tell nothing that was whispered.
"""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.language.perception import telling
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.questions.notes import request_of
from keepsake.tasks.task import AnswerRefused, Prompts

PART = "errand"
"""The block of ``agreed.md``. A world whose file is older has none."""
_ANSWER_TOKENS = 64
"""The most tokens of an answer: a sentence or two, and before them who says it to whom."""
_STUB = ': "'
"""What ends the part of a note that says who speaks to whom: their words follow it."""
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class PassingWord:
    """The task of finding the words of an errand.

    Attributes:
        who: The character.
        partner: Who asks for it.
        words: What they said.
        to: For whom it is.
    """

    prompts: Prompts
    who: str
    partner: str
    words: str
    to: str
    name: str = "agreed"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt, whose answer is what the character says to them."""
        said = {"name": self.who, "partner": self.partner, "words": self.words}
        return request_of(
            self.prompts,
            PART,
            said | {"to": self.to},
            stop=("\n",),
            max_tokens=_ANSWER_TOKENS,
            stub=_STUB,
        )

    def read(self, answer: str) -> str:
        """Return the words.

        Raises:
            AnswerRefused: They have nothing of what was asked for.
        """
        said = answer.strip().removesuffix(")").strip().strip(_QUOTE).strip()
        if not telling(said) & telling(self.words):
            raise AnswerRefused(f"{said[:40]!r} has nothing of what was asked for")
        return said

    def fallback(self) -> str:
        """Return what was said, as it was said, if the model finds no words."""
        return f"{self.partner}: {self.words}"
