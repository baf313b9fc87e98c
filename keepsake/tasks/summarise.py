"""Memories become a summary, written by a model: :class:`Summarise`.

A piece of the memories is shown, as much as fits the model's prompt; what is left over is
summarised next, with this summary in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from keepsake.ports import ChatMessage, TargetModel
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.summary_check import Source, check_summary, cleaned
from keepsake.tasks.summary_prompts import MEMORIES, SYSTEM, TEXT, SummaryBrief
from keepsake.tasks.task import Question

_SPARE_TOKENS = 40
"""Tokens of a prompt that are kept free: a chat template adds some."""


@dataclass(slots=True)
class Summarise:
    """One summary of ``older`` and of the first of ``lines``.

    Attributes:
        taken: How many of ``lines`` the model was shown; all of them before it is asked.
    """

    brief: SummaryBrief
    prompts: Prompts
    lines: Sequence[str]  # memories, numbered and dated, oldest first
    older: str  # the summary of what was before them; empty for none
    by_rules: Callable[[int], str]  # the summary without a model, of so many of ``lines``
    name: str = "summarise"
    taken: int = -1

    def __post_init__(self) -> None:
        self.taken = len(self.lines)

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The prompt with as many of the memories as fit."""
        chat = target.form == "chat"
        frame = self._rendered(chat=chat, lines=(), refused=refused)
        room = target.prompt_tokens - sum(map(self.brief.tokens, frame)) - _SPARE_TOKENS
        self.taken = self._fitting(room)
        parts = self._rendered(chat=chat, lines=self.lines[: self.taken], refused=refused)
        most = 2 * self.brief.most_tokens(self._shown)
        if chat:
            system, user = parts
            messages = (ChatMessage("system", system), ChatMessage("user", user))
            return Question(messages=messages, max_tokens=most)
        return Question(text=parts[0], stop=self.brief.stop, max_tokens=most)

    def read(self, answer: str) -> str:
        """The summary.

        Raises:
            AnswerRefused: It fails :func:`keepsake.tasks.summary_check.check_summary`.
        """
        text = cleaned(answer)
        shown = self._shown
        unfilled = {"persona": "", "memories": [], "older": ""}
        rules = self.prompts.render(SYSTEM, **self.brief.values("") | unfilled)
        most = self.brief.most_tokens(shown)
        check_summary(text, Source(shown, rules, lived=len(self.lines) > 0), self.brief, most)
        return text

    def fallback(self) -> str:
        """The summary without a model."""
        return self.by_rules(self.taken)

    @property
    def _shown(self) -> tuple[str, ...]:
        older = (self.older,) if self.older else ()
        return (*older, *self.lines[: self.taken])

    def _fitting(self, room: int) -> int:
        """How many of the memories fit; one at least."""
        for count, line in enumerate(self.lines):
            room -= self.brief.tokens(line) + 1
            if room < 0:
                return max(count, 1)
        return len(self.lines)

    def _rendered(self, *, chat: bool, lines: Sequence[str], refused: str) -> tuple[str, ...]:
        """The messages for a chat model, or the text to continue."""
        values = self.brief.values(refused) | {"memories": list(lines), "older": self.older}
        return tuple(
            self.prompts.render(part, **values)
            for part in ((SYSTEM, MEMORIES) if chat else (TEXT,))
        )
