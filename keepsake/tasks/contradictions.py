"""Does a summary contradict a pin or an open promise? The chat model that wrote it is asked once.

Any answer but a list of their numbers counts as none, and so does no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.ports import ChatMessage, TargetModel
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import Question

PART, VARIABLES = "question", frozenset({"lines", "text"})
"""The part of ``contradictions.md``, and the names that it may use."""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Which of ``lines`` a summary contradicts."""

    prompts: Prompts
    lines: Sequence[str]  # pins and open promises
    text: str  # the summary
    name: str = "contradictions"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The numbered lines, the summary, and the question."""
        text = self.prompts.render(PART, lines=list(self.lines), text=self.text)
        return Question(messages=(ChatMessage("user", text),), temperature=0.0)

    def read(self, answer: str) -> tuple[str, ...]:
        """The contradicted lines; none for an answer of another form."""
        words = set(answer.strip().rstrip(".").replace(",", " ").split())
        known = {str(number): line for number, line in enumerate(self.lines, 1)}
        named = tuple(line for number, line in known.items() if number in words)
        return named if known.keys() >= words else ()

    def fallback(self) -> tuple[str, ...]:
        """None, where the model does not answer."""
        return ()
