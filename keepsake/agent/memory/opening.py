"""Makes the memory that the configuration names, over an archive that is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Runtime
from keepsake.archive.log import Archive
from keepsake.memory.agent_memory import AgentMemory, SlidingMemory
from keepsake.memory.cascade import CascadeMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.host import MemoryHost
from keepsake.memory.source import Summarizer
from keepsake.memory.strategy import Layout
from keepsake.memory.summarizer import ExtractiveSummarizer, ModelSummarizer
from keepsake.memory.summary_files import SummaryFolder


class Opener:
    """Makes the memory of one agent, and makes it anew when another kind is wanted.

    ``of_the_agent`` makes what memories need of the agent and, as given, of the services;
    ``known`` gives the names of all people and places, and who the agent is, from any thread. Where
    another memory is ``plugged`` in, the newest memories are all that stands here.
    """

    def __init__(
        self,
        name: str,
        summaries: SummaryFolder,
        services: Runtime,
        of_the_agent: Callable[..., MemoryHost],
        known: Callable[[], tuple[frozenset[str], str]],
        *,
        plugged: bool = False,
    ) -> None:
        self._name, self._summaries, self._services = name, summaries, services
        self._known = known
        self._of_the_agent, self._plugged = of_the_agent, plugged
        self._slid = self._slides()

    def opened(self, archive: Archive) -> AgentMemory:
        """The memory that the configuration names; the plain one if that cannot be built."""
        needs = self._dependencies()
        if self._slides():
            return SlidingMemory(self._name, archive, self._summaries, needs)
        try:
            return CascadeMemory(self._name, archive, self._summaries, needs)
        except Exception as error:
            # Whatever an archive holds that this code cannot read: the agent lives on with
            # its newest memories, and the log says what to look at.
            log(f"[Memory] {self._name}: The tiers cannot be read ({error!r}); sliding window only")
            return SlidingMemory(self._name, archive, self._summaries, needs)

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

    def _dependencies(self) -> MemoryHost:
        return self._of_the_agent(
            config=lambda: self._config,
            summarizer=self._summarizer,
            clock=self._services.clock,
            log=log,
            tokens=self._services.tokens,
            strategy=self._services.strategy,
            emit=self._services.events.emit,
            ticks=self._services.seconds,
        )

    def _slides(self) -> bool:
        """Whether the strategy makes no summaries."""
        return self._plugged or self._services.strategy().layout is Layout.SLIDING

    def _summarizer(self) -> Summarizer:
        """The summarizer that the configuration names; called in a worker thread."""
        name = self._config.profile
        if (ask := self._services.asker(name)) is None:
            return ExtractiveSummarizer()
        return ModelSummarizer(ask, self._services.prompts, *self._known())

    @property
    def _config(self) -> CompactionConfig:
        config = self._services.ladder
        if self._plugged:  # what is older is for the other memory to bring
            return replace(config, immediate_window=max(config.preserve_memories, 1))
        return config
