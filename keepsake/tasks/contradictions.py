"""Does a summary contradict a pin or an open promise? The chat model that wrote it is asked once.

Any answer but a list of their numbers counts as none, and so does no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keepsake.ports import ChatMessage, TargetModel
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused, Ask, Question, Task, run

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


@dataclass(slots=True)
class Faithful:
    """The task of a summary, which is refused if it contradicts one of some lines."""

    task: Task[str]
    lines: Callable[[], Sequence[str]]  # asked for once the summary is written
    prompts: Prompts
    model: Ask
    _is_chat: bool = False

    @property
    def name(self) -> str:
        """That of the task."""
        return self.task.name

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The prompt of the task."""
        self._is_chat = target.form == "chat"
        return self.task.ask(target, refused)

    def read(self, answer: str) -> str:
        """The summary.

        Raises:
            AnswerRefused: It fails the check of the task, or contradicts a line.
        """
        text = self.task.read(answer)
        lines = self.lines() if self._is_chat else ()
        found = run(Contradictions(self.prompts, lines, text), self.model).value if lines else ()
        if found:
            raise AnswerRefused(f"it contradicts what still holds: {'; '.join(found)}")
        return text

    def fallback(self) -> str:
        """The summary without a model."""
        return self.task.fallback()
