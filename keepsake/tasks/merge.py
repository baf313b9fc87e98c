"""Older summaries become one, written by a model: :class:`Merge`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keepsake.ports import ChatMessage, TargetModel
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.summarise import Source, check_summary, cleaned
from keepsake.tasks.summary_prompts import SUMMARIES, SYSTEM, TEXT, SummaryBrief
from keepsake.tasks.task import Question


@dataclass(slots=True)
class Merge:
    """One summary of several, oldest first; of one, if that has grown too long."""

    brief: SummaryBrief
    prompts: Prompts
    summaries: tuple[str, ...]
    by_rules: Callable[[], str]  # the summary without a model
    name: str = "merge"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The prompt with all of them."""
        values = self.brief.values(refused) | {"summaries": list(self.summaries)}
        most = 2 * self.brief.most_tokens(self.summaries)
        if target.form != "chat":
            text = self.prompts.render(TEXT, **values)
            return Question(text=text, stop=self.brief.stop, max_tokens=most)
        messages = (
            ChatMessage("system", self.prompts.render(SYSTEM, **values)),
            ChatMessage("user", self.prompts.render(SUMMARIES, **values)),
        )
        return Question(messages=messages, max_tokens=most)

    def read(self, answer: str) -> str:
        """The summary.

        Raises:
            AnswerRefused: It fails :func:`keepsake.tasks.summarise.check_summary`.
        """
        text = cleaned(answer)
        unfilled = {"persona": "", "summaries": []}
        rules = self.prompts.render(SYSTEM, **self.brief.values("") | unfilled)
        most = self.brief.most_tokens(self.summaries)
        check_summary(text, Source(self.summaries, rules, lived=False), self.brief, most)
        return text

    def fallback(self) -> str:
        """The summary without a model."""
        return self.by_rules()
