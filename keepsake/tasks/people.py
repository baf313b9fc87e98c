"""What an agent makes of somebody: a model writes a paragraph from their own last sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.ports import TargetModel
from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused, Question

VARIABLES = ("name", "who", "portrait", "lines", "longest", "refused")
LONGEST = 1200
"""Characters of the paragraph."""
_ANSWER_TOKENS = 450


@dataclass(frozen=True, slots=True)
class PeopleTask:
    """Asks for the paragraph about one person.

    Attributes:
        prompts: The template.
        own_name: Who thinks of them.
        who: Their name.
        portrait: The paragraph as it is; empty for none.
        lines: What they said and did, with dates, the oldest first.
    """

    prompts: Prompts
    own_name: str
    who: str
    portrait: str
    lines: Sequence[str]
    name: str = "people"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The lines, and what is asked of them."""
        return night.question_of(
            self.prompts,
            target,
            max_tokens=_ANSWER_TOKENS,
            name=self.own_name,
            who=self.who,
            portrait=self.portrait,
            lines=night.newest_that_fit(self.lines, target),
            longest=LONGEST,
            refused=refused,
        )

    def read(self, answer: str) -> str:
        """The paragraph, on one line.

        Raises:
            AnswerRefused: It is empty, too long, or the instruction itself.
        """
        text = " ".join(answer.split()).lstrip("#*->` ")
        if not any(char.isalnum() for char in text):
            raise AnswerRefused("The answer is empty")
        if len(text) > LONGEST:
            raise AnswerRefused(f"The answer has {len(text)} characters; {LONGEST} is the most")
        return text

    def fallback(self) -> str:
        """The paragraph as it is."""
        return self.portrait
