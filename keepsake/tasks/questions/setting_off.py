"""Asks a small model whether a character sets off after what it has said, and where to.

A model that writes no commands says "I'll go", and would stay. It answers this question better than
whether it agreed: it goes on with the story, one note behind each talk.
"""

from __future__ import annotations

from dataclasses import dataclass

from keepsake.language.perception import names
from keepsake.ports import GenerationRequest, TargetModel
from keepsake.prompt.verbs import bare_name
from keepsake.tasks.questions.notes import request_of
from keepsake.tasks.task import AnswerRefused, Prompts

PART = "setting_off"
"""The block of ``agreed.md``. A world whose file is older has none."""
_GOES = "goes to "
_STAYS = "stays"
_ANSWER_TOKENS = 24
"""The most tokens of an answer: ``(Now Mira goes to Bram's Orchard``."""


@dataclass(frozen=True, slots=True)
class SettingOff:
    """The task of saying where a character goes at once.

    Attributes:
        who: The character.
        partner: Who spoke to it.
        words: What they said.
        answer: What the character said.
        places: The places that were named, each once.
    """

    prompts: Prompts
    who: str
    partner: str
    words: str
    answer: str
    places: tuple[str, ...]
    name: str = "agreed"

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the prompt, whose answer is one of the places, or that the character stays."""
        said = {"name": self.who, "partner": self.partner, "words": self.words}
        # Of a JSON string, which a schema needs, a model of half a billion parameters always writes
        # the first choice. Of the next words of a story it is right in five of six cases.
        return request_of(
            self.prompts,
            PART,
            said | {"answer": self.answer},
            stop=("\n", ")"),
            max_tokens=_ANSWER_TOKENS,
        )

    def read(self, answer: str) -> str:
        """Return the place; empty if the character stays.

        Raises:
            AnswerRefused: The answer says neither that it stays nor where it goes.
        """
        said = answer.strip().partition(")")[0].rstrip(".")
        _, goes, where = said.partition(_GOES)
        if not goes and _STAYS in said:
            return ""
        found = [each for each in self.places if names(where, bare_name(each))]
        if len(self.places) == 1:  # "the inn" for The Kettle
            found = [*self.places]
        if not goes or not found:
            raise AnswerRefused(f"{said[:40]!r} is no place that was named")
        return found[0]

    def fallback(self) -> str:
        """Return that it stays, if the model does not answer."""
        return ""
