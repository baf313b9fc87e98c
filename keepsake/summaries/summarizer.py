"""Writing summaries: by a language model, or without one.

How a summary is to look comes from a template (:mod:`keepsake.summaries.strategy`): prose, or
notes under headings. The prompt is a plain text to continue, so that base models can follow it:
the memories, a heading that says what comes, and a cursor (with its blank: without it a small
model wanders).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.ports import Generation
from keepsake.prompt.script import cursor
from keepsake.recall.related import about_memory
from keepsake.summaries import prose, sections_writer
from keepsake.summaries.source import Calls, Draft, SummarySource

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""
MERGED = "merged"
"""Who wrote a summary that needed no model: both older ones fit together."""

_LEAST_PART_TOKENS = 250


class ExtractiveSummarizer:
    """Picks the most telling sentences; never fails and never invents."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source`` without a model, as its strategy wants it."""
        began = time.perf_counter()
        source = _relevant(source)
        write = sections_writer.by_rules if source.way.headings else prose.by_rules
        text = write(source)
        return Draft(text, EXTRACTIVE, seconds=time.perf_counter() - began)


class ModelSummarizer:
    """Has a language model write the summary and checks it.

    Args:
        context_tokens: What fits into one prompt; longer sources are cut into parts that
            are summarised one after the other.
    """

    def __init__(
        self,
        generate: Callable[[str, tuple[str, ...]], Generation],
        *,
        context_tokens: int = 4096,
    ) -> None:
        self._generate = generate
        self._part_tokens = max(context_tokens * 3 // 4, _LEAST_PART_TOKENS)

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``, part by part where it is too long for one prompt.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: Every answer failed its checks.
            ConfigError: The strategy's template fails on these memories.
        """
        source = _relevant(source)
        call = Calls(self._generate)
        write = sections_writer.by_model if source.way.headings else prose.by_model
        text = write(source, call, self._part_tokens)
        return replace(call.cost, text=text, model=call.cost.model or MERGED)


def _relevant(source: SummarySource) -> SummarySource:
    """Without what the agent did with its own memory, unless there is nothing else."""
    lines = source.lines
    kept = [i for i, line in enumerate(lines) if not _about_memory(line, source.agent)]
    if not kept or len(kept) == len(lines):
        return source
    fields: dict[str, Any] = {
        name: tuple(getattr(source, name)[i] for i in kept)
        for name in ("lines", "numbers", "importance", "days")
    }
    return replace(source, **fields)


def _about_memory(line: str, agent: str) -> bool:
    """Whether a line tells of a note, a search or what one brought."""
    act = line.removeprefix(cursor(agent)).lstrip()
    kind = MemoryKind.RESULT if act == line.lstrip() else MemoryKind.ACT
    return about_memory(Memory(0, datetime.min.replace(tzinfo=UTC), kind, act))
