"""Keepsake's memory without a world: the cascade of summaries, promises, and recall."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

from keepsake.archive.log import Archive
from keepsake.archive.message_types import MessageType
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.archive.transcript import about_memory
from keepsake.books.kept_lines import NOTICED, Commitments
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.events.values import CompactReason
from keepsake.happening import Person
from keepsake.lab.memories.plain import LineIndex, within_budget
from keepsake.markdown_config import settings_of
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.protocol import MemoryArguments, RecalledLine, dated
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactionRequest
from keepsake.memory.window import MemoryHost
from keepsake.models.embedders import CachedEmbedder
from keepsake.models.profiles import ModelProfile
from keepsake.paths import SHIPPED_CONFIG
from keepsake.recall.documents import Hit, memory_document, passages_in
from keepsake.recall.index.words import WordIndex
from keepsake.recall.search import MemorySearch
from keepsake.tasks.summarizer import ModelSummarizer
from keepsake.tasks.task_prompts import task_prompts

_SUMMARY_TOKENS = 300
"""The most tokens that a model may write in one call."""


class KeepsakeMemory:
    """The memory of the agents of a world, used as a library.

    Its folder holds the archive, the summaries and ``noticed.md``. Its settings are those of
    ``memory_compaction.md``, by name. It has no journal, no profiles of people and no notes: only
    an agent in a world writes these.
    """

    def __init__(self, given: MemoryArguments) -> None:
        self._given = given
        self._asleep = False
        self._private = PrivateWords()
        config = _config(given)
        self._config = config
        summarizer = _summarizer(given)
        self._commitments = Commitments(given.folder / NOTICED)
        self._memory = AgentMemory(
            given.agent,
            Archive(given.folder / "archive"),
            SummaryFolder(given.folder / "summaries", given.agent),
            MemoryHost(
                clock=given.clock,
                config=lambda: config,
                summarizer=lambda _: summarizer,
                tokens=given.tokens,
                constraints=self._commitments.lines,
            ),
        )
        self._names: set[str] = set()
        self._memories: dict[int, Memory] = {}
        words = WordIndex()
        self._index = LineIndex(
            given.embedder,
            words.add,
            lambda document: passages_in(document, given.agent),
            words.embeddings.save_signs,
        )
        self._recall = MemorySearch(
            words,
            self._index,
            CachedEmbedder(given.embedder) if given.embedder else None,
            names=lambda: self._names,
            clock=given.clock,
            agent=given.agent,
        )
        # The promises are all that its prompts hold besides summaries and window.
        self._memory.window.overhead = sum(given.tokens.each(self._commitments.lines()))

    def perceive(self, memory: Memory) -> None:
        """Archive the memory, and compact if a compaction is due."""
        # Under its own number: an equal line is no repeat here, because evaluations cite numbers.
        self._memory.tiers.write(lambda _: memory.to_record())
        self._private.add(memory)
        self._memories[memory.number] = memory
        self._names |= {memory.source, memory.place} - {""}
        if not about_memory(memory) and memory.event not in (
            MessageType.FORGOTTEN,
            MessageType.SCENE,
        ):
            self._index.add(memory_document(memory, self._given.agent))
        self._compact_if_due()

    def context(self, budget: int) -> Sequence[str]:
        """Return promises, summaries, then as much of the window's end as there is room for."""
        if reason := self._memory.before_thought():
            self._compact(reason)
        now = self._memory.context()
        tokens = self._given.tokens
        promises = self._commitments.lines(now.window[0].number if now.window else None)
        summaries = (summary.text for summary in now.summaries)
        head = list(within_budget(chain(promises, summaries), budget, tokens))
        room = budget - sum(tokens.each(head))
        heard = self._private.heard_by(now.shown, self._given.audience())
        window = within_budget(map(dated, reversed(heard)), room, tokens)
        return [*head, *list(window)[::-1]]

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """Return the memories that the agents' recall finds, word for word.

        It searches memories only: summaries repeat their content, and the newest summaries are in
        every prompt.
        """
        self._index.flush()
        asker, says, words = question.partition(": ")
        if not says or asker not in self._names:
            asker = ""
            words = question
        audience = self._given.audience()
        found = self._recall.search(
            words,
            limit=limit,
            asker=Person(asker) if asker else None,  # people of a trial may have no identity
            may=lambda document: self._private.may_hear([document.first], audience),
        )
        return [self._line(hit) for hit in found or ()]

    def _line(self, hit: Hit) -> RecalledLine:
        """Return a memory as a line; of a long one the passage that was found."""
        number = hit.document.first
        memory = self._memories[number]
        line = dated(memory)
        if hit.passage:
            line = f"{memory.time:%-d %B %Y}, {memory.source or 'You'}: {hit.passage}"
        return RecalledLine(line, (number,), hit.score)

    def rest(self, *, asleep: bool) -> None:
        """Compact if a compaction is due, and index new memories."""
        self._asleep = asleep
        self._compact_if_due()
        self._index.flush()

    def close(self) -> None:
        """Write everything to disk and close the files."""
        self._memory.close()

    def _compact_if_due(self) -> None:
        if self._memory.may_be_due(asleep=self._asleep):
            self._compact(None)

    def _compact(self, reason: CompactReason | None) -> None:
        request = CompactionRequest(reason=reason, limits=self._config, asleep=self._asleep)
        with suppress(CompactionError):  # the status counts it; the memory is unchanged
            self._memory.compact(request)


def _config(given: MemoryArguments) -> CompactionConfig:
    """Return the settings; ``context_tokens`` follows from the budget unless it is set."""
    written = dict(given.settings)
    known = settings_of(CompactionConfig)
    if unknown := ", ".join(sorted(written.keys() - {each.name for each in known})):
        names = ", ".join(each.name for each in known)
        raise KeepsakeError(f"keepsake has no setting {unknown}", f"It has {names}")
    reserve = written.setdefault("reserve_tokens", str(CompactionConfig().reserve_tokens))
    if reserve.isdecimal():
        written.setdefault("context_tokens", str(given.budget + int(reserve)))
    return CompactionConfig.load(SHIPPED_CONFIG / "memory_compaction.md", written)


def _summarizer(given: MemoryArguments) -> Summarizer:
    """Return the model's summarizer, or the rules without a model."""
    if (model := given.model) is None:
        return extractive
    target = ModelProfile("writer", prompt_tokens=given.budget, max_tokens=_SUMMARY_TOKENS)
    return ModelSummarizer(
        lambda build: model.generate(target.request(build(target))),
        task_prompts(SHIPPED_CONFIG, SHIPPED_CONFIG),
    )
