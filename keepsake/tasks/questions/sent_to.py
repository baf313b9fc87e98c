"""Asks a small model whether a character takes a message to somebody, after what it has said.

It goes on with the story, as with :mod:`keepsake.tasks.questions.setting_off`. Asked about places
and people together, a small model says mostly that the character stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.language.perception import names
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.tasks.questions.notes import request_of
from keepsake.tasks.task import AnswerRefused, Prompts

PART = "sent"
"""The block of ``agreed.md``. A world whose file is older has none."""
_TAKES = "takes the message to "
_TALKS = "goes on talking"
_ANSWER_TOKENS = 24
"""The most tokens of an answer: ``(Then Mira takes the message to Bram``."""


@dataclass(frozen=True, slots=True)
class SentTo:
    """The task of saying to whom a character takes a message.

    Attributes:
        who: The character.
        partner: Who spoke to it.
        words: What they said.
        answer: What the character said.
        people: Those elsewhere who were named, each once.
    """

    prompts: Prompts
    who: str
    partner: str
    words: str
    answer: str
    people: tuple[str, ...]
    name: str = "agreed"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt, whose answer is one of the people, or that the character talks on."""
        said = {"name": self.who, "partner": self.partner, "words": self.words}
        return request_of(
            self.prompts,
            PART,
            said | {"answer": self.answer},
            stop=("\n", ")"),
            max_tokens=_ANSWER_TOKENS,
        )

    def read(self, answer: str) -> str:
        """Return the person; empty if the character takes no message to anybody.

        Raises:
            AnswerRefused: The answer says neither.
        """
        said = answer.strip().partition(")")[0]
        _, takes, to = said.partition(_TAKES)
        if not takes and _TALKS in said:
            return ""
        found = [each for each in self.people if names(to, each)]
        if not takes or not found:
            raise AnswerRefused(f"{said[:40]!r} is nobody who was named")
        return found[0]

    def fallback(self) -> str:
        """Return that it goes to nobody, if the model does not answer."""
        return ""
