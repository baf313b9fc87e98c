"""Asks a model once which memories a summary tells, and keeps the answer beside the summary."""

from __future__ import annotations

from collections.abc import Iterator

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary
from keepsake.errors import KeepsakeError
from keepsake.language.sourced_text import sources_of, summary_sentences
from keepsake.memory.history import compactions
from keepsake.memory.summary_text import says_something
from keepsake.tasks.questions.cite import Cite
from keepsake.tasks.task import run

MOST = 400
"""The most memories about which a model is asked: some ten prompts of a small model."""


def cite(memory: MemoryComponent, services: Runtime, number: int) -> str:
    """Ask which memories the short-term summary of a compaction tells; blocks as the model does.

    The archive keeps the answer as the summary's sources.

    Args:
        number: That of the compaction.

    Returns:
        What was done.

    Raises:
        KeepsakeError: There is no such compaction, no model, or no usable answer.
    """
    archive = memory.memory.archive
    made = next((each for each in compactions(archive) if each.number == number), None)
    summary = made.after.recent if made else None
    if summary is None:
        raise KeepsakeError(f"There is no compaction {number} with a summary", "Choose another")
    told: dict[str, tuple[int, ...]] = {}
    rest = [*_asked_about(memory, summary)]
    ask = services.asker(services.compaction_config.profile)
    if ask is None:
        cure = "Give the profile `summarizer` a model in llm.md"
        raise KeepsakeError("There is no model to ask", cure)
    sentences = [*summary_sentences(summary.text)]
    by = ""
    while rest:
        task = Cite(services.prompts["cite"].current, memory.name, sentences, rest)
        result = run(task, ask, fall_back=False)
        by = result.by if result.value else by
        for sentence, numbers in result.value.items():
            told[sentence] = (*told.get(sentence, ()), *numbers)
        rest = rest[max(task.taken, 1) :]
    sources = sources_of(summary.text, told)
    if not sources:
        what = "The model named none of the memories; small models cannot. Words are still compared"
        raise KeepsakeError(what, "Give the profile `summarizer` a larger model in llm.md")
    memory.memory.note_sources(number, summary.tier, sources)
    return f"{by} named memories for {len(told)} of {len(sentences)} sentences"


def _asked_about(memory: MemoryComponent, summary: Summary) -> Iterator[Memory]:
    """Yield the memories that a summary may tell: private ones it never does."""
    last = min(summary.last, summary.first + MOST - 1)
    for each in memory.memory.archive.read(summary.first, last):
        if says_something(each) and not is_private(each):
            yield each
