"""The prompts of summaries, and what all of them are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from keepsake.errors import ConfigError
from keepsake.tasks import contradictions
from keepsake.tasks.prompt_file import PromptFile, Prompts, load_prompts

FOLDER = "prompts"
"""The folder of prompts beside the configuration."""
SYSTEM, TEXT = "system", "text"
"""The parts of both prompts: the rules of the task, and the whole of it for a base model."""
MEMORIES, SUMMARIES = "memories", "summaries"
"""What a chat model is shown as the user's message."""
_ALL = frozenset({"agent", "persona", "wanted", "headings", "words", "refused"})
FILES = {
    "summarise.md": ((SYSTEM, MEMORIES, TEXT), _ALL | {"memories", "older"}),
    "merge.md": ((SYSTEM, SUMMARIES, TEXT), _ALL | {"summaries"}),
    "contradictions.md": ((contradictions.PART,), contradictions.VARIABLES),
}
"""The parts that each file must have, and the names that it may use."""


@dataclass(frozen=True)
class SummaryPrompts:
    """The prompts of :data:`FILES`, each read again when it changes."""

    summarise: PromptFile
    merge: PromptFile
    contradictions: PromptFile

    @classmethod
    def of(
        cls,
        folder: Path,
        spare: Path | None = None,
        on_problem: Callable[[ConfigError], None] | None = None,
        *,
        rest: float = 0.0,
    ) -> SummaryPrompts:
        """Those in ``folder``; those in ``spare`` stand in for what was never good."""

        def file(name: str) -> PromptFile:
            good = (spare or folder) / name
            return PromptFile(folder / name, good, *FILES[name], on_problem, rest=rest)

        return cls(*map(file, FILES))


def load_summary_prompt(path: Path) -> Prompts:
    """Read and check one of :data:`FILES`.

    Raises:
        ConfigError: It cannot be used; names file, line and cure.
    """
    return load_prompts(path, *FILES[path.name])


@dataclass(frozen=True, slots=True)
class SummaryBrief:
    """What the writer of a summary is told, whatever it summarises."""

    agent: str
    persona: str  # who that is, a paragraph; empty to leave it out
    wanted: str  # what the summary should be like, as the strategy says
    headings: tuple[str, ...]  # those that it must have
    words: int  # about how many words it may have
    # how many tokens it may have, for the texts that it is made of
    most_tokens: Callable[[tuple[str, ...]], int]
    tokens: Callable[[str], int]  # what a text costs
    names: frozenset[str] = frozenset()  # of the people and places that the game knows

    def values(self, refused: str) -> dict[str, object]:
        """What both prompts may name."""
        return {
            "agent": self.agent,
            "persona": self.persona,
            "wanted": self.wanted,
            "headings": list(self.headings),
            "words": self.words,
            "refused": refused,
        }

    @property
    def stop(self) -> tuple[str, ...]:
        """What ends the answer of a base model."""
        return ("\n# ", "\n---") if self.headings else ("\n#", "\n\n", "\n>")
