"""Ours without a world: the cascade of summaries, promises, and the agents' own recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.archive.log import Archive
from keepsake.archive.privacy import outward
from keepsake.archive.records import SCENE, Memory
from keepsake.books.commitments import Commitments
from keepsake.errors import CompactionError, ModelError
from keepsake.lab.memories.plain import LineIndex, first_within, plainly
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import FOLDER, CompactionConfig, Strategy, load_strategy
from keepsake.memory.ladder import ModelSummarizer
from keepsake.memory.protocol import Figure, RecalledLine, Surroundings, dated
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.summary_text import Summarizer, extractive
from keepsake.memory.types import CompactReason
from keepsake.memory.window import MemoryHost
from keepsake.paths import REPOSITORY
from keepsake.ports import Generation, GenerationRequest, LanguageModel, TargetModel
from keepsake.prompt.script import about_memory
from keepsake.recall.documents import memory_document
from keepsake.recall.search import MemorySearch
from keepsake.tasks.task import Question
from keepsake.tasks.task_prompts import TaskPrompts

SHIPPED = REPOSITORY / "vault" / "config"
CONFIG, FILE = "config", "memory_compaction.md"
"""The setting that names the folder of that file; :data:`SHIPPED` if it is not given."""
_SUMMARY_TOKENS = 300
"""What a model may write at once."""


class LivedMemory(AgentMemory):
    """A :class:`AgentMemory` that is handed memories in place of making them from words."""

    def take(self, memory: Memory) -> None:
        """Remember a memory under its own number, or that the newest happened again.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
            ValueError: Its number is neither the newest nor the one after it.
        """
        with self.lock:
            if memory.number != self.tiers.last_number:
                self._added(memory.repeated(1))
            window = self.tiers.window  # empty after a clearing
            if window and memory.repeats > (last := window[-1]).repeats:
                self._repeated(last, memory.time, memory.repeats)


class KeepsakeMemory:
    """What the agents of a world remember with, as a library.

    All is in its folder: archive, summaries, ``noticed.md``. Its settings are those of
    ``memory_compaction.md``, by name. Journal, profiles of people and notes are made by an agent
    that lives in a world, and are not here.
    """

    def __init__(self, given: Surroundings, summarizer: Summarizer | None = None) -> None:
        self._given, self._asleep = given, False
        self._config, way = _configured(given)
        self._commitments = Commitments(given.folder / "noticed.md")
        self._memory = LivedMemory(
            given.agent,
            Archive(given.folder / "archive"),
            SummaryFolder(given.folder / "summaries", given.agent),
            MemoryHost(
                clock=given.clock,
                config=lambda: self._config,
                summarizer=lambda: summarizer or _summarizer(given),
                strategy=lambda: way,
                tokens=given.tokens,
                constraints=lambda: self._commitments.lines,
                asleep=lambda: self._asleep,
            ),
        )
        self._names: set[str] = set()
        self._lived: dict[int, Memory] = {}
        self._index = LineIndex(given.embedder, worded=True)
        self._recall = MemorySearch(
            self._index.words,
            self._index.vectors,
            given.embedder,
            names=lambda: self._names,
            clock=given.clock,
            agent=given.agent,
        )
        for memory in self._memory.archive.read(1, self.newest):
            self._found_again(memory)

    @property
    def newest(self) -> int:
        """The last in its archive."""
        return self._memory.archive.last_number

    def perceive(self, memory: Memory) -> None:
        """Archive it, and compact if that makes one due."""
        self._memory.take(memory)
        self._found_again(memory)
        self._compact(self._memory.next_turn())

    def context(self, budget: int) -> Sequence[str]:
        """Promises, the summaries, then the window, as far back as there is room."""
        self._weigh()
        self._compact(self._memory.before_thought())
        now, tokens = self._memory.context(), self._given.tokens
        promises = self._commitments.lines_before(now.window[0].number if now.window else None)
        summaries = (summary.text for summary in now.summaries)
        head = list(first_within(chain(promises, summaries), budget, tokens))
        room = budget - sum(tokens.each(head))
        # As in a prompt that answers nobody in particular: no whispered word is in it.
        shown = map(dated, map(outward, reversed(now.shown)))
        window = first_within(shown, room, tokens)
        return [*head, *list(window)[::-1]]

    def recall(self, question: str, limit: int) -> Sequence[RecalledLine]:
        """What the agents' own recall finds, word for word.

        It finds memories alone: what a summary tells is in them, and the newest summaries stand in
        every prompt.
        """
        self._settle()
        asker, says, words = question.partition(": ")
        if not says or asker not in self._names:
            asker, words = "", question
        found = self._recall.search(words, limit=limit, asker=asker) or ()
        numbers = [(hit.document.first, hit.score) for hit in found]
        return [RecalledLine(dated(self._lived[n]), (n,), score) for n, score in numbers]

    def rest(self, *, asleep: bool) -> None:
        """Compact if it is due, and index what is new."""
        self._asleep = asleep
        self._weigh()
        self._compact(self._memory.next_turn())
        self._settle()

    def state(self) -> Mapping[str, Figure]:
        """Figures of its tiers and compactions."""
        status, load = self._memory.status(), self._memory.load()
        return {
            "lines": status.total,
            "window": status.window,
            "compactions": status.compactions,
            "failures": status.failures,
            "promises": len(self._commitments.items),
            "tokens": load.used,
        }

    def close(self) -> None:
        """Bring all of it to the disk."""
        self._memory.close()

    # -- inside

    def _found_again(self, memory: Memory) -> None:
        self._lived[memory.number] = memory
        self._names |= {memory.source, memory.place} - {""}
        if not about_memory(memory) and memory.event not in (FORGOTTEN, SCENE):
            self._index.add(memory_document(memory, self._given.agent))

    def _settle(self) -> None:
        """Index what waits; words go on alone where nothing embeds, as in the game."""
        with suppress(ModelError):
            self._index.settle()

    def _weigh(self) -> None:
        self._memory.weigh(sum(self._given.tokens.each(self._commitments.lines)))

    def _compact(self, reason: CompactReason | None) -> None:
        if reason is None:
            return
        with suppress(CompactionError):  # counted in its status; nothing has changed
            self._memory.compact(reason)


def _configured(given: Surroundings) -> tuple[CompactionConfig, Strategy]:
    """The settings, and how summaries are written.

    Raises:
        KeepsakeError: A setting is wrong.
    """
    written = dict(given.settings)
    folder = Path(written.pop(CONFIG, SHIPPED))
    path = folder / FILE
    config = plainly(lambda: CompactionConfig.load(path, dict(_sized(given, written))))
    files = (each / FOLDER / f"{config.strategy}.md" for each in (folder, SHIPPED))
    return config, load_strategy(next(filter(Path.exists, files)))


def _sized(given: Surroundings, written: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings, with the context that the budget asks for unless they name one."""
    if "context_tokens" not in written:
        reserve = written.get("reserve_tokens", str(CompactionConfig().reserve_tokens))
        if reserve.isdecimal():
            yield "reserve_tokens", reserve
            yield "context_tokens", str(given.budget + int(reserve))
    yield from written.items()


def _summarizer(given: Surroundings) -> Summarizer:
    if given.model is None:
        return extractive
    ask = partial(_asked, given.model, BaseModel(given.budget))
    return ModelSummarizer(ask, TaskPrompts(SHIPPED, SHIPPED))


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A model that continues text, as a task sees it."""

    prompt_tokens: int
    form: str = "dialogue"
    tail_tokens: int = 0
    max_tokens: int = _SUMMARY_TOKENS
    takes_tools: bool = False
    is_stopgap: bool = False


def _asked(
    model: LanguageModel, target: BaseModel, build: Callable[[TargetModel], Question]
) -> Generation:
    question = build(target)
    most = question.max_tokens or target.max_tokens
    return model.generate(GenerationRequest(question.text, max_tokens=most, stop=question.stop))
