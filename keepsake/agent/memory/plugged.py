"""Another memory than ours in a running world: handed what is lived, asked before each thought.

The archive stays the truth. Every call of such a memory is made in a worker thread, one at a time;
what breaks in it is told under its name, and the agent goes on with the window alone. Nothing that
was whispered is handed to it to be remembered: it learns that something was (:func:`outward`), and
no word. Only what is to be answered is put to its recall as it was said, which keeps no question.
"""

from __future__ import annotations

import shutil
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from keepsake.agent.agent_log import Complaints
from keepsake.agent.body import Life
from keepsake.agent.memory.brought import Brought, brought, by_number
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.waiting import Alarm
from keepsake.archive.forgetting import PLUGGED
from keepsake.archive.log import Archive
from keepsake.archive.privacy import outward
from keepsake.archive.records import Memory
from keepsake.errors import KeepsakeError
from keepsake.memory import protocol
from keepsake.memory.protocol import MemorySystem, Surroundings
from keepsake.models.profiles import EXTRACTIVE, ModelProfile
from keepsake.ports import Generation, GenerationRequest, LanguageModel
from keepsake.recall.related import SearchResult

PATIENCE = 5.0
"""Seconds that a thought waits for it; then it goes on with what was brought last."""
QUIET = 1800.0
"""Seconds without anything to remember after which it may rest."""
REOPEN_SECONDS = 60.0
CONTEXT_SHARE = 0.5
"""What it may show in every prompt, of a prompt's budget."""
_CLOSING = 1.0
"""Seconds for which a call that is under way is waited for at the end; then it closes itself."""
_AT_ONCE = 1000
"""Memories that are read from the archive at a time."""
_calling: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
"""By folder: one that is made anew is opened once the one before it has let go of its files."""


