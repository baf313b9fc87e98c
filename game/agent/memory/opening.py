"""Makes the memory that the configuration names, over an archive that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from game.agent.agent_log import log
from game.agent.services import Services
from game.llm.profiles import EXTRACTIVE
from game.mind.agent_memory import AgentMemory
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory
from game.mind.compaction.cascade import CascadeMemory
from game.mind.compaction.config import CompactionConfig
from game.mind.compaction.dependencies import Dependencies
from game.mind.compaction.sliding import SlidingMemory
from game.mind.errors import ConfigError
from game.mind.ports import Generation
from game.mind.summaries.files import SummaryFolder
from game.mind.summaries.source import Summarizer
from game.mind.summaries.strategy import Layout
from game.mind.summaries.summarizer import ExtractiveSummarizer, ModelSummarizer

type Generate = Callable[[str, tuple[str, ...]], Generation]
"""Continues a prompt up to one of the stop strings; blocks, raises ModelError."""


class Opener:
    """Makes the memory of one agent, and makes it anew when another kind is wanted.

    ``standing`` gives what stands in every prompt, ``must_keep`` what no compaction may lose of
    that and of all else; they, ``asleep`` and ``importance`` are asked from worker threads too.
    """

    def __init__(
        self,
        name: str,
        summaries: SummaryFolder,
        services: Services,
        *,
        standing: Callable[[], Sequence[str]],
        must_keep: Callable[[], Sequence[str]],
        asleep: Callable[[], bool],
        importance: Callable[[Memory], int],
    ) -> None:
        self._name, self._summaries, self._services = name, summaries, services
        self._standing, self._must_keep = standing, must_keep
        self._asleep, self._importance = asleep, importance
        self._slid = self._slides()

    def opened(self, archive: Archive) -> AgentMemory:
        """The memory that the configuration names; the plain one if that cannot be built."""
        if self._slides():
            return self._sliding(archive)
        try:
            return self._cascade(archive)
        except Exception as error:
            # Whatever an archive holds that this code cannot read: the agent lives on with
            # its newest memories, and the log says what to look at.
            log(f"[Memory] {self._name}: The tiers cannot be read ({error!r}); sliding window only")
            return self._sliding(archive)

    def followed(self, memory: AgentMemory) -> AgentMemory:
        """``memory``, or another kind over its archive when the strategy has changed to one.

        What counts is whether it makes summaries.
        """
        if (slides := self._slides()) is self._slid:
            return memory
        self._slid = slides
        how = "a sliding window, without summaries" if slides else "summaries"
        log(f"[Memory] {self._name}: The strategy has changed to {how}")
        return self.opened(memory.archive)

    def generate(self) -> Generate | None:
        """How the model that writes summaries is asked; None where none does.

        Raises:
            ConfigError: There is no such profile.
        """
        name, gateway = self._config.profile, self._services.gateway
        if gateway.profiles.get(name).provider == EXTRACTIVE:
            return None

        def generate(prompt: str, stop: tuple[str, ...]) -> Generation:
            return gateway.generate(name, lambda current: current.request(prompt, stop=stop))

        return generate

    def _sliding(self, archive: Archive) -> SlidingMemory:
        return SlidingMemory(self._name, archive, self._dependencies())

    def _cascade(self, archive: Archive) -> CascadeMemory:
        return CascadeMemory(self._name, archive, self._summaries, self._dependencies())

    def _dependencies(self) -> Dependencies:
        return Dependencies(
            config=lambda: self._config,
            summarizer=self._summarizer,
            clock=self._services.clock,
            log=log,
            tokens=self._services.tokens,
            strategy=self._services.strategy,
            must_keep=self._must_keep,
            standing=self._standing,
            embedder=self._services.embedder,
            asleep=self._asleep,
            priced=self._priced,
            importance=self._importance,
            tell=self._services.events.emit,
            ticks=lambda: float(self._services.timer.seconds()),
        )

    def _slides(self) -> bool:
        """Whether the strategy makes no summaries."""
        return self._services.strategy().layout is Layout.SLIDING

    def _priced(self) -> bool:
        """Whether summaries cost calls of a model."""
        try:
            return self.generate() is not None
        except ConfigError:  # the compaction itself says so
            return True

    def _summarizer(self) -> Summarizer:
        """The summarizer that the configuration names; called in a worker thread."""
        if (generate := self.generate()) is None:
            return ExtractiveSummarizer()
        profile = self._services.gateway.profiles.get(self._config.profile)
        return ModelSummarizer(generate, context_tokens=profile.context_tokens or 4096)

    @property
    def _config(self) -> CompactionConfig:
        return self._services.compaction.current
