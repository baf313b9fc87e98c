"""Writing summaries: by a language model, or without one.

The prompt is a plain text to continue, so that base models can follow it: a heading, the
memories, a second heading that says what comes, and ``> `` (with its blank: without it a
small model wanders) as the cursor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from game.mind import extractive, verdict
from game.mind.errors import SummaryRefused
from game.mind.ports import Generation
from game.mind.records import Tier
from game.mind.strategy import Strategy
from game.mind.tokens import CHARACTERS_PER_TOKEN

PROMPT = """\
# Memories:
{memories}

# Summary (first-person perspective, I/me/my, no meta-commentary):
> """

STOP = ("\n#", "\n\n", "\n>")
"""What ends a summary; the stop strings of the acting profile would cut it short."""

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""

MAX_CHARACTERS = {Tier.RECENT: 1200, Tier.LONGTERM: 1800}
"""How long an extractive summary of each tier may get."""


@dataclass(frozen=True, slots=True)
class Source:
    """What one summary is to be made of.

    Attributes:
        tier: Which summary it becomes.
        agent: The name of the agent whose memories they are.
        lines: The memories, or for the long-term summary the two summaries, oldest first.
        numbers: The memory number of each line; none at all where they are summaries.
        strategy: How it is to be written; None for the narrative way.
        limit_tokens: The most tokens that it may have; 0 for the usual.
        must_keep: Constraints and open matters that have to be in it.
    """

    tier: Tier
    agent: str
    lines: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    strategy: Strategy | None = None
    limit_tokens: int = 0
    must_keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary that passed its checks.

    Attributes:
        text: The summary.
        model: Who wrote it.
        calls: Model calls it took.
        prompt_tokens: Tokens sent, 0 if none or unknown.
        completion_tokens: Tokens generated, 0 if none or unknown.
        seconds: Wall time.
    """

    text: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: The answer failed its checks.
        """
        ...


class ExtractiveSummarizer:
    """Picks the most telling sentences; never fails and never invents."""

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source`` without a model."""
        began = time.perf_counter()
        text = extractive.summarize(
            source.lines, max_chars=MAX_CHARACTERS[source.tier], own_name=source.agent
        )
        return Draft(text, EXTRACTIVE, seconds=time.perf_counter() - began)


class ModelSummarizer:
    """Has a language model write the summary and checks it.

    Args:
        generate: Calls the model; the arguments are the prompt and the stop strings.
        context_tokens: What fits into one prompt; longer sources are cut into parts that
            are summarised one after the other.
        tries: How often a refused answer is asked for anew.
    """

    def __init__(
        self,
        generate: Callable[[str, tuple[str, ...]], Generation],
        *,
        context_tokens: int = 4096,
        tries: int = 2,
    ) -> None:
        self._generate = generate
        self._part_characters = max(context_tokens * CHARACTERS_PER_TOKEN * 3 // 4, 1000)
        self._tries = tries

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source``, part by part where it is too long for one prompt.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: Every answer failed its checks.
        """
        drafts = [self._part(part) for part in _parts(source.lines, self._part_characters)]
        return Draft(
            text=" ".join(draft.text for draft in drafts),
            model=drafts[-1].model,
            calls=sum(draft.calls for draft in drafts),
            prompt_tokens=sum(draft.prompt_tokens for draft in drafts),
            completion_tokens=sum(draft.completion_tokens for draft in drafts),
            seconds=sum(draft.seconds for draft in drafts),
        )

    def _part(self, lines: Sequence[str]) -> Draft:
        prompt = build_prompt(lines)
        reason = ""
        for attempt in range(1, self._tries + 1):
            answer = self._generate(prompt, STOP)
            text = verdict.clean(answer.text)
            reason = verdict.check(text, lines) or ""
            if not reason:
                return Draft(
                    text,
                    answer.model,
                    attempt,
                    answer.prompt_tokens,
                    answer.completion_tokens,
                    answer.seconds,
                )
        raise SummaryRefused(
            f"the summary was refused: {reason}",
            "Set another model, or `extractive`, for the summarizer profile in llm.md",
        )


def build_prompt(lines: Sequence[str]) -> str:
    """The text that a model continues with a summary of ``lines``."""
    return PROMPT.format(memories="\n".join(f"- {line}" for line in lines))


def _parts(lines: Sequence[str], characters: int) -> list[list[str]]:
    """Cut ``lines`` into runs of at most ``characters``, a longer line being cut short."""
    parts: list[list[str]] = [[]]
    room = characters
    for line in lines:
        cost = len(line) + 3
        if cost > room and parts[-1]:
            parts.append([])
            room = characters
        parts[-1].append(line[:characters])
        room -= cost
    return parts