class PluggedMemory:
    """The other memory of one agent.

    Attributes:
        name: What it is called in the agent's profile.
        brought: What it had for the last thought; from any thread.
    """

    def __init__(self, life: Life, memory: MemoryComponent, services: Runtime) -> None:
        self.name, self.brought = life.memory, Brought()
        self._agent, self._memory, self._services = life.name, memory, services
        self._folder = (
            life.folder
            / PLUGGED
            / "".join(c if c.isalnum() or c in "_.-" else "_" for c in life.memory)
        )
        self._trouble = Complaints(f"[Error] {life.name}: The memory {life.memory}")
        # Those that do not fit in are read from the archive before the next one is handed over.
        self._waiting: deque[Memory] = deque(maxlen=_AT_ONCE)
        self._calling = _calling[self._folder]
        self._system: MemorySystem | None = None
        self._try_again_at = float("-inf")
        self._quiet = Alarm(services.timer)
        self._closed = False

    # -- on the reactor thread

    def begin(self) -> None:
        """Open it soon, and hand it what it does not know of."""
        self._services.workers.submit(self.rest)

    def saw(self, memory: Memory) -> None:
        """Something was remembered."""
        self._waiting.append(outward(memory))
        self._services.workers.submit(self._call, self._take_in, 0.0)
        self._quiet.set(QUIET, self.begin)

    def close(self) -> None:
        """Let go of it, at once or when the call that is under way has ended."""
        self._quiet.cancel()
        self._closed = True
        self._call(lambda _: None, _CLOSING)

    # -- in worker threads: blocks, and raises nothing

    def rest(self, *, asleep: bool = False) -> None:
        """Let it rest."""

        def rest(system: MemorySystem) -> None:
            self._take_in(system)
            system.rest(asleep=asleep)

        self._call(rest)

    def find(self, question: str, limit: int) -> SearchResult:
        """Ask it, and keep what it brought; nothing if it failed."""
        found: list[Brought] = []

        def ask(system: MemorySystem) -> None:
            found.append(self._asked(system, question, limit))

        if not self._call(ask, PATIENCE):
            return SearchResult()  # it is busy; what stands in every prompt goes on standing there
        self.brought = found[0] if found else Brought()
        return self.brought.found

    def _asked(self, system: MemorySystem, question: str, limit: int) -> Brought:
        self._take_in(system)
        lately = {each.number: each for each in map(outward, self._memory.lately())}
        budget = int(self._services.compaction.current.budget * CONTEXT_SHARE)
        return brought(
            system.context(budget),
            system.recall(question, limit),
            self._agent,
            window=[outward(each) for each in self._memory.context().window],
            lately=list(lately.values()),
            lived=by_number(lately, self._read),
            now=self._services.clock.now(),
        )

    def _read(self, number: int) -> Memory | None:
        return next(map(outward, self._archive.read(number, number)), None)

    def _take_in(self, system: MemorySystem) -> None:
        """Hand over what waits, and before it what the memory has missed."""
        while self._waiting:
            memory = self._waiting.popleft()
            self._replay(system, memory.number - 1)
            if memory.number >= system.newest:
                system.perceive(memory)

    def _replay(self, system: MemorySystem, last: int) -> None:
        """Hand over what the archive has beyond its newest, up to that number."""
        while (first := system.newest + 1) <= last:
            for memory in self._archive.read(first, min(first + _AT_ONCE - 1, last)):
                system.perceive(outward(memory))
            if system.newest < first:  # it keeps nothing
                return

    # -- opening it, and what may break

    @property
    def _archive(self) -> Archive:
        return self._memory.memory.archive

    def _call(self, what: Callable[[MemorySystem], None], seconds: float = -1.0) -> bool:
        """Do something with it once nobody else does, if that is within so many seconds.

        Returns:
            Whether it was free; what came meanwhile is handed over before it is again.
        """
        if not self._calling.acquire(timeout=seconds):
            return False
        try:
            with self._told():
                self._open()
                if self._system is not None and not self._closed:
                    what(self._system)
                    self._take_in(self._system)
            with self._told():
                if self._system is not None and self._closed:
                    self._system.close()
                    self._system = None
        finally:
            self._calling.release()
        return True

    def _open(self) -> None:
        now = self._services.seconds()
        if self._system is None and not self._closed and now >= self._try_again_at:
            self._try_again_at = now + REOPEN_SECONDS
            self._system = self._opened()
            self._replay(self._system, self._archive.last_number)

    def _opened(self) -> MemorySystem:
        system = self._made()
        if system.newest > self._archive.last_number:  # that was put back to an earlier state
            system.close()
            shutil.rmtree(self._folder)
            system = self._made()
        return system

    def _made(self) -> MemorySystem:
        self._folder.mkdir(parents=True, exist_ok=True)
        services = self._services
        given = Surroundings(
            agent=self._agent,
            folder=self._folder,
            clock=services.clock,
            embedder=services.embedder,
            model=_model(services),
            tokens=services.tokens,
            budget=services.compaction.current.budget,
        )
        return protocol.opened(self.name, given)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Whatever breaks in it is told, once until something else does."""
        try:
            yield
        except KeepsakeError as error:
            self._trouble(str(error))
        except Exception as error:  # somebody else's code
            self._trouble(f"broke off: {error!r}")


def _model(services: Runtime) -> LanguageModel | None:
    """What writes the summaries here; None where rules do."""
    name = services.compaction.current.profile
    if services.gateway.profiles.get(name).provider == EXTRACTIVE:
        return None
    return _ProfileModel(services, name)


class _ProfileModel:
    """The model of a profile, asked for what a memory wants of it."""

    def __init__(self, services: Runtime, profile: str) -> None:
        self._services, self._profile = services, profile

    def generate(self, request: GenerationRequest) -> Generation:
        """The profile's model, address and sampling; the length, stops and heat of the request."""
        return self._services.gateway.generate(self._profile, partial(_asked_so, request))


def _asked_so(request: GenerationRequest, profile: ModelProfile) -> GenerationRequest:
    of_the_profile = profile.request(
        request.prompt,
        max_tokens=request.max_tokens,
        stop=request.stop,
        json_schema=request.json_schema,
        messages=request.messages,
    )
    return replace(of_the_profile, temperature=request.temperature)
