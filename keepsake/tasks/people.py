"""What an agent makes of somebody: a model writes a paragraph from their own last sentences."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused

VARIABLES = ("name", "who", "portrait", "lines", "longest", "refused")
LONGEST = 1200
"""Characters of the paragraph."""


class PeopleTask(night.NightTask[str]):
    """Asks for the paragraph about one person.

    Args:
        prompts: The template.
        own_name: Who thinks of them.
        who: Their name.
        portrait: The paragraph as it is; empty for none.
        lines: What they said and did, with dates, the oldest first.
    """

    name, answer_tokens = "people", 450

    def __init__(
        self, prompts: Prompts, own_name: str, who: str, portrait: str, lines: Sequence[str]
    ) -> None:
        super().__init__(prompts, own_name, lines, who=who, portrait=portrait, longest=LONGEST)
        self._portrait = portrait

    def read(self, answer: str) -> str:
        """The paragraph, on one line; not empty, and not too long."""
        text = " ".join(answer.split()).lstrip("#*->` ")
        if not any(char.isalnum() for char in text):
            raise AnswerRefused("The answer is empty")
        if len(text) > LONGEST:
            raise AnswerRefused(f"The answer has {len(text)} characters; {LONGEST} is the most")
        return text

    def fallback(self) -> str:
        """The paragraph as it is."""
        return self._portrait
